"""Triage rules: they walk through a DLQ on a schedule, and stop themselves when they do not help. Letters are dead
before a rule is there, so that its first run finds all of them."""
import collections
import json
import os

from harness import eventually, impound, problem

SOON = {"every": "1s"}
REPLAY = {"do": "replay", "when": {"category": "transient"}, "rate": "max", **SOON}


class World:
    """A server whose one queue fails until `healed`."""

    def __init__(self, serve, handler, **more):
        self.down = True
        self.status, self.error = 503, b'{"error":{"type":"Busy","message":"come back later"}}'
        self.handler = handler(self.answer)
        self.more = more
        self.server = serve(self.queues([]), **self.top())

    def answer(self, call):
        return (self.status, {}, self.error) if self.down else 200

    def top(self):
        return {key: self.more[key] for key in ("alerts",) if key in self.more}

    def queues(self, rules):
        return {"orders": {"source": "builtin", "handler": {"http": self.handler.url}, "breaker": "off",
                           "retry": {"attempts": 1, "base": "1ms"}, **self.more.get("queue", {}),
                           "dlq": {"max_replays": 100, "archive": "file:archive/", "triage": rules}}}

    def die(self, count):
        ids = [f"o-{i}" for i in range(count)]
        before = self.server.dlq("orders.dlq")["depth"]
        self.server.push_many("orders", [{"body": {"order": i, "model": "m1"}, "id": f"o-{i}", "key": f"k{i % 2}"}
                                         for i in range(count)])
        eventually(lambda: self.server.dlq("orders.dlq")["depth"] == before + count, f"{count} letters")
        return ids

    def rule(self, *rules):
        """These rules from now on."""
        self.server.configure(self.queues(list(rules)), **self.top())
        self.server.reload()
        eventually(lambda: len(self.rules()) == len(rules), "the rules are there")

    def rules(self):
        return self.server.dlq("orders.dlq")["triage"]

    def audit(self, what):
        return [entry for entry in self.server.get("/v1/audit", limit=1000).json["audit"] if entry["what"] == what]

    def resolved(self, count):
        eventually(lambda: len(self.server.letters("orders.dlq", state="resolved")) == count,
                   f"{count} letters are resolved")


def test_a_rule_fixes_what_an_outage_left_behind(serve, handler):
    world = World(serve, handler)
    ids = world.die(20)
    world.down = False
    world.rule(REPLAY)
    world.resolved(20)
    rule = eventually(lambda: (one := world.rules()[0])["fixed"] == 20 and one["state"] == "waiting" and one,
                      "the rule has counted them")
    assert (rule["rule"], rule["do"], rule["state"], rule["why"]) == ("orders.dlq[0]", "replay", "waiting", None)
    assert rule["when"] == {"category": "transient"} and rule["runs"] == 1 and rule["letters"] == {"replay": 20}
    assert collections.Counter(world.handler.ids()) == {one: 2 for one in ids}
    view = world.server.dlq("orders.dlq")
    assert (view["depth"], view["auto_fixed_percent"], view["escalated_percent"]) == (0, 100, 0)
    assert world.server.metric("impound_triage_total", action="replay") == 20
    assert world.server.metric("impound_triage_outcomes_total", outcome="fixed") == 20
    assert world.server.metric("impound_triage_total", action="discard") == 0
    entry, = world.audit("replay.start")
    assert (entry["who"], entry["count"]) == ("triage:orders.dlq[0]", 20)
    replay, = world.server.get("/v1/replays").json["replays"]
    assert replay["who"] == "triage:orders.dlq[0]" and replay["filter"]["rule"] == "orders.dlq[0]"
    stats = world.server.get("/v1/stats").json
    assert stats["totals"]["triage"]["fixed"] == 20 and stats["totals"]["auto_fixed_percent"] == 100
    assert stats["dlqs"][0]["auto_fixed_percent"] == 100
    assert "orders.dlq[0]" in world.server.cli("dlqs", "orders.dlq")


