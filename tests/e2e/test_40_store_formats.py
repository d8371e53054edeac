"""Stores of every format that was ever written open, and people can look into the one of today.

stores/format-1 was left by a kill -9: five letters, two messages that wait, and one that only the
journal has. Its queue is paused."""
import contextlib
import os
import sqlite3
import tarfile

import pytest
from harness import ROOT, Server, eventually, free_port, impound

STORES = os.path.join(ROOT, "tests", "e2e", "stores")
QUEUE = {"source": "builtin", "handler": {"exec": ["true"], "timeout": "10s"}, "concurrency": 4}
WAITING = ["waiting-1", "waiting-2", "tail-1"]


@pytest.fixture
def old(tmp_path):
    with tarfile.open(os.path.join(STORES, "format-1.tar.xz")) as packed:
        packed.extractall(tmp_path)
    server = Server(tmp_path, {"orders": QUEUE}).start()
    yield server
    server.stop()


def letter(server, number):
    return server.message(f"letter-{number}", "orders")


def expect_everything(server):
    assert server.dlq("orders.dlq")["depth"] == 5
    assert sorted(row["message"]["id"] for row in server.letters("orders.dlq")) == [
        f"letter-{number}" for number in range(1, 6)]
    for number in range(1, 6):
        held = letter(server, number)
        assert held["message"]["body"] == {"order": number}
        assert held["message"]["headers"] == {"tenant": f"t{number}"}
        assert held["failure"]["error_message"] == "ValueError: no amount"
        assert len(held["history"]) == 1
    assert server.queue("orders")["state"] == "paused"
    for some_id in WAITING:
        assert server.message(some_id, "orders")["state"] == "queued"


def test_a_store_of_the_first_format_opens_with_all_that_it_held(old):
    expect_everything(old)
    old.kill()
    old.start()
    expect_everything(old)


def test_the_first_start_on_a_store_of_an_earlier_version_names_what_changed(old):
    named = ["classify.presets: errors (queue orders)", "flood (queue orders)", "breaker.open (queue orders)",
             "dlq.on_full: block (queue orders)", "alerts.defaults: ", "limit: "]
    for one in named:
        assert old.log().count(f"changed in 0.1.0: {one}") == 1, one
    old.stop()
    old.start()
    for one in named:
        assert old.log().count(f"changed in 0.1.0: {one}") == 1, "the second start of a version names nothing"


def test_what_an_old_store_held_can_be_decided_and_handed_over(old):
    resolved = letter(old, 2)["id"]
    assert old.post(f"/v1/letters/{resolved}/resolve", {"why": "paid by hand"}).status == 200
    assert old.post("/v1/queues/orders/resume").status == 200
    old.drained("orders")
    assert all(old.message(some_id, "orders") is None for some_id in WAITING)
    old.stop()
    old.start()
    assert letter(old, 2)["state"] == "resolved" and letter(old, 2)["why"] == "paid by hand"
    assert letter(old, 2)["message"]["body"] == {"order": 2}
    assert old.dlq("orders.dlq")["depth"] == 4
    old.stop()
    found = impound("doctor", "-c", old.config_path)
    assert found.returncode == 0 and "sound" in found.stdout, found


def test_people_find_a_body_from_the_sqlite_file_alone(tmp_path):
    dying = {**QUEUE, "handler": {"exec": ["sh", "-c", "exit 65"], "timeout": "10s"}}
    server = Server(tmp_path, {"orders": dying}).start()
    server.push("orders", {"order": 7, "note": "for people"}, id="seven")
    file = sqlite3.connect(f"file:{tmp_path}/impound.db?mode=ro", uri=True)
    query = "SELECT body_file, body_offset, body_len FROM letters WHERE message_id = 'seven'"
    name, offset, size = eventually(lambda: file.execute(query).fetchone(), "the letter is folded")
    file.close()
    with open(os.path.join(tmp_path, "impound.db.d", name), "rb") as pack:
        pack.seek(offset)
        assert pack.read(size) == b'{"order": 7, "note": "for people"}'
    server.stop()


def write_database(path, *statements):
    with contextlib.closing(sqlite3.connect(path)) as file:
        for statement in statements:
            file.execute(statement)
        file.commit()


def test_a_file_that_is_not_ours_is_left_as_it_is_and_the_remedy_is_said(tmp_path):
    (tmp_path / "impound.yaml").write_text(
        f"server: {{listen: '127.0.0.1:{free_port()}'}}\nqueues: {{orders: {{handler: lease}}}}\n")
    path = tmp_path / "impound.db"
    for make, words in ((lambda: write_database(path, "CREATE TABLE theirs (a)"), "another program's database"),
                        (lambda: write_database(path, "CREATE TABLE ours (a)", "PRAGMA application_id = 1768779876",
                                                "PRAGMA user_version = 1000"), "has format 1000"),
                        (lambda: path.write_text("some text"), "is no SQLite database")):
        path.unlink(missing_ok=True)
        make()
        before = path.read_bytes()
        for verb in (["serve"], ["doctor"]):
            done = impound(*verb, cwd=tmp_path)
            assert done.returncode == 1 and str(path) in done.stderr, (verb, done)
            assert verb == ["doctor"] or words in done.stderr, done
            assert path.read_bytes() == before, verb
        if words != "is no SQLite database":
            assert impound("doctor", "--repair", cwd=tmp_path).returncode == 1
            assert path.read_bytes() == before
