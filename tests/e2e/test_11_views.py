"""What people and programs see: lists with every filter, pages, explanations, statistics, events, metrics,
and the store file itself, which all say the same."""
import codecs
import json
import re
import socket
import os
import sqlite3
import subprocess
import threading
import time
import urllib.parse

import pytest

from harness import PATIENCE_S, Handler, Server, eventually, problem
from watchers import tool

# id → (status, error_type, error_message)
FAILURES = {
    "bad-1": (400, "BadPin", "PIN 560001-X is not in the tax table"),
    "bad-2": (400, "BadPin", "PIN 110099-X is not in the tax table"),
    "bad-3": (422, "BadQuantity", "quantity must be positive"),
    "gone-1": (404, "NoSuchOrder", "order 77 does not exist"),
    "bug-1": (500, "KeyError", "'pin'"),
    "busy-1": (503, "Overloaded", "come back later"),
    "busy-2": (429, "Overloaded", "slow down"),
    "unwanted-1": (418, "Teapot", "short and stout"),
    "odd-1": (499, "Strange", "nobody knows: αβγ 100% \"quoted\""),
}
QUEUE_KEYS = {"queue", "state", "why", "depth", "in_flight", "pending_retry", "breaker", "budget", "lag",
              "rates"}
DLQ_KEYS = {"dlq", "depth", "cap", "spilled", "arrivals_per_minute", "oldest_age_seconds", "by_category",
            "by_reason", "age_histogram", "owner"}
# DESIGN §8, without what belongs to replays.
METRICS = ["impound_queue_depth", "impound_queue_lag", "impound_attempts_total", "impound_retries_total",
           "impound_retry_budget_remaining_ratio", "impound_breaker_state", "impound_handler_seconds",
           "impound_dlq_depth", "impound_dlq_letters_total", "impound_dlq_oldest_age_seconds",
           "impound_dlq_cap_ratio", "impound_triage_total", "impound_store_commit_seconds", "impound_build_info"]


def failing(call):
    if call.id not in FAILURES:
        return 200
    status, kind, message = FAILURES[call.id]
    return (status, {"Content-Type": "application/json"},
            json.dumps({"error": {"type": kind, "message": message}}).encode())


def queue(url, **more):
    return {"source": "builtin", "handler": {"http": url}, "breaker": "off",
            "retry": {"attempts": 3, "base": "10ms", "cap": "20ms", "budget_floor": "100/s"}, **more}


@pytest.fixture(scope="module")
def lot(tmp_path_factory):
    """A server whose DLQs hold one letter of each kind; nobody changes it."""
    worker = Handler(failing)
    rules = [{"when": {"status": 418}, "do": "discard", "category": "test", "reason": "unwanted"}]
    server = Server(tmp_path_factory.mktemp("lot"), {
        "orders": queue(worker.url, classify={"rules": rules},
                        dlq={"owner": "team-orders", "route": {"not_found": "orders.dlq.gone"}}),
        "idle": queue(worker.url)}, server={"jq_timeout": "30s"}).start()
    server.before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 1))
    for n, one in enumerate(FAILURES):
        server.push("orders", {"n": n, "id": one}, id=one, key=f"key-{n % 3}")
    server.drained("orders")
    server.push("orders", {}, id="waiting", delay="1h")
    server.fresh = server.queue("orders"), server.dlq("orders.dlq")  # while its rates are of this minute
    server.letters("orders.dlq")  # from here on nothing changes, and no list is behind
    yield server
    server.stop()
    worker.close()


def found(server, **filters):
    """Ids of the letters that match, asserting that the list says nothing of being behind."""
    page = server.get("/v1/letters", limit=1000, **filters)
    assert page.status == 200, page.body
    assert set(page.json) == {"letters", "cursor"} and page.json["cursor"] is None
    return {letter["message"]["id"] for letter in page.json["letters"]}


UNRESOLVED = set(FAILURES) - {"unwanted-1"}


