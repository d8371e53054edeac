"""What people decide about letters without sending them: resolve, discard, escalate, one by one and by
filter, always with a why, always audited, and never by accident."""
import json
import re

import pytest

from harness import eventually, problem, scaled

MANY = scaled(23000, 2300)  # more than two commits of a bulk


def dying(call):
    reason = json.loads(call.body)["dies"]
    return {"bad": 400, "gone": 404, "bug": 500}.get(reason, 200)


def queue(url, **more):
    return {"source": "builtin", "handler": {"http": url}, "breaker": "off", **more}


@pytest.fixture
def lot(serve, handler):
    """Four bad requests, three missing things, two bugs."""
    server = serve({"orders": queue(handler(dying).url)})
    for reason, count in (("bad", 4), ("gone", 3), ("bug", 2)):
        for i in range(count):
            server.push("orders", {"dies": reason, "n": i}, id=f"{reason}-{i}", key=f"k{i}")
    server.drained("orders")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 9, "nine letters")
    return server


def decide(server, action, body, who="ada"):
    return server.post(f"/v1/letters/{action}", body, {"Impound-Actor": who})


def audit(server, **more):
    answer = server.get("/v1/audit", **more)
    assert answer.status == 200, answer.body
    return answer.json["audit"]


def test_one_letter_is_resolved_discarded_or_escalated_with_a_why(lot):
    for action, state in (("resolve", "resolved"), ("discard", "discarded"),
                          ("escalate", "pending_review")):
        letter = lot.letters("orders.dlq", reason="bad_request")[0]["id"]
        problem(decide(lot, f"{letter}/{action}", {}), 400, "why")
        answer = decide(lot, f"{letter}/{action}", {"why": f"because of {action}"})
        assert answer.status == 200, answer.body
        shown = lot.message(letter)
        assert shown["state"] == state and shown["why"] == f"because of {action}"
        assert answer.json["state"] == state and answer.json["message"]["body"]["dies"] == "bad"
        entry = audit(lot)[0]
        assert (entry["what"], entry["who"], entry["why"], entry["subject"], entry["count"]) == (
            action, "ada", f"because of {action}", letter, 1)
        assert entry["before"] == {"state": "pending_review"} and entry["after"]["state"] == state
    resolved = lot.letters("orders.dlq", state="resolved")[0]
    assert resolved["resolution"] == "by_hand" and resolved["resolved_at"]
    escalated = lot.letters("orders.dlq", escalated="true")
    assert len(escalated) == 1 and escalated[0]["escalated_at"]
    assert lot.dlq("orders.dlq")["depth"] == 7  # escalated ones still wait


def test_what_is_decided_cannot_be_decided_again(lot):
    letter = lot.letters("orders.dlq")[0]["id"]
    assert decide(lot, f"{letter}/discard", {"why": "x"}).status == 200
    before = audit(lot)
    problem(decide(lot, f"{letter}/resolve", {"why": "y"}), 409, letter, "discarded")
    problem(decide(lot, "resolve", {"ids": [letter], "why": "y"}), 409, letter, "discarded")
    problem(decide(lot, "nobody/resolve", {"why": "y"}), 404, "nobody")
    assert audit(lot) == before
    assert lot.message(letter)["why"] == "x"


def test_a_bulk_decision_takes_a_filter_and_says_how_many(lot):
    problem(decide(lot, "discard", {"why": "x"}), 400, "all")
    problem(decide(lot, "discard", {"filter": {}, "why": "x"}), 400, "all")
    problem(decide(lot, "discard", {"filter": {"raeson": "x"}, "why": "x"}), 400, "reason")
    problem(decide(lot, "discard", {"filter": {"reason": "bad"}}), 400, "why")
    problem(decide(lot, "discard", {"filter": {"state": "resolved"}, "why": "x"}), 400, "state")
    dry = decide(lot, "discard", {"filter": {"reason": "bad"}, "dry_run": True}).json
    assert (dry["count"], dry["dry_run"]) == (4, True)
    assert lot.dlq("orders.dlq")["depth"] == 9 and audit(lot) == []
    done = decide(lot, "discard", {"filter": {"reason": "bad"}, "why": "test traffic"}).json
    assert (done["matched"], done["count"], done["busy"]) == (4, 4, 0)
    assert lot.dlq("orders.dlq")["depth"] == 5
    assert {row["why"] for row in lot.letters("orders.dlq", state="discarded")} == {"test traffic"}
    entry, = audit(lot)
    assert entry["what"] == "discard" and entry["count"] == 4 and entry["filter"] == {"reason": "bad"}
    assert decide(lot, "resolve", {"all": True, "why": "spring cleaning"}).json["count"] == 5
    assert lot.dlq("orders.dlq")["depth"] == 0


