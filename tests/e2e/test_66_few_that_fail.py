"""A few messages that always fail cost a bounded number of calls; every waiting message gets its turn (SEMANTICS 4.2)."""
import json

from harness import Handler, eventually

PROBES = 8  # calls beyond the attempts
AT_ONCE = {"delays": ["10ms"], "budget_floor": "1000/s"}


def queues(url, attempts=4, **more):
    return {"orders": {"source": "builtin", "handler": {"http": url}, "concurrency": 4,
                       "retry": {"attempts": attempts, **AT_ONCE}, **more}}


def breaker(server, queue="orders"):
    return server.queue(queue)["breaker"]["state"]


def probe_until(server, condition, what, queue="orders"):
    """Every resume ends the wait of the open breaker, so that probes need no minutes."""
    def probed():
        server.post(f"/v1/queues/{queue}/resume")
        return condition()

    return eventually(probed, what)


def test_two_messages_that_always_get_503_are_dead_after_a_bounded_number_of_calls(serve, handler):
    worker = handler(lambda call: 503)
    server = serve(queues(worker.url))
    server.push_many("orders", [{"id": "a", "body": 1}, {"id": "b", "body": 2}])
    eventually(lambda: breaker(server) == "open", "the breaker opens")
    probe_until(server, lambda: server.dlq("orders.dlq")["depth"] == 2, "both are dead")
    for letter in server.letters("orders.dlq"):
        assert letter["cause"] == "exhausted" and letter["reason"] == "max_attempts:upstream_busy"
        assert letter["attempts"] <= 4 and letter["attempts"] + letter["probes"] == 4 + PROBES
        envelope = server.message(letter["message"]["id"])
        assert len(envelope["history"]) == 4 + PROBES
        assert [line["counted"] for line in envelope["history"]].count(True) == envelope["attempts"]
        explained = server.get(f"/v1/letters/{letter['id']}/explain").json
        assert explained["limits"]["probes"] == letter["probes"] and "probe" in explained["summary"]
    assert sorted(worker.ids()) == ["a"] * (4 + PROBES) + ["b"] * (4 + PROBES)
    assert "probes" in server.cli("show", "a")


def test_probes_are_counted_over_a_kill(serve, handler):
    worker = handler(lambda call: 503)
    server = serve(queues(worker.url))
    server.push_many("orders", [{"id": "a", "body": 1}, {"id": "b", "body": 2}])
    eventually(lambda: breaker(server) == "open", "the breaker opens")
    before = probe_until(server, lambda: server.message("a")["probes"] >= 2 and server.message("a")["probes"], "it is probed")
    server.kill()
    server.start()
    assert server.message("a")["probes"] >= before
    probe_until(server, lambda: server.dlq("orders.dlq")["depth"] == 2, "both are dead")


def test_without_evidence_of_an_outage_max_age_ends_it(serve, handler):
    worker = handler(lambda call: 503)
    server = serve({"orders": {**queues(worker.url)["orders"], "retry": {"attempts": 100, "max_age": "1s", **AT_ONCE}}})
    server.push_many("orders", [{"id": "a", "body": 1}, {"id": "b", "body": 2}])
    eventually(lambda: breaker(server) == "open", "the breaker opens")
    probe_until(server, lambda: server.dlq("orders.dlq")["depth"] == 2, "both are dead")
    assert {letter["cause"] for letter in server.letters("orders.dlq")} == {"expired"}


def test_with_evidence_of_an_outage_nothing_dies_however_often_it_is_probed(serve, handler):
    worker = handler(lambda call: 503)
    server = serve(queues(worker.url, attempts=2))
    server.push_many("orders", [{"id": f"m{n}", "body": n} for n in range(6)])
    eventually(lambda: breaker(server) == "open", "the breaker opens")
    probe_until(server, lambda: worker.count() > 6 * (2 + PROBES + 2), "there are more calls than poison would get")
    assert server.dlq("orders.dlq")["depth"] == 0
    worker.answer = lambda call: 200
    probe_until(server, lambda: server.queue("orders")["pending_retry"] == 0, "all are done")
    assert server.dlq("orders.dlq")["depth"] == 0