def test_letters_are_filtered_by_every_word(lot):
    bad_pin = lot.message("bad-1")["failure"]["fingerprint"]
    key_0 = {one for n, one in enumerate(FAILURES) if n % 3 == 0} & UNRESOLVED
    for filters, expected in (
            ({}, UNRESOLVED),
            ({"state": "pending_review"}, UNRESOLVED),
            ({"state": "discarded"}, {"unwanted-1"}),
            ({"state": "discarded,pending_review"}, set(FAILURES)),
            ({"queue": "orders"}, UNRESOLVED), ({"queue": "idle"}, set()),
            ({"dlq": "orders.dlq.gone"}, {"gone-1"}),
            ({"category": "validation"}, {"bad-1", "bad-2", "bad-3"}),
            ({"category": "valid"}, set()),
            ({"reason": "bad_request"}, {"bad-1", "bad-2", "bad-3"}),
            ({"reason": "max_attempts:"}, {"busy-1", "busy-2"}),
            ({"reason": "max_attempts:rate_limit"}, {"busy-2"}),
            ({"reason": "%"}, set()), ({"reason": "max_attempts_"}, set()),
            ({"cause": "exhausted"}, {"busy-1", "busy-2"}),
            ({"cause": "unclassified"}, {"odd-1"}),
            ({"error_type": "Overloaded"}, {"busy-1", "busy-2"}),
            ({"fingerprint": bad_pin}, {"bad-1", "bad-2"}),
            ({"since": "1h"}, UNRESOLVED), ({"until": "1h"}, set()),
            ({"since": lot.before}, UNRESOLVED), ({"until": lot.before}, set()),
            ({"min_attempts": 2}, {"busy-1", "busy-2"}), ({"min_attempts": 4}, set()),
            ({"key": "key-0"}, key_0), ({"key": "key"}, set()),
            ({"q": "tax table"}, {"bad-1", "bad-2"}), ({"q": "αβγ"}, {"odd-1"}),
            ({"q": "POSITIVE quantity"}, {"bad-3"}), ({"q": '"quoted" 100%'}, {"odd-1"}),
            ({"where": ".message.body.n >= 6"}, {"busy-2", "odd-1"}),
            ({"where": '.failure.status == 400 and .message.key == "key-1"'}, {"bad-2"}),
            ({"escalated": "true"}, set()), ({"escalated": "false"}, UNRESOLVED),
            ({"category": "validation", "key": "key-0", "since": "1h", "min_attempts": 1}, {"bad-1"})):
        assert found(lot, **filters) == expected, filters


def test_a_full_text_search_takes_any_text(lot):
    for text in ("AND", "a OR (", "NEAR(", "x*", "'; DROP TABLE messages; --", "100%", "col:x", "-x", '"half'):
        assert lot.get("/v1/letters", q=text).status == 200, text
    for text in ('"', "*", "- ("):
        problem(lot.get("/v1/letters", q=text), 400, "no word")


def test_a_where_that_fails_on_some_skips_them_and_says_so(lot):
    page = lot.get("/v1/letters", where='if .message.id == "bad-1" then error("no") else true end').json
    assert {letter["message"]["id"] for letter in page["letters"]} == UNRESOLVED - {"bad-1"}
    assert page["skipped"] == 1 and "no" in page["skipped_why"]


def test_a_where_that_never_ends_is_stopped(serve, handler):
    server = serve({"orders": queue(handler(lambda call: 400).url)}, server={"jq_timeout": "500ms"})
    server.push("orders", {}, id="m")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 1, "a letter")
    page = server.page("/v1/letters", where="def f: f; f")
    assert page["letters"] == [] and page["skipped"] == 1
    assert server.get("/healthz").status == 200


def test_a_row_is_the_envelope_without_body_trace_and_history(lot):
    rows = {letter["message"]["id"]: letter for letter in lot.letters("orders.dlq")}
    assert set(rows) == UNRESOLVED - {"gone-1"}
    for one, row in rows.items():
        whole = lot.message(one)
        assert "history" in whole and "body" in whole["message"]
        assert "history" not in row and "body" not in row["message"] and "stack_trace" not in row["failure"]
        whole.pop("history"), whole["message"].pop("body"), whole["failure"].pop("stack_trace")
        assert row == whole


def test_the_newest_comes_first(lot):
    dead = [letter["dead_at"] for letter in lot.get("/v1/letters").json["letters"]]
    assert dead == sorted(dead, reverse=True)


