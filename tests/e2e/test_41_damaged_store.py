"""A damaged store: serve refuses with the place or serves what is whole, doctor agrees, and a repair takes all that is left."""
import contextlib
import glob
import json
import os
import sqlite3
import subprocess
import threading

import pytest

from harness import Server, eventually, impound, problem

QUICK = {"attempts": 1, "base": "10ms", "cap": "20ms"}


def queues(url, **more):
    return {"orders": {"source": "builtin", "handler": {"http": url}, "breaker": "off", "retry": QUICK, **more}}


def store(server, name=""):
    return os.path.join(server.folder, "impound.db" + name)


def change(server, sql):
    with contextlib.closing(sqlite3.connect(store(server))) as file, file:
        file.execute(sql)


def flip(server, marker):
    """Flips one bit of this text in every pack that has it."""
    flipped = 0
    for path in glob.glob(store(server, ".d/*.pack")):
        with open(path, "r+b") as pack:
            data = pack.read()
            if (at := data.find(marker)) >= 0:
                pack.seek(at)
                pack.write(bytes([data[at] ^ 1]))
                flipped += 1
    assert flipped, f"{marker} is in no pack"


def dead(server, count):
    ids = [server.push("orders", {"marker": f"text-{number:04}"}) for number in range(count)]
    eventually(lambda: server.dlq("orders.dlq")["depth"] == count, "all are letters")
    return ids


@pytest.mark.parametrize("sql, place", [
    ("UPDATE queues SET number = 0", "table queues"),
    ("UPDATE queues SET number = 20000000", "table queues"),
    ("UPDATE packs SET bytes = 4096", "table packs"),
    ("UPDATE counters SET count = 77 WHERE kind = 'category'", "counters of DLQ"),
    ("UPDATE meta SET value = 1 WHERE name = 'next_seq'", "next_seq"),
])
def test_serve_refuses_numbers_that_cannot_be_right_and_a_repair_loses_nothing(serve, handler, sql, place):
    worker = handler(lambda call: 422)
    server = serve(queues(worker.url))
    ids = dead(server, 20)
    server.stop()
    change(server, sql)
    refused = impound("serve", "-c", server.config_path)
    assert refused.returncode == 1 and place in refused.stderr and "impound doctor" in refused.stderr, refused
    found = impound("doctor", "-c", server.config_path)
    assert found.returncode == 1 and "serve refuses to start" in found.stdout and place in found.stdout, found
    repaired = impound("doctor", "-c", server.config_path, "--repair")
    assert repaired.returncode == 0 and " 0 lost" in repaired.stdout, repaired
    assert impound("doctor", "-c", server.config_path).returncode == 0
    server.start()
    for number, one in enumerate(ids):
        assert server.message(one)["message"]["body"] == {"marker": f"text-{number:04}"}
    assert server.dlq("orders.dlq")["depth"] == len(ids)


def test_a_pack_that_is_gone_comes_back_from_the_journal(serve, handler):
    server = serve(queues(handler().url))
    server.post("/v1/queues/orders/pause")
    ids = [server.push("orders", number) for number in range(300)]
    server.stop()
    for path in glob.glob(store(server, ".d/*.pack")):
        os.remove(path)
    found = impound("doctor", "-c", server.config_path)
    assert found.returncode == 1 and "serve refuses to start" in found.stdout, found
    repaired = impound("doctor", "-c", server.config_path, "--repair")
    assert repaired.returncode == 0 and " 0 lost" in repaired.stdout, repaired
    server.start()
    assert all(server.message(one)["state"] == "queued" for one in ids)


def test_a_letter_without_its_body_is_shown_and_replayed_only_with_a_new_one(serve, handler):
    answers = {"status": 422}
    worker = handler(lambda call: answers["status"])
    server = serve(queues(worker.url))
    ids = dead(server, 5)
    before = server.message(ids[3])["message"]
    server.stop()
    flip(server, b"text-0003")
    found = impound("doctor", "-c", server.config_path)
    assert found.returncode == 1 and "serve starts with this damage" in found.stdout, found
    for path in glob.glob(store(server, ".d/*.seg")):
        os.remove(path)  # nobody else has the body
    repaired = impound("doctor", "-c", server.config_path, "--repair")
    assert repaired.returncode == 0 and "1 messages are kept without their bodies" in repaired.stdout, repaired
    server.start()
    letter = server.message(ids[3])
    assert letter["message"]["body_damaged"] and letter["message"]["content_hash"] == before["content_hash"]
    assert letter["message"]["size"] == before["size"] and letter["state"] == "pending_review"
    rows = {row["message"]["id"]: row for row in server.letters("orders.dlq")}
    assert rows[ids[3]]["message"]["body_damaged"] and "body_damaged" not in rows[ids[2]]["message"]
    lines = server.cli("export", "--dlq", "orders.dlq").splitlines()
    assert sum(json.loads(line)["message"].get("body_damaged", False) for line in lines) == 1

    answers["status"] = 200
    only = {"ids": [letter["id"]], "dry_run": False, "canary": []}
    problem(server.post("/v1/replays", only), 400, "damaged", "edit")
    answer = server.post("/v1/replays", {**only, "edit": '{"marker": "again"}'})
    assert answer.status == 200, answer.body
    eventually(lambda: server.message(letter["id"])["state"] == "resolved", "the letter has a new body")
    assert json.loads(worker.calls[-1].body) == {"marker": "again"}


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own, of 400 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip(f"this machine mounts nothing: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_disk_that_impound_filled_is_freed_through_it(small_disk, handler):
    full = threading.Event()  # before that the first message has no answer, so that a decision waits on the full disk

    def answer(call):
        if call.id == "m0":
            full.wait(120)
        return 422
    worker = handler(answer)
    server = Server(small_disk, queues(worker.url, handler={"http": worker.url, "timeout": "5m"},
                                       dlq={"retention": {"discarded": "1s", "resolved": "1s"}})).start()
    assert server.metric("impound_store_reserve_bytes") == 64 << 20
    body = "x" * (1 << 20)
    status = 200
    for number in range(1000):
        status = server.post("/v1/queues/orders/messages", {"id": f"m{number}", "body": body}).status
        if status != 200:
            break
    assert status == 503
    eventually(lambda: server.get("/readyz").status == 503, "readyz says that it cannot commit")
    assert b"the disk is full" in server.get("/readyz").body
    full.set()
    eventually(lambda: "the disk is full" in (server.queue("orders")["why"] or ""), "the queue whose decisions wait says why")
    assert server.metric("impound_store_writable") == 0 and server.metric("impound_store_reserve_bytes") == 0
    ids = [letter["id"] for letter in server.letters("orders.dlq")]
    assert ids, "some became letters before the disk was full"
    for some_id in ids:
        answer = server.post(f"/v1/letters/{some_id}/discard", {"why": "the disk is full"})
        assert answer.status == 200, answer.body
    eventually(lambda: server.get("/readyz").status == 200, "retention has freed the disk")
    assert server.metric("impound_store_writable") == 1
    eventually(lambda: not server.queue("orders")["why"], "nothing waits any more")
    assert server.post("/v1/queues/orders/messages", {"id": "after", "body": 1}).status == 200
    server.stop()
