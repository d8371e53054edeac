"""What the benches share: a server, a sink, figures as ratios of medians taken in one run."""
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))

from harness import Server, free_port  # noqa: E402

SINK = os.path.join(ROOT, "build", "bench", "sink")
ROUNDS = int(os.environ.get("ROUNDS", "3"))


class Sink:
    def __init__(self):
        self.port = free_port()
        self.process = subprocess.Popen([SINK, str(self.port)])
        self.url = f"http://127.0.0.1:{self.port}/"
        deadline = time.monotonic() + 5
        while True:
            try:
                self.stats()
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _ask(self, method):
        with urllib.request.urlopen(urllib.request.Request(self.url, method=method), timeout=10) as answer:
            return json.load(answer)

    def stats(self, forget=False):
        return self._ask("DELETE" if forget else "GET")

    def forgive(self):
        """From now on nothing is poison."""
        self._ask("PUT")

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class Folder:
    """A temporary folder on the disk that the project is on (not a RAM disk)."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="bench-", dir=os.path.join(ROOT, "build"))
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def median(values):
    return statistics.median(values)


def rss_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmRSS"):
                return int(line.split()[1])
    return 0


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def core_ms(pid):
    """For how long its threads have had a core, and for how long they could have used one that others had."""
    ran = waited = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as stat:
                one_ran, one_waited, _ = map(int, stat.read().split())
        except OSError:  # it ended meanwhile
            continue
        ran, waited = ran + one_ran, waited + one_waited
    return ran / 1e6, waited / 1e6


__all__ = ["Folder", "ROOT", "ROUNDS", "Server", "Sink", "core_ms", "cpu_seconds", "median", "rss_kib"]
