"""What client libraries raise is judged for what it is: an outage behind a worker opens the breaker and buries nothing.

tests/table/exceptions.txt has recordings of real libraries; here the libraries raise their exceptions anew (tests/clients)."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from harness import eventually, free_port

TESTS = pathlib.Path(__file__).resolve().parent.parent
CLIENTS = TESTS / "clients"
PARTS = TESTS.parent / "build-parts"
sys.path.insert(0, str(CLIENTS))
import failing_server  # noqa: E402  pylint: disable=wrong-import-position

PYTHON = "/usr/bin/python3"
NOT_AS_REPORTED = {  # an uncaught error shows its innermost cause, which a report of the outer one does not
    "node dns": ("retry", "transient/dns"),
    "node business error with a refused connection as its cause": ("retry", "transient/connection"),
    "ruby redis closed": ("retry", "transient/blocked_io"),  # the state of its socket is the innermost cause
    # The library's own timer closes the socket, unless the socket's timeout, which is the same, comes first.
    "java okhttp slow": ("retry", "transient/connection", "timeout/timeout"),
    "java postgresql silent": ("retry", "timeout/timeout"),
    "java business error with a bug as its cause": ("dead", "bug/null_pointer"),
    "go pgx silent": ("retry", "timeout/timeout"),  # a panic prints the message without its type
    "go json type": ("dead", "unknown/unclassified:panic"),
}


FETCHED = {"python": ["tools/clients/requirements.txt"], "node": ["tools/clients/package-lock.json"],
           "java": ["tools/clients/pom.xml"], "go": [f"tests/clients/go/{name}" for name in ("go.mod", "go.sum", "main.go")]}


def fetched(name):
    """The folder that tools/fetch.sh made for what these files say."""
    content = b"".join((TESTS.parent / path).read_bytes() for path in FETCHED[name])
    folder = PARTS / f"{name}-clients-{hashlib.sha256(content).hexdigest()[:12]}"
    if not folder.is_dir():
        if os.environ.get("CI") == "true":
            pytest.fail(f"tools/fetch.sh did not fetch the client libraries of {name}")
        pytest.skip(f"tools/fetch.sh did not fetch the client libraries of {name}")
    return folder


def python_command():
    return [PYTHON, str(CLIENTS / "raise_python.py")], {"PYTHONPATH": str(fetched("python"))}


def node_command():
    return ["node", str(CLIENTS / "raise_node.mjs")], {"NODE_PATH": str(fetched("node") / "node_modules")}


def go_command():
    return [str(fetched("go") / "raise_go")], {}


def java_command():
    return ["java", "-cp", str(fetched("java") / "*"), str(CLIENTS / "Raise.java")], {}


def ruby_command():
    return ["ruby", str(CLIENTS / "raise_ruby.rb")], {}  # its libraries are Debian packages


LANGUAGES = {"python": python_command, "node": node_command, "go": go_command, "java": java_command,
             "ruby": ruby_command}


@pytest.fixture(scope="module", name="raised")
def fixture_raised():
    """raised(language): what its libraries raise, by case; each language runs once."""
    known = {}

    def get(language):
        if language not in known:
            command, environment = LANGUAGES[language]()
            done = subprocess.run([*command, json.dumps(failing_server.start())], stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, **environment}, timeout=300, check=True)
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            known[language] = {line["case"]: line for line in lines}
        return known[language]
    return get


def table():
    """The cases of exceptions.txt: title → (type, message or None, verdict, category/reason)."""
    lines = [line for line in (TESTS / "table/exceptions.txt").read_text().splitlines() if line and line[0] != "#"]
    cases = {}
    for title, given, wanted in zip(lines[::3], lines[1::3], lines[2::3]):
        given, _, says = given.partition(" says: ")
        error_type = re.search(r'type=("[^"]*"|\S+)', given)
        message = re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), says) or None
        words = wanted.split()
        judged = next(word for word in words if "/" in word)
        cases[title] = (error_type[1].strip('"') if error_type else "", message, words[0], judged)
    return cases


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_table_is_what_the_libraries_raise(language, raised):
    recorded = {title: case for title, case in table().items() if title.startswith(language + " ")}
    now = raised(language)
    assert set(now) == set(recorded)
    for title, (error_type, message, _, _) in recorded.items():
        assert now[title]["type"] == error_type, title
        if message is not None:
            assert now[title]["message"].startswith(message), title


def worker_that_prints(folder, cases):
    """Queues, one for each case, whose worker prints that trace and fails."""
    queues = {}
    for n, (title, one) in enumerate(cases.items()):
        trace = folder / f"trace{n}"
        trace.write_text(one["trace"])
        queues[f"q{n}"] = {"handler": {"exec": ["/bin/sh", "-c", 'cat "$0" >&2; exit 1', str(trace)]},
                           "retry": {"attempts": 1}, "breaker": "off", "dlq": {"owner": title}}
    return queues


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_worker_that_prints_the_trace_is_judged_by_it(language, raised, serve, tmp_path):
    recorded, cases = table(), raised(language)
    server = serve(worker_that_prints(tmp_path, cases))
    for n in range(len(cases)):
        server.push(f"q{n}", {"n": n}, id=f"m{n}")
    for n, title in enumerate(cases):
        verdict, judged, *or_else = NOT_AS_REPORTED.get(title, recorded[title][2:])
        if verdict == "halt":
            eventually(lambda n=n: server.queue(f"q{n}")["state"] == "halted", f"{title} halts its queue")
            assert server.queue(f"q{n}")["why"].startswith(judged.split("/")[1]), title
            continue
        letter = eventually(lambda n=n: server.letters(f"q{n}.dlq"), f"{title} is dead")[0]
        if judged.startswith("unknown/"):
            assert letter["reason"] == judged.partition("/")[2], title
        else:
            exhausted = "max_attempts:" if verdict == "retry" else ""
            assert f"{letter['category']}/{letter['reason']}" in [
                one.replace("/", "/" + exhausted) for one in (judged, *or_else)], title


OUTAGES = ["requests closed", "requests slow", "httpx closed", "httpx slow", "aiohttp closed", "aiohttp slow",
           "urllib3 closed", "urllib3 slow", "psycopg2 closed", "botocore 429", "openai 429", "google-api-core 503",
           "anthropic 529", "anthropic 500", "openai slow"]


def test_an_outage_behind_any_client_opens_the_breaker_and_buries_nothing(raised, serve, tmp_path):
    """Six messages for each client: every worker prints what its library raised, until the provider is back."""
    cases, back, queues = raised("python"), tmp_path / "back", {}
    for n, name in enumerate(OUTAGES):
        trace = tmp_path / f"trace{n}"
        trace.write_text(cases[f"python {name}"]["trace"])
        script = '[ -e "$1" ] && exit 0; cat "$0" >&2; exit 1'
        queues[f"q{n}"] = {"handler": {"exec": ["/bin/sh", "-c", script, str(trace), str(back)]}, "concurrency": 4,
                           "retry": {"attempts": 3, "base": "50ms"}}
    server = serve(queues)
    for name in queues:
        server.push_many(name, [{"body": {"n": n}} for n in range(6)])
    for n, name in enumerate(queues):
        eventually(lambda name=name: server.queue(name)["breaker"]["state"] != "closed", f"{OUTAGES[n]} opens it")
    back.touch()
    for name in queues:
        server.drained(name)
    assert [server.letters(f"{name}.dlq") for name in queues] == [[]] * len(queues)


WORKER = """
import sys, openai
client = openai.OpenAI(api_key="k", base_url=sys.argv[1], max_retries=0, timeout=20)
answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": sys.stdin.read()}])
assert answer.choices[0].message.content == "priced"
"""


def test_a_closed_port_behind_the_openai_sdk_buries_none_of_15_messages(serve, tmp_path):
    port = free_port()
    worker = tmp_path / "worker.py"
    worker.write_text(WORKER)
    command = [shutil.which("env"), f"PYTHONPATH={fetched('python')}", PYTHON, str(worker),
               f"http://127.0.0.1:{port}/200"]
    server = serve({"prices": {"handler": {"exec": command, "timeout": "60s"}, "concurrency": 4, "breaker": {"open": "2s"},
                               "classify": {"presets": ["ai-api", "exec", "errors"]}}})
    server.push_many("prices", [{"body": {"n": n}} for n in range(15)])
    eventually(lambda: server.queue("prices")["breaker"]["state"] != "closed", "the breaker opens", patience_s=120)
    assert server.letters("prices.dlq") == []
    provider = failing_server.Server(port)
    try:
        server.drained("prices", patience_s=240)
    finally:
        provider.close()
    assert provider.answered[200] >= 15
    assert server.letters("prices.dlq") == []
