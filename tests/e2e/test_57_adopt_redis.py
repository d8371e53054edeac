"""Dead letters that others left in Redis, adopted from the real server: by looking, then by taking."""
import base64
import datetime
import json
import os
import shutil
import subprocess
import sys
import time
import zlib

import pytest

import adoption
from brokers import Redis
from harness import PATIENCE_S, eventually, impound, scaled
from relay import Relay

client = pytest.importorskip("redis")


@pytest.fixture(name="there")
def fixture_there(redis):
    there = client.Redis(port=redis.port, socket_timeout=PATIENCE_S)
    there.flushall()
    return there


def everything(there):
    """All keys with their values, as the server itself dumps them."""
    return {key: there.dump(key) for key in there.keys("*")}


# ---- a worker that moves what it cannot do to a list ----

# Its calls are answered by the message itself: what it says under "answers" comes in turn.
WORKER = """
import json, sys, time
import redis

there = redis.Redis(port=int(sys.argv[1]), decode_responses=True)
LIMIT = 5

def judge(answer):
    if answer == "slow":
        return "retry", "timeout"
    if answer == 429:
        return "retry", "rate_limit"
    if answer == 404:
        return "dlq", "model_gone:no such model"
    if answer == 400:
        return "dlq", "bad_request:max_tokens is too large"
    return "dlq", f"unknown:{answer}"

def park(message, reason):
    there.lpush("q:dlq", json.dumps({**message, "dlq_reason": reason, "dlq_at": time.time()}))
    there.zrem("q:attempts", message["id"])

while (raw := there.rpop("q:main")) is not None:
    message = json.loads(raw)
    attempts = int(there.zscore("q:attempts", message["id"]) or 0)
    answer = message["answers"][min(attempts, len(message["answers"]) - 1)]
    if answer == 200:
        there.zrem("q:attempts", message["id"])
        continue
    action, reason = judge(answer)
    if action == "retry" and attempts + 1 < LIMIT:
        there.zadd("q:attempts", {message["id"]: attempts + 1})
        there.lpush("q:main", raw)
    else:
        park(message, reason if action == "dlq" else f"max_attempts:{reason}")
"""

JOBS = [
    {"id": "a-1", "model": "small", "max_tokens": 64, "messages": [{"role": "user", "content": "é 1.0"}],
     "answers": [404]},
    {"id": "a-2", "model": "large", "max_tokens": 10 ** 20, "messages": [], "answers": [400]},
    {"id": "a-3", "model": "large", "max_tokens": 64, "messages": [], "answers": [429]},
    {"id": "a-4", "model": "large", "max_tokens": 64, "messages": [], "answers": ["slow"]},
    {"id": "a-5", "model": "large", "max_tokens": 64, "messages": [], "answers": ["KeyError"]},
    {"id": "a-6", "model": "large", "max_tokens": 64, "messages": [], "answers": [429, 200]},
]
REASONS = {"a-1": "model_gone", "a-2": "bad_request", "a-3": "max_attempts:rate_limit", "a-4": "max_attempts:timeout",
           "a-5": "unknown"}


def run_worker(redis, jobs, there):
    for job in jobs:
        there.lpush("q:main", json.dumps(job))
    subprocess.run([sys.executable, "-c", WORKER, str(redis.port)], check=True, timeout=PATIENCE_S)
    assert there.llen("q:main") == 0


def by_id(letters):
    return {letter["message"]["id"]: letter for letter in letters}


def test_a_workers_own_dead_list_is_looked_at_and_left_as_it_is(serve, redis, there):
    run_worker(redis, JOBS, there)
    before = everything(there)
    source = redis.url("list=q:dlq")
    server = serve(adoption.QUEUES, adopt=adoption.entry(source))
    assert adoption.looked(server)["adopted"] == 5
    assert server.metric("impound_adopted_total", adopt=adoption.NAME) == 5
    letters = by_id(adoption.whole(server))
    assert {name: one["reason"] for name, one in letters.items()} == REASONS
    for job in JOBS[:5]:
        letter = letters[job["id"]]
        assert letter["message"]["body"] == job, "the message as it was, without what the worker added"
        assert (letter["cause"], letter["state"], letter["read_only"]) == ("adopted", "pending_review", True)
        assert letter["source"] == {"kind": "redis", "list": "q:main"}
        assert letter["context"]["adopted"]["from"] == adoption.NAME
        adoption.cannot_be_decided(server, letter)
    assert everything(there) == before, "a look changes nothing at the broker"
    assert "read-only" in server.cli("discard", letters["a-1"]["id"], "--why", "x", "--apply", expect=1)

    adoption.restart(server, adoption.entry(source))
    seen = adoption.looked(server)
    assert (seen["adopted"], seen["known"]) == (0, 5)
    assert by_id(adoption.whole(server)) == letters, "the same letters, not doubled"
    assert everything(there) == before


