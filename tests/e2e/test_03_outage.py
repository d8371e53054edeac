"""When the downstream fails for everybody, the breaker holds; when one message fails, it goes."""
import datetime
import re
import ssl
import subprocess
import threading
import time

import pytest

from harness import PATIENCE_S, Handler, eventually, free_port, scaled

CLOSING = 1 + 2 + 4 + 8 + 16  # successes that close the breaker of a queue with this concurrency
OUTAGE_S = max(4.0, scaled(200) / 10)  # 20 s in full, 4 s in `make test`


class Arrivals:
    """Steady pushes from a thread of their own, until stopped."""

    def __init__(self, server, queue, per_second):
        self.server, self.queue, self.gap = server, queue, 1 / per_second
        self.ids = []
        self.going = threading.Event()
        self.going.set()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while self.going.is_set():
            self.ids.append(self.server.push(self.queue, {"n": len(self.ids)}))
            time.sleep(self.gap)

    def stop(self):
        self.going.clear()
        self.thread.join()
        return self.ids


def simple(url, **more):
    return {"orders": {"source": "builtin", "handler": {"http": url, "timeout": f"{PATIENCE_S:.0f}s"},
                       "concurrency": 16, **more}}


def push_at_once(server, count):
    """In one commit: the first one is never alone, when outage and poison look alike."""
    return server.push_many("orders", [{"body": {"n": n}} for n in range(count)])


def breaker(server):
    return server.queue("orders")["breaker"]["state"]


def outage(server, worker, failing):
    """An outage under steady arrivals: returns (ids, calls during it, calls that were answered well, letters before)."""
    worker.answer, recovered = failing, set()

    def healthy(call):
        recovered.add(call)
        return 200

    first = push_at_once(server, 5)
    arrivals = Arrivals(server, "orders", per_second=50)
    eventually(lambda: breaker(server) != "closed", "the breaker opens")
    before = len(arrivals.ids)
    time.sleep(OUTAGE_S)  # the outage itself
    eventually(lambda: len(arrivals.ids) > before + CLOSING, "enough have come to close the breaker again")
    eventually(lambda: server.queue("orders")["in_flight"] == 0, "nothing is under way but a probe now and then")
    during = worker.count()
    depth_before = server.dlq("orders.dlq")["depth"]
    view = server.queue("orders")
    assert view["state"] == "running" and "the handler fails" in view["why"], "people see why nothing goes"
    worker.answer = healthy
    ids = first + arrivals.stop()
    server.drained("orders")
    assert breaker(server) == "closed" and server.queue("orders")["why"] is None
    return ids, during, recovered, depth_before


def test_503_to_everything_is_waited_out_with_few_calls_and_no_dead_letters(serve, handler):
    worker = handler()
    server = serve(simple(worker.url))
    ids, during, recovered, _ = outage(server, worker, lambda call: 503)
    assert server.dlq("orders.dlq")["depth"] == 0
    assert during <= 1.2 * len(ids) + 16
    # Five open it, 16 may be under way by then; after that, one probe for each opening of 1, 2, 4 … s.
    assert during <= 5 + 16 + 8
    assert {call.id for call in recovered} == set(ids)
    no_herd([(call.at, end) for call, end in worker.ends if call in recovered])
    said = re.findall(r" (\w+) +queue orders: (breaker \w+)(.*)", server.log())
    assert [(level, what) for level, what, _ in said] == [("warn", "breaker open"), ("info", "breaker closed")]
    assert "HTTP 503" in said[0][2], "an opening names the failure, and is said once however often it is probed"


def no_herd(spans):
    """Rounds of 1, 2, 4, 8 close the breaker: so many calls at once, and never more than the queue's
    concurrency of 16."""
    spans.sort()
    for place, (start, _) in enumerate(spans):
        at_once = 1 + sum(1 for other in spans[:place] if other[1] > start)
        allowed = next((size for size in (1, 2, 4, 8) if place < 2 * size - 1), 16)
        assert at_once <= allowed, f"call {place + 1} after the recovery is one of {at_once} at once"


def test_bare_500_to_everybody_kills_at_most_what_came_before_the_breaker_opened(serve, handler):
    worker = handler()
    server = serve(simple(worker.url))
    ids, _, _, depth = outage(server, worker, lambda call: 500)
    letters = server.letters("orders.dlq")
    assert len(letters) == depth, "nothing died after the breaker had opened"
    assert len(letters) <= 16 + 20, "at most what was under way, and the window that opened it"
    dead = {letter["message"]["id"] for letter in letters}
    assert set(ids) - dead <= {call.id for call in worker.calls}
    assert all(letter["reason"] == "upstream_5xx" for letter in letters)


def test_resets_for_everybody_are_an_outage_and_not_poison(serve, handler):
    def reset(call):
        raise Handler.Reset

    worker = handler()
    server = serve(simple(worker.url, retry={"jitter": "none"}))
    ids, _, _, _ = outage(server, worker, reset)
    assert server.letters("orders.dlq") == []
    assert set(ids) <= set(worker.ids())


def test_a_refused_connection_from_the_very_start_loses_nothing(serve, handler):
    port = free_port()
    server = serve(simple(f"http://127.0.0.1:{port}/work", breaker={"open": "2s"}))
    ids = push_at_once(server, 40)
    eventually(lambda: breaker(server) != "closed", "the breaker opens though nothing ever worked")
    time.sleep(1)
    assert server.dlq("orders.dlq")["depth"] == 0
    revived = handler(port=port)
    server.drained("orders")
    assert set(revived.ids()) == set(ids)
    assert server.dlq("orders.dlq")["depth"] == 0


