"""Replays: a plan first, then a canary, a ramp and a rate; each letter's outcome known; stopped by itself when
it makes things worse; taken up again after a kill, without sending twice what was sent."""
import collections
import datetime
import json
import threading
import time

import pytest

from harness import PATIENCE_S, Handler, eventually, problem, scaled


def queue(url, **more):
    return {"source": "builtin", "handler": {"http": url, "timeout": "1h"}, "breaker": "off",
            "classify": {"presets": ["ai-api"]}, **more}


class Worker:
    """A handler whose `fixed` decides what is good, and which remembers ids and bodies."""

    def __init__(self, handler, good=lambda body, call: False):
        self.good = good
        self.handler = handler(self.answer)
        self.url = self.handler.url

    def answer(self, call):
        body = json.loads(call.body)
        if self.good(body, call):
            return 200
        return (404, {}, b'{"error":{"type":"NotFound","message":"the model m1 is gone"}}')

    def replayed(self):
        with self.handler.lock:
            return [call for call in self.handler.calls if call.headers["Impound-Replay"] != "0"]


def dead(server, count, queue_name="orders", **more):
    """`count` letters of messages o-0, o-1, …"""
    for start in range(0, count, 1000):
        server.push_many(queue_name, [{"body": {"model": "m1", "n": i}, "id": f"o-{i}", **more}
                                      for i in range(start, min(count, start + 1000))])
    eventually(lambda: server.dlq(f"{queue_name}.dlq")["depth"] == count, f"{count} letters")


def order(server, expect=200, **members):
    answer = server.post("/v1/replays", members, {"Impound-Actor": "ada"})
    assert answer.status == expect, answer.body
    return answer


def start(server, **members):
    return order(server, dry_run=False, **members).json["id"]


def replay(server, some_id, **more):
    answer = server.get(f"/v1/replays/{some_id}", **more)
    assert answer.status == 200, answer.body
    return answer.json


def ended(server, some_id, state="done", patience_s=None):
    def over():
        view = replay(server, some_id)
        return view if view["state"] in ("done", "aborted") else None
    view = eventually(over, f"replay ends: {replay(server, some_id)}", patience_s)
    assert view["state"] == state, view
    return view


def settled(server, some_id):
    """Also what an aborted one had under way has ended."""
    return eventually(lambda: (view := replay(server, some_id)) and
                      view["sent"] == view["resolved"] + view["failed"] and view, "nothing is under way")


def audit(server, what):
    return [entry for entry in server.get("/v1/audit", limit=1000).json["audit"] if entry["what"] == what]


def test_a_model_rotation_is_planned_then_carried_out_with_both_bodies_kept(serve, handler):
    count = scaled(500, 50)
    worker = Worker(handler, lambda body, call: body["model"] == "m2")
    server = serve({"orders": queue(worker.url)})
    dead(server, count)
    words = ("replay", "--reason", "model_gone", "--edit", '.model="m2"')
    plan = server.cli(*words)
    assert f"{count} letters would be replayed" in plan and "--apply" in plan
    assert '- .model: "m1"' in plan and '+ .model: "m2"' in plan
    assert server.dlq("orders.dlq")["depth"] == count and worker.replayed() == []
    assert server.get("/v1/replays").json["replays"] == []
    said = server.cli(*words, "--rate", "max", "--apply")
    assert "is done" in said and f"{count} resolved" in said
    assert server.dlq("orders.dlq")["depth"] == 0
    assert sorted(call.id for call in worker.replayed()) == sorted(f"o-{i}" for i in range(count))
    assert {call.attempt for call in worker.replayed()} == {1}
    for letter in server.letters("orders.dlq", state="resolved"):
        assert letter["resolution"] == "replayed" and letter["replays"] == 1 and letter["edited"]
    whole = server.message("o-7")
    assert whole["message"]["body"] == {"model": "m2", "n": 7}
    assert whole["original"]["body"] == {"model": "m1", "n": 7}
    before = server.cli("show", "o-7").split("body before the edit\n")[1]
    assert json.loads(before) == {"model": "m1", "n": 7}
    assert [(line["replay"], line["attempt"], line["verdict"], line["counted"]) for line in whole["history"]] == [
        (0, 1, "dlq", True), (1, 1, "ok", True)]
    assert whole["attempts"] == 1, "of its round"
    entry, = audit(server, "replay.start")
    assert entry["count"] == count and entry["filter"] == {"reason": "model_gone"}
    assert audit(server, "replay.done")[0]["count"] == count


