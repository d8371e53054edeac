"""docs/store.md: a store that is copied whole while no server has it open is the same store."""
import glob
import os
import shutil

from harness import Server, eventually, impound

QUEUES = {"orders": {"handler": {"exec": ["/bin/sh", "-c", "exit 65"]}}, "waiting": {"handler": "lease"}}


def test_a_copy_that_is_made_while_the_server_is_stopped_has_everything(serve, tmp_path):
    server = serve(QUEUES)
    server.push_many("orders", [{"body": {"n": n}} for n in range(20)])
    server.push("waiting", {"w": 1}, id="w-1")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 20, "they are dead")
    letters = sorted(letter["id"] for letter in server.letters("orders.dlq"))
    server.stop()
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in glob.glob(os.path.join(server.folder, "impound.db*")):
        (shutil.copytree if os.path.isdir(path) else shutil.copy2)(path, folder / os.path.basename(path))
    copy = Server(folder, QUEUES)
    assert impound("doctor", "--store", folder / "impound.db").returncode == 0
    copy.start()
    try:
        assert sorted(letter["id"] for letter in copy.letters("orders.dlq")) == letters
        assert copy.message("w-1")["message"]["body"] == {"w": 1}
    finally:
        copy.stop()
