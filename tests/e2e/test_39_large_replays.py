"""Replays of large letters with an edit: their commits are bounded by bytes, and a disk that fails for a while
delays a replay and does not stop it."""
import os
import subprocess
import threading

import pytest

from harness import Server, eventually, problem

HERE = os.path.dirname(os.path.abspath(__file__))
LETTERS, SIZE = 60, 4 << 20


@pytest.fixture(name="disk")
def fixture_disk(tmp_path):
    """Syncs of the server that is run `under` it fail while the file `fails` exists."""
    library, fails = str(tmp_path / "disk.so"), tmp_path / "fails"
    subprocess.run(["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", library, os.path.join(HERE, "disk.c")], check=True)
    options = f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"
    return ("env", f"LD_PRELOAD={library}", f"DISK_FAILS={fails}", f"ASAN_OPTIONS={options}"), fails


class World:
    """A server that runs under a disk that can fail, with large letters in it."""

    def __init__(self, tmp_path, handler, disk):
        self.broken = True
        self.worker = handler(lambda call: 422 if self.broken else 200)
        folder = tmp_path / "server"
        folder.mkdir()
        self.server = Server(folder, {"orders": {"source": "builtin", "handler": {"http": self.worker.url, "timeout": "1h"},
                                                 "concurrency": 8}},
                             server={"max_body": "8MiB"})
        self.server.under = disk
        self.server.start()

    def die(self):
        text = "x" * (SIZE - 64)
        for number in range(LETTERS):
            self.server.push("orders", {"model": "m1", "text": text}, id=f"o-{number}")
        eventually(lambda: self.server.dlq("orders.dlq")["depth"] == LETTERS, f"{LETTERS} letters are dead")
        self.broken = False

    def start(self):
        answer = self.server.post("/v1/replays", {"filter": {"dlq": "orders.dlq"}, "edit": '.model = "m2"',
                                                  "rate": "max", "canary": False, "dry_run": False})
        assert answer.status == 200, answer.body
        return answer.json["id"]

    def view(self, some_id):
        return self.server.get(f"/v1/replays/{some_id}").json

    def check_all_are_fixed(self, some_id):
        view = eventually(lambda: (one := self.view(some_id))["state"] in ("done", "aborted") and one,
                          lambda: f"the replay ends: {self.view(some_id)}")
        assert (view["state"], view["why"], view["resolved"]) == ("done", None, LETTERS)
        replayed = [call for call in self.worker.calls if call.headers["Impound-Replay"] == "1"]
        assert sorted(call.id for call in replayed) == sorted(f"o-{number}" for number in range(LETTERS))
        assert all(call.body.startswith(b'{"model": "m2"') or call.body.startswith(b'{"model":"m2"') for call in replayed)


@pytest.fixture(name="world")
def fixture_world(tmp_path, handler, disk):
    world = World(tmp_path, handler, disk[0])
    yield world
    world.server.stop()


def test_sixty_letters_of_four_megabytes_are_edited_and_sent_after_a_pause(world):
    world.die()
    assert world.server.post("/v1/queues/orders/pause").status == 200
    replay = world.start()
    eventually(lambda: world.view(replay)["state"] == "waiting", "the replay waits for its queue")
    assert "paused" in world.view(replay)["why"]
    assert world.server.post("/v1/queues/orders/resume").status == 200
    world.check_all_are_fixed(replay)


def test_a_disk_that_fails_for_a_while_delays_a_replay(world, disk):
    fails = disk[1]
    world.die()
    sent = threading.Event()
    world.worker.answer = lambda call: sent.set() or 200
    replay = world.start()
    assert sent.wait(180)
    fails.touch()
    view = eventually(lambda: (one := world.view(replay))["state"] == "waiting" and one, "the replay waits for the disk")
    assert "the store refused a commit" in view["why"]
    problem(world.server.post("/v1/queues/orders/messages", {"body": 1}), 503)
    fails.unlink()
    world.check_all_are_fixed(replay)
