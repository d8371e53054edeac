"""Orders o-1 (raises KeyError), o-2 (raises TimeoutError twice), o-3 (fine)."""
import os

from harness import ROOT, eventually

PRICE = os.path.join(ROOT, "examples", "orders", "price.py")


def queues():
    return {"orders": {"source": "builtin", "handler": {"exec": ["python3", PRICE], "timeout": "30s"},
                       "dlq": {"owner": "team-orders"}}}


def test_a_bug_is_parked_at_once_a_slow_service_is_retried_and_the_rest_flows(serve):
    server = serve(queues())
    server.push("orders", {"pin": "BAD"}, id="o-1")
    server.push("orders", {"pin": "560001", "trip": 2}, id="o-2")
    server.push("orders", {"pin": "110001"}, id="o-3")
    server.drained("orders")

    letters = server.letters("orders.dlq")
    assert [letter["message"]["id"] for letter in letters] == ["o-1"]
    letter = server.message("o-1")
    assert letter["state"] == "pending_review"
    assert letter["cause"] == "terminal"
    assert letter["category"] == "bug"
    assert letter["attempts"] == 1
    assert letter["failure"]["kind"] == "exit"
    assert letter["failure"]["error_type"] == "KeyError"
    assert letter["failure"]["error_message"] == "'BAD'"
    assert "in price" in letter["failure"]["stack_trace"]
    assert letter["message"]["body"] == {"pin": "BAD"}
    assert letter["owner"] == "team-orders"
    assert server.message("o-2") is None and server.message("o-3") is None
    assert server.metric("impound_attempts_total", queue="orders", result="ok") == 2
    assert server.metric("impound_attempts_total", queue="orders", result="retry") == 2
    assert server.metric("impound_attempts_total", queue="orders", result="dlq") == 1


def test_the_delays_are_jittered_within_the_seeds_bounds(serve, tmp_path):
    """o-2 fails a third time here, so that its history can be read."""
    policy = queues()
    policy["orders"]["retry"] = {"attempts": 3, "base": "200ms", "cap": "30s", "jitter": "full"}
    policy["orders"]["breaker"] = "off"  # six that time out are an outage
    server = serve(policy)
    ids = [server.push("orders", {"pin": "560001", "trip": 9}, id=f"slow-{n}") for n in range(6)]
    letters = eventually(
        lambda: len(server.letters("orders.dlq")) == len(ids) and server.letters("orders.dlq"),
        "all six are exhausted")
    delays = []
    for letter in letters:
        envelope = server.message(letter["message"]["id"])
        assert envelope["cause"] == "exhausted"
        assert envelope["reason"] == "max_attempts:timeout"
        assert [line["attempt"] for line in envelope["history"]] == [1, 2, 3]
        assert [line["counted"] for line in envelope["history"]] == [True, True, True]
        first, second, last = (line["delay_ms"] for line in envelope["history"])
        assert 0 < first <= 200 and 0 < second <= 400 and last is None
        delays += [first, second]
    assert len(set(delays)) > 2, "jitter gives different delays"