def test_what_was_dead_for_long_is_stale(serve, redis, there):
    hour_ago = time.time() - 3600
    there.rpush("q:dlq", json.dumps({"id": "old", "dlq_reason": "timeout", "dlq_at": 1760000000.5}),
                json.dumps({"id": "young", "dlq_reason": "timeout", "dlq_at": hour_ago}))
    server = serve({"idle": {"handler": {"exec": ["/bin/true"]}, "dlq": {"fresh": {"within": "6h"}}}},
                   adopt=adoption.entry(redis.url("list=q:dlq"), mode="take", dlq="idle.dlq", queue="idle"))
    letters = eventually(lambda: len(found := by_id(server.letters("idle.dlq"))) == 2 and found, "both are adopted")
    assert letters["old"]["created_at"] == letters["old"]["dead_at"] == "2025-10-09T08:53:20.500Z"
    plan = server.post("/v1/replays", {"filter": {"dlq": "idle.dlq"}, "dry_run": True}).json
    assert (plan["selected"], plan["stale"]) == (2, 1)


def test_what_was_looked_at_is_taken_and_nothing_is_doubled(serve, redis, there):
    run_worker(redis, JOBS, there)
    source = redis.url("list=q:dlq")
    server = serve(adoption.QUEUES, adopt=adoption.entry(source))
    adoption.looked(server)
    seen = by_id(adoption.whole(server))
    run_worker(redis, [{"id": "b-1", "answers": [400]}], there)
    adoption.restart(server, adoption.entry(source, "take"))
    eventually(lambda: there.llen("q:dlq") == 0 and adoption.view(server)["taken"] == 5, "all are taken")
    letters = by_id(adoption.whole(server))
    assert sorted(letters) == ["a-1", "a-2", "a-3", "a-4", "a-5", "b-1"]
    for name, letter in seen.items():
        assert letters[name] == {key: value for key, value in letter.items() if key != "read_only"}
    view = adoption.view(server)
    assert (view["adopted"], view["taken"], view["state"], view["trouble"]) == (1, 5, "reading", None)
    run_worker(redis, [{"id": "b-2", "answers": [404]}], there)
    eventually(lambda: "b-2" in by_id(adoption.whole(server)), "what dies later comes, too")
    assert server.post(f"/v1/letters/{letters['a-5']['id']}/resolve", {"why": "done by hand"}).status == 200
    server.stop()
    assert there.keys("q:dlq*") == [], "nothing of ours is left there"


def test_equal_elements_are_as_many_letters(serve, redis, there):
    there.lpush("q:dlq", *[b"same"] * 3, b'{"id": "x", "dlq_reason": "timeout", "dlq_at": 1700000000.5}')
    there.lpush("q:dlq", *[b'{"id": "x", "dlq_reason": "timeout", "dlq_at": 1700000001.5}'] * 2)
    source = redis.url("list=q:dlq")
    server = serve(adoption.QUEUES, adopt=adoption.entry(source))
    assert adoption.looked(server)["adopted"] == 6
    adoption.restart(server, adoption.entry(source))
    assert adoption.looked(server)["known"] == 6
    adoption.restart(server, adoption.entry(source, "take"))
    eventually(lambda: adoption.view(server)["taken"] == 6, "each is taken")
    letters = adoption.whole(server)
    assert len(letters) == 6 and len({one["message"]["id"] for one in letters}) == 6
    assert not any(one.get("read_only") for one in letters)


def test_kill_9_while_taking_loses_and_doubles_nothing(serve, redis, there):
    total = scaled(20000, least=2000)
    pipeline = there.pipeline(transaction=False)
    for number in range(total):
        pipeline.lpush("q:dlq", json.dumps({"id": f"k-{number}", "dlq_reason": "timeout", "dlq_at": number + 0.5}))
    pipeline.execute()
    server = serve(adoption.QUEUES, adopt=adoption.entry(redis.url("list=q:dlq"), "take"))
    for life in range(scaled(20, least=4)):
        wanted = total * (life + 1) // (scaled(20, least=4) + 2)
        eventually(lambda: server.dlq(adoption.DLQ).get("depth", 0) >= wanted or there.llen("q:dlq") == 0,
                   "it takes some")
        server.kill()
        server.start()
    eventually(lambda: there.eval("return redis.call('LLEN', KEYS[1]) + #redis.call('KEYS', KEYS[1] .. ':impound:*')",
                                  1, "q:dlq") == 0, "all are taken and settled")
    assert server.dlq(adoption.DLQ)["depth"] == total
    names = [one["message"]["id"] for one in server.letters(adoption.DLQ)]
    assert len(names) == total and set(names) == {f"k-{number}" for number in range(total)}


