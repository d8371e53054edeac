"""Every verb, for people and with --json, and the exit codes that scripts rely on."""
import codecs
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import termios

import pytest

from harness import IMPOUND, PATIENCE_S, ROOT, Handler, Server, eventually, free_port, impound

DONE, REFUSED, USAGE, UNREACHABLE, NOT_FOUND = range(5)
VERBS = ["serve", "check", "push", "queues", "dlqs", "ls", "show", "explain", "pause", "resume", "stats",
         "version", "doctor", "what-if", "replay", "replays", "resolve", "discard", "escalate", "compensate", "alerts",
         "audit", "top", "groups", "export", "import", "demo", "bench"]
NASTY = "\x1b[2J\x1b]0;owned\x07 red\rback\x9b31m"


@pytest.fixture(scope="module")
def lot(tmp_path_factory):
    """A server with one dead letter, whose error is not fit for a terminal, and one message that waits."""
    error = json.dumps({"error": {"type": "Nasty" + NASTY, "message": "it says " + NASTY}}).encode()
    worker = Handler(lambda call: (400, {"Content-Type": "application/json"}, error)
                     if call.id == "dead" else 200)
    queue = {"source": "builtin", "handler": {"http": worker.url}}
    server = Server(tmp_path_factory.mktemp("cli"), {"orders": queue, "paused": queue}).start()
    server.cli("pause", "paused")
    server.push("orders", {"pin": "BAD", "note": NASTY}, id="dead", key="k1")
    server.push("paused", {"n": 1}, id="waiting")
    server.drained("orders")
    yield server
    server.stop()
    worker.close()


def answer(server, *words):
    return json.loads(server.cli(*words, "--json"))


# ---- looking ----

def test_looking_shows_tables_to_people_and_the_servers_answer_to_programs(lot):
    for words, path in ((["queues"], "/v1/queues"), (["queues", "orders"], "/v1/queues/orders"),
                        (["dlqs"], "/v1/dlqs"), (["dlqs", "orders.dlq"], "/v1/dlqs/orders.dlq"),
                        (["ls"], "/v1/letters"), (["ls", "orders.dlq"], "/v1/dlqs/orders.dlq/letters"),
                        (["ls", "--queue", "paused"], "/v1/messages?queue=paused"),
                        (["show", "dead"], "/v1/messages/dead"),
                        (["explain", "dead"], "/v1/letters/dead/explain"), (["stats"], "/v1/stats")):
        shown, said = answer(lot, *words), lot.get(path).json
        assert set(shown) == set(said), words
        people = lot.cli(*words)
        assert people.strip() and not people.lstrip().startswith("{"), words
    assert "orders" in lot.cli("queues") and "paused" in lot.cli("queues")
    assert re.search(r"orders\.dlq\s.*\b1\b", lot.cli("dlqs"))
    assert "bad_request" in lot.cli("ls", "orders.dlq")
    assert answer(lot, "show", "dead") == lot.message("dead")


def test_a_letter_is_shown_with_what_happened_to_it(lot):
    text = lot.cli("show", "dead")
    for word in ("dead", "orders", "k1", "bad_request", "validation", '"pin"', "BAD"):
        assert word in text, word
    by_letter = lot.cli("show", lot.message("dead")["id"])
    assert by_letter == text
    assert "preset:http" in lot.cli("explain", "dead")


def test_lists_take_the_filters_of_the_api(lot):
    assert answer(lot, "ls", "--reason", "bad_", "--since", "6h", "--key=k1", "--min-attempts", "1")["letters"]
    assert not answer(lot, "ls", "orders.dlq", "--category", "timeout")["letters"]
    assert answer(lot, "ls", "--where", '.message.id == "dead"', "--limit", "1")["letters"]
    assert answer(lot, "ls", "--queue", "paused", "--state", "queued")["messages"]
    lot.cli("ls", "--reson", "x", expect=USAGE)
    assert "did you mean" in lot.cli("ls", "--state", "pending_reviw", expect=REFUSED).lower()


# ---- pushing ----

