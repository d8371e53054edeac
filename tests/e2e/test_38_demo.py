"""The tour: what it shows is what happens, it works against any server, and it leaves nothing that waits."""
import codecs
import os
import pty
import re
import select
import signal
import subprocess

import pytest

from harness import IMPOUND, PATIENCE_S, eventually, free_port, impound

REFUSED, USAGE, UNREACHABLE = 1, 2, 3
SLOW = {"jq_timeout": "30s"}  # of a slow machine
QUEUES = {"demo-orders": {"handler": "lease"}, "demo-ai": {"handler": "lease", "classify": {"presets": ["ai-api"]}}}
PARTS = ["1. Three orders", "2. An AI provider that fails", "3. An outage", "4. A model is gone"]


def tour(server, *words):
    done = impound("demo", *words, IMPOUND_URL=server.url)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


def shown(text):
    """{command: what it printed}, of the commands that a text shows."""
    found = {}
    for block in re.split(r"^\$ impound ", text, flags=re.M)[1:]:
        command, _, output = block.partition("\n")
        found[command] = output
    return found


def at_rest(server):
    for queue in QUEUES:
        view = server.queue(queue)
        assert (view["depth"], view["in_flight"], view["breaker"]["state"]) == (0, 0, "closed"), view
        assert server.dlq(f"{queue}.dlq")["depth"] == 0
    return True


def discarded(server, why):
    return [letter["message"]["id"] for letter in server.letters("demo-ai.dlq", state="discarded")
            if server.message(letter["message"]["id"])["why"] == why]


def test_the_tour_shows_what_happened_and_leaves_nothing_that_waits(serve):
    server = serve(QUEUES, server=SLOW)
    text = tour(server)
    assert [part for part in PARTS if f"== {part} ==" in text] == PARTS
    commands = shown(text)
    (bug,) = (command for command in commands if command.startswith("explain"))
    order = bug.split()[1]
    assert "KeyError" in commands[bug] and order in commands["ls demo-orders.dlq"]
    assert re.search(r"^  breaker +(open|half_open)$", commands["queues demo-ai"], re.M)
    assert re.search(r"^\w+ +20 +open .* model_gone", commands["groups --dlq demo-ai.dlq"], re.M)
    plan, replay = (command for command in commands if "--reason model_gone" in command)
    assert "20 letters would be replayed" in commands[plan] and "20 resolved" in commands[replay]

    assert at_rest(server)
    assert server.message(order)["resolution"] == "replayed" and server.message(order)["attempts"] == 1
    rotated = server.letters("demo-ai.dlq", state="resolved")
    assert len(rotated) == 20 and {letter["reason"] for letter in rotated} == {"model_gone"}
    one = server.message(rotated[0]["message"]["id"])
    assert one["original"]["body"]["model"] == "m1" and one["message"]["body"]["model"] == "m2"
    assert len(discarded(server, "the end of the tour")) == 1
    assert server.metric("impound_attempts_total", queue="demo-ai", result="ok") == 1 + 100 + 20

    again = tour(server)  # its ids are others
    assert not set(re.findall(r"--id (\S+)", text)) & set(re.findall(r"--id (\S+)", again))
    assert at_rest(server)


def test_what_an_earlier_tour_left_is_tidied_up_first(serve):
    server = serve(QUEUES, server=SLOW)
    server.push("demo-ai", {"model": "m1", "prompt": "something forbidden"}, id="left")
    server.push("demo-orders", {"pin": "110001"}, id="waits")
    text = tour(server, "--yes")
    assert text.index("left by an earlier tour") < text.index(PARTS[0])
    assert discarded(server, "left by an earlier tour") == ["left"]
    assert server.message("waits") is None and at_rest(server)


def test_a_server_without_the_queues_is_told_what_to_add(serve, tmp_path):
    server = serve({"orders": {"handler": "lease"}})
    done = impound("demo", IMPOUND_URL=server.url)
    assert done.returncode == REFUSED and not done.stdout
    assert "no queue demo-orders" in done.stderr and "impound demo --self" in done.stderr
    told = tmp_path / "told.yaml"
    told.write_text(re.search(r"^queues:\n(?:  .*\n)+", done.stderr, re.M)[0])
    effective = impound("check", "-c", told)
    assert effective.returncode == 0, effective.stderr
    assert all(queue in effective.stdout for queue in QUEUES)


