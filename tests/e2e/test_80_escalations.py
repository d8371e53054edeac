"""Whoever escalates letters, receivers are told which letters they are, so that a ticket can be made of each."""
import json

from harness import eventually


def queue(url, **dlq):
    return {"orders": {"handler": {"http": url}, "breaker": "off", "dlq": dlq}}


def world(serve, handler, count, **dlq):
    worker = handler(lambda call: (400, {}, b'{"error":{"type":"BadOrder","message":"no price"}}'))
    chat = handler()
    server = serve(queue(worker.url, **dlq), alerts={"to": [{"name": "chat", "webhook": chat.url}]})
    for number in range(count):
        server.push("orders", {"n": number}, id=f"o-{number}")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == count, "all are dead")
    eventually(lambda: len(server.letters("orders.dlq")) == count, "and listed")
    return server, chat


def tickets(chat):
    notices = [json.loads(call.body) for call in chat.calls]
    return [one for one in notices if one["alert"] == "TriageEscalated"]


def test_an_escalation_by_hand_names_its_letter(serve, handler):
    server, chat = world(serve, handler, 2)
    letter = server.message("o-1")
    server.cli("escalate", letter["id"], "--why", "who knows the price?", "--apply")
    notice = eventually(lambda: tickets(chat), "the chat is told")[0]
    assert (notice["dlq"], notice["value"], notice["status"]) == ("orders.dlq", 1, "firing")
    assert "1 letter escalated by" in notice["summary"] and "who knows the price?" in notice["summary"]
    assert notice["letters"] == [{"id": letter["id"], "message_id": "o-1", "queue": "orders",
                                  "reason": "bad_request", "error": "BadOrder: no price",
                                  "url": f"http://127.0.0.1:{server.port}/#/letters/{letter['id']}"}]


def test_an_escalation_of_many_lists_fifty_and_counts_all(serve, handler):
    server, chat = world(serve, handler, 60)
    answer = server.post("/v1/letters/escalate", {"filter": {"dlq": "orders.dlq"}, "why": "look"})
    assert answer.json["count"] == 60
    server.kill()  # a kill right after the answer loses no notice
    server.start()
    notice = eventually(lambda: tickets(chat), "the chat is told")[0]
    assert (notice["value"], len(notice["letters"])) == (60, 50)
    assert len({one["id"] for one in notice["letters"]}) == 50
    eventually(lambda: all(one["owed"] == 0 for one in server.get("/v1/alerts").json["alerts"]), "it is noted as told")
    assert len(tickets(chat)) == 1


def test_letters_that_were_replayed_too_often_are_told_of(serve, handler):
    server, chat = world(serve, handler, 2, max_replays=0)
    server.cli("replay", "--dlq", "orders.dlq", "--apply")
    notice = eventually(lambda: tickets(chat), "the chat is told")[0]
    assert notice["value"] == 2 and "escalated by replay" in notice["summary"]
    assert {one["message_id"] for one in notice["letters"]} == {"o-0", "o-1"}


def test_a_rules_notice_names_its_letters(serve, handler):
    rule = {"when": {"category": "validation"}, "do": "escalate", "every": "1s"}
    server, chat = world(serve, handler, 1, triage=[rule])
    notice = eventually(lambda: tickets(chat), "the chat is told")[0]
    assert notice["value"] == 1 and "escalated by triage rule" in notice["summary"]
    assert [one["message_id"] for one in notice["letters"]] == ["o-0"]
