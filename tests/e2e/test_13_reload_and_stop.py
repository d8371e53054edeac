"""Changing the configuration while it runs, stopping, being the only one, and looking after the store."""
import contextlib
import glob
import http.client
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading

import pytest

from harness import IMPOUND, PATIENCE_S, Server, eventually, impound

QUICK = {"attempts": 2, "base": "10ms", "cap": "20ms"}


def queues(url, **more):
    """With a handler that may take as long as a test does."""
    return {"orders": {"source": "builtin", "handler": {"http": url, "timeout": "1h"}, "breaker": "off", "retry": QUICK,
                       **more}}


class Gate:
    """A handler's answer that waits until it is opened."""

    def __init__(self):
        self.open = threading.Event()
        self.inside = 0
        self.most = 0
        self.lock = threading.Lock()

    def __call__(self, call):
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.open.wait()
        with self.lock:
            self.inside -= 1
        return 200


def reload(server, said="is in force"):
    before = len(server.log())
    server.reload()
    return eventually(lambda: said in server.log()[before:] and server.log()[before:], f"the log says: {said}")


def is_open(server):
    try:
        return server.get("/healthz").status == 200
    except (OSError, http.client.HTTPException):
        return False


# ---- SIGHUP ----

def test_a_reload_changes_rules_retries_and_the_dlqs_at_once(serve, handler):
    worker = handler(lambda call: 503)
    server = serve(queues(worker.url))
    server.push("orders", {}, id="before")
    server.drained("orders")
    assert server.message("before")["attempts"] == 2
    rules = [{"when": {"status": 503}, "do": "dlq", "category": "mine", "reason": "no-patience",
              "dlq": "orders.dlq.mine"}]
    server.configure(queues(worker.url, classify={"rules": rules}, dlq={"owner": "new-owner", "cap": 7}))
    reload(server)
    server.push("orders", {}, id="after")
    server.drained("orders")
    letter = server.message("after")
    assert (letter["attempts"], letter["reason"], letter["dlq"]) == (1, "no-patience", "orders.dlq.mine")
    assert letter["owner"] == "new-owner" and server.dlq("orders.dlq")["cap"] == 7
    server.configure(queues(worker.url, retry={**QUICK, "attempts": 4}))
    reload(server)
    server.push("orders", {}, id="patient")
    server.drained("orders")
    assert server.message("patient")["attempts"] == 4


def test_a_reload_changes_the_concurrency_at_once(serve, handler):
    gate = Gate()
    worker = handler(gate)
    server = serve(queues(worker.url, concurrency=1))
    for n in range(10):
        server.push("orders", n)
    eventually(lambda: gate.inside == 1, "one is at the handler")
    server.configure(queues(worker.url, concurrency=5))
    reload(server)
    eventually(lambda: gate.inside == 5, "five are")
    gate.open.set()
    server.drained("orders")
    assert gate.most == 5


def test_a_file_with_a_mistake_changes_nothing_and_the_log_says_where_it_is(serve, handler):
    worker = handler(lambda call: 503)
    server = serve(queues(worker.url))
    with open(server.config_path, "w", encoding="utf-8") as out:
        out.write("queues:\n  orders:\n    handler: {http: 'http://127.0.0.1:1/'}\n    retry: {attemps: 9}\n")
    said = reload(server, "stays as it is")
    assert re.search(r"impound\.yaml:4:\d+: .*attemps.*attempts", said)
    server.push("orders", {}, id="m")
    server.drained("orders")
    assert server.message("m")["attempts"] == 2
    os.unlink(server.config_path)
    reload(server, "stays as it is")
    assert server.get("/healthz").status == 200


def test_what_waits_for_a_restart_is_said(serve, handler):
    worker, other = handler(), handler()
    server = serve(queues(worker.url))
    changed = queues(other.url)
    changed["refunds"] = changed["orders"]
    server.configure(changed, server={"max_body": "1MiB"})
    said = reload(server)
    for name in ("server.max_body", "queues.orders.handler", "queues.refunds was added"):
        assert re.search(rf"{re.escape(name)}.*restart to apply", said), said
    server.push("orders", {})
    server.drained("orders")
    assert worker.count() == 1 and other.count() == 0
    assert server.get("/v1/queues/refunds").status == 404
    server.stop()
    server.start()
    server.push("refunds", {})
    server.drained("refunds")
    assert other.count() == 1


