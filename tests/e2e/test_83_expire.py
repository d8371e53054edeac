"""A queue's `expire`: what was not handed over in time is dead-lettered unattempted."""
import datetime
import time

import pytest

from harness import PATIENCE_S, eventually


def queue(worker, **more):
    return {"source": "builtin", "handler": {"http": worker.url}, "breaker": "off", **more}


def aged(server, some_id, seconds):
    """Waits until the message is as old as that by the server's own clock."""
    created = datetime.datetime.fromisoformat(server.message(some_id)["created_at"].replace("Z", "+00:00")).timestamp()
    eventually(lambda: time.time() - created > seconds, f"{some_id} is {seconds} s old")


def test_a_message_that_waited_too_long_is_dead_unattempted(serve, handler):
    worker = handler(lambda call: 200)
    server = serve({"orders": queue(worker, expire="1s"), "patient": queue(worker)})
    for name in ("orders", "patient"):
        server.post(f"/v1/queues/{name}/pause", {"why": "test"})
        server.push(name, {"n": 1}, id=f"{name}-old")
    aged(server, "orders-old", 1.1)
    aged(server, "patient-old", 1.1)
    assert server.message("orders-old")["state"] == "queued", "nothing happens to it while the queue is paused"
    for name in ("orders", "patient"):
        server.post(f"/v1/queues/{name}/resume", {})
    eventually(lambda: server.message("orders-old")["state"] == "pending_review", "it is dead")
    server.drained("patient")
    letter = server.message("orders-old")
    assert (letter["cause"], letter["reason"], letter["category"]) == ("expired", "expired", "timeout")
    assert letter["attempts"] == 0 and "1s" in letter["why"] and letter["message"]["body"] == {"n": 1}
    assert worker.ids() == ["patient-old"], "without expire it is handed over"
    server.push("orders", {}, id="young")
    server.drained("orders")
    assert sorted(worker.ids()) == ["patient-old", "young"]
    server.kill()
    server.start()
    assert server.message("orders-old") == letter
    server.cli("replay", "orders-old", "--apply")
    assert server.message("orders-old")["state"] == "resolved", "a replay does not expire"
    assert sorted(worker.ids()) == ["orders-old", "patient-old", "young"]


def test_retries_do_not_expire(serve, handler):
    worker = handler(lambda call: (503, {"Retry-After": "2"}, b"") if call.attempt == 1 else 200)
    server = serve({"orders": queue(worker, expire="1s")})
    server.push("orders", {}, id="slow")
    server.drained("orders")
    assert [(call.id, call.attempt) for call in worker.calls] == [("slow", 1), ("slow", 2)]


def test_a_delay_does_not_make_a_message_expire(serve, handler):
    worker = handler(lambda call: 200)
    server = serve({"orders": queue(worker, expire="1s")})
    server.push("orders", {}, id="later", delay="2s")
    server.drained("orders")
    assert worker.ids() == ["later"]


def test_an_old_message_of_a_broker_expires_and_is_settled_there(serve, handler, redis):
    client = pytest.importorskip("redis")
    worker = handler(lambda call: 200)
    there = client.Redis(port=redis.port, socket_timeout=PATIENCE_S)
    there.xgroup_create("late", "pricing", id="0", mkstream=True)
    there.xadd("late", {"body": '{"n": 1}'}, id="1700000000123-7")
    there.xadd("late", {"body": '{"n": 2}'})
    server = serve({"orders": queue(worker, expire="10m") | {"source": redis.url("stream=late&group=pricing")}})
    letter = eventually(lambda: server.message("1700000000123-7"), "the old one is a letter")
    assert (letter["cause"], letter["reason"], letter["attempts"]) == ("expired", "expired", 0)
    assert letter["created_at"] == "2023-11-14T22:13:20.123Z" and letter["message"]["body"] == {"n": 1}
    eventually(lambda: there.xpending("late", "pricing")["pending"] == 0 and worker.count() == 1, "both are settled")
    assert worker.calls[0].body == b'{"n": 2}'


def test_many_expire_at_once_and_none_is_lost(serve, handler):
    worker = handler(lambda call: 200)
    server = serve({"orders": queue(worker, expire="1s", concurrency=4)})
    server.post("/v1/queues/orders/pause", {"why": "test"})
    server.push_many("orders", [{"id": f"m{n}", "body": n} for n in range(3000)])
    aged(server, "m2999", 1.1)
    server.post("/v1/queues/orders/resume", {})
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 3000, "all are letters")
    assert worker.count() == 0 and server.queue("orders")["depth"] == 0
    server.kill()
    server.start()
    assert server.dlq("orders.dlq")["depth"] == 3000