def test_a_full_dlq_stops_it_and_peeked_letters_can_be_taken_nevertheless(serve, redis, there):
    there.lpush("q:dlq", *[json.dumps({"id": f"f-{n}", "dlq_reason": "timeout", "dlq_at": n + 0.5}) for n in range(8)])
    source, dlqs = redis.url("list=q:dlq"), {adoption.DLQ: {"cap": 5}}
    server = serve(adoption.QUEUES, adopt=adoption.entry(source), dlqs=dlqs)
    eventually(lambda: "full" in (adoption.view(server)["trouble"] or ""), "it says why it waits")
    assert server.dlq(adoption.DLQ)["depth"] == 5
    adoption.restart(server, adoption.entry(source, "take"), dlqs=dlqs)
    eventually(lambda: adoption.view(server)["taken"] == 5, "those that are letters here are taken")
    assert server.dlq(adoption.DLQ)["depth"] == 5
    answer = server.post("/v1/letters/discard", {"why": "room", "filter": {"dlq": adoption.DLQ}})
    assert answer.json["count"] == 5
    eventually(lambda: adoption.view(server)["adopted"] == 3, "there is room for the rest")


def test_letters_go_back_to_their_list_by_how_their_reason_begins(serve, redis, there):
    run_worker(redis, JOBS, there)
    source = redis.url("list=q:dlq")
    server = serve(adoption.QUEUES, adopt=adoption.entry(source, "take"), dlqs={adoption.DLQ: {"max_replays": 2}})
    eventually(lambda: adoption.view(server)["adopted"] == 5, "all are taken")
    before = by_id(adoption.whole(server))
    listed = json.loads(server.cli("ls", adoption.DLQ, "--reason", "max_attempts", "--json"))["letters"]
    assert sorted(one["message"]["id"] for one in listed) == ["a-3", "a-4"]
    choice = ("--dlq", adoption.DLQ, "--reason", "max_attempts", "--to", "origin")
    assert there.llen("q:main") == 0
    server.cli("replay", *choice)
    assert there.llen("q:main") == 0, "a plan sends nothing"
    server.cli("replay", *choice, "--apply")
    sent = [element.decode() for element in there.lrange("q:main", 0, -1)]
    assert sorted(sent) == sorted(json.dumps(job) for job in JOBS[2:4]), "the original's bytes, and all of its fields"
    for name in ("a-3", "a-4"):
        letter = server.get(f"/v1/letters/{before[name]['id']}").json
        assert (letter["state"], letter["resolution"], letter["replays"]) == ("resolved", "replayed", 1)

    run_worker(redis, [], there)
    eventually(lambda: server.dlq(adoption.DLQ)["depth"] == 5, "they are dead again")
    after = by_id(adoption.whole(server))
    assert {name: one["id"] for name, one in after.items()} == {name: one["id"] for name, one in before.items()}
    for name in ("a-3", "a-4"):
        assert (after[name]["replays"], after[name]["state"], after[name]["reason"]) == (
            1, "pending_review", REASONS[name])
        assert len(after[name]["history"]) == len(before[name]["history"]) + 1
    server.cli("replay", *choice, "--apply")
    run_worker(redis, [], there)
    eventually(lambda: server.dlq(adoption.DLQ)["depth"] == 5, "once more")
    server.cli("replay", *choice, "--apply")
    assert there.llen("q:main") == 0, "twice is enough: they are escalated"
    assert all(one["escalated_at"] for name, one in by_id(adoption.whole(server)).items() if name in ("a-3", "a-4"))


def test_letters_belong_to_the_queue_whose_source_they_died_in(serve, redis, there, handler):
    worker = handler()
    queues = {"main": {"source": redis.url("list=q:main"), "handler": {"http": worker.url}}}
    there.lpush("q:dlq", *[json.dumps({"id": f"h-{n}", "dlq_reason": "timeout", "dlq_at": n + 0.5}) for n in range(2)])
    server = serve(queues, adopt=adoption.entry(redis.url("list=q:dlq"), "take"))
    eventually(lambda: adoption.view(server)["adopted"] == 2, "both are taken")
    letters = by_id(adoption.whole(server))
    assert [one["message"]["queue"] for one in letters.values()] == ["main", "main"]
    server.cli("replay", letters["h-0"]["id"], "--apply")
    eventually(lambda: [call.body for call in worker.calls] == [b'{"id": "h-0"}'], "its handler has it")
    server.cli("replay", letters["h-1"]["id"], "--to", "origin", "--apply")
    eventually(lambda: [call.body for call in worker.calls] == [b'{"id": "h-0"}', b'{"id": "h-1"}'],
               "the other one came by way of the list")
    eventually(lambda: server.dlq(adoption.DLQ)["depth"] == 0, "all are resolved")


