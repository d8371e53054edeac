"""A full DLQ blocks or spills; it never drops. Letters go where routes and rules send them."""
import glob
import json
import os
import random
import subprocess
import threading

from clocked import Clock
from harness import eventually, problem

BAD = [f"bad-{n}" for n in range(20)]


def queues(url, **dlq):
    return {"orders": {"source": "builtin", "handler": {"http": url}, "concurrency": 2, "breaker": "off",
                       "retry": {"attempts": 2, "delays": ["1s"], "jitter": "none"}, "dlq": dlq}}


def answer(call):
    if call.id.startswith("slow"):
        return 503 if call.attempt == 1 else 200
    return 400


def dead_ids(server, dlq="orders.dlq"):
    return {letter["message"]["id"] for letter in server.letters(dlq)}


def spilled(server, dlq="orders.dlq"):
    """Every letter of the archive, decoded with the ordinary tool."""
    letters = []
    for path in sorted(glob.glob(os.path.join(server.folder, "archive", dlq, "spill-*.ndjson.zst"))):
        text = subprocess.run(["zstd", "-dc", path], check=True, capture_output=True).stdout
        letters += [json.loads(line) for line in text.splitlines()]
    return letters


def waiting_for_room(server, queue="orders"):
    rows = server.get(f"/v1/messages?queue={queue}&state=pending_retry&limit=1000").json["messages"]
    return {row["message"]["id"]: row for row in rows}


def test_a_full_dlq_holds_verdicts_while_healthy_messages_and_retries_go_on_and_a_larger_cap_makes_room(serve, handler):
    worker = handler(lambda call: 200 if call.id.startswith("good") else answer(call))
    server = serve(queues(worker.url, cap=5))
    server.push("orders", {}, id="slow")
    eventually(lambda: worker.ids() == ["slow"], "the first attempt of the slow one")
    server.push_many("orders", [{"id": one, "body": {}} for one in BAD])
    eventually(lambda: len(waiting_for_room(server)) >= 15, "the others wait for room")
    # The retry is due only now, with the DLQ full.
    eventually(lambda: worker.ids().count("slow") == 2, "the retry is handed over all the same")
    eventually(lambda: server.message("slow") is None, "and succeeds")
    server.push("orders", {}, id="good-1")
    eventually(lambda: server.message("good-1") is None, "a healthy message is not held")
    assert server.dlq("orders.dlq")["depth"] == 5, "the cap is kept exactly"
    waiting = waiting_for_room(server)
    assert dead_ids(server) | set(waiting) == set(BAD) and len(waiting) == 15
    for row in waiting.values():
        assert row["state"] == "pending_retry" and row["why"] == "dlq orders.dlq is full"
        assert row["dlq"] == "orders.dlq" and row["cause"] == "terminal" and row["reason"] == "bad_request"
        assert row["next_attempt_at"] is None
    view = server.queue("orders")
    assert view["state"] == "running" and view["dlq_full"] and view["awaiting_room"] == 15
    assert server.metric("impound_queue_awaiting_room", queue="orders") == 15
    assert view["why"] == "dlq orders.dlq is full: 15 messages wait for room"
    ready = server.get("/readyz")
    assert ready.status == 200
    assert ready.json["dlq_full"] == [{"queue": "orders", "why": view["why"]}] and ready.json["halted"] == []
    assert server.metric("impound_dlq_cap_ratio", dlq="orders.dlq") == 1
    problem(server.post("/v1/queues/orders/failures", {"task_id": "t", "payload": {}, "error_type": "KeyError"}),
            503, "full")
    assert server.message("t") is None
    assert all(worker.ids().count(one) == 1 for one in BAD), "none was handed over again"

    server.configure(queues(worker.url, cap=1000))
    server.reload()
    server.drained("orders")
    assert dead_ids(server) == set(BAD)
    assert all(worker.ids().count(one) == 1 for one in BAD), "none was handed over again"
    assert server.dlq("orders.dlq")["cap"] == 1000 and "dlq_full" not in server.get("/readyz").json
    said = server.post("/v1/queues/orders/failures", {"task_id": "t", "payload": {}, "error_type": "KeyError"})
    assert said.status == 200


