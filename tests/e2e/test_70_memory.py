"""Memory: bodies in flight are bounded by one limit, whatever waits and whatever is asked for."""
import json
import os
import socket
import subprocess
import threading

import pytest

from harness import IMPOUND, Server, eventually, problem, scaled

MIB = 1 << 20
BODY = "x" * (4 * MIB - 64)  # as JSON, with its envelope in the push, below max_body
LIMIT = {"server": {"body_memory": "32MiB", "max_body": "4MiB"}}
# What a server needs beside: the store's own caches (64 MiB), a group on its way to the journal, one body read twice,
# an answer of 16 MiB; under a sanitizer also what was freed a moment ago. All waiting bodies are four times as much.
BESIDE_MIB = 400
SMALL = 900 << 10


def peak_mib(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) // 1024


def lease(server, **asked):
    answer = server.post("/v1/queues/jobs/lease", {"lease_ms": 3_600_000, **asked})
    assert answer.status == 200, answer.body[:500]
    return answer.json["messages"]


def push_large(server, queue, count):
    for number in range(count):
        server.push(queue, BODY, id=f"m{number}")


@pytest.fixture(name="count")
def fixture_count():
    return scaled(600, 150)


def test_a_lease_of_everything_that_waits_stays_within_its_limit(serve, count):
    server = serve({"jobs": {"handler": "lease", "retry": {"attempts": 1}}}, **LIMIT)
    push_large(server, "jobs", count)
    server.stop()
    server.start()
    idle = peak_mib(server)
    first = lease(server, max=1000)
    assert 1 <= len(first) <= 5  # 16 MiB, and one more
    leased = list(first)
    while len(leased) < count:
        leased += lease(server, max=1000, wait_ms=10_000)
    assert {message["id"] for message in leased} == {f"m{number}" for number in range(count)}
    assert all(message["body"] == BODY for message in leased)
    assert peak_mib(server) - idle < BESIDE_MIB
    # All of them are in workers' hands now; a life later as well, and none of their bodies is in memory.
    server.kill()
    server.start()
    assert server.queue("jobs")["in_flight"] == count
    assert peak_mib(server) - idle < BESIDE_MIB
    assert server.metric("impound_body_memory_bytes", side="messages") == 0
    assert server.metric("impound_body_memory_limit_bytes") == 32 * MIB
    answer = server.post("/v1/leases", {"ack": [one["lease"] for one in leased[1:]],
                                        "fail": [{"lease": leased[0]["lease"], "error_type": "KeyError"}]})
    assert [one.get("ok") for one in answer.json["results"]] == [True] * count, answer.body
    letter = server.message(leased[0]["id"])
    assert letter["state"] == "pending_review" and letter["message"]["body"] == BODY
    assert peak_mib(server) - idle < BESIDE_MIB


def test_many_messages_are_buried_within_the_limit(serve, count):
    server = serve({"jobs": {"handler": "lease", "dlq": {"cap": 1000}}}, **LIMIT)
    push_large(server, "jobs", count)
    server.stop()
    server.start()
    idle = peak_mib(server)
    buried = server.post("/v1/messages/bury", {"filter": {"queue": "jobs"}, "why": "wrong customer"})
    assert buried.status == 200 and buried.json["count"] == count, buried.body
    assert server.dlq("jobs.dlq")["depth"] == count
    assert peak_mib(server) - idle < BESIDE_MIB


def test_queues_take_turns_and_a_stuck_one_does_not_stop_the_others(serve, handler):
    """Two messages fill the limit. They are held by their handler until the other queue is done."""
    release = threading.Event()

    def slow(_request):
        release.wait()
        return 200
    stuck, quick = handler(slow), handler(lambda _request: 200)
    server = serve({"stuck": {"handler": {"http": stuck.url, "timeout": "10m"}, "concurrency": 8},
                    "quick": {"handler": {"http": quick.url}, "concurrency": 8}},
                   server={"body_memory": "4MiB", "max_body": "4MiB"})
    push_large(server, "stuck", 6)
    eventually(lambda: server.metric("impound_body_memory_bytes", side="messages") > 2 * MIB, "the limit is used up")
    push_large(server, "quick", 6)
    server.drained("quick")
    assert server.queue("stuck")["in_flight"] < 6  # the others wait for memory, not for a slot
    release.set()
    server.drained("stuck")
    assert len(stuck.calls) == 6 and len(quick.calls) == 6