def test_among_others_read_only_letters_are_left_alone(serve, redis, there, handler):
    there.lpush("q:dlq", *[json.dumps({"id": f"r-{n}", "dlq_reason": "timeout", "dlq_at": n + 0.5}) for n in range(3)])
    queues = {"orders": {"handler": {"http": handler(lambda call: 400).url}}}
    server = serve(queues, adopt=adoption.entry(redis.url("list=q:dlq"), dlq="orders.dlq"))
    adoption.looked(server)
    server.push_many("orders", [{"body": {"n": n}} for n in range(4)])
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 7, "both kinds are there")
    plan = server.post("/v1/replays", {"filter": {"dlq": "orders.dlq"}, "dry_run": True}).json
    assert (plan["selected"], plan["read_only"]) == (4, 3)
    assert "3 read-only" in server.cli("replay", "--dlq", "orders.dlq")
    answer = server.post("/v1/letters/discard", {"why": "x", "filter": {"dlq": "orders.dlq"}, "limit": 2}).json
    assert answer["count"] == 2 and answer["cursor"]
    server.cli("discard", "--dlq", "orders.dlq", "--why", "x", "--apply")
    assert server.dlq("orders.dlq")["depth"] == 3
    refused = server.cli("discard", "--dlq", "orders.dlq", "--why", "x", "--apply", expect=1)
    assert "read-only" in refused and "mode: take" in refused


# ---- streams ----

def test_a_dead_stream_is_looked_at_then_taken(serve, redis, there):
    for number in range(300):
        there.xadd("events.dlq", {"body": b"\x00\xff%d" % number, "key": f"k{number}", "reason": "x"})
    there.xgroup_create("events.dlq", "impound", id="0")
    before = everything(there)
    source = redis.url("stream=events.dlq&group=impound")
    server = serve(adoption.QUEUES, adopt=adoption.entry(redis.url("stream=events.dlq")))  # who looks needs no group
    assert adoption.looked(server)["adopted"] == 300
    assert impound("check", "-c", server.config_path, "--connect").returncode == 0
    assert everything(there) == before
    letters = adoption.whole(server)
    assert all(one["read_only"] for one in letters)
    at = letters[0]["context"]["adopted"]["at"]
    assert at == {"kind": "redis", "stream": "events.dlq", "entry": at["entry"]}
    adoption.restart(server, adoption.entry(source, "take"))
    eventually(lambda: adoption.view(server)["taken"] == 300, "each is taken")
    eventually(lambda: there.xpending("events.dlq", "impound")["pending"] == 0, "and acknowledged")
    after = adoption.whole(server)
    assert [one["id"] for one in after] == [one["id"] for one in letters]
    assert [(one["message"]["key"], one["message"]["body_base64"]) for one in after] == [
        (one["message"]["key"], one["message"]["body_base64"]) for one in letters]
    adoption.restart(server, adoption.entry(source))
    assert adoption.looked(server)["known"] == 300, "entries that are acknowledged are still in the stream"
    assert server.dlq(adoption.DLQ)["depth"] == 300


# ---- trouble ----

def test_trouble_is_told_and_ends_by_itself(serve, tmp_path):
    server = Redis(tmp_path / "redis")
    source = server.url("list=q:dlq")
    ours = serve(adoption.QUEUES, adopt=[{"name": "a", "source": source},
                                         {"name": "b", "source": source, "mode": "take"}])
    for name in "ab":
        eventually(lambda: adoption.view(ours, name)["trouble"], "it is told")
        assert adoption.view(ours, name)["state"] == "waiting"
        assert ours.metric("impound_adopt_trouble", adopt=name) == 1
    for words in (["stats"], ["queues"], ["dlqs", "a.dlq"]):
        table = ours.cli(*words)
        assert "ADOPT" in table and "refused" in table, table
    assert [one["adopt"] for one in ours.get("/v1/queues").json["adoptions"]] == ["a", "b"]
    assert [one["adopt"] for one in ours.dlq("b.dlq")["adoptions"]] == ["b"]
    checked = impound("check", "-c", ours.config_path, "--connect")
    assert checked.returncode == 1 and 'adopt "a"' in checked.stderr and str(server.port) in checked.stderr
    assert "trying again" not in checked.stderr, "a check tells of each once"
    assert ours.log().count("Connection refused") == 2, "so does the log, as an adopt's"
    assert "queue a" not in ours.log() and "queue b" not in ours.log()
    try:
        server.start()
        client.Redis(port=server.port).lpush("q:dlq", b"one")
        assert adoption.looked(ours, "a")["trouble"] is None
        eventually(lambda: adoption.view(ours, "b")["state"] == "reading", "it goes on")
        assert ours.metric("impound_adopt_trouble", adopt="b") == 0
        assert "refused" not in ours.cli("queues")
        assert impound("check", "-c", ours.config_path, "--connect").returncode == 0
    finally:
        server.close()


def test_a_server_that_does_not_answer_is_told_of_and_looked_at_later(serve, tmp_path):
    server = Redis(tmp_path / "redis").start()
    try:
        client.Redis(port=server.port).lpush("q:dlq", b"one")
        server.freeze()
        ours = serve(adoption.QUEUES, adopt=adoption.entry(server.url("list=q:dlq")))
        eventually(lambda: "does not answer" in (adoption.view(ours)["trouble"] or ""), "it is told")
        checked = impound("check", "-c", ours.config_path, "--connect")
        assert checked.returncode == 1 and "does not answer" in checked.stderr, checked.stderr
        server.thaw()
        assert adoption.looked(ours)["adopted"] == 1
    finally:
        server.thaw()
        server.close()


