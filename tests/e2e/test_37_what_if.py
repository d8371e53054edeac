"""What-if: stored letters judged again under a new file's rules, by the same judgement, changing nothing."""
import json

import pytest

from harness import eventually


def queue(url, **more):
    return {"source": "builtin", "handler": {"http": url}, "breaker": "off", **more}


def failing(call):
    if json.loads(call.body)["dies"] == "own":
        return 400, {"Impound-Verdict": "dlq", "Impound-Reason": "own_word"}, b""
    status, text = {"bug": (500, "cannot divide"), "bad": (422, "field total is 7"),
                    "busy": (503, "later")}[json.loads(call.body)["dies"]]
    return status, {}, json.dumps({"error": {"type": "Oops", "message": text}}).encode()


@pytest.fixture
def lot(serve, handler):
    """Three bugs, two bad ones, one that was busy too long, one whose handler had the last word."""
    url = handler(failing).url
    server = serve({"orders": queue(url, retry={"attempts": 2, "base": "1ms"})})
    server.handler_url = url
    for kind, count in (("bug", 3), ("bad", 2), ("busy", 1), ("own", 1)):
        for i in range(count):
            server.push("orders", {"dies": kind, "n": i}, id=f"{kind}-{i}")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 7, "seven letters")
    return server


def what_if(server, tmp_path, *words, **changes):
    path = tmp_path / "new.yaml"
    path.write_text(json.dumps({"queues": {"orders": queue(server.handler_url, **changes)}}))
    return json.loads(server.cli("what-if", "--rules", path, *words, "--json"))


def by_was(said):
    return {change["was"]["reason"]: change for change in said["changes"]}


def everything(server):
    return [server.message(row["id"]) for row in server.letters("orders.dlq")]


def test_the_rules_that_killed_them_kill_them_again(lot, tmp_path):
    before = everything(lot)
    said = what_if(lot, tmp_path, retry={"attempts": 2, "base": "1ms"})
    assert (said["letters"], said["changed"], said["same"]) == (7, 0, 7)
    assert all(change["same"] and change["was"] == change["would_be"] for change in said["changes"])
    assert everything(lot) == before and lot.get("/v1/audit").json["audit"] == []


def test_new_rules_say_what_each_would_become(lot, tmp_path):
    rules = [{"when": {"status": 500, "message": "cannot (divide|add)"}, "do": "retry",
              "category": "transient", "reason": "arithmetic"},
             {"when": {"jq": ".message.body.n == 1"}, "do": "dlq", "category": "bug", "reason": "odd",
              "dlq": "orders.dlq.odd"},
             {"when": {"status": 422}, "do": "discard", "category": "validation", "reason": "junk"}]
    before = everything(lot)
    said = what_if(lot, tmp_path, classify={"rules": rules}, retry={"attempts": 9})
    assert (said["letters"], said["changed"], said["jq_errors"]) == (7, 6, 0)
    would = {(c["was"]["reason"], c["would_be"]["reason"]): c for c in said["changes"]}
    assert {pair: change["count"] for pair, change in would.items()} == {
        ("upstream_5xx", "arithmetic"): 3, ("bad_request", "junk"): 1, ("bad_request", "odd"): 1,
        ("max_attempts:upstream_busy", "upstream_busy"): 1, ("own_word", "own_word"): 1}
    arithmetic = would["upstream_5xx", "arithmetic"]
    assert arithmetic["would_be"] == {"verdict": "retry", "category": "transient", "reason": "arithmetic",
                                      "dlq": None, "retry": True}
    assert arithmetic["rule"] == "orders.rules[0]" and len(arithmetic["samples"]) == 3
    assert {lot.message(some)["reason"] for some in arithmetic["samples"]} == {"upstream_5xx"}
    odd = would["bad_request", "odd"]["would_be"]
    assert odd["dlq"] == "orders.dlq.odd" and not odd["retry"]
    assert would["bad_request", "junk"]["would_be"]["verdict"] == "discard"
    assert would["max_attempts:upstream_busy", "upstream_busy"]["would_be"]["retry"]  # nine attempts now
    assert would["own_word", "own_word"]["same"]
    assert everything(lot) == before


def test_filters_choose_which_letters_are_judged(lot, tmp_path):
    assert by_was(what_if(lot, tmp_path, "--reason", "bad")).keys() == {"bad_request"}
    assert what_if(lot, tmp_path, "--limit", "2")["letters"] == 2
    assert what_if(lot, tmp_path, "--dlq", "orders.dlq", "--key", "nobody")["letters"] == 0
    assert what_if(lot, tmp_path, "--where", '.message.id == "bug-1"')["letters"] == 1


def test_people_get_a_table_and_mistakes_their_place(lot, tmp_path):
    path = tmp_path / "new.yaml"
    path.write_text(json.dumps({"queues": {"other": queue(lot.handler_url)}}))
    assert "7 are of queues that the file does not have" in lot.cli("what-if", "--rules", path)
    path.write_text(json.dumps({"queues": {"orders": queue(lot.handler_url, classify={
        "rules": [{"when": {"status": 500}, "do": "retry", "reason": "again"}]})}}))
    shown = lot.cli("what-if", "--rules", path)
    assert "dlq unknown/upstream_5xx in orders.dlq" in shown and "retry unknown/again" in shown
    assert "Nothing was changed." in shown
    path.write_text("queues: {orders: {handlre: 1}}")
    assert f"{path}:1:" in lot.cli("what-if", "--rules", path, expect=1)
    assert "--rules" in lot.cli("what-if", expect=2)
