"""A message that waits for its retry can be tried now."""
import threading

from harness import eventually, problem


def queues(handler, **more):
    return {"orders": {"source": "builtin", "handler": handler, "breaker": "off", **more}}


def waiting(server, *ids):
    for one in ids:
        server.push("orders", {"id": one}, id=one, key=one[0])
    for one in ids:
        eventually(lambda one=one: (server.message(one) or {}).get("state") == "pending_retry", f"{one} waits")


def later(call):
    return 503, {"Retry-After": "600"}, b""


def test_a_message_that_waits_is_tried_now_and_the_retry_is_audited(serve, handler):
    worker = handler(lambda call: later(call) if call.attempt == 1 else 200)
    server = serve(queues({"http": worker.url}))
    waiting(server, "a1", "b1")
    said = server.post("/v1/messages/a1/retry", {"why": "the downstream is mended"})
    assert said.status == 200 and said.json["state"] == "pending_retry", said.body
    eventually(lambda: server.message("a1") is None, "it succeeds at its second attempt")
    assert server.message("b1")["state"] == "pending_retry", "the other one waits on"
    assert [(call.id, call.attempt) for call in worker.calls if call.id == "a1"] == [("a1", 1), ("a1", 2)]
    entry = server.get("/v1/audit").json["audit"][0]
    assert (entry["what"], entry["subject"], entry["why"]) == ("message.retry", "a1", "the downstream is mended")
    assert server.post("/v1/messages/b1/retry").status == 200, "a why is optional"
    server.drained("orders")


def test_what_does_not_wait_for_a_retry_is_refused(serve, handler):
    release = threading.Event()

    def work(call):
        if call.id == "runs":
            release.wait(60)
        return 400 if call.id == "dead" else 200
    server = serve(queues({"http": handler(work).url}))
    server.push("orders", {}, id="dead")
    server.push("orders", {}, id="runs")
    server.push("orders", {}, id="later", delay="10m")
    eventually(lambda: server.message("dead")["state"] == "pending_review", "one is dead")
    eventually(lambda: server.message("runs")["state"] == "running", "one runs")
    problem(server.post("/v1/messages/dead/retry", {}), 409, "replay")
    problem(server.post("/v1/messages/runs/retry", {}), 409, "running")
    problem(server.post("/v1/messages/later/retry", {}), 409, "queued")
    problem(server.post("/v1/messages/nobody/retry", {}), 404)
    problem(server.post("/v1/messages/retry", {"filter": {"queue": "orders", "state": "queued"}}), 400, "state")
    release.set()
    eventually(lambda: server.message("runs") is None, "it succeeds")
    assert server.message("later")["state"] == "queued"


def test_pause_and_order_hold_what_is_tried_now(serve, handler):
    worker = handler(later)
    server = serve(queues({"http": worker.url}, order="key"))
    waiting(server, "a1")
    server.push("orders", {}, id="a2", key="a")
    server.post("/v1/queues/orders/pause", {"why": "test"})
    due = server.message("a1")["next_attempt_at"]
    assert server.post("/v1/messages/a1/retry", {}).status == 200
    assert server.message("a1")["next_attempt_at"] < due
    assert worker.count() == 1
    server.kill()
    server.start()
    assert server.message("a1")["next_attempt_at"] < due, "it is durable"
    assert worker.count() == 1, "the queue is paused"
    server.post("/v1/queues/orders/resume", {})
    eventually(lambda: worker.count() == 2, "it is handed over once the queue runs")
    assert [call.id for call in worker.calls] == ["a1", "a1"], "the second of its key waits behind it"


def test_the_command_line_tries_one_or_all(serve, handler):
    worker = handler(lambda call: later(call) if call.attempt == 1 else 200)
    server = serve(queues({"http": worker.url}))
    waiting(server, "a1", "b1", "c1")
    assert "pending_retry" in server.cli("retry", "a1")
    eventually(lambda: server.message("a1") is None, "it succeeds")
    assert "2 messages would be due now" in server.cli("retry", "--queue", "orders")
    assert worker.count() == 4
    assert "2 messages due now" in server.cli("retry", "--queue", "orders", "--apply")
    server.drained("orders")
    assert "b1" in server.cli("retry", "b1", expect=4)


def test_a_message_of_a_queue_that_left_the_configuration_is_left_alone(serve, handler):
    worker = handler(later)
    server = serve(queues({"http": worker.url}))
    waiting(server, "a1")
    server.stop()
    server.configure({"others": {"source": "builtin", "handler": "lease"}})
    server.start()
    before = server.message("a1")
    problem(server.post("/v1/messages/a1/retry", {}), 409, "configuration")
    problem(server.post("/v1/messages/retry", {"ids": ["a1"]}), 409, "configuration")
    said = server.post("/v1/messages/retry", {"filter": {"queue": "orders"}}).json
    assert (said["matched"], said["count"], said["busy"]) == (1, 0, 1)
    assert server.message("a1") == before and before["state"] == "pending_retry"