def arrive(server, depth):
    server.push("orders", {"dies": "bad", "n": depth}, id=f"late-{depth}")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == depth, "one more")


def test_what_a_dry_run_saw_is_decided_and_nothing_that_came_since(lot):
    words = {"reason": "bad"}
    seen = decide(lot, "discard", {"filter": words, "dry_run": True}).json
    arrive(lot, 10)
    done = decide(lot, "discard", {"filter": words | {"until": seen["until"]}, "why": "as seen"}).json
    assert (seen["count"], done["count"]) == (4, 4)
    seen = lot.post("/v1/replays", {"all": True}).json
    assert seen["selected"] == 6
    arrive(lot, 7)
    assert lot.post("/v1/replays", {"filter": {"until": seen["until"]}}).json["selected"] == 6
    seen = decide(lot, "resolve", {"ids": [lot.letters("orders.dlq")[0]["id"]], "dry_run": True}).json
    assert "until" not in seen


def test_the_command_line_says_how_to_decide_about_what_it_showed(lot):
    for verb, done, left in (("discard", "discarded", 10), ("resolve", "resolved", 7)):
        shown = lot.cli(verb, "--reason", "bad" if left == 10 else "not_found")
        until = re.search(r"--until (\S+) it is these", shown)[1]
        arrive(lot, left)
        lot.cli(verb, "--cause", "terminal", "--until", until, "--reason", "bad" if left == 10 else "not_found",
                "--why", "as shown", "--apply")
        assert len(lot.letters("orders.dlq", state=done)) == (4 if left == 10 else 3)
    entry = audit(lot)[0]
    assert entry["filter"]["until"] <= until
    shown = json.loads(lot.cli("escalate", "--all", "--json"))
    assert (shown["count"], "until" in shown) == (4, True)
    assert " instead of --all it is these" in lot.cli("escalate", "--all")
    assert re.search(r"With --until \S+ it is these", lot.cli("replay", "--reason", "bad"))


@pytest.mark.parametrize("words", [
    {"reason": "bad_req"}, {"category": "not_found"}, {"cause": "terminal"}, {"since": "1h"},
    {"until": "1h"}, {"key": "k1"}, {"where": ".message.body.n == 1"}, {"q": "HTTP"},
    {"min_attempts": 1}, {"queue": "orders", "escalated": "false"},
])
def test_every_filter_chooses_what_the_list_shows(lot, words):
    listed = len(lot.letters("orders.dlq", **words))
    assert decide(lot, "discard", {"filter": words, "dry_run": True}).json["count"] == listed
    assert decide(lot, "escalate", {"filter": words, "why": "look"}).json["count"] == listed
    assert decide(lot, "discard", {"filter": words | (
        {} if "escalated" not in words else {"escalated": "true"}), "why": "gone"}).json["count"] == listed
    assert lot.dlq("orders.dlq")["depth"] == 9 - listed


def test_the_oldest_few_are_chosen_by_a_limit_and_the_rest_by_its_cursor(lot):
    newest = [row["id"] for row in lot.letters("orders.dlq")]
    first = decide(lot, "discard", {"all": True, "limit": 4, "why": "x"}).json
    assert first["count"] == 4 and first["cursor"]
    assert {row["id"] for row in lot.letters("orders.dlq", state="discarded")} == set(newest[-4:])
    rest = decide(lot, "discard", {"all": True, "cursor": first["cursor"], "why": "x"}).json
    assert rest["count"] == 5 and rest["cursor"] is None


def test_letters_are_counted_by_state(lot):
    decide(lot, "discard", {"all": True, "limit": 4, "why": "x"})
    decide(lot, "resolve", {"all": True, "limit": 2, "why": "x"})
    wanted = {"pending_review": 3, "replaying": 0, "resolved": 2, "discarded": 4}

    def check():
        assert lot.dlq("orders.dlq")["by_state"] == wanted, "current, without waiting for lists"
        [listed] = [one for one in lot.get("/v1/dlqs").json["dlqs"] if one["dlq"] == "orders.dlq"]
        assert listed["by_state"] == wanted
        assert lot.get("/v1/dlqs/orders.dlq/states").json == {"dlq": "orders.dlq", "by_state": wanted}
        for state, count in wanted.items():
            assert lot.metric("impound_dlq_letters_by_state", dlq="orders.dlq", state=state) == count
    check()
    assert re.search(r"by state\n +pending_review +3\n +replaying +0\n +resolved +2\n +discarded +4",
                     lot.cli("dlqs", "orders.dlq")), lot.cli("dlqs", "orders.dlq")
    assert "discarded" in lot.cli("dlqs", "orders.dlq", "--states")
    problem(lot.get("/v1/dlqs/nobody/states"), 404, "nobody")
    lot.kill()
    lot.start()
    check()


