"""Several messages in one hand-over: exactly those that are to blame are blamed, in one attempt."""
import json
import sys
import threading

import pytest
from harness import PATIENCE_S, Handler, eventually

BAD = {"m-7", "m-42", "m-99"}
QUICK = {"retry": {"base": "10ms", "cap": "50ms", "budget_floor": "1000/s"}}


def items_of(call):
    return json.loads(call.body)


def ids_of(call):
    return [item["id"] for item in items_of(call)]


def queue(handler, batch=100, **more):
    return {"source": "builtin", "handler": {"http": handler.url, "batch": batch, "timeout": "1h"}, **QUICK, **more}


def push(server, ids):
    server.push_many("orders", [{"id": id, "body": {"n": id}} for id in ids])


def hundred(server):
    push(server, [f"m-{n}" for n in range(100)])


def results(server):
    return {result: server.metric("impound_attempts_total", queue="orders", result=result)
            for result in ("ok", "retry", "dlq")}


def dead(server):
    return {letter["message"]["id"] for letter in server.letters("orders.dlq")}


def test_an_array_with_the_exact_bytes_and_its_own_headers(serve, handler):
    echo = handler()
    server = serve({"orders": queue(echo, batch=10)})
    exact = '{"b":1.0,"a":12345678901234567890,"a":1e5,\n"c":[ ]}'
    server.post("/v1/queues/orders/messages",
                '{"id":"m-1","key":"k","headers":{"h":"v"},"body":' + exact + "}")
    server.drained("orders")
    call = echo.calls[0]
    assert f'"body":{exact}}}' in call.body.decode()
    assert call.headers["Impound-Queue"] == "orders" and call.headers["Impound-Batch"] == "1"
    assert call.headers["Content-Type"] == "application/json"
    assert call.headers["Impound-Message-Id"] is None and call.headers["h"] is None
    (item,) = items_of(call)
    assert (item["id"], item["key"], item["attempt"], item["headers"]) == ("m-1", "k", 1, {"h": "v"})
    server.post("/v1/queues/orders/messages",
                {"id": "m-2", "body_base64": "gAB/", "content_type": "application/octet-stream"})
    server.drained("orders")
    (item,) = items_of(echo.calls[1])
    assert item["body_base64"] == "gAB/" and "body" not in item


def test_what_is_ready_goes_together_up_to_the_batch(serve, handler):
    first, go = threading.Event(), threading.Event()

    def answer(call):
        if "head" in ids_of(call):
            first.set()
            go.wait(PATIENCE_S)
        return 200

    sink = handler(answer)
    server = serve({"orders": queue(sink, batch=40, concurrency=1)})
    push(server, ["head"])
    assert first.wait(PATIENCE_S)  # a partial batch does not wait for more
    push(server, [f"m-{n}" for n in range(39)])
    eventually(lambda: sink.count() == 2, "the free slots of the batch are used at once")
    push(server, [f"n-{n}" for n in range(100)])
    go.set()
    server.drained("orders")
    sizes = [len(items_of(call)) for call in sink.calls]
    assert sizes[0] == 1 and sizes[1] == 39 and sum(sizes) == 140 and max(sizes) <= 40


def test_3_of_100_listed_as_failed_are_exactly_those_that_fail(serve, handler):
    def answer(call):
        failed = [{"itemIdentifier": id, "error_type": "KeyError", "error_message": "no price",
                   "verdict": "dlq", "reason": "no_price"} for id in ids_of(call) if id in BAD]
        return 200, {}, json.dumps({"batchItemFailures": failed}).encode()

    shop = handler(answer)
    server = serve({"orders": queue(shop)})
    hundred(server)
    server.drained("orders")
    assert dead(server) == BAD
    assert results(server) == {"ok": 97, "retry": 0, "dlq": 3}
    assert [len(ids_of(call)) for call in shop.calls] == [100]
    for id in BAD:
        letter = server.message(id)
        assert (letter["attempts"], letter["crashes"], letter["reason"]) == (1, 0, "no_price")
        assert letter["failure"]["error_type"] == "KeyError"


