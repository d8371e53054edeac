"""bury and discard of messages that wait, are leased or run (SEMANTICS 4.8)."""
import json
import threading

import pytest

from harness import eventually


def queues(handler, **more):
    return {"orders": {"source": "builtin", "handler": handler, "concurrency": 1, **more}}


@pytest.fixture
def waiting(serve):
    """A queue in which everything waits, for no worker comes."""
    server = serve(queues("lease"))
    return server, [server.push("orders", {"n": n}, key=f"k{n % 2}") for n in range(6)]


def remove(server, one, action, why="wrong customer"):
    return server.post(f"/v1/messages/{one}/{action}", {"why": why})


def test_a_queued_message_is_buried_discarded_and_audited(waiting):
    server, ids = waiting
    said = remove(server, ids[0], "bury")
    assert said.status == 200
    assert said.json["state"] == "pending_review" and said.json["cause"] == "operator"
    assert said.json["why"] == "wrong customer" and said.json["dlq"] == "orders.dlq"
    assert said.json["message"]["body"] == {"n": 0}
    told = server.get(f"/v1/letters/{said.json['id']}/explain").json["summary"]
    assert "A person put it here: wrong customer." in told
    said = remove(server, ids[1], "discard")
    assert said.status == 200 and said.json["state"] == "discarded"
    assert server.dlq("orders.dlq")["depth"] == 1
    assert server.queue("orders")["depth"] == 4
    entries = server.get("/v1/audit").json["audit"]
    assert [(entry["what"], entry["subject"], entry["why"]) for entry in entries[:2]] == [
        ("message.discard", ids[1], "wrong customer"), ("message.bury", ids[0], "wrong customer")]
    assert remove(server, ids[0], "bury").status == 409, "it is a letter"
    assert remove(server, ids[0], "discard").json["state"] == "discarded", "a letter is discarded as before"
    assert server.post(f"/v1/messages/{ids[2]}/bury", {}).status == 400, "without a why"
    assert remove(server, "nobody", "bury").status == 404


def test_a_kill_after_the_answer_keeps_what_was_removed(waiting):
    server, ids = waiting
    assert remove(server, ids[0], "bury").status == 200
    assert remove(server, ids[1], "discard").status == 200
    server.kill()
    server.start()
    assert server.message(ids[0])["state"] == "pending_review"
    assert server.message(ids[1])["state"] == "discarded"
    assert server.queue("orders")["depth"] == 4


def test_the_lease_of_a_buried_message_is_over(waiting):
    server, ids = waiting
    [one] = server.post("/v1/queues/orders/lease", {"max": 1}).json["messages"]
    assert one["id"] == ids[0]
    assert remove(server, ids[0], "bury").status == 200
    assert server.post(f"/v1/leases/{one['lease']}/ack", {}).status == 409
    assert server.post(f"/v1/leases/{one['lease']}/fail", {"status": 503}).status == 409
    assert server.message(ids[0])["cause"] == "operator"
    [two] = server.post("/v1/queues/orders/lease", {"max": 1}).json["messages"]
    assert two["id"] == ids[1]


def test_a_running_message_is_409_with_its_time_left(serve, handler):
    gate = threading.Event()
    worker = handler(lambda call: gate.wait(20) and 200)
    server = serve(queues({"http": worker.url, "timeout": "30s"}))
    one = server.push("orders", {"n": 0})
    eventually(lambda: worker.count() == 1, "it runs")
    said = remove(server, one, "discard")
    assert said.status == 409 and "left" in said.json["detail"], said.json
    gate.set()
    server.drained("orders")


def test_many_are_chosen_by_a_filter_and_counted_first(waiting):
    server, ids = waiting
    order = {"filter": {"queue": "orders", "state": "queued", "key": "k1"}, "dry_run": True}
    said = server.post("/v1/messages/bury", order)
    assert said.status == 200 and said.json["count"] == 3 and said.json["dry_run"] is True
    assert server.queue("orders")["depth"] == 6
    order = {**order, "dry_run": False, "why": "wrong customer"}
    said = server.post("/v1/messages/bury", order).json
    assert (said["action"], said["matched"], said["count"], said["busy"]) == ("bury", 3, 3, 0)
    assert {server.message(one)["state"] for one in ids[1::2]} == {"pending_review"}
    said = server.post("/v1/messages/discard", {"filter": {"queue": "orders", "where": ".message.body.n > 2"},
                                                "why": "test traffic"})
    assert said.json["count"] == 1 and server.message(ids[4])["state"] == "discarded"
    entry = server.get("/v1/audit").json["audit"][0]
    assert entry["what"] == "message.discard" and entry["count"] == 1
    assert server.post("/v1/messages/discard", {"why": "no filter"}).status == 400
    assert server.post("/v1/messages/discard", {"filter": {"state": "resolved"}, "why": "letters"}).status == 400