def test_a_replay_probes_a_breaker_that_nobody_else_can_close(serve, handler):
    """Eight messages met an outage, then died of something else as probes: too few to close the breaker again."""
    down = threading.Event()
    fixed = threading.Event()
    down.set()
    worker = handler(lambda call: 503 if down.is_set() else 200 if fixed.is_set() else 404)
    server = serve({"orders": {**queue(worker.url), "concurrency": 8, "breaker": {"open": "1s"}}})
    server.push_many("orders", [{"body": {"n": i}, "id": f"o-{i}"} for i in range(8)])
    eventually(lambda: server.queue("orders")["breaker"]["state"] == "open", "the breaker opens")
    down.clear()
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 8, "all eight are dead")
    assert server.queue("orders")["breaker"]["state"] == "half_open"
    fixed.set()
    view = ended(server, start(server, filter={"reason": "model_gone"}))
    assert view["resolved"] == 8


def test_a_replay_of_what_is_not_fixed_stops_itself_in_the_canary(serve, handler):
    count = scaled(1000, 100)
    worker = Worker(handler)
    server = serve({"orders": queue(worker.url)})
    dead(server, count)
    said = server.cli("replay", "--reason", "model_gone", "--apply", expect=1)
    assert "aborted" in said and "canary" in said
    view = server.get("/v1/replays").json["replays"][0]
    assert view["state"] == "aborted" and "dead again" in view["why"] and "model_gone" in view["why"]
    assert (view["sent"], view["failed"]) == (1, 1) and len(worker.replayed()) == 1
    assert server.dlq("orders.dlq")["depth"] == count
    entry, = audit(server, "replay.abort")
    assert entry["who"] == "impound" and entry["why"] == view["why"]
    rows = server.letters("orders.dlq")
    assert len(rows) == count and sum(row["replays"] for row in rows) == 1
    assert {row["state"] for row in rows} == {"pending_review"}
    assert server.metric("impound_replay_aborted_total") == 1
    alert = eventually(lambda: [alert for alert in server.get("/v1/alerts").json["alerts"]
                                if alert["alert"] == "ReplayAborted"], "an alert fires")[0]
    assert view["id"] in json.dumps(alert) and "canary" in json.dumps(alert)


def test_one_death_in_the_second_canary_stage_is_enough(serve, handler):
    worker = Worker(handler, lambda body, call: body["n"] != 5)
    server = serve({"orders": queue(worker.url, dlq={"max_replays": 10})})
    dead(server, 0)
    server.push_many("orders", [{"body": {"model": "m1", "n": 5}, "id": f"o-{i}"} for i in range(40)])
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 40, "forty letters")
    # The oldest goes first and is mended; one of the next ten is not.
    worker.good = lambda body, call: len(worker.replayed()) <= 4
    view = settled(server, ended(server, start(server, all=True), "aborted")["id"])
    assert view["sent"] == 11 and 1 <= view["failed"] <= 10
    assert server.dlq("orders.dlq")["depth"] == 40 - view["resolved"]


def test_letters_that_come_back_later_abort_it_too(serve, handler):
    count = scaled(3000, 300)
    worker = Worker(handler)
    server = serve({"orders": queue(worker.url)})
    dead(server, count)
    worker.good = lambda body, call: len(worker.replayed()) < 100
    some_id = start(server, all=True, rate="max")
    view = settled(server, ended(server, some_id, "aborted")["id"])
    assert "back" in view["why"] and view["sent"] < count
    assert view["resolved"] + view["failed"] == view["sent"]
    assert server.dlq("orders.dlq")["depth"] == count - view["resolved"]


