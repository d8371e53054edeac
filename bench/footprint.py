"""Idle RSS (goal under 20 MiB), start to ready with an empty store (goal under 200 ms), and what a
thousand idle queues cost."""
import http.client
import time

from bench import ROUNDS, Folder, Server, cpu_seconds, median, rss_kib

IDLE_S = 5


def start_to_ready(queues):
    with Folder() as folder:
        server = Server(folder, queues)
        started = time.monotonic()
        server.launch()  # and not start(), which looks too seldom for this
        while True:
            try:
                if server.get("/readyz").status == 200:
                    break
            except (OSError, http.client.HTTPException):
                time.sleep(0.001)
        ready_ms = (time.monotonic() - started) * 1000
        time.sleep(1)
        rss = rss_kib(server.process.pid)
        before = cpu_seconds(server.process.pid)
        time.sleep(IDLE_S)
        idle_cpu = (cpu_seconds(server.process.pid) - before) / IDLE_S
        server.stop()
    return ready_ms, rss, idle_cpu


def queues(count):
    return {f"q{n}": {"source": "builtin", "handler": {"http": "http://127.0.0.1:9/"}}
            for n in range(count)}


def main():
    for count, note in ((1, "goals: under 200 ms, under 20 MiB"), (1000, "a thousand idle queues")):
        runs = [start_to_ready(queues(count)) for _ in range(ROUNDS)]
        ready, rss, cpu = (median(column) for column in zip(*runs))
        print(f"footprint: {count} queue(s): ready in {ready:.0f} ms, idle RSS {rss / 1024:.1f} MiB, "
              f"idle CPU {cpu * 100:.2f} % ({note})")


if __name__ == "__main__":
    main()