def test_push_takes_a_body_standard_input_and_lines(serve, handler, tmp_path):
    worker = handler()
    server = serve({"orders": {"source": "builtin", "handler": {"http": worker.url}, "concurrency": 1}})
    assert server.cli("push", "orders", '{"order": 1.0}', "--id", "o-1", "--key", "k", "--header", "a=b=c",
                      "--header", "d=") == "o-1\n"
    made = server.cli("push", "orders", stdin='{"order":   2}').strip()
    assert len(made) == 36
    server.cli("push", "orders", "not JSON", "--id", "text")
    lines = "".join(f'{{"id": "l-{n}", "body": {n}}}\n' for n in range(2500))
    path = tmp_path / "lines.ndjson"
    path.write_text(lines)
    *ids, end = server.cli("push", "orders", "--ndjson", str(path)).splitlines()
    assert ids == [f"l-{n}" for n in range(2500)] and "2500" in end
    said = json.loads(server.cli("push", "orders", "--ndjson", "-", "--json", stdin='{"id": "s-1", "body": 1}\n'))
    assert said["ids"] == ["s-1"]
    server.drained("orders")
    got = {call.id: call for call in worker.calls}
    assert got["o-1"].body == b'{"order": 1.0}'
    assert got["o-1"].headers["a"] == "b=c" and got["o-1"].headers["d"] == ""
    assert got[made].body == b'{"order":   2}'
    assert got["text"].body == b"not JSON" and got["text"].headers["Content-Type"].startswith("text/plain")
    assert len(got) == 3 + 2500 + 1
    delayed = server.cli("push", "orders", "1", "--delay", "1h").strip()
    assert server.message(delayed)["state"] == "queued"
    said = json.loads(server.cli("push", "orders", "2", "--id", "twice", "--delay", "1h", "--json"))
    assert said == {"ids": ["twice"], "duplicates": []}
    assert "twice" in server.cli("push", "orders", "3", "--id", "twice", expect=REFUSED)


def test_a_bad_line_is_named_and_its_request_not_stored(lot, tmp_path):
    path = tmp_path / "lines.ndjson"
    path.write_text("".join('{"body": 1}\n' for _ in range(56)) + "{\n" + '{"body": 1}\n' * 43)
    before = lot.queue("paused")["depth"]
    said = lot.cli("push", "paused", "--ndjson", str(path), expect=REFUSED)
    assert "line 57" in said
    assert lot.queue("paused")["depth"] == before
    lot.cli("push", "paused", "--ndjson", str(tmp_path / "nothing"), expect=REFUSED)


# ---- pausing ----

def test_pause_and_resume(serve, handler):
    server = serve({"orders": {"source": "builtin", "handler": {"http": handler().url}}})
    server.cli("pause", "orders", "--why", "deploying the fix")
    assert (server.queue("orders")["state"], server.queue("orders")["why"]) == ("paused", "deploying the fix")
    assert "deploying the fix" in server.cli("queues", "orders")
    server.cli("pause", "orders")
    assert server.queue("orders")["why"] == "deploying the fix", "pausing again does not erase why"
    server.cli("pause", "orders", "--why", "rolling back")
    assert server.queue("orders")["why"] == "rolling back"
    assert answer(server, "resume", "orders")["state"] == "running"


# ---- exit codes ----

def test_exit_codes(lot):
    nobody = f"http://127.0.0.1:{free_port()}"
    for words, code in ((["version"], DONE), (["help"], DONE), (["--help"], DONE), (["ls", "--help"], DONE),
                        (["nonsense"], USAGE), (["show"], USAGE), (["show", "a", "b"], USAGE),
                        (["push"], USAGE), (["push", "orders"], USAGE), (["push", "orders", "1", "--header", "novalue"], USAGE),
                        (["ls", "--limit"], USAGE), (["completion", "tcsh"], USAGE), (["replay"], REFUSED), (["discard", "--why", "x"], REFUSED),
                        (["show", "no-such"], NOT_FOUND), (["explain", "no-such"], NOT_FOUND),
                        (["queues", "oders"], NOT_FOUND), (["push", "oders", "1"], NOT_FOUND),
                        (["dlqs", "no.dlq"], NOT_FOUND), (["ls", "no.dlq"], NOT_FOUND),
                        (["pause", "oders"], NOT_FOUND), (["ls", "--cause", "because"], REFUSED),
                        (["queues", "--url", nobody], UNREACHABLE), (["push", "orders", "1", "--url", nobody],
                                                                     UNREACHABLE)):
        done = impound(*words, IMPOUND_URL=lot.url, stdin="")
        assert done.returncode == code, (words, done)
        if code != DONE:
            assert done.stderr.strip() and not done.stdout.strip(), (words, done)


def test_with_json_a_refusal_is_still_an_exit_code(lot):
    assert impound("show", "no-such", "--json", IMPOUND_URL=lot.url).returncode == NOT_FOUND
    assert impound("queues", "--json", "--url", "http://127.0.0.1:1").returncode == UNREACHABLE