def test_what_arrives_after_the_plan_is_not_part_of_it(serve, handler):
    worker = Worker(handler)
    server = serve({"orders": queue(worker.url)})
    dead(server, 20)
    assert server.post("/v1/queues/orders/pause", {}).status == 200
    some_id = start(server, filter={"dlq": "orders.dlq"})
    eventually(lambda: replay(server, some_id)["state"] == "waiting", "it waits for the queue")
    assert "paused" in replay(server, some_id)["why"]
    server.post("/v1/queues/orders/failures", {"task_id": "late", "payload": {"model": "m1", "n": 0},
                                               "status": 404, "error_message": "model m1"})
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 21, "the late one is dead")
    assert worker.replayed() == []
    worker.good = lambda body, call: True
    assert server.post("/v1/queues/orders/resume", {}).status == 200
    assert ended(server, some_id)["selected"] == 20
    assert [row["message"]["id"] for row in server.letters("orders.dlq")] == ["late"]


@pytest.mark.parametrize("words", [
    {"reason": "model"}, {"category": "model_gone"}, {"since": "1h"}, {"where": ".message.body.n < 3"},
    {"q": "gone"}, {"key": "k"}, {"min_attempts": 2},
])
def test_every_filter_chooses_alike_in_plan_replay_and_discard(serve, handler, words):
    worker = Worker(handler)
    server = serve({"orders": queue(worker.url)})
    dead(server, 9, key="k")
    listed = {row["id"] for row in server.letters("orders.dlq", **words)}
    plan = order(server, filter=words).json
    assert plan["selected"] == plan["count"] == len(listed)
    assert sum(group["count"] for group in plan["groups"]) == len(listed)
    worker.good = lambda body, call: True
    view = ended(server, start(server, filter=words))
    assert view["selected"] == view["resolved"] == len(listed)
    assert {row["id"] for row in replay(server, view["id"], limit=100)["letters"]} == listed
    assert server.post("/v1/letters/discard", {"filter": words, "why": "x"}).json["count"] == 0


def test_nothing_is_replayed_without_a_filter_or_with_a_bad_order(serve, handler):
    server = serve({"orders": queue(Worker(handler).url)})
    dead(server, 2)
    problem(order(server, expect=400, dry_run=False), 400, "all")
    problem(order(server, expect=400, all=True, edit=".a ="), 400, "edit")
    problem(order(server, expect=404, all=True, to="nowhere"), 404, "nowhere")
    problem(order(server, expect=400, all=True, rate="fast"), 400, "rate")
    problem(order(server, expect=400, all=True, canary=[0]), 400, "canary")
    problem(order(server, expect=404, ids=["nobody"]), 404, "nobody")
    problem(server.get("/v1/replays/nothing"), 404, "nothing")
    for words in ([], ["--apply"], ["--edit", ".a"]):
        assert "--all" in server.cli("replay", *words, expect=1), words
    assert server.get("/v1/replays").json["replays"] == [] and audit(server, "replay.start") == []


def test_a_letter_has_one_active_replay_and_the_second_names_it(serve, handler):
    gate = threading.Event()
    worker = Worker(handler, lambda body, call: call.headers["Impound-Replay"] != "0" and gate.wait(PATIENCE_S))
    server = serve({"orders": queue(worker.url)})
    dead(server, 5)
    some_id = start(server, all=True)
    eventually(lambda: replay(server, some_id)["sent"] == 1, "the canary is sent")
    problem(order(server, expect=409, all=True), 409, some_id)
    problem(order(server, expect=409, all=True, dry_run=False), 409, some_id)
    letter = server.letters("orders.dlq", state="replaying")[0]["id"]
    said = problem(order(server, expect=409, ids=[letter], dry_run=False), 409, some_id, letter, "wait for it")
    assert "abort" not in said["detail"], "it is sent, and cannot be called back"
    unsent = server.letters("orders.dlq", state="pending_review")[0]["id"]
    problem(order(server, expect=409, ids=[unsent], dry_run=False), 409, some_id, unsent, "abort")
    problem(server.post(f"/v1/letters/{letter}/discard", {"why": "x"}), 409, "replay")
    assert server.post("/v1/letters/discard", {"ids": [letter], "why": "x"}).json["busy"] == 1
    gate.set()
    assert ended(server, some_id)["resolved"] == 5


