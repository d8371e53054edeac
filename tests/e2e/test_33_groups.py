"""Groups: one cause, however many letters. What people note of them outlives the letters, and a group that was
called resolved says so when it comes back."""
import json
import re

import pytest

from harness import eventually, impound, problem

SERVER = {"Impound-Actor": "ada"}


def failing(call):
    body = json.loads(call.body)
    if "price" in body:
        return (422, {}, json.dumps({"error": {"type": "PriceError",
                                               "message": f"no price for item {body['price']}"}}).encode())
    if "order" in body:
        return (400, {}, json.dumps({"error": {"type": "OrderError",
                                               "message": f"order '{body['order']}' is unknown"}}).encode())
    return 200


def queue(url, **more):
    return {"source": "builtin", "handler": {"http": url}, "breaker": "off", **more}


def push_prices(server, numbers, queue_name="orders"):
    before = sum(group["total"] for group in groups(server))
    for number in numbers:
        server.push(queue_name, {"price": number})
    eventually(lambda: sum(group["total"] for group in groups(server)) == before + len(numbers), "they died")


def groups(server, **more):
    answer = server.get("/v1/groups", **more)
    assert answer.status == 200, answer.body
    assert answer.json["cursor"] is None
    return answer.json["groups"]


def group(server, fingerprint):
    answer = server.get(f"/v1/groups/{fingerprint}")
    assert answer.status == 200, answer.body
    return answer.json


def patch(server, fingerprint, **change):
    answer = server.request("PATCH", f"/v1/groups/{fingerprint}", change, SERVER)
    assert answer.status == 200, answer.body
    return answer.json


@pytest.fixture
def lot(serve, handler):
    """Three letters without a price in two DLQs, one unknown order."""
    url = handler(failing).url
    server = serve({"orders": queue(url), "refunds": queue(url)})
    push_prices(server, [17, 18])
    push_prices(server, [19], "refunds")
    server.push("orders", {"order": "o'x"})
    eventually(lambda: len(groups(server)) == 2, "two groups")
    return server


def test_a_group_whose_newest_letter_left_the_store_shows_another_one(serve, handler):
    archive = {"when": {"key": "old"}, "do": "archive", "every": "1s"}
    server = serve({"orders": queue(handler(failing).url, dlq={"archive": "file:archive/", "triage": [archive]})})
    push_prices(server, [17])
    kept, = server.letters("orders.dlq")
    server.push("orders", {"price": 18}, key="old")
    eventually(lambda: groups(server)[0]["total"] == 2 and groups(server)[0]["count"] == 1, "the newest has left")
    one, = groups(server)
    assert (one["error_type"], one["category"], one["sample"]) == ("PriceError", kept["category"], kept["id"])
    assert one["error_message"] == "no price for item 17"
    assert "PriceError" in server.cli("groups", "rule", one["fingerprint"], "--do", "retry")


def test_letters_with_one_cause_are_one_group_over_all_dlqs(lot):
    prices, order = groups(lot)
    assert re.fullmatch("[0-9a-f]{16}", prices["fingerprint"])
    assert (prices["count"], prices["total"], sorted(prices["dlqs"])) == (3, 3, ["orders.dlq", "refunds.dlq"])
    assert (order["count"], order["dlqs"]) == (1, ["orders.dlq"])
    assert prices["error_type"] == "PriceError" and prices["error_message"] == "no price for item 19"
    assert (prices["category"], prices["reason"]) == ("validation", "bad_request")
    assert prices["state"] == "open" and prices["note"] is None and prices["owner"] is None
    newest = lot.letters("refunds.dlq")[0]
    assert prices["sample"] == newest["id"] and prices["rule"] == newest["rule"]
    assert prices["last_seen"] == newest["dead_at"]
    assert prices["first_seen"] == min(letter["dead_at"] for letter in lot.letters("orders.dlq"))
    assert prices["versions"] == [] and newest["consumer"]["version"] is None  # nobody said any
    assert {letter["failure"]["fingerprint"] for letter in lot.letters("refunds.dlq")} == {prices["fingerprint"]}
    assert [one["count"] for one in groups(lot, dlq="refunds.dlq")] == [1]
    problem(lot.get("/v1/groups", dlq="nobody.dlq"), 404, "nobody.dlq")
    assert group(lot, prices["fingerprint"]) == prices


