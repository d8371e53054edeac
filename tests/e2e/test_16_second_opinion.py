"""A preset's halt is checked before the queue stops (SEMANTICS 4.7)."""
import json
import threading

import pytest

from harness import eventually


def queues(url, **more):
    return {"orders": {"source": "builtin", "handler": {"http": url}, "concurrency": 4, **more}}


def number(call):
    return json.loads(call.body)["n"]


def calls_of(worker, wanted):
    return [call for call in worker.calls if number(call) == wanted]


def halted(server):
    return eventually(lambda: (view := server.queue("orders"))["state"] == "halted" and view, "the queue halts")


def test_one_message_that_always_gets_403_is_dead_lettered_and_the_queue_goes_on(serve, handler):
    worker = handler(lambda call: 403 if number(call) == 0 else 200)
    server = serve(queues(worker.url))
    ids = [server.push("orders", {"n": n}) for n in range(40)]
    server.drained("orders")
    letter = server.message(ids[0])
    assert letter["state"] == "pending_review" and letter["cause"] == "terminal"
    assert (letter["category"], letter["reason"]) == ("auth", "auth")
    assert [(line["verdict"], line["counted"]) for line in letter["history"]] == [("halt", False), ("dlq", True)]
    told = server.get(f"/v1/letters/{letter['id']}/explain").json
    assert "said halt and called it auth/auth" in told["summary"] and "another message succeeded" in told["summary"]
    assert "stopped" not in json.dumps(told), "the queue never stopped"
    assert told["rule"]["verdict"] == "halt"
    assert letter["attempts"] == 1
    assert len(calls_of(worker, 0)) == 2
    assert server.queue("orders")["state"] == "running"
    assert server.dlq("orders.dlq")["depth"] == 1
    assert {number(call) for call in worker.calls} == set(range(40))


def test_one_message_alone_halts_its_queue_and_a_second_one_clears_it_after_resume(serve, handler):
    worker = handler(lambda call: 403 if number(call) == 0 else 200)
    server = serve(queues(worker.url))
    first = server.push("orders", {"n": 0})
    view = halted(server)
    assert first in view["why"] and "403" in view["why"]
    assert server.message(first)["refused"] is True
    assert server.get("/readyz").json["halted"][0]["queue"] == "orders"
    assert server.post("/v1/queues/orders/resume").status == 200
    eventually(lambda: len(calls_of(worker, 0)) == 2, "it is handed over again, for there is no other")
    halted(server)
    server.push("orders", {"n": 1})
    server.post("/v1/queues/orders/resume")
    server.drained("orders")
    assert server.message(first)["state"] == "pending_review"
    assert number(worker.calls[2]) == 1, "the other one goes first"
    assert server.queue("orders")["state"] == "running"


def test_a_fallback_that_is_refused_does_not_halt_the_queue(serve, handler):
    first = handler(lambda call: 500)
    second = handler(lambda call: 401)
    server = serve(queues(first.url, fallback=[{"http": second.url}], retry={"attempts": 2, "base": "10ms"},
                          classify={"rules": [{"when": {"status": 500}, "do": "fallback", "category": "external",
                                               "reason": "broken"}]}))
    one = server.push("orders", {"n": 0})
    server.drained("orders")
    letter = server.message(one)
    assert letter["cause"] == "exhausted" and letter["reason"] == "max_attempts:auth"
    assert second.count() == 2
    assert server.queue("orders")["state"] == "running"


def test_a_kill_in_the_middle_of_the_check_loses_nothing(serve, handler):
    gate = threading.Event()

    def answer(call):
        if number(call) == 0:
            return 403
        gate.wait(20)
        return 200

    worker = handler(answer)
    server = serve(queues(worker.url, concurrency=1))
    server.post("/v1/queues/orders/pause", {"why": "all are to wait first"})
    ids = [server.push("orders", {"n": n}) for n in range(5)]
    server.post("/v1/queues/orders/resume")
    eventually(lambda: worker.count() == 2, "another message is asked")
    assert number(worker.calls[1]) == 4, "from the far end"
    server.kill()
    gate.set()
    server.start()
    server.drained("orders")
    assert server.message(ids[0])["state"] == "pending_review"
    assert server.queue("orders")["state"] == "running"
    assert {number(call) for call in worker.calls} == set(range(5))
    assert server.dlq("orders.dlq")["depth"] == 1


def test_a_worker_that_refuses_one_message_is_given_others_before_it_comes_again(serve):
    server = serve({"orders": {"source": "builtin", "handler": "lease"}})
    ids = [server.push("orders", {"n": n}) for n in range(3)]

    def lease(limit=10):
        return server.post("/v1/queues/orders/lease", {"max": limit, "wait_ms": 5000}).json["messages"]

    [first] = lease(1)
    assert first["id"] == ids[0]
    server.post(f"/v1/leases/{first['lease']}/fail", {"status": 403, "error_message": "no"})
    [second] = lease()
    assert second["id"] == ids[2], "one at a time, from the far end"
    server.post(f"/v1/leases/{second['lease']}/ack", {})
    [again] = lease()
    assert again["id"] == ids[0]
    server.post(f"/v1/leases/{again['lease']}/fail", {"status": 403, "error_message": "no"})
    [last] = lease()
    assert last["id"] == ids[1]
    server.post(f"/v1/leases/{last['lease']}/ack", {})
    assert server.message(ids[0])["cause"] == "terminal"
    assert server.queue("orders")["state"] == "running"


@pytest.mark.parametrize("mode", ["process", "stream"])
def test_a_program_that_has_no_credentials_for_one_message_goes_on_with_the_others(serve, tmp_path, mode):
    program = tmp_path / "work.py"
    if mode == "process":
        program.write_text("import sys, json\nsys.exit(77 if json.load(sys.stdin)['n'] == 0 else 0)\n")
        handler = {"exec": ["/usr/bin/python3", str(program)]}
    else:
        program.write_text("import sys, json\n"
                           "for line in sys.stdin:\n"
                           "    one = json.loads(line)\n"
                           "    bad = one['body']['n'] == 0\n"
                           "    answer = {'id': one['id'], 'ok': not bad}\n"
                           "    if bad:\n"
                           "        answer.update(status=403, error_message='no')\n"
                           "    print(json.dumps(answer), flush=True)\n")
        handler = {"exec": ["/usr/bin/python3", str(program)], "mode": "stream"}
    server = serve({"orders": {"source": "builtin", "handler": handler, "concurrency": 1,
                               "classify": {"presets": ["exec", "http"]}}})
    ids = [server.push("orders", {"n": n}) for n in range(4)]
    server.drained("orders")
    assert server.message(ids[0])["cause"] == "terminal"
    assert server.message(ids[0])["category"] == "auth"
    assert server.queue("orders")["state"] == "running"
