"""examples/agent-tasks: failures of an agent's tasks are reported, retried and reviewed."""
import json
import urllib.request

import pytest

from walk import Walk


@pytest.fixture(name="tasks")
def fixture_tasks(tmp_path):
    walk = Walk("agent-tasks", tmp_path, 7070)
    yield walk
    walk.leaves()


def get(tasks, path):
    with urllib.request.urlopen(f"{tasks.url}{path}") as answer:
        return json.load(answer)


def test_the_walk_through_the_runner_works_as_it_is_written(tasks):
    tasks.all()
    resolved = get(tasks, "/v1/messages/t-3")
    assert (resolved["state"], resolved["resolution"]) == ("resolved", "by_hand")
    assert resolved["why"] == "the invoice was entered by hand"
    assert get(tasks, "/v1/messages/t-4")["state"] == "discarded"


def test_a_report_brings_everything_that_review_needs(tasks):
    tasks.types("impound serve &")
    tasks.types("python3 runner.py tasks.jsonl")
    letter = get(tasks, "/v1/messages/t-3")
    assert letter["task"] == {"id": "t-3", "type": "billing"}
    assert letter["context"]["agent"] == "agent" and letter["context"]["tool"] == "extract"
    assert letter["failure"]["error_type"] == "KeyError" and "agent.py" in letter["failure"]["stack_trace"]
    assert letter["message"]["body"] == {"tool": "extract", "document": {"pages": 2}}
    assert letter["owner"] == "team-agents"