def test_a_rule_that_does_not_help_stops_itself_and_says_why(serve, handler):
    world = World(serve, handler)
    world.die(12)
    world.rule({**REPLAY, "backoff": "1s"})
    rule = eventually(lambda: (one := world.rules()[0])["state"] == "stopped" and one, "it stops")
    assert "3 runs in a row did not help" in rule["why"] and "12 of 12 letters are dead again" in rule["why"]
    assert (rule["runs"], rule["useless"], rule["failed"], rule["next_run_at"]) == (3, 3, 36, None)
    assert world.handler.count() == 12 + 36, "no canary: each letter is judged by itself"
    assert world.server.dlq("orders.dlq")["depth"] == 12
    entry, = world.audit("triage.stop")
    assert (entry["who"], entry["why"]) == ("triage:orders.dlq[0]", rule["why"])
    assert world.server.metric("impound_triage_stopped") == 1
    alert = eventually(lambda: [one for one in world.server.get("/v1/alerts").json["alerts"]
                                if one["alert"] == "TriageRuleStopped"], "an alert")[0]
    assert alert["subject"] == "orders.dlq/0" and rule["why"] in alert["summary"]

    world.server.kill()  # it stays stopped
    world.server.start()
    assert eventually(world.rules, "the rules are there")[0]["state"] == "stopped"
    world.down = False
    said = world.server.cli("dlqs", "orders.dlq", "--resume", "--why", "fixed in 1.4")
    assert "waiting" in said or "running" in said
    world.resolved(12)
    entry, = world.audit("triage.resume")
    assert (entry["subject"], entry["why"]) == ("orders.dlq[0]", "fixed in 1.4")
    problem(world.server.post("/v1/dlqs/orders.dlq/resume"), 409, "no triage rule", "stopped")
    problem(world.server.post("/v1/dlqs/nobody/resume"), 404, "nobody")
    assert "which one" in world.server.cli("dlqs", "--resume", expect=2)


def test_hopeless_letters_in_front_do_not_keep_a_rule_from_the_good_ones_behind(serve, handler):
    world = World(serve, handler)
    world.die(24)
    hopeless = {f"o-{number}" for number in range(4)}
    world.handler.answer = lambda call: (503, {}, world.error) if call.id in hopeless else 200
    world.rule(REPLAY)
    world.resolved(20)
    left = world.server.letters("orders.dlq")
    assert {one["message"]["id"] for one in left} == hopeless
    rule = eventually(lambda: (one := world.rules()[0])["fixed"] == 20 and one, "the rule has counted them")
    assert rule["useless"] == 0 and rule["state"] != "stopped"
    replay = world.server.get("/v1/replays").json["replays"][-1]
    assert (replay["state"], replay["canary"], replay["abort"]) == ("done", [], False)


def test_a_rule_with_a_canary_aborts_at_its_first_death(serve, handler):
    world = World(serve, handler)
    world.die(5)
    world.rule({**REPLAY, "canary": [1, 10], "backoff": "1s"})
    rule = eventually(lambda: (one := world.rules()[0])["state"] == "stopped" and one, "it stops")
    assert rule["canary"] == [1, 10] and "the canary died" in rule["why"]
    assert world.handler.count() == 5 + 3, "a canary of one each time"


def test_a_rule_that_stopped_starts_again_when_it_is_changed(serve, handler):
    world = World(serve, handler)
    world.die(10)
    world.rule({**REPLAY, "stop_after": 1})
    eventually(lambda: world.rules()[0]["state"] == "stopped", "it stops")
    world.down = False
    world.rule({**REPLAY, "stop_after": 2})
    world.resolved(10)
    assert world.rules()[0]["useless"] == 0


def test_letters_are_edited_and_sent_again(serve, handler):
    world = World(serve, handler)
    world.status, world.error = 422, b'{"error":{"type":"ModelGone","message":"the model m1 is gone"}}'
    ids = world.die(12)
    world.handler.answer = lambda call: 200 if json.loads(call.body)["model"] == "m2" else 422
    world.rule({"when": {"error_type": "ModelGone", "reason": "bad"}, "do": "replay", "edit": '.model = "m2"', **SOON})
    world.resolved(12)
    letter = world.server.message(ids[3])
    assert letter["message"]["body"] == {"order": 3, "model": "m2"} and letter["resolution"] == "replayed"
    assert letter["original"]["body"] == {"order": 3, "model": "m1"}


