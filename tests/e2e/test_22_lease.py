"""Workers that fetch: what they are given, what they may say, and what a silent one means."""
import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from clocked import Clock
from harness import PATIENCE_S, ROOT, eventually, impound, problem, scaled
from lease_storm import Storm

EXAMPLE = os.path.join(ROOT, "examples", "lease-worker")
AT_ONCE = {"retry": {"attempts": 10, "delays": [0], "budget": "100%", "budget_floor": "1000/s"}}


def lease(server, queue="jobs", **asked):
    answer = server.post(f"/v1/queues/{queue}/lease", asked)
    assert answer.status == 200, answer.body
    return answer.json["messages"]


def lease_one(server, **asked):
    """The next message, whenever it is due."""
    return eventually(lambda: lease(server, **asked), "something is leased")[0]


def say(server, message, what, body=None):
    return server.post(f"/v1/leases/{message['lease']}/{what}", body)


def waits(server, some_id, state):
    return eventually(lambda: (server.message(some_id) or {}).get("state") == state and server.message(some_id),
                      f"{some_id} is {state}")


@pytest.fixture
def server(serve):
    return serve({"jobs": {"handler": "lease", "breaker": "off", **AT_ONCE},
                  "web": {"handler": {"http": "http://127.0.0.1:9/"}}})


# ---- what workers are given and may say ----

def test_a_letter_names_the_worker_that_leased_its_message(server):
    """Also when the worker's answer does not repeat its version and name, and after a kill."""
    server.push("jobs", {"n": 1}, id="a")
    leased = lease_one(server, version="2.0", consumer_instance="worker-7", lease_ms=60000)
    server.kill()
    server.start()
    assert say(server, leased, "fail", {"error_type": "KeyError", "verdict": "dlq"}).status == 200
    assert waits(server, "a", "pending_review")["consumer"] == {"instance": "worker-7", "version": "2.0"}
    server.push("jobs", {"n": 2}, id="b")
    leased = lease_one(server)
    assert say(server, leased, "fail", {"error_type": "KeyError", "verdict": "dlq"}).status == 200
    nameless = waits(server, "b", "pending_review")["consumer"]
    assert nameless["version"] is None and nameless["instance"] != "worker-7"
    assert problem(server.post("/v1/queues/jobs/lease", {"consumer_instance": 7}), 400)


def test_a_message_is_leased_once_with_all_that_a_worker_needs(server):
    server.push("jobs", {"n": 1}, id="a", key="k1", headers={"x-tenant": "t"})
    server.push("jobs", None, id="b")
    leased, = lease(server)
    text = leased.pop("lease")
    assert leased == {"id": "a", "attempt": 1, "replay": 0, "key": "k1", "headers": {"x-tenant": "t"},
                      "content_type": "application/json", "body": {"n": 1}}
    assert [message["id"] for message in lease(server, max=10)] == ["b"]
    assert lease(server, max=10) == []
    assert server.queue("jobs")["handler"] == "lease"
    assert server.queue("jobs")["in_flight"] == 2 and server.queue("jobs")["concurrency"] is None
    assert server.message("a")["state"] == "running"
    assert server.post(f"/v1/leases/{text}/ack").json == {"lease": text, "ok": True}
    assert server.message("a") is None


def test_bodies_come_as_they_are(server):
    server.post("/v1/queues/jobs/messages", '{"body":{"b":1.0,"a":12345678901234567890}}')
    server.post("/v1/queues/jobs/messages", '{"body_base64":"/wA=","content_type":"image/png"}')
    answer = server.post("/v1/queues/jobs/lease", {"max": 2})
    assert b'"body":{"b":1.0,"a":12345678901234567890}' in answer.body
    assert answer.json["messages"][1]["body_base64"] == "/wA="
    assert answer.json["messages"][1]["content_type"] == "image/png"


def test_a_failure_is_judged_by_the_rules(server):
    server.push("jobs", 1, id="bug")
    server.push("jobs", 2, id="flaky")
    server.push("jobs", 3, id="told")
    bug, flaky, told = lease(server, max=3)
    trace = 'Traceback (most recent call last):\n  File "w.py", line 3, in work\n    pin()\nKeyError: \'pin\'\n'
    assert say(server, bug, "fail", {"error_type": "KeyError", "error_message": "'pin'",
                                     "stack_trace": trace}).status == 200
    assert say(server, flaky, "fail", {"status": 503, "retry_after": 0}).status == 200
    assert say(server, told, "fail", {"error_type": "Odd", "verdict": "discard"}).status == 200
    letter = server.message("bug")
    assert letter["state"] == "pending_review" and letter["category"] == "bug"
    assert letter["failure"]["kind"] == "reported" and letter["failure"]["error_type"] == "KeyError"
    assert "line 3" in letter["failure"]["stack_trace"]
    assert server.message("told")["state"] == "discarded"
    again = lease_one(server)
    assert (again["id"], again["attempt"]) == ("flaky", 2)


