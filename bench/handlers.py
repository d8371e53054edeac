"""What a message costs through each kind of handler: messages/s of a backlog, and the server's own
CPU time per message (handlers that are children of the server not included), side by side in one run."""
import json
import os
import subprocess
import time

from bench import ROOT, ROUNDS, Folder, Server, Sink, cpu_seconds, median

BODY = {"n": 1, "pad": "x" * 900}
CALLBACK = os.path.join(ROOT, "build", "bench", "callback")
CALLBACK_MESSAGES = 100000
WORKER = os.path.join(ROOT, "build", "bench", "stream_worker")
BATCH = 100


def kinds(sink):
    """Name → (how many messages, its queue)."""
    stream = {"exec": [WORKER], "mode": "stream", "workers": 2}
    return {
        "http": (20000, {"handler": {"http": sink.url}}),
        "http, batches of 100": (100000, {"handler": {"http": sink.url, "batch": BATCH},
                                          "concurrency": 4 * BATCH}),
        "exec": (2000, {"handler": {"exec": ["/bin/true"]}}),
        "stream": (20000, {"handler": stream}),
        "stream, batches of 100": (100000, {"handler": {**stream, "batch": BATCH},
                                            "concurrency": 4 * BATCH}),
    }


def push(server, count):
    for first in range(0, count, 1000):
        server.push_many("bench", [{"body": BODY} for _ in range(first, min(first + 1000, count))])


def wait_until_drained(server):
    while True:
        view = server.queue("bench")
        if view["depth"] == 0 and view["in_flight"] == 0:
            return
        time.sleep(0.005)


def measure(count, queue):
    """(messages/s, CPU µs a message)"""
    with Folder() as folder:
        server = Server(folder, {"bench": {"source": "builtin", **queue}}).start()
        server.post("/v1/queues/bench/pause")
        push(server, count)
        cpu, started = cpu_seconds(server.process.pid), time.monotonic()
        server.post("/v1/queues/bench/resume")
        wait_until_drained(server)
        took, cpu = time.monotonic() - started, cpu_seconds(server.process.pid) - cpu
        server.stop()
    return count / took, 1e6 * cpu / count


def measure_callback():
    """The same through the library: there, the worker's own process is the server."""
    with Folder() as folder:
        done = subprocess.run([CALLBACK, folder, str(CALLBACK_MESSAGES)], capture_output=True, text=True, check=True)
    figures = json.loads(done.stdout)
    return figures["per_s"], figures["cpu_us"]


def main():
    sink = Sink()
    figures = {}
    for _ in range(ROUNDS):
        for name, (count, queue) in kinds(sink).items():
            figures.setdefault(name, []).append(measure(count, queue))
        figures.setdefault("callback", []).append(measure_callback())
    sink.close()
    base = median(rate for rate, _ in figures["http"])
    for name, rounds in figures.items():
        rate, cost = median(r for r, _ in rounds), median(c for _, c in rounds)
        print(f"handlers: {name}: {rate:,.0f} messages/s ({rate / base:.2f} × http), "
              f"{cost:.1f} µs of the server's CPU each")


if __name__ == "__main__":
    main()
