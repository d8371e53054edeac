"""Replays without a rate limit, of letters whose handler is mended: letters per second from
pending_review to resolved, as they are and each with an edit, beside the same messages as a backlog of the
queue. All of it durable, the handler's HTTP calls included.

REPLAYED says how many (100,000 of 1 KB)."""
import os
import time

from bench import ROUNDS, Folder, Server, Sink, cpu_seconds, median

LETTERS = int(os.environ.get("REPLAYED", "100000"))
CONCURRENCY = 128
EDIT = ".poison = false"


def queues(url):
    return {"orders": {"source": "builtin", "handler": {"http": url}, "concurrency": CONCURRENCY, "breaker": "off",
                       "dlq": {"cap": 2 * LETTERS}}}


def fill(server):
    server.post("/v1/queues/orders/pause")
    for first in range(0, LETTERS, 1000):
        server.push_many("orders", [{"body": {"t": 0, "n": n, "poison": True, "pad": "x" * 900}}
                                    for n in range(first, first + 1000)])


def die(server):
    """All of them are letters, and the letters are in the store's file, as those of yesterday are."""
    server.post("/v1/queues/orders/resume")
    while server.dlq("orders.dlq")["depth"] < LETTERS:
        time.sleep(0.05)
    while server.get("/v1/letters", limit=1).json.get("behind"):
        time.sleep(0.05)


def backlog(server, sink):
    server.post("/v1/queues/orders/resume")
    while sink.stats()["count"] < LETTERS:
        time.sleep(0.02)


def replay(server, edit):
    answer = server.post("/v1/replays", {"all": True, "rate": "max", "canary": False, "ramp": False,
                                         "dry_run": False, **({"edit": edit} if edit else {})}).json
    while (view := server.get(f"/v1/replays/{answer['id']}", limit=1).json)["state"] != "done":
        assert view["state"] != "aborted", view
        time.sleep(0.02)
    assert view["resolved"] == LETTERS, view


def measure(edit=None, dead=True):
    """(letters/s, µs of the server's CPU each)"""
    sink = Sink()
    with Folder() as folder:
        server = Server(folder, queues(sink.url)).start()
        try:
            fill(server)
            if dead:
                die(server)
            if not edit:
                sink.forgive()
            cpu, started = cpu_seconds(server.process.pid), time.monotonic()
            if dead:
                replay(server, edit)
            else:
                backlog(server, sink)
            return (LETTERS / (time.monotonic() - started),
                    (cpu_seconds(server.process.pid) - cpu) / LETTERS * 1e6)
        finally:
            server.stop()
            sink.close()


WAYS = {
    "a backlog of the same messages": {"dead": False},
    "replayed": {},
    "replayed with an edit": {"edit": EDIT},
}


def main():
    taken = {name: [] for name in WAYS}
    for _ in range(ROUNDS):
        for name, way in WAYS.items():
            taken[name].append(measure(**way))
    print(f"replay: {LETTERS:,} letters of 1 KB, no rate limit:")
    whole = median([rate for rate, _ in taken["a backlog of the same messages"]])
    for name, values in taken.items():
        rate, cost = (median(column) for column in zip(*values))
        print(f"  {name}: {rate:,.0f}/s, {cost:.0f} µs of CPU each ({rate / whole:.2f} ×)")


if __name__ == "__main__":
    main()