def test_requests_beyond_the_limit_are_refused_for_now(serve):
    """Half of a body is received and held; the next large request is told to come again, a small one is served."""
    server = serve({"jobs": {"handler": "lease"}}, server={"body_memory": "4MiB", "max_body": "4MiB"})
    text = json.dumps({"body": "x" * (3 * MIB)}).encode()
    head = (f"POST /v1/queues/jobs/messages HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n").encode()
    with socket.create_connection(("127.0.0.1", server.port)) as first:
        first.sendall(head + text[:-1])
        eventually(lambda: server.metric("impound_body_memory_bytes", side="requests") > 2 * MIB, "it is received")
        refused = server.post("/v1/queues/jobs/messages", text)
        problem(refused, 503, "server.body_memory")
        assert int(refused.headers["Retry-After"]) >= 1
        first.sendall(text[-1:])
        assert b" 200 " in first.recv(100)
    eventually(lambda: server.metric("impound_body_memory_bytes", side="requests") == 0, "it is answered")
    assert server.post("/v1/queues/jobs/messages", text).status == 200


def status_mib(server, name):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return int(next(line for line in status if line.startswith(name)).split()[1]) // 1024


def limit_address_space(server, more_mib):
    size = "unlimited" if more_mib is None else (status_mib(server, "VmSize") + more_mib) * MIB
    subprocess.run(["prlimit", "--pid", str(server.process.pid), f"--as={size}:"], check=True)


def skip_with_sanitizer():
    with open(IMPOUND, "rb") as binary:
        if b"__asan_init" in binary.read():
            pytest.skip("the sanitizer needs more address space than can be limited")


def half_a_push(server, size):
    """A connection that has sent all of a push but its last byte."""
    text = json.dumps({"body": "x" * size}).encode()
    there = socket.create_connection(("127.0.0.1", server.port))
    there.sendall((f"POST /v1/queues/jobs/messages HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                   f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n").encode())
    try:
        there.sendall(text[:-1])
    except OSError:
        pass  # it was refused half-way
    return there


def is_refused(there):
    try:
        return b" 503 " in there.recv(100, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except OSError:
        return False


def test_a_system_without_memory_fails_large_requests_and_nothing_else(serve):
    skip_with_sanitizer()
    server = serve({"jobs": {"handler": "lease"}}, server={"body_memory": "1GiB", "max_body": "128MiB"})
    server.push("jobs", {"n": 0})
    limit_address_space(server, 64)
    problem(server.post("/v1/queues/jobs/messages", {"body": "x" * (100 * MIB)}), 503, "memory")
    held = [half_a_push(server, 5 * MIB) for _ in range(24)]
    for number in range(300):
        assert server.post("/v1/queues/jobs/messages", {"body": "x" * 1000}).status in (200, 503), number
    assert server.get("/readyz").status == 200
    for one in held:
        one.close()
    eventually(lambda: server.metric("impound_body_memory_bytes", side="requests") == 0, "they are given up")
    server.push("jobs", {"n": 1})
    limit_address_space(server, None)
    server.push("jobs", "x" * (100 * MIB))
    server.kill()
    server.start()
    assert server.queue("jobs")["depth"] >= 3


def test_without_memory_for_small_things_the_reserve_is_used_and_pushes_are_refused(serve):
    """Buffers of this size are not large: without the reserve the first that fails would end the server."""
    skip_with_sanitizer()
    server = serve({"jobs": {"handler": "lease"}}, server={"body_memory": "1GiB"})
    server.push("jobs", {"n": 0})
    limit_address_space(server, 8)
    held = [half_a_push(server, SMALL) for _ in range(400)]
    eventually(lambda: any(is_refused(one) for one in held), "some are refused")
    assert "out of memory: large requests are refused" in server.log()
    assert server.process.poll() is None
    limit_address_space(server, None)
    for one in held:
        one.close()
    eventually(lambda: server.metric("impound_body_memory_bytes", side="requests") == 0, "they are given up")
    server.push("jobs", {"n": 1})
    assert server.queue("jobs")["depth"] == 2


def test_a_request_that_memory_does_not_suffice_for_is_503(tmp_path):
    """The sanitizer's allocator refuses everything above 3 MiB: neither a push nor an answer of that size aborts."""
    server = Server(tmp_path, {"jobs": {"handler": "lease"}}, **LIMIT)
    options = f"{os.environ.get('ASAN_OPTIONS', '')}:allocator_may_return_null=1:max_allocation_size_mb=3"
    server.under = ("env", f"ASAN_OPTIONS={options}")
    server.start()
    try:
        refused = server.post("/v1/queues/jobs/messages", {"body": BODY})
        if refused.status == 200:
            pytest.skip("not a build with the sanitizer")
        problem(refused, 503, "memory")
        for number in range(8):
            server.push("jobs", "x" * (MIB // 2), id=f"m{number}")
        problem(server.post("/v1/queues/jobs/lease", {"max": 8, "lease_ms": 1}), 503, "memory")
        seen = set()
        while len(seen) < 8:  # the leases that nobody got run out
            for message in lease(server, max=1, wait_ms=10_000):
                assert server.post(f"/v1/leases/{message['lease']}/ack").status == 200
                seen.add(message["id"])
        assert server.get("/readyz").status == 200
    finally:
        server.stop()