def test_many_answers_in_one_request(server):
    server.push_many("jobs", [{"id": f"m{i}", "body": i} for i in range(4)])
    leases = [message["lease"] for message in lease(server, max=4)]
    said = server.post("/v1/leases", {"ack": [leases[0], "0" * 31 + "1"],
                                      "fail": [{"lease": leases[1], "error_type": "ValueError"}],
                                      "extend": [{"lease": leases[2], "lease_ms": 60000}]})
    assert said.status == 200
    results = said.json["results"]
    assert results[0] == {"lease": leases[0], "ok": True}
    unknown = results[1]
    assert set(unknown) == {"lease", "problem"} and unknown["problem"]["status"] == 404
    assert {"type", "title", "status", "detail"} <= set(unknown["problem"])
    assert results[2:] == [{"lease": leases[1], "ok": True}, {"lease": leases[2], "ok": True}]
    assert server.message("m0") is None
    assert server.message("m1")["state"] == "pending_review"
    assert server.message("m2")["state"] == "running"


def test_an_answer_is_kept_where_the_queue_keeps_answers(serve):
    server = serve({"jobs": {"handler": {"lease": {}, "reply": {"store": "1h"}}}})
    server.push_many("jobs", [{"id": some_id, "body": 1} for some_id in ("one", "many", "none")])
    one, many, none = lease(server, max=3)
    assert server.post(f"/v1/leases/{one['lease']}/ack", '{"result":{"n":1.0}}').status == 200
    assert server.post("/v1/leases", {"ack": [{"lease": many["lease"], "result": [1, 2]}, none["lease"]]}).status == 200
    assert b'"body":{"n":1.0}' in server.get("/v1/results/one").body
    assert server.get("/v1/results/many").json["body"] == [1, 2]
    assert server.get("/v1/results/none").status == 200


def test_a_mistake_is_told(server):
    server.push("jobs", 1)
    for body, words in (({"max": 0}, ["max", "1 to 1000"]), ({"max": 1001}, ["1 to 1000"]),
                        ({"max": "ten"}, ["max"]), ({"wait_ms": 60001}, ["wait_ms", "60000"]),
                        ({"lease_ms": 0}, ["lease_ms", "43200000"]), ({"leasems": 1}, ["leasems", "lease_ms"]),
                        ("[]", ["object"]), ("{", [])):
        problem(server.post("/v1/queues/jobs/lease", body), 400, *words)
    problem(server.post("/v1/queues/job/lease", {}), 404, "jobs")
    problem(server.post("/v1/queues/web/lease", {}), 409, "web", "handler: lease")
    for what in ("ack", "fail", "extend"):
        problem(server.post(f"/v1/leases/{'f' * 32}/{what}"), 404)
        problem(server.post(f"/v1/leases/nonsense/{what}"), 404)
    message, = lease(server)
    problem(say(server, message, "fail", {"status": 42}), 400, "status", "100 to 599")
    problem(say(server, message, "fail", {"verdict": "shrug"}), 400, "verdict")
    problem(say(server, message, "extend", {"lease_ms": 1e9}), 400, "lease_ms")
    problem(server.post("/v1/leases", {"ack": "x"}), 400, "ack", "list")
    problem(server.post("/v1/leases", {"fail": [{"status": 500}]}), 400, "fail[0]", "lease")
    problem(server.post("/v1/leases", {"ack": ["x"] * 1001}), 400, "1000")
    assert say(server, message, "ack").status == 200
    problem(say(server, message, "ack"), 404)


def test_a_report_is_retried_by_leasing_it_out(server):
    said = server.post("/v1/queues/jobs/failures", {"task_id": "t-1", "payload": {"n": 1},
                                                    "error_type": "ConnectionError", "attempts": 2}).json
    assert said["state"] == "pending_retry"
    message = lease_one(server)
    assert (message["id"], message["attempt"], message["body"]) == ("t-1", 3, {"n": 1})