def versions_of(server, error_type):
    return next((one["versions"] for one in groups(server) if one["error_type"] == error_type), [])


def test_a_group_shows_the_versions_of_the_consumers_that_failed(serve, handler):
    """By the answer's header, by the report, by the worker, and by the configuration where nobody else says it."""
    def failing_as(call):
        said = {"Impound-Version": call.headers["x-release"]} if "x-release" in call.headers else {}
        return 422, said, b'{"error": {"type": "PriceError", "message": "no price"}}'
    url = handler(failing_as).url
    server = serve({"orders": queue(url), "told": {**queue(url), "handler": {"http": url, "version": "3.0"}},
                    "jobs": {"handler": "lease", "breaker": "off"},
                    "runs": {"handler": {"exec": ["sh", "-c", "echo 'RunError: no' >&2; exit 65"], "version": "5.0"}}})

    def push(name, expected, **headers):
        some_id = server.push(name, {}, headers=headers)
        eventually(lambda: server.message(some_id)["state"] == "pending_review", "it died")
        assert server.message(some_id)["consumer"]["version"] == expected

    push("orders", None)
    assert versions_of(server, "PriceError") == []
    push("orders", "1.4", **{"x-release": "1.4"})
    assert versions_of(server, "PriceError") == ["1.4"]
    push("told", "3.0")
    push("told", "2.0", **{"x-release": "2.0"})
    assert "2.0" in versions_of(server, "PriceError")
    push("runs", "5.0")
    said = server.post("/v1/queues/orders/failures", {"task_id": "t-1", "payload": {}, "error_type": "ValueError",
                                                      "error_message": "no", "version": "build 7"}).json
    assert server.message(said["letter"])["consumer"]["version"] == "build 7"
    assert versions_of(server, "ValueError") == ["build 7"]
    server.push("jobs", {}, id="j-1")
    leased, = server.post("/v1/queues/jobs/lease", {"max": 1, "wait_ms": 60000}).json["messages"]
    failure = {"error_type": "KeyError", "error_message": "no", "version": "w-2"}
    assert server.post(f"/v1/leases/{leased['lease']}/fail", failure).status == 200
    assert server.message("j-1")["consumer"]["version"] == "w-2"


def test_a_page_of_groups_goes_on_where_the_one_before_ended(lot):
    first = lot.get("/v1/groups", limit=1).json
    second = lot.get("/v1/groups", limit=1, cursor=first["cursor"]).json
    assert second["cursor"] is None
    assert [one["fingerprint"] for one in first["groups"] + second["groups"]] == [
        one["fingerprint"] for one in groups(lot)]
    problem(lot.get("/v1/groups", limit=0), 400, "limit")
    problem(lot.get("/v1/groups", cursor="x"), 400, "cursor")


def test_groups_are_listed_by_their_state(lot):
    prices, order = (one["fingerprint"] for one in groups(lot))

    def listed(state, **more):
        return [one["fingerprint"] for one in groups(lot, state=state, **more)]

    assert (listed("open"), listed("muted"), listed("resolved")) == ([prices, order], [], [])
    patch(lot, prices, state="muted", why="we know")
    patch(lot, order, state="resolved", why="fixed")
    assert (listed("open"), listed("muted"), listed("resolved")) == ([], [prices], [order])
    assert listed("muted,resolved") == [prices, order]
    assert listed("resolved", dlq="refunds.dlq") == []
    assert order in lot.cli("groups", "--state", "resolved") and prices not in lot.cli("groups", "--state", "resolved")
    lot.push("orders", {"order": "o'x"})
    eventually(lambda: listed("open") == [order], "what came back is open")
    problem(lot.get("/v1/groups", state="gone"), 400, "open, muted, resolved")
    problem(lot.get("/v1/groups", state=""), 400, "state")


