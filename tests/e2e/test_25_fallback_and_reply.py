"""Fallbacks with edits, answers that are kept or published, and jq programs that misbehave."""
import json
import shutil
import subprocess
import sys

import pytest

from harness import PATIENCE_S, eventually, free_port, impound, problem, scaled

QUICK = {"attempts": 3, "base": "10ms", "cap": "50ms", "budget_floor": "1000/s"}
BIG = 2**53 + 1
LONG = 12345678901234567890
# A program that must be stopped gets a short time, all others one that a slow machine cannot use up.
PATIENT, STRICT = {"jq_timeout": "30s"}, {"jq_timeout": "5s"}
GIGABYTE = '"x" * 1000 | . * 1000 | . * 1000'


def chain(*steps, **more):
    """A queue whose handler is the first step, and whose fallbacks are the others."""
    return {"work": {"source": "builtin", "handler": steps[0], "fallback": list(steps[1:]), "retry": QUICK,
                     "breaker": "off", "classify": {"presets": ["ai-api"]}, **more}}


def said(status, body=None, kind="application/json"):
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return status, {"Content-Type": kind}, text


def letters(server):
    return {letter["message"]["id"]: server.message(letter["id"]) for letter in server.letters("work.dlq")}


def result(server, some_id):
    return eventually(lambda: (answer := server.get(f"/v1/results/{some_id}")).status == 200 and answer.json,
                      f"the answer to {some_id} is kept")


# ---- fallbacks with edits ----

def test_when_the_primary_fails_the_second_model_answers_within_one_attempt(serve, handler):
    primary = handler(lambda call: said(500, {"error": {"type": "api_error", "message": "boom"}}))
    second = handler(lambda call: said(200, {"text": "from the small one"}))
    server = serve(chain({"http": primary.url, "reply": {"store": "24h"}},
                         {"http": second.url, "edit": '.model = "small"'}), server=PATIENT)
    server.push("work", {"model": "large", "n": 1}, id="m1")
    kept = result(server, "m1")
    assert kept["body"] == {"text": "from the small one"} and kept["content_type"] == "application/json"
    assert kept["id"] == "m1" and kept["queue"] == "work" and kept["at"].endswith("Z")
    assert [call.body for call in primary.calls] == [b'{"model": "large", "n": 1}']
    assert [call.body for call in second.calls] == [b'{"model": "small", "n": 1}']
    assert primary.calls[0].headers["Impound-Fallback"] is None
    assert second.calls[0].headers["Impound-Fallback"] == "1"
    assert primary.calls[0].attempt == second.calls[0].attempt == 1
    server.drained("work")
    assert server.metric("impound_attempts_total", queue="work", result="ok") == 1
    assert server.metric("impound_attempts_total", queue="work", result="retry") == 0


def test_when_all_of_the_chain_fails_that_was_one_attempt_and_the_body_stays(serve, handler):
    def fail(call):
        return said(500, {"error": {"message": call.body.decode()}})
    workers = [handler(fail) for _ in range(3)]
    server = serve(chain({"http": workers[0].url}, {"http": workers[1].url, "edit": ".model = 2"},
                         {"http": workers[2].url, "edit": ".model += 10"}), server=PATIENT)
    server.push("work", {"model": 1}, id="m1")
    server.drained("work")
    letter = letters(server)["m1"]
    assert letter["attempts"] == 3 and len(letter["history"]) == 3
    assert letter["reason"] == "max_attempts:upstream_5xx"
    assert letter["message"]["body"] == {"model": 1}
    assert [json.loads(call.body)["model"] for call in workers[1].calls] == [2, 2, 2]
    assert [json.loads(call.body)["model"] for call in workers[2].calls] == [11, 11, 11]
    assert [call.headers["Impound-Fallback"] for call in workers[2].calls] == ["2", "2", "2"]


def test_an_edit_changes_only_what_it_changes(serve, handler):
    worker = handler()
    body = b'{ "id": %d, "other":%d,\n "n": 1.0, "n2": 1e3, "model": "a", "list": [ 1,%d ] }' % (BIG, LONG, LONG)
    server = serve(chain({"http": worker.url, "edit": '.model = "b" | .list[0] = 2'}), server=PATIENT)
    server.post("/v1/queues/work/messages", b'{"body":' + body + b'}')
    server.drained("work")
    assert worker.calls[0].body == body.replace(b'"a"', b'"b"').replace(b"[ 1,", b"[ 2,")


