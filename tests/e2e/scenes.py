"""Scenarios that every broker must pass, played on a lane: one queue of one broker.

A lane has
    source          the URL that impound consumes from
    publish(bodies) puts JSON bodies there with the ecosystem's own client, durably
    left()          how many the broker still has, in its own view: waiting and unacknowledged
Bodies have an "id", by which a scenario knows them whatever the broker calls them."""
import collections
import json
import os
import random
import threading
import urllib.parse

import pytest

from harness import ROOT, eventually, impound, in_full, scaled
from relay import Relay

PRICE = os.path.join(ROOT, "examples", "orders", "price.py")
QUEUE, DLQ = "orders", "orders.dlq"
MANY, EVERY = in_full((100000, 8000), (scaled(20000), 1000))
PATIENCE_S = in_full(1800, 300)  # with so many, on a machine that has other things to do
PORTION = 5000  # of what is published


def queues(lane, handler, **more):
    return {QUEUE: {"source": lane.source, "handler": handler, **more}}


def check_mirrors(folder, *urls, reply=None):
    """What `check --connect` says of a configuration that only publishes there: exit code and lines."""
    path = folder / "mirrors.yaml"
    handler = {"exec": ["true"], **({"reply": reply} if reply else {})}
    path.write_text(json.dumps({"queues": {f"q{number}": {"handler": handler, "dlq": {"mirror": url}}
                                           for number, url in enumerate(urls)}}))
    done = impound("check", "--connect", "-c", path)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def body_ids(letters, server):
    return {server.message(letter["id"])["message"]["body"]["id"] for letter in letters}


def is_over(server, lane):
    """Nothing is left to do: at the broker, at the handler, or waiting for a retry."""
    view = server.queue(QUEUE)
    return (lane.left() == 0 and view["in_flight"] == 0 and view["pending_retry"] == 0
            and view["depth"] == 0)


def finished(server, lane, patience_s=None):
    eventually(lambda: is_over(server, lane), f"all is done: {server.queue(QUEUE)}, left {lane.left()}",
               patience_s)


def stopped_often(serve, handler, lane, at_hand):
    """What was fetched and not handed over goes back at each stop: that is held against nothing. `at_hand` says that
    all three messages are with impound."""
    release = threading.Event()
    worker = handler(lambda call: release.wait(PATIENCE_S) and 200)
    server = serve(queues(lane, {"http": worker.url, "timeout": "1h"}, concurrency=1, poison={"deliveries": 2}),
                   server={"drain": "1ms"})
    lane.publish([{"id": f"m-{n}"} for n in range(3)])
    for stop in range(4):
        eventually(lambda: at_hand() and len(worker.calls) > stop, "the first is at its handler, others at hand")
        server.stop()
        server.start()
    release.set()
    finished(server, lane)
    assert server.dlq(f"{QUEUE}.dlq")["depth"] == 0
    assert {json.loads(call.body)["id"] for call in worker.calls} == {"m-0", "m-1", "m-2"}


def bounded_ahead(serve, handler, lane, waiting, count=60):
    """Of large messages no more are fetched ahead than server.body_memory has room for. `waiting` says how many the
    broker has not given away."""
    seen = []

    def answer(_call):
        seen.append(count - len(seen) - waiting())
        return 200
    worker = handler(answer)
    lane.publish([{"id": f"m-{n}", "pad": "x" * (512 << 10)} for n in range(count)])
    server = serve(queues(lane, {"http": worker.url}, concurrency=1), server={"body_memory": "8MiB"})
    finished(server, lane)
    assert len(seen) == count and max(seen) <= 16, seen  # a quarter of the limit, and what was under way
    assert server.metric("impound_body_memory_bytes", side="messages") == 0


