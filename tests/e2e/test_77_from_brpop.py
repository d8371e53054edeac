"""docs/from-brpop.md: every worker on that page does its work against a real Redis, with the configuration beside it."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
import yaml

import parts
from harness import PATIENCE_S, ROOT, eventually, free_port

client = pytest.importorskip("redis")
PAGE = pathlib.Path(ROOT, "docs", "from-brpop.md").read_text(encoding="utf-8")


def section(name):
    return re.search(rf"^## {name}$(.*?)(?=^## |\Z)", PAGE, re.M | re.S)[1]


def worker(name):
    """The file that the page names in its first line."""
    (code,) = re.findall(rf"^```python\n# {name}\.py\n(.*?)^```$", PAGE, re.M | re.S)
    return code


def configured(way, redis, folder, **replaced):
    """The queues of the section, with the addresses of this test and programs of this folder."""
    text = re.search(r"^```yaml\n(.*?)^```$", section(way), re.M | re.S)[1]
    text = text.replace("127.0.0.1:6379", f"127.0.0.1:{redis.port}").replace('"python3"', json.dumps(sys.executable))
    for old, new in {f'"{way}_worker.py"': json.dumps(str(folder / f"{way}_worker.py")), **replaced}.items():
        text = text.replace(old, new)
    return yaml.safe_load(text)["queues"]


@pytest.fixture(name="there")
def fixture_there(redis):
    there = client.Redis(port=redis.port, socket_timeout=PATIENCE_S)
    there.flushall()
    return there


def jobs_are_done(server, there):
    """Two that succeed and one that is wrong, pushed as before."""
    for number, amount in enumerate((5, -1, 7)):
        there.lpush("q:main", json.dumps({"id": f"j-{number}", "amount": amount}))
    eventually(lambda: server.metric("impound_attempts_total", queue="jobs", result="ok") == 2 and
               server.dlq("jobs.dlq")["depth"] == 1, "two succeed and one is dead")
    letter = server.get("/v1/messages/j-1").json
    assert letter["failure"]["error_type"] == "ValueError", letter["failure"]
    assert letter["failure"]["error_message"] == "amount is negative"
    assert letter["message"]["body"] == {"id": "j-1", "amount": -1}
    eventually(lambda: there.llen("q:main") == 0, "the list is empty")


@pytest.mark.parametrize("framework", ["flask", "fastapi"])
def test_a_web_framework(serve, redis, there, tmp_path, framework):
    folder = parts.packages("web-frameworks")
    (tmp_path / f"{framework}_worker.py").write_text(worker(f"{framework}_worker"))
    port = free_port()
    command = {"flask": ["-m", "flask", "--app", "flask_worker", "run", "--port", str(port)],
               "fastapi": ["-m", "uvicorn", "fastapi_worker:app", "--port", str(port)]}[framework]
    with open(tmp_path / "worker.log", "wb") as log:
        process = subprocess.Popen([sys.executable, *command], cwd=tmp_path, stdout=log, stderr=log,
                                   env={**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"})
    try:
        server = serve(configured("http", redis, tmp_path, **{"127.0.0.1:8080": f"127.0.0.1:{port}"}))
        jobs_are_done(server, there)
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


@pytest.mark.parametrize("way", ["exec", "stream"])
def test_a_program(serve, redis, there, tmp_path, way):
    (tmp_path / f"{way}_worker.py").write_text(worker(f"{way}_worker"))
    jobs_are_done(serve(configured(way, redis, tmp_path)), there)


def test_a_worker_that_pulls(serve, redis, there, tmp_path):
    server = serve(configured("lease", redis, tmp_path))
    path = tmp_path / "lease_worker.py"
    path.write_text(worker("lease_worker").replace("http://127.0.0.1:7070", server.url))
    process = subprocess.Popen([sys.executable, path], stderr=subprocess.DEVNULL)
    try:
        for number, amount in enumerate((5, -1, 7)):
            there.lpush("q:main", json.dumps({"id": f"j-{number}", "amount": amount}))
        eventually(lambda: server.dlq("jobs.dlq")["depth"] == 1 and server.queue("jobs")["depth"] == 0, "all are answered")
        letter = server.get("/v1/messages/j-1").json
        assert (letter["failure"]["error_type"], letter["failure"]["error_message"]) == ("ValueError", "amount is negative")
        assert "handle(message" in letter["failure"]["stack_trace"]
        server.stop()
        server.start()
        there.lpush("q:main", json.dumps({"id": "j-3", "amount": 9}))
        eventually(lambda: server.metric("impound_attempts_total", queue="jobs", result="ok") == 1, "it outlives a restart")
        assert process.poll() is None
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
