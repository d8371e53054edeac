"""Rules, verdicts of the handler itself, presets and fallbacks: what failed how, and what becomes of it."""
import datetime
import email.utils
import glob
import json
import os
import sys
import threading
import time

import pytest

from harness import Handler, eventually

QUICK = {"attempts": 3, "base": "10ms", "cap": "50ms", "budget_floor": "100/s"}


def queues(url, rules=(), **more):
    return {"orders": {"source": "builtin", "handler": {"http": url}, "breaker": "off", "retry": QUICK,
                       "classify": {"rules": list(rules)}, **more}}


def rule(when, do="dlq", reason="seen", **more):
    return {"when": when, "do": do, "category": "mine", "reason": reason, **more}


def said(status, kind="", message=""):
    """An answer with an error in its body, as APIs give it."""
    return (status, {"Content-Type": "application/json"},
            json.dumps({"error": {"type": kind, "message": message}}).encode())


def reasons(server, dlq="orders.dlq"):
    return {letter["message"]["id"]: letter["reason"] for letter in server.letters(dlq)}


def run_all(server, names, **more):
    for name in names:
        server.push("orders", {"name": name}, id=name, **more)
    server.drained("orders")


def test_statuses_messages_and_error_types_are_matched_and_the_first_rule_wins(serve, handler):
    answers = {
        "teapot": said(418), "moved": said(599), "range": said(500), "listed": said(502),
        "regex": said(500, "Boom", "pin 560001-X is NOT in the table"),
        "typed": said(500, "TaxServiceError", "x"), "both": said(418, "TaxServiceError", "x"),
        "other": said(499),
    }
    worker = handler(lambda call: answers[call.id])
    server = serve(queues(worker.url, [
        rule({"status": 418, "error_type": "Tax*"}, reason="both"),
        rule({"error_type": "*serviceerror"}, reason="typed"),
        rule({"message": "pin \\d{6}-X is (?i)not"}, reason="regex"),
        rule({"status": [418, 599]}, reason="listed-here"),
        rule({"status": ["5xx"]}, reason="range"),
        rule({"status": "5xx"}, reason="never"),
    ]))
    run_all(server, answers)
    assert reasons(server) == {
        "both": "both", "typed": "typed", "regex": "regex", "teapot": "listed-here", "moved": "listed-here",
        "range": "range", "listed": "range", "other": "unclassified"}
    other = server.message("other")
    assert (other["cause"], other["category"], other["attempts"]) == ("unclassified", "unknown", 1)
    assert server.message("both")["cause"] == "terminal"
    assert server.message("regex")["rule"] == "orders.rules[2]"
    assert server.message("regex")["category"] == "mine"


def test_headers_attempts_and_kinds_are_matched(serve, handler):
    def reset_or_500(call):
        if call.id == "reset":
            raise Handler.Reset
        return 500

    worker = handler(reset_or_500)
    server = serve(queues(worker.url, [
        rule({"header": {"region": "eu-*"}}, reason="europe"),
        rule({"header": "x-test"}, do="discard", reason="test"),
        rule({"kind": "reset"}, reason="cut"),
        rule({"attempt": "1-2"}, do="retry", reason="early"),
        rule({"attempt": 3}, reason="third"),
    ], retry={**QUICK, "attempts": 9}))
    server.push("orders", {}, id="europe", headers={"Region": "eu-west"})
    server.push("orders", {}, id="asia", headers={"region": "ap-south"})
    server.push("orders", {}, id="test", headers={"X-Test": ""})
    server.push("orders", {}, id="reset")
    server.drained("orders")
    assert reasons(server) == {"europe": "europe", "asia": "third", "reset": "cut"}
    assert worker.ids().count("asia") == 3 and worker.ids().count("europe") == 1
    assert [line["verdict"] for line in server.message("asia")["history"]] == ["retry", "retry", "dlq"]
    assert server.message("test")["state"] == "discarded"


