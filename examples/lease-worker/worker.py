#!/usr/bin/env python3
"""A worker that fetches its messages from impound. Python's standard library is all it needs.

    impound serve -c examples/lease-worker/impound.yaml
    impound push texts '{"text": "to be or not to be"}'
    python3 examples/lease-worker/worker.py http://127.0.0.1:7070 texts

It leases a few messages at a time and waits for them without polling. While it works, a heartbeat extends what
it still holds; when it dies, its leases run out and somebody else gets them. SIGTERM and SIGINT let it finish what
it has, a second one ends it at once. Put your own work into work(): what it returns is the answer, what it raises is the failure, which the
queue's rules judge (by the name of the exception, among others)."""
import http.client
import json
import signal
import sys
import threading
import time
import traceback
import urllib.parse

AT_ONCE = 10
WAIT_MS = 2000
LEASE_MS = 30000
AGAIN_S = 1  # after the server was not there


def work(message):
    """Your work: message has id, attempt, key, headers and body."""
    text = message["body"]["text"]
    time.sleep(message["body"].get("seconds", 0))
    return {"words": len(text.split())}


class Impound:
    """One kept connection. A request that the server did not answer is sent again until it does: an ack that
    arrives twice does no harm."""

    def __init__(self, url):
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=60)

    def post(self, path, body):
        while True:
            try:
                self.connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
                answer = self.connection.getresponse()
                said = json.loads(answer.read())
            except (OSError, http.client.HTTPException):
                self.connection.close()
                time.sleep(AGAIN_S)
                continue
            if answer.status == 503:  # it is stopping, or its disk is full
                time.sleep(AGAIN_S)
                continue
            if answer.status != 200:
                sys.exit(f"{path}: {said['detail']}")
            return said

    def answer(self, **answers):
        """answer(ack=[…], fail=[…], extend=[…]); tells of what was not taken."""
        for result in self.post("/v1/leases", answers)["results"]:
            if "problem" in result:
                print(f"{result['lease']}: {result['problem']['detail']}", file=sys.stderr)


class Heartbeat(threading.Thread):
    """Extends every lease that is still held, from a connection of its own."""

    def __init__(self, url, lease_ms):
        super().__init__(daemon=True)
        self.server, self.lease_ms = Impound(url), lease_ms
        self.held, self.lock = set(), threading.Lock()

    def run(self):
        while True:
            time.sleep(self.lease_ms / 3000)
            with self.lock:
                held = [{"lease": lease, "lease_ms": self.lease_ms} for lease in self.held]
            if held:
                self.server.answer(extend=held)

    def hold(self, leases):
        with self.lock:
            self.held.update(leases)

    def let_go(self, lease):
        with self.lock:
            self.held.discard(lease)


def run_one(server, heartbeat, message):
    lease = message["lease"]
    try:
        answer = {"ack": [{"lease": lease, "result": work(message)}]}
    except Exception as error:  # whatever it is, impound judges it
        answer = {"fail": [{"lease": lease, "error_type": type(error).__name__, "error_message": str(error),
                            "stack_trace": traceback.format_exc()}]}
    heartbeat.let_go(lease)
    server.answer(**answer)


def main(url, queue, lease_ms=LEASE_MS):
    stopping = threading.Event()

    def stop(number, _):
        stopping.set()
        signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    server, heartbeat = Impound(url), Heartbeat(url, lease_ms)
    heartbeat.start()
    ask = {"max": AT_ONCE, "wait_ms": WAIT_MS, "lease_ms": lease_ms}
    while not stopping.is_set():
        messages = server.post(f"/v1/queues/{urllib.parse.quote(queue, safe='')}/lease", ask)["messages"]
        heartbeat.hold(message["lease"] for message in messages)
        for message in messages:
            run_one(server, heartbeat, message)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: worker.py URL QUEUE [LEASE_MS]")
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