def answer_too_large(serve, handler, lane, reply, size):
    """Its message is dead, and those behind it flow; nothing runs again."""
    worker = handler(lambda call: (200, {"Content-Type": "text/plain"}, b"x" * (size if b"large" in call.body else 10)))
    server = serve(queues(lane, {"http": worker.url, "reply": reply}, concurrency=1))
    lane.publish([{"id": "large"}, {"id": "small"}])
    finished(server, lane)
    letter, = server.letters(DLQ)
    assert (letter["failure"]["kind"], letter["reason"]) == ("answer", "answer_too_large")
    assert letter["failure"]["error_message"].startswith("the answer is too large for its sink: ")
    assert worker.count() == 2


def three_orders(serve, lane):
    """o-1 raises KeyError, o-2 raises TimeoutError twice, o-3 is fine."""
    server = serve(queues(lane, {"exec": ["python3", PRICE], "timeout": "30s"}))
    lane.publish([{"id": "o-1", "pin": "BAD"}, {"id": "o-2", "pin": "560001", "trip": 2},
                  {"id": "o-3", "pin": "110001"}])
    eventually(lambda: server.metric("impound_attempts_total", queue=QUEUE, result="ok") == 2, "two succeed")
    finished(server, lane)
    letters = server.letters(DLQ)
    assert body_ids(letters, server) == {"o-1"}
    letter = server.message(letters[0]["id"])
    assert (letter["cause"], letter["category"], letter["attempts"]) == ("terminal", "bug", 1)
    assert letter["failure"]["error_type"] == "KeyError"
    assert server.metric("impound_attempts_total", queue=QUEUE, result="retry") == 2
    assert server.metric("impound_attempts_total", queue=QUEUE, result="dlq") == 1
    return server, letter


def one_bad_in_many(serve, handler, lane):
    total = MANY
    poison = {f"m-{n}" for n in range(1, total + 1) if n % EVERY == 0}
    worker = handler(lambda call: 400 if json.loads(call.body)["id"] in poison else 200)
    server = serve(queues(lane, {"http": worker.url}))
    for start in range(1, total + 1, PORTION):
        lane.publish([{"id": f"m-{n}", "n": n} for n in range(start, min(start + PORTION, total + 1))])
    eventually(lambda: worker.count() >= total, "every message is handled", PATIENCE_S)
    finished(server, lane)
    handled = collections.Counter(json.loads(call.body)["id"] for call in worker.calls)
    assert set(handled) == {f"m-{n}" for n in range(1, total + 1)}
    assert max(handled.values()) == 1, "nothing is handled twice when nothing goes wrong"
    assert body_ids(server.letters(DLQ), server) == poison
    eventually(lambda: server.queue(QUEUE)["lag"] == 0, "impound knows that none waits")


def outage(serve, handler, lane, total):
    """While everything is 503 nothing dies; what was not tried stays the broker's."""
    worker = handler(lambda call: 503)
    server = serve(queues(lane, {"http": worker.url}, concurrency=4, breaker={"open": "1s"}))
    ids = {f"m-{n}" for n in range(total)}
    lane.publish([{"id": one} for one in sorted(ids)])
    eventually(lambda: server.queue(QUEUE)["breaker"]["state"] == "open", "the breaker opens")
    held = server.queue(QUEUE)
    # What was tried is impound's; with a retry to come it is acknowledged, all else is not.
    eventually(lambda: lane.left() + server.queue(QUEUE)["pending_retry"] == total,
               f"the broker's view and ours make the whole: {held}")
    assert lane.left() > 0
    worker.answer = lambda call: 200
    finished(server, lane)
    assert {json.loads(call.body)["id"] for call in worker.calls} == ids
    assert server.dlq(DLQ)["depth"] == 0