def test_a_second_reload_is_measured_against_what_runs(serve, handler):
    worker = handler(lambda call: 503)
    server = serve(queues(worker.url))
    added = {**queues(worker.url), "refunds": queues(worker.url)["orders"]}
    server.configure(added)
    reload(server)
    server.configure({**added, **queues(worker.url, retry={**QUICK, "attempts": 3})})
    assert "queues.refunds was added" in reload(server)
    server.push("orders", {}, id="three")
    server.drained("orders")
    assert server.message("three")["attempts"] == 3
    server.configure({"refunds": added["refunds"]})
    assert "queues.orders was removed" in reload(server)
    server.configure(queues(worker.url))
    assert "restart to apply" not in reload(server)
    server.push("orders", {}, id="two")
    server.drained("orders")
    assert server.message("two")["attempts"] == 2


def test_messages_of_a_queue_that_is_gone_from_the_file_wait_and_the_log_says_so(serve, handler):
    worker = handler()
    server = serve({**queues(worker.url), "refunds": queues(worker.url)["orders"]})
    assert server.post("/v1/queues/refunds/pause").status == 200
    ids = [server.push("refunds", {"n": n}) for n in range(3)]
    server.stop()
    assert "is not in the configuration" not in server.log()
    server.configure(queues(worker.url))
    server.start()
    told = r"queue refunds is not in the configuration; messages that wait in it: 3\b"
    eventually(lambda: re.search(told, server.log()), "the log tells of them")
    assert [server.message(some_id)["state"] for some_id in ids] == ["queued"] * 3
    server.stop()
    server.configure({**queues(worker.url), "refunds": queues(worker.url)["orders"]})
    server.start()
    assert server.post("/v1/queues/refunds/resume").status == 200
    server.drained("refunds")
    assert sorted(worker.ids()) == sorted(ids)


# ---- stopping ----

def test_a_hangup_while_it_starts_is_a_reload_once_it_runs(tmp_path, handler):
    """The start is held at its first step, reading the configuration, by a pipe that nobody has written to yet."""
    quick = handler()
    server = Server(tmp_path, {"orders": {"handler": {"http": quick.url}}})
    with open(server.config_path, "rb") as file:
        config = file.read()
    os.unlink(server.config_path)
    os.mkfifo(server.config_path)
    server.launch()
    with open(server.config_path, "wb", buffering=0) as pipe:  # returns once the server reads
        for _ in range(3):
            server.reload()
        os.unlink(server.config_path)
        with open(server.config_path, "wb") as file:  # for the reload
            file.write(config)
        pipe.write(config)
    eventually(lambda: f"{server.config_path} is in force" in server.log(), "it reloads")
    assert server.process.poll() is None
    server.stop()


def test_a_hangup_while_it_drains_changes_nothing(serve, handler):
    release = threading.Event()

    def held(_call):
        release.wait()
        return 200
    slow = handler(held)
    server = serve({"orders": {"handler": {"http": slow.url, "timeout": "10m"}}}, server={"drain": "10m"})
    server.push("orders", 1)
    eventually(lambda: slow.calls, "it is under way")
    server.process.send_signal(signal.SIGTERM)
    eventually(lambda: "stopping; what is under way" in server.log(), "it drains")
    for _ in range(3):
        server.reload()
    release.set()
    assert server.process.wait(timeout=PATIENCE_S) == 0, server.log()[-2000:]
    assert "stopped" in server.log() and "in force" not in server.log()


def test_a_graceful_stop_waits_for_what_is_under_way(serve, handler):
    gate = Gate()
    worker = handler(gate)
    server = serve(queues(worker.url, concurrency=3))
    for n in range(10):
        server.push("orders", n, id=f"m-{n}")
    eventually(lambda: gate.inside == 3, "three are at the handler")
    stopping = threading.Thread(target=server.stop)
    stopping.start()
    eventually(lambda: not is_open(server), "the port is closed, and by then nothing is handed over any more")
    gate.open.set()
    stopping.join()
    assert worker.count() == 3, "nothing new was handed over"
    server.start()
    server.drained("orders")
    assert sorted(worker.ids()) == sorted(f"m-{n}" for n in range(10)), "each exactly once"


