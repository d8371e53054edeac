"""100,000 messages over an HTTP handler (a tenth in `make test`), one in 8,000 poison."""
import json

from harness import scaled

EVERY = 8000


def test_every_healthy_message_succeeds_and_exactly_the_poison_ones_are_dead(serve, handler):
    total = scaled(100000)
    poison = {f"m-{n}" for n in range(1, total + 1) if n % (EVERY if total > EVERY * 4 else 1000) == 0}

    def answer(call):
        if json.loads(call.body)["poison"]:
            return 400, {"Content-Type": "application/json"}, (
                b'{"error":{"type":"bad_pin","message":"PIN code 560001-X is not in the tax table"}}')
        return 200

    worker = handler(answer)
    server = serve({"orders": {"source": "builtin", "handler": {"http": worker.url},
                               "concurrency": 32}})
    for start in range(1, total + 1, 1000):
        server.push_many("orders", [
            {"id": f"m-{n}", "body": {"n": n, "poison": f"m-{n}" in poison}}
            for n in range(start, min(start + 1000, total + 1))])
    server.drained("orders", patience_s=600)

    handled = worker.ids()
    assert set(handled) == {f"m-{n}" for n in range(1, total + 1)}
    assert len(handled) == total, "nothing is handled twice when nothing goes wrong"
    letters = server.letters("orders.dlq")
    assert {letter["message"]["id"] for letter in letters} == poison
    assert len(letters) == len(poison)
    assert all(letter["attempts"] == 1 and letter["reason"] == "bad_request" for letter in letters)
    assert len({letter["failure"]["fingerprint"] for letter in letters}) == 1
    assert server.dlq("orders.dlq")["depth"] == len(poison)
    assert server.metric("impound_attempts_total", queue="orders", result="ok") == total - len(poison)
