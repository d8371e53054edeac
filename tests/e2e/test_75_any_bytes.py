"""Keys, headers and bodies that are not plain text, as brokers allow them: every kind of worker is told of them in a way
that loses nothing, and clients that parse JSON see repeated header names."""
import base64
import json
import sys

import pytest

import adoption
from harness import eventually

KEY, BINARY = b"k\xff\x00", b"\x00\x01\xfe"
RECORDS = [
    {"value": None, "key": b"gone", "headers": [("trace", b"1"), ("trace", b"2"), ("blob", BINARY)]},
    {"value": b'{"n": 1}', "key": KEY, "headers": [("note", b"two\nlines")]},
    {"value": b"", "key": b"empty"},
]
PAIRS = [["trace", "1"], ["trace", "2"], ["blob", {"base64": base64.b64encode(BINARY).decode()}]]
KEY_64 = base64.b64encode(KEY).decode()

STREAM = """
import json, sys
for line in sys.stdin:
    open(sys.argv[1], "a").write(line)
    print(json.dumps({"id": json.loads(line)["id"], "ok": True}), flush=True)
"""
EXEC = """
import json, os, sys
names = ("IMPOUND_KEY", "IMPOUND_TOMBSTONE", "IMPOUND_BASE64")
open(sys.argv[1], "a").write(json.dumps({name: os.environ.get(name) for name in names}) + chr(10))
"""


def source(kafka, name):
    topic = kafka.make_topic(name)
    kafka.produce(topic, RECORDS)
    return kafka.url(topic, group=topic)


def check_items(items):
    """Messages as workers get them as JSON: a lease, a line of a stream, an item of a batch."""
    gone, binary, empty = items
    assert gone["tombstone"] is True and gone["key"] == "gone"
    assert gone["header_pairs"] == PAIRS
    assert gone["headers"] == {"trace": "2", "blob": PAIRS[2][1]}
    assert binary["key"] == {"base64": KEY_64} and binary["body"] == {"n": 1}
    assert "tombstone" not in binary and "header_pairs" not in binary
    assert empty["key"] == "empty" and "tombstone" not in empty


def test_an_http_handler_is_told_key_tombstone_and_binary_headers(serve, handler, kafka):
    worker = handler()
    serve({"q": {"source": source(kafka, "any-http"), "handler": {"http": worker.url}, "concurrency": 1}})
    eventually(lambda: len(worker.ends) == 3, "all records are handled")
    gone, binary, empty = (call.headers for call in worker.calls)
    assert (gone["Impound-Key"], gone["Impound-Tombstone"], gone["Impound-Base64"]) == ("gone", "true", "blob")
    assert gone.get_all("trace") == ["1", "2"] and base64.b64decode(gone["blob"]) == BINARY
    assert base64.b64decode(binary["Impound-Key"]) == KEY
    assert base64.b64decode(binary["note"]) == b"two\nlines"
    assert binary["Impound-Base64"] == "Impound-Key, note" and binary["Impound-Tombstone"] is None
    assert empty["Impound-Key"] == "empty" and empty["Impound-Tombstone"] is None and empty["Impound-Base64"] is None


def test_a_lease_is_told_the_same(serve, kafka):
    server = serve({"q": {"source": source(kafka, "any-lease"), "handler": "lease"}})
    got = []

    def lease():
        got.extend(server.post("/v1/queues/q/lease", {"max": 3, "wait_ms": 1000}).json["messages"])
        return len(got) == 3
    eventually(lease, "all records are leased")
    check_items(sorted(got, key=lambda one: one["id"]))


@pytest.mark.parametrize("batch", [False, True])
def test_a_stream_worker_and_a_batch_are_told_the_same(serve, handler, kafka, tmp_path, batch):
    lines = tmp_path / "lines"
    worker = handler()
    how = {"http": worker.url, "batch": 3} if batch else {"exec": [sys.executable, "-c", STREAM, str(lines)],
                                                          "mode": "stream"}
    server = serve({"q": {"source": source(kafka, f"any-stream-{batch}"), "handler": how, "concurrency": 1 + 2 * batch}})
    eventually(lambda: server.metric("impound_attempts_total", queue="q", result="ok") == 3, "all records are handled")
    if batch:
        check_items(sorted((one for call in worker.calls for one in json.loads(call.body)), key=lambda one: one["id"]))
    else:
        check_items([json.loads(line) for line in lines.read_text().splitlines()])