def test_of_nine_messages_with_nine_kinds_of_failure_the_one_that_recovers_gets_its_turn(serve, handler):
    statuses = {"k1": 503, "k2": 502, "k3": 504, "k4": 429, "k5": 408, "k6": 425, "k7": 500}
    seen = {}

    def answer(call):
        seen[call.id] = seen.get(call.id, 0) + 1
        if call.id == "reset":
            raise Handler.Reset
        if call.id == "recovers":
            return 200 if seen[call.id] > 1 else 503
        return statuses[call.id]

    worker = handler(answer)
    server = serve(queues(worker.url, attempts=3, breaker={"open": "1s"}))
    server.push_many("orders", [{"id": one, "body": 1} for one in [*statuses, "reset", "recovers"]])
    eventually(lambda: server.message("recovers") is None, "its second attempt succeeds")
    assert seen["recovers"] == 2


def test_a_users_rule_that_says_dlq_is_carried_out_on_a_probe(serve, handler):
    def answer(call):
        why = "hopeless" if call.id == "h" else "busy"
        return 503, {"Content-Type": "application/json"}, json.dumps({"error": {"message": why}}).encode()

    worker = handler(answer)
    rules = [{"when": {"status": 503, "message": "hopeless"}, "do": "dlq", "category": "bug", "reason": "mine"}]
    server = serve(queues(worker.url, classify={"rules": rules}))
    server.push_many("orders", [{"id": f"m{n}", "body": n} for n in range(5)])
    eventually(lambda: breaker(server) == "open", "the breaker opens")
    server.push("orders", 1, id="h")
    probe_until(server, lambda: server.dlq("orders.dlq")["depth"] == 1, "it is dead")
    letter, = server.letters("orders.dlq")
    assert (letter["message"]["id"], letter["cause"], letter["reason"]) == ("h", "terminal", "mine")
    assert worker.ids().count("h") == 1


def test_resume_ends_the_wait_of_an_open_breaker(serve, handler):
    worker = handler(lambda call: (429, {"Retry-After": "3600"}, b""))
    server = serve({"orders": {"source": "builtin", "handler": {"http": worker.url}, "concurrency": 4,
                               "retry": {"attempts": 4, "retry_after_cap": "100ms", **AT_ONCE}}})
    ids = server.push_many("orders", [{"id": f"m{n}", "body": n} for n in range(6)])
    eventually(lambda: breaker(server) == "open" and server.queue("orders")["in_flight"] == 0, "the breaker opens")
    worker.answer = lambda call: 200
    assert server.post("/v1/queues/orders/resume").status == 200
    server.drained("orders")
    assert set(ids) <= set(worker.ids())


def test_a_leased_message_that_always_fails_is_leased_a_bounded_number_of_times(serve):
    server = serve({"jobs": {"handler": "lease", "retry": {"attempts": 4, **AT_ONCE}}})
    server.push_many("jobs", [{"id": "a", "body": 1}, {"id": "b", "body": 2}])
    leases = {"a": 0, "b": 0}

    def work():
        for message in server.post("/v1/queues/jobs/lease", {"max": 2}).json["messages"]:
            leases[message["id"]] += 1
            said = server.post(f"/v1/leases/{message['lease']}/fail", {"error_type": "TimeoutError", "error_message": "late"})
            assert said.status == 200, said.body
        return server.dlq("jobs.dlq")["depth"] == 2

    probe_until(server, work, "both are dead", queue="jobs")
    assert leases == {"a": 4 + PROBES, "b": 4 + PROBES}
    assert {letter["cause"] for letter in server.letters("jobs.dlq")} == {"exhausted"}


def test_what_a_batch_and_an_ordered_key_wait_for_is_bounded_too(serve, handler):
    worker = handler(lambda call: 503)
    server = serve({"orders": {"source": "builtin", "handler": {"http": worker.url, "batch": 5}, "concurrency": 5,
                               "order": "key", "retry": {"attempts": 2, **AT_ONCE}}})
    server.push_many("orders", [{"id": "a1", "key": "a", "body": 1}, {"id": "a2", "key": "a", "body": 1},
                                {"id": "b1", "key": "b", "body": 1}])
    eventually(lambda: breaker(server) == "open" or server.dlq("orders.dlq")["depth"] == 2, "both heads fail")
    probe_until(server, lambda: server.dlq("orders.dlq")["depth"] == 2, "both heads are dead")
    assert {letter["message"]["id"] for letter in server.letters("orders.dlq")} == {"a1", "b1"}
    waiting = server.message("a2")
    assert waiting["state"] == "queued" and waiting["attempts"] == 0 and waiting["probes"] == 0