def test_what_waits_for_room_survives_kill_9_and_becomes_letters_when_people_make_room(serve, handler):
    worker = handler(answer)
    server = serve(queues(worker.url, cap=3))
    server.push_many("orders", [{"id": one, "body": {"n": one}} for one in BAD])
    eventually(lambda: len(waiting_for_room(server)) == len(BAD) - 3, "the DLQ fills, the others wait")
    calls = worker.count()
    server.kill()
    server.start()
    eventually(lambda: server.queue("orders")["dlq_full"], "the engine has looked")
    assert server.queue("orders")["why"] == f"dlq orders.dlq is full: {len(BAD) - 3} messages wait for room"
    assert server.dlq("orders.dlq")["depth"] == 3
    seen = set()
    while len(seen) < len(BAD):
        letters = eventually(lambda: [one for one in server.letters("orders.dlq")
                                      if one["message"]["id"] not in seen], "letters to resolve")
        for letter in letters:
            assert letter["message"]["body"] == {"n": letter["message"]["id"]} if "body" in letter["message"] else True
            assert letter["cause"] == "terminal" and letter["why"] is None
            seen.add(letter["message"]["id"])
            server.post(f"/v1/letters/{letter['id']}/resolve", {"why": "seen"})
    assert seen == set(BAD)
    assert worker.count() == calls, "nothing was handed over again"
    assert waiting_for_room(server) == {}


def test_the_alert_of_a_full_dlq_fires_for_as_long_as_it_is_full(serve, handler, tmp_path):
    worker = handler(answer)
    clock = Clock(str(tmp_path))
    clock.ahead(0)
    aged = {"name": "Aged", "metric": "dlq_oldest_age_seconds", "dlq": "*", "above": 100}
    server = serve(queues(worker.url, cap=3), alerts={"rules": [aged]})
    server.stop()
    server.under = clock.under
    server.start()
    server.push_many("orders", [{"id": one, "body": {}} for one in BAD])
    eventually(lambda: server.queue("orders")["awaiting_room"] == len(BAD) - 3, "the DLQ is full")

    def firing():
        return {one["alert"]: one for one in server.get("/v1/alerts").json["alerts"]
                if one["subject"] == "orders.dlq" and one["state"] == "firing"}
    eventually(lambda: "DLQCapForecast" in firing(), "the alert fires", 30)
    clock.ahead(180)  # nothing has arrived for three minutes
    eventually(lambda: "Aged" in firing(), "the readings are of after that", 30)
    said = firing()["DLQCapForecast"]
    assert said["severity"] == "critical" and "it is full" in said["summary"]
    server.configure(queues(worker.url, cap=1000), alerts={"rules": [aged]})
    server.reload()
    server.drained("orders")
    eventually(lambda: "DLQCapForecast" not in firing(), "there is room", 90)


def test_spilled_letters_are_whole_in_the_archive_and_counted(serve, handler):
    worker = handler(answer)
    server = serve(queues(worker.url, cap=5, on_full="spill", archive="file:archive/", owner="team-orders"))
    server.push_many("orders", [{"id": one, "body": {"n": one, "x": [1, None]}} for one in BAD])
    server.drained("orders")
    kept, away = dead_ids(server), spilled(server)
    assert len(kept) == 5
    assert {letter["message"]["id"] for letter in away} == set(BAD) - kept
    assert len(away) == len(BAD) - 5, "each once"
    view = server.dlq("orders.dlq")
    assert view["spilled"] == len(away) and view["depth"] == 5
    for letter in away:
        assert letter["message"]["body"] == {"n": letter["message"]["id"], "x": [1, None]}
        assert letter["dlq"] == "orders.dlq" and letter["cause"] == "terminal"
        assert letter["attempts"] == 1 and len(letter["history"]) == 1 and letter["owner"] == "team-orders"
        assert server.message(letter["id"]) is None
    # The count outlives the process, and the file grows.
    server.stop()
    server.start()
    server.push("orders", {}, id="bad-late")
    server.drained("orders")
    assert "bad-late" in {letter["message"]["id"] for letter in spilled(server)}
    assert server.dlq("orders.dlq")["spilled"] == len(away) + 1