def test_who_may_not_look_is_told_so_and_looks_once_he_may(serve, tmp_path):
    server = Redis(tmp_path / "redis", "--requirepass", "sesame").start()
    try:
        there = client.Redis(port=server.port, password="sesame")
        there.lpush("q:dlq", b"one")
        ours = serve(adoption.QUEUES, adopt=adoption.entry(server.url("list=q:dlq")))
        eventually(lambda: "password" in (adoption.view(ours)["trouble"] or ""), "it is told")
        assert adoption.view(ours)["state"] == "waiting"
        there.config_set("requirepass", "")
        assert adoption.looked(ours)["adopted"] == 1
    finally:
        server.close()


# ---- Sidekiq ----

FAILED_MEMBERS = {"error_message", "error_class", "failed_at", "retry_count", "retried_at", "error_backtrace"}


def sidekiq_job(number, **more):
    """A job as Sidekiq's dead set has it: its backtrace deflated, in base64."""
    trace = [f"app/jobs/price.rb:{number}:in `perform'", "sidekiq/processor.rb:202:in `execute_job'"]
    return {"retry": True, "queue": "critical", "class": "PriceJob", "args": [number, {"pin": "110001", "p": 1.0}],
            "jid": f"{number:024x}", "created_at": 1700000000.25, "enqueued_at": 1700000001.5,
            "error_message": f"order {number} has no price", "error_class": "KeyError",
            "failed_at": 1700000002.125, "retry_count": 25, "retried_at": 1700000900.75,
            "error_backtrace": base64.b64encode(zlib.compress(json.dumps(trace).encode())).decode(), **more}


def bury_jobs(there, count):
    jobs = [json.dumps(sidekiq_job(number), separators=(",", ":")) for number in range(count)]
    there.zadd("dead", {job: 1700001000 + number for number, job in enumerate(jobs)})
    return jobs


def queue_of_critical(worker):
    """A queue that takes the jobs of Sidekiq's queue `critical`."""
    return {"critical": {"source": "builtin", "handler": {"http": worker.url}}}


@pytest.mark.parametrize("looked_at", [False, True])
def test_what_sidekiq_had_set_for_a_later_retry_waits_for_that_time(serve, handler, redis, there, looked_at):
    """Taken at once, or looked at before: it is retried when Sidekiq would have, and no letter meanwhile."""
    worker = handler()
    now = time.time()
    later = sidekiq_job(1, retried_at=now)
    there.zadd("retry", {json.dumps(later): round(now) + 3600, json.dumps(sidekiq_job(2)): now - 5})
    source = redis.url("zset=retry")
    server = serve(queue_of_critical(worker), adopt=adoption.entry(source, "peek" if looked_at else "take", queue="critical"))
    if looked_at:
        assert adoption.looked(server)["adopted"] == 2
        assert server.dlq(adoption.DLQ)["depth"] == 2 and there.zcard("retry") == 2
        server.stop()
        server.configure(queue_of_critical(worker), adopt=adoption.entry(source, "take", queue="critical"))
        server.start()
    eventually(lambda: worker.count() == 1, "the one that is due is handed over")
    eventually(lambda: there.zcard("retry") == 0, "Sidekiq's set is empty")
    job = {name: value for name, value in sidekiq_job(2).items() if name not in FAILED_MEMBERS}
    assert json.loads(worker.calls[0].body) == job and worker.calls[0].attempt == sidekiq_job(2)["retry_count"] + 2
    waiting = server.message(later["jid"])
    assert (waiting["state"], waiting["message"]["queue"]) == ("pending_retry", "critical")
    at = datetime.datetime.fromisoformat(waiting["next_attempt_at"].replace("Z", "+00:00")).timestamp()
    assert at == round(now) + 3600
    assert waiting["failure"]["error_type"] == later["error_class"]
    assert server.queue("critical")["pending_retry"] == 1
    assert server.dlq(adoption.DLQ)["depth"] == 0
    server.kill()
    server.start()
    assert server.message(later["jid"])["next_attempt_at"] == waiting["next_attempt_at"]


def test_what_sidekiq_had_set_for_a_later_retry_is_a_letter_without_a_queue(serve, redis, there):
    there.zadd("retry", {json.dumps(sidekiq_job(1)): time.time() + 3600})
    server = serve(adoption.QUEUES, adopt=adoption.entry(redis.url("zset=retry"), "take"))
    eventually(lambda: there.zcard("retry") == 0, "it is taken")
    letter, = adoption.whole(server)
    assert (letter["state"], letter["message"]["id"]) == ("pending_review", sidekiq_job(1)["jid"])