def test_a_dry_run_says_until_when_it_saw(waiting):
    server, ids = waiting
    order = {"filter": {"queue": "orders", "state": "queued"}}
    seen = server.post("/v1/messages/discard", {**order, "dry_run": True}).json
    assert seen["count"] == 6
    newest = server.message(ids[-1])["created_at"]
    assert seen["until"] > newest, "it is behind the newest"
    eventually(lambda: server.message(server.push("orders", {"n": 6}))["created_at"] > seen["until"], "some came since")
    order["filter"]["until"] = seen["until"]
    said = server.post("/v1/messages/discard", {**order, "why": "test traffic"})
    assert {server.message(one)["state"] for one in ids} == {"discarded"}, said.json
    assert server.queue("orders")["depth"] > 0, "what came since waits"


def test_ordered_heads_close_and_open_their_key(serve):
    server = serve(queues("lease", order="key"))
    ids = [server.push("orders", {"n": n}, key="k") for n in range(4)]
    lease = lambda: server.post("/v1/queues/orders/lease", {"max": 5}).json["messages"]
    assert remove(server, ids[0], "discard").status == 200
    assert remove(server, ids[2], "discard").status == 200, "also what its key holds back"
    [one] = lease()
    assert one["id"] == ids[1]
    assert remove(server, ids[1], "bury").status == 200
    assert lease() == [], "the key is closed, as by a death"
    assert server.message(ids[3])["blocked_by"] == server.message(ids[1])["id"]
    server.post(f"/v1/letters/{ids[1]}/resolve", {"why": "by hand"})
    assert lease()[0]["id"] == ids[3]


def test_the_command_line_buries_and_discards(waiting):
    server, ids = waiting
    assert "pending_review" in server.cli("bury", ids[0], "--why", "always refused", "--apply")
    words = ["discard", "--queue", "orders", "--state", "queued", "--why", "test traffic"]
    assert "5 messages would be discarded" in server.cli(*words)
    assert server.queue("orders")["depth"] == 5
    assert "5 messages discarded" in server.cli(*words, "--apply")
    assert server.queue("orders")["depth"] == 0
    assert "impound bury" in server.cli("bury", "--help")


def dead_and_waiting(serve, handler, **dlq):
    """A DLQ with one letter at its cap, and a message that waits in the paused queue."""
    worker = handler(lambda call: 422)
    server = serve(queues({"http": worker.url}, dlq={"cap": 1, **dlq}))
    server.push("orders", {}, id="dead")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 1, "it is dead")
    server.post("/v1/queues/orders/pause", {"why": "so that others wait"})
    server.push("orders", {"n": 1}, id="one")
    return server, worker


def test_what_is_buried_into_a_full_dlq_waits_for_room_also_after_a_kill(serve, handler):
    server, worker = dead_and_waiting(serve, handler)
    said = remove(server, "one", "bury")
    assert said.status == 200
    assert (said.json["state"], said.json["cause"]) == ("pending_retry", "operator")
    assert said.json["why"] == "dlq orders.dlq is full; wrong customer"
    server.kill()
    server.start()
    assert server.message("one")["cause"] == "operator"
    server.post("/v1/queues/orders/resume", {})
    server.post("/v1/letters/dead/resolve", {"why": "to make room"})
    letter = eventually(lambda: (one := server.message("one"))["state"] == "pending_review" and one, "there is room")
    assert (letter["cause"], letter["why"]) == ("operator", "wrong customer")
    assert worker.ids() == ["dead"], "it was not handed over again"


def test_what_waits_for_room_can_be_discarded(serve, handler):
    server, _ = dead_and_waiting(serve, handler)
    assert remove(server, "one", "bury").json["state"] == "pending_retry"
    assert remove(server, "one", "discard").json["state"] == "discarded"
    assert server.queue("orders")["awaiting_room"] == 0


def test_what_is_buried_and_spilled_is_answered_with_its_envelope(serve, handler):
    server, _ = dead_and_waiting(serve, handler, on_full="spill", archive="file:archive/")
    said = remove(server, "one", "bury")
    assert said.status == 200, said.body
    assert (said.json["state"], said.json["cause"], said.json["why"]) == ("pending_review", "operator", "wrong customer")
    assert said.json["message"]["body"] == {"n": 1}
    assert server.message("one") is None and server.dlq("orders.dlq")["spilled"] == 1
    ids = [server.push("orders", {"n": n}) for n in range(3)]
    bulk = server.post("/v1/messages/bury", {"filter": {"queue": "orders"}, "why": "test traffic"}).json
    assert bulk["count"] == 3 and all(server.message(one) is None for one in ids)
    assert server.dlq("orders.dlq")["spilled"] == 4


