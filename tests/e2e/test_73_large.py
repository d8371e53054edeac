"""Messages of a broker that are larger than max_body: their bodies go into files beside the store, and nothing is held up."""
import base64
import glob
import json
import os

import pytest

from harness import eventually

client = pytest.importorskip("redis")
MIB = 1 << 20


def files(server):
    folder = os.path.join(server.folder, "impound.db.large")
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


@pytest.fixture(name="queue")
def fixture_queue(redis):
    there = client.Redis(port=redis.port, socket_timeout=60)
    there.delete("large")
    return there


def body_of(mib, number):
    return json.dumps({"id": f"m{number}", "text": "x" * (mib * MIB)})


def test_a_message_that_no_journal_segment_takes_is_a_letter_and_can_be_replayed(serve, handler, redis, queue):
    """70 MiB that fail for good: the letter names its file, others go on, and a replay hands all of it over."""
    status = {"now": 422}
    target = handler(lambda call: status["now"] if len(call.body) > MIB else 200)
    server = serve({"jobs": {"source": redis.url("list=large"), "handler": {"http": target.url}}})
    text = body_of(70, 1)
    queue.lpush("large", text)
    letter = eventually(lambda: server.letters("jobs.dlq"), "it is dead")[0]
    assert files(server) == [letter["id"]]
    assert os.path.getsize(os.path.join(server.folder, "impound.db.large", letter["id"])) == len(text)
    queue.lpush("large", json.dumps({"id": "small"}))
    eventually(lambda: any(call.id == "small" for call in target.calls), "others go on")
    server.kill()  # the letter and its body outlive us
    server.start()
    assert server.queue("jobs")["why"] in (None, "")
    status["now"] = 200
    answer = server.post("/v1/replays", {"ids": [letter["id"]], "dry_run": False})
    assert answer.status in (200, 201, 202), answer.body
    eventually(lambda: server.message(letter["id"])["state"] == "resolved", "it is done")
    assert [call.body for call in target.calls if len(call.body) > MIB][-1] == text.encode()
    assert queue.llen("large") == 0


def test_a_large_message_that_is_retried_keeps_its_body_and_its_file_goes_with_it(serve, handler, redis, queue):
    tries = []

    def answer(call):
        tries.append(call)
        return 503 if len(tries) < 3 else 200
    target = handler(answer)
    server = serve({"jobs": {"source": redis.url("list=large"), "handler": {"http": target.url}, "breaker": "off",
                             "retry": {"attempts": 5, "delays": ["100ms"], "budget": "100%"}}},
                   server={"max_body": "1MiB"})
    text = body_of(3, 2)
    queue.lpush("large", text)
    eventually(lambda: len(tries) == 3, "it is tried three times")
    assert all(call.body == text.encode() for call in tries)
    server.drained("jobs")
    eventually(lambda: not files(server), "nothing of it is left")


def small(redis, url, **more):
    """A queue whose messages are large from 1 MiB on."""
    return {"source": redis.url("list=large"), "handler": {"http": url}, "breaker": "off",
            "retry": {"attempts": 2, "delays": ["100ms"], "budget": "100%"}, **more}


def one_dead(server, queue, body):
    queue.lpush("large", body)
    return eventually(lambda: server.letters("jobs.dlq"), "it is dead")[0]


def shown(server, some_id):
    message = server.message(some_id)["message"]
    return base64.b64decode(message["body_base64"]) if "body_base64" in message else json.dumps(message["body"]).encode()


def test_a_message_that_dies_after_a_retry_has_a_file_with_its_letters_id(serve, handler, redis, queue):
    target = handler(lambda call: 503)
    server = serve({"jobs": small(redis, target.url)}, server={"max_body": "1MiB"})
    text = body_of(3, 1)
    letter = one_dead(server, queue, text)
    assert len(target.calls) == 2
    assert files(server) == [letter["id"]]
    assert server.message(letter["id"])["message"]["body_file"] == f"impound.db.large/{letter['id']}"
    assert f"impound.db.large/{letter['id']}" in server.cli("show", letter["id"])
    server.kill()
    server.start()
    assert files(server) == [letter["id"]]
    assert shown(server, letter["id"]) == text.encode()
    assert server.post(f"/v1/letters/{letter['id']}/discard", {"why": "enough"}).status == 200
    assert "body_file" in server.message(letter["id"])["message"], "a discarded letter keeps its body"