def test_what_does_not_finish_within_the_drain_is_interrupted_and_not_counted(serve, handler):
    gate = Gate()
    worker = handler(gate)
    server = serve(queues(worker.url), server={"drain": "300ms"})
    server.push("orders", {}, id="slow")
    eventually(lambda: gate.inside == 1, "it is at the handler")
    server.stop()  # which waits for the drain, and not for the handler
    worker.answer = lambda call: 400
    gate.open.set()
    server.start()
    server.drained("orders")
    letter = server.message("slow")
    assert (letter["attempts"], letter["crashes"]) == (1, 0)
    first, last = letter["history"]
    assert (first["verdict"], first["counted"]) == ("interrupted", False)
    assert (last["attempt"], last["counted"]) == (1, True)


def test_a_stop_interrupts_a_program_too(serve, tmp_path):
    program, marks = tmp_path / "slow.py", tmp_path / "marks"
    program.write_text("import os, sys, time\nopen(sys.argv[1], 'a').write(f'{os.getpid()}\\n')\ntime.sleep(300)\n")
    marks.write_text("")
    server = serve({"orders": {"source": "builtin", "handler": {"exec": [sys.executable, str(program), str(marks)]}}},
                   server={"drain": "200ms"})
    server.push("orders", {}, id="slow")
    pid = int(eventually(marks.read_text, "it runs"))
    server.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    server.start()
    assert eventually(lambda: server.message("slow")["history"], "it is told")[0]["counted"] is False
    eventually(lambda: len(marks.read_text().split()) == 2, "and it is tried again")


def test_our_own_death_interrupts_and_counts_nothing(serve, handler):
    gate = Gate()
    worker = handler(gate)
    server = serve(queues(worker.url))
    server.push("orders", {}, id="m")
    eventually(lambda: gate.inside == 1, "it is at the handler")
    server.kill()
    worker.answer = lambda call: 400
    gate.open.set()
    server.start()
    server.drained("orders")
    letter = server.message("m")
    assert (letter["attempts"], letter["crashes"], letter["cause"]) == (1, 0, "terminal")
    assert [(line["verdict"], line["counted"]) for line in letter["history"]] == [
        ("interrupted", False), ("dlq", True)]


# ---- being the only one ----

def test_a_second_server_on_the_same_store_refuses_to_start(serve, handler):
    server = serve(queues(handler().url))
    with open(server.config_path, encoding="utf-8") as config:
        other = config.read().replace(str(server.port), "0")
    path = os.path.join(server.folder, "other.yaml")
    with open(path, "w", encoding="utf-8") as out:
        out.write(other)
    second = impound("serve", "-c", path)
    assert second.returncode == 1
    assert "impound.db" in second.stderr and re.search("another|already|in use", second.stderr), second.stderr
    doctor = impound("doctor", "-c", path)
    assert doctor.returncode == 1, "nor does the doctor touch what is running"
    assert server.get("/healthz").status == 200


def test_a_store_in_a_folder_that_does_not_exist_says_what_to_make(tmp_path):
    (tmp_path / "impound.yaml").write_text("store: sqlite:nowhere/impound.db\n" + GOOD)
    done = impound("serve", "-c", tmp_path / "impound.yaml")
    assert done.returncode == 1 and f"{tmp_path}/nowhere/impound.db.d: the folder above it does not exist" in done.stderr


def test_a_port_that_is_taken_is_named(serve, handler, tmp_path):
    server = serve(queues(handler().url))
    other = Server(tmp_path, queues("http://127.0.0.1:1/"), port=server.port)
    second = impound("serve", "-c", other.config_path)
    assert second.returncode == 1
    assert str(server.port) in second.stderr and "in use" in second.stderr, second.stderr


def test_another_than_a_loopback_address_needs_auth_none(tmp_path):
    server = Server(tmp_path, queues("http://127.0.0.1:1/"), server={"listen": "0.0.0.0:0"})
    refused = impound("serve", "-c", server.config_path)
    assert refused.returncode == 1 and "auth" in refused.stderr


# ---- check ----

def check(folder, text):
    path = os.path.join(folder, "impound.yaml")
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return impound("check", "-c", path)


GOOD = "queues:\n  orders:\n    handler: {http: 'http://127.0.0.1:1/'}\n"


