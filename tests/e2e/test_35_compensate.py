"""Compensation: a letter that is half done is undone by its queue's compensating handler, once, judged like any
attempt; one that cannot be undone stays as it was, with its history longer."""
import collections
import json
import threading

import pytest

from harness import PATIENCE_S, eventually, impound, problem, scaled

MANY = scaled(500, 50)


def queue(url, undo=None, **more):
    return {"source": "builtin", "handler": {"http": url}, "breaker": "off",
            "retry": {"attempts": 3, "base": "1ms", "cap": "2ms"},
            **({"compensate": {"http": undo, "timeout": "1h"}} if undo else {}), **more}


def dying(call):
    return 422, {}, b'{"error":{"type":"HalfDone","message":"charged, not written"}}'


def dead(server, count):
    server.push_many("orders", [{"body": {"order": i}, "id": f"o-{i}"} for i in range(count)])
    eventually(lambda: server.dlq("orders.dlq")["depth"] == count, f"{count} letters")


def compensate(server, some="", expect=200, **members):
    answer = server.post(f"/v1/letters/{some}compensate", members, {"Impound-Actor": "ada"})
    assert answer.status == expect, answer.body
    return answer


def ended(server, count):
    eventually(lambda: len(server.letters("orders.dlq", state="resolved")) == count, f"{count} are resolved")


def test_half_done_letters_are_undone_once_each_and_end_compensated(serve, handler):
    undo = handler()
    server = serve({"orders": queue(handler(dying).url, undo.url)})
    dead(server, MANY)
    dry = compensate(server, filter={"reason": "bad"}, dry_run=True).json
    assert (dry["count"], dry["unable"], undo.count()) == (MANY, 0, 0)
    done = compensate(server, filter={"reason": "bad"}, why="refund them").json
    assert (done["action"], done["matched"], done["count"], done["busy"]) == ("compensate", MANY, MANY, 0)
    ended(server, MANY)
    assert collections.Counter(undo.ids()) == {f"o-{i}": 1 for i in range(MANY)}
    assert all(json.loads(call.body) == {"order": int(call.id[2:])} for call in undo.calls)
    letter = server.message("o-0")
    assert (letter["resolution"], letter["why"], letter["replays"]) == ("compensated", "refund them", 0)
    assert letter["failure"]["error_type"] == "HalfDone" and letter["resolved_at"]
    assert [line.get("compensation", False) for line in letter["history"]] == [False, True]
    assert letter["history"][1]["verdict"] == "ok"
    entry, = server.get("/v1/audit").json["audit"]
    assert (entry["what"], entry["who"], entry["count"], entry["why"]) == (
        "compensate", "ada", MANY, "refund them")
    assert server.dlq("orders.dlq")["depth"] == 0


def test_a_compensation_that_fails_leaves_the_letter_as_it_was_but_for_its_history(serve, handler):
    answers = iter([503, 503, 400])
    undo = handler(lambda call: (next(answers), {}, b'{"error":{"type":"NoRefund","message":"too late"}}'))
    server = serve({"orders": queue(handler(dying).url, undo.url)})
    dead(server, 1)
    before = server.message("o-0")
    compensate(server, "o-0/", why="try")
    after = eventually(lambda: (now := server.message("o-0"))["state"] == "pending_review" and
                       len(now["history"]) == 4 and now, "it is back")
    assert undo.count() == 3  # busy twice: retried like any attempt
    assert [line["verdict"] for line in after["history"]] == ["dlq", "retry", "retry", "dlq"]
    assert [line["attempt"] for line in after["history"]] == [1, 1, 2, 3]
    assert after["history"][3]["error_type"] == "NoRefund" and after["history"][3]["compensation"]
    for changed in ("history", "why"):
        before.pop(changed), after.pop(changed)
    assert after == before
    assert server.dlq("orders.dlq")["depth"] == 1 and server.queue("orders")["state"] == "running"


def test_a_compensation_that_is_refused_leaves_its_letter_and_halts_nothing(serve, handler):
    undo = handler(lambda call: (403, {}, b'{"error":{"type":"Forbidden","message":"no refunds"}}'))
    work = handler(lambda call: dying(call) if call.id.startswith("o-") else 200)
    server = serve({"orders": queue(work.url, undo.url)})
    dead(server, 4)
    before = server.message("o-0")
    compensate(server, all=True, why="refund them")
    eventually(lambda: all(len(row["history"]) == 2 and row["state"] == "pending_review"
                           for row in (server.message(f"o-{i}") for i in range(4))), "all are back")
    assert undo.count() == 4  # each once
    after = server.message("o-0")
    line = after["history"][1]
    assert (line["verdict"], line["compensation"], line["counted"]) == ("halt", True, False)
    for changed in ("history", "why"):
        before.pop(changed), after.pop(changed)
    assert after == before
    server.push("orders", {"good": 1}, id="good")
    eventually(lambda: "good" in work.ids(), "the queue goes on")
    queue_now = server.queue("orders")
    assert (queue_now["state"], queue_now["why"]) == ("running", None)
    assert server.dlq("orders.dlq")["depth"] == 4


