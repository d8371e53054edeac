"""Messages of a broker that are larger than max_body: their bodies go into files beside the store, and nothing is held up."""
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