def test_a_listed_item_without_words_is_retried_as_batch_item(serve, handler):
    def answer(call):
        failed = [{"itemIdentifier": id} for id in ids_of(call) if id in BAD]
        return 200, {}, json.dumps({"batchItemFailures": failed}).encode()

    shop = handler(answer)
    server = serve({"orders": queue(shop, retry={"attempts": 2, "base": "10ms"})})
    hundred(server)
    server.drained("orders")
    assert dead(server) == BAD
    assert results(server) == {"ok": 97, "retry": 3, "dlq": 3}
    for id in BAD:
        letter = server.message(id)
        assert (letter["attempts"], letter["category"], letter["reason"], letter["cause"]) == (
            2, "batch_item", "max_attempts:batch_item", "exhausted")


def count_splits(ids, is_bad):
    """Hand-overs that halving needs: a part that has a bad one among several is split."""
    if len(ids) == 1 or not any(map(is_bad, ids)):
        return 1
    half = (len(ids) + 1) // 2
    return 1 + count_splits(ids[:half], is_bad) + count_splits(ids[half:], is_bad)


@pytest.mark.parametrize("status", [422, 500])
def test_3_bad_of_100_are_found_by_halving_in_one_attempt(serve, handler, status):
    shop = handler(lambda call: status if BAD & set(ids_of(call)) else 200)
    server = serve({"orders": queue(shop)})
    hundred(server)
    server.drained("orders")
    assert dead(server) == BAD
    assert results(server) == {"ok": 97, "retry": 0, "dlq": 3}
    assert all(item["attempt"] == 1 for call in shop.calls for item in items_of(call))
    for id in BAD:
        letter = server.message(id)
        assert (letter["attempts"], letter["cause"], len(letter["history"])) == (1, "terminal", 1)
        assert letter["failure"]["status"] == status
    whole = max((ids_of(call) for call in shop.calls), key=len)
    assert len(whole) == 100
    assert shop.count() == count_splits(whole, lambda id: id in BAD)
    handled = [id for call in shop.calls if not BAD & set(ids_of(call)) for id in ids_of(call)]
    assert len(handled) == len(set(handled)) == 97
    assert server.queue("orders")["breaker"]["state"] == "closed"


def test_a_reset_is_halved_until_one_message_is_to_blame(serve, handler):
    def answer(call):
        if ids_of(call) == ["m-7"]:
            eventually(lambda: results(server)["ok"] > 0, "another message succeeded after the first reset")
        if "m-7" in ids_of(call):
            raise Handler.Reset
        return 200

    shop = handler(answer)
    server = serve({"orders": queue(shop, poison={"crashes": 1})})
    hundred(server)
    server.drained("orders")
    assert dead(server) == {"m-7"}
    letter = server.message("m-7")
    assert (letter["cause"], letter["crashes"], letter["attempts"]) == ("crash", 1, 1)
    assert results(server) == {"ok": 99, "retry": 0, "dlq": 1}


def test_a_busy_downstream_fails_every_item_once_and_is_one_word_to_the_breaker(serve, handler):
    calls = []

    def answer(call):
        calls.append(ids_of(call))
        return 503 if len(calls) == 1 else 200

    shop = handler(answer)
    server = serve({"orders": queue(shop)})
    hundred(server)
    server.drained("orders")
    assert len(calls[0]) == 100
    assert results(server) == {"ok": 100, "retry": 100, "dlq": 0}
    assert all(item["attempt"] == 2 for call in shop.calls[1:] for item in items_of(call))
    # A hundred failures would have opened it, one does not.
    assert "breaker open" not in server.log()


@pytest.mark.parametrize("identifier", ["", "nobody", None])
def test_a_list_that_names_nobody_fails_the_whole_batch(serve, handler, identifier):
    answers = [json.dumps({"batchItemFailures": [{"itemIdentifier": "m-1"},
                                                 {"itemIdentifier": identifier}]}).encode()]
    shop = handler(lambda call: (200, {}, answers.pop() if answers else b""))
    server = serve({"orders": queue(shop)})
    push(server, ["m-1", "m-2", "m-3"])
    server.drained("orders")
    assert results(server) == {"ok": 3, "retry": 3, "dlq": 0}
    assert sorted(ids_of(shop.calls[0])) == ["m-1", "m-2", "m-3"]