def halt(serve, handler, lane, total):
    """401: the queue stops; refused messages are stored, uncounted, all others stay the broker's; resume goes on."""
    worker = handler(lambda call: 401)
    server = serve(queues(lane, {"http": worker.url}, concurrency=2))
    lane.publish([{"id": f"m-{n}"} for n in range(total)])
    eventually(lambda: server.queue(QUEUE)["state"] == "halted", "the queue halts")
    eventually(lambda: server.queue(QUEUE)["in_flight"] == 0, "what was under way has ended")
    refused = {json.loads(call.body)["id"] for call in worker.calls}
    eventually(lambda: lane.left() == total - len(refused), "what was refused is settled, and nothing else")
    eventually(lambda: server.queue(QUEUE)["lag"] == total - len(refused), "impound knows how many wait there")
    held = server.get("/v1/messages", queue=QUEUE).json["messages"]
    assert len(held) == len(refused) and {message["attempts"] for message in held} == {0}
    assert server.dlq(DLQ)["depth"] == 0
    worker.answer = lambda call: 200
    assert server.post(f"/v1/queues/{QUEUE}/resume").status == 200
    finished(server, lane)
    assert len({json.loads(call.body)["id"] for call in worker.calls}) == total


class Producer(threading.Thread):
    """Publishes until told to stop; remembers what the broker took."""

    def __init__(self, lane):
        super().__init__()
        self.lane = lane
        self.taken = set()
        self.stopping = threading.Event()

    def run(self):
        count = 0
        while not self.stopping.is_set():
            ids = [f"p-{count + n}" for n in range(10)]
            count += len(ids)
            try:
                self.lane.publish([{"id": one, "bug": random.random() < 0.05} for one in ids])
                self.taken |= set(ids)
            except Exception:  # pylint: disable=broad-except  # the broker is down: each client has its own
                pass
            self.stopping.wait(0.01)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.join()


def killed(serve, handler, lane, kills, kill_one, doubles=False):
    """`kill_one(server)` kills and revives something, `kills` times under load. Afterwards every message
    that the broker took was handled, and what died of its own fault is in the DLQ; once, unless `doubles`."""
    worker = handler(lambda call: 400 if json.loads(call.body)["bug"] else 200)
    server = serve(queues(lane, {"http": worker.url}, concurrency=8, poison={"deliveries": 1000}))
    moments = random.Random(52)
    with Producer(lane) as producer:
        for _ in range(kills):
            seen = worker.count()
            eventually(lambda before=seen: worker.count() > before, "messages flow")
            threading.Event().wait(moments.uniform(0.02, 0.3))  # a random moment, not an awaited one
            kill_one(server)
        seen = worker.count()
        eventually(lambda: worker.count() > seen,
                   lambda: f"messages flow after the last kill; {server.get(f'/v1/queues/{QUEUE}').json}")
    finished(server, lane)
    seen = [json.loads(call.body) for call in worker.calls]
    assert producer.taken <= {body["id"] for body in seen}, "nothing that was taken is missing"
    bugs = {body["id"] for body in seen if body["bug"]}
    letters = server.letters(DLQ)
    assert body_ids(letters, server) == bugs
    assert doubles or len(letters) == len(bugs), "none is held twice"


def killed_behind_the_mirror(serve, handler, lane, redis):
    """A letter that the mirror has, and of which impound does not know that yet, is still its source's: a kill
    loses nothing."""
    there = pytest.importorskip("redis").Redis(port=redis.port, socket_timeout=PATIENCE_S)
    worker = handler(lambda call: 400)
    mirror = f"mirror of {type(lane).__module__} {lane.name}"
    relay = Relay(redis.port, b"LPUSH", heard=True)

    def with_mirror(port):
        return queues(lane, {"http": worker.url},
                      dlq={"mirror": redis.url("list=" + urllib.parse.quote(mirror), port=port)})
    try:
        server = serve(with_mirror(relay.port))
        lane.publish([{"id": "m-1"}])
        assert relay.reached.wait(PATIENCE_S), "it is published"
        eventually(lambda: there.llen(mirror) == 1, "the mirror has it")
        assert lane.left() == 1 and server.dlq(DLQ)["depth"] == 0
        server.kill()
    finally:
        relay.close()
    server.configure(with_mirror(redis.port))
    server.start()
    finished(server, lane)
    assert body_ids(server.letters(DLQ), server) == {"m-1"} and server.dlq(DLQ)["depth"] == 1
    assert [json.loads(one)["id"] for one in there.lrange(mirror, 0, -1)] == ["m-1", "m-1"], "a kill may repeat it"
