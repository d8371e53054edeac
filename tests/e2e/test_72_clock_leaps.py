"""A wall clock that is set ahead while the server runs ages nothing: what expires does so by time that has passed."""
import pytest

from clocked import Clock
from harness import Server, eventually

TWO_DAYS_S = 2 * 24 * 3600


@pytest.fixture(name="leaping")
def fixture_leaping(tmp_path):
    """leaping(queues) is a server and its clock."""
    servers = []

    def start(queues, **top):
        clock = Clock(str(tmp_path))
        servers.append(Server(tmp_path, queues, **top))
        servers[-1].under = clock.under
        clock.ahead(0)
        return servers[-1].start(), clock
    yield start
    for server in servers:
        server.stop()


def test_retention_deletes_nothing_for_a_leap_of_the_clock(leaping, handler):
    """The DLQs around the one in question are swept after the leap, before and behind it: their letters go."""
    bad = handler(lambda call: 422)
    keep = {"a": "3s", "m": "1d", "z": "3s"}
    server, clock = leaping({name: {"handler": {"http": bad.url}, "dlq": {"retention": {"discarded": how_long}}}
                             for name, how_long in keep.items()})
    for name in keep:
        for number in range(20):
            server.push(name, number)
        eventually(lambda name=name: server.dlq(f"{name}.dlq")["depth"] == 20, "they are dead")
        answer = server.post("/v1/letters/discard", {"filter": {"dlq": f"{name}.dlq"}, "why": "a test", "dry_run": False})
        assert answer.status == 200, answer.body
    clock.ahead(TWO_DAYS_S)
    for name in ("a", "z"):
        eventually(lambda name=name: not server.letters(f"{name}.dlq", state="discarded"), "what is old enough goes")
    # Both were swept after the leap, and the one between them as well.
    assert len(server.letters("m.dlq", state="discarded")) == 20
    # In the next life the clock is believed: whether it leapt or time passed cannot be told.
    server.stop()
    server.start()
    eventually(lambda: not server.letters("m.dlq", state="discarded"), "they are two days old")


def test_an_idempotency_key_and_its_answer_outlast_a_leap_of_the_clock(leaping, handler):
    good = handler(lambda call: (200, {"Content-Type": "application/json"}, b'{"n":1}'))
    server, clock = leaping({"orders": {"handler": {"http": good.url, "reply": {"store": "1h"}},
                                        "idempotency": {"key": ".order", "dedupe": "1h"}}})
    server.push("orders", {"order": 7}, id="first")
    eventually(lambda: server.get("/v1/results/first").status == 200, "it is done")
    clock.ahead(TWO_DAYS_S)
    server.push("orders", {"order": 7}, id="second")
    eventually(lambda: server.metric("impound_attempts_total", queue="orders", result="duplicate") == 1, "it is known")
    server.drained("orders")
    assert len(good.calls) == 1
    assert server.get("/v1/results/first").json["body"] == {"n": 1}
    assert server.get("/v1/results/second").json["body"] == {"n": 1}
