"""Long-lived workers that talk in JSON lines: fast, and as well isolated as one process a message."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

from harness import ROOT, eventually, scaled

EXAMPLES = os.path.join(ROOT, "examples")

# Notes its pid and each message in a folder, and does as the body says.
WORKER = '''
import json, os, signal, sys, time
seen = open(os.path.join(FOLDER, f"{os.getpid()}.seen"), "a", buffering=1)
for line in sys.stdin:
    message = json.loads(line)
    body = message["body"]
    print(message["id"], file=seen)
    while len([name for name in os.listdir(FOLDER) if name.endswith(".seen")]) < body.get("meet", 0):
        time.sleep(0.01)
    if body.get("segfault"):
        os.kill(os.getpid(), signal.SIGSEGV)
    if body.get("raise"):
        raise KeyError(body["raise"])
    if body.get("exit") is not None:
        sys.exit(body["exit"])
    if body.get("hang"):
        time.sleep(3600)
    if body.get("say") is not None:
        sys.stdout.write(body["say"] * body.get("times", 1))
    else:
        print(json.dumps({"id": message["id"], "ok": True}))
    sys.stdout.flush()
print("the end", file=seen)
'''


def worker(folder, text=WORKER):
    path = folder / "worker.py"
    path.write_text(f"FOLDER = {str(folder)!r}\n{text}")
    return [sys.executable, str(path)]


def stream(folder, **more):
    return {"source": "builtin", "retry": {"base": "10ms", "cap": "50ms"},
            "handler": {"exec": worker(folder), "mode": "stream", **more}}


def seen(folder):
    """Messages by worker's pid."""
    return {int(name.split(".")[0]): (folder / name).read_text().split("\n")[:-1]
            for name in os.listdir(folder) if name.endswith(".seen")}


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it was gone, or went between open and read
        return False


def metric_of(server, result):
    return server.metric("impound_attempts_total", queue="orders", result=result)


