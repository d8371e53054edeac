"""Listing, grouping and searching a full lot through the API: what people wait for.

The letters are those of bench/store, made once and kept in build/bench-store; LETTERS says how many (1,000,000;
10,000,000 take some 27 GB and ten minutes to make)."""
import os
import subprocess
import time

from bench import ROOT, ROUNDS, Folder, Server, median
from store import LETTERS, PROGRAM

FOLDER = os.path.join(ROOT, "build", "bench-store")
PAGE = 50
DEEP = 100  # pages behind the first


def ask(server, path, **parameters):
    """(milliseconds, the answer)"""
    started = time.monotonic()
    answer = server.get(path, **parameters)
    assert answer.status == 200, answer.body
    return (time.monotonic() - started) * 1000, answer.json


def show(server, what, path, **parameters):
    taken = []
    for _ in range(ROUNDS):
        ms, answer = ask(server, path, **parameters)
        taken.append(ms)
    rows = next((len(value) for value in answer.values() if isinstance(value, list)), 1)
    print(f"  {what}: {median(taken):,.1f} ms, {rows} rows")


def show_deep(server):
    cursor, taken = None, []
    for _ in range(DEEP):
        ms, answer = ask(server, "/v1/letters", limit=PAGE, **({"cursor": cursor} if cursor else {}))
        taken.append(ms)
        cursor = answer["cursor"]
        if not cursor:
            break
    print(f"  the next {len(taken)} pages: {median(taken):,.1f} ms each, {max(taken):,.1f} at most")


def look(server):
    letter = ask(server, "/v1/letters", limit=1)[1]["letters"][0]
    show(server, "all DLQs", "/v1/dlqs")
    show(server, f"a page of {PAGE}", "/v1/letters", limit=PAGE)
    show_deep(server)
    show(server, "a page of one DLQ", "/v1/dlqs/orders.dlq/letters", limit=PAGE)
    show(server, "a page of a reason", "/v1/letters", limit=PAGE, reason=letter["reason"])
    show(server, "a page of a group", "/v1/letters", limit=PAGE, fingerprint=letter["failure"]["fingerprint"])
    show(server, "a page of the oldest day", "/v1/letters", limit=PAGE, until="29d")
    show(server, "groups", "/v1/groups", limit=PAGE)
    show(server, "full text, common", "/v1/letters", limit=PAGE, q=letter["failure"]["error_message"].split()[0])
    show(server, "full text, found nowhere", "/v1/letters", limit=PAGE, q="xylophone")
    show(server, "jq, every letter", "/v1/letters", limit=PAGE, where=".attempts > 0")
    show(server, "one letter", f"/v1/letters/{letter['id']}")


def main():
    name = os.path.join(FOLDER, f"present-{LETTERS}.db")
    subprocess.run([PROGRAM, "--dir", FOLDER, "--letters", LETTERS, "make"], check=True)
    with Folder() as folder:
        queue = {"handler": "lease", "dlq": {"cap": 100 * int(LETTERS)}}
        server = Server(folder, {"orders": queue}, server={"jq_timeout": "30s"}, store=f"sqlite:{name}").start()
        try:
            print(f"lot: {server.dlq('orders.dlq')['depth']:,} letters, over HTTP:")
            look(server)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