def test_probes_of_the_breaker_go_alone(serve, handler):
    down = threading.Event()
    down.set()
    shop = handler(lambda call: 503 if down.is_set() else 200)
    server = serve({"orders": queue(shop, batch=10, breaker={"consecutive": 2, "open": "1s"})})
    push(server, [f"m-{n}" for n in range(10)])
    push(server, [f"n-{n}" for n in range(10)])
    eventually(lambda: (view := server.queue("orders"))["breaker"]["state"] == "open" and view["in_flight"] == 0,
               "the breaker opens, and no batch is under way any more")
    before = shop.count()
    eventually(lambda: shop.count() > before, "it probes")
    assert all(len(ids_of(call)) == 1 for call in shop.calls[before:])
    down.clear()
    server.drained("orders")
    assert dead(server) == set()


def test_those_that_fall_back_are_bundled_again(serve, handler):
    primary = handler(lambda call: 404 if BAD & set(ids_of(call)) else 200)
    second = handler()
    server = serve({"orders": {
        **queue(primary), "fallback": [{"http": second.url, "batch": 100}],
        "classify": {"rules": [{"when": {"status": 404}, "do": "fallback"}]}}})
    hundred(server)
    server.drained("orders")
    assert results(server) == {"ok": 100, "retry": 0, "dlq": 0}
    assert primary.count() == second.count() == 1
    assert second.calls[0].headers["Impound-Fallback"] == "1"
    assert len(ids_of(second.calls[0])) == 100


def test_a_stop_interrupts_a_batch_and_counts_nothing(serve, handler):
    reached, stop = threading.Event(), threading.Event()

    def answer(call):
        reached.set()
        stop.wait(PATIENCE_S)
        return 200

    slow = handler(answer)
    server = serve({"orders": queue(slow, batch=10)}, server={"drain": "100ms"})
    push(server, [f"m-{n}" for n in range(10)])
    assert reached.wait(PATIENCE_S)
    server.stop()
    stop.set()
    slow.answer = lambda call: 200
    server.start()
    server.drained("orders")
    last = slow.calls[-1]
    assert all(item["attempt"] == 1 for item in items_of(last))
    assert dead(server) == set()


WORKER = """
import json, os, signal, sys
for line in sys.stdin:
    batch = json.loads(line)
    bad = [m["id"] for m in batch["messages"] if m["body"].get("bad")]
    if any(m["body"].get("segfault") for m in batch["messages"]):
        os.kill(os.getpid(), signal.SIGSEGV)
    failures = [{"itemIdentifier": id, "error_type": "KeyError", "error_message": "no price"} for id in bad]
    print(json.dumps({"batch": batch["batch"], "ok": True, "batchItemFailures": failures}), flush=True)
"""


def test_a_stream_worker_takes_batches_and_a_crash_is_halved(serve, tmp_path):
    program = tmp_path / "worker.py"
    program.write_text(WORKER)
    server = serve({"orders": {"source": "builtin", **QUICK, "poison": {"crashes": 1}, "handler": {
        "exec": [sys.executable, str(program)], "mode": "stream", "workers": 2, "batch": 50}}})
    server.push_many("orders", [{"id": f"m-{n}", "body": {"bad": n == 7, "segfault": n == 42}}
                                for n in range(100)])
    server.drained("orders")
    assert dead(server) == {"m-7", "m-42"}
    killer, bug = server.message("m-42"), server.message("m-7")
    assert (killer["cause"], killer["crashes"], killer["failure"]["signal"]) == ("crash", 1, 11)
    assert (bug["category"], bug["attempts"], bug["crashes"]) == ("bug", 1, 0)
    assert results(server) == {"ok": 98, "retry": 0, "dlq": 2}


def test_kill_9_in_the_middle_of_batches_loses_nothing(serve, handler):
    shop = handler(lambda call: 422 if BAD & set(ids_of(call)) else 200)
    server = serve({"orders": queue(shop, batch=20, concurrency=60)})
    ids = {f"m-{n}" for n in range(1000)}
    push(server, sorted(ids))
    eventually(lambda: shop.count() > 3, "batches are under way")
    server.kill()
    server.start()
    server.drained("orders")
    done = {id for call in shop.calls if not BAD & set(ids_of(call)) for id in ids_of(call)}
    assert done == ids - BAD and dead(server) == BAD