# ---- waiting ----

def test_workers_wait_without_holding_anybody_up_and_each_gets_one(server):
    workers = scaled(200, least=20)
    got, lock = [], threading.Lock()

    def fetch():
        messages = lease(server, max=1, wait_ms=60000)
        with lock:
            got.extend(message["id"] for message in messages)

    threads = [threading.Thread(target=fetch) for _ in range(workers)]
    for thread in threads:
        thread.start()
    eventually(lambda: server.metric("impound_workers_waiting", queue="jobs") == workers, "all of them wait")
    server.push_many("jobs", [{"id": f"m{i}", "body": i} for i in range(workers)])
    for thread in threads:
        thread.join()
    assert sorted(got) == sorted(f"m{i}" for i in range(workers))
    assert server.metric("impound_workers_waiting", queue="jobs") == 0


def test_who_hung_up_is_given_nothing(server):
    with socket.create_connection(("127.0.0.1", server.port)) as gone:
        gone.sendall(b"POST /v1/queues/jobs/lease HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 17\r\n\r\n"
                     b'{"wait_ms":60000}')
        eventually(lambda: server.metric("impound_workers_waiting", queue="jobs") == 1, "it waits")
    server.push("jobs", 1, id="a")
    assert [message["id"] for message in lease(server, wait_ms=60000)] == ["a"]


def test_a_stop_sends_waiting_workers_home_at_once_and_keeps_leases(server):
    server.push("jobs", 1, id="a")
    message, = lease(server, lease_ms=60000)
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(lease(server, wait_ms=60000)))
    waiting.start()
    eventually(lambda: server.metric("impound_workers_waiting", queue="jobs") == 1, "it waits")
    server.stop()
    waiting.join()
    assert answers == [[]]
    server.start()
    held = server.message("a")
    assert held["state"] == "running" and held["attempts"] == 0 and held["history"] == []
    assert say(server, message, "ack").status == 200


def test_nothing_is_leased_while_paused_and_answers_are_taken(server):
    server.push("jobs", 1, id="a")
    server.push("jobs", 2, id="b")
    message, = lease(server)
    server.post("/v1/queues/jobs/pause", {"why": "lunch"})
    assert lease(server, max=10) == []
    assert say(server, message, "ack").status == 200
    server.post("/v1/queues/jobs/resume")
    assert [message["id"] for message in lease(server, max=10)] == ["b"]


# ---- silence ----

def test_an_expired_lease_is_an_attempt_then_alone_then_a_crash(server):
    server.push("jobs", 0, id="killer")
    assert len(lease(server, lease_ms=50)) == 1
    expired = waits(server, "killer", "pending_retry")
    assert expired["attempts"] == 1 and expired["crashes"] == 0
    assert expired["failure"]["kind"] == "expired" and expired["history"][0]["counted"]
    for crashes in (1, 2, 3):
        server.push_many("jobs", [{"id": f"n{crashes}-{i}", "body": i} for i in range(3)])
        first, second = lease(server, max=10), lease(server, max=10)
        assert [message["id"] for message in first] == ["killer"], "a suspect is alone in its answer"
        assert len(second) == 3, "while others flow"
        for message in second:
            assert say(server, message, "ack").status == 200
        assert say(server, first[0], "extend", {"lease_ms": 1}).status == 200  # and then silence
        eventually(lambda n=crashes: server.message("killer")["crashes"] == n, f"{crashes} crashes")
    letter = server.message("killer")
    assert letter["state"] == "pending_review" and letter["cause"] == "crash" and letter["attempts"] == 4
    said = server.get(f"/v1/letters/{letter['id']}/explain").json
    assert "alone" in said["summary"] and "lease ran out" in said["steps"][0]["what"]
    assert server.metric("impound_leases_expired_total", queue="jobs") == 4


