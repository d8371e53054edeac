"""Alerts: told once, told again, told when it is over; nothing lost, nothing twice."""
import json
import pathlib
import re
import subprocess
import urllib.request

import pytest

from clocked import Clock
from harness import PATIENCE_S, ROOT, answers, eventually, free_port, impound
from watchers import tool


def dead_letters(server, count):
    for number in range(count):
        server.push("orders", {"order": number})
    eventually(lambda: server.dlq("orders.dlq")["depth"] == count, "the letters are there")


def notices(catcher):
    return [json.loads(call.body) for call in catcher.calls]


def queues(handler):
    return {"orders": {"handler": {"http": handler(lambda call: 422).url}}}


def test_an_alert_fires_once_repeats_and_resolves(serve, handler):
    catcher = handler()
    server = serve(queues(handler), alerts={
        "defaults": "off",
        "to": [{"name": "hook", "webhook": catcher.url}],
        "rules": [{"name": "Dead", "metric": "dlq_depth", "dlq": "orders.*", "above": 1, "severity": "critical",
                   "repeat": "1s"}]})
    dead_letters(server, 1)
    dead_letters_now = server.get("/v1/alerts").json["alerts"]
    assert dead_letters_now == [], "one letter is not above 1"
    server.push("orders", {"order": "second"})
    eventually(lambda: len(catcher.calls) >= 3, "it was told, and twice more")
    first, *again = notices(catcher)[:3]
    assert (first["status"], first["alert"], first["severity"], first["dlq"]) == (
        "firing", "Dead", "critical", "orders.dlq")
    assert first["value"] == 2 and first["above"] == 1 and not first["repeat"]
    assert all(one["repeat"] and one["status"] == "firing" for one in again)
    shown = server.get("/v1/alerts").json["alerts"]
    assert [(one["alert"], one["state"], one["subject"]) for one in shown] == [("Dead", "firing", "orders.dlq")]
    assert "Dead" in server.cli("alerts")
    answer = server.post("/v1/letters/resolve", {"filter": {"dlq": "orders.dlq"}, "why": "tried", "dry_run": False})
    assert answer.status == 200, answer.body
    eventually(lambda: notices(catcher)[-1]["status"] == "resolved", "the end was told")
    told = notices(catcher)
    assert [one["status"] for one in told].count("resolved") == 1
    assert [one["repeat"] for one in told if one["status"] == "firing"].count(False) == 1
    assert server.cli("alerts") == "Nothing fires.\n"


def test_a_restart_tells_nothing_twice(serve, handler):
    catcher = handler()
    server = serve(queues(handler), alerts={
        "to": [{"name": "hook", "webhook": catcher.url, "severity": "critical"}],
        "rules": [{"name": "Dead", "metric": "dlq_depth", "above": 0, "severity": "critical"}]})
    dead_letters(server, 1)
    eventually(lambda: catcher.calls, "it was told")
    eventually(lambda: {one["owed"] for one in server.get("/v1/alerts").json["alerts"]} == {0},
               "that it was told is kept")
    server.kill()
    server.start()
    server.push("orders", {"order": "more"})
    eventually(lambda: any(one["value"] == 2 for one in server.get("/v1/alerts").json["alerts"]),
               "the new life has looked again")
    assert [one["status"] for one in notices(catcher)] == ["firing"]


def test_an_unreachable_receiver_loses_nothing(serve, handler):
    port = free_port()
    server = serve(queues(handler), alerts={
        "defaults": "off",
        "to": [{"name": "hook", "webhook": f"http://127.0.0.1:{port}/"}],
        "rules": [{"name": "Dead", "metric": "dlq_depth", "above": 0}]})
    dead_letters(server, 1)
    eventually(lambda: "alerts to hook" in server.log(), "the first try failed")
    server.post("/v1/letters/resolve", {"filter": {"dlq": "orders.dlq"}, "why": "tried", "dry_run": False})
    server.kill()
    catcher = handler(port=port)
    server.start()
    eventually(lambda: len(catcher.calls) == 2, "both notices came")
    assert [one["status"] for one in notices(catcher)] == ["firing", "resolved"]


