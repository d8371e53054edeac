"""Replays without a rate limit: letters per second from pending_review to resolved, each edited,
beside the same messages as a backlog of the queue."""
import time

from bench import ROUNDS, Folder, Server, Sink, median

LETTERS = 20000
CONCURRENCY = 128


def queues(url):
    return {"orders": {"source": "builtin", "handler": {"http": url}, "concurrency": CONCURRENCY,
                       "breaker": "off"}}


def push(server, poison):
    server.post("/v1/queues/orders/pause")
    for first in range(0, LETTERS, 1000):
        server.push_many("orders", [{"body": {"t": 0, "n": n, "poison": poison, "pad": "x" * 900}}
                                    for n in range(first, first + 1000)])


def backlog(sink):
    with Folder() as folder:
        server = Server(folder, queues(sink.url)).start()
        push(server, False)
        sink.stats(forget=True)
        started = time.monotonic()
        server.post("/v1/queues/orders/resume")
        while sink.stats()["count"] < LETTERS:
            time.sleep(0.01)
        rate = LETTERS / (time.monotonic() - started)
        server.stop()
    return rate


def replay(sink, edit):
    with Folder() as folder:
        server = Server(folder, queues(sink.url)).start()
        push(server, True)
        server.post("/v1/queues/orders/resume")
        while server.dlq("orders.dlq")["depth"] < LETTERS:
            time.sleep(0.05)
        started = time.monotonic()
        answer = server.post("/v1/replays", {"all": True, "edit": edit, "rate": "max", "canary": False,
                                             "ramp": False, "dry_run": False}).json
        frozen = time.monotonic()
        while (view := server.get(f"/v1/replays/{answer['id']}", limit=1).json)["state"] != "done":
            assert view["state"] != "aborted", view
            time.sleep(0.02)
        ended = time.monotonic()
        assert view["resolved"] == LETTERS, view
        server.stop()
    return LETTERS / (frozen - started), LETTERS / (ended - frozen)


def main():
    sink = Sink()
    plain, frozen, edited = [], [], []
    for _ in range(ROUNDS):
        plain.append(backlog(sink))
        freezing, sending = replay(sink, '.poison = false')
        frozen.append(freezing)
        edited.append(sending)
    sink.close()
    print(f"replay: {median(edited):,.0f} letters/s with an edit and no rate limit; a backlog of the same messages: "
          f"{median(plain):,.0f}/s; letters frozen to a plan: {median(frozen):,.0f}/s")


if __name__ == "__main__":
    main()