def test_kill_9_in_the_middle_of_spilling_loses_nothing(serve, handler):
    worker = handler(answer)
    server = serve(queues(worker.url, cap=5, on_full="spill", archive="file:archive/"))
    moments = random.Random(3)
    pushed = set()
    for life in range(5):
        batch = [{"id": f"bad-{life}-{n}", "body": {}} for n in range(300)]
        pushed |= set(server.push_many("orders", batch))
        threading.Event().wait(moments.uniform(0.02, 0.3))  # a random moment, not an awaited one
        server.kill()
        server.start()
    server.drained("orders")
    assert dead_ids(server) | {letter["message"]["id"] for letter in spilled(server)} == pushed


def test_letters_go_where_routes_and_rules_send_them(serve, handler):
    statuses = {"invalid": 422, "gone": 404, "model": 404, "bug": 500, "busy": 503}
    bodies = {"model": b'{"error": {"message": "no such model: m1"}}'}
    worker = handler(lambda call: (statuses[call.id], {"Content-Type": "application/json"},
                                   bodies.get(call.id, b"")))
    orders = queues(worker.url, owner="team-orders",
                    route={"validation": "orders.dlq.validation", "transient": "shared.dlq"})
    orders["orders"]["classify"] = {"rules": [
        {"when": {"status": 404, "message": "model"}, "do": "dlq", "category": "model_gone",
         "reason": "model_gone", "dlq": "models.dlq"}]}
    server = serve(orders, dlqs={"models.dlq": {"owner": "team-models", "cap": 7}})
    for one in statuses:
        server.push("orders", {}, id=one)
    server.drained("orders")
    assert dead_ids(server, "orders.dlq.validation") == {"invalid"}
    assert dead_ids(server, "models.dlq") == {"model"}
    assert dead_ids(server, "shared.dlq") == {"busy"}
    assert dead_ids(server, "orders.dlq") == {"gone", "bug"}
    assert server.message("model")["owner"] == "team-models"
    assert server.message("invalid")["owner"] == "team-orders"
    assert server.dlq("models.dlq")["cap"] == 7
    assert server.message("busy")["cause"] == "exhausted"
    names = [view["dlq"] for view in server.get("/v1/dlqs").json["dlqs"]]
    assert sorted(names) == ["models.dlq", "orders.dlq", "orders.dlq.validation", "shared.dlq"]


def test_a_full_route_holds_no_healthy_message(serve, handler):
    worker = handler(lambda call: 422 if call.id.startswith("invalid") else 200)
    orders = queues(worker.url, route={"validation": "orders.dlq.validation"})
    server = serve(orders, dlqs={"orders.dlq.validation": {"cap": 2}})
    server.push_many("orders", [{"id": f"invalid-{n}", "body": {}} for n in range(10)]
                     + [{"id": f"good-{n}", "body": {}} for n in range(50)])
    eventually(lambda: len([one for one in worker.ids() if one.startswith("good")]) == 50, "all healthy ones went")
    eventually(lambda: server.queue("orders")["awaiting_room"] == 8, "the invalid ones wait for room")
    assert server.dlq("orders.dlq.validation")["depth"] == 2
    assert server.dlq("orders.dlq")["depth"] == 0
    assert {row["why"] for row in waiting_for_room(server).values()} == {"dlq orders.dlq.validation is full"}
    # A report for another DLQ of the queue is taken.
    said = server.post("/v1/queues/orders/failures", {"task_id": "t", "payload": {}, "error_type": "KeyError"})
    assert said.status == 200 and said.json["letter"]
