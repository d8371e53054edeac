"""Dead-letter records as teams write them by hand, each exactly as its guide shows it, taken from a Redis list. What a
record says stands in the letter, and what it says of its origin and its earlier failures is not lost."""
import json
from dataclasses import asdict, dataclass, field

import pytest

import adoption
from harness import PATIENCE_S, eventually

client = pytest.importorskip("redis")

ENVELOPE = """{
  "dlq_envelope": {
    "message_id": "msg-a1b2c3d4",
    "original_topic": "orders.placed",
    "original_queue": "order-processing",
    "original_partition": 3,
    "original_offset": 884201,
    "failure_reason": "ValidationError: field 'quantity' must be > 0",
    "failure_category": "VALIDATION",
    "stack_trace": "Traceback (most recent call last):\\n  File \\"consumer.py\\", line 42 ...",
    "retry_count": 3,
    "first_failure_at": "2025-11-10T08:15:22Z",
    "last_failure_at": "2025-11-10T08:17:44Z",
    "consumer_instance": "order-consumer-pod-7b4d9",
    "consumer_version": "2.4.1"
  },
  "original_headers": {
    "correlation_id": "corr-x9y8z7",
    "content_type": "application/json"
  },
  "original_body": {
    "order_id": "ORD-12345",
    "quantity": -1,
    "product_id": "SKU-999"
  }
}"""


@dataclass
class Message:
    id: str
    payload: dict
    attempts: int = 0
    history: list = field(default_factory=list)


@pytest.fixture(name="there")
def fixture_there(redis):
    there = client.Redis(port=redis.port, socket_timeout=PATIENCE_S)
    there.flushall()
    return there


def take(serve, redis, there, record):
    """The letter that is made of a record in the list orders-dlq."""
    there.lpush("orders-dlq", record)
    server = serve(adoption.QUEUES, adopt=adoption.entry(redis.url("list=orders-dlq"), "take"))
    eventually(lambda: adoption.view(server)["adopted"] == 1, "the record is taken")
    return server, adoption.whole(server)[0]


def test_an_envelope_that_names_a_topic_and_a_queue_keeps_both(serve, redis, there):
    server, letter = take(serve, redis, there, ENVELOPE)
    assert letter["source"] == {"kind": "redis", "list": "order-processing", "topic": "orders.placed", "partition": 3,
                                "offset": 884201}
    assert letter["message"]["queue"] == "order-processing"
    assert letter["message"]["id"] == "msg-a1b2c3d4"
    assert letter["message"]["body"] == {"order_id": "ORD-12345", "quantity": -1, "product_id": "SKU-999"}
    assert letter["message"]["headers"]["correlation_id"] == "corr-x9y8z7"
    assert (letter["category"], letter["attempts"]) == ("validation", 4)
    assert letter["failure"]["stack_trace"].startswith("Traceback")
    assert letter["first_failure_at"] == "2025-11-10T08:15:22.000Z"
    assert letter["last_failure_at"] == "2025-11-10T08:17:44.000Z"
    assert letter["consumer"] == {"instance": "order-consumer-pod-7b4d9", "version": "2.4.1"}
    server.cli("replay", "--dlq", adoption.DLQ, "--to", "origin", "--apply")
    assert [json.loads(one) for one in there.lrange("order-processing", 0, -1)] == [letter["message"]["body"]]


def test_a_records_own_history_is_the_letters_history(serve, redis, there):
    message = Message("o-2", {"trip": 2, "pin": "BAD"}, 2, [
        {"attempt": 1, "err": "TimeoutError", "msg": "downstream tax-svc 503", "class": "transient"},
        {"attempt": 2, "err": "KeyError", "msg": "'pin BAD not in tax table'", "class": "terminal"}])
    server, letter = take(serve, redis, there, json.dumps(asdict(message)))
    assert letter["message"]["body"] == {"trip": 2, "pin": "BAD"}
    assert (letter["attempts"], letter["failure"]["error_type"]) == (2, "KeyError")
    assert [(line["attempt"], line["verdict"], line["category"], line["error_type"], line["error_message"], line["at"])
            for line in letter["history"]] == [
                (1, "retry", "timeout", "TimeoutError", "downstream tax-svc 503", None),
                (2, "dlq", "bug", "KeyError", "'pin BAD not in tax table'", None)]
    explained = server.get(f"/v1/letters/{letter['id']}/explain").json
    assert [(step["attempt"], step["at"]) for step in explained["steps"]] == [(1, None), (2, None)]
    assert "tax-svc 503" in server.cli("show", letter["id"])


def test_tasks_that_are_resolved_or_discarded_there_are_not_run_again(serve, redis, there):
    def record(status, **more):
        return json.dumps({"task_id": status, "task_type": "summarise", "payload": {"n": 1}, "error_type": "TimeoutError",
                           "attempt_count": 1, "status": status, "created_at": "2026-11-01T00:00:00", **more})

    there.rpush("orders-dlq", record("pending_review"), record("resolved", resolved_at="2026-11-02T00:00:00"),
                record("discarded"), record("pending_retry"))
    server = serve(adoption.QUEUES, adopt=adoption.entry(redis.url("list=orders-dlq"), "take"),
                   dlqs={adoption.DLQ: {"retention": {"resolved": "3650d", "discarded": "3650d"}}})
    eventually(lambda: adoption.view(server)["adopted"] == 4, "all records are taken")
    eventually(lambda: len(server.letters(adoption.DLQ)) == 2, "two letters wait")
    assert {one["message"]["id"] for one in server.letters(adoption.DLQ)} == {"pending_review", "pending_retry"}
    resolved, = server.letters(adoption.DLQ, state="resolved")
    assert (resolved["message"]["id"], resolved["resolved_at"]) == ("resolved", "2026-11-02T00:00:00.000Z")
    assert [one["message"]["id"] for one in server.letters(adoption.DLQ, state="discarded")] == ["discarded"]
    assert server.dlq(adoption.DLQ)["depth"] == 2
    assert server.post("/v1/replays", {"filter": {"dlq": adoption.DLQ}, "to": "idle", "dry_run": True}).json["selected"] == 2
    assert server.message("pending_retry")["why"] == "its system had set it for a retry"