def test_a_replay_is_paused_resumed_and_aborted(serve, handler):
    worker = Worker(handler, lambda body, call: call.headers["Impound-Replay"] != "0")
    server = serve({"orders": queue(worker.url)})
    dead(server, 60)
    some_id = start(server, all=True, rate="1/s", canary=False)
    eventually(lambda: replay(server, some_id)["sent"] >= 2, "it has begun")
    paused = server.post(f"/v1/replays/{some_id}/pause", {"why": "lunch"}).json
    assert paused["state"] == "paused" and "lunch" in paused["why"]
    still = settled(server, some_id)["sent"]
    server.stop()
    server.start()
    assert replay(server, some_id)["state"] == "paused" and replay(server, some_id)["sent"] == still
    assert server.post(f"/v1/replays/{some_id}/resume", {}).status == 200
    eventually(lambda: replay(server, some_id)["sent"] > still, "it goes on")
    said = server.cli("replays", some_id, "--abort", "--why", "enough")
    assert "is aborted" in said and "enough" in said
    view = settled(server, some_id)
    assert server.dlq("orders.dlq")["depth"] == 60 - view["resolved"]
    problem(server.post(f"/v1/replays/{some_id}/pause", {}), 409, some_id)
    assert [entry["what"] for entry in server.get("/v1/audit").json["audit"]] == [
        "replay.abort", "replay.resume", "replay.pause", "replay.start"]
    # What it did not send is free again.
    assert ended(server, start(server, all=True, rate="max", canary=False))["resolved"] == view["selected"] - view["sent"]


def test_an_order_is_told_as_it_was_given_also_after_a_restart(serve, handler):
    worker = Worker(handler)
    server = serve({"orders": queue(worker.url)})
    dead(server, 6)
    assert server.post("/v1/queues/orders/pause", {}).status == 200
    given = {"filter": {"dlq": "orders.dlq"}, "limit": 3, "order": "newest", "edit": ".n = 1", "to": "orders", "rate": "7/s", "canary": [2], "ramp": False,
             "stale": "send"}
    assert given.items() <= order(server, **given).json["order"].items()
    some_id = start(server, **given)
    for _ in range(2):
        view = replay(server, some_id)
        assert given.items() <= view.items() and view["selected"] == 3
        server.stop()
        server.start()
    assert server.post(f"/v1/replays/{some_id}/abort", {}).status == 200
    assert replay(server, start(server, all=True))["limit"] is None