def test_a_page_of_one_state_goes_on_behind_others(lot):
    prices, order = (one["fingerprint"] for one in groups(lot))
    patch(lot, prices, state="muted", why="we know")
    page = lot.get("/v1/groups", limit=1, state="open").json
    assert ([one["fingerprint"] for one in page["groups"]], page["cursor"]) == ([order], None)
    page = lot.get("/v1/groups", limit=1, state="muted").json
    assert ([one["fingerprint"] for one in page["groups"]], page["cursor"]) == ([prices], None)
    first = lot.get("/v1/groups", limit=1, state="open,muted").json
    rest = lot.get("/v1/groups", limit=1, state="open,muted", cursor=first["cursor"]).json
    assert [one["fingerprint"] for one in first["groups"] + rest["groups"]] == [prices, order]
    assert rest["cursor"] is None


def test_what_is_noted_is_audited_and_outlives_restarts_and_letters(lot):
    fingerprint = groups(lot)[0]["fingerprint"]
    changed = patch(lot, fingerprint, note="see ticket 42", owner="team-prices", why="found it")
    assert (changed["note"], changed["owner"], changed["state"]) == ("see ticket 42", "team-prices", "open")
    entry = lot.get("/v1/audit").json["audit"][0]
    assert (entry["what"], entry["who"], entry["why"], entry["subject"]) == ("group", "ada", "found it", fingerprint)
    assert entry["before"]["note"] is None and entry["after"]["note"] == "see ticket 42"
    answer = lot.post("/v1/letters/discard", {"group": fingerprint, "why": "test"})
    assert answer.json["count"] == 3, answer.body
    lot.kill()
    lot.start()
    later = group(lot, fingerprint)
    assert (later["note"], later["owner"], later["count"], later["total"]) == ("see ticket 42", "team-prices", 0, 3)
    assert patch(lot, fingerprint, note=None)["note"] is None
    assert group(lot, fingerprint)["owner"] == "team-prices"


def test_a_wrong_change_is_refused(lot):
    fingerprint = groups(lot)[0]["fingerprint"]
    path = f"/v1/groups/{fingerprint}"
    problem(lot.request("PATCH", path, {"state": "gone"}), 400, "open, muted or resolved")
    problem(lot.request("PATCH", path, {"notes": "x"}), 400, "note")
    problem(lot.request("PATCH", "/v1/groups/xyz", {"note": "x"}), 400, "16 hex digits")
    problem(lot.request("PATCH", "/v1/groups/0123456789abcdef", {"note": "x"}), 404, "0123456789abcdef")
    problem(lot.get("/v1/groups/0123456789abcdef"), 404)
    assert lot.get("/v1/audit").json["audit"] == []


def firing(server):
    return {(alert["alert"], alert["subject"]) for alert in server.get("/v1/alerts").json["alerts"]
            if alert["state"] == "firing"}


def test_a_resolved_group_that_returns_is_open_again_and_alerts(lot):
    prices, order = groups(lot)
    patch(lot, prices["fingerprint"], state="resolved", why="fixed in 1.4")
    patch(lot, order["fingerprint"], state="muted", why="we know")
    resolved = group(lot, prices["fingerprint"])
    assert resolved["state"] == "resolved" and resolved["why"] == "fixed in 1.4" and resolved["returned_at"] is None
    push_prices(lot, [21])
    back = group(lot, prices["fingerprint"])
    assert back["state"] == "open" and back["returned_at"] == back["last_seen"]
    subject = f"/{prices['fingerprint']}"
    eventually(lambda: any(name == "DLQGroupReturned" and about.endswith(subject) for name, about in firing(lot)),
               "the alert of its return")
    summary, = [alert["summary"] for alert in lot.get("/v1/alerts").json["alerts"]
                if alert["alert"] == "DLQGroupReturned"]
    assert summary.endswith("is back: PriceError: no price for item 21")
    eventually(lambda: any(entry["what"] == "group.returned" and entry["subject"] == prices["fingerprint"]
                           for entry in lot.get("/v1/audit").json["audit"]), "its place in the audit")
    # When it returned stays, whatever comes afterwards; resolved again, it is.
    returned_at = group(lot, prices["fingerprint"])["returned_at"]
    push_prices(lot, [22])
    assert group(lot, prices["fingerprint"])["returned_at"] == returned_at
    assert patch(lot, prices["fingerprint"], state="resolved", why="really")["returned_at"] is None


