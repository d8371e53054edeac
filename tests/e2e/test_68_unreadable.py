"""A message whose bytes are damaged in the store: its key waits for it, and people are told."""
import glob
import os
import threading

from harness import eventually


def damage(server, needle):
    """Every copy of the text in the packs gets another byte."""
    damaged = 0
    for path in glob.glob(os.path.join(server.folder, "impound.db.d", "*.pack")):
        with open(path, "r+b") as file:
            bytes_ = file.read()
            at = bytes_.find(needle.encode())
            while at >= 0:
                file.seek(at)
                file.write(b"X")
                damaged += 1
                at = bytes_.find(needle.encode(), at + 1)
    assert damaged, "the text stands somewhere"


def alert_of(server):
    firing = [one for one in server.get("/v1/alerts").json["alerts"] if one["alert"] == "MessageUnreadable"]
    return firing and firing[0]


def test_an_unreadable_ordered_head_is_an_alert_and_the_queues_why(serve, handler):
    worker = handler(lambda call: 200)
    server = serve({"orders": {"source": "builtin", "handler": {"http": worker.url}, "order": "key"}})
    server.post("/v1/queues/orders/pause", {"why": "to push"})
    needle = "the-damaged-body-0123456789"
    server.push("orders", {"text": needle}, id="a1", key="a")
    server.push("orders", {"text": "sound"}, id="a2", key="a")
    server.push("orders", {"text": "sound"}, id="b1", key="b")
    server.stop()
    damage(server, needle)
    server.start()
    server.post("/v1/queues/orders/resume", {})
    eventually(lambda: worker.ids() == ["b1"], "what has another key goes on")
    why = eventually(lambda: server.queue("orders")["why"], "the queue says why")
    assert why.startswith("1 message cannot be read and what has the same key waits, the last is message a1: "), why
    alert = eventually(lambda: alert_of(server), "the alert fires", 30)
    assert alert["severity"] == "critical" and alert["subject"] == "orders" and "message a1: " in alert["summary"]
    assert worker.ids() == ["b1"]


def test_an_unreadable_letter_that_closes_its_key_is_an_alert_and_the_queues_why(serve, handler):
    """The letter is being replayed when the server is killed: it is handed over again at the start, and cannot be read."""
    held, go = threading.Event(), threading.Event()
    status = {"a1": 422}

    def answer(call):
        if call.id == "a1" and "a1" not in status:
            held.set()
            go.wait(60)
        return status.get(call.id, 200)
    worker = handler(answer)
    server = serve({"orders": {"source": "builtin", "handler": {"http": worker.url}, "order": "key"}})
    needle = "the-damaged-letter-0123456789"
    server.push("orders", {"text": needle}, id="a1", key="a")
    letter = eventually(lambda: server.letters("orders.dlq"), "the head is dead")[0]
    server.push("orders", {"text": "sound"}, id="a2", key="a")
    assert eventually(lambda: server.message("a2")["blocked_by"], "its key is closed") == letter["id"]
    status.clear()
    reply = server.post("/v1/replays", {"ids": [letter["id"]], "dry_run": False})
    assert reply.status in (200, 201, 202), reply.body
    assert held.wait(60), "the letter is handed over again"
    eventually(lambda: server.metric("impound_store_fold_behind") == 0, "what was committed is in the file")
    server.kill()
    go.set()
    damage(server, needle)
    server.start()
    why = eventually(lambda: server.queue("orders")["why"], "the queue says why")
    assert why.startswith("1 message cannot be read and what has the same key waits, the last is message "), why
    alert = eventually(lambda: alert_of(server), "the alert fires", 30)
    assert alert["severity"] == "critical" and alert["subject"] == "orders"
    assert server.message("a2")["state"] == "queued" and "a2" not in worker.ids()
    server.push("orders", {"text": "sound"}, id="b1", key="b")
    eventually(lambda: "b1" in worker.ids(), "what has another key goes on")