def test_what_lies_at_its_broker_is_404_and_what_failed_is_buried(serve, handler, redis):
    there = pytest.importorskip("redis").Redis(port=redis.port)
    worker = handler(lambda call: 503)
    server = serve({"orders": {"source": redis.url("list=orders"), "handler": {"http": worker.url},
                               "concurrency": 1, "retry": {"base": "1h", "cap": "1h", "jitter": "none"}}})
    there.rpush("orders", json.dumps({"id": "first"}))
    eventually(lambda: server.get("/v1/messages/first").status == 200, "it failed and is stored")
    server.post("/v1/queues/orders/pause", {"why": "the second stays at its broker"})
    there.rpush("orders", json.dumps({"id": "second"}))
    assert remove(server, "second", "bury").status == 404
    said = remove(server, "first", "bury")
    assert said.status == 200 and said.json["message"]["body"] == {"id": "first"}
    assert said.json["failure"]["status"] == 503 and said.json["cause"] == "operator"


@pytest.fixture(name="orphaned")
def fixture_orphaned(serve):
    """Six messages of a queue that is not in the configuration any more."""
    server = serve({**queues("lease"), "others": {"source": "builtin", "handler": "lease"}})
    ids = [server.push("orders", {"n": n}, key=f"k{n % 2}") for n in range(6)]
    server.stop()
    server.configure({"others": {"source": "builtin", "handler": "lease"}})
    server.start()
    return server, ids


def test_a_message_of_a_queue_that_left_the_configuration_is_buried_or_discarded(orphaned):
    server, ids = orphaned
    said = remove(server, ids[0], "bury")
    assert said.status == 200, said.body
    assert (said.json["state"], said.json["cause"], said.json["why"], said.json["dlq"]) == (
        "pending_review", "operator", "wrong customer", "orders.dlq")
    assert said.json["message"]["body"] == {"n": 0} and said.json["message"]["queue"] == "orders"
    said = remove(server, ids[1], "discard")
    assert (said.status, said.json["state"]) == (200, "discarded")
    assert remove(server, ids[0], "bury").status == 409, "it is a letter"
    assert [(entry["what"], entry["subject"], entry["count"]) for entry in server.get("/v1/audit").json["audit"]] == [
        ("message.discard", ids[1], 1), ("message.bury", ids[0], 1)]
    server.kill()
    server.start()
    assert [server.message(one)["state"] for one in ids] == ["pending_review", "discarded"] + ["queued"] * 4
    assert server.dlq("orders.dlq")["depth"] == 1


def test_many_messages_of_a_queue_that_left_the_configuration_are_removed(orphaned):
    server, ids = orphaned
    order = {"filter": {"queue": "orders", "key": "k1"}, "why": "wrong customer"}
    assert server.post("/v1/messages/bury", {**order, "dry_run": True}).json["count"] == 3
    said = server.post("/v1/messages/bury", order).json
    assert (said["matched"], said["count"], said["busy"]) == (3, 3, 0)
    assert {server.message(one)["state"] for one in ids[1::2]} == {"pending_review"}
    assert server.get("/v1/audit").json["audit"][0]["count"] == 3
    assert server.post("/v1/messages/discard", {"ids": [ids[0]], "why": "test traffic"}).json["count"] == 1
    words = ["discard", "--queue", "orders", "--state", "queued", "--why", "test traffic", "--apply"]
    assert "2 messages discarded" in server.cli(*words)
    assert {server.message(one)["state"] for one in ids[0::2]} == {"discarded"}
    assert "cannot be removed: it holds 0 waiting messages and 3 unresolved letters" in server.cli("queues", "remove", "orders")


def test_a_buried_head_of_a_queue_that_left_the_configuration_closes_its_key(serve):
    server = serve({**queues("lease", order="key"), "others": {"source": "builtin", "handler": "lease"}})
    ids = [server.push("orders", {"n": n}, key="k") for n in range(2)]
    server.stop()
    server.configure({"others": {"source": "builtin", "handler": "lease"}})
    server.start()
    assert remove(server, ids[0], "bury").status == 200
    server.stop()
    server.configure(queues("lease", order="key"))
    server.start()
    assert server.message(ids[1])["blocked_by"] == server.message(ids[0])["id"]
    assert server.post("/v1/queues/orders/lease", {"max": 5, "wait_ms": 0}).json["messages"] == []


def test_what_was_leased_of_a_queue_that_left_the_configuration_is_removed_or_renamed(serve):
    others = {"others": {"source": "builtin", "handler": "lease"}}
    server = serve({**queues("lease", concurrency=4), **others})
    ids = [server.push("orders", {"n": n}) for n in range(3)]
    leased = server.post("/v1/queues/orders/lease", {"max": 2}).json["messages"]
    assert [one["id"] for one in leased] == ids[:2]
    server.stop()
    server.configure(others)
    server.start()
    said = remove(server, ids[0], "discard")
    assert (said.status, said.json.get("state")) == (200, "discarded"), said.body
    assert server.post(f"/v1/leases/{leased[0]['lease']}/ack", {}).status == 404, "there is no such queue"
    assert "2 messages and 1 letter moved" in server.cli("queues", "rename", "orders", "others")
    again = server.post("/v1/queues/others/lease", {"max": 5}).json["messages"]
    assert {one["id"] for one in again} == set(ids[1:])
    for one in again:
        assert server.post(f"/v1/leases/{one['lease']}/ack", {}).status == 200
    assert server.queue("others")["depth"] == 0