def test_each_receiver_gets_its_own_words(serve, handler):
    slack, pager = handler(), handler(lambda call: 202)
    server = serve(queues(handler), alerts={
        "defaults": "off",
        "to": [{"name": "chat", "slack": slack.url},
               {"name": "pager", "pagerduty": "key-1", "url": pager.url, "severity": "critical"}],
        "rules": [{"name": "Dead", "metric": "dlq_depth", "above": 0, "severity": "critical"},
                  {"name": "Quiet", "metric": "dlq_depth", "above": 0, "severity": "info", "to": ["chat"]}]})
    dead_letters(server, 1)
    eventually(lambda: len(slack.calls) == 2 and len(pager.calls) == 1, "all were told")
    assert {one["text"] for one in notices(slack)} == {"[firing] Dead", "[firing] Quiet"}
    event = notices(pager)[0]
    assert event["routing_key"] == "key-1" and event["event_action"] == "trigger"
    assert event["payload"]["severity"] == "critical" and "orders.dlq" in event["payload"]["summary"]
    said = server.cli("alerts", "test")
    assert said == "chat: took it\npager: took it\n"
    slack.answer = lambda call: 500
    assert server.cli("alerts", "test", "--to", "chat", expect=1).startswith("chat: HTTP 500")
    assert "there is no alert receiver" in server.cli("alerts", "test", "--to", "nobody", expect=4)