def test_a_mistyped_word_is_met_with_the_nearest(lot):
    assert 'did you mean "queues"' in impound("queus").stderr.lower()
    assert "--reason" in impound("ls", "--reson", "x", IMPOUND_URL=lot.url).stderr
    assert "orders" in lot.cli("push", "oders", "1", expect=NOT_FOUND)


# ---- what the machine can do ----

def test_bench_gives_figures_and_takes_its_folder_away(tmp_path):
    (tmp_path / "impound.yaml").write_text("store: sqlite:data/i.db\nqueues: {orders: {handler: lease}}\n")
    (tmp_path / "data").mkdir()
    done = impound("bench", "--seconds", "1", "--json", cwd=tmp_path)
    said = json.loads(done.stdout)
    assert (done.returncode, said["dir"], said["seconds"]) == (DONE, str(tmp_path / "data"), 1), done
    assert [row["letters"] for row in said["commits"]] == [128, 16, 1]
    for row in said["commits"]:
        assert row["disk_per_second"] > 0 and row["store_per_second"] > 0
        assert row["ratio"] == pytest.approx(row["store_per_second"] / row["disk_per_second"], rel=0.05, abs=0.02)
    assert said["messages_per_second"] > 0 and said["letter_bytes"] > 1024
    assert os.listdir(tmp_path / "data") == []


def test_bench_that_is_interrupted_leaves_nothing(tmp_path):
    bench = subprocess.Popen([IMPOUND, "bench", "--dir", tmp_path, "--seconds", "60"], stderr=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    eventually(lambda: os.listdir(tmp_path), "it has made its folder")
    bench.send_signal(signal.SIGINT)
    out, trouble = bench.communicate(timeout=PATIENCE_S)
    assert (bench.returncode, out) == (REFUSED, "") and "interrupted" in trouble
    assert os.listdir(tmp_path) == []


def test_bench_refuses_what_it_cannot_do(tmp_path):
    assert "1GiB" in impound("bench", "--dir", "/proc").stderr, "where nothing is free"
    for words, code in ((["--dir", "/proc"], REFUSED), (["--dir", tmp_path / "none"], REFUSED), ([], REFUSED),
                        (["--seconds", "0"], USAGE), (["--seconds", "soon"], USAGE), (["extra"], USAGE)):
        done = impound("bench", *map(str, words), cwd=tmp_path)
        assert done.returncode == code and done.stderr and not done.stdout, (words, done)
    assert "--dir" in impound("bench", cwd=tmp_path).stderr, "without a configuration"
    assert os.listdir(tmp_path) == []


# ---- terminals ----

def on_a_terminal(server, *words, **environment):
    """What the command writes when its output is a terminal."""
    leader, follower = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen([IMPOUND, *words], stdout=follower, stderr=follower, stdin=follower,
                               env={**kept, "IMPOUND_URL": server.url, "TERM": "xterm", **environment})
    os.close(follower)
    text = b""
    try:
        while chunk := os.read(leader, 65536):
            text += chunk
    except OSError:
        pass  # the other end is closed
    os.close(leader)
    assert process.wait(PATIENCE_S) == 0
    return text.decode()


def test_control_characters_of_a_message_never_reach_the_terminal(lot):
    for words in (["show", "dead"], ["ls"], ["explain", "dead"], ["dlqs", "orders.dlq"]):
        for text in (on_a_terminal(lot, *words, NO_COLOR="1"), lot.cli(*words)):
            assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text), words
            assert "\r" not in text.replace("\r\n", "\n"), words
        colored = re.sub(r"\x1b\[[0-9;]*m", "", on_a_terminal(lot, *words))
        assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", colored), words
    assert "owned" in lot.cli("show", "dead"), "what can be shown is shown"


def test_colour_is_for_terminals_and_no_color_turns_it_off(lot):
    assert "\x1b[" in on_a_terminal(lot, "queues")
    assert "\x1b[" not in on_a_terminal(lot, "queues", NO_COLOR="1")
    assert "\x1b[" not in impound("queues", IMPOUND_URL=lot.url, NO_COLOR="").stdout


# ---- the live view ----

LEFT = "\x1b[?25h\x1b[?1049l"  # the cursor is back, and the screen that was there before


