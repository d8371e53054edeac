"""Healthy throughput and p99 with one poison message in 8,000, against none: goal within 5 %.

Throughput is of a backlog that is handed over as fast as it goes; p99 is of healthy messages that
arrive at a steady rate well below that."""
import time

from bench import ROUNDS, Folder, Server, Sink, median

BACKLOG = 40000
STEADY_PER_S = 2000
STEADY_S = 8
EVERY = 8000


def push(server, count, first, every):
    at = round(time.time() * 1000, 2)
    server.push_many("orders", [
        {"body": {"t": at, "n": n, "poison": bool(every) and n % every == 0, "pad": "x" * 900}}
        for n in range(first, first + count)])


def throughput(every):
    sink = Sink()
    with Folder() as folder:
        server = Server(folder, {"orders": {"source": "builtin", "handler": {"http": sink.url},
                                            "concurrency": 32}}).start()
        server.post("/v1/queues/orders/pause")
        for first in range(1, BACKLOG, 1000):
            push(server, 1000, first, every)
        healthy = BACKLOG - (BACKLOG // every if every else 0)
        started = time.monotonic()
        server.post("/v1/queues/orders/resume")
        while sink.stats()["count"] < healthy:
            time.sleep(0.01)
        rate = healthy / (time.monotonic() - started)
        server.stop()
    sink.close()
    return rate


def steady_p99(every):
    sink = Sink()
    with Folder() as folder:
        server = Server(folder, {"orders": {"source": "builtin", "handler": {"http": sink.url},
                                            "concurrency": 32}}).start()
        per_push = 20
        started = time.monotonic()
        for i in range(STEADY_PER_S * STEADY_S // per_push):
            due = started + i * per_push / STEADY_PER_S
            time.sleep(max(0.0, due - time.monotonic()))
            push(server, per_push, 1 + i * per_push, every)
        server.drained("orders")
        stats = sink.stats()
        server.stop()
    sink.close()
    return stats["p99_ms"]


def main():
    rates = {0: [], EVERY: []}
    tails = {0: [], EVERY: []}
    for _ in range(ROUNDS):
        for every in (0, EVERY):
            rates[every].append(throughput(every))
            tails[every].append(steady_p99(every))
    clean, dirty = median(rates[0]), median(rates[EVERY])
    print(f"poison: healthy messages/s through http: {clean:,.0f} without, {dirty:,.0f} with 1 in {EVERY}: "
          f"ratio {dirty / clean:.3f} (goal ≥ 0.95)")
    clean, dirty = median(tails[0]), median(tails[EVERY])
    print(f"poison: healthy p99 at {STEADY_PER_S}/s: {clean:.2f} ms without, {dirty:.2f} ms with: "
          f"ratio {dirty / clean:.3f} (goal ≤ 1.05)")


if __name__ == "__main__":
    main()