def test_queues_that_are_not_fit_for_it_are_named(serve):
    server = serve({**QUEUES, "demo-orders": {"handler": {"exec": ["true"]}}})
    assert "its handler is exec" in server.cli("demo", expect=REFUSED)
    server = serve(QUEUES)
    server.cli("pause", "demo-ai")
    assert "impound resume demo-ai" in server.cli("demo", expect=REFUSED)


def test_other_exit_codes():
    nobody = f"http://127.0.0.1:{free_port()}"
    done = impound("demo", "--url", nobody)
    assert done.returncode == UNREACHABLE and "impound demo --self" in done.stderr
    assert impound("demo", "--json").returncode == USAGE
    assert impound("demo", "now").returncode == USAGE


def processes_with(word):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line:
                if word.encode() in line.read():
                    found.append(pid)
        except OSError:
            pass  # it has ended
    return found


def test_with_a_server_of_its_own_it_needs_nothing_and_leaves_nothing(tmp_path):
    done = impound("demo", "--self", TMPDIR=str(tmp_path), IMPOUND_URL="http://127.0.0.1:1")
    assert done.returncode == 0, done.stderr
    assert [part for part in PARTS if f"== {part} ==" in done.stdout] == PARTS
    assert os.listdir(tmp_path) == [] and processes_with(str(tmp_path)) == []
    assert impound("demo", "--self", TMPDIR=str(tmp_path / "none")).returncode == REFUSED


class Visitor:
    """Somebody who takes the tour at a terminal."""

    def __init__(self, *words, **environment):
        self.leader, follower = pty.openpty()
        self.process = subprocess.Popen([IMPOUND, "demo", *words], stdin=follower, stdout=follower, stderr=follower,
                                        env={**os.environ, "NO_COLOR": "1", "TERM": "xterm", **environment})
        os.close(follower)
        self.text = ""
        self.decode = codecs.getincrementaldecoder("utf-8")().decode  # a read may end within a character

    def reads(self):
        assert select.select([self.leader], [], [], PATIENCE_S)[0], f"nothing more comes after {self.text}"
        return self.decode(os.read(self.leader, 65536))

    def reads_until(self, word):
        while word not in self.text:
            self.text += self.reads()
        before, _, self.text = self.text.partition(word)
        return before

    def presses_enter(self):
        os.write(self.leader, b"\n")

    def ends(self):
        rest = self.text
        try:
            while chunk := self.reads():
                rest += chunk
        except OSError:
            pass  # the other end is closed
        os.close(self.leader)
        return rest, self.process.wait(PATIENCE_S)


def test_on_a_terminal_it_waits_for_enter_before_each_part(tmp_path):
    visitor = Visitor("--self", TMPDIR=str(tmp_path))
    for part in PARTS:
        assert part not in visitor.reads_until("Press Enter")
        visitor.presses_enter()
        visitor.reads_until(f"== {part} ==")
    rest, code = visitor.ends()
    assert code == 0 and "That was the tour" in rest and "Press Enter" not in rest
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_it_tidies_up(serve, number):
    server = serve(QUEUES, server=SLOW)
    visitor = Visitor(IMPOUND_URL=server.url)
    for _ in PARTS[:3]:
        visitor.reads_until("Press Enter")
        visitor.presses_enter()
    visitor.reads_until("Press Enter")  # a refused prompt is dead now
    assert server.dlq("demo-ai.dlq")["depth"] == 1
    visitor.process.send_signal(number)
    rest, code = visitor.ends()
    assert code == REFUSED and PARTS[3] not in rest
    assert len(discarded(server, "the end of the tour")) == 1 and at_rest(server)


def test_a_signal_right_behind_the_question_is_not_missed(serve):
    server = serve(QUEUES, server=SLOW)
    for _ in range(15):
        visitor = Visitor(IMPOUND_URL=server.url)
        visitor.reads_until("Press Enter")
        visitor.process.send_signal(signal.SIGTERM)
        rest, code = visitor.ends()
        assert code == REFUSED and PARTS[0] not in rest


def test_killed_it_takes_its_own_server_along(tmp_path):
    visitor = Visitor("--self", TMPDIR=str(tmp_path))
    visitor.reads_until("Press Enter")
    assert processes_with(str(tmp_path))
    visitor.process.kill()
    visitor.ends()
    eventually(lambda: not processes_with(str(tmp_path)), "the server has ended")