class Watching:
    """`impound top` on a terminal of its own."""

    def __init__(self, url, rows=40):
        self.leader, self.follower = pty.openpty()
        termios.tcsetwinsize(self.follower, (rows, 200))
        self.before = termios.tcgetattr(self.follower)
        self.text = ""
        self.decode = codecs.getincrementaldecoder("utf-8")().decode  # a read may end within a character
        self.process = subprocess.Popen([IMPOUND, "top"], stdin=self.follower, stdout=self.follower,
                                        env={**os.environ, "IMPOUND_URL": url, "NO_COLOR": "1"})

    def until(self, condition):
        while not condition(self.text):
            self.text += self.decode(os.read(self.leader, 65536))

    def ended(self):
        assert self.process.wait(PATIENCE_S) == 0
        self.until(lambda text: text.endswith(LEFT))
        assert termios.tcgetattr(self.follower) == self.before
        os.close(self.leader)
        os.close(self.follower)


def test_top_is_printed_once_where_there_is_no_terminal(lot):
    for words in (["top"], ["top", "--once"]):
        shown = lot.cli(*words)
        assert re.search(r"orders\s+running", shown) and re.search(r"orders\.dlq\s+1\b", shown)
        assert "\x1b" not in shown
    said = answer(lot, "top")
    assert {row["queue"] for row in said["queues"]} == {"orders", "paused"} and "replays" in said
    assert impound("top", "--once", IMPOUND_URL="http://127.0.0.1:1").returncode == UNREACHABLE


def test_top_draws_again_until_q_and_gives_the_terminal_back(lot):
    top = Watching(lot.url)
    top.until(lambda text: text.count("\x1b[H") >= 2 and text.count("orders.dlq") >= 2)
    os.write(top.leader, b"q")
    top.ended()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_top_gives_the_terminal_back_when_a_signal_ends_it(lot, number):
    top = Watching(lot.url)
    top.until(lambda text: "orders.dlq" in text)
    top.process.send_signal(number)
    top.ended()


def test_top_fits_the_terminal_and_follows_its_size(lot):
    top = Watching(lot.url, rows=3)
    top.until(lambda text: text.count("\x1b[H") >= 2)
    assert all(frame.count("\r\n") <= 2 for frame in top.text.split("\x1b[H"))
    termios.tcsetwinsize(top.follower, (40, 200))
    top.process.send_signal(signal.SIGWINCH)
    top.until(lambda text: "orders.dlq" in text)
    os.write(top.leader, b"q")
    top.ended()


def test_top_waits_for_a_server_that_is_gone():
    top = Watching(f"http://127.0.0.1:{free_port()}")
    top.until(lambda text: text.count("cannot reach") >= 2)
    os.write(top.leader, b"q")
    top.ended()


# ---- help ----

def test_every_verb_helps_and_stands_in_the_man_page_and_the_completions():
    with open(os.path.join(ROOT, "packaging", "impound.1"), encoding="utf-8") as page:
        man = page.read()
    everything = impound("help").stdout
    for verb in VERBS:
        assert re.search(rf"^  {verb}\b", everything, re.M), verb
        assert impound("help", verb).stdout.startswith("usage: impound " + verb)
        assert impound(verb, "--help").stdout == impound("help", verb).stdout
        assert re.search(rf"\.(It )?Ic {verb}\b", man), verb
        for option in re.findall(r"^\s+(?:-\w, )?--([\w-]+)", impound("help", verb).stdout, re.M):
            assert re.search(rf"Fl (\w , )?-{option}\b", man), (verb, option)
    if shutil.which("mandoc"):
        done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", os.path.join(ROOT, "packaging", "impound.1")],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def test_an_option_that_the_man_page_gives_a_verb_is_in_its_help():
    with open(os.path.join(ROOT, "packaging", "impound.1"), encoding="utf-8") as page:
        entries = re.findall(r"^\.It Ic ([\w-]+)(.*)$", page.read(), re.M)
    for verb, behind in entries:
        told = impound("help", verb).stdout
        for option in re.findall(r"(?:Fl|,) -([\w-]+)", behind):
            assert re.search(rf"^ .*--{option}\b", told, re.M), (verb, option)


def test_a_configuration_is_printed_for_people_and_for_programs(tmp_path):
    (tmp_path / "impound.yaml").write_text(
        "queues: {orders: {handler: {http: 'http://127.0.0.1:1/', headers: {k: '${SECRET}'}}}}")
    assert impound("check", cwd=tmp_path, SECRET="s3cret").stdout.startswith("server:\n")
    done = impound("check", "--json", cwd=tmp_path, SECRET="s3cret")
    orders = json.loads(done.stdout)["queues"]["orders"]
    assert (done.returncode, orders["retry"]["attempts"], orders["retry"]["cap"]) == (DONE, 5, "30s")
    assert orders["handler"]["headers"] == {"k": "${SECRET}"}


