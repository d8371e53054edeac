"""A message that kills its worker is found and parked; its neighbours are not blamed."""
import sys

WORKER = """
import json, os, signal, sys
if json.load(sys.stdin).get("kill"):
    os.kill(os.getpid(), signal.SIGSEGV)
"""


def test_one_segfault_message_is_dead_after_three_crashes_and_neighbours_have_none(serve, tmp_path):
    program = tmp_path / "worker.py"
    program.write_text(WORKER)
    server = serve({"orders": {"source": "builtin", "concurrency": 8,
                               "handler": {"exec": [sys.executable, str(program)]},
                               "retry": {"base": "20ms", "cap": "100ms"}}})
    server.push_many("orders", [{"id": f"m-{n}", "body": {"kill": n == 40}} for n in range(100)])
    server.drained("orders")
    letters = server.letters("orders.dlq")
    assert [letter["message"]["id"] for letter in letters] == ["m-40"]
    letter = server.message("m-40")
    assert letter["cause"] == "crash"
    assert letter["crashes"] == 3
    assert letter["failure"]["kind"] == "signal"
    assert letter["failure"]["signal"] == 11
    assert letter["category"] == "crash"
    assert server.metric("impound_attempts_total", queue="orders", result="ok") == 99
    # A neighbour that had been blamed would have needed a retry.
    assert server.metric("impound_attempts_total", queue="orders", result="retry") == 2