def test_jq_rules_see_the_envelope_and_one_that_fails_or_never_ends_hurts_nobody(serve, handler):
    worker = handler(lambda call: 200 if call.id.startswith("fine") else said(500, "E", "m"))
    server = serve(queues(worker.url, [
        rule({"jq": ".message.body | fromjson"}, reason="failing"),
        rule({"jq": "def f: f; f", "header": "x-endless"}, reason="endless"),
        rule({"jq": '[range(1e9)] | length', "header": "x-greedy"}, reason="greedy"),
        rule({"jq": "env | length > 0"}, reason="environment"),
        rule({"jq": ".message.body.total > 9007199254740992"}, reason="large"),
        rule({"jq": '.message.body.vip and .failure.status == 500 and .message.key == "k1"'}, reason="vip"),
        rule({"jq": ".message.body.name == \"null\" | if . then null else false end"}, reason="null"),
    ]), server={"jq_timeout": "5s"})
    server.push("orders", {}, id="endless", headers={"x-endless": "1"})
    server.push("orders", {}, id="greedy", headers={"x-greedy": "1"})
    server.push("orders", {"vip": True}, id="vip", key="k1")
    server.push("orders", {"name": "null"}, id="null")
    for n in range(50):
        server.push("orders", {}, id=f"fine-{n}")
    eventually(lambda: sum(one.startswith("fine") for one in worker.ids()) == 50, "others flow meanwhile")
    server.drained("orders")
    assert reasons(server) == {"endless": "upstream_5xx", "greedy": "upstream_5xx", "vip": "vip",
                               "null": "upstream_5xx"}
    assert server.metric("impound_jq_errors_total", queue="orders") >= 4 + 2
    server.push("orders", {"vip": True}, id="again", key="k1")
    server.drained("orders")
    assert reasons(server)["again"] == "vip", "the helpers are as good as new"


def ticks_of_children(server):
    """Processor time that the jq helpers of a server have used, in clock ticks."""
    ticks = 0
    for path in glob.glob(f"/proc/{server.process.pid}/task/*/children"):
        with open(path, encoding="ascii") as children:
            for child in children.read().split():
                with open(f"/proc/{child}/stat", encoding="ascii") as stat:
                    ticks += sum(map(int, stat.read().rpartition(")")[2].split()[11:13]))
    return ticks


def test_a_failure_is_judged_by_the_rules_that_jq_was_asked_about(serve, handler):
    """A reload while jq still thinks must not lend the answer about an old rule to a new one."""
    worker = handler(lambda call: 500)
    endless = rule({"jq": "def f: f; f"}, reason="endless")
    slow = {"server": {"jq_timeout": "5s"}}
    server = serve(queues(worker.url, [rule({"jq": "true"}, reason="old"), endless]), **slow)
    idle = ticks_of_children(server)
    server.push("orders", {}, id="before")
    eventually(lambda: ticks_of_children(server) > idle + os.sysconf("SC_CLK_TCK"), "it has failed, and jq is busy with it")
    server.configure(queues(worker.url, [rule({"message": "no such text"}, reason="new")]), **slow)
    server.reload()
    eventually(lambda: "is in force" in server.log(), "the new rules are in force")
    server.drained("orders")
    run_all(server, ["after"])
    assert reasons(server) == {"before": "old", "after": "upstream_5xx"}
    assert server.message("before")["rule"] == "orders.rules[0]"


def test_the_handlers_own_verdict_overrides_the_rules(serve, handler):
    def answer(call):
        verdict = call.id.split("-")[0]
        status = {"dlq": 503, "retry": 400, "discard": 400, "ok": 200, "odd": 400}[verdict]
        return status, {"Impound-Verdict": verdict, "Impound-Reason": f"because-{verdict}"}, b""

    worker = handler(answer)
    server = serve(queues(worker.url))
    run_all(server, ["dlq", "retry", "discard", "odd"])
    assert reasons(server) == {"dlq": "because-dlq", "retry": "max_attempts:because-retry",
                               "odd": "bad_request"}
    assert worker.ids().count("dlq") == 1 and worker.ids().count("retry") == 3
    assert server.message("dlq")["cause"] == "terminal"
    discarded = server.message("discard")
    assert (discarded["state"], discarded["reason"]) == ("discarded", "because-discard")


def test_a_halt_verdict_stops_the_queue(serve, handler):
    worker = handler(lambda call: (200, {"Impound-Verdict": "halt", "Impound-Reason": "maintenance"}, b""))
    server = serve(queues(worker.url))
    server.push("orders", {}, id="m")
    eventually(lambda: server.queue("orders")["state"] == "halted", "the queue halts")
    assert "maintenance" in server.queue("orders")["why"]
    eventually(lambda: server.message("m")["state"] == "queued", "the message is back")
    assert server.message("m")["attempts"] == 0


def test_a_discarded_message_is_kept_on_record_and_counts_nowhere(serve, handler):
    worker = handler(lambda call: 400)
    server = serve(queues(worker.url, [rule({"status": 400}, do="discard", reason="unwanted")]))
    run_all(server, ["a", "b"])
    assert server.dlq("orders.dlq")["depth"] == 0
    assert server.letters("orders.dlq") == []
    gone = server.letters("orders.dlq", state="discarded")
    assert {letter["message"]["id"] for letter in gone} == {"a", "b"}
    kept = server.message("a")
    assert (kept["state"], kept["reason"], kept["message"]["body"]) == ("discarded", "unwanted", {"name": "a"})
    assert server.metric("impound_attempts_total", queue="orders", result="discard") == 2
    again = server.post("/v1/queues/orders/messages", {"id": "a", "body": {"name": "a"}})
    assert again.json["duplicates"] == []  # its id is free again