@pytest.fixture
def alertmanager(tmp_path):
    program = tool("prometheus-alertmanager")
    port = free_port()
    config = tmp_path / "alertmanager.yml"
    config.write_text("route: {receiver: none}\nreceivers: [{name: none}]\n")
    process = subprocess.Popen([program, f"--config.file={config}", f"--storage.path={tmp_path}/am",
                                f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    eventually(lambda: answers(url + "/-/ready"), "Alertmanager is ready")
    yield url
    process.terminate()
    process.wait(timeout=PATIENCE_S)


def documented(name):
    """A function as docs/config.md shows it."""
    page = pathlib.Path(ROOT, "docs", "config.md").read_text(encoding="utf-8")
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", page, re.S) if f"def {name}(" in block]
    scope = {}
    exec(code, scope)  # pylint: disable=exec-used
    return scope[name]


def test_a_webhook_is_sent_headers_and_a_signature_that_its_receiver_can_verify(serve, handler, tmp_path, monkeypatch):
    monkeypatch.setenv("HOOK_SECRET", "kept to ourselves")
    signed, plain = handler(), handler()
    server = serve(queues(handler), alerts={
        "to": [{"name": "hook", "webhook": signed.url, "headers": {"x-team": "orders"}, "secret": "${HOOK_SECRET}"},
               {"name": "plain", "webhook": plain.url}]})
    dead_letters(server, 1)
    eventually(lambda: signed.calls and plain.calls, "both are told")
    assert server.post("/v1/alerts/test").json["results"] == [{"to": "hook", "ok": True}, {"to": "plain", "ok": True}]
    verify = documented("is_from_impound")
    for call in signed.calls:
        assert call.headers["x-team"] == "orders"
        assert verify(b"kept to ourselves", call.body, call.headers["Impound-Signature"])
        assert not verify(b"another", call.body, call.headers["Impound-Signature"])
        assert not verify(b"kept to ourselves", call.body + b" ", call.headers["Impound-Signature"])
    assert all(call.headers["Impound-Signature"] is None for call in plain.calls)
    checked = impound("check", "-c", server.config_path, HOOK_SECRET="kept to ourselves")
    assert checked.returncode == 0 and "secret: ${HOOK_SECRET}" in checked.stdout.replace('"', ""), checked.stdout
    assert "kept to ourselves" not in checked.stdout + server.log() + server.get("/v1/alerts").body.decode()


def test_headers_and_a_secret_are_for_webhooks(tmp_path):
    path = tmp_path / "impound.yaml"
    path.write_text(json.dumps({"queues": {"q": {"handler": "lease"}}, "alerts": {"to": [
        {"name": "chat", "slack": "https://chat.example.org/x", "secret": "s", "headers": {"a": "b"}}]}}))
    checked = impound("check", "-c", path)
    assert checked.returncode == 1
    assert "secret: only for a webhook" in checked.stderr and "headers: only for a webhook" in checked.stderr


def test_a_real_alertmanager_sees_it_fire_and_end(serve, handler, alertmanager):
    server = serve(queues(handler), alerts={
        "defaults": "off", "to": [{"name": "am", "alertmanager": alertmanager}],
        "rules": [{"name": "Dead", "metric": "dlq_depth", "above": 0, "severity": "critical"}]})

    def active():
        with urllib.request.urlopen(alertmanager + "/api/v2/alerts", timeout=PATIENCE_S) as answer:
            return json.load(answer)
    dead_letters(server, 1)
    alert = eventually(active, "Alertmanager has it")[0]
    assert alert["labels"] == {"alertname": "Dead", "severity": "critical", "metric": "dlq_depth",
                               "dlq": "orders.dlq", "source": "impound"}
    assert "letters that wait: 1" in alert["annotations"]["summary"]
    server.post("/v1/letters/resolve", {"filter": {"dlq": "orders.dlq"}, "why": "tried", "dry_run": False})
    eventually(lambda: not active(), "it ended there too")


def test_the_rules_are_shown_with_their_limits(serve):
    server = serve({"orders": {"source": "builtin", "handler": {"http": "http://127.0.0.1:9/"}}},
                   alerts={"rules": [{"name": "Deep", "metric": "dlq_depth", "dlq": "orders.*", "above": 7, "for": "5m",
                                      "severity": "critical"}]})
    rules = {rule["alert"]: rule for rule in server.get("/v1/alerts").json["rules"]}
    assert rules["Deep"] == {"alert": "Deep", "severity": "critical", "metric": "dlq_depth", "subject": "orders.*",
                             "above": 7.0, "for_seconds": 300.0, "runbook": None, "inhibited_by": None, "to": []}
    assert (rules["DLQDepthHigh"]["above"], rules["DLQDepthHigh"]["for_seconds"]) == (100, 300), "the default rules are there too"
    assert rules["DLQDepthHigh"]["severity"] == "critical"
    assert (rules["DLQNotEmpty"]["above"], rules["DLQNotEmpty"]["severity"]) == (0, "warning")
    assert rules["DLQNotEmpty"]["inhibited_by"] == "DLQDepthHigh"


def test_a_spike_of_a_new_reason_needs_no_history(serve, handler, tmp_path):
    worker = handler(lambda call: 404 if call.id == "first" else 400)
    clock = Clock(str(tmp_path))
    clock.ahead(0)
    server = serve({"orders": {"source": "builtin", "handler": {"http": worker.url}, "breaker": "off"}})
    server.stop()
    server.under = clock.under
    server.start()

    def firing():
        return {one["alert"]: one for one in server.get("/v1/alerts").json["alerts"] if one["state"] == "firing"}
    server.push("orders", {}, id="first")
    eventually(lambda: "DLQNotEmpty" in firing(), "the reasons were counted once", 30)
    server.push_many("orders", [{"id": f"m{n}", "body": {}} for n in range(30)])
    server.drained("orders")
    clock.ahead(61)  # a minute has passed
    spike = eventually(lambda: firing().get("DLQReasonSpike"), "the new reason is a spike", 30)
    assert spike["subject"] == "orders.dlq/bad_request"


def test_the_lesser_depth_alert_is_inhibited_by_the_greater(serve, handler, tmp_path):
    worker = handler(lambda call: 400)
    clock = Clock(str(tmp_path))
    clock.ahead(0)
    server = serve({"orders": {"source": "builtin", "handler": {"http": worker.url}, "breaker": "off",
                               "runbook": "https://runbooks/orders", "dlq": {"owner": "team-orders"}}})
    server.stop()
    server.under = clock.under
    server.start()
    server.push_many("orders", [{"id": f"m{n}", "body": {}} for n in range(120)])
    server.drained("orders")

    def alert(name, state):
        return [one for one in server.get("/v1/alerts").json["alerts"] if (one["alert"], one["state"]) == (name, state)]
    lesser = eventually(lambda: alert("DLQNotEmpty", "firing"), "the lesser fires at once", 30)[0]
    assert lesser["severity"] == "warning" and lesser["inhibited_by"] is None
    assert (lesser["owner"], lesser["runbook"]) == ("team-orders", "https://runbooks/orders")
    eventually(lambda: alert("DLQDepthHigh", "pending"), "the greater waits for its five minutes", 30)
    clock.ahead(301)
    assert eventually(lambda: alert("DLQDepthHigh", "firing"), "and fires", 30)[0]["severity"] == "critical"
    eventually(lambda: alert("DLQNotEmpty", "firing")[0]["inhibited_by"] == "DLQDepthHigh", "the lesser gives way")
    said = server.cli("alerts")
    assert "team-orders" in said and "https://runbooks/orders" in said


def test_limits_have_units(serve, handler):
    rules = {"Old": ("dlq_oldest_age_seconds", "24h", 86400), "Fast": ("dlq_arrivals_per_minute", "10/min", 10),
             "Faster": ("dlq_arrivals_per_minute", "2/s", 120), "Open": ("breaker_open_seconds", "90s", 90),
             "Full": ("dlq_cap_ratio", "97%", 0.97), "Plain": ("dlq_oldest_age_seconds", 60, 60)}
    server = serve(queues(handler), alerts={"rules": [
        {"name": name, "metric": metric, "above": above} for name, (metric, above, _) in rules.items()]})
    shown = {one["alert"]: one["above"] for one in server.get("/v1/alerts").json["rules"] if one["alert"] in rules}
    assert shown == {name: wanted for name, (_, _, wanted) in rules.items()}


def test_each_team_is_told_of_its_own_queues_alone(serve, handler):
    names = ("all", "payments", "batch", "owner", "dlq", "both")
    inboxes = {name: handler() for name in names}
    globs = {"all": {}, "payments": {"queue": "payments"}, "batch": {"queue": "batch*"}, "owner": {"owner": "team-p*"},
             "dlq": {"dlq": "payments.*"}, "both": {"queue": "batch", "dlq": "payments.*"}}
    failing = handler(lambda call: (401 if call.headers.get("Impound-Queue") == "batch" else 422))
    server = serve({"payments": {"handler": {"http": failing.url}, "dlq": {"owner": "team-pay"}},
                    "batch": {"handler": {"http": failing.url}}},
                   alerts={"to": [{"name": name, "webhook": inboxes[name].url, **globs[name]} for name in names]})
    server.push("payments", 1)
    server.push("batch", 2)

    def told(name):
        return {(one["alert"], one.get("queue") or one["dlq"]) for one in notices(inboxes[name])
                if one["alert"] in ("QueueHalted", "DLQNewGroup")}

    halted, group = ("QueueHalted", "batch"), ("DLQNewGroup", "payments.dlq")
    eventually(lambda: told("all") == {halted, group}, "without globs a receiver is told of all")
    eventually(lambda: told("batch") == {halted} and told("payments") == {group}, "each team of its own")
    eventually(lambda: told("owner") == told("dlq") == {group} and told("both") == {halted, group}, "by each glob")
    assert "batch" not in str(notices(inboxes["payments"])) and "payments" not in str(notices(inboxes["batch"]))


def test_a_queue_that_stands_still_and_a_source_that_is_gone_are_told_of(serve, handler):
    catcher = handler()
    nowhere = f"redis://127.0.0.1:{free_port()}/0?list=jobs"
    server = serve({"tasks": {"handler": "lease"}, "paused": {"handler": "lease"}, "gone": {
        "source": nowhere, "handler": {"http": handler().url}}}, alerts={
            "to": [{"name": "hook", "webhook": catcher.url}],
            "rules": [{"name": "Stalled", "metric": "queue_stalled_seconds", "above": "1s"},
                      {"name": "Gone", "metric": "source_unreachable_seconds", "above": "1s"}]})
    assert {(one["alert"], one["above"], one["severity"]) for one in server.get("/v1/alerts").json["rules"]
            if one["alert"] in ("QueueStalled", "SourceUnreachable")} == {
                ("QueueStalled", 600, "warning"), ("SourceUnreachable", 300, "warning")}
    server.post("/v1/queues/paused/pause", {})
    server.push("tasks", 1)
    server.push("paused", 1)

    def told(status="firing"):
        return {(one["alert"], one["queue"]) for one in notices(catcher) if one["status"] == status
                and one["alert"] in ("Stalled", "Gone")}

    eventually(lambda: told() == {("Stalled", "tasks"), ("Gone", "gone")}, "both are told of")
    stalled, = [one for one in notices(catcher) if one["alert"] == "Stalled"]
    assert "1 messages wait; no worker leases them" in stalled["summary"]
    leased, = server.post("/v1/queues/tasks/lease", {"max": 1, "lease_ms": 600000}).json["messages"]
    assert leased["id"]
    eventually(lambda: told("resolved") == {("Stalled", "tasks")}, "a leased message is in motion")
