"""What the README and the pages say, a reader can do: commands are run, configurations are checked."""
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess

import pytest

from harness import IMPOUND, PATIENCE_S, ROOT, Server, eventually, free_port, impound

PORT, HOOK_PORT = 7070, 7071
EXAMPLE = os.path.join(ROOT, "examples", "orders")
PAGES = [os.path.join(ROOT, "README.md"), *sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))]


def blocks(path, language):
    with open(path, encoding="utf-8") as page:
        return re.findall(rf"^```{language}\n(.*?)^```$", page.read(), re.M | re.S)


def commands(block):
    """(command, the lines that stand under it); what a command reads up to END is part of it."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found[-1][0].partition("\n")[0].endswith("<<END") and not found[-1][0].endswith("\nEND"):
            found[-1] = (f"{found[-1][0]}\n{line}", [])
        else:
            found[-1][1].append(line)
    return found


class Reader:
    """Somebody who types what the README says into one shell, in a folder where impound was built."""

    def __init__(self, folder):
        self.home = self.folder = folder
        self.background = []
        # The README's own port where it can be had; elsewhere every mention of it is another one.
        self.port, self.hook_port = free_port(PORT), free_port(HOOK_PORT)
        (folder / "build").mkdir()
        (folder / "build" / "impound").symlink_to(os.path.abspath(IMPOUND))
        (folder / "examples").symlink_to(os.path.join(ROOT, "examples"))
        self.environment = {**os.environ, "NO_COLOR": "1", "IMPOUND_URL": f"http://127.0.0.1:{self.port}"}

    def reads_as_here(self, command):
        """A port that is taken is another one, which the configuration then has to say; and programs are given the
        time that a slow machine needs."""
        command = command.replace("cat >impound.yaml <<END\n",
                                  f"cat >impound.yaml <<END\nserver: {{listen: '127.0.0.1:{PORT}', jq_timeout: 30s}}\n")
        command = command.replace("timeout: 10s", "timeout: 1h")
        command = command.replace(f"127.0.0.1:{PORT}", f"127.0.0.1:{self.port}")
        return command.replace(str(HOOK_PORT), str(self.hook_port))

    def shell(self, command):
        """The folder and the path that a command leaves behind are those of the next."""
        left = os.path.join(self.home, "left")
        done = subprocess.run(["bash", "-c", f"{command}\ncode=$?\nprintf '%s\\n' \"$PWD\" \"$PATH\" >{left}\nexit $code"],
                              cwd=self.folder, env=self.environment, text=True, capture_output=True,
                              timeout=PATIENCE_S, check=False)
        with open(left, encoding="utf-8") as state:
            self.folder, self.environment["PATH"] = state.read().splitlines()
        return done

    def types(self, command, expected):
        command = self.reads_as_here(command)
        if command.endswith("&"):
            self.starts(command.rstrip("& "))
            return
        if command == "cat alerts.log":
            eventually(self.was_told, "the webhook is told within a few seconds")
        done = self.shell(command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        if expected:
            assert done.stdout.splitlines() == expected, command
        if command.startswith("impound push"):
            eventually(self.sees_it_done, "the orders are through, which takes a reader no longer than the next sentence")

    def sees_it_done(self):
        queue = json.loads(self.shell("impound queues orders --json").stdout)
        return queue["depth"] == 0 and queue["in_flight"] == 0

    def was_told(self, status="firing"):
        return f"{status}  warning  DLQNotEmpty  orders.dlq" in self.shell("cat alerts.log").stdout

    def starts(self, command):
        process = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=self.folder, env=self.environment)
        is_impound = command.startswith("impound ")
        self.background.append((process, 0 if is_impound else -signal.SIGTERM))

        def answers():
            assert process.poll() is None, f"{command} ended"
            if not is_impound:
                with socket.socket() as caller:
                    return caller.connect_ex(("127.0.0.1", self.hook_port)) == 0
            return impound("queues", IMPOUND_URL=self.environment["IMPOUND_URL"]).returncode == 0
        eventually(answers, f"{command} answers at its port")

    def leaves(self):
        for process, code in self.background:
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_S) == code


def test_the_tour_of_the_readme_works_as_it_is_written(tmp_path):
    tour = [step for block in blocks(PAGES[0], "console") for step in commands(block)]
    assert len(tour) > 10
    reader = Reader(tmp_path)
    try:
        for command, expected in tour:
            reader.types(command, expected)
        url = {"IMPOUND_URL": reader.environment["IMPOUND_URL"]}
        # What the text between the commands says.
        eventually(lambda: impound("show", "o-2", **url).returncode == 4, "o-2 succeeds")
        assert impound("show", "o-3", **url).returncode == 4
        assert "KeyError" in impound("show", "o-1", **url).stdout
        assert "KeyError" in impound("explain", "o-1", **url).stdout
        assert "o-1" in impound("ls", "orders.dlq", "--state", "resolved", **url).stdout
        assert "DLQNewGroup" in reader.shell("cat alerts.log").stdout
        eventually(lambda: reader.was_told("resolved"), "the webhook is told that it is over")
    finally:
        reader.leaves()


@pytest.mark.parametrize("page", PAGES, ids=os.path.basename)
def test_every_configuration_of_a_page_is_one(page, tmp_path):
    for n, text in enumerate(blocks(page, "yaml")):
        path = tmp_path / f"block-{n}.yaml"
        path.write_text(text)
        done = impound("check", "-c", path, PRICES_KEY="sesame", HOOK_SECRET="sesame", REDIS_PASSWORD="sesame",
                       BROKER_PASSWORD="sesame")
        assert done.returncode == 0, (text, done.stderr)
        assert "sesame" not in done.stdout


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        with open(page, encoding="utf-8") as text:
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text.read()):
                assert os.path.exists(os.path.join(os.path.dirname(page), target)), (page, target)


@pytest.mark.parametrize("page", ["architecture.md", "hacking.md", "first-adapter.md"])
def test_every_source_file_that_a_page_names_is_there(page):
    """By its path, or by its name alone; http*.c is several, and xyz a broker that a reader writes."""
    with open(os.path.join(ROOT, "docs", page), encoding="utf-8") as text:
        named = set(re.findall(r"[\w/*]+\.(?:c|h|py|txt)\b", text.read()))
    assert named
    missing = {name for name in named
               if "xyz" not in name and
               not glob.glob(os.path.join(ROOT, name)) and
               not any(glob.glob(os.path.join(ROOT, top, "**", name), recursive=True)
                       for top in ("src", "tests", "tools", "include", "bench"))}
    assert not missing


def test_a_turn_of_the_engine_is_told_as_it_is_made():
    with open(os.path.join(ROOT, "src", "engine", "engine.c"), encoding="utf-8") as source:
        turn = re.search(r"^struct mono engine_turn\(.*?^}", source.read(), re.M | re.S)[0]
    with open(os.path.join(ROOT, "docs", "architecture.md"), encoding="utf-8") as page:
        told = re.search(r"`engine_turn`.*?^```\n(.*?)^```", page.read(), re.M | re.S)[1]
    made = re.findall(r"^    (?:(\w+)\(engine\)|FEATURES_TELL\((\w+), engine\));", turn, re.M)
    steps = [f"features: {moment}" if moment else step for step, moment in made]
    assert re.findall(r"^(features: \w+|\w+)", told, re.M) == steps


def test_the_example_runs(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    server = Server(tmp_path, {})
    with open(os.path.join(EXAMPLE, "impound.yaml"), encoding="utf-8") as example:
        text = example.read()
    with open(server.config_path, "w", encoding="utf-8") as out:
        out.write(text.replace(str(PORT), str(server.port)))
    assert impound("check", "-c", server.config_path).returncode == 0
    server.start()
    try:
        server.cli("push", "orders", '{"pin":"BAD"}', "--id", "o-1")
        server.cli("push", "orders", '{"pin":"560001","trip":2}', "--id", "o-2")
        server.cli("push", "orders", '{"pin":"110001"}', "--id", "o-3")
        server.drained("orders")
        assert [letter["message"]["id"] for letter in server.letters("orders.dlq")] == ["o-1"]
        assert server.message("o-1")["owner"] == "team-orders"
    finally:
        server.stop()


def test_make_is_told_of_in_the_readme():
    with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as makefile:
        targets = set(re.findall(r"^(\w+):", makefile.read(), re.M))
    for page in PAGES:
        with open(page, encoding="utf-8") as text:
            for target in re.findall(r"`?make (\w+)`?(?=\s{2,}#|`)", text.read()):
                assert target in targets, (page, target)