def test_numbers_beyond_a_double_go_through_key_edit_and_filter_unharmed(serve, handler):
    worker = handler(lambda call: said(400, {"error": {"message": "no"}}))
    server = serve(chain({"http": worker.url, "edit": ".copy = .id | .nested.id = .id"},
                         classify={"rules": [{"when": {"jq": f".message.body.id == {LONG}"}, "do": "discard",
                                              "category": "seen", "reason": "exact"}]}), server=PATIENT)
    for number in (BIG, BIG - 1, LONG, LONG + 1):
        server.push("work", {"id": number}, id=f"m{number}", key=str(number))
    server.drained("work")
    for call in worker.calls:
        number = int(call.id[1:])
        assert json.loads(call.body) == {"id": number, "copy": number, "nested": {"id": number}}
    held = {number: server.message(f"m{number}") for number in (BIG, BIG - 1, LONG, LONG + 1)}
    assert all(letter["message"]["key"] == str(number) for number, letter in held.items())
    assert all(letter["message"]["body"] == {"id": number} for number, letter in held.items())
    assert [held[number]["state"] for number in (LONG, LONG + 1)] == ["discarded", "pending_review"]
    for number in (BIG, BIG - 1):
        found = server.letters("work.dlq", where=f".message.body.id == {number}")
        assert [letter["message"]["id"] for letter in found] == [f"m{number}"]


def test_an_edit_that_computes_with_a_number_it_cannot_hold_says_which(serve, handler):
    worker = handler()
    server = serve(chain({"http": worker.url, "edit": ".id = .id + 1"}), server=PATIENT)
    server.push("work", {"id": LONG}, id="long")
    server.push("work", {"id": 1}, id="short")
    server.drained("work")
    assert [call.body for call in worker.calls] == [b'{"id": 2}']
    failure = letters(server)["long"]["failure"]
    assert failure["error_type"] == "edit" and "id" in failure["error_message"]


def test_an_edit_that_fails_is_dead_at_once_and_says_why(serve, handler):
    worker = handler()
    server = serve(chain({"http": worker.url, "edit": 'if .n == 1 then error("no ones") else .n += 1 end'}), server=PATIENT)
    server.push("work", {"n": 1}, id="refused")
    server.post("/v1/queues/work/messages", {"id": "raw", "body_base64": "/w==", "content_type": "image/png"})
    server.post("/v1/queues/work/messages", {"id": "empty", "body_base64": "", "content_type": "text/plain"})
    server.push("work", {"n": 2}, id="good")
    server.drained("work")
    assert worker.ids() == ["good"]
    found = letters(server)
    assert set(found) == {"refused", "raw", "empty"}
    for letter in found.values():
        assert (letter["cause"], letter["category"], letter["reason"]) == ("terminal", "bug", "edit_failed")
        assert letter["failure"]["kind"] == "edit" and letter["failure"]["error_type"] == "edit"
        assert letter["attempts"] == 1
    assert "no ones" in found["refused"]["failure"]["error_message"]
    assert "not JSON" in found["raw"]["failure"]["error_message"]
    explained = server.get(f"/v1/letters/{found['raw']['id']}/explain").json
    assert "edit_failed" in explained["summary"]


def test_a_rule_may_send_a_failed_edit_to_the_next_handler(serve, handler):
    last = handler()
    server = serve(chain({"http": last.url, "edit": ".a.b.c"}, {"http": last.url},
                         classify={"rules": [{"when": {"kind": "edit"}, "do": "fallback"}]}), server=PATIENT)
    server.push("work", {"a": 1}, id="m1")
    server.drained("work")
    assert [(call.headers["Impound-Fallback"], call.body) for call in last.calls] == [("1", b'{"a": 1}')]