def test_sidekiqs_dead_set_is_looked_at_then_taken(serve, redis, there):
    bury_jobs(there, 300)
    before = everything(there)
    source = redis.url("zset=dead")
    server = serve(adoption.QUEUES, adopt=adoption.entry(source))
    assert adoption.looked(server)["adopted"] == 300
    assert everything(there) == before
    letter = adoption.whole(server)[7]
    assert letter["context"]["adopted"]["convention"] == "sidekiq"
    assert letter["message"]["id"] == f"{7:024x}" and letter["message"]["queue"] == "critical"
    assert letter["source"] == {"kind": "redis", "list": "queue:critical"}
    assert letter["task"] == {"id": f"{7:024x}", "type": "PriceJob"}
    assert letter["attempts"] == 26 and letter["max_attempts"] == 26
    assert letter["failure"]["error_type"] == "KeyError"
    assert letter["failure"]["error_message"] == "order 7 has no price"
    assert "app/jobs/price.rb:7" in letter["failure"]["stack_trace"]
    assert letter["first_failure_at"] == "2023-11-14T22:13:22.125Z"
    assert letter["last_failure_at"] == "2023-11-14T22:28:20.750Z"
    failed = {"error_message", "error_class", "failed_at", "retry_count", "retried_at", "error_backtrace"}
    job = {name: value for name, value in sidekiq_job(7).items() if name not in failed}
    assert letter["message"]["size"] == len(json.dumps(job, separators=(",", ":"))), "byte for byte, but for the failure"
    assert letter["message"]["body"] == job
    adoption.cannot_be_decided(server, letter)

    adoption.restart(server, adoption.entry(source, "take"))
    eventually(lambda: there.zcard("dead") == 0, "each is removed")
    assert adoption.view(server)["taken"] == 300 and server.dlq(adoption.DLQ)["depth"] == 300
    bury_jobs(there, 301)
    eventually(lambda: there.zcard("dead") == 0, "what is buried again is known, and the new one is taken")
    assert server.dlq(adoption.DLQ)["depth"] == 301


def test_kill_9_while_taking_from_a_set_loses_and_doubles_nothing(serve, redis, there):
    total = scaled(10000, least=1000)
    bury_jobs(there, total)
    server = serve(adoption.QUEUES, adopt=adoption.entry(redis.url("zset=dead"), "take"))
    for life in range(4):
        eventually(lambda: server.dlq(adoption.DLQ).get("depth", 0) >= total * (life + 1) // 6, "it takes some")
        server.kill()
        server.start()
    eventually(lambda: there.zcard("dead") == 0, "all are taken and removed")
    assert server.dlq(adoption.DLQ)["depth"] == total
    assert len({one["message"]["id"] for one in server.letters(adoption.DLQ)}) == total


SIDEKIQ_WORKER = """
require "sidekiq"
Sidekiq.configure_server { |config| config.redis = {url: ENV.fetch("REDIS_URL")} }
Sidekiq.configure_client { |config| config.redis = {url: ENV.fetch("REDIS_URL")} }
class PriceJob
  include Sidekiq::Worker
  sidekiq_options retry: 0, backtrace: true, queue: "critical"
  def perform(order)
    raise KeyError, "order #{order} has no price" if Sidekiq.redis { |redis| redis.get("fixed") }.nil?
    Sidekiq.redis { |redis| redis.incr("priced") }
  end
end
ARGV.first.to_i.times { |number| PriceJob.perform_async(number) } if $PROGRAM_NAME == __FILE__
"""


def run_sidekiq(redis, folder, until, push=0):
    """The real one, until so much is done."""
    worker = folder / "worker.rb"
    worker.write_text(SIDEKIQ_WORKER)
    environment = {**os.environ, "REDIS_URL": f"redis://127.0.0.1:{redis.port}/0"}
    if push:
        subprocess.run(["ruby", str(worker), str(push)], env=environment, check=True, capture_output=True, timeout=PATIENCE_S)
    with open(folder / "sidekiq.log", "ab") as log:
        process = subprocess.Popen(["sidekiq", "-r", str(worker), "-q", "critical", "-c", "2"], env=environment,
                                   stdout=log, stderr=log, cwd=folder)
    try:
        eventually(until, f"Sidekiq is done; its log: {folder / 'sidekiq.log'}")
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_S)


def test_a_job_that_is_put_into_the_set_again_is_another(serve, redis, there):
    there.zadd("dead", {"the same": 1})
    server = serve(adoption.QUEUES, adopt=adoption.entry(redis.url("zset=dead"), "take"))
    eventually(lambda: adoption.view(server)["adopted"] == 1 and there.zcard("dead") == 0, "it is taken")
    there.zadd("dead", {"the same": 2})
    eventually(lambda: adoption.view(server)["adopted"] == 2 and there.zcard("dead") == 0, "so is the next")
    assert len(server.letters(adoption.DLQ)) == 2


def test_a_job_that_is_put_into_the_set_again_before_it_is_removed_is_not_removed(serve, redis, there):
    there.zadd("dead", {"the same": 1})
    relay = Relay(redis.port, b"ZREM", waits=True)
    try:
        server = serve(adoption.QUEUES, adopt=adoption.entry(redis.url("zset=dead", port=relay.port), "take"))
        assert relay.reached.wait(PATIENCE_S), "it is about to be removed"
        there.zadd("dead", {"the same": 2})
        relay.go.set()
        eventually(lambda: adoption.view(server)["adopted"] == 2 and there.zcard("dead") == 0, "both are taken")
        server.stop()
    finally:
        relay.close()