def test_letters_are_archived_before_they_go_and_can_come_back(serve, handler):
    world = World(serve, handler)
    world.die(7)
    before = {one["id"]: world.server.message(one["id"]) for one in world.server.letters("orders.dlq")}
    world.rule({"when": {"category": "transient"}, "do": "archive", "limit": 5, **SOON})
    eventually(lambda: world.server.dlq("orders.dlq")["depth"] == 0, "all are gone")
    archives = world.server.get("/v1/archives", dlq="orders.dlq").json["archives"]
    assert sorted(one["letters"] for one in archives) == [2, 5]
    assert world.server.message("o-0") is None
    assert [entry["count"] for entry in world.audit("archive")] == [2, 5]
    assert all(entry["who"] == "triage:orders.dlq[0]" for entry in world.audit("archive"))
    world.rule()
    for one in archives:
        with open(os.path.join(world.server.folder, "archive", "orders.dlq", one["file"]), "rb") as file:
            answer = world.server.request("POST", "/v1/imports", file.read(),
                                          {"Content-Type": "application/octet-stream"})
        assert answer.status == 200, answer.body
    assert {one["id"]: world.server.message(one["id"]) for one in world.server.letters("orders.dlq")} == before


def test_letters_are_escalated_and_those_who_are_to_know_are_told_once(serve, handler):
    pager, other = handler(), handler()
    world = World(serve, handler, alerts={
        "defaults": "off",
        "to": [{"name": "pager", "webhook": pager.url, "severity": "critical"}, {"name": "chat", "webhook": other.url}]})
    world.die(3)
    world.rule({"when": {"attempts": 1}, "do": "escalate", "to": ["pager"], **SOON},
               {"do": "discard", "when": {"category": "transient"}, "every": "2s"})
    eventually(pager.calls.__len__, "the pager is told")
    notice = json.loads(pager.calls[0].body)
    assert (notice["alert"], notice["status"], notice["dlq"]) == ("TriageEscalated", "firing", "orders.dlq")
    assert "3 letters escalated by triage rule orders.dlq[0]" in notice["summary"]
    assert other.count() == 0
    letters = world.server.letters("orders.dlq", escalated="true")
    assert len(letters) == 3 and all(one["state"] == "pending_review" for one in letters)
    entry, = world.audit("escalate")
    assert (entry["who"], entry["count"]) == ("triage:orders.dlq[0]", 3)
    assert world.server.dlq("orders.dlq")["escalated_percent"] == 100
    eventually(lambda: [one["owed"] for one in world.server.get("/v1/alerts").json["alerts"]] == [0],
               "that it was told is kept")
    world.server.kill()
    world.server.start()
    world.server.push("orders", {"order": 3}, id="o-3")  # which may not be seen dead before the rule has it
    eventually(lambda: world.server.letters("orders.dlq", state="discarded"), "the second rule takes what is new")
    assert len(world.server.letters("orders.dlq", escalated="true")) == 3, "and leaves alone what is escalated"
    assert pager.count() == 1


def test_an_escalation_without_names_is_told_to_all_who_hear_of_warnings(serve, handler):
    chat, pager = handler(), handler()
    receivers = [{"name": "chat", "webhook": chat.url}, {"name": "pager", "webhook": pager.url, "severity": "critical"}]
    world = World(serve, handler, alerts={"to": receivers})
    world.die(3)
    world.rule({"when": {"category": "transient"}, "do": "escalate", **SOON})
    told = eventually(lambda: [notice for call in chat.calls if (notice := json.loads(call.body))["alert"] == "TriageEscalated"],
                      "the chat is told")
    assert (told[0]["status"], told[0]["dlq"], told[0]["severity"]) == ("firing", "orders.dlq", "warning")
    assert "letters escalated by triage rule orders.dlq[0]" in told[0]["summary"]
    assert any(one["alert"] == "TriageEscalated" for one in world.server.get("/v1/alerts").json["alerts"])
    assert "TriageEscalated" not in [json.loads(call.body)["alert"] for call in pager.calls]


def test_letters_are_discarded_where_a_program_says_so(serve, handler):
    world = World(serve, handler)
    world.die(6)
    world.rule({"when": {"key": "k1", "where": ".message.body.order > 1"}, "do": "discard", **SOON})
    eventually(lambda: len(world.server.letters("orders.dlq", state="discarded")) == 2, "two are discarded")
    gone = {one["message"]["id"] for one in world.server.letters("orders.dlq", state="discarded")}
    assert gone == {"o-3", "o-5"}
    entry, = world.audit("discard")
    assert (entry["who"], entry["count"], entry["why"]) == (
        "triage:orders.dlq[0]", 2, "triage rule orders.dlq[0]: discard")
    assert entry["filter"]["when"]["where"] == ".message.body.order > 1"
    assert world.server.metric("impound_triage_total", action="discard") == 2


