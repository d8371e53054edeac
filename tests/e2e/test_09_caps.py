"""A full DLQ blocks or spills; it never drops. Letters go where routes and rules send them."""
import glob
import json
import os
import random
import subprocess
import threading

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


def test_a_full_dlq_stops_receiving_while_retries_go_on_and_a_larger_cap_starts_it_again(serve, handler):
    worker = handler(answer)
    server = serve(queues(worker.url, cap=5))
    server.push("orders", {}, id="slow")
    eventually(lambda: worker.ids() == ["slow"], "the first attempt of the slow one")
    server.push_many("orders", [{"id": one, "body": {}} for one in BAD])
    eventually(lambda: server.dlq("orders.dlq")["depth"] >= 5, "the DLQ fills")
    # The retry is due only now, with the DLQ full.
    eventually(lambda: worker.ids().count("slow") == 2, "the retry is handed over all the same")
    eventually(lambda: server.message("slow") is None, "and succeeds")
    eventually(lambda: server.queue("orders")["in_flight"] == 0, "what was under way has ended")
    server.push("orders", {}, id="bad-early")  # once this is durable, so is what had ended before it
    depth = server.dlq("orders.dlq")["depth"]
    assert 5 <= depth <= 5 + 2, "what is already inside may overshoot, by the concurrency at most"
    assert server.queue("orders")["depth"] == len(BAD) + 1 - depth
    assert server.queue("orders")["state"] == "running"
    assert server.metric("impound_dlq_cap_ratio", dlq="orders.dlq") == depth / 5
    problem(server.post("/v1/queues/orders/failures", {"task_id": "t", "payload": {}, "error_type": "KeyError"}),
            503, "cap")
    assert server.message("t") is None
    # Pushes are still taken: they wait.
    server.push("orders", {}, id="bad-late")
    assert server.queue("orders")["depth"] == len(BAD) + 2 - depth

    server.configure(queues(worker.url, cap=1000))
    server.reload()
    server.drained("orders")
    assert dead_ids(server) == {*BAD, "bad-early", "bad-late"}
    assert server.dlq("orders.dlq")["cap"] == 1000
    said = server.post("/v1/queues/orders/failures", {"task_id": "t", "payload": {}, "error_type": "KeyError"})
    assert said.status == 200


def test_a_full_dlq_is_still_full_after_a_restart(serve, handler):
    worker = handler(answer)
    server = serve(queues(worker.url, cap=3))
    server.push_many("orders", [{"id": one, "body": {}} for one in BAD])
    eventually(lambda: server.dlq("orders.dlq")["depth"] >= 3 and server.queue("orders")["in_flight"] == 0,
               "the DLQ fills")
    server.push("orders", {}, id="bad-early")  # once this is durable, so is what had ended before it
    calls, depth = worker.count(), server.dlq("orders.dlq")["depth"]
    server.kill()
    server.start()
    server.push("orders", {}, id="bad-late")
    eventually(lambda: server.queue("orders")["dlq_full"], "the engine has looked")
    assert server.queue("orders")["state"] == "running" and "at its cap" in server.queue("orders")["why"]
    assert server.dlq("orders.dlq")["depth"] == depth
    assert server.queue("orders")["depth"] == len(BAD) + 2 - depth
    assert worker.count() == calls


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


def test_a_full_route_blocks_the_queue_too(serve, handler):
    worker = handler(lambda call: 422 if call.id.startswith("invalid") else 200)
    orders = queues(worker.url, route={"validation": "orders.dlq.validation"})
    server = serve(orders, dlqs={"orders.dlq.validation": {"cap": 2}})
    server.push_many("orders", [{"id": f"invalid-{n}", "body": {}} for n in range(10)])
    eventually(lambda: server.queue("orders")["dlq_full"], "the queue blocks")
    eventually(lambda: server.queue("orders")["in_flight"] == 0, "what was under way has ended")
    assert 2 <= server.dlq("orders.dlq.validation")["depth"] <= 4
    assert server.dlq("orders.dlq")["depth"] == 0
