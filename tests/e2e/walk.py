"""Somebody who types what an example's README says, in a copy of the example's folder, and waits until
what stands under a command is what it prints."""
import os
import re
import shutil
import signal
import socket
import subprocess

from harness import IMPOUND, PATIENCE_S, ROOT, eventually, free_port


def steps(path):
    """(command, the lines that stand under it) of every console block."""
    with open(path, encoding="utf-8") as page:
        blocks = re.findall(r"^```console\n(.*?)^```$", page.read(), re.M | re.S)
    found = []
    for line in "".join(blocks).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Walk:
    def __init__(self, name, folder, *ports):
        """`ports` are those that the example uses; each becomes a free one, in files and commands. jq is
        given the time that a slow machine needs."""
        self.folder = os.path.join(str(folder), name)
        shutil.copytree(os.path.join(ROOT, "examples", name), self.folder)
        self.ports = {str(port): str(free_port()) for port in ports}
        self.background = []
        for file in os.listdir(self.folder):
            self._move(os.path.join(self.folder, file))
        tools = os.path.join(str(folder), "bin")
        os.mkdir(tools)
        os.symlink(os.path.abspath(IMPOUND), os.path.join(tools, "impound"))
        self.url = f"http://127.0.0.1:{self.ports['7070']}"
        self.environment = {**os.environ, "NO_COLOR": "1", "IMPOUND_URL": self.url,
                            "PATH": f"{tools}:{os.environ['PATH']}"}

    def _moved(self, text):
        return re.sub("|".join(self.ports), lambda found: self.ports[found[0]], text)

    def _move(self, path):
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as old:
                text = self._moved(old.read()).replace("server: {", "server: {jq_timeout: 30s, ")
            with open(path, "w", encoding="utf-8") as new:
                new.write(text)

    def run(self, command):
        return subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, text=True,
                              capture_output=True, timeout=PATIENCE_S, check=False)

    def types(self, command, expected=()):
        if command.endswith("&"):
            self.starts(command.rstrip("& "))
        elif expected:
            eventually(lambda: self.run(command).stdout.splitlines() == list(expected),
                       f"{command} prints {expected}")
        else:
            done = self.run(command)
            assert done.returncode == 0, (command, done.stdout, done.stderr)

    def starts(self, command):
        """The nth program in the background listens on the nth port from the last."""
        process = subprocess.Popen(["bash", "-c", f"exec env {command}"], cwd=self.folder, env=self.environment)
        self.background.append(process)
        port = int(list(self.ports.values())[-len(self.background)])
        eventually(lambda: process.poll() is not None or listens(port), f"{command} listens on {port}")
        assert process.poll() is None, f"{command} ended"

    def all(self):
        for command, expected in steps(os.path.join(self.folder, "README.md")):
            self.types(command, expected)
        return self

    def leaves(self):
        for process in reversed(self.background):
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)