def test_check_compiles_edits_and_names_their_place(tmp_path):
    (tmp_path / "impound.yaml").write_text(
        "queues:\n  q:\n    handler: {http: 'http://h'}\n    fallback:\n      - {http: 'http://h', edit: '.a ='}\n")
    done = impound("check", "-c", tmp_path / "impound.yaml")
    assert done.returncode == 1 and "impound.yaml:5:" in done.stderr + done.stdout
    (tmp_path / "impound.yaml").write_text(
        "queues:\n  q:\n    handler: {http: 'http://h', reply: {store: 1h}}\n"
        "    fallback:\n      - {http: 'http://h', edit: '.a = \"b\"'}\n")
    done = impound("check", "-c", tmp_path / "impound.yaml")
    assert done.returncode == 0
    assert 'edit: ".a = \\"b\\"", reply: {store: 1h}' in done.stdout


# ---- programs that misbehave ----

NASTY = {
    "loop": ("[repeat(.)]", "took longer"),
    "huge": ("[range(1000)] | tostring * 300000", None),
    "env": ("env.HOME", None),
    "import": ('import "secrets" as s; .', None),
    "include": ('include "/etc/passwd"; .', None),
    "file": ("input_filename", None),
}


@pytest.mark.parametrize("name", ["loop", "huge", "env", "file"])
def test_a_nasty_edit_hurts_nobody(serve, handler, name):
    program, words = NASTY[name]
    worker = handler()
    queues = chain({"http": worker.url, "edit": f"if .nasty then ({program}) else . end"}, concurrency=4)
    queues["calm"] = {"handler": {"http": worker.url, "edit": ".calm = true"}}
    server = serve(queues, server=STRICT)
    for i in range(scaled(20, 2)):
        server.push("work", {"nasty": True}, id=f"nasty{i}")
        server.push("calm", {"n": i}, id=f"calm{i}")
        assert server.get("/healthz").status == 200
    server.drained("calm")
    server.drained("work")
    dead = letters(server)
    assert set(dead) == {f"nasty{i}" for i in range(scaled(20, 2))}
    assert {letter["reason"] for letter in dead.values()} == {"edit_failed"}
    assert all(letter["failure"]["error_message"] for letter in dead.values())
    if words:
        assert all(words in letter["failure"]["error_message"] for letter in dead.values())
    assert sorted(worker.ids()) == sorted(f"calm{i}" for i in range(scaled(20, 2)))
    assert server.get("/v1/queues").status == 200