def test_an_exec_process_is_told_the_same(serve, kafka, tmp_path):
    lines = tmp_path / "lines"
    server = serve({"q": {"source": source(kafka, "any-exec"), "concurrency": 1,
                          "handler": {"exec": [sys.executable, "-c", EXEC, str(lines)]}}})
    eventually(lambda: server.metric("impound_attempts_total", queue="q", result="ok") == 3, "all records are handled")
    assert [json.loads(line) for line in lines.read_text().splitlines()] == [
        {"IMPOUND_KEY": "gone", "IMPOUND_TOMBSTONE": "true", "IMPOUND_BASE64": None},
        {"IMPOUND_KEY": KEY_64, "IMPOUND_TOMBSTONE": None, "IMPOUND_BASE64": "IMPOUND_KEY"},
        {"IMPOUND_KEY": "empty", "IMPOUND_TOMBSTONE": None, "IMPOUND_BASE64": None}]


def test_repeated_headers_are_shown_searched_exported_and_imported(serve, handler, kafka):
    worker = handler(lambda call: 400)
    server = serve({"q": {"source": source(kafka, "any-letters"), "handler": {"http": worker.url}}})
    eventually(lambda: server.dlq("q.dlq")["depth"] == 3, "all are dead")
    listed = server.letters("q.dlq", where='.message.header_pairs != null')
    assert [one["message"]["header_pairs"] for one in listed] == [PAIRS], "in a list's row, and for jq"
    letter = server.get(f"/v1/letters/{listed[0]['id']}").json
    assert letter["message"]["header_pairs"] == PAIRS
    exported = server.post("/v1/exports", {"ids": [letter["id"]]}).body
    other = serve({"q": {"handler": "lease"}})
    answer = other.post("/v1/imports", exported, {"Content-Type": "application/x-ndjson"})
    assert answer.json["imported"] == 1, answer.body
    assert other.get(f"/v1/letters/{letter['id']}").json["message"] == letter["message"]


@pytest.mark.parametrize("content_type", ["application/cloudevents+json", "text/json", "Application/Problem+JSON; charset=utf-8"])
def test_every_json_type_is_json_to_where(serve, content_type):
    server = serve({"q": {"handler": {"exec": ["/bin/sh", "-c", "exit 65"]}}})
    for total in (40, 7):
        server.push("q", {"total": total, "exact": 12345678901234567890}, content_type=content_type)
    eventually(lambda: server.dlq("q.dlq")["depth"] == 2, "both are dead")
    found = json.loads(server.cli("ls", "q.dlq", "--where", ".message.body.total > 10", "--json"))["letters"]
    assert len(found) == 1
    letter = server.get(f"/v1/letters/{found[0]['id']}")
    assert letter.json["message"]["body"] == {"total": 40, "exact": 12345678901234567890}
    assert b"12345678901234567890" in letter.body, "never written anew"


def test_the_id_that_a_message_had_at_its_source_is_not_sent_to_its_origin(serve, rabbit):
    pika = pytest.importorskip("pika")
    with rabbit.channel() as channel:
        channel.queue_declare("jobs75", durable=True, arguments={
            "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "jobs75-dead"})
        channel.queue_declare("jobs75-dead", durable=True)
        for body in (b'{"n": 1}', b'{"n": 2}'):
            channel.basic_publish("", "jobs75", body, pika.BasicProperties(delivery_mode=2, message_id="same"))
        for _ in range(2):
            method, _, _ = channel.basic_get("jobs75")
            channel.basic_reject(method.delivery_tag, requeue=False)
    rabbit.sync()
    server = serve(adoption.QUEUES, adopt=adoption.entry(rabbit.url("queue=jobs75-dead"), "take"))
    eventually(lambda: adoption.view(server)["adopted"] == 2, "both are taken")
    assert [one["message"]["headers"].get("Impound-Source-Id") for one in adoption.whole(server)] == [None, "same"]
    server.cli("replay", "--dlq", adoption.DLQ, "--to", "origin", "--apply")
    with rabbit.channel() as channel:
        sent = [channel.basic_get("jobs75", auto_ack=True) for _ in range(2)]
    assert sorted(body for _, _, body in sent) == [b'{"n": 1}', b'{"n": 2}']
    for _, properties, _ in sent:
        assert "Impound-Letter" in properties.headers and "Impound-Source-Id" not in properties.headers