def test_check_prints_the_effective_policy_or_every_mistake_with_its_place(tmp_path):
    good = check(tmp_path, GOOD)
    assert good.returncode == 0 and good.stderr == ""
    for word in ("orders", "attempts: 5", "200ms", "30s", "orders.dlq", "concurrency: 32"):
        assert word in good.stdout, word
    twice = check(tmp_path, good.stdout)
    assert (twice.returncode, twice.stdout) == (0, good.stdout), "what it prints is a configuration"
    bad = check(tmp_path, GOOD + "    conccurency: 3\n    retry: {base: ten}\n    breaker: {open: -1s}\n")
    assert bad.returncode == 1 and bad.stdout == ""
    assert re.search(r'impound\.yaml:4:5: .*"conccurency".*[Dd]id you mean "concurrency"', bad.stderr)
    assert re.search(r"impound\.yaml:5:\d+: .*duration", bad.stderr)
    assert re.search(r"impound\.yaml:6:\d+: ", bad.stderr)
    assert impound("check", "-c", tmp_path / "nothing.yaml").returncode == 1
    assert impound("check", "--nonsense").returncode == 2


@pytest.mark.parametrize("text, word", [
    ("queues:\n  orders:\n    source: 'sqs://region/queue'\n    handler: {http: 'http://h/'}\n", "not in this version"),
    ("store: postgresql://u@h/db\n" + GOOD, "not in this version"),
    (GOOD + "    dlq: {mirror: 'sqs://h/t'}\n", "not in this version"),
    (GOOD + "    dlq: {on_full: spill}\n", "archive"),
    (GOOD + "    classify: {rules: [{when: {message: '('}, do: dlq}]}\n", "message"),
    (GOOD + "    classify: {rules: [{when: {jq: '.['}, do: dlq}]}\n", "jq"),
    (GOOD + "    classify: {rules: [{when: {status: 42}, do: dlq}]}\n", "status"),
    (GOOD + "    classify: {rules: [{when: {}, do: retyr}]}\n", "retry"),
    ("queues:\n  orders:\n    handler: {http: '${IMPOUND_NO_SUCH_VARIABLE}'}\n", "IMPOUND_NO_SUCH_VARIABLE"),
    ("queues: {}\n", "queue"), ("", "queues"), ("queues: [", ""), ("queues:\n\t- x\n", ""),
])
def test_check_refuses(tmp_path, text, word):
    done = check(tmp_path, text)
    assert done.returncode == 1 and word in done.stderr, (done.returncode, done.stderr)
    assert "impound.yaml" in done.stderr


def test_a_jq_mistake_has_its_place_and_nothing_starts_or_reloads_with_it(serve, handler, tmp_path):
    wrong = GOOD + "    classify:\n      rules:\n        - {when: {jq: '.['}, do: dlq}\n"
    assert re.search(r"impound\.yaml:6:23: jq: [^\n]*\n$", check(tmp_path, wrong).stderr)
    assert impound("serve", "-c", tmp_path / "impound.yaml").returncode == 1
    server = serve(queues(handler().url))
    server.configure(queues("http://127.0.0.1:1/", classify={"rules": [{"when": {"jq": ".["}, "do": "dlq"}]}))
    assert "jq: " in reload(server, "stays as it is")


# ---- doctor ----

def test_the_doctor_finds_a_good_store_good_also_after_kill_9(serve, handler):
    worker = handler(lambda call: 400)
    server = serve(queues(worker.url))
    for n in range(20):
        server.push("orders", n)
    server.stop()
    stopped = impound("doctor", "-c", server.config_path)
    assert stopped.returncode == 0 and "sound" in stopped.stdout, stopped
    server.start()
    for n in range(20):
        server.push("orders", n)
    server.kill()
    killed = impound("doctor", "-c", server.config_path)
    assert killed.returncode == 0 and "sound" in killed.stdout, killed
    by_path = impound("doctor", "--store", os.path.join(server.folder, "impound.db"))
    assert by_path.stdout == killed.stdout
    told = json.loads(impound("doctor", "-c", server.config_path, "--json").stdout)
    assert told == {"store": os.path.join(server.folder, "impound.db"), "sound": True, "problem": None,
                    "report": killed.stdout.splitlines()}
    server.start()
    server.drained("orders")
    assert server.dlq("orders.dlq")["depth"] == 40, "looking changed nothing"
    nothing = impound("doctor", "--store", os.path.join(server.folder, "no.db"))
    assert nothing.returncode == 4 and "no.db" in nothing.stderr
    assert not os.path.exists(os.path.join(server.folder, "no.db"))


def test_the_doctor_opens_as_many_files_as_the_system_allows(serve, handler):
    """A large store has a file open for each of its packs: too few of them must not look like damage."""
    server = serve(queues(handler(lambda call: 400).url))
    server.push("orders", 1)
    server.stop()
    few = subprocess.run(["sh", "-c", "ulimit -S -n 8 && exec \"$0\" doctor -c \"$1\"", IMPOUND, server.config_path],
                         capture_output=True, text=True, check=False)
    assert few.returncode == 0 and "sound" in few.stdout, few