@pytest.mark.parametrize("how", ["seconds", "date"])
def test_retry_after_is_obeyed(serve, handler, how):
    at = []

    def busy(call):
        if call.attempt > 1:
            return 200
        server.post("/v1/queues/orders/pause")  # so that it can be looked at for as long as that takes
        at.append((datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=4)).replace(microsecond=0))
        asked = "2" if how == "seconds" else email.utils.format_datetime(at[0], usegmt=True)
        return 503, {"Retry-After": asked}, b""

    worker = handler(busy)
    server = serve(queues(worker.url))
    server.push("orders", {}, id="m")
    held = eventually(lambda: (found := server.message("m")) and found["state"] == "pending_retry" and found,
                      "it waits")
    # A date has whole seconds, and the answer was on its way for a while.
    least, most = (2000, 2000) if how == "seconds" else (0, 4000)
    assert least <= held["history"][0]["delay_ms"] <= most
    assert least <= (held["failure"]["retry_after_ms"] or 0) <= most
    assert how == "seconds" or datetime.datetime.fromisoformat(held["next_attempt_at"]) >= at[0]
    server.post("/v1/queues/orders/resume")
    server.drained("orders")
    first, second = worker.calls
    assert how == "date" or second.at - first.at >= 1.9


def test_retry_after_is_capped(serve, handler):
    worker = handler(lambda call: (503, {"Retry-After": "86400"}, b"") if call.attempt == 1 else 200)
    server = serve(queues(worker.url, retry={**QUICK, "retry_after_cap": "300ms"}))
    server.push("orders", {}, id="m")
    server.drained("orders")
    assert worker.count() == 2


def test_a_fallback_answers_within_the_same_attempt(serve, handler):
    primary = handler(lambda call: 500)
    second = handler(lambda call: 200 if call.id != "hopeless" else 503)
    third = handler(lambda call: 422)
    server = serve(queues(primary.url, [rule({"status": "5xx"}, do="fallback", reason="next")],
                          fallback=[{"http": second.url}, {"http": third.url}]))
    run_all(server, ["m"])
    assert primary.count() == 1 and third.count() == 0
    call, = second.calls
    assert call.headers["Impound-Fallback"] == "1" and call.attempt == 1
    assert primary.calls[0].headers["Impound-Fallback"] is None
    assert server.metric("impound_attempts_total", queue="orders", result="ok") == 1
    run_all(server, ["hopeless"])
    assert third.calls[0].headers["Impound-Fallback"] == "2"
    letter = server.message("hopeless")
    assert (letter["attempts"], letter["reason"], len(letter["history"])) == (1, "bad_request", 1)
    assert letter["failure"]["status"] == 422, "the last outcome is the one that is judged"
    assert server.metric("impound_fallbacks_total", queue="orders") == 3


def test_with_no_handler_left_fallback_means_retry(serve, handler):
    primary, second = handler(lambda call: 500), handler(lambda call: 500)
    server = serve(queues(primary.url, [rule({"status": 500}, do="fallback", reason="next")],
                          fallback=[{"http": second.url}]))
    run_all(server, ["m"])
    assert primary.count() == second.count() == 3
    letter = server.message("m")
    assert (letter["cause"], letter["reason"], letter["attempts"]) == ("exhausted", "max_attempts:next", 3)


EXITS = """
import os, signal, sys, time
how = os.environ["IMPOUND_MESSAGE_ID"]
if how == "slow":
    time.sleep(60)
if how == "signal":
    os.kill(os.getpid(), signal.SIGABRT)
sys.stderr.write("%s went wrong\\n" % how)
sys.exit(int(how))
"""


def exec_queue(tmp_path, name, timeout="30s", **more):
    program = tmp_path / "exits.py"
    program.write_text(EXITS)
    return {name: {"source": "builtin", "handler": {"exec": [sys.executable, str(program)], "timeout": timeout},
                   "retry": {**QUICK, "attempts": 2}, "breaker": "off", **more}}


def test_the_sysexits_of_a_program_are_known(serve, tmp_path):
    server = serve({**exec_queue(tmp_path, "orders"), **exec_queue(tmp_path, "hurried", timeout="1s")})
    server.push("hurried", {}, id="slow")
    run_all(server, ["65", "66", "69", "75", "1", "signal"])
    server.drained("hurried")
    assert reasons(server) == {
        "65": "bad_request", "66": "bad_request", "69": "max_attempts:unavailable",
        "75": "max_attempts:unavailable", "1": "unclassified", "signal": "max_attempts:signal"}
    assert reasons(server, "hurried.dlq") == {"slow": "max_attempts:timeout"}
    letter = server.message("65")
    assert letter["failure"]["kind"] == "exit" and letter["failure"]["exit_code"] == 65
    assert letter["failure"]["error_message"] == "65 went wrong"
    slow = server.message("slow")
    assert (slow["failure"]["kind"], slow["category"], slow["crashes"]) == ("timeout", "timeout", 0)
    killed = server.message("signal")
    assert killed["failure"]["signal"] == 6 and killed["crashes"] == 2