def peak_kib(pid):
    """The most memory that a process ever held."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def test_a_result_of_a_gigabyte_is_refused_and_our_own_memory_stays_small(serve, handler):
    worker = handler()
    server = serve(chain({"http": worker.url, "edit": GIGABYTE},
                         classify={"rules": [{"when": {"jq": GIGABYTE}, "do": "discard"}]}),
                   server=STRICT)
    before = peak_kib(server.process.pid)
    server.push("work", {}, id="m1")
    server.drained("work")
    letter = letters(server)["m1"]
    assert letter["reason"] == "edit_failed" and letter["state"] == "pending_review"
    answer = server.get("/v1/letters", where=GIGABYTE)
    assert answer.status == 200 and answer.json["letters"] == [] and answer.json["skipped"] == 1
    assert answer.json["skipped_why"]
    assert peak_kib(server.process.pid) < before + 100 * 1024


@pytest.mark.parametrize("name", ["import", "include"])
def test_a_program_that_wants_files_is_refused_before_it_runs(tmp_path, serve, handler, name):
    program = NASTY[name][0]
    (tmp_path / "secrets.jq").write_text("def x: 1;")
    (tmp_path / "impound.yaml").write_text(json.dumps({"queues": chain({"http": "http://h", "edit": program})}))
    done = impound("check", "-c", tmp_path / "impound.yaml", cwd=tmp_path)
    assert done.returncode == 1 and "jq" in done.stderr + done.stdout
    worker = handler(lambda call: 400)
    server = serve(chain({"http": worker.url}))
    server.push("work", {}, id="m1")
    server.drained("work")
    problem(server.get("/v1/letters", where=program), 400)
    assert server.get("/healthz").status == 200


def test_a_when_and_a_where_see_no_environment_and_an_endless_one_does_not_match(serve, handler):
    worker = handler(lambda call: 418)
    rules = [{"when": {"jq": "env | length > 0"}, "do": "discard", "reason": "env"},
             {"when": {"jq": "[repeat(.)]"}, "do": "discard", "reason": "loop"},
             {"when": {"status": 418}, "do": "dlq", "reason": "plain"}]
    server = serve(chain({"http": worker.url}, classify={"rules": rules}), server=STRICT)
    server.push("work", {}, id="m1")
    server.drained("work")
    assert letters(server)["m1"]["reason"] == "plain"
    assert server.letters("work.dlq", where="env | length == 0")
    answer = server.get("/v1/letters", where="[repeat(.)]").json
    assert answer["letters"] == [] and answer["skipped"] == 1 and "took longer" in answer["skipped_why"]


# ---- answers that are kept ----

def test_answers_of_every_kind_are_kept_as_they_came(serve, handler):
    answers = {"json": said(200, b'{"n": 1.0, "id": 12345678901234567890}'), "text": said(201, "né".encode(), "text/plain"),
               "bytes": said(200, b"\xff\x00", "image/png"), "nothing": (204, {}, b"")}
    worker = handler(lambda call: answers[call.id])
    server = serve(chain({"http": worker.url, "reply": {"store": "1h"}}))
    for name in answers:
        server.push("work", {}, id=name)
    assert b'"body":{"n": 1.0, "id": 12345678901234567890}' in (result(server, "json") and
                                                                 server.get("/v1/results/json").body)
    assert result(server, "text")["body"] == "né" and result(server, "text")["content_type"] == "text/plain"
    assert result(server, "bytes")["body_base64"] == "/wA="
    assert result(server, "nothing")["body"] == "" and result(server, "nothing")["content_type"] is None


def test_an_answer_is_there_as_soon_as_the_message_is_gone_and_survives_a_kill(serve, handler):
    worker = handler(lambda call: said(200, {"did": call.id}))
    server = serve(chain({"http": worker.url, "reply": {"store": "1h"}}))
    count = scaled(1000, 50)
    server.push_many("work", [{"id": f"m{i}", "body": i} for i in range(count)])
    eventually(lambda: worker.count() >= count // 2, "half of them were handed over")
    server.kill()
    server.start()
    server.drained("work")
    for i in range(count):
        assert server.get(f"/v1/results/m{i}").json["body"] == {"did": f"m{i}"}


def test_an_answer_is_gone_when_its_time_is_over_and_is_told_apart_by_queue(serve, handler):
    worker = handler(lambda call: said(200, {"at": call.path}))
    queues = chain({"http": worker.url + "/a", "reply": {"store": "1s"}})
    queues["other"] = {"handler": {"http": worker.url + "/b", "reply": {"store": "1h"}}}
    server = serve(queues)
    problem(server.get("/v1/results/x"), 404, "no answer is kept")
    server.push("work", {}, id="x")
    server.push("other", {}, id="x")
    server.drained("work")
    server.drained("other")
    assert server.get("/v1/results/x", queue="other").json["body"] == {"at": "/work/b"}
    problem(server.get("/v1/results/x", queue="nobody"), 404)
    eventually(lambda: server.get("/v1/results/x", queue="work").status == 404, "the answer's second is over")
    assert server.get("/v1/results/x").json["queue"] == "other"


def test_who_waits_for_an_answer_learns_what_became_of_the_message(serve, handler):
    worker = handler(lambda call: 400 if call.id == "dead" else (503, {"Retry-After": "600"}, b""))
    server = serve(chain({"http": worker.url, "reply": {"store": "1h"}}))
    server.push("work", {}, id="dead")
    server.push("work", {}, id="waits")
    server.push("work", {}, id="later", delay="10m")
    eventually(lambda: server.message("dead")["state"] == "pending_review", "the first is dead")
    eventually(lambda: server.message("waits")["state"] == "pending_retry", "the second waits")

    dead = problem(server.get("/v1/results/dead"), 404, "dead")
    assert (dead["state"], dead["reason"], dead["letter"]) == (
        "pending_review", "bad_request", server.message("dead")["id"])
    waits = problem(server.get("/v1/results/waits", queue="work"), 404, "has not succeeded yet")
    assert (waits["state"], waits["reason"], waits["letter"]) == ("pending_retry", "upstream_busy", None)
    assert waits["next_attempt_at"] == server.message("waits")["next_attempt_at"]
    later = problem(server.get("/v1/results/later"), 404, "has not succeeded yet")
    assert (later["state"], later["reason"], later["letter"]) == ("queued", None, None)
    unknown = problem(server.get("/v1/results/nobody"), 404, "no answer is kept")
    assert "state" not in unknown and "letter" not in unknown

    server.post("/v1/messages/dead/discard", {"why": "not needed"})
    gone = problem(server.get("/v1/results/dead"), 404, "discarded")
    assert (gone["state"], gone["letter"]) == ("discarded", dead["letter"])


def test_what_a_process_writes_to_stdout_is_its_answer(serve):
    server = serve({"work": {"handler": {"exec": [sys.executable, "-c", "import sys; print('got', sys.stdin.read())"],
                                         "reply": {"store": "1h"}}}})
    server.post("/v1/queues/work/messages", {"id": "m1", "body": "abc"})
    kept = result(server, "m1")
    assert (kept["body"], kept["content_type"]) == ('got "abc"\n', "text/plain; charset=utf-8")


def test_an_answer_that_is_too_large_fails_with_its_own_kind(serve, handler):
    sizes = {"fits": 4 << 20, "large": (4 << 20) + 1}
    worker = handler(lambda call: said(200, b"x" * sizes[call.id], "text/plain"))
    server = serve(chain({"http": worker.url, "reply": {"store": "1h"}}))
    for name in sizes:
        server.push("work", {}, id=name)
    server.drained("work")
    assert len(server.get("/v1/results/fits").json["body"]) == 4 << 20
    letter = letters(server)["large"]
    assert (letter["failure"]["kind"], letter["reason"]) == ("answer", "answer_too_large")
    assert letter["failure"]["status"] == 200 and letter["attempts"] == 1
    problem(server.get("/v1/results/large"), 404)


# ---- answers that are published ----

class Redis:
    """A Redis server that can be stopped and started on the same port."""

    def __init__(self, folder, *options):
        self.port, self.folder, self.options, self.process = free_port(), str(folder), options, None

    def start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder, "--save", "",
             "--appendonly", "no", *self.options], stdout=subprocess.DEVNULL)
        eventually(lambda: self.say("PING") in ("PONG", "NOAUTH Authentication required."), "Redis is up")
        return self

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def say(self, *words, database=0):
        return subprocess.run(["redis-cli", "-h", "127.0.0.1", "-p", str(self.port), "-n", str(database), *words],
                              capture_output=True, text=True, check=False).stdout.strip()


def sinks():
    return impound("version", "--json").stdout


@pytest.fixture(name="redis")
def fixture_redis(tmp_path):
    if not shutil.which("redis-server") or "redis" not in json.loads(sinks())["sinks"]:
        pytest.skip("no redis-server, or a build without hiredis")
    servers = []

    def start(*options):
        folder = tmp_path / f"redis{len(servers)}"
        folder.mkdir()
        servers.append(Redis(folder, *options))
        return servers[-1].start()

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.stop()


def test_an_answer_is_published_with_its_time_to_live_before_the_message_is_gone(serve, handler, redis):
    store = redis()
    worker = handler(lambda call: said(200, b"answer to " + call.id.encode(), "text/plain"))
    server = serve(chain({"http": worker.url,
                          "reply": f"redis://127.0.0.1:{store.port}/2?key=result:{{id}}&ttl=24h"}))
    count = scaled(2000, 100)
    server.push_many("work", [{"id": f"m{i}", "body": i} for i in range(count)])
    server.drained("work")
    assert store.say("DBSIZE", database=2) == str(count)
    assert store.say("GET", "result:m7", database=2) == "answer to m7"
    assert 86000 < int(store.say("TTL", "result:m7", database=2)) <= 86400
    assert worker.count() == count
    problem(server.get("/v1/results/m7"), 404)


def test_a_sink_that_is_down_holds_messages_and_runs_none_twice(serve, handler, redis):
    store = redis()
    store.stop()
    worker = handler(lambda call: said(200, call.id.encode(), "text/plain"))
    server = serve(chain({"http": worker.url, "reply": f"redis://127.0.0.1:{store.port}/0?key={{id}}"}, concurrency=8))
    server.push_many("work", [{"id": f"m{i}", "body": i} for i in range(50)])
    eventually(lambda: worker.count() == 8, "as many as may run at once have succeeded")
    eventually(lambda: "could not be published" in server.log(), "the log tells of the trouble")
    assert server.queue("work")["depth"] == 50 and server.queue("work")["in_flight"] == 8
    store.start()
    server.drained("work")
    assert store.say("DBSIZE") == "50" and store.say("TTL", "m3") == "-1"
    assert sorted(worker.ids()) == sorted(f"m{i}" for i in range(50))
    assert "published again" in server.log()


def test_a_sink_that_goes_away_and_comes_back_is_found_again(serve, handler, redis):
    store = redis()
    worker = handler(lambda call: said(200, call.id.encode(), "text/plain"))
    server = serve(chain({"http": worker.url, "reply": f"redis://127.0.0.1:{store.port}/0?key={{id}}"}))
    server.push("work", 1, id="before")
    server.drained("work")
    store.stop()
    store.start()
    server.push("work", 2, id="after")
    server.drained("work")
    assert store.say("GET", "after") == "after" and worker.ids() == ["before", "after"]


def test_a_kill_while_the_sink_is_down_loses_nothing(serve, handler, redis):
    store = redis()
    store.stop()
    worker = handler(lambda call: said(200, call.id.encode(), "text/plain"))
    server = serve(chain({"http": worker.url, "reply": f"redis://127.0.0.1:{store.port}/0?key={{id}}"}))
    server.push_many("work", [{"id": f"m{i}", "body": i} for i in range(20)])
    eventually(lambda: worker.count() == 20, "all have succeeded, and none is published")
    server.kill()
    store.start()
    server.start()
    server.drained("work")
    assert store.say("DBSIZE") == "20"


def test_a_stop_while_the_sink_is_down_hands_the_messages_back(serve, handler, redis):
    store = redis()
    store.stop()
    worker = handler(lambda call: said(200, call.id.encode(), "text/plain"))
    server = serve(chain({"http": worker.url, "reply": f"redis://127.0.0.1:{store.port}/0?key={{id}}"}),
                   server={"drain": "200ms"})
    server.push("work", 1, id="m1")
    eventually(lambda: worker.count() == 1, "it has succeeded")
    server.stop()
    store.start()
    server.start()
    server.drained("work")
    assert store.say("GET", "m1") == "m1" and [call.attempt for call in worker.calls] == [1, 1]


def test_a_sink_that_refuses_is_asked_again_and_a_password_is_used_and_not_shown(serve, handler, redis):
    store = redis("--requirepass", "s%cret")
    worker = handler(lambda call: said(200, call.id.encode(), "text/plain"))
    url = f"redis://:s%25cret@127.0.0.1:{store.port}/0?key={{id}}"
    queues = chain({"http": worker.url, "reply": url})
    queues["wrong"] = {"handler": {"http": worker.url, "reply": url.replace("s%25cret", "guess")}}
    server = serve(queues, server={"drain": "200ms"})
    server.push("work", 1, id="right")
    server.push("wrong", 1, id="wrong")
    server.drained("work")
    assert store.say("--no-auth-warning", "-a", "s%cret", "GET", "right") == "right"
    eventually(lambda: "queue wrong: an answer could not be published" in server.log(), "the refusal is told")
    assert "s%cret" not in server.log() and "guess" not in server.log()
    assert server.queue("wrong")["depth"] == 1
    server.process.terminate()  # its answer is still unpublished: the drain must not last for ever
    assert server.process.wait(timeout=PATIENCE_S) == 0


def test_other_schemes_are_not_in_this_version(tmp_path):
    for url in ("sqs://region/queue", "pubsub://project/topic"):
        (tmp_path / "impound.yaml").write_text(json.dumps({"queues": chain({"http": "http://h", "reply": url})}))
        done = impound("check", "-c", tmp_path / "impound.yaml")
        assert done.returncode == 1 and "is not in this version" in done.stderr + done.stdout