def test_only_open_letters_of_queues_with_such_a_handler_can_be_compensated(serve, handler):
    server = serve({"orders": queue(handler(dying).url)})
    dead(server, 2)
    problem(compensate(server, "o-0/", expect=409, why="x"), 409, "orders", "no compensate handler")
    assert compensate(server, all=True, why="x").json["unable"] == 2
    done = impound("compensate", "--all", "--why", "x", "--apply", IMPOUND_URL=server.url)
    assert done.stdout.startswith("0 letters") and "2 belong to queues without a compensate handler" in done.stderr
    problem(compensate(server, "o-0/", expect=400), 400, "why")
    problem(compensate(server, "nobody/", expect=404, why="x"), 404, "nobody")
    assert server.get("/v1/audit").json["audit"] == []


def test_while_it_is_compensated_nothing_else_can_be_decided(serve, handler):
    hold = threading.Event()
    undo = handler(lambda call: hold.wait(PATIENCE_S) and 200)
    server = serve({"orders": queue(handler(dying).url, undo.url)})
    dead(server, 1)
    compensate(server, "o-0/", why="x")
    eventually(undo.count, "it is being undone")
    problem(server.post("/v1/letters/o-0/discard", {"why": "y"}), 409, "being compensated")
    problem(server.post("/v1/letters/o-0/compensate", {"why": "y"}), 409, "being compensated")
    problem(server.post("/v1/replays", {"all": True, "dry_run": False}), 409, "being compensated")
    assert "being compensated now" in server.get("/v1/letters/o-0/explain").body.decode()
    hold.set()
    ended(server, 1)
    problem(server.post("/v1/letters/o-0/compensate", {"why": "y"}), 409, "resolved")


def test_after_a_kill_the_compensation_goes_on_with_the_same_handler(serve, handler):
    hold = threading.Event()
    work, undo = handler(dying), handler(lambda call: hold.wait(PATIENCE_S) and 200)
    server = serve({"orders": queue(work.url, undo.url)})
    dead(server, 3)
    compensate(server, all=True, why="x")
    eventually(lambda: undo.count() == 3, "all are being undone")
    server.kill()
    hold.set()
    server.start()
    ended(server, 3)
    assert {row["resolution"] for row in server.letters("orders.dlq", state="resolved")} == {"compensated"}
    assert work.count() == 3  # never sent round again
    assert max(collections.Counter(undo.ids()).values()) == 2
    assert server.message("o-0")["history"][1]["verdict"] == "interrupted"


def test_a_handler_that_is_gone_after_a_restart_gives_the_letter_back(serve, handler):
    work, undo = handler(dying), handler(lambda call: 503)
    server = serve({"orders": queue(work.url, undo.url, retry={"attempts": 9, "delays": ["2s"]})})
    dead(server, 1)
    compensate(server, "o-0/", why="x")
    eventually(lambda: len(server.message("o-0")["history"]) >= 2, "it waits for its second try")
    server.stop()
    server.configure({"orders": queue(work.url, retry={"attempts": 9, "delays": ["1ms"]})})
    server.start()
    letter = eventually(lambda: (now := server.message("o-0"))["state"] == "pending_review" and now, "it is back")
    assert letter["history"][-1]["error_type"] == "no_compensate_handler"
    assert letter["failure"]["error_type"] == "HalfDone" and work.count() == 1


def test_neither_breaker_nor_idempotency_has_to_do_with_it(serve, handler):
    work = handler(lambda call: 200 if json.loads(call.body).get("good") else dying(call))
    undo = handler(lambda call: 503)
    server = serve({"orders": queue(work.url, undo.url, breaker={"consecutive": 2, "min_attempts": 2},
                                    idempotency={"key": ".k"})})
    dead(server, 5)
    server.push("orders", {"good": True, "k": "a"})
    compensate(server, all=True, why="x")
    eventually(lambda: undo.count() == 15, "three tries each")
    eventually(lambda: len(server.letters("orders.dlq", state="pending_review")) == 5, "all are back")
    assert server.queue("orders")["breaker"]["state"] == "closed"


@pytest.mark.parametrize("words", [["--reason", "bad"], ["--all"]])
def test_the_command_line_changes_nothing_without_apply(serve, handler, words):
    undo = handler()
    server = serve({"orders": queue(handler(dying).url, undo.url)})
    dead(server, 2)
    assert "2 letters would be given to their compensating handler" in server.cli("compensate", *words)
    assert "--why" in server.cli("compensate", *words, "--apply", expect=2)
    assert undo.count() == 0
    assert "2 letters" in server.cli("compensate", *words, "--why", "refund", "--apply")
    ended(server, 2)
    assert sorted(undo.ids()) == ["o-0", "o-1"]
    assert [line.split()[1] for line in server.cli("show", "o-0").splitlines() if " ok " in line] == ["compensation"]


def test_the_command_line_says_that_one_letter_is_under_way(serve, handler):
    server = serve({"orders": queue(handler(dying).url, handler().url)})
    dead(server, 1)
    said = server.cli("compensate", "o-0", "--why", "refund", "--apply")
    assert said.endswith(" is given to its compensating handler\n")