def test_jobs_that_the_real_sidekiq_buried(serve, redis, there, tmp_path):
    if not shutil.which("sidekiq"):
        pytest.skip("ruby-sidekiq is not installed")
    run_sidekiq(redis, tmp_path, lambda: there.zcard("dead") == 5, push=5)
    buried = [json.loads(job) for job in there.zrange("dead", 0, -1)]
    server = serve(adoption.QUEUES, adopt=adoption.entry(redis.url("zset=dead"), "take"))
    eventually(lambda: there.zcard("dead") == 0, "each is taken")
    letters = by_id(adoption.whole(server))
    assert sorted(letters) == sorted(job["jid"] for job in buried)
    for job in buried:
        letter = letters[job["jid"]]
        assert letter["message"]["body"]["args"] == job["args"] and letter["message"]["queue"] == "critical"
        assert letter["failure"]["error_type"] == "KeyError"
        assert letter["failure"]["error_message"] == job["error_message"]
        assert "worker.rb:9:in `perform'" in letter["failure"]["stack_trace"], "also where it is deflated"
    there.set("fixed", 1)
    server.cli("replay", "--dlq", adoption.DLQ, "--to", "origin", "--apply")
    run_sidekiq(redis, tmp_path, lambda: there.get("priced") == b"5")
    assert there.zcard("dead") == 0 and server.dlq(adoption.DLQ)["depth"] == 0


# ---- asynq ----

# asynq's message of a task, as its own definition numbers the fields.
TASK = [("type", 1, "string"), ("payload", 2, "bytes"), ("id", 3, "string"), ("queue", 4, "string"),
        ("retry", 5, "int32"), ("retried", 6, "int32"), ("error_msg", 7, "string"), ("timeout", 8, "int64"),
        ("deadline", 9, "int64"), ("unique_key", 10, "string"), ("last_failed_at", 11, "int64"),
        ("retention", 12, "int64"), ("completed_at", 13, "int64"), ("group_key", 14, "string")]