def test_a_new_group_in_several_dlqs_alerts_once(serve, handler):
    url = handler(failing).url
    server = serve({"orders": queue(url), "refunds": queue(url)})
    push_prices(server, [1])
    fingerprint = groups(server)[0]["fingerprint"]
    eventually(lambda: ("DLQNewGroup", f"orders.dlq/{fingerprint}") in firing(server), "its alert")
    push_prices(server, [2, 3], "refunds")
    server.push("orders", {"order": "a"})
    eventually(lambda: len(groups(server)) == 2, "another group")
    other = next(one["fingerprint"] for one in groups(server) if one["fingerprint"] != fingerprint)
    eventually(lambda: ("DLQNewGroup", f"orders.dlq/{other}") in firing(server), "the other one's alert")
    assert {about for name, about in firing(server) if name == "DLQNewGroup"} == {
        f"orders.dlq/{fingerprint}", f"orders.dlq/{other}"}


def test_a_muted_group_raises_no_alert(serve, handler):
    server = serve({"orders": queue(handler(failing).url)})
    push_prices(server, [1])
    muted = groups(server)[0]["fingerprint"]
    patch(server, muted, state="muted", why="we know")
    server.push("orders", {"order": "a"})
    eventually(lambda: len(groups(server)) == 2, "another group")
    other = next(one["fingerprint"] for one in groups(server) if one["fingerprint"] != muted)
    eventually(lambda: ("DLQNewGroup", f"orders.dlq/{other}") in firing(server), "the other one's alert")
    told, = [alert["summary"] for alert in server.get("/v1/alerts").json["alerts"]
             if alert["subject"] == f"orders.dlq/{other}"]
    assert "Error: " in told
    eventually(lambda: ("DLQNewGroup", f"orders.dlq/{muted}") not in firing(server), "none for the muted one")


def test_the_command_line_lists_shows_notes_resolves_and_mutes(lot):
    prices = groups(lot)[0]["fingerprint"]
    table = lot.cli("groups")
    assert prices in table and "PriceError: no price for item 19" in table and "COUNT" in table
    assert "nobody.dlq" in lot.cli("groups", "--dlq", "nobody.dlq", expect=4)
    assert json.loads(lot.cli("groups", "--json"))["groups"][0]["fingerprint"] == prices
    assert "see ticket 42" in lot.cli("groups", "note", prices, "see ticket 42")
    assert "see ticket 42" in lot.cli("groups", prices)
    assert "--why" in lot.cli("groups", "resolve", prices, expect=2)
    for word, state in (("resolve", "resolved"), ("mute", "muted"), ("open", "open")):
        lot.cli("groups", word, prices, "--why", "so")
        assert group(lot, prices)["state"] == state
    lot.cli("groups", "0123456789abcdef", expect=4)
    lot.cli("groups", "frobnicate", prices, expect=2)


def test_a_group_becomes_a_rule_that_catches_it(lot, tmp_path):
    for one in groups(lot):
        rule = lot.cli("groups", "rule", one["fingerprint"], "--do", "retry")
        config = "queues:\n  orders:\n    handler: {http: \"http://127.0.0.1:1/\"}\n    classify:\n      rules:\n"
        path = tmp_path / "rule.yaml"
        path.write_text(config + "".join(f"        {line}\n" for line in rule.splitlines()))
        checked = impound("check", "-c", path)
        assert checked.returncode == 0, (rule, checked.stdout, checked.stderr)
        assert "do: retry" in rule and one["error_type"] in rule
        assert "19" not in rule and "o'x" not in rule, "what varies is passed over"
    problem(lot.get(f"/v1/groups/{one['fingerprint']}/rule", do="sing"), 400, "retry")


def test_arrivals_are_counted_by_category_and_group_and_outlive_a_kill(lot):
    def came(window="24h"):
        series = lot.get("/v1/arrivals", window=window).json
        assert all(len(counts) == series["steps"] for counts in series["categories"].values())
        return {name: sum(counts) for name, counts in series["categories"].items()}

    assert came() == came("1h") == came("7d") == {"validation": 4}
    assert sorted(sum(group["arrivals"]) for group in groups(lot)) == [1, 3]
    lot.kill()
    lot.start()
    push_prices(lot, [20])
    assert came() == {"validation": 5}, "what came before the kill is not forgotten"
    problem(lot.get("/v1/arrivals", window="2h"), 400, "1h, 24h, 7d")