def test_messages_are_listed_in_any_state(lot):
    def ids(**filters):
        return {row["message"]["id"] for row in lot.get("/v1/messages", **filters).json["messages"]}

    assert ids() == {*FAILURES, "waiting"}
    assert ids(queue="orders", state="queued") == {"waiting"}
    assert ids(state="discarded") == {"unwanted-1"}
    assert ids(queue="idle") == set()


def test_what_has_not_failed_yet_shows_the_limit_of_its_policy(lot):
    rows = lot.get("/v1/messages", queue="orders", state="queued").json["messages"]
    assert [(row["attempts"], row["max_attempts"]) for row in rows] == [(0, 3)]
    assert lot.message("waiting")["max_attempts"] == 3


def test_the_envelope_has_every_member_of_the_contract(lot):
    letter = lot.message("busy-1")
    assert set(letter) >= {
        "id", "dlq", "state", "cause", "category", "reason", "message", "source", "failure", "attempts",
        "max_attempts", "crashes", "replays", "history", "created_at", "first_failure_at", "last_failure_at",
        "dead_at", "resolved_at", "resolution", "consumer", "task", "context", "owner", "rule"}
    assert set(letter["message"]) == {"id", "queue", "key", "headers", "content_type", "body", "content_hash",
                                      "size"}
    assert set(letter["failure"]) >= {"kind", "status", "error_type", "error_message", "stack_trace",
                                      "fingerprint", "retry_after_ms"}
    assert len(letter["history"]) == 3
    for line in letter["history"]:
        assert set(line) >= {"attempt", "at", "duration_ms", "verdict", "category", "error_type",
                             "error_message", "delay_ms"}
    time_form = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
    for name in ("created_at", "first_failure_at", "last_failure_at", "dead_at"):
        assert time_form.fullmatch(letter[name])
    assert letter["created_at"] <= letter["first_failure_at"] <= letter["last_failure_at"] <= letter["dead_at"]
    assert letter["resolved_at"] is None and letter["resolution"] is None
    assert letter["owner"] == "team-orders"
    assert set(letter["consumer"]) == {"instance", "version"} and letter["consumer"]["instance"]
    assert letter["rule"].startswith("preset:http")


def test_pages_cover_everything_once_while_new_letters_arrive(serve, handler):
    worker = handler(lambda call: 400)
    server = serve({"orders": queue(worker.url)})
    first = server.push_many("orders", [{"id": f"old-{n}", "body": n} for n in range(500)])
    server.drained("orders")
    assert len(server.letters("orders.dlq")) == len(first)  # and with that they are in the file
    going = threading.Event()
    going.set()

    def arrive():
        n = 0
        while going.is_set():
            server.push("orders", n, id=f"new-{n}")
            n += 1

    arrivals = threading.Thread(target=arrive)
    arrivals.start()
    try:
        eventually(lambda: server.message("new-5"), "they arrive")
        seen, cursor = [], None
        while True:
            page = server.get("/v1/letters", limit=37, **({"cursor": cursor} if cursor else {})).json
            assert len(page["letters"]) <= 37
            seen += [letter["message"]["id"] for letter in page["letters"]]
            cursor = page["cursor"]
            if not cursor:
                break
    finally:
        going.clear()
        arrivals.join()
    assert len(seen) == len(set(seen)), "none twice"
    assert set(first) <= set(seen), "none left out"


def schema_of(server, name):
    return set(server.get("/openapi.json").json["components"]["schemas"][name]["properties"])


def test_the_view_of_a_queue(lot):
    view, _ = lot.fresh
    assert set(view) >= QUEUE_KEYS
    assert set(view) == schema_of(lot, "Queue"), "the description names what is shown, and nothing else"
    assert (view["queue"], view["state"], view["why"]) == ("orders", "running", None)
    assert (view["depth"], view["in_flight"], view["pending_retry"]) == (1, 0, 0)
    assert view["breaker"] == {"state": "closed", "until": None}
    assert 0 <= view["budget"]["remaining_ratio"] <= 1
    assert view["rates"]["failed_per_minute"] >= len(FAILURES)
    everyone = lot.get("/v1/queues").json
    assert [one["queue"] for one in everyone["queues"]] == ["orders", "idle"]


