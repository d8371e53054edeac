"""The dashboard with a million letters: how long the server takes for what each page asks, pages and filters, against
the goal of 300 ms. PAGES_LETTERS=N takes another number."""
import json
import os
import time

from bench import ROUNDS, Folder, Server, Sink, median

LETTERS = int(os.environ.get("PAGES_LETTERS", "1000000"))
GOAL_MS = 300
BATCH = 20000
# page → what it asks for, as web/src asks
PAGES = {
    "overview": ["/v1/dlqs", "/v1/queues", "/v1/alerts", "/v1/letters?limit=60", "/v1/arrivals?window=7d"],
    "letters": ["/v1/dlqs", "/v1/letters?limit=50"],
    "letters, older": ["/v1/letters?limit=50&cursor={cursor}"],
    "letters, dlq": ["/v1/letters?limit=50&dlq=orders.dlq"],
    "letters, category": ["/v1/letters?limit=50&category=validation"],
    "letters, reason": ["/v1/letters?limit=50&reason=bad"],
    "letters, since": ["/v1/letters?limit=50&since=1h"],
    "letters, group": ["/v1/letters?limit=50&fingerprint={fingerprint}"],
    "letters, full text": ["/v1/letters?limit=50&q=branch"],
    "letter": ["/v1/letters/{letter}", "/v1/letters/{letter}/explain", "/v1/letters?limit=7&fingerprint={fingerprint}"],
    "groups": ["/v1/groups?limit=50"],
    "replays": ["/v1/replays?limit=50"],
    "audit": ["/v1/audit?limit=50"],
}


def fill(server):
    """One letter that died here, and as many like it as are wanted, imported: ids and errors of their own."""
    server.push("orders", {"t": 0, "poison": True})
    while server.dlq("orders.dlq")["depth"] < 1:
        time.sleep(0.01)
    line = server.post("/v1/exports", {"all": True, "compress": "none"}).json
    for first in range(1, LETTERS, BATCH):
        lines = []
        for n in range(first, min(first + BATCH, LETTERS)):
            line["id"] = f"{line['id'][:24]}{n:012x}"
            line["message"]["id"] = f"m-{n}"
            line["failure"]["error_message"] = f"order {n} is not in the table of branch {n % 97}"
            lines.append(json.dumps(line))
        answer = server.post("/v1/imports", "\n".join(lines), {"Content-Type": "application/x-ndjson"})
        assert answer.json["imported"] == len(lines), answer.body[:500]


def measure(server, path):
    started = time.monotonic()
    answer = server.get(path)
    assert answer.status == 200, (path, answer.body)
    return (time.monotonic() - started) * 1000


def main():
    sink = Sink()
    with Folder() as folder:
        server = Server(folder, {"orders": {"source": "builtin", "handler": {"http": sink.url}, "concurrency": 128,
                                            "breaker": "off", "dlq": {"cap": 2 * LETTERS}}}).start()
        fill(server)
        newest = server.get("/v1/letters", limit=50).json
        letter = newest["letters"][0]
        words = {"cursor": newest["cursor"], "letter": letter["id"], "fingerprint": letter["failure"]["fingerprint"]}
        print(f"pages with {LETTERS} letters, ms of the slowest call (median of {ROUNDS}), goal {GOAL_MS}")
        for page, paths in PAGES.items():
            slowest = max(median([measure(server, path.format(**words)) for _ in range(ROUNDS)]) for path in paths)
            print(f"  {page:20} {slowest:8.1f}{'' if slowest < GOAL_MS else '   OVER THE GOAL'}")
        server.stop()
    sink.close()


if __name__ == "__main__":
    main()
