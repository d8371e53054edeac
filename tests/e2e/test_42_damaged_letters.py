"""A letter that the disk damaged does not hide the others: lists, decisions and exports leave it out and say so."""
import json
import os

import pytest

from damage import damage
from harness import eventually

GOOD = [f"o-{number}" for number in range(9) if number != 4]


@pytest.fixture(name="lot")
def fixture_lot(serve, handler):
    """Nine dead letters, each with a text of its own in its error and in its body."""
    worker = handler(lambda call: (422, {}, json.dumps(
        {"error": {"type": "Bad", "message": "unique-error-" + call.id}}).encode()))
    server = serve({"orders": {"source": "builtin", "handler": {"http": worker.url}, "concurrency": 1}})  # they die in order
    for number in range(9):
        server.push("orders", {"text": f"unique-body-o-{number}"}, id=f"o-{number}")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 9, "nine letters")
    assert len(server.letters("orders.dlq")) == 9
    return server


def restart_with(server, text):
    server.stop()
    damage(server.folder, text)
    server.start()


def test_a_damaged_envelope_is_named_and_the_others_are_listed(lot):
    letter = lot.message("o-4")["id"]
    restart_with(lot, b"unique-error-o-4")
    page = lot.get("/v1/letters", limit=100)
    assert page.status == 200, page.body
    assert [one["message"]["id"] for one in page.json["letters"]] == GOOD[::-1]
    assert page.json["damaged"] == [letter]
    page = lot.get("/v1/letters", limit=100, where='.message.id != "o-1"').json
    assert len(page["letters"]) == 7 and page["damaged"] == [letter]
    said = lot.cli("ls", "orders.dlq", expect=1)
    assert "o-5" in said and "1 letter cannot be read and was left out" in said
    done = lot.post("/v1/letters/escalate", {"all": True, "why": "look"}).json
    assert (done["count"], done["damaged"]) == (8, 1)
    plan = lot.post("/v1/replays", {"all": True}).json
    assert (plan["selected"], plan["damaged"]) == (8, 1)


@pytest.mark.parametrize("text", [b"unique-error-o-4", b"unique-body-o-4"])
def test_an_export_leaves_a_damaged_letter_out_and_says_so(lot, text):
    restart_with(lot, text)
    answer = lot.post("/v1/exports", {"all": True, "compress": "none"})
    assert answer.status == 200, answer.body
    assert answer.headers["Impound-Damaged"] == "1"
    lines = [json.loads(line) for line in answer.body.splitlines()]
    assert sorted(line["message"]["id"] for line in lines) == GOOD
    assert "damaged" in lot.log()
    said = lot.cli("export", "--all", expect=1)
    assert "1 letter cannot be read and was left out" in said and said.count("\n{") == 7
    path = os.path.join(lot.folder, "letters.ndjson")
    lot.cli("export", "--all", "--output", path, expect=1)
    with open(path, encoding="utf-8") as file:
        assert len(file.readlines()) == 8


@pytest.mark.parametrize("text", [b"unique-error-o-4", b"unique-body-o-4"])
def test_a_damaged_letter_does_not_hide_the_groups(serve, handler, text):
    """One group of o-1 and o-4, whose newest letter is damaged; a group of o-2 beside it."""
    worker = handler(lambda call: (422, {}, json.dumps(
        {"error": {"type": {"o-2": "Other", "o-3": "Third"}.get(call.id, "Bad"),
                   "message": "unique-error-" + call.id}}).encode()))
    server = serve({"orders": {"source": "builtin", "handler": {"http": worker.url}, "concurrency": 1}})
    for number in (1, 2, 4):
        server.push("orders", {"text": f"unique-body-o-{number}"}, id=f"o-{number}")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 3, "three letters")
    eventually(lambda: new_groups(server) == 2, "both groups are told as new")
    assert len(server.letters("orders.dlq")) == 3
    bad = server.message("o-4")["id"]
    restart_with(server, text)
    page = server.get("/v1/groups")
    assert page.status == 200, page.body
    assert page.json["damaged"] == [bad]
    one, other = page.json["groups"]
    assert (one["count"], one["error_type"], one["sample"]) == (
        2, "Bad", bad if text == b"unique-body-o-4" else server.message("o-1")["id"])
    assert (other["error_type"], other["sample"]) == ("Other", server.message("o-2")["id"])
    shown = server.get(f"/v1/groups/{one['fingerprint']}").json
    assert (shown["sample"], shown["damaged"]) == (one["sample"], [bad])
    assert "damaged" not in server.get(f"/v1/groups/{other['fingerprint']}").json
    assert "error_type: \"Bad\"" in server.cli("groups", "rule", one["fingerprint"], "--do", "retry")
    server.push("orders", 3, id="o-3")
    eventually(lambda: new_groups(server) == 3, "another new group is told beside them")
    assert "groups:" not in server.log()


def new_groups(server):
    return sum(alert["alert"] == "DLQNewGroup" for alert in server.get("/v1/alerts").json["alerts"])


def test_a_group_whose_only_letter_is_damaged_is_shown_without_its_failure(lot):
    lot.push("orders", {"text": "it has another failure"}, id="alone")
    eventually(lambda: lot.dlq("orders.dlq")["depth"] == 10, "another letter")
    assert len(lot.letters("orders.dlq")) == 10
    letter = lot.message("alone")
    restart_with(lot, b"unique-error-alone")
    shown = lot.get(f"/v1/groups/{letter['failure']['fingerprint']}").json
    assert (shown["count"], shown["error_type"], shown["sample"], shown["damaged"]) == (1, None, None, [letter["id"]])
    assert lot.get("/v1/groups").json["damaged"] == [letter["id"]]
    assert len(lot.get("/v1/groups").json["groups"]) == 2
