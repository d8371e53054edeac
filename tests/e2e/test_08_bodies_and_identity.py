"""A body reaches its handler as the exact bytes that were pushed, and a message is who it says it is."""
import hashlib
import json
import os
import sys
import time
import urllib.parse

from harness import ROOT, base64_of, eventually, problem

# Slices of JSON that a parser and a printer in between would spoil.
BODIES = [
    "1.0", "1e2", "-0", "12345678901234567890", "0.1000000000000000055511151231257827",
    "null", "true", '""', '"a \\"quoted\\" text"', '"\\u00e9 is é, \\/ is /"',
    '{"b":1,"a":2}', '{"a":1,"a":2}', '{ "n" : 9007199254740993 ,\t"m":[ 1 , 2.50 ] }',
    '[\n  1,\r\n  2\n]', "[]", "{}", '{"deep":' + "[" * 100 + "]" * 100 + "}",
    '"\U0001f69a \u2028"',
]

KEEPER = """
import json, os, sys
names = ["IMPOUND_MESSAGE_ID", "IMPOUND_QUEUE", "IMPOUND_KEY", "IMPOUND_ATTEMPT", "IMPOUND_REPLAY"]
seen = {name: os.environ.get(name) for name in names}
seen["body"] = sys.stdin.buffer.read().hex()
with open(os.path.join(sys.argv[1], os.environ["IMPOUND_MESSAGE_ID"]), "w") as out:
    json.dump(seen, out)
"""


def push_text(server, queue, body, **more):
    """Pushes a slice of JSON as it stands."""
    rest = "".join(f', "{name}": {json.dumps(value)}' for name, value in more.items())
    answer = server.post(f"/v1/queues/{queue}/messages", f'{{"body": {body}{rest}}}')
    assert answer.status == 200, answer.body
    return answer.json["ids"][0]


def http_queue(url, **more):
    return {"orders": {"source": "builtin", "handler": {"http": url}, "breaker": "off", **more}}


def test_bodies_reach_an_http_handler_byte_for_byte(serve, handler):
    worker = handler()
    server = serve(http_queue(worker.url))
    for n, body in enumerate(BODIES):
        push_text(server, "orders", body, id=f"m-{n}")
    lines = [f'{{"id":"l-{n}","body":{body}}}' for n, body in enumerate(BODIES) if "\n" not in body]
    answer = server.post("/v1/queues/orders/messages", "\n".join(lines) + "\r\n\n",
                         {"Content-Type": "application/x-ndjson"})
    assert answer.status == 200
    server.drained("orders")
    got = {call.id: call for call in worker.calls}
    for n, body in enumerate(BODIES):
        for prefix in ("m", "l"):
            if f"{prefix}-{n}" in got:
                assert got[f"{prefix}-{n}"].body == body.encode(), body
    assert len(got) == len(BODIES) + len(lines)
    assert {call.headers["Content-Type"] for call in worker.calls} == {"application/json"}


def test_bodies_reach_an_exec_handler_byte_for_byte_with_who_they_are(serve, tmp_path):
    keeper, kept = tmp_path / "keeper.py", tmp_path / "kept"
    keeper.write_text(KEEPER)
    kept.mkdir()
    server = serve({"orders": {"source": "builtin", "concurrency": 4,
                               "handler": {"exec": [sys.executable, str(keeper), str(kept)]}}})
    bodies = BODIES + ['"' + "x" * 3_000_000 + '"']  # more than a pipe holds
    for n, body in enumerate(bodies):
        push_text(server, "orders", body, id=f"m-{n}", key=f"key {n}")
    server.drained("orders")
    for n, body in enumerate(bodies):
        seen = json.loads((kept / f"m-{n}").read_text())
        assert bytes.fromhex(seen.pop("body")) == body.encode()
        assert seen == {"IMPOUND_MESSAGE_ID": f"m-{n}", "IMPOUND_QUEUE": "orders",
                        "IMPOUND_KEY": f"key {n}", "IMPOUND_ATTEMPT": "1", "IMPOUND_REPLAY": "0"}