def test_a_kill_in_the_middle_is_taken_up_and_nothing_known_to_be_sent_is_sent_again(serve, handler):
    count, concurrency = scaled(4100, 410), 8
    worker = Worker(handler, lambda body, call: call.headers["Impound-Replay"] != "0" and not time.sleep(0.01))
    server = serve({"orders": queue(worker.url, concurrency=concurrency)})
    worker.good = lambda body, call: False
    dead(server, count)
    worker.good = lambda body, call: not time.sleep(0.005)
    some_id = start(server, all=True, rate="max", ramp=False)
    kills = 0
    while kills < 2 and eventually(lambda: len(worker.replayed()) >= (kills + 1) * count // 4, "some are sent"):
        server.kill()
        server.start()
        kills += 1
    view = ended(server, some_id)
    assert view["resolved"] == view["selected"] == count and server.dlq("orders.dlq")["depth"] == 0
    times = collections.Counter(call.id for call in worker.replayed())
    assert set(times) == {f"o-{i}" for i in range(count)}
    twice = [some for some, n in times.items() if n > 1]
    assert len(twice) <= kills * concurrency, twice
    assert {row["replays"] for row in server.letters("orders.dlq", state="resolved")} == {1}


def test_without_a_kill_each_letter_is_sent_once_at_the_rate(serve, handler):
    worker = Worker(handler, lambda body, call: call.headers["Impound-Replay"] != "0")
    server = serve({"orders": queue(worker.url)})
    dead(server, 120)
    view = ended(server, start(server, all=True, rate="40/s", ramp=False))
    assert view["resolved"] == 120
    times = collections.Counter(call.id for call in worker.replayed())
    assert len(times) == 120 and set(times.values()) == {1}
    sent = sorted(datetime.datetime.fromisoformat(row["replayed_at"])
                  for row in server.letters("orders.dlq", state="resolved"))[11:]  # behind the canary
    assert (sent[-1] - sent[0]).total_seconds() > 0.9 * (len(sent) - 1) / 40


def test_a_letter_that_was_replayed_too_often_is_escalated_not_sent(serve, handler):
    worker = Worker(handler)
    server = serve({"orders": queue(worker.url, dlq={"max_replays": 1})})
    dead(server, 1)
    ended(server, start(server, all=True), "aborted")
    letter = eventually(lambda: server.letters("orders.dlq", state="pending_review"), "it is back")[0]
    assert letter["replays"] == 1
    assert order(server, all=True).json["over_replayed"] == 1
    said = server.cli("replay", "--all", "--apply")
    assert "0 of 1 sent" in said and "  1 escalated\n" in said
    view = server.get("/v1/replays").json["replays"][0]
    assert (view["sent"], view["skipped"], view["outcomes"]) == (0, 1, {"escalated": 1})
    assert server.message("o-0")["escalated_at"] and len(worker.replayed()) == 1


def test_a_ramp_that_is_neither_on_nor_off_is_refused(serve, handler):
    worker = Worker(handler)
    server = serve({"orders": queue(worker.url)})
    dead(server, 1)
    assert "--ramp is on or off" in server.cli("replay", "--all", "--ramp", "of", "--apply", expect=2)
    assert server.get("/v1/replays").json["replays"] == []


def test_stale_letters_are_skipped_unless_told_otherwise(serve, handler):
    worker = Worker(handler)
    server = serve({"orders": queue(worker.url, dlq={"fresh": {"within": "100ms"}})})
    dead(server, 3)
    worker.good = lambda body, call: True
    eventually(lambda: order(server, all=True).json["stale"] == 3, "they go stale")
    view = ended(server, start(server, all=True))
    assert (view["sent"], view["outcomes"]) == (0, {"skipped stale": 3})
    assert server.dlq("orders.dlq")["depth"] == 3 and worker.replayed() == []
    assert ended(server, start(server, all=True, stale="send"))["resolved"] == 3


def test_freshness_is_asked_of_a_check(serve, handler):
    worker = Worker(handler)
    hashes = {}
    checker = handler(lambda call: (200, {}, hashes[call.id].encode()) if call.id in hashes else 500)
    server = serve({"orders": queue(worker.url, dlq={"fresh": {"check": {"http": checker.url}}})})
    dead(server, 3)
    worker.good = lambda body, call: True
    hashes["o-0"] = server.message("o-0")["message"]["content_hash"]
    hashes["o-1"] = "sha256:" + 64 * "0"
    assert (order(server, all=True).json["to_check"], checker.count()) == (3, 0)
    assert "3 to be checked before they are sent" in server.cli("replay", "--all")
    view = ended(server, start(server, all=True))
    assert view["outcomes"] == {"resolved": 1, "skipped stale": 1, "skipped check failed": 1}
    assert [call.id for call in worker.replayed()] == ["o-0"]


def test_a_check_is_compared_with_the_hash_that_the_body_has(serve, handler):
    worker = Worker(handler)
    checker = handler(lambda call: (200, {}, json.dumps({"content_hash": "sha256:V2"}).encode()))
    fresh = {"check": {"http": checker.url}, "hash": ".source.content_hash"}
    server = serve({"orders": queue(worker.url, dlq={"fresh": fresh})})
    for name, known in (("current", "v2"), ("prefixed", "sha256:v2"), ("stale", "v1")):
        server.push("orders", {"model": "m1", "source": {"content_hash": known}}, id=name)
    server.push("orders", {"model": "m1"}, id="without")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 4, "all are dead")
    worker.good = lambda body, call: True
    view = ended(server, start(server, all=True))
    assert view["outcomes"] == {"resolved": 2, "skipped stale": 2}
    assert sorted(call.id for call in worker.replayed()) == ["current", "prefixed"]