@pytest.mark.parametrize("code, reason", [("77", "auth"), ("78", "config")])
def test_a_program_without_credentials_or_configuration_halts_its_queue(serve, tmp_path, code, reason):
    server = serve(exec_queue(tmp_path, "orders"))
    server.push("orders", {}, id=code)
    eventually(lambda: server.queue("orders")["state"] == "halted", "the queue halts")
    assert reason in server.queue("orders")["why"]
    eventually(lambda: server.message(code)["state"] == "queued", "the message is back")
    assert server.message(code)["attempts"] == 0


def test_exit_codes_and_signals_are_matched(serve, tmp_path):
    server = serve(exec_queue(tmp_path, "orders", classify={"presets": [], "rules": [
        rule({"exit_code": [3, 4]}, reason="three"), rule({"signal": "SIGABRT"}, reason="aborted")]}))
    run_all(server, ["3", "5", "signal"])
    assert reasons(server) == {"3": "three", "5": "unclassified", "signal": "aborted"}


def test_a_message_that_resets_its_connection_is_dead_after_three_crashes(serve, handler):
    came, may_end = threading.Semaphore(0), threading.Semaphore(0)

    def killer(call):
        if call.id != "killer":
            return 200, {"Connection": "close"}, b""
        came.release()
        assert may_end.acquire(timeout=120)
        raise Handler.Reset

    worker = handler(killer)
    server = serve(queues(worker.url, retry={**QUICK, "attempts": 9}))
    server.push("orders", {}, id="killer")
    for n in range(3):
        # While it runs, another message succeeds on a connection that was opened after its own.
        assert came.acquire(timeout=120)
        server.push("orders", {}, id=f"fine-{n}")
        eventually(lambda: server.metric("impound_attempts_total", queue="orders", result="ok") == n + 1,
                   "the other message succeeds")
        may_end.release()
    server.drained("orders")
    letter = server.message("killer")
    assert (letter["cause"], letter["category"], letter["reason"]) == ("crash", "crash", "reset")
    assert (letter["crashes"], letter["attempts"]) == (3, 3)
    assert [line["category"] for line in letter["history"]] == ["transient", "transient", "crash"]
    assert letter["failure"]["kind"] == "reset"
    assert worker.ids().count("killer") == 3
    assert len(server.letters("orders.dlq")) == 1


def test_a_call_that_is_reset_on_a_kept_connection_is_posted_once_an_attempt(serve, handler):
    def answer(call):
        if call.id == "paid":
            raise Handler.Reset
        return 200

    worker = handler(answer)
    server = serve(queues(worker.url, retry={**QUICK, "attempts": 3}))
    for n in range(3):
        server.push("orders", {}, id=f"fine-{n}")
        server.drained("orders")  # and its connection is kept
    server.push("orders", {}, id="paid")
    eventually(lambda: server.message("paid")["state"] == "pending_review", "it is dead")
    letter = server.message("paid")
    # No connection was opened after its own, so nothing speaks against the message.
    assert (letter["cause"], letter["category"], letter["crashes"]) == ("exhausted", "transient", 0)
    assert letter["reason"] == "max_attempts:reset"
    assert [call.attempt for call in worker.calls if call.id == "paid"] == [1, 2, 3]


def test_an_endless_wait_for_a_handler_ends_at_its_timeout(serve, handler):
    worker = handler(lambda call: time.sleep(20) or 200)
    server = serve(queues(worker.url, handler={"http": worker.url, "timeout": "300ms"}))
    run_all(server, ["m"])
    letter = server.message("m")
    assert (letter["failure"]["kind"], letter["reason"]) == ("timeout", "max_attempts:timeout")
    assert all(250 <= line["duration_ms"] < 20000 for line in letter["history"])


def test_the_debug_log_says_which_attempt_ended_how_and_when_the_next_is_due(serve, handler):
    worker = handler(lambda call: (503, {"Content-Type": "application/json"},
                                   b'{"error": {"type": "tax_down", "message": "no"}}') if call.attempt == 1 else 200)
    server = serve({"orders": {"source": "builtin", "handler": {"http": worker.url},
                               "retry": {"backoff": "fixed", "base": "50ms", "jitter": "none"}}}, server={"log_level": "debug"})
    server.push("orders", {}, id="m1")
    server.drained("orders")
    ended = [line for line in server.log().splitlines() if "an attempt ended" in line]
    assert len(ended) == 2, ended
    assert "an attempt ended: retry; attempt 1, status 503, tax_down, next in 50ms" in ended[0]
    assert "an attempt ended: ok; attempt 2" in ended[1]