def test_a_late_answer_is_taken_unless_it_was_leased_again(server):
    for some_id in ("acked", "failed"):
        server.push("jobs", 1, id=some_id, delay=0)
    acked, failed = lease(server, max=2, lease_ms=50)
    waits(server, "acked", "pending_retry")
    waits(server, "failed", "pending_retry")
    problem(say(server, acked, "extend", {"lease_ms": 1000}), 409)
    assert say(server, acked, "ack").status == 200
    assert server.message("acked") is None
    assert say(server, failed, "fail", {"error_type": "KeyError"}).status == 200
    letter = server.message("failed")
    assert letter["state"] == "pending_review" and letter["attempts"] == 1, "the same attempt, told late"

    server.push("jobs", 1, id="twice")
    late, = lease(server, lease_ms=50)
    waits(server, "twice", "pending_retry")
    again = lease_one(server, lease_ms=60000)
    assert again["id"] == "twice"
    problem(say(server, late, "ack"), 409, "leased again")
    problem(say(server, late, "fail", {"error_type": "KeyError"}), 409)
    assert say(server, again, "ack").status == 200


def test_a_late_answer_is_taken_even_when_its_message_is_dead(serve):
    server = serve({"jobs": {"handler": {"lease": {}, "reply": {"store": "1h"}}, "breaker": "off",
                             "retry": {"attempts": 1}}})
    server.push_many("jobs", [{"id": some_id, "body": 1} for some_id in ("acked", "failed", "settled")])
    acked, failed, settled = lease(server, max=3, lease_ms=50)
    letters = {some_id: waits(server, some_id, "pending_review") for some_id in ("acked", "failed", "settled")}
    assert all(letter["cause"] == "exhausted" for letter in letters.values())
    assert len(server.letters("jobs.dlq")) == 3  # and with that they are in the file
    server.kill()
    server.start()
    problem(say(server, acked, "extend", {"lease_ms": 1000}), 409)
    assert say(server, acked, "ack", {"result": 7}).status == 200
    letter = server.message("acked")
    assert (letter["state"], letter["resolution"]) == ("resolved", "by_hand")
    assert [(line["attempt"], line["verdict"]) for line in letter["history"]] == [(1, "retry"), (1, "ok")]
    assert letter["id"] == letters["acked"]["id"] and letter["dead_at"] == letters["acked"]["dead_at"]
    assert server.get("/v1/results/acked").json["body"] == 7
    problem(say(server, acked, "ack"), 409)

    assert say(server, failed, "fail", {"error_type": "ConnectionError"}).status == 200
    letter = server.message("failed")
    assert (letter["state"], letter["cause"], letter["attempts"]) == ("pending_review", "exhausted", 1)
    assert letter["failure"]["error_type"] == "ConnectionError" and len(letter["history"]) == 2

    server.post(f"/v1/letters/{letters['settled']['id']}/discard", {"why": "nobody wants it"})
    assert say(server, settled, "ack").status == 200
    assert server.message("settled")["state"] == "discarded", "what a person decided stands"
    assert server.dlq("jobs.dlq")["depth"] == 1


def test_leases_survive_a_kill_and_do_not_run_meanwhile(server):
    server.push_many("jobs", [{"id": some_id, "body": 1} for some_id in ("acked", "silent")])
    acked, silent = lease(server, max=2, lease_ms=600000)
    server.kill()
    clock = Clock(server.folder)
    clock.ahead(3600)  # longer than the lease
    server.under = clock.under
    server.start()
    assert server.queue("jobs")["in_flight"] == 2 and lease(server, max=10) == []
    assert say(server, acked, "ack").status == 200
    assert server.message("silent")["attempts"] == 0
    assert say(server, silent, "extend", {"lease_ms": 1}).status == 200  # and then silence
    assert waits(server, "silent", "pending_retry")["attempts"] == 1


def test_an_extension_keeps_the_lease_alive_also_through_a_kill(server):
    server.push_many("jobs", [{"id": some_id, "body": 1} for some_id in ("a", "b")])
    message, other = lease(server, max=2, lease_ms=8000)
    assert say(server, message, "extend", {"lease_ms": 600000}).status == 200
    server.kill()
    server.start()
    waits(server, other["id"], "pending_retry")  # its lease was as long as the first one of the other
    assert server.message(message["id"])["state"] == "running"
    assert say(server, message, "ack").status == 200


def test_a_lease_keeps_its_key_to_itself_also_through_a_kill(serve):
    server = serve({"jobs": {"handler": "lease", "idempotency": {"key": ".order", "dedupe": "1h"}}})
    server.push_many("jobs", [{"id": some_id, "body": {"order": 7}} for some_id in ("first", "second")])
    first, = lease(server, max=10, lease_ms=60000)
    assert first["id"] == "first"
    server.kill()
    server.start()
    assert lease(server, max=10) == []
    assert say(server, first, "ack").status == 200
    assert lease(server, max=10) == [], "the second is settled when its turn comes"
    server.drained("jobs")
    assert server.metric("impound_attempts_total", queue="jobs", result="duplicate") == 1