def test_the_newest_few_are_chosen_where_that_is_said(lot):
    newest = [row["id"] for row in lot.letters("orders.dlq")]
    assert decide(lot, "discard", {"all": True, "limit": 2, "order": "newest", "why": "x"}).json["count"] == 2
    assert {row["id"] for row in lot.letters("orders.dlq", state="discarded")} == set(newest[:2])
    lot.cli("discard", "--all", "--limit", "2", "--newest", "--why", "x", "--apply")
    assert {row["id"] for row in lot.letters("orders.dlq", state="discarded")} == set(newest[:4])
    lot.cli("discard", "--all", "--limit", "2", "--why", "x", "--apply")
    assert {row["id"] for row in lot.letters("orders.dlq", state="discarded")} == {*newest[:4], *newest[-2:]}
    problem(lot.post("/v1/letters/discard", {"all": True, "order": "newest", "why": "x"}), 400, "order", "limit")
    problem(lot.post("/v1/letters/discard", {"all": True, "limit": 1, "order": "best", "why": "x"}), 400, "oldest", "newest")


def test_a_where_that_fails_on_a_letter_leaves_it_alone_and_says_so(lot):
    lot.push("orders", {"dies": "bad", "n": "text"}, id="odd")
    eventually(lambda: lot.dlq("orders.dlq")["depth"] == 10, "the odd one is dead")
    done = decide(lot, "discard", {"filter": {"where": ".message.body.n + 1 > 0"}, "why": "x"}).json
    assert done["count"] == 9 and done["skipped"] == 1 and done["skipped_why"]
    assert lot.message("odd")["state"] == "pending_review"


def test_many_letters_are_decided_in_pages_with_one_entry_in_the_audit(serve, handler):
    server = serve({"orders": queue(handler(lambda call: 400).url, concurrency=64)})
    for start in range(0, MANY, 1000):
        server.push_many("orders", [{"body": i} for i in range(start, min(MANY, start + 1000))])
    eventually(lambda: server.dlq("orders.dlq")["depth"] == MANY, "all are dead")
    assert decide(server, "resolve", {"all": True, "why": "fixed"}).json["count"] == MANY
    assert server.dlq("orders.dlq")["depth"] == 0
    entry, = audit(server)
    assert entry["count"] == MANY
    server.stop()
    server.start()
    assert server.dlq("orders.dlq")["depth"] == 0 and audit(server) == [entry]


def test_the_command_line_changes_nothing_without_apply(lot):
    lot.cli("discard", "--reason", "bad", expect=0)
    said = lot.cli("discard", "--reason", "bad", "--why", "test traffic")
    assert "4 letters would be discarded" in said and "--apply" in said
    assert lot.dlq("orders.dlq")["depth"] == 9
    lot.cli("discard", "--reason", "bad", "--apply", expect=2)  # no why
    lot.cli("discard", "--why", "x", "--apply", expect=1)  # no filter
    assert "4 letters discarded" in lot.cli("discard", "--reason", "bad", "--why", "test", "--apply")
    assert lot.dlq("orders.dlq")["depth"] == 5
    one = lot.letters("orders.dlq")[0]["id"]
    lot.cli("discard", one, "--why", "x")
    assert lot.message(one)["state"] == "pending_review"
    assert "is escalated" in lot.cli("escalate", one, "--why", "ask the provider")
    assert "is resolved" in lot.cli("resolve", one, "--why", "fixed by hand")
    assert lot.message(one)["state"] == "resolved"
    lot.cli("resolve", "nobody", "--why", "x", expect=4)
    counted = json.loads(lot.cli("resolve", "--all", "--why", "x", "--apply", "--json"))
    assert counted["count"] == 4 and counted["dry_run"] is False
    told = lot.cli("audit")
    assert "discard" in told and "ask the provider" in told


def test_pausing_and_resuming_are_audited_and_the_audit_has_pages(lot):
    lot.post("/v1/queues/orders/pause", {"why": "deploy"}, {"Impound-Actor": "bob"})
    lot.post("/v1/queues/orders/resume", {"why": "deployed"})
    resumed, paused = audit(lot)
    assert (paused["what"], paused["who"], paused["why"], paused["subject"]) == (
        "queue.pause", "bob", "deploy", "orders")
    assert paused["before"]["state"] == "running" and paused["after"]["state"] == "paused"
    assert (resumed["what"], resumed["who"], resumed["after"]["state"]) == (
        "queue.resume", "anonymous", "running")
    first = lot.get("/v1/audit", limit=1).json
    second = lot.get("/v1/audit", limit=1, cursor=first["cursor"]).json
    assert first["audit"] + second["audit"] == [resumed, paused] and second["cursor"] is None
    problem(lot.get("/v1/audit", limit=0), 400, "limit")
    lot.stop()
    lot.start()
    assert audit(lot) == [resumed, paused]