def test_the_view_of_a_dlq(lot):
    _, view = lot.fresh
    assert set(view) >= DLQ_KEYS
    assert set(view) == schema_of(lot, "Dlq"), "the description names what is shown, and nothing else"
    inside = UNRESOLVED - {"gone-1"}
    assert view["depth"] == view["arrivals_per_minute"] == len(inside)
    discarded = len(FAILURES) - len(UNRESOLVED)
    assert view["by_state"] == {"pending_review": len(inside), "replaying": 0, "resolved": 0, "discarded": discarded}
    assert view["by_category"] == {"validation": 3, "unknown": 2, "transient": 1, "rate_limit": 1}
    assert view["by_reason"] == {"bad_request": 3, "upstream_5xx": 1, "max_attempts:upstream_busy": 1,
                                 "max_attempts:rate_limit": 1, "unclassified:Strange": 1}
    assert sum(view["age_histogram"].values()) == len(inside)
    assert 0 <= view["oldest_age_seconds"] < 3600
    assert (view["cap"], view["spilled"], view["owner"]) == (100000, 0, "team-orders")
    empty = lot.dlq("idle.dlq")
    assert (empty["depth"], empty["oldest_age_seconds"], empty["by_reason"]) == (0, None, {})
    names = [one["dlq"] for one in lot.get("/v1/dlqs").json["dlqs"]]
    assert sorted(names) == ["idle.dlq", "orders.dlq", "orders.dlq.gone"]


def test_an_explanation_names_the_rule_the_delays_and_the_limits(lot):
    letter = lot.message("busy-1")
    said = lot.get(f"/v1/letters/{letter['id']}/explain").json
    assert said["id"] == letter["id"] and said["state"] == "pending_review"
    assert said["rule"]["name"] == letter["rule"] and said["rule"]["verdict"] == "retry"
    assert said["limits"]["attempts"] == said["limits"]["max_attempts"] == 3
    assert [step["attempt"] for step in said["steps"]] == [1, 2, 3]
    assert "upstream_busy" in said["summary"] and "come back later" in said["summary"]
    assert lot.get("/v1/letters/waiting/explain").json["state"] == "queued"
    unknown = lot.get("/v1/letters/odd-1/explain").json
    assert "No rule matches" in unknown["summary"]


def test_statistics_add_up(lot):
    stats = lot.get("/v1/stats", window="1m").json
    assert stats["window"] == "1m" and lot.get("/v1/stats", window="5m").json["window"] == "5m"
    orders = next(one for one in stats["queues"] if one["queue"] == "orders")
    retried = 2 * 2  # busy-1 and busy-2, three attempts each
    assert orders["attempts"]["dlq"] == len(UNRESOLVED) and orders["attempts"]["retry"] == retried
    assert orders["attempts"]["discard"] == 1 and orders["retries"] == retried
    assert stats["totals"]["dlq_depth"] == len(UNRESOLVED) == sum(one["depth"] for one in stats["dlqs"])
    assert stats["totals"]["depth"] == 1


class Listener:
    """Reads /v1/events; `until(type)` waits for an event of that type and returns its data."""

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)
        self.socket.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.text = ""
        self.decode = codecs.getincrementaldecoder("utf-8")().decode  # a read may end within a character
        while ": listening" not in self.text:
            self.read()
        assert "text/event-stream" in self.text

    def read(self):
        chunk = self.socket.recv(65536)
        assert chunk, "the stream ended"
        self.text += self.decode(chunk)

    def until(self, kind):
        pattern = re.compile(rf"event: {kind}\ndata: (.*)\n\n")
        while not (match := pattern.search(self.text)):
            self.read()
        self.text = self.text[match.end():]
        return json.loads(match.group(1))


