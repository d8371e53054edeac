"""Answers that look like success and are none, and the many ways to say when to come back."""
import json
import sys

from harness import eventually, impound

QUICK = {"attempts": 3, "base": "10ms", "cap": "50ms", "budget_floor": "1000/s"}
PATIENT = {"jq_timeout": "30s"}
JSON, EVENTS = "application/json", "text/event-stream"
GOOD = {"choices": [{"message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}]}


def queue(worker, **more):
    return {"work": {"source": "builtin", "handler": worker, "retry": QUICK, "breaker": "off", **more}}


def ai(worker, **more):
    return queue(worker, classify={"presets": ["ai-api"]}, **more)


def said(status, body, kind=JSON, **headers):
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return status, {"Content-Type": kind, **headers}, text


def events(*data):
    return b"".join(b"data: " + (one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n\n" for one in data)


def letter(server, some_id):
    def dead():
        return next((one for one in server.letters("work.dlq") if one["message"]["id"] == some_id), None)
    return server.message(eventually(dead, f"{some_id} is dead")["id"])


# ---- the ai-api preset ----

def test_a_200_that_is_an_error_is_judged_as_that_error(serve, handler):
    errors = {"busy": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
              "long": {"error": {"code": 400, "message": "This model's maximum context length is 8 tokens."}},
              "gone": {"error": {"code": 404, "message": "No endpoints found for acme/x."}}}
    worker = handler(lambda call: said(200, errors[call.id]))
    server = serve(ai({"http": worker.url}))
    for name in errors:
        server.push("work", {"n": 1}, id=name)
    busy = letter(server, "busy")
    assert (busy["category"], busy["reason"], busy["attempts"]) == ("transient", "max_attempts:upstream_busy", 3)
    assert (busy["failure"]["error_type"], busy["failure"]["error_message"]) == ("overloaded_error", "Overloaded")
    assert (letter(server, "long")["category"], letter(server, "long")["reason"]) == ("validation", "too_long")
    assert letter(server, "gone")["reason"] == "model_gone"
    assert [worker.ids().count(name) for name in errors] == [3, 1, 1]


def test_a_stream_that_is_cut_is_asked_for_again_and_a_whole_one_is_a_success(serve, handler):
    chunk = {"choices": [{"delta": {"content": "Hel"}, "finish_reason": None}]}
    last = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    streams = {"cut": [chunk], "error": [chunk, {"error": {"type": "server_error", "message": "lost"}}],
               "whole": [chunk, last, b"[DONE]"]}
    worker = handler(lambda call: said(200, events(*streams[call.id]), EVENTS))
    server = serve(ai({"http": worker.url}))
    for name in streams:
        server.push("work", {"n": 1}, id=name)
    for name in ("cut", "error"):
        assert letter(server, name)["reason"] == "max_attempts:cut_stream"
        assert letter(server, name)["category"] == "transient"
    assert letter(server, "error")["failure"]["error_message"] == "lost"
    server.drained("work")
    assert worker.ids().count("whole") == 1 and len(server.letters("work.dlq")) == 2


def test_an_empty_answer_succeeds_when_the_next_one_is_not(serve, handler):
    worker = handler(lambda call: said(200, GOOD if call.attempt == 2 else {"choices": []}))
    server = serve(ai({"http": worker.url, "reply": {"store": "24h"}}, idempotency={"key": ".n"}))
    server.push("work", {"n": 1}, id="m1")
    server.drained("work")
    assert [call.attempt for call in worker.calls] == [1, 2] and server.letters("work.dlq") == []
    assert server.get("/v1/results/m1").json["body"] == GOOD


def test_filtered_and_refused_answers_are_dead_at_once(serve, handler):
    answers = {"filter": {"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]},
               "refusal": {"type": "message", "content": [{"type": "text", "text": "no"}], "stop_reason": "refusal"},
               "blocked": {"promptFeedback": {"blockReason": "SAFETY"}}}
    worker = handler(lambda call: said(200, answers[call.id]))
    server = serve(ai({"http": worker.url}))
    for name in answers:
        server.push("work", {"n": 1}, id=name)
    for name in answers:
        dead = letter(server, name)
        assert (dead["category"], dead["reason"], dead["cause"]) == ("content_policy", "content_policy", "terminal")
        assert dead["rule"].startswith("preset:ai-api[")
    assert worker.count() == 3


def test_202_and_204_and_other_content_types_are_successes(serve, handler):
    answers = {"202": said(202, b""), "204": (204, {}, b""), "text": said(200, b"", "text/plain"),
               "own": said(200, {"ok": True, "error": None})}
    worker = handler(lambda call: answers[call.id])
    server = serve(ai({"http": worker.url}))
    for name in answers:
        server.push("work", {"n": 1}, id=name)
    server.drained("work")
    assert worker.count() == 4 and server.letters("work.dlq") == []


def test_a_success_that_is_none_falls_back_and_its_answer_is_not_kept(serve, handler):
    primary = handler(lambda call: said(200, {"error": {"type": "api_error", "message": "Internal server error"}}))
    second = handler(lambda call: said(200, GOOD))
    server = serve(ai({"http": primary.url, "reply": {"store": "24h"}}, fallback=[{"http": second.url}]))
    server.push("work", {"n": 1}, id="m1")
    server.drained("work")
    assert (primary.count(), second.count()) == (1, 1)
    assert server.get("/v1/results/m1").json["body"] == GOOD


def test_echoed_text_neither_halts_nor_retries(serve, handler):
    texts = {"quota": 'Invalid value: "quota exceeded"', "busy": "Invalid value: 'overloaded'",
             "tokens": "Unsupported parameter: 'max_tokens' is not supported with this model."}
    worker = handler(lambda call: said(400, {"error": {"message": texts[call.id], "type": "invalid_request_error"}}))
    server = serve(ai({"http": worker.url}))
    for name in texts:
        server.push("work", {"n": 1}, id=name)
    for name in texts:
        assert letter(server, name)["reason"] == "bad_request"
    assert server.queue("work")["state"] == "running" and worker.count() == 3


def test_a_rate_limit_is_waited_for_however_it_is_worded(serve, handler):
    limit = {"error": {"message": "Rate limit reached.", "type": "requests", "code": "rate_limit_exceeded"}}
    ways = {"text": said(429, {"error": {"message": "Rate limit reached. Please try again in 1m30s."}}),
            "reset": said(429, limit, **{"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m30s",
                                         "x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "3s"}),
            "fraction": said(429, limit, **{"Retry-After": "90.0"}),
            "milliseconds": said(429, limit, **{"retry-after-ms": "90000", "Retry-After": "1"}),
            "capped": said(429, {"error": {"message": "Please try again in 9h."}})}
    worker = handler(lambda call: ways[call.id])
    server = serve(ai({"http": worker.url}, concurrency=1))
    for name in ways:
        server.push("work", {"n": 1}, id=name)
    for name in ways:
        waiting = eventually(lambda: (one := server.message(name))["state"] == "pending_retry" and one, f"{name} waits")
        delay = waiting["history"][-1]["delay_ms"]
        assert delay == (3600000 if name == "capped" else 90000), name


# ---- a queue's own answers ----

RULES = [{"when": {"status": 200, "jq": '.status == "pending"'}, "do": "retry", "category": "transient", "reason": "pending"},
         {"when": {"header": {"x-part": "half*"}}, "do": "dlq", "category": "external", "reason": "half"},
         {"when": {"body": "(?i)maintenance"}, "do": "dlq", "category": "external", "reason": "maintenance"},
         {"when": {"empty": True}, "do": "discard", "category": "external", "reason": "nothing"}]


def test_rules_look_at_status_header_body_json_and_emptiness(serve, handler):
    answers = {"jq": said(200, {"status": "pending"}), "header": said(200, {"a": 1}, **{"X-Part": "half of it"}),
               "body": said(200, b"<h1>Maintenance</h1>", "text/html"), "empty": said(200, b"  "),
               "good": said(200, {"status": "done"}), "not json": said(200, b"status pending", "text/plain")}
    worker = handler(lambda call: answers[call.id])
    server = serve(queue({"http": worker.url}, classify={"answers": RULES}), server=PATIENT)
    for name in answers:
        server.push("work", {"n": 1}, id=name)
    assert letter(server, "jq")["reason"] == "max_attempts:pending" and letter(server, "jq")["attempts"] == 3
    header, body = letter(server, "header"), letter(server, "body")
    assert (header["reason"], header["rule"], header["failure"]["status"]) == ("half", "work.answers[1]", 200)
    assert (body["reason"], body["failure"]["error_message"], body["failure"]["kind"]) == ("maintenance", "<h1>Maintenance</h1>", "answer")
    server.drained("work")
    assert server.message("empty")["state"] == "discarded"
    assert sorted(one["message"]["id"] for one in server.letters("work.dlq")) == ["body", "header", "jq"]
    shown = server.cli("explain", body["id"])
    assert "work.answers[2]" in shown


def test_an_answer_that_is_no_success_is_neither_remembered_nor_kept(serve, handler):
    worker = handler(lambda call: said(200, {"status": "pending" if call.id == "m1" else "done"}))
    once = [{**RULES[0], "do": "dlq"}]
    server = serve(queue({"http": worker.url, "reply": {"store": "24h"}}, classify={"answers": once},
                         idempotency={"key": ".order"}), server=PATIENT)
    server.push("work", {"order": 7}, id="m1")
    letter(server, "m1")
    assert server.get("/v1/results/m1").status == 404
    server.push("work", {"order": 7}, id="m2")
    server.drained("work")
    assert server.get("/v1/results/m2").json["body"] == {"status": "done"}
    assert worker.ids() == ["m1", "m2"]


def test_what_a_program_prints_is_judged(serve):
    program = "import sys; body = sys.stdin.read(); print('maintenance' if '1' in body else 'done')"
    server = serve(queue({"exec": [sys.executable, "-c", program]}, classify={"answers": RULES[2:]}))
    server.push("work", {"n": 1}, id="bad")
    server.push("work", {"n": 2}, id="good")
    dead = letter(server, "bad")
    assert (dead["reason"], dead["failure"]["error_message"], dead["failure"]["kind"]) == ("maintenance", "maintenance", "answer")
    server.drained("work")
    assert len(server.letters("work.dlq")) == 1


STREAM = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "batch" in message:
        print(json.dumps({"batch": message["batch"], "ok": True, "note": "maintenance"}), flush=True)
    else:
        print(json.dumps({"id": message["id"], "ok": True, "result": message["body"]}), flush=True)
"""


def test_the_result_of_a_stream_worker_is_judged(serve, tmp_path):
    (tmp_path / "worker.py").write_text(STREAM)
    worker = {"exec": [sys.executable, str(tmp_path / "worker.py")], "mode": "stream", "workers": 1}
    rules = [{**RULES[0], "when": {"jq": '.status == "pending"'}}, *RULES]
    server = serve(queue(worker, classify={"answers": rules}), server=PATIENT)
    server.push("work", {"status": "pending"}, id="pending")
    server.push("work", None, id="empty")
    server.push("work", {"status": "done"}, id="good")
    assert letter(server, "pending")["reason"] == "max_attempts:pending"
    server.drained("work")
    assert server.message("empty")["state"] == "discarded" and len(server.letters("work.dlq")) == 1


def test_in_a_batch_the_whole_answer_is_judged_once_for_all(serve, handler):
    def answer(call):
        ids = [one["id"] for one in json.loads(call.body)]
        return said(200, {"status": "pending" if "bad" in ids else "done", "batchItemFailures": []})
    worker = handler(answer)
    rule = {"when": {"jq": '.status == "pending"'}, "do": "dlq", "category": "external", "reason": "pending"}
    server = serve(queue({"http": worker.url, "batch": 10}, classify={"answers": [rule]}), server=PATIENT)
    server.post("/v1/queues/work/pause", {"why": "one batch"})
    for name in ("a", "b", "bad", "c"):
        server.push("work", {"n": 1}, id=name)
    server.post("/v1/queues/work/resume")
    assert letter(server, "bad")["reason"] == "pending"
    server.drained("work")
    assert [one["message"]["id"] for one in server.letters("work.dlq")] == ["bad"]


def test_an_ack_of_a_lease_is_never_judged(serve):
    server = serve(queue("lease", classify={"answers": [{"when": {}, "do": "dlq", "category": "x"}]}))
    server.push("work", {"n": 1}, id="m1")
    lease, = server.post("/v1/queues/work/lease", {"max": 1, "wait_ms": 1000}).json["messages"]
    assert server.post(f"/v1/leases/{lease['lease']}/ack", {}).status == 200
    server.drained("work")
    assert server.letters("work.dlq") == []


def test_transient_answers_open_the_breaker_and_others_do_not(serve, handler):
    worker = handler(lambda call: said(200, {"status": "pending"}))
    rule = dict(RULES[0])
    for category, opens in (("external", False), ("transient", True)):
        queues = queue({"http": worker.url}, classify={"answers": [{**rule, "category": category}]}, concurrency=1)
        queues["work"]["breaker"] = {"consecutive": 5}
        server = serve(queues, server=PATIENT)
        for n in range(6):
            server.push("work", {"n": n}, id=f"{category}-{n}")
        if opens:
            eventually(lambda: server.queue("work")["breaker"]["state"] != "closed", "the breaker opens")
        else:
            eventually(lambda: server.dlq("work.dlq")["depth"] == 6, "all are dead")
            assert server.queue("work")["breaker"]["state"] == "closed"


def test_answers_are_reloaded_checked_and_tried_out(serve, handler, tmp_path):
    worker = handler(lambda call: said(200, {"status": "pending"}))
    server = serve(queue({"http": worker.url}), server=PATIENT)
    server.push("work", {"n": 1}, id="before")
    server.drained("work")
    server.configure(queue({"http": worker.url}, classify={"answers": [{**RULES[0], "do": "dlq"}]}), server=PATIENT)
    server.reload()

    def judged():
        server.push("work", {"n": 2})
        return server.letters("work.dlq")
    dead, = eventually(judged, "the new rules judge")[:1]
    assert dead["rule"] == "work.answers[0]"
    good = tmp_path / "good.yaml"
    good.write_text(json.dumps({"queues": queue({"http": worker.url}, classify={"answers": RULES})}))
    printed = impound("check", "-c", str(good)).stdout
    assert "answers:" in printed and "empty: true" in printed and "(?i)maintenance" in printed
    (tmp_path / "again.yaml").write_text(printed)
    assert impound("check", "-c", str(tmp_path / "again.yaml")).returncode == 0
    tally = json.loads(server.cli("what-if", "--rules", str(good), "--json"))
    assert tally["letters"] >= 1


def test_what_if_says_how_many_letters_keep_only_the_beginning_of_their_answer(serve, handler, tmp_path):
    sizes = {"short": 100, "long": 5000}
    worker = handler(lambda call: (200, {"Content-Type": "text/plain"}, b"down for maintenance " + b"x" * sizes[call.id]))
    rule = {"when": {"body": "maintenance"}, "do": "dlq", "category": "transient", "reason": "maintenance"}
    rules = queue({"http": worker.url}, classify={"answers": [rule]})
    server = serve(rules, server=PATIENT)
    for one in sizes:
        server.push("work", {}, id=one)
    eventually(lambda: len(server.letters("work.dlq")) == 2, "both are dead")
    (tmp_path / "rules.yaml").write_text(json.dumps({"queues": rules}))
    tally = json.loads(server.cli("what-if", "--rules", str(tmp_path / "rules.yaml"), "--json"))
    assert (tally["letters"], tally["same"], tally["cut"]) == (2, 2, 1)
    assert "1 have only the first 2 KiB of their answer" in server.cli("what-if", "--rules", str(tmp_path / "rules.yaml"))


def test_a_mistake_in_answers_is_named_with_its_place(tmp_path):
    path = tmp_path / "impound.yaml"
    path.write_text('queues:\n  work:\n    handler: {http: "http://127.0.0.1:1/"}\n    classify:\n      answers:\n'
                    '        - {when: {body: "("}, do: retry}\n        - {when: {message: x}, do: retry}\n'
                    '        - {when: {empty: maybe}, do: retry}\n        - {when: {jq: "}"}, do: retry}\n')
    told = impound("check", "-c", str(path))
    assert told.returncode == 1
    for place, words in (("6:25", "regular expression"), ("7:19", 'unknown key "message"'), ("8:26", "true or false")):
        assert any(f"impound.yaml:{place}" in line and words in line for line in told.stderr.splitlines()), told.stderr