def test_an_edit_and_a_replay_to_another_queue_take_the_body_along(serve, handler, redis, queue):
    status = {"now": 422}
    target, other = handler(lambda call: status["now"]), handler(lambda call: 200)
    server = serve({"jobs": small(redis, target.url),
                    "others": {"source": "builtin", "handler": {"http": other.url}, "breaker": "off"}},
                   server={"max_body": "1MiB"})
    text = body_of(3, 1)
    letter = one_dead(server, queue, text)
    answer = server.post("/v1/replays", {"ids": [letter["id"]], "edit": ".tried = true", "dry_run": False})
    assert answer.status in (200, 201, 202), answer.body
    eventually(lambda: len(target.calls) == 2 and server.message(letter["id"])["state"] == "pending_review",
               "it died again, edited")
    edited = json.loads(target.calls[-1].body)
    assert edited == {**json.loads(text), "tried": True}
    assert files(server) == [letter["id"]], "the body from before the edit has no file any more"
    answer = server.post("/v1/replays", {"ids": [letter["id"]], "to": "others", "dry_run": False})
    assert answer.status in (200, 201, 202), answer.body
    eventually(lambda: server.message(letter["id"])["state"] == "resolved", "it succeeded in the other queue")
    assert json.loads(other.calls[-1].body) == edited
    assert files(server) == [letter["id"]]
    assert json.loads(shown(server, letter["id"])) == edited


@pytest.mark.parametrize("binary", [False, True], ids=["json", "bytes"])
def test_an_export_holds_a_large_body_and_an_import_gives_it_a_file(serve, handler, redis, queue, binary, tmp_path):
    target = handler(lambda call: 422)
    server = serve({"jobs": small(redis, target.url)}, server={"max_body": "1MiB"})
    body = bytes(range(256)) * (3 * MIB // 256) if binary else body_of(3, 1).encode()
    letter = one_dead(server, queue, body)
    exported = server.post("/v1/exports", {"all": True}).body
    line = json.loads(exported)
    assert "body_file" not in line["message"], "the file is of this store alone"
    into = serve({"jobs": {"source": "builtin", "handler": {"http": target.url}}}, server={"max_body": "1MiB"})
    answer = into.request("POST", "/v1/imports", exported, {"Content-Type": "application/octet-stream"})
    assert (answer.status, answer.json["imported"], answer.json["refused"]) == (200, 1, []), answer.body
    assert files(into) == [letter["id"]]
    with open(os.path.join(into.folder, "impound.db.large", letter["id"]), "rb") as file:
        assert file.read() == body
    assert into.post("/v1/exports", {"all": True}).body == exported


def test_an_archive_holds_a_large_body_and_its_file_goes(serve, handler, redis, queue):
    target = handler(lambda call: 422)
    server = serve({"jobs": small(redis, target.url, dlq={"archive": "file:archive/", "retention": {"discarded": "1s"}})},
                   server={"max_body": "1MiB"})
    body = body_of(3, 1).encode()
    letter = one_dead(server, queue, body)
    assert server.post(f"/v1/letters/{letter['id']}/discard", {"why": "enough"}).status == 200
    eventually(lambda: server.get(f"/v1/letters/{letter['id']}").status == 404, "it is archived")
    eventually(lambda: not files(server), "its file went with it")
    archives = glob.glob(os.path.join(server.folder, "archive", "**", "*.ndjson.zst"), recursive=True)
    assert len(archives) == 1
    into = serve({"jobs": {"source": "builtin", "handler": {"http": target.url}}}, server={"max_body": "1MiB"})
    with open(archives[0], "rb") as file:
        answer = into.request("POST", "/v1/imports", file.read(), {"Content-Type": "application/octet-stream"})
    assert (answer.status, answer.json["imported"], answer.json["refused"]) == (200, 1, []), answer.body
    assert shown(into, letter["id"]) == body
    assert files(into) == [letter["id"]]


def test_a_rename_takes_a_large_body_along(serve, handler, redis, queue):
    target = handler(lambda call: 422)
    queues = {"jobs": small(redis, target.url), "others": {"source": "builtin", "handler": "lease"}}
    server = serve(queues, server={"max_body": "1MiB"})
    text = body_of(3, 1)
    letter = one_dead(server, queue, text)
    server.post("/v1/queues/jobs/pause", {})
    assert "1 letter moved" in server.cli("queues", "rename", "jobs", "others")
    assert [one["id"] for one in server.letters("others.dlq")] == [letter["id"]]
    assert shown(server, letter["id"]) == text.encode()
    server.kill()
    server.start()
    server.letters("others.dlq")  # what was folded meanwhile is listed
    assert shown(server, letter["id"]) == text.encode()
    assert len(files(server)) == 1