def test_an_edit_that_fails_on_a_letter_skips_it_and_says_so(serve, handler):
    worker = Worker(handler)
    server = serve({"orders": queue(worker.url)})
    dead(server, 2)
    server.push("orders", {"model": "m1", "n": "text"}, id="odd")
    server.push("orders", {"model": "m1", "n": 9007199254740993}, id="big")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 4, "all are dead")
    worker.good = lambda body, call: True
    view = ended(server, start(server, all=True, edit='if .n == "text" then error("odd") else .model = "m2" end'))
    assert view["outcomes"] == {"resolved": 3, "skipped edit failed": 1}
    skipped, = [row for row in replay(server, view["id"], limit=10)["letters"] if "why" in row]
    assert "odd" in skipped["why"] and server.message("odd")["message"]["body"]["n"] == "text"
    assert b"9007199254740993" in [call for call in worker.replayed() if call.id == "big"][0].body


def test_an_edit_that_gives_nothing_skips_its_letter_and_never_sends_null(serve, handler):
    worker = Worker(handler)
    server = serve({"orders": queue(worker.url)})
    dead(server, 2)
    server.push("orders", {"model": "m1", "n": "text"}, id="odd")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 3, "all are dead")
    worker.good = lambda body, call: True
    edit = 'select(.n == "text") | .model = "m2"'
    shown = [sample.get("problem") for sample in order(server, all=True, edit=edit).json["samples"]]
    assert sorted(shown, key=str) == [None, "the program gave nothing", "the program gave nothing"]
    view = ended(server, start(server, all=True, edit=edit))
    assert view["outcomes"] == {"resolved": 1, "skipped edit failed": 2}
    assert [call.id for call in worker.replayed()] == ["odd"]


def test_letters_go_to_another_queue_with_their_ids(serve, handler):
    worker, other = Worker(handler), Worker(handler, lambda body, call: True)
    server = serve({"orders": queue(worker.url), "second": queue(other.url)})
    dead(server, 12)
    server.push("second", {"n": 0}, id="o-3", delay="1h")
    plan = order(server, all=True, to="second").json
    assert plan["destinations"] == [{"queue": "second", "count": 12}]
    view = ended(server, start(server, all=True, to="second", rate="max"))
    assert view["outcomes"] == {"resolved": 11, "skipped held": 1}
    assert sorted(call.id for call in other.replayed()) == sorted(f"o-{i}" for i in range(12) if i != 3)
    assert worker.replayed() == []
    moved = server.message("o-5")
    assert moved["message"]["queue"] == "second" and moved["resolution"] == "replayed"
    assert [row["message"]["id"] for row in server.letters("orders.dlq")] == ["o-3"]


