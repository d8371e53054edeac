"""Messages/s of a broker's backlog: the client library alone, through impound with a C function that does
nothing, and through impound with an http handler; the same server, side by side in one run. BROKERS=nats,kafka
takes some of them."""
import os
import subprocess
import time

import pytest

from bench import ROOT, ROUNDS, Folder, Server, Sink, median
from broker_lanes import BROKERS

PROGRAM = os.path.join(ROOT, "build", "bench", "broker")
COUNT = int(os.environ.get("BROKER_MESSAGES", "50000"))
HTTP_SHARE = 5  # of the messages, one in so many goes by http


def program(lanes, *words):
    rate = float(subprocess.run([PROGRAM, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True).stdout)
    left = lanes.left()
    assert left == 0, f"{left} messages are left after {words}"
    return rate


def done(server):
    return server.metric("impound_attempts_total", queue="bench", result="ok")


def through_http(lanes, sink, count):
    with Folder() as folder:
        server = Server(folder, {"bench": {"source": lanes.fill(count), "handler": {"http": sink.url}}})
        server.start()
        try:
            while done(server) == 0:
                time.sleep(0.001)
            start, before = time.monotonic(), done(server)
            while done(server) < count:
                time.sleep(0.01)
            return (count - before) / (time.monotonic() - start)
        finally:
            server.stop()


def measure(lanes, sink, count):
    alone, callback, http = [], [], []
    for _ in range(ROUNDS):
        alone.append(program(lanes, "alone", lanes.fill(count), count))
        with Folder() as folder:
            callback.append(program(lanes, "impound", lanes.fill(count), count, folder))
        http.append(through_http(lanes, sink, count // HTTP_SHARE))
    return median(alone), median(callback), median(http)


def line(name, kind, sink, count):
    with Folder() as folder:
        try:
            lanes = kind(folder)
        except pytest.skip.Exception as missing:
            return f"{name:14} {missing}"
        try:
            alone, callback, http = measure(lanes, sink, count)
        finally:
            lanes.close()
    return f"{name:14} {alone:10,.0f} {callback:13,.0f} {callback / alone:7.2f} {http:9,.0f}"


def main():
    wanted = [one for one in os.environ.get("BROKERS", "").split(",") if one]
    sink = Sink()
    print("broker          alone /s   callback /s   ratio   http /s", flush=True)
    try:
        for name, kind, times in BROKERS:
            if not wanted or name.split()[0] in wanted:
                print(line(name, kind, sink, COUNT * times), flush=True)
    finally:
        sink.close()


if __name__ == "__main__":
    main()
