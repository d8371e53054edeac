"""Messages/s of a broker's backlog: the client library alone, through impound with a C function that does
nothing, and through impound with an http handler; the same server, side by side in one run."""
import json
import os
import subprocess
import time

import redis

from bench import ROOT, ROUNDS, Folder, Server, Sink, median
from brokers import Redis

PROGRAM = os.path.join(ROOT, "build", "bench", "broker")
COUNT = int(os.environ.get("BROKER_MESSAGES", "50000"))
HTTP_COUNT = COUNT // 5
BODY = json.dumps({"n": 1, "pad": "x" * 900})


class RedisLane:
    """A list or a stream; each round has one of its own."""

    def __init__(self, server, shape):
        self.server, self.shape, self.number = server, shape, 0
        self.there = redis.Redis(port=server.port)

    def fill(self, count):
        self.number += 1
        name = f"bench{self.number}"
        pipeline = self.there.pipeline(transaction=False)
        for _ in range(count):
            if self.shape == "list":
                pipeline.lpush(name, BODY)
            else:
                pipeline.xadd(name, {"body": BODY})
        pipeline.execute()
        if self.shape == "stream":
            self.there.xgroup_create(name, "g", id="0")
            return self.server.url(f"stream={name}&group=g")
        return self.server.url(f"list={name}")


def program(*words):
    return float(subprocess.run([PROGRAM, *map(str, words)], check=True, capture_output=True, text=True).stdout)


def through_http(lane, sink):
    with Folder() as folder:
        url = lane.fill(HTTP_COUNT)
        server = Server(folder, {"bench": {"source": url, "handler": {"http": sink.url}}})
        start = time.monotonic()
        server.start()
        while server.metric("impound_attempts_total", queue="bench", result="ok") < HTTP_COUNT:
            time.sleep(0.01)
        rate = HTTP_COUNT / (time.monotonic() - start)
        server.stop()
        return rate


def measure(lane, sink):
    alone, callback, http = [], [], []
    for _ in range(ROUNDS):
        alone.append(program("alone", lane.fill(COUNT), COUNT))
        with Folder() as folder:
            callback.append(program("impound", lane.fill(COUNT), COUNT, folder))
        http.append(through_http(lane, sink))
    return median(alone), median(callback), median(http)


def main():
    sink = Sink()
    print("broker          alone /s   callback /s   ratio   http /s")
    try:
        with Folder() as folder:
            server = Redis(os.path.join(folder, "redis")).start()
            try:
                for shape in ("list", "stream"):
                    alone, callback, http = measure(RedisLane(server, shape), sink)
                    print(f"{'redis ' + shape:14} {alone:10,.0f} {callback:13,.0f} {callback / alone:7.2f} {http:9,.0f}")
            finally:
                server.close()
    finally:
        sink.close()


if __name__ == "__main__":
    main()
