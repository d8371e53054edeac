"""The server is killed at random moments under load; afterwards every acknowledged id is accounted for:
handled at least once, or held in a stated state. None is missing, none is invented."""
import http.client
import json
import random
import sys
import threading

from harness import scaled

KILLS = scaled(100, least=5)

EXEC = """
import json, os, sys
body = json.load(sys.stdin)
with open(sys.argv[1], "a") as out:
    out.write(os.environ["IMPOUND_MESSAGE_ID"] + "\\n")
if body["kind"] == "bug":
    raise KeyError("pin")
"""


class Producer(threading.Thread):
    """Pushes single messages and batches until told to stop; remembers what was acknowledged."""

    def __init__(self, server, name, queue):
        super().__init__()
        self.server, self.queue = server, queue
        self.prefix = name
        self.sent, self.acknowledged, self.bugs = set(), set(), set()
        self.stopping = threading.Event()
        self.random = random.Random(name)

    def run(self):
        count = 0
        while not self.stopping.is_set():
            batch = []
            for _ in range(self.random.choice([1, 1, 5, 50])):
                count += 1
                kind = "bug" if self.random.random() < 0.05 else "fine"
                batch.append({"id": f"{self.prefix}-{count}", "body": {"kind": kind}})
            self.sent |= {push["id"] for push in batch}
            self.bugs |= {push["id"] for push in batch if push["body"]["kind"] == "bug"}
            try:
                ids = self.server.push_many(self.queue, batch)
                self.acknowledged |= set(ids)
            except (OSError, http.client.HTTPException):
                self.stopping.wait(0.02)  # the server is down just now


def test_every_acknowledged_message_is_accounted_for(serve, tmp_path, handler):
    handled = tmp_path / "handled.txt"
    handled.write_text("")
    program = tmp_path / "worker.py"
    program.write_text(EXEC)
    worker = handler(lambda call: 400 if json.loads(call.body)["kind"] == "bug" else 200)
    server = serve({
        "web": {"source": "builtin", "handler": {"http": worker.url}, "concurrency": 16},
        "run": {"source": "builtin", "handler": {"exec": [sys.executable, str(program), str(handled)]},
                "concurrency": 4},
    })
    producers = [Producer(server, "w1", "web"), Producer(server, "w2", "web"),
                 Producer(server, "r1", "run")]
    for producer in producers:
        producer.start()
    moments = random.Random(9)
    try:
        for _ in range(KILLS):
            threading.Event().wait(moments.uniform(0.02, 0.5))  # a random moment, not an awaited one
            server.kill()
            server.start()
    finally:
        for producer in producers:
            producer.stopping.set()
        for producer in producers:
            producer.join()
    server.drained("web", patience_s=300)
    server.drained("run", patience_s=900)

    done = {"web": set(worker.ids()), "run": set(handled.read_text().split())}
    letters = {name: [letter["message"]["id"] for letter in server.letters(f"{name}.dlq")] for name in done}
    dead = {name: set(ids) for name, ids in letters.items()}
    for producer in producers:
        known = done[producer.queue] | dead[producer.queue]
        missing = producer.acknowledged - known
        assert not missing, f"{len(missing)} acknowledged messages are gone: {sorted(missing)[:5]}"
        lost = producer.acknowledged & producer.bugs - dead[producer.queue]
        assert not lost, f"{len(lost)} failed for good and are in no DLQ: {sorted(lost)[:5]}"
    for name in done:
        mine = [producer for producer in producers if producer.queue == name]
        assert dead[name] <= set().union(*(producer.bugs for producer in mine)), "nobody is dead who did not fail"
        assert done[name] <= set().union(*(producer.sent for producer in mine)), "nothing is invented"
        assert len(letters[name]) == len(dead[name]) == server.dlq(f"{name}.dlq")["depth"], "none is held twice"
    assert sum(len(producer.acknowledged) for producer in producers) > KILLS
    for letter in server.letters("web.dlq")[:50]:
        assert letter["attempts"] == 1 and letter["crashes"] == 0, "our death is nobody's crash"