@contextlib.contextmanager
def no_fold(server):
    """What is written meanwhile stays in the journal: somebody else is writing to the SQLite file."""
    with contextlib.closing(sqlite3.connect(os.path.join(server.folder, "impound.db"), timeout=PATIENCE_S)) as file:
        file.execute("BEGIN IMMEDIATE")
        yield


def flip_byte_of(server, marker):
    """Flips one bit of this text in the journal, where it must stand exactly once."""
    for path in glob.glob(os.path.join(server.folder, "impound.db.d", "*.seg")):
        with open(path, "r+b") as segment:
            data = segment.read()
            if (at := data.find(marker)) >= 0:
                segment.seek(at)
                segment.write(bytes([data[at] ^ 1]))
                return
    raise AssertionError(f"{marker} is not in the journal")


def test_a_flipped_byte_in_the_journal_is_found_and_all_the_rest_salvaged(serve, handler):
    server = serve(queues(handler().url))
    server.post("/v1/queues/orders/pause")
    with no_fold(server):
        ids = [server.push("orders", {"marker": f"text-{number:04}"}) for number in range(60)]
        server.kill()
    assert int(re.search(r"(\d+) changes", impound("doctor", "-c", server.config_path).stdout)[1]) >= 60
    flip_byte_of(server, b"text-%04d" % (len(ids) - 10))
    refused = impound("serve", "-c", server.config_path)
    assert refused.returncode == 1
    assert "impound doctor" in refused.stderr, refused.stderr
    found = impound("doctor", "-c", server.config_path)
    assert found.returncode == 1 and "journal" in found.stdout and "doctor --repair" in found.stderr, found
    told = json.loads(impound("doctor", "-c", server.config_path, "--json").stdout)
    assert not told["sound"] and "doctor --repair" in told["problem"] and "journal" in " ".join(told["report"])
    repaired = impound("doctor", "-c", server.config_path, "--repair")
    assert repaired.returncode == 0 and "salvaged" in repaired.stdout, repaired
    assert impound("doctor", "-c", server.config_path).returncode == 0
    server.start()
    left = {one for one in ids if server.message(one)}
    assert set(ids) - left <= {ids[-10]}, "every whole record is there"
    assert server.queue("orders")["depth"] == len(left)
    server.post("/v1/queues/orders/resume")
    server.drained("orders")


def test_a_sqlite_file_that_is_gone_is_made_again_of_the_journal(serve, handler):
    server = serve(queues(handler().url))
    server.post("/v1/queues/orders/pause")
    ids = [server.push("orders", n) for n in range(50)]
    server.kill()
    path = os.path.join(server.folder, "impound.db")
    for name in glob.glob(path + "*"):
        if os.path.isfile(name):
            os.remove(name)
    found = impound("doctor", "-c", server.config_path)
    assert found.returncode == 1 and "journal" in found.stderr and "doctor --repair" in found.stderr, found
    assert not os.path.exists(path), "looking makes nothing"
    repaired = impound("doctor", "-c", server.config_path, "--repair")
    assert repaired.returncode == 0, repaired
    server.start()
    assert all(server.message(one) for one in ids)


def test_a_malformed_sqlite_file_is_told_apart_and_the_advice_works(serve, handler):
    server = serve(queues(handler().url))
    server.post("/v1/queues/orders/pause")
    ids = [server.push("orders", "x" * 5000) for _ in range(50)]
    server.stop()
    path = os.path.join(server.folder, "impound.db")
    with open(path, "r+b") as file:
        file.seek(8192)
        file.write(b"rubbish!" * 8192)
    told = impound("doctor", "-c", server.config_path)
    assert told.returncode == 1 and "malformed" in told.stderr and "doctor --repair" in told.stderr, told
    refused = impound("serve", "-c", server.config_path)
    assert refused.returncode == 1 and "impound doctor" in refused.stderr, refused
    repaired = impound("doctor", "-c", server.config_path, "--repair")
    assert repaired.returncode == 0 and "rebuilt" in repaired.stdout, repaired
    assert os.path.exists(path + ".damaged"), "it is set aside, not thrown away"
    assert impound("doctor", "-c", server.config_path).returncode == 0
    server.start()
    assert all(server.message(one)["state"] == "queued" for one in ids), "the journal still held them all"
    assert server.queue("orders")["depth"] == len(ids)
