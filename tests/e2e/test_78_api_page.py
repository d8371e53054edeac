"""docs/api.md: its examples are run in their order, and answer what stands under them. "…" is any text."""
import json
import pathlib
import re
import subprocess

import pytest
import yaml

from harness import PATIENCE_S, ROOT, eventually

PAGE = pathlib.Path(ROOT, "docs", "api.md").read_text(encoding="utf-8")
PRESETS = pathlib.Path(ROOT, "docs", "presets.md").read_text(encoding="utf-8")


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)


def same(expected, actual):
    if isinstance(expected, dict):
        return isinstance(actual, dict) and set(expected) == set(actual) and all(
            same(value, actual[name]) for name, value in expected.items())
    if isinstance(expected, list):
        return isinstance(actual, list) and len(expected) == len(actual) and all(map(same, expected, actual))
    return isinstance(actual, str) if expected == "…" else expected == actual


@pytest.fixture(name="server")
def fixture_server(serve):
    return serve(yaml.safe_load(blocks(PAGE, "yaml")[0])["queues"])


def test_every_example_answers_what_the_page_says(server):
    steps = re.findall(r"^\$ (.*)\n(.*)$", "\n".join(blocks(PAGE, "console")), re.M)
    assert len(steps) >= 12
    for command, expected in steps:
        if "reason=key_error" in command:  # a list may be a moment behind
            server.letters("agent-tasks.dlq")
        done = subprocess.run(["bash", "-c", command.replace("http://127.0.0.1:7070", server.url)], capture_output=True,
                              text=True, timeout=PATIENCE_S, check=True)
        actual = json.loads(done.stdout)
        assert same(json.loads(expected), actual), (command, actual)


def test_the_report_in_python_is_judged(server):
    scope = {}
    (code,) = [block for block in blocks(PAGE, "python") if "def report(" in block]
    exec(code.replace("http://127.0.0.1:7070", server.url), scope)  # pylint: disable=exec-used
    assert scope["run"]("t-9", {"title": "a"}) == "A"
    said = scope["run"]("t-10", {"author": "b"})
    assert (said["id"], said["state"], said["verdict"]) == ("t-10", "pending_review", "dlq")
    letter = server.get("/v1/messages/t-10").json
    assert letter["failure"]["error_type"] == "KeyError" and "in run" in letter["failure"]["stack_trace"]


def test_the_line_that_retries_500_does(serve, handler):
    """docs/presets.md: terminal by default, retried with the line that stands there."""
    answers = [500, 200]
    worker = handler(lambda call: answers[min(call.attempt, 2) - 1])
    queues = yaml.safe_load(blocks(PRESETS, "yaml")[0])["queues"]
    queues["orders"]["handler"]["http"] = worker.url
    queues["orders"]["retry"] = {"base": "10ms"}
    server = serve({**queues, "plain": {"handler": {"http": worker.url}}})
    server.push("orders", {"order": 1})
    server.push("plain", {"order": 1})
    eventually(lambda: server.metric("impound_attempts_total", queue="orders", result="ok") == 1, "it is retried")
    eventually(lambda: server.dlq("plain.dlq")["depth"] == 1, "without the line it is dead")
    assert server.letters("plain.dlq")[0]["rule"] == "preset:http[11]"