# ---- many of them ----

async def push_and_kill(server, storm, ids):
    """Everything is pushed, the server is killed twice at work, and everything is accounted for."""
    loop = asyncio.get_running_loop()
    for start in range(0, len(ids), 500):
        batch = [{"id": some_id, "body": {"n": 1}} for some_id in ids[start:start + 500]]
        await loop.run_in_executor(None, server.push_many, "jobs", batch)
    for share in (0.3, 0.6):
        while len(storm.done) < share * len(ids):
            await asyncio.sleep(0.01)
        await loop.run_in_executor(None, server.kill)
        await loop.run_in_executor(None, server.start)
    deadline = time.monotonic() + PATIENCE_S
    while (await loop.run_in_executor(None, server.queue, "jobs"))["depth"] > 0:
        assert time.monotonic() < deadline, f"never drained: {server.queue('jobs')}"
        await asyncio.sleep(0.1)


def test_a_thousand_workers_die_are_late_and_extend_through_two_kills(server):
    workers = scaled(1000, least=100)
    ids = [f"m{i}" for i in range(workers * 4)]
    storm = Storm(server, "jobs", workers, seed=22)
    asyncio.run(storm.run(push_and_kill(server, storm, ids)))
    assert not storm.breaches, (len(storm.breaches), storm.breaches[:5])
    dead = {letter["message"]["id"] for letter in server.letters("jobs.dlq")}
    assert set(ids) <= storm.done | storm.perhaps | dead, "every message is accounted for"
    assert not storm.done & dead, "nothing is both done and dead"
    assert set(storm.held) <= set(ids), "nothing is invented"
    for what in ("died", "late 200", "extend 200", "fail 200", "in time 200"):
        assert storm.counts[what] > 0, (what, storm.counts)


# ---- the example ----

def start_worker(server, lease_ms):
    return subprocess.Popen([sys.executable, os.path.join(EXAMPLE, "worker.py"), server.url, "texts", str(lease_ms)],
                            stderr=subprocess.PIPE, text=True)


def test_the_example_worker_works_extends_fails_and_stops_cleanly(serve):
    server = serve({"texts": {"handler": "lease", **AT_ONCE,
                              "classify": {"rules": [{"when": {"error_type": "KeyError", "message": "text"}, "do": "dlq",
                                                      "category": "validation", "reason": "no_text"}]}}})
    worker = start_worker(server, lease_ms=10000)  # which it extends a few times meanwhile
    try:
        server.push("texts", {"text": "slower than its lease", "seconds": 11}, id="slow")
        server.push("texts", {"words": 7}, id="bad")
        server.push_many("texts", [{"body": {"text": "to be or not to be"}} for _ in range(50)])
        eventually(lambda: server.queue("texts")["depth"] == 0, "all is done")
        assert server.metric("impound_leases_expired_total", queue="texts") == 0
        letter, = server.letters("texts.dlq")
        assert letter["reason"] == "no_text" and letter["message"]["id"] == "bad"
        assert "worker.py" in server.message("bad")["failure"]["stack_trace"]
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(timeout=PATIENCE_S) == 0, worker.stderr.read()
    finally:
        worker.kill()
        worker.wait()


def test_a_worker_that_dies_leaves_its_messages_to_the_next(serve):
    server = serve({"texts": {"handler": "lease", "breaker": "off", **AT_ONCE}})
    server.push_many("texts", [{"id": f"t{i}", "body": {"text": "a b", "seconds": 2}} for i in range(4)])
    first = start_worker(server, lease_ms=1000)
    try:
        eventually(lambda: server.queue("texts")["in_flight"] > 0, "it has some")
        first.kill()
    finally:
        first.wait()
    second = start_worker(server, lease_ms=60000)
    try:
        eventually(lambda: server.queue("texts")["depth"] == 0, "the next one does them all")
        assert server.letters("texts.dlq") == []
    finally:
        second.kill()
        second.wait()


def test_the_examples_configuration_is_one(tmp_path):
    done = impound("check", "-c", os.path.join(EXAMPLE, "impound.yaml"), cwd=tmp_path)
    assert done.returncode == 0 and "handler: lease" in done.stdout, done.stderr
    assert "\n\n" not in done.stdout