def test_events_tell_of_a_letter_a_pause_and_a_breaker(serve, handler):
    worker = handler(lambda call: 400 if call.id == "bad" else 503)
    orders = queue(worker.url)
    orders["breaker"] = {"consecutive": 5}
    server = serve({"orders": orders})
    listener = Listener(server)
    gone = Listener(server)
    gone.socket.close()
    server.push("orders", {}, id="bad")
    event = listener.until("letter")
    assert (event["queue"], event["dlq"], event["message_id"], event["reason"]) == (
        "orders", "orders.dlq", "bad", "bad_request")
    assert server.message(event["id"])["message"]["id"] == "bad"
    for n in range(10):
        server.push("orders", {}, id=f"m-{n}")
    assert listener.until("breaker")["state"] == "open"
    server.post("/v1/queues/orders/pause", {"why": "lunch"})
    event = listener.until("queue")
    assert (event["state"], event["why"]) == ("paused", "lunch")
    server.post("/v1/queues/orders/resume")
    event = listener.until("queue")
    assert event["state"] == "running" and "why" not in event


def test_metrics_are_what_prometheus_wants(lot):
    answer = lot.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    text = answer.body.decode()
    for name in METRICS:
        assert re.search(rf"^# TYPE {name} ", text, re.M), name
        assert re.search(rf"^{name}(_count)?[{{ ]", text, re.M), name
    assert lot.metric("impound_queue_depth", queue="orders") == 1
    assert lot.metric("impound_dlq_depth", dlq="orders.dlq.gone") == 1
    assert lot.metric("impound_dlq_letters_total", dlq="orders.dlq", category="validation",
                      reason="bad_request") == 3
    assert lot.metric("impound_handler_seconds_count", queue="orders") == len(FAILURES) + 4
    checked = subprocess.run([tool("promtool"), "check", "metrics"], input=text, capture_output=True, text=True,
                             check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_reasons_beyond_fifty_fold_into_other(serve, handler):
    worker = handler(lambda call: (400, {"Impound-Verdict": "dlq", "Impound-Reason": f"why \"{call.id}\"\\"}, b""))
    server = serve({"orders": queue(worker.url)})
    server.push_many("orders", [{"id": f"m-{n}", "body": n} for n in range(80)])
    server.drained("orders")
    text = server.get("/metrics").body.decode()
    series = re.findall(r"^impound_dlq_letters_total\{.*reason=\"(.*)\"\} (\d+)$", text, re.M)
    assert len(series) == 51 and dict(series)["other"] == "30"
    assert sum(int(count) for _, count in series) == 80
    assert server.dlq("orders.dlq")["depth"] == 80


def test_health_and_readiness(lot):
    assert lot.get("/healthz").json["status"] == "ok"
    ready = lot.get("/readyz")
    assert ready.status == 200 and ready.json == {"status": "ready", "halted": []}
    home = lot.get("/")
    assert home.status == 200 and home.headers["Content-Type"].startswith("text/html")


def test_every_path_of_the_description_exists(lot):
    description = lot.get("/openapi.json").json
    assert description["openapi"].startswith("3.1")
    operations = [(path, method) for path, item in description["paths"].items() for method in item]
    assert len(operations) > 15
    for path, method in operations:
        if path == "/v1/events":
            continue  # it never ends; it has a test of its own
        asked = re.sub(r"\{\w+\}", "no-such-thing", path)
        answer = lot.request(method.upper(), asked, b"{}" if method == "post" else None)
        assert b"there is no such path" not in answer.body, (method, path)
        assert answer.status in (200, 400, 404), (method, path, answer.status)
    for ref in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(description)):
        assert ref in description["components"]["schemas"]


TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict,
         "null": type(None)}


def misfits(schemas, schema, value, at):
    """Where a value is not what the description says, or has a member that it does not name."""
    if "$ref" in schema:
        return misfits(schemas, schemas[schema["$ref"].rsplit("/", 1)[1]], value, at)
    if "anyOf" in schema:
        return min((misfits(schemas, one, value, at) for one in schema["anyOf"]), key=len)
    types = schema.get("type", list(TYPES))
    wanted = [TYPES[one] for one in ([types] if isinstance(types, str) else types)]
    if not any(isinstance(value, one) for one in wanted):
        return [f"{at}: {value!r} is not {types}"]
    if isinstance(value, list) and "items" in schema:
        return [bad for n, one in enumerate(value) for bad in misfits(schemas, schema["items"], one, f"{at}[{n}]")]
    if not isinstance(value, dict) or not {"properties", "additionalProperties"} & set(schema):
        return []
    named, others = schema.get("properties", {}), schema.get("additionalProperties")
    return [bad for key, one in value.items()
            for bad in (misfits(schemas, named.get(key, others), one, f"{at}.{key}")
                        if key in named or others else [f"{at}.{key} is not described"])]