def test_diagnostic_headers_are_stripped_and_others_kept(serve, handler):
    worker = Worker(handler)
    server = serve({"orders": queue(worker.url)})
    dead(server, 1, headers={"x-death": "rejected", "__connect.errors.topic": "t", "x-trace": "7",
                             "kafka_dlt-exception-message": "old"})
    worker.good = lambda body, call: True
    ended(server, start(server, all=True))
    headers = worker.replayed()[0].headers
    assert headers["x-trace"] == "7"
    assert not [name for name in headers if name.lower().startswith(("x-death", "__connect", "kafka_dlt"))]


def test_replays_are_listed_newest_first_and_seen_as_they_happen(serve, handler):
    worker = Worker(handler)
    server = serve({"orders": queue(worker.url)})
    dead(server, 2)
    worker.good = lambda body, call: True
    first = start(server, ids=[server.letters("orders.dlq")[0]["id"]])
    ended(server, first)
    second = start(server, all=True)
    ended(server, second)
    assert [row["id"] for row in server.get("/v1/replays").json["replays"]] == [second, first]
    page = server.get("/v1/replays", limit=1).json
    rest = server.get("/v1/replays", limit=1, cursor=page["cursor"]).json
    assert [row["id"] for row in page["replays"] + rest["replays"]] == [second, first]
    assert second in server.cli("replays") and "resolved" in server.cli("replays", second)
    assert server.metric("impound_replay_letters_total", outcome="resolved") == 2
    detached = server.cli("replay", "--all", "--apply", "--detach")
    assert "0 of 0" in detached


def test_a_replay_waits_until_the_consumers_are_of_a_version(serve, handler):
    """An http handler says its version in every answer."""
    version = ["1.3.2"]
    worker = handler(lambda call: (422 if json.loads(call.body).get("bad") and version[0] < "1.4" else 200,
                                   {"Impound-Version": version[0], "Impound-Instance": "web-3"}, b""))
    server = serve({"orders": queue(worker.url)})
    server.push("orders", {"bad": True}, id="o-1")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 1, "it is dead")
    assert server.message("o-1")["consumer"] == {"instance": "web-3", "version": "1.3.2"}
    problem(order(server, 400, all=True, when_version="1.4"), 400, "when_version", ">= 1.4")
    some_id = start(server, all=True, when_version=">= 1.4")
    view = eventually(lambda: (one := replay(server, some_id))["state"] == "waiting" and one, "it waits")
    assert view["why"] == "it waits for consumers of version >= 1.4; seen: 1.3.2" and view["when_version"] == ">= 1.4"
    assert server.queue("orders")["versions"] == ["1.3.2"]
    server.kill()
    server.start()
    version[0] = "1.4.0"
    server.push("orders", {"bad": True}, id="o-2")
    assert ended(server, some_id)["resolved"] == 1
    assert server.queue("orders")["versions"] == ["1.4.0"]


def test_a_worker_that_leases_says_its_version_with_every_request(serve):
    server = serve({"orders": {"handler": "lease"}})
    server.push("orders", {"n": 1}, id="o-1")
    leased = server.post("/v1/queues/orders/lease", {"max": 1, "version": "1.3"}).json["messages"][0]["lease"]
    assert server.post(f"/v1/leases/{leased}/fail", {"error_type": "KeyError", "version": "1.3",
                                                     "consumer_instance": "worker-7"}).status == 200
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 1, "it is dead")
    assert server.message("o-1")["consumer"] == {"instance": "worker-7", "version": "1.3"}
    plan = server.cli("replay", "--all", "--when-version", ">= 1.4")
    assert "waits until every consumer of the queue reports a version >= 1.4" in plan
    said = server.cli("replay", "--all", "--when-version", ">= 1.4", "--apply", "--detach", "--json")
    some_id = json.loads(said)["id"]
    eventually(lambda: replay(server, some_id)["state"] == "waiting", "it waits")
    assert server.post("/v1/queues/orders/lease", {"max": 1, "version": "1.4"}).json["messages"] == []
    eventually(lambda: replay(server, some_id)["why"].endswith("seen: 1.3, 1.4"), "the old one is in use for a minute more")