def test_one_segfault_in_10000_is_dead_and_its_neighbours_are_not_blamed(serve, tmp_path):
    count = scaled(10000, 1000)
    server = serve({"orders": stream(tmp_path, workers=3)})
    killer = f"m-{count // 2}"
    for first in range(0, count, 1000):
        server.push_many("orders", [{"id": f"m-{n}", "body": {"segfault": n == count // 2}}
                                    for n in range(first, min(first + 1000, count))])
    server.drained("orders")
    assert [letter["message"]["id"] for letter in server.letters("orders.dlq")] == [killer]
    letter = server.message(killer)
    assert (letter["cause"], letter["crashes"], letter["attempts"]) == ("crash", 3, 3)
    assert (letter["failure"]["kind"], letter["failure"]["signal"]) == ("signal", signal.SIGSEGV)
    # Whoever had been blamed with it would have needed another attempt.
    assert metric_of(server, "ok") == count - 1
    assert metric_of(server, "retry") == 2
    handled = [message for messages in seen(tmp_path).values() for message in messages]
    assert sorted(handled) == sorted([f"m-{n}" for n in range(count)] + [killer] * 2)


def test_a_worker_that_raises_gives_type_and_trace_and_is_replaced(serve, tmp_path):
    server = serve({"orders": stream(tmp_path, workers=1)})
    server.push_many("orders", [{"id": "bug", "body": {"raise": "price"}}, {"id": "fine", "body": {}}])
    server.drained("orders")
    letter = server.message("bug")
    assert (letter["cause"], letter["category"], letter["attempts"]) == ("terminal", "bug", 1)
    assert (letter["failure"]["kind"], letter["failure"]["exit_code"]) == ("exit", 1)
    assert letter["failure"]["error_type"] == "KeyError"
    assert "worker.py" in letter["failure"]["stack_trace"]
    assert server.message("fine") is None and len(seen(tmp_path)) == 2


def test_a_worker_that_breaks_the_rules_fails_its_message_as_protocol(serve, tmp_path):
    server = serve({"orders": stream(tmp_path, workers=1)})
    bad = {
        "nonsense": {"say": "503 Service Unavailable\n"},
        "foreign": {"say": '{"id":"after-foreign","ok":true}\n'},
        "undecided": {"say": '{"id":"undecided"}\n'},
        "endless": {"say": "x", "times": 5 << 20},
        "silent": {"exit": 0},
    }
    # A good one after each bad one: an answer sets the backoff of the next start back.
    server.push_many("orders", [{"id": id, "body": body} for name, bad_body in bad.items()
                                for id, body in ((name, bad_body), (f"after-{name}", {}))])
    server.drained("orders")
    assert metric_of(server, "ok") == len(bad)
    for id in bad:
        letter = server.message(id)
        assert (letter["attempts"], letter["crashes"]) == (1, 0), id
        assert letter["failure"]["error_type"] == "protocol", (id, letter["failure"])
        assert letter["cause"] == "unclassified", id


def test_a_line_that_nobody_asked_for_kills_the_worker_and_blames_nobody(serve, tmp_path):
    server = serve({"orders": stream(tmp_path, workers=1)})
    server.push("orders", {"say": '{"id":"first","ok":true}\nand another thing\n'}, id="first")
    eventually(lambda: metric_of(server, "ok") == 1, "the first one succeeded")
    eventually(lambda: not any(is_alive(pid) for pid in seen(tmp_path)), "the chatterer is gone")
    server.push("orders", {}, id="second")
    server.drained("orders")
    assert metric_of(server, "ok") == 2 and server.letters("orders.dlq") == []


def test_a_hanging_worker_is_killed_at_the_timeout_which_is_no_crash(serve, tmp_path):
    server = serve({"orders": {**stream(tmp_path, workers=1, timeout="300ms"),
                               "retry": {"attempts": 1}}})
    server.push("orders", {"hang": True}, id="slow")
    server.drained("orders")
    letter = server.message("slow")
    assert (letter["failure"]["kind"], letter["crashes"]) == ("timeout", 0)
    eventually(lambda: not any(is_alive(pid) for pid in seen(tmp_path)), "it is gone")


def test_workers_are_few_and_are_replaced_after_max_messages(serve, tmp_path):
    server = serve({"orders": stream(tmp_path, workers=2, max_messages=10)})
    server.push_many("orders", [{"id": f"m-{n}", "body": {}} for n in range(100)])
    server.drained("orders")
    eventually(lambda: sum(lines[-1:] == ["the end"] for lines in seen(tmp_path).values()) >= 9,
               "the worn-out workers came to their end")
    messages = {pid: [line for line in lines if line != "the end"]
                for pid, lines in seen(tmp_path).items()}
    assert max(map(len, messages.values())) == 10
    assert sum(map(len, messages.values())) == 100
    assert metric_of(server, "ok") == 100
    assert server.queue("orders")["state"] == "running"


def test_a_graceful_stop_closes_stdin_and_every_worker_ends_by_itself(serve, tmp_path):
    server = serve({"orders": stream(tmp_path, workers=3)})
    server.push_many("orders", [{"id": f"m-{n}", "body": {"meet": 3}} for n in range(30)])
    server.drained("orders")
    server.stop()
    ended = seen(tmp_path)
    assert len(ended) == 3 and all(lines[-1] == "the end" for lines in ended.values())


def test_a_program_that_cannot_work_halts_the_queue_and_says_why(serve, tmp_path):
    (tmp_path / "broken.py").write_text("import no_such_module\n")
    handlers = {"missing": ["./no-such-program"],
                "broken": [sys.executable, str(tmp_path / "broken.py")]}
    server = serve({name: {"source": "builtin", "handler": {"exec": argv, "mode": "stream"}}
                    for name, argv in handlers.items()})
    for name, why in (("missing", "no-such-program"), ("broken", "no_such_module")):
        server.push(name, {}, id="m")
        eventually(lambda name=name: server.queue(name)["state"] == "halted", f"{name} halted")
        assert why in server.queue(name)["why"]
        assert server.message("m", queue=name)["attempts"] == 0


def test_kill_9_under_load_loses_nothing_and_no_worker_outlives_the_server(serve, tmp_path):
    each = scaled(2500, 250)
    server = serve({"orders": stream(tmp_path, workers=3)})
    for life in range(2):
        before = sum(map(len, seen(tmp_path).values()))
        server.push_many("orders", [{"id": f"m-{life}-{n}", "body": {}} for n in range(each)])
        eventually(lambda before=before: sum(map(len, seen(tmp_path).values())) > before + 20,
                   "workers are at work")
        server.kill()
        eventually(lambda: not any(is_alive(pid) for pid in seen(tmp_path)),
                   "the workers died with the server")
        server.start()
    server.drained("orders")
    handled = {line for lines in seen(tmp_path).values() for line in lines if line != "the end"}
    assert handled == {f"m-{life}-{n}" for life in range(2) for n in range(each)}
    assert server.letters("orders.dlq") == []


def test_the_line_has_the_exact_bytes_of_the_body(serve, tmp_path):
    (tmp_path / "echo.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        f"    open({str(tmp_path / 'lines')!r}, 'a').write(line)\n"
        "    print(json.dumps({'id': json.loads(line)['id'], 'ok': True}), flush=True)\n")
    server = serve({"orders": {"source": "builtin", "handler": {
        "exec": [sys.executable, str(tmp_path / "echo.py")], "mode": "stream", "workers": 1}}})
    exact = '{"b":1.0,"a":12345678901234567890,"a":1e5}'
    server.post("/v1/queues/orders/messages",
                '{"id":"m-1","key":"k","headers":{"h":"v"},"body":' + exact + "}")
    server.post("/v1/queues/orders/messages", '{"id":"m-2","body":{"a":\n [1,\n2]}}')
    server.post("/v1/queues/orders/messages",
                {"id": "m-3", "body_base64": "gAB/", "content_type": "application/octet-stream"})
    server.drained("orders")
    lines = {json.loads(line)["id"]: line for line in (tmp_path / "lines").read_text().splitlines()}
    assert f'"body":{exact}}}' in lines["m-1"]
    first = json.loads(lines["m-1"])
    assert list(first) == ["id", "queue", "key", "attempt", "replay", "headers", "content_type", "body"]
    assert (first["queue"], first["key"], first["attempt"], first["replay"], first["headers"]) == (
        "orders", "k", 1, 0, {"h": "v"})
    assert '"body":{"a":  [1, 2]}}' in lines["m-2"]
    assert json.loads(lines["m-3"])["body_base64"] == "gAB/" and "body" not in json.loads(lines["m-3"])


def test_what_a_worker_says_of_a_failure_is_judged(serve, tmp_path):
    said = {
        "busy": {"status": 503, "error_message": "later", "retry_after": "10ms"},
        "unwanted": {"verdict": "discard", "reason": "old_news"},
        "bug": {"error_type": "KeyError", "error_message": "price", "stack_trace": "at price()"},
        "odd": {},
    }
    (tmp_path / "say.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    print(json.dumps({'id': message['id'], 'ok': False, **message['body']}), flush=True)\n")
    server = serve({"orders": {
        "source": "builtin", "retry": {"attempts": 2, "base": "10ms"}, "breaker": "off", "handler": {
            "exec": [sys.executable, str(tmp_path / "say.py")], "mode": "stream", "workers": 1}}})
    server.push_many("orders", [{"id": id, "body": body} for id, body in said.items()])
    server.drained("orders")
    letters = {id: server.message(id) for id in said}
    assert [letters["busy"][name] for name in ("cause", "reason", "attempts")] == [
        "exhausted", "max_attempts:upstream_busy", 2]
    assert (letters["unwanted"]["state"], letters["unwanted"]["reason"]) == ("discarded", "old_news")
    assert (letters["bug"]["category"], letters["bug"]["failure"]["stack_trace"]) == ("bug", "at price()")
    assert letters["odd"]["cause"] == "unclassified"


def run_example(name, serve_folder):
    shutil.copytree(os.path.join(EXAMPLES, name), serve_folder)
    with open(os.path.join(serve_folder, "impound.yaml"), encoding="utf-8") as config:
        return re.search(r"exec: (\[.*?\])", config.read()).group(1)


def test_the_python_example_works(serve, tmp_path):
    argv = json.loads(run_example("stream-python", tmp_path / "example"))
    server = serve({"orders": {"source": "builtin", "retry": {"attempts": 1}, "handler": {
        "exec": [argv[0], str(tmp_path / "example" / argv[1])], "mode": "stream"}}})
    server.push_many("orders", [{"id": "fine", "body": {"order": 1, "items": [{"price": 20}]}},
                                {"id": "bug", "body": {"order": 2}},
                                {"id": "busy", "body": {"busy": True}}])
    server.drained("orders")
    assert server.message("fine") is None
    assert server.message("bug")["failure"]["error_type"] == "KeyError"
    assert server.message("busy")["reason"] == "max_attempts:upstream_busy"


def test_the_c_example_builds_and_works(serve, tmp_path):
    argv = json.loads(run_example("stream-c", tmp_path / "example"))
    subprocess.run(["make", "-s", "-C", str(tmp_path / "example")], check=True)
    server = serve({"sums": {"source": "builtin", "handler": {
        "exec": [str(tmp_path / "example" / argv[0])], "mode": "stream", "workers": 2}}})
    server.push_many("sums", [{"id": f"m-{n}", "body": [n, 1.5]} for n in range(200)])
    server.push("sums", ["no number"], id="bad")
    server.drained("sums")
    assert [letter["message"]["id"] for letter in server.letters("sums.dlq")] == ["bad"]
    assert server.message("bad")["category"] == "validation"
