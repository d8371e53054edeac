"""examples/ai-pipeline: a provider's bad days, as its README walks through them."""
import json
import urllib.error
import urllib.request

import pytest

from harness import eventually, impound, scaled
from walk import Walk


@pytest.fixture(name="pipeline")
def fixture_pipeline(tmp_path):
    walk = Walk("ai-pipeline", tmp_path, 7070, 8091)
    yield walk
    walk.leaves()


def provider(pipeline):
    return f"http://127.0.0.1:{pipeline.ports['8091']}"


def ask(url, body=None, **headers):
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def test_the_walk_through_the_pipeline_works_as_it_is_written(pipeline):
    pipeline.all()
    status, kept = ask(f"{pipeline.url}/v1/results/s-2")
    assert status == 200 and kept["body"]["model"] == "small"
    status, letter = ask(f"{pipeline.url}/v1/messages/s-4")
    assert letter["owner"] == "team-ai" and letter["message"]["body"]["model"] == "m1"


def test_a_storm_of_trouble_leaves_every_request_answered_or_explained(pipeline):
    pipeline.types("python3 provider.py 8091 &".replace("8091", pipeline.ports["8091"]))
    pipeline.types("PROVIDER_KEY=sk-example impound serve &")
    count = scaled(500, 40)
    lines = []
    for i in range(count):
        content = "forbidden" if i % 10 == 3 else f"n{i}"
        model = "gone" if i % 10 == 7 else "m1"
        body = {"model": model, "max_tokens": 100, "messages": [{"role": "user", "content": content}]}
        lines.append(json.dumps({"id": f"s{i}", "body": body}))
    ask(f"{provider(pipeline)}/admin", {"overloaded": 2, "limited": 1, "failing": ["m1"]})
    done = impound("push", "summaries", "--ndjson", "-", stdin="\n".join(lines) + "\n", IMPOUND_URL=pipeline.url)
    assert done.returncode == 0, done.stderr

    def settled():
        return ask(f"{pipeline.url}/v1/queues/summaries")[1]["depth"] == 0
    eventually(settled, "every request has an end")
    ends = {"small": 0, "content_policy": 0, "model_gone": 0}
    for i in range(count):
        status, kept = ask(f"{pipeline.url}/v1/results/s{i}")
        if status == 200:
            ends[kept["body"]["model"]] += 1
        else:
            ends[ask(f"{pipeline.url}/v1/messages/s{i}")[1]["reason"]] += 1
    tenth = count // 10
    assert ends == {"small": count - 2 * tenth, "content_policy": tenth, "model_gone": tenth}
