"""The dashboard with a million letters: how long the server takes for what each page asks, and for every filter that
matches most letters, one old letter, or none, against the goal of 300 ms. Exits 1 when one is missed.
PAGES_LETTERS=N takes another number."""
import datetime
import json
import os
import sys
import time

from bench import ROUNDS, Folder, Server, Sink, median

LETTERS = int(os.environ.get("PAGES_LETTERS", "1000000"))
GOAL_MS = 300
WHERE_MS = 10000  # for so long a where looks, then it answers with a cursor
SLACK_MS = 2000
BATCH = 20000
KEYS = 997 if LETTERS > 100000 else 7
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
RARE_FINGERPRINT = "00000000000000bb"
# page → what it asks for, as web/src asks
PAGES = {
    "overview": ["/v1/dlqs", "/v1/queues", "/v1/alerts", "/v1/letters?limit=60", "/v1/arrivals?window=7d"],
    "letters": ["/v1/dlqs", "/v1/letters?limit=50"],
    "letters, older": ["/v1/letters?limit=50&cursor={cursor}"],
    "letter": ["/v1/letters/{letter}", "/v1/letters/{letter}/explain", "/v1/letters?limit=7&fingerprint={fingerprint}"],
    "groups": ["/v1/groups?limit=50"],
    "groups, muted": ["/v1/groups?limit=50&state=muted"],
    "replays": ["/v1/replays?limit=50"],
    "audit": ["/v1/audit?limit=50"],
}
# filter → what most letters have, what the oldest alone has, what none has
FILTERS = {
    "dlq": ("orders.dlq", "rare.dlq", "none.dlq"),
    "queue": ("orders", "rare", "none"),
    "state": ("pending_review", "resolved", "discarded"),
    "category": ("validation", "rare", "none"),
    "reason": ("bad", "rare", "none"),
    "cause": ("terminal", "crash", "expired"),
    "error_type": ("OrderError", "RareError", "NoError"),
    "fingerprint": ("{fingerprint}", RARE_FINGERPRINT, "00000000000000aa"),
    "since": ("2020-01-01T00:00:00Z", "{newest}", "2099-01-01T00:00:00Z"),
    "until": ("2099-01-01T00:00:00Z", "{second}", "2020-01-01T00:00:00Z"),
    "min_attempts": ("1", "9", "1000"),
    "key": ("k1", "rare", "none"),
    "escalated": ("false", "true", None),
    "q": ("branch", "xylophone", "saxophone"),
}
MATCHES = ("most", "one", "none")


