"""A wall clock that is set ahead ages nothing: what expires does so by time that has passed."""
import os

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


def kept_for(bad, **how_long):
    return {name: {"handler": {"http": bad.url}, "dlq": {"retention": {"discarded": one}}} for name, one in how_long.items()}


def discarded(server, name):
    return len(server.letters(f"{name}.dlq", state="discarded"))


def gone(server, *names):
    """They are swept in the order of their names, so what stands between them was swept too."""
    for name in names:
        eventually(lambda name=name: discarded(server, name) == 0, "what is old enough goes")


def test_retention_deletes_nothing_for_a_leap_of_the_clock(leaping, handler):
    """The DLQs around the one in question are swept after the leap, before and behind it: their letters go."""
    bad = handler(lambda call: 422)
    server, clock = leaping(kept_for(bad, a="3s", b="1d", m="1d", y="1d", z="3s"))
    for name in "abmyz":
        for number in range(20):
            server.push(name, number)
        eventually(lambda name=name: server.dlq(f"{name}.dlq")["depth"] == 20, "they are dead")
        answer = server.post("/v1/letters/discard", {"filter": {"dlq": f"{name}.dlq"}, "why": "a test", "dry_run": False})
        assert answer.status == 200, answer.body
    clock.ahead(TWO_DAYS_S)
    gone(server, "a", "z")
    assert discarded(server, "m") == 20
    # The next life knows that the machine ran on, and how long.
    server.kill()
    server.configure(kept_for(bad, a="3s", b="1s", m="1d", y="1s", z="3s"))
    server.start()
    gone(server, "b", "y")
    assert discarded(server, "m") == 20
    assert "the wall clock was set ahead by 17" in server.log()
    # Without the record of the clock a leap cannot be told from time that passed.
    server.stop()
    os.remove(os.path.join(server.folder, "impound.db.d", "clock"))
    server.start()
    gone(server, "m")


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
    server.kill()
    server.start()
    server.push("orders", {"order": 7}, id="third")
    eventually(lambda: server.get("/v1/results/third").status == 200, "the next life knows it too")
    assert server.get("/v1/results/third").json["body"] == {"n": 1} and len(good.calls) == 1


def test_max_age_does_not_count_a_leap_before_the_start(leaping, handler):
    worker = handler(lambda call: 503 if len(worker.calls) < 3 else 200)
    server, clock = leaping({"orders": {"handler": {"http": worker.url}, "breaker": "off",
                                        "retry": {"attempts": 9, "delays": ["2s"], "max_age": "1h", "budget": "100%"}}})
    server.push("orders", 1, id="m")
    eventually(lambda: server.message("m")["state"] == "pending_retry", "it failed once")
    server.kill()
    clock.ahead(TWO_DAYS_S)
    server.start()
    server.drained("orders")
    assert server.letters("orders.dlq") == [] and len(worker.calls) == 3