def test_options_of_verbs_on_files_are_written_like_all_others(tmp_path):
    (tmp_path / "other.yaml").write_text("queues: {orders: {handler: lease}}")
    for words in (["-c", "other.yaml"], ["--config", "other.yaml"], ["--config=other.yaml"]):
        assert impound("check", *words, cwd=tmp_path).returncode == DONE, words
    assert impound("doctor", f"--store={tmp_path}/none.db").returncode == NOT_FOUND
    for verb in ("serve", "check", "doctor"):
        assert impound(verb, "extra", cwd=tmp_path).returncode == USAGE
        assert impound(verb, "-c", cwd=tmp_path).returncode == USAGE
    assert "--connect" in impound("check", "--conect", cwd=tmp_path).stderr


def test_a_configuration_without_a_broker_is_said_so(tmp_path):
    (tmp_path / "impound.yaml").write_text("queues: {orders: {handler: {http: 'http://127.0.0.1:1/'}}}")
    done = impound("check", "--connect", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (DONE, "impound.yaml: it has no broker to try out\n")


def test_a_missing_configuration_names_the_option_that_gives_another(tmp_path):
    for verb in ("serve", "check", "doctor"):
        for words in ([], ["-c", "other.yaml"]):
            done = impound(verb, *words, cwd=tmp_path)
            assert done.returncode == REFUSED, (verb, done)
            assert f"{(words or ['impound.yaml'])[-1]}: there is no such file" in done.stderr, (verb, done)
            assert "-c FILE" in done.stderr, (verb, done)


def test_what_an_option_does_stands_in_one_column():
    for verb in VERBS:
        told = impound("help", verb).stdout
        begins = {len(match[1]) for match in re.finditer(r"^(  (?:-\w,|   ) --\S+ ?\S*  +)\S", told, re.M)
                  if len(match[1].rstrip()) <= 26}
        assert begins == {28}, (verb, begins)


def test_completion_scripts_are_scripts(tmp_path):
    for shell in ("bash", "zsh", "fish"):
        script = impound("completion", shell).stdout
        assert all(re.search(rf"\b{verb}\b", script) for verb in VERBS), shell
        if shutil.which(shell):
            path = tmp_path / shell
            path.write_text(script)
            flag = "--no-execute" if shell == "fish" else "-n"
            assert subprocess.run([shell, flag, path], check=False).returncode == 0


def completed_by_bash(script, cwd, *words):
    done = subprocess.run(
        ["bash", "-c", 'source "$1"; shift; COMP_WORDS=(impound "$@"); COMP_CWORD=$#; COMP_LINE="${COMP_WORDS[*]}"; '
         'COMP_POINT=${#COMP_LINE}; "$(complete -p impound | sed "s/.*-F \\([^ ]*\\).*/\\1/")"; '
         'echo "${COMPREPLY[*]}"', "bash", script, *words], capture_output=True, text=True, check=False, cwd=cwd)
    return done.stdout.split()


def test_bash_completes_verbs_options_and_what_an_argument_may_be(tmp_path):
    script = tmp_path / "script"
    script.write_text(impound("completion", "bash").stdout)
    files = tmp_path / "files"
    files.mkdir()
    (files / "some.ndjson").touch()
    for words, found in ((["que"], ["queues"]), (["completion", ""], ["bash", "zsh", "fish"]),
                         (["help", "qu"], ["queues"]), (["groups", "mu"], ["mute"]), (["import", "so"], ["some.ndjson"]),
                         (["push", "--ndjson", ""], ["some.ndjson"]), (["stats", "--w"], ["--window"]),
                         (["show", "some"], [])):
        offered = completed_by_bash(script, files, *words)
        assert [word for word in offered if words[-1] or not word.startswith("-")] == found, words


def test_the_version_is_said():
    said = json.loads(impound("version", "--json").stdout)
    assert said["version"] in impound("version").stdout
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", said["version"])
    assert {"http", "exec", "lease"} <= set(said["handlers"])
    parts = {"redis", "rabbitmq", "nats", "kafka", "otlp"}
    assert set(said["left_out"]) == parts - set(said["sources"]) - set(said["telemetry"])
    assert all(part in impound("version").stdout for part in parts)


def test_the_version_says_whether_the_dashboard_is_built_in(serve):
    """The plain page carries its script in itself."""
    page = serve({"orders": {"handler": "lease"}}).get("/").body
    assert json.loads(impound("version", "--json").stdout)["dashboard"] == (b"<script type=\"module\"" in page)