def test_beyond_their_lifetime_letters_are_left_to_other_rules(serve, handler):
    world = World(serve, handler)
    world.die(2)
    eventually(lambda: world.server.dlq("orders.dlq")["oldest_age_seconds"] > 2 and
               min(one["dead_at"] for one in world.server.letters("orders.dlq")), "they are old")
    world.down = False
    world.rule({**REPLAY, "lifetime": "1s"}, {"when": {"age": "1s"}, "do": "escalate", "every": "2s"})
    eventually(lambda: len(world.server.letters("orders.dlq", escalated="true")) == 2, "they are escalated")
    assert world.handler.count() == 2, "none was sent again"
    assert world.rules()[0]["letters"] == {}


def test_half_done_letters_are_compensated(serve, handler):
    undo = handler(lambda call: 422 if call.id == "o-2" else 200)
    world = World(serve, handler, queue={"compensate": {"http": undo.url}})
    world.die(5)
    world.rule({"when": {"category": "transient"}, "do": "compensate", **SOON})
    world.resolved(4)
    eventually(lambda: world.server.message("o-2")["escalated_at"], "what cannot be undone is for people")
    rule = eventually(lambda: (one := world.rules()[0])["state"] == "waiting" and one, "it is over")
    assert (rule["fixed"], rule["failed"], rule["escalated"], rule["runs"]) == (4, 1, 1, 1)
    assert collections.Counter(undo.ids()) == {f"o-{i}": 1 for i in range(5)}


def test_a_kill_in_the_middle_neither_repeats_nor_forgets(serve, handler):
    world = World(serve, handler, queue={"concurrency": 4})
    ids = world.die(40)
    world.down = False
    world.rule({**REPLAY, "limit": 25, "rate": "20/s"})
    for sent in (5, 15, 30):
        eventually(lambda: len(world.handler.calls) >= 40 + sent, f"{sent} are sent")
        world.server.kill()
        world.server.start()
    world.resolved(40)
    rule = eventually(lambda: (one := world.rules()[0])["fixed"] == 40 and one, "it has counted them")
    assert rule["letters"] == {"replay": 40} and rule["runs"] == 2
    assert [entry["count"] for entry in world.audit("replay.start")] == [15, 25]
    sent = collections.Counter(world.handler.ids())
    assert set(sent) == set(ids)
    assert sum(sent.values()) <= 80 + 3 * 4, "a kill repeats what was in the handler's hands alone"


def test_a_file_with_mistakes_leaves_the_rules_as_they_are(serve, handler):
    world = World(serve, handler)
    world.rule({**REPLAY, "limit": 7})
    world.server.configure(world.queues([{"do": "discard"}]))
    world.server.reload()
    eventually(lambda: "would discard every letter" in world.server.log(), "the mistake is told")
    assert [one["limit"] for one in world.rules()] == [7]
    world.rule()
    assert world.rules() == []


def test_check_prints_the_rules(tmp_path):
    path = tmp_path / "impound.yaml"
    path.write_text("queues: {q: {handler: {http: \"http://h/\"}, dlq: {triage: [{when: {category: transient}, "
                    "do: replay}]}}}\n")
    said = impound("check", "-c", path)
    assert said.returncode == 0, said.stderr
    assert "{when: {category: transient}, do: replay, every: 15m, limit: 50, lifetime: 24h" in said.stdout
    path.write_text("queues: {q: {handler: {http: \"http://h/\"}, dlq: {triage: [{do: replay, canary: [1, 10]}]}}}\n")
    assert "canary: [1, 10]" in impound("check", "-c", path).stdout
    path.write_text("queues: {q: {handler: {http: \"http://h/\"}, dlq: {triage: [{do: replay, canary: [0]}]}}}\n")
    said = impound("check", "-c", path)
    assert said.returncode == 1 and "[1, 10]" in said.stderr
    path.write_text("queues: {q: {handler: {http: \"http://h/\"}, dlq: {triage: [{do: replay, edit: '.a ='}]}}}\n")
    said = impound("check", "-c", path)
    assert said.returncode == 1 and "impound.yaml:1:" in said.stderr
