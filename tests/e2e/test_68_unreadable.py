"""A message whose bytes are damaged in the store: its key waits for it, and people are told."""
import glob
import os

from harness import eventually


def test_an_unreadable_ordered_head_is_an_alert_and_the_queues_why(serve, handler):
    worker = handler(lambda call: 200)
    server = serve({"orders": {"source": "builtin", "handler": {"http": worker.url}, "order": "key"}})
    server.post("/v1/queues/orders/pause", {"why": "to push"})
    needle = "the-damaged-body-0123456789"
    server.push("orders", {"text": needle}, id="a1", key="a")
    server.push("orders", {"text": "sound"}, id="a2", key="a")
    server.push("orders", {"text": "sound"}, id="b1", key="b")
    server.stop()
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
    assert damaged, "the body stands somewhere"
    server.start()
    server.post("/v1/queues/orders/resume", {})
    eventually(lambda: worker.ids() == ["b1"], "what has another key goes on")
    why = eventually(lambda: server.queue("orders")["why"], "the queue says why")
    assert why.startswith("1 message cannot be read and what has the same key waits, the last is message a1: "), why
    alert = eventually(lambda: [one for one in server.get("/v1/alerts").json["alerts"] if one["alert"] == "MessageUnreadable"],
                       "the alert fires", 30)[0]
    assert alert["severity"] == "critical" and alert["subject"] == "orders" and "message a1: " in alert["summary"]
    assert worker.ids() == ["b1"]
