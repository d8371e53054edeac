"""A replay at 50/s against a handler that counts: within 2 % of its rate after the ramp, and no second above
1.1 times it.

PACED says how many letters: 41,000, an incident's worth, take a quarter of an hour, so a tenth is the default."""
import os

from bench import Folder, Server, Sink
from harness import eventually

LETTERS = int(os.environ.get("PACED", "4100"))
RATE = 50
RAMP_S = 30  # 10/s, 20/s, 40/s, ten seconds each
WITHIN = 0.02
MOST = 1.1
PATIENCE_S = 60 + RAMP_S + 2 * LETTERS / RATE


def queues(url):
    return {"orders": {"source": "builtin", "handler": {"http": url}, "breaker": "off"}}


def fill(server):
    for first in range(0, LETTERS, 1000):
        server.push_many("orders", [{"body": {"t": 0, "n": n, "poison": True}}
                                    for n in range(first, min(first + 1000, LETTERS))])
    eventually(lambda: server.dlq("orders.dlq")["depth"] == LETTERS, "all of them are letters", PATIENCE_S)


def replay(server):
    answer = server.post("/v1/replays", {"all": True, "rate": f"{RATE}/s", "dry_run": False}).json

    def over():
        view = server.get(f"/v1/replays/{answer['id']}", limit=1).json
        return view if view["state"] in ("done", "aborted") else None
    view = eventually(over, "the replay is over", PATIENCE_S)
    assert (view["state"], view["resolved"]) == ("done", LETTERS), view


def measure():
    """How many letters arrived in each second, from the first on."""
    sink = Sink()
    with Folder() as folder:
        server = Server(folder, queues(sink.url)).start()
        try:
            fill(server)
            sink.forgive()
            replay(server)
            return sink.stats()["seconds"]
        finally:
            server.stop()
            sink.close()


def main():
    seconds = measure()
    steady = seconds[RAMP_S + 5:-2]  # the canary stands before the ramp; the last seconds are not whole
    rate = sum(steady) / len(steady)
    good = abs(rate - RATE) <= WITHIN * RATE and max(seconds) <= MOST * RATE
    print(f"pace: {LETTERS:,} letters at {RATE}/s: {rate:.2f}/s over {len(steady)} seconds after the ramp "
          f"({(rate / RATE - 1) * 100:+.1f} %, goal ±{WITHIN * 100:.0f} %), the fullest second {max(seconds)} "
          f"(goal {MOST * RATE:.0f}): {'good' if good else 'NOT GOOD'}")


if __name__ == "__main__":
    main()