def test_the_content_hash_is_of_the_exact_bytes_and_the_body_is_shown_as_it_came(serve, handler):
    worker = handler(lambda call: 400)
    server = serve(http_queue(worker.url))
    for n, body in enumerate(BODIES):
        push_text(server, "orders", body, id=f"m-{n}")
    server.drained("orders")
    for n, body in enumerate(BODIES):
        raw = server.get(f"/v1/messages/m-{n}").body
        message = json.loads(raw)["message"]
        assert message["content_hash"] == "sha256:" + hashlib.sha256(body.encode()).hexdigest()
        assert message["size"] == len(body.encode())
        assert f'"body":{body}'.encode() in raw, "the body is a slice of the answer, not printed anew"


def test_raw_bytes_go_by_base64_with_their_content_type(serve, handler):
    data = bytes(range(256)) * 3
    worker = handler(lambda call: 400)
    server = serve(http_queue(worker.url))
    server.post("/v1/queues/orders/messages",
                {"id": "raw", "body_base64": base64_of(data), "content_type": "image/png"})
    server.post("/v1/queues/orders/messages", {"id": "plain", "body_base64": base64_of(data)})
    server.post("/v1/queues/orders/messages",
                {"id": "text", "body_base64": base64_of("Grüße\n".encode()), "content_type": "text/plain"})
    server.post("/v1/queues/orders/messages", {"id": "empty", "body_base64": ""})
    server.drained("orders")
    got = {call.id: call for call in worker.calls}
    assert got["raw"].body == data and got["raw"].headers["Content-Type"] == "image/png"
    assert got["plain"].body == data
    assert got["plain"].headers["Content-Type"] == "application/octet-stream"
    assert got["text"].body == "Grüße\n".encode() and got["empty"].body == b""
    shown = server.message("raw")["message"]
    assert shown["body_base64"] == base64_of(data) and "body" not in shown
    assert shown["content_type"] == "image/png"
    assert shown["content_hash"] == "sha256:" + hashlib.sha256(data).hexdigest()
    assert server.message("text")["message"]["body"] == "Grüße\n"


def test_a_json_string_is_sent_with_its_quotes(serve, handler):
    worker = handler()
    server = serve(http_queue(worker.url))
    server.push("orders", "say \"hi\"")
    server.drained("orders")
    assert worker.calls[0].body == b'"say \\"hi\\""'


def test_headers_and_the_key_travel_with_the_message(serve, handler):
    worker = handler(lambda call: 503 if call.attempt < 2 else 400)
    server = serve(http_queue(worker.url, handler={"http": worker.url, "headers": {"X-Fixed": "ours"}},
                              retry={"base": "10ms"}))
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    server.push("orders", {}, id="m-1", key="k1", headers={
        "correlation_id": "c 7", "traceparent": trace, "X-Fixed": "theirs",
        "Host": "evil.example", "Content-Length": "3", "Impound-Attempt": "99"})
    server.drained("orders")
    first, second = worker.calls
    assert first.headers["correlation_id"] == "c 7"
    assert first.headers.get_all("traceparent") == [trace]
    assert first.headers.get_all("X-Fixed") == ["ours"]
    assert first.headers["Host"] == f"127.0.0.1:{worker.port}"
    assert first.headers["Impound-Queue"] == "orders"
    assert first.headers.get_all("Impound-Attempt") == ["1"] and second.headers["Impound-Attempt"] == "2"
    assert first.headers["Impound-Replay"] == "0" and first.headers["Impound-Fallback"] is None
    assert second.headers["Impound-First-Attempt-At"].endswith("Z")
    with open(os.path.join(ROOT, "docs", "workers.md"), encoding="utf-8") as guide:
        told = guide.read()
    assert [name for name in second.headers if name.startswith("Impound-") and f"`{name}`" not in told] == []
    envelope = server.message("m-1")
    assert envelope["message"]["key"] == "k1"
    assert envelope["message"]["headers"]["correlation_id"] == "c 7"


def test_a_dead_message_is_found_by_its_own_id_and_by_its_letters(serve, handler):
    worker = handler(lambda call: 400)
    server = serve(http_queue(worker.url))
    server.push("orders", {"n": 1}, id="a/b ü")
    server.drained("orders")
    letter = server.message("a/b ü")
    assert letter["id"] != "a/b ü" and letter["id"][14] == "7", "a letter has a UUIDv7 of its own"
    assert server.message(letter["id"]) == letter
    assert server.get(f"/v1/letters/{letter['id']}").json == letter
    assert server.get("/v1/letters/" + urllib.parse.quote("a/b ü", safe="")).json == letter
    server.kill()
    server.start()
    assert server.message(letter["id"]) == letter == server.message("a/b ü")