def test_an_expired_certificate_is_an_outage(serve, handler, tmp_path):
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert,
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1"],
        capture_output=True, check=False)
    assert made.returncode == 0, made.stderr
    old = tmp_path / "old.pem"
    request = tmp_path / "request.pem"
    subprocess.run(["openssl", "req", "-new", "-key", key, "-out", request, "-subj", "/CN=127.0.0.1"],
                   check=True, capture_output=True)
    yesterday = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=2)
    stamp = (yesterday + datetime.timedelta(days=1)).strftime("%Y%m%d%H%M%SZ")
    start = (yesterday - datetime.timedelta(days=1)).strftime("%Y%m%d%H%M%SZ")
    database = tmp_path / "ca"
    database.mkdir()
    (database / "index.txt").write_text("")
    (database / "serial").write_text("01\n")
    settings = tmp_path / "ca.cnf"
    settings.write_text(
        "[ca]\ndefault_ca=d\n[d]\ndatabase=%s/index.txt\nserial=%s/serial\nnew_certs_dir=%s\n"
        "default_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n" % (database, database, database))
    subprocess.run(["openssl", "ca", "-batch", "-config", settings, "-selfsign", "-keyfile", key,
                    "-in", request, "-out", old, "-startdate", start, "-enddate", stamp],
                   check=True, capture_output=True)
    trusted = tmp_path / "trusted.pem"
    trusted.write_text(old.read_text() + cert.read_text())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(old, key)
    worker = handler(tls=context)
    server = serve({"orders": {"source": "builtin", "concurrency": 4,
                               "handler": {"http": worker.url, "ca": str(trusted)}}})
    ids = push_at_once(server, 20)
    eventually(lambda: breaker(server) != "closed", "the breaker opens")
    assert server.dlq("orders.dlq")["depth"] == 0
    assert worker.count() == 0, "no message crosses a connection that cannot be trusted"
    waiting = [server.message(one) for one in ids]
    failed = [envelope for envelope in waiting if envelope["failure"]]
    assert failed and all(envelope["failure"]["kind"] == "tls" for envelope in failed)
    assert all("expired" in envelope["failure"]["error_message"] for envelope in failed)
    context.load_cert_chain(cert, key)  # somebody renews it
    server.drained("orders")
    assert set(worker.ids()) == set(ids)
    assert server.dlq("orders.dlq")["depth"] == 0


def test_a_429_storm_is_held_for_as_long_as_the_handler_asked(serve, handler):
    asked = []

    def storm(call):
        asked.append(call.at)
        return 429, {"Retry-After": "3"}, b""

    worker = handler(storm)
    server = serve(simple(worker.url))
    ids = push_at_once(server, 60)
    eventually(lambda: breaker(server) == "open" and server.queue("orders")["in_flight"] == 0,
               "the breaker opens")
    before = len(asked)
    eventually(lambda: len(asked) > before, "the first probe is sent")
    # Five in a row open it. Those that were under way by then may have come later.
    assert asked[before] - sorted(asked[:before])[4] >= 2.9, "it lasts at least as long as Retry-After"
    worker.answer = lambda call: 200
    server.drained("orders")
    assert server.dlq("orders.dlq")["depth"] == 0
    assert set(worker.ids()) == set(ids)


def test_two_poison_503_messages_on_a_quiet_queue_do_not_hold_up_healthy_ones(serve, handler):
    worker = handler(lambda call: 503 if call.id.startswith("poison") else 200)
    server = serve(simple(worker.url, retry={"attempts": 5, "base": "50ms", "cap": "200ms"}))
    server.push("orders", {}, id="poison-1")
    server.push("orders", {}, id="poison-2")
    # Five failures open the breaker, and nobody else is there to be probed: the queue is quiet.
    eventually(lambda: worker.count() >= 5 + 3, "the poison is being probed")
    healthy = []
    for n in range(10):
        healthy.append(server.push("orders", {"n": n}, id=f"healthy-{n}"))
        eventually(lambda: healthy[-1] in worker.ids(), f"{healthy[-1]} is handled while poison waits")
    assert server.dlq("orders.dlq")["by_reason"].keys() <= {"max_attempts:upstream_busy"}
    for one in ("poison-1", "poison-2"):
        assert server.message(one)["state"] in ("pending_retry", "retrying", "pending_review")


@pytest.mark.parametrize("status", [503, 500])
def test_an_outage_from_the_very_start_is_no_different(serve, handler, status):
    worker = handler(lambda call: status)
    server = serve(simple(worker.url, breaker={"open": "2s"}))
    ids = push_at_once(server, 200)
    eventually(lambda: breaker(server) != "closed", "the breaker opens")
    dead = server.dlq("orders.dlq")["depth"]
    assert dead <= (0 if status == 503 else 36)
    time.sleep(2)
    assert server.dlq("orders.dlq")["depth"] <= (0 if status == 503 else 36)
    worker.answer = lambda call: 200
    server.drained("orders")
    dead = {letter["message"]["id"] for letter in server.letters("orders.dlq")}
    assert set(ids) - dead <= {call.id for call in worker.calls}