def at(n):
    return (START + datetime.timedelta(milliseconds=10 * n)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def make_rare(line):
    line.update(dlq="rare.dlq", cause="crash", category="rare", reason="rare", attempts=9)
    line["message"].update(queue="rare", key="rare")
    line["failure"].update(error_type="RareError", error_message="no xylophone", fingerprint=RARE_FINGERPRINT)


def put_lines(server, lines):
    answer = server.post("/v1/imports", "\n".join(map(json.dumps, lines)), {"Content-Type": "application/x-ndjson"})
    assert answer.json["imported"] == len(lines), answer.body[:500]


def copy(line, n):
    line = json.loads(line)
    line["id"] = f"{line['id'][:24]}{n:012x}"
    line["dead_at"] = at(n)
    line["message"].update(id=f"m-{n}", key=f"k{n % KEYS}")
    line["failure"].update(error_type="OrderError", error_message=f"order {n} is not in the table of branch {n % 97}")
    return line


def fill(server):
    """One letter that died here, and as many like it as are wanted, imported: ids, times and errors of their own. The
    three oldest are like no other: one in everything that can be told, one is escalated, one resolved."""
    server.push("orders", {"t": 0, "poison": True})
    while server.dlq("orders.dlq")["depth"] < 1:
        time.sleep(0.01)
    line = server.post("/v1/exports", {"all": True, "compress": "none"}).body.decode()
    rare, escalated, resolved = copy(line, 1), copy(line, 2), copy(line, 3)
    make_rare(rare)
    put_lines(server, [rare, escalated, resolved])
    for first in range(4, LETTERS, BATCH):
        put_lines(server, [copy(line, n) for n in range(first, min(first + BATCH, LETTERS))])
    for letter, action in ((escalated, "escalate"), (resolved, "resolve")):
        assert server.post(f"/v1/letters/{letter['id']}/{action}", {"why": "rare"}).status == 200


def measure(server, path, **words):
    started = time.monotonic()
    answer = server.get(path, **words)
    assert answer.status == 200, (path, words, answer.body)
    return (time.monotonic() - started) * 1000, answer.json


class Report:
    def __init__(self):
        self.missed = 0

    def show(self, what, ms, goal=GOAL_MS, note=""):
        self.missed += ms > goal
        print(f"  {what:28} {ms:8.1f} ms  {ms / goal:5.2f} of the goal  {'missed' if ms > goal else 'met'}{note}",
              flush=True)


def show_pages(server, report, words):
    for page, paths in PAGES.items():
        report.show(page, max(median([measure(server, path.format(**words))[0] for _ in range(ROUNDS)])
                              for path in paths))


def show_filter(server, report, name, values, words):
    for matches, value in zip(MATCHES, values):
        if value is None:
            continue
        asked = {name: value.format(**words), "limit": 50}
        taken = [measure(server, "/v1/letters", **asked) for _ in range(ROUNDS)]
        rows = len(taken[0][1]["letters"])
        assert rows == {"most": 50, "one": 1, "none": 0}[matches], (asked, rows)
        report.show(f"{name}, {matches}", median([ms for ms, _ in taken]))


def show_where(server, report):
    """A program on every letter has a goal of its own: that it answers in time, and where to go on."""
    report.show("where, most", median([measure(server, "/v1/letters", limit=50, where=".attempts > 0")[0]
                                       for _ in range(ROUNDS)]))
    for matches, where in (("one", '.category == "rare"'), ("none", "false")):
        ms, answer = measure(server, "/v1/letters", limit=50, where=where)
        assert answer["cursor"] or not answer.get("looked_at"), answer
        report.show(f"where, {matches}", ms, WHERE_MS + SLACK_MS, f"; {answer.get('looked_at', 'all')} looked at")


def show_dry_runs(server):
    for path in ("/v1/letters/discard", "/v1/replays"):
        started = time.monotonic()
        answer = server.request("POST", path, {"filter": {"reason": "bad"}, "dry_run": True}, timeout=600)
        assert answer.status == 200, answer.body
        print(f"  a dry run, {path}: {time.monotonic() - started:.1f} s for {answer.json['count']} letters")


def look(server, report):
    newest = server.get("/v1/letters", limit=50).json
    letter = newest["letters"][0]
    words = {"cursor": newest["cursor"], "letter": letter["id"], "fingerprint": letter["failure"]["fingerprint"],
             "newest": letter["dead_at"], "second": at(2)}
    print(f"pages and filters with {LETTERS} letters, the slowest call (median of {ROUNDS}), goal {GOAL_MS} ms")
    show_pages(server, report, words)
    for name, values in FILTERS.items():
        show_filter(server, report, name, values, words)
    show_where(server, report)
    show_dry_runs(server)


def main():
    sink, report = Sink(), Report()
    queue = {"source": "builtin", "handler": {"http": sink.url}, "concurrency": 128, "breaker": "off",
             "dlq": {"cap": 2 * LETTERS}}
    with Folder() as folder:
        server = Server(folder, {"orders": queue, "rare": queue}).start()
        try:
            fill(server)
            look(server, report)
        finally:
            server.stop()
            sink.close()
    print(f"  {report.missed} goals missed" if report.missed else "  every goal met")
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