def test_one_id_in_two_queues_is_a_conflict_that_lists_them(serve, handler):
    worker = handler(lambda call: 400)
    queue = {"source": "builtin", "handler": {"http": worker.url}}
    server = serve({"orders": queue, "refunds": queue})
    for name in ("orders", "refunds"):
        server.push(name, {"queue": name}, id="same")
        server.drained(name)
    problem(server.get("/v1/messages/same"), 409, "orders", "refunds")
    problem(server.get("/v1/letters/same"), 409, "orders", "refunds")
    for name in ("orders", "refunds"):
        envelope = server.message("same", queue=name)
        assert envelope["message"]["body"] == {"queue": name}
        assert server.message(envelope["id"])["message"]["queue"] == name


def test_a_delayed_message_waits_and_is_then_handed_over(serve, handler):
    worker = handler()
    server = serve(http_queue(worker.url))
    pushed = time.monotonic()
    server.push("orders", {}, id="now")
    server.push("orders", {}, id="in-ms", delay=700)
    server.push("orders", {}, id="soon", delay="1500ms")
    server.push("orders", {}, id="later", delay="1h")
    eventually(lambda: worker.count() == 3, "three are handed over")
    at = {call.id: call.at - pushed for call in worker.calls}
    assert set(at) == {"now", "in-ms", "soon"}
    assert at["soon"] >= 1.5 and at["in-ms"] >= 0.7
    held = server.message("later")
    assert held["state"] == "queued" and held["attempts"] == 0
    eventually(lambda: server.queue("orders")["depth"] == 1, "the three are settled")
    server.kill()
    server.start()
    assert server.message("later")["state"] == "queued"
    assert worker.count() == 3


def test_ids_come_back_in_the_order_of_the_request_and_are_uuids_in_order_when_not_given(serve, handler):
    worker = handler()
    server = serve(http_queue(worker.url, concurrency=1))
    ids = server.push_many("orders", [{"body": n, **({"id": f"mine-{n}"} if n % 3 == 0 else {})}
                                      for n in range(100)])
    assert [one for one in ids if one.startswith("mine")] == [f"mine-{n}" for n in range(0, 100, 3)]
    made = [one for one in ids if not one.startswith("mine")]
    assert len(set(ids)) == 100 and all(len(one) == 36 and one[14] == "7" for one in made)
    server.drained("orders")
    assert [int(call.body) for call in worker.calls] == list(range(100)), "first come, first served"
    assert worker.ids() == ids


def test_what_is_stored_is_readable_by_its_owner_alone(serve, handler):
    server = serve({"orders": {"handler": {"http": handler().url}}})
    server.push("orders", {"secret": 1})
    kept = [os.path.join(folder, name) for folder, _, names in os.walk(server.folder) for name in names
            if "impound.db" in os.path.join(folder, name)]
    assert kept
    for path in kept:
        assert os.stat(path).st_mode & 0o077 == 0, path


def test_a_handlers_header_may_name_the_messages_id_and_key(serve, handler):
    worker = handler(lambda call: 503 if call.attempt == 1 else 200)
    server = serve({"orders": {"source": "builtin", "breaker": "off", "retry": {"base": "10ms", "cap": "10ms"},
                               "handler": {"http": worker.url, "headers": {"Idempotency-Key": "pay-{id}", "X-Key": "{key}"}}}})
    server.push("orders", {}, id="o-1", key="k", headers={"Idempotency-Key": "own", "X-Key": "own"})
    server.push("orders", {}, id="o-2")
    server.drained("orders")
    sent = {(call.id, call.attempt): (call.headers["Idempotency-Key"], call.headers["X-Key"]) for call in worker.calls}
    assert sent == {("o-1", 1): ("pay-o-1", "k"), ("o-1", 2): ("pay-o-1", "k"),
                    ("o-2", 1): ("pay-o-2", None), ("o-2", 2): ("pay-o-2", None)}