@pytest.mark.parametrize("path, asked", [
    ("/v1/queues", "/v1/queues"), ("/v1/queues/{queue}", "/v1/queues/orders"),
    ("/v1/dlqs", "/v1/dlqs"), ("/v1/dlqs/{dlq}", "/v1/dlqs/orders.dlq"), ("/v1/dlqs/{dlq}", "/v1/dlqs/idle.dlq"),
    ("/v1/dlqs/{dlq}/letters", "/v1/dlqs/orders.dlq/letters"), ("/v1/letters", "/v1/letters?where=error(1)"),
    ("/v1/letters/{id}", "/v1/letters/busy-1"), ("/v1/letters/{id}/explain", "/v1/letters/busy-1/explain"),
    ("/v1/messages", "/v1/messages?queue=orders"), ("/v1/messages/{id}", "/v1/messages/waiting"),
    ("/v1/letters/{id}/explain", "/v1/letters/waiting/explain"),
    ("/v1/stats", "/v1/stats"), ("/healthz", "/healthz"), ("/readyz", "/readyz"),
])
def test_every_answer_is_as_described(lot, path, asked):
    description = lot.get("/openapi.json").json
    answers = description["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
    answer = lot.get(asked)
    assert answer.status == 200
    assert misfits(description["components"]["schemas"], answers["schema"], answer.json, "") == []


def test_the_store_file_says_the_same(serve, handler):
    worker = handler(failing)
    server = serve({"orders": queue(worker.url, dlq={"route": {"not_found": "orders.dlq.gone"}})})
    for one in FAILURES:
        server.push("orders", {"id": one}, id=one)
    server.push("orders", {}, id="waiting", delay="1h")
    eventually(lambda: server.queue("orders")["depth"] == 1, "all but one are dead")
    listed = {letter["id"]: letter for letter in server.page("/v1/letters", limit=1000)["letters"]}
    path = urllib.parse.quote(f"{server.folder}/impound.db")
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        rows = database.execute("SELECT id, dlq, state, cause, category, reason, error_type, attempts, queue, "
                                "message_id FROM letters").fetchall()
        states = dict(database.execute("SELECT state, count(*) FROM messages GROUP BY state"))
        name, offset, size = database.execute(
            "SELECT body_file, body_offset, body_len FROM letters WHERE message_id = 'bad-1'").fetchone()
        times = database.execute("SELECT id, created_at, fingerprint, escalated_at, resolved_at, resolution "
                                 "FROM letters").fetchall()
    assert {(row[0], row[1], row[2]) for row in times} == {
        (one["id"], one["created_at"][:19] + "Z", one["failure"]["fingerprint"]) for one in listed.values()}
    assert {row[3:] for row in times} == {(None, None, None)}, "nothing was decided about them"
    with open(os.path.join(server.folder, "impound.db.d", name), "rb") as pack:
        pack.seek(offset)
        body = pack.read(size)
    assert {row[0] for row in rows} == set(listed)
    for row in rows:
        letter = listed[row[0]]
        assert row[1:] == (letter["dlq"], letter["state"], letter["cause"], letter["category"], letter["reason"],
                           letter["failure"]["error_type"], letter["attempts"], "orders",
                           letter["message"]["id"])
    assert states == {"pending_review": len(FAILURES), "queued": 1}
    assert body == b'{"id": "bad-1"}'
    for dlq in ("orders.dlq", "orders.dlq.gone"):
        assert server.dlq(dlq)["depth"] == sum(row[1] == dlq for row in rows)


def test_a_letter_that_is_not_there_is_a_problem(lot):
    problem(lot.get("/v1/letters/waiting"), 404, "not dead")
    problem(lot.get("/v1/letters/0190a0a0-0000-7000-8000-000000000000"), 404)
    problem(lot.get("/v1/dlqs/orders.dlq.nowhere/letters"), 404)