def task_class():
    pytest.importorskip("google.protobuf")
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    file = descriptor_pb2.FileDescriptorProto(name="task.proto", package="peer", syntax="proto3")
    message = file.message_type.add(name="TaskMessage")
    kinds = descriptor_pb2.FieldDescriptorProto
    for name, number, kind in TASK:
        message.field.add(name=name, number=number, label=kinds.LABEL_OPTIONAL,
                          type=getattr(kinds, f"TYPE_{kind.upper()}"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    described = pool.FindMessageTypeByName("peer.TaskMessage")
    if hasattr(message_factory, "GetMessageClass"):  # since protobuf 4.22
        return message_factory.GetMessageClass(described)
    return message_factory.MessageFactory(pool).GetPrototype(described)


def archive_tasks(there, count, queue="mail"):
    """Tasks as asynq's archive has them: an id in a set, and a hash with the message."""
    make = task_class()
    for number in range(count):
        name = f"3f2504e0-4f89-41d3-9a0c-{number:012x}"
        task = make(type="email:welcome", payload=b"\x00\xff%d" % number, id=name, queue=queue, retry=25, retried=25,
                    error_msg=f"smtp: {number} refused", timeout=1800, unique_key=f"asynq:{{{queue}}}:unique:{number}",
                    last_failed_at=1700000002)
        there.hset(f"asynq:{{{queue}}}:t:{name}", mapping={
            "msg": task.SerializeToString(), "state": "archived", "unique_key": task.unique_key})
        there.set(task.unique_key, name)
        there.zadd(f"asynq:{{{queue}}}:archived", {name: 1700000002 + number})


@pytest.mark.parametrize("name, ids", [("bull:orders:failed", ["12", "13"]),
                                       ("rq:failed:default", ["4f6c2d5e-9f0a-4c58-8f4b-0a8f5a3e7c11"])])
@pytest.mark.parametrize("mode", ["peek", "take"])
def test_a_set_of_ids_is_refused_and_left_as_it_is(serve, redis, there, name, ids, mode):
    there.zadd(name, {one: number for number, one in enumerate(ids)})
    before = there.zrange(name, 0, -1, withscores=True)
    server = serve(adoption.QUEUES, adopt=adoption.entry(redis.url(f"zset={name}"), mode))
    eventually(lambda: "holds ids of jobs, not messages" in (adoption.view(server)["trouble"] or ""), "it is told")
    checked = impound("check", "-c", server.config_path, "--connect")
    assert checked.returncode == 1 and name in checked.stderr and "holds ids of jobs" in checked.stderr
    assert there.zrange(name, 0, -1, withscores=True) == before
    assert server.letters("legacy.dlq", state="pending_review") == []


def test_asynqs_archive_is_looked_at_then_taken(serve, redis, there):
    archive_tasks(there, 200)
    there.set("asynq:{mail}:unique:other", "somebody's")
    before = everything(there)
    source = redis.url("asynq=mail")
    server = serve(adoption.QUEUES, adopt=adoption.entry(source))
    assert adoption.looked(server)["adopted"] == 200
    assert everything(there) == before
    letter = adoption.whole(server)[3]
    assert letter["context"]["adopted"]["convention"] == "asynq"
    assert letter["message"]["id"] == "3f2504e0-4f89-41d3-9a0c-000000000003"
    assert base64.b64decode(letter["message"]["body_base64"]) == b"\x00\xff3", "the payload, byte for byte"
    assert letter["message"]["queue"] == "mail" and letter["task"]["type"] == "email:welcome"
    assert letter["failure"]["error_message"] == "smtp: 3 refused"
    adoption.cannot_be_decided(server, letter)
    adoption.restart(server, adoption.entry(source, "take"))
    eventually(lambda: there.keys("asynq:*") == [b"asynq:{mail}:unique:other"], "each task is gone, with its locks")
    assert adoption.view(server)["taken"] == 200 and server.dlq(adoption.DLQ)["depth"] == 200


def test_asynqs_tasks_go_back_to_their_queue_and_are_known_when_they_die_again(serve, redis, there):
    archive_tasks(there, 2)
    server = serve(adoption.QUEUES, adopt=adoption.entry(redis.url("asynq=mail"), "take"))
    eventually(lambda: adoption.view(server)["adopted"] == 2 and there.zcard("asynq:{mail}:archived") == 0, "both are taken")
    letter, blocked = adoption.whole(server)
    key = f"asynq:{{mail}}:t:{letter['message']['id']}"
    other = f"asynq:{{mail}}:t:{blocked['message']['id']}"
    there.hset(other, mapping={"msg": b"", "state": "completed"})
    answer = server.cli("replay", "--dlq", adoption.DLQ, "--to", "origin")
    assert "redis asynq mail" in answer
    server.cli("replay", letter["id"], "--to", "origin", "--apply")
    assert there.lrange("asynq:{mail}:pending", 0, -1) == [letter["message"]["id"].encode()]
    assert there.hget(key, "state") == b"pending" and int(there.hget(key, "pending_since")) > 1700000000 * 10 ** 9
    task = task_class()()
    task.ParseFromString(there.hget(key, "msg"))
    assert (task.type, task.payload, task.id, task.queue) == ("email:welcome", b"\x00\xff0", letter["message"]["id"], "mail")
    assert (task.retry, task.retried, task.error_msg, task.last_failed_at, task.timeout) == (25, 0, "", 0, 1800)

    there.delete("asynq:{mail}:pending")
    task.retried, task.error_msg, task.last_failed_at = 25, "smtp: refused again", 1700009000
    there.hset(key, mapping={"msg": task.SerializeToString(), "state": "archived"})
    there.zadd("asynq:{mail}:archived", {letter["message"]["id"]: 1700009000})
    again = eventually(lambda: [one for one in adoption.whole(server) if one["replays"] == 1], "it is dead again")[0]
    assert again["id"] == letter["id"] and again["failure"]["error_message"] == "smtp: refused again"

    server.cli("replay", blocked["id"], "--to", "origin", "--apply", "--detach")
    refused = eventually(lambda: server.get(f"/v1/letters/{blocked['id']}").json["why"], "it is refused")
    assert "asynq has a task with that id" in refused and "completed" in refused
    assert there.hget(other, "msg") == b"", "somebody's task is left alone"


@pytest.mark.parametrize("heard", [False, True])
@pytest.mark.parametrize("looked", [False, True])
def test_three_that_differ_in_nothing_are_three_after_a_kill_between_letter_and_settling(
        serve, redis, there, heard, looked):
    there.lpush("q:dlq", *["the same"] * 3)
    source = redis.url("list=q:dlq")
    server = serve(adoption.QUEUES, **({"adopt": adoption.entry(source)} if looked else {}))
    if looked:
        adoption.looked(server)
    server.stop()
    relay = Relay(redis.port, b"$4\r\nHDEL\r\n", heard)
    try:
        server.configure(adoption.QUEUES, adopt=adoption.entry(redis.url("list=q:dlq", port=relay.port), "take"))
        server.start()
        assert relay.reached.wait(PATIENCE_S), "something was settled"
        if heard:
            eventually(lambda: sum(map(there.hlen, there.keys("*:impound:*"))) < 3, "Redis has heard it")
        server.kill()
    finally:
        relay.close()
    server.configure(adoption.QUEUES, adopt=adoption.entry(source, "take"))
    server.start()
    eventually(lambda: there.llen("q:dlq") == 0 and there.keys("*:impound:*") == [], "all are taken")
    letters = adoption.whole(server)
    assert [letter["message"]["body"] for letter in letters] == ["the same"] * 3
    assert not [letter for letter in letters if letter.get("read_only")]
