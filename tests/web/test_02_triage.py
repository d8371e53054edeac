"""What people do at three in the morning: from an alert to a letter to a decision, with keys alone and with the mouse."""
import json
import re

from playwright.sync_api import expect

import world
from harness import eventually
from pages import go


def audit_of(server, what):
    return [entry for entry in server.get("/v1/audit").json["audit"] if entry["what"] == what]


def test_the_keys_take_the_focus_from_group_to_group(full, tab):
    page = tab(full, viewport={"width": 1360, "height": 400}).open("groups")
    groups = page.locator("[data-group]")
    last = len(full.get("/v1/groups", state="open").json["groups"]) - 1
    expect(groups).to_have_count(last + 1)
    for _ in range(last + 1):
        page.keyboard.press("j")
    expect(groups.nth(last)).to_be_focused()
    expect(groups.nth(last)).to_be_in_viewport()
    expect(page.locator("[data-group][aria-current]")).to_have_count(1)
    page.keyboard.press("k")
    expect(groups.nth(last - 1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(groups.nth(last - 1)).to_have_attribute("aria-expanded", "true")


def test_with_the_keyboard_alone_from_an_alert_to_resolved(lot, tab):
    server = lot()
    world.push(server, "payments", "card", 3)
    server.drained("payments")
    eventually(lambda: {one["alert"] for one in server.get("/v1/alerts").json["alerts"]} == {"DLQNotEmpty", "DLQNewGroup"},
               "all alerts fire")
    page = tab(server).open()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    keys = page.keyboard
    go(page, "a")
    expect(page.get_by_role("heading", name="Alerts")).to_be_visible()
    alerts = page.locator("a.alert")
    expect(alerts.filter(has_text="DLQNotEmpty")).to_be_visible()
    names = alerts.all_text_contents()
    for _ in range(1 + next(n for n, text in enumerate(names) if "DLQNotEmpty" in text)):
        keys.press("j")
    expect(page.locator("a.alert.at")).to_contain_text("DLQNotEmpty")
    expect(page.locator("a.alert.at")).to_be_focused()
    expect(page.locator("a.alert[aria-current]")).to_have_count(1)
    keys.press("Enter")
    expect(page.locator("[data-letter]")).to_have_count(3)
    keys.press("j")
    keys.press("Enter")
    expect(page.get_by_text("What happened")).to_be_visible()
    expect(page.get_by_role("heading", name="CardExpired")).to_be_visible()
    letter = page.url.rsplit("/", 1)[1]
    keys.press("e")
    expect(page.get_by_role("dialog")).to_be_visible()
    keys.type("they paid by bank")
    keys.press("Enter")
    expect(page.get_by_text("The letter is resolved.")).to_be_visible()
    expect(page.get_by_text("There is nothing left to decide.")).to_be_visible()
    said = server.message(letter)
    assert (said["state"], said["resolution"], said["why"]) == ("resolved", "by_hand", "they paid by bank")
    [entry] = audit_of(server, "resolve")
    assert (entry["who"], entry["why"], entry["subject"]) == ("ada", "they paid by bank", letter)
    go(page, "u")
    expect(page.get_by_role("row", name="they paid by bank")).to_contain_text("ada")


def test_all_that_match_are_resolved_not_only_the_page(lot, tab):
    server = lot()
    world.push(server, "prompts", "model", 70)
    world.push(server, "prompts", "policy", 4)
    server.drained("prompts")
    page = tab(server).open("letters?category=model_gone")
    expect(page.locator("[data-letter]")).to_have_count(50)
    page.get_by_label("Choose all on this page").check()
    expect(page.get_by_text("50 chosen")).to_be_visible()
    page.get_by_role("button", name="Choose all that match").click()
    page.get_by_role("button", name="Resolve…").click()
    expect(page.get_by_role("heading", name="Resolve 70 letters")).to_be_visible()
    assert server.dlq("prompts.dlq")["depth"] == 74, "a dry run changes nothing"
    apply = page.get_by_role("button", name="Resolve 70 letters")
    expect(apply).to_be_disabled()
    page.get_by_label("Why").fill("the model is not coming back")
    apply.click()
    expect(page.get_by_text("70 letters resolved.")).to_be_visible()
    expect(page.get_by_text("No letter matches")).to_be_visible()
    assert server.dlq("prompts.dlq")["depth"] == 4
    [entry] = audit_of(server, "resolve")
    assert entry["count"] == 70 and entry["filter"]["category"] == "model_gone"


def test_chosen_letters_are_discarded_and_escalated(lot, tab):
    server = lot()
    world.push(server, "orders", "bug", 5)
    server.drained("orders")
    page = tab(server).open("letters")
    page.get_by_label("Choose orders-bug-2").check()
    page.get_by_label("Choose orders-bug-3").check()
    page.keyboard.press("d")
    page.get_by_label("Why").fill("test traffic")
    page.get_by_role("button", name="Discard 2 letters").click()
    expect(page.locator("[data-letter]")).to_have_count(3)
    page.get_by_label("Choose orders-bug-4").check()
    page.get_by_role("button", name="Escalate…").click()
    page.get_by_label("Why").fill("for the lawyers")
    page.get_by_role("button", name="Escalate 1 letter").click()
    expect(page.get_by_text("escalated", exact=True)).to_be_visible()
    states = {server.message(f"orders-bug-{n}")["state"] for n in (2, 3)}
    assert states == {"discarded"} and server.message("orders-bug-4")["escalated_at"]
    assert server.dlq("orders.dlq")["depth"] == 3


def test_letters_are_counted_by_state_and_each_count_leads_to_its_letters(lot, tab):
    server = lot()
    world.push(server, "orders", "bug", 5)
    world.push(server, "prompts", "model", 1)
    server.drained("orders")
    server.drained("prompts")
    assert server.post("/v1/letters/orders-bug-0/discard", {"why": "w"}).status == 200
    assert server.post("/v1/letters/orders-bug-1/resolve", {"why": "w"}).status == 200
    page = tab(server).open("letters")
    states = page.get_by_role("navigation", name="Letters by state").get_by_role("link")
    expect(states).to_have_text(["4 pending review", "0 replaying", "1 resolved", "1 discarded"])
    page.get_by_label("DLQ").select_option("orders.dlq")
    expect(states).to_have_text(["3 pending review", "0 replaying", "1 resolved", "1 discarded"])
    assert server.post("/v1/letters/orders-bug-2/discard", {"why": "w"}).status == 200
    expect(states.last).to_have_text("2 discarded")
    states.last.click()
    expect(page.locator("[data-letter]")).to_have_count(2)
    expect(states.last).to_have_attribute("aria-current", "true")


def test_two_people_on_one_letter_decide_once(lot, tab):
    server = lot()
    world.push(server, "orders", "bug", 1)
    server.drained("orders")
    letter = server.letters("orders.dlq")[0]["id"]
    ada, bob = tab(server).open(f"letters/{letter}"), tab(server, actor="bob").open(f"letters/{letter}")
    bob.get_by_role("button", name="Discard…").click()
    bob.get_by_label("Why").fill("no use")
    ada.get_by_role("button", name="Resolve…").click()
    ada.get_by_label("Why").fill("mended by hand")
    ada.get_by_role("dialog").get_by_role("button", name="Resolve").click()
    expect(ada.get_by_text("The letter is resolved.")).to_be_visible()
    bob.get_by_role("dialog").get_by_role("button", name="Discard").click()
    expect(bob.get_by_role("alert")).to_contain_text("resolved")
    bob.keyboard.press("Escape")
    expect(bob.get_by_text("There is nothing left to decide.")).to_be_visible()
    assert server.message(letter)["state"] == "resolved"
    assert len(audit_of(server, "resolve")) == 1 and not audit_of(server, "discard")


def test_two_people_one_replays_and_one_resolves_and_it_is_done_once(lot, tab, shop):
    server = lot()
    world.push(server, "orders", "bug", 2)
    server.drained("orders")
    first, second = (server.message(f"orders-bug-{n}")["id"] for n in range(2))
    shop.mend("bug")
    calls = shop.handler.count()
    ada, bob = tab(server).open(f"replays/new?ids={first}"), tab(server, actor="bob").open(f"letters/{first}")
    start = ada.get_by_role("button", name="Start: send 1 letter")
    expect(start).to_be_enabled()
    bob.get_by_role("button", name="Resolve…").click()
    bob.get_by_label("Why").fill("mended by hand")
    bob.get_by_role("dialog").get_by_role("button", name="Resolve").click()
    expect(bob.get_by_text("The letter is resolved.")).to_be_visible()
    start.click()
    expect(ada.get_by_role("alert")).to_contain_text("resolved already")
    assert server.get("/v1/replays").json["replays"] == [] and shop.handler.count() == calls

    shop.answering.clear()
    bob.goto(f"{server.url}/#/letters/{second}")
    bob.get_by_role("button", name="Resolve…").click()
    bob.get_by_label("Why").fill("mended too")
    ada.goto(f"{server.url}/#/replays/new?ids={second}")
    ada.get_by_role("button", name="Start: send 1 letter").click()
    eventually(lambda: server.message(second)["state"] == "replaying", "the letter is at the handler")
    bob.get_by_role("dialog").get_by_role("button", name="Resolve").click()
    expect(bob.get_by_role("alert")).to_contain_text("replay")
    shop.answering.set()
    expect(ada.get_by_role("status").filter(has_text="done")).to_be_visible()
    said = server.message(second)
    assert (said["state"], said["resolution"], said["replays"]) == ("resolved", "replayed", 1)
    assert shop.handler.count() == calls + 1 and len(audit_of(server, "resolve")) == 1


def test_groups_of_a_state_are_found_behind_any_number_of_others(lot, tab):
    server = lot()
    names = [f"Type{chr(ord('A') + n // 26)}{chr(ord('A') + n % 26)}" for n in range(55)]
    for place, name in enumerate(names):
        for copy in range(1 if place == 54 else 2):
            world.report(server, f"{name}-{copy}", name, "wrong")
    last = server.page("/v1/letters", error_type=names[54])["letters"][0]["failure"]["fingerprint"]
    server.request("PATCH", f"/v1/groups/{last}", {"state": "muted", "why": "we know"})
    page = tab(server).open("groups")
    rows = page.get_by_role("table").get_by_role("button")
    expect(rows).to_have_count(50)
    page.get_by_role("link", name="More").click()
    expect(rows).to_have_count(4)
    page.get_by_role("button", name="muted").click()
    expect(rows).to_have_count(1)
    expect(page.get_by_role("button", name=names[54])).to_be_visible()
    assert "after" not in page.url
    page.get_by_role("button", name="resolved", exact=True).click()
    expect(page.get_by_text("No group is resolved")).to_be_visible()


def test_a_group_is_noted_muted_resolved_and_made_a_rule(lot, tab):
    server = lot()
    world.push(server, "prompts", "model", 6)
    server.drained("prompts")
    page = tab(server).open("groups")
    page.get_by_role("button", name="ModelNotFound").click()
    panel = page.get_by_role("region", name="ModelNotFound")
    panel.get_by_label("Note").fill("see ticket 42")
    panel.get_by_label("Owner").fill("team-ai")
    panel.get_by_role("button", name="Save note and owner").click()
    expect(page.get_by_text("“see ticket 42”")).to_be_visible()
    panel.get_by_role("button", name="Write it").click()
    expect(panel.get_by_text("do: retry")).to_be_visible()
    expect(panel.get_by_text("ModelNotFound").last).to_be_visible()
    panel.get_by_label("Why").fill("we know")
    panel.get_by_role("button", name="Mute").click()
    expect(page.get_by_text("No open group")).to_be_visible()
    group = server.get("/v1/groups").json["groups"][0]
    assert (group["state"], group["note"], group["owner"], group["why"]) == ("muted", "see ticket 42", "team-ai", "we know")
    page.get_by_role("button", name="all", exact=True).click()
    panel.get_by_role("button", name="Resolve the group").click()
    expect(panel.get_by_text("resolved", exact=True)).to_be_visible()
    world.push(server, "prompts", "model", 1, start=100)
    expect(page.get_by_text("returned", exact=True)).to_be_visible()
    expect(page.get_by_role("img", name="7 letters in the last 24 hours")).to_be_visible()


def test_a_queue_is_paused_and_resumed_with_a_reason(lot, tab):
    server = lot()
    page = tab(server).open("queues")
    page.get_by_role("button", name="Pause orders").click()
    page.get_by_label("Why").fill("deploying the fix")
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    row = page.get_by_role("row", name="orders").first
    expect(row).to_contain_text("deploying the fix")
    assert server.queue("orders")["state"] == "paused"
    page.get_by_role("button", name="Resume orders").click()
    page.get_by_role("dialog").get_by_role("button", name="Resume").click()
    expect(row.get_by_text("running")).to_be_visible()
    assert [entry["what"] for entry in server.get("/v1/audit").json["audit"]] == ["queue.resume", "queue.pause"]


def test_a_test_notice_says_who_took_it(lot, tab, shop):
    server = lot(alerts={"to": [{"name": "hook", "webhook": shop.handler.url},
                                {"name": "nobody", "webhook": "http://127.0.0.1:9/"}]})
    page = tab(server).open("alerts")
    calls = shop.handler.count()
    page.get_by_role("button", name="Send a test notice").click()
    said = page.get_by_role("status", name="Test notice").get_by_role("paragraph")
    expect(said).to_have_text([re.compile("^hook took it$"), re.compile("^nobody .*connect")])
    assert [json.loads(call.body)["alert"] for call in shop.handler.calls[calls:]] == ["Test"]
    expect(page.get_by_role("row", name="DLQDepthHigh critical")).to_contain_text("dlq depth > 100 for 5 min")


def test_an_empty_lot_says_what_to_do(lot, tab):
    server = lot()
    one = tab(server, actor=None)
    for fragment, text in [("overview", "Nothing is dead"), ("letters", "Nothing is dead"), ("groups", "No open group"),
                           ("replays", "Nothing was replayed yet"), ("audit", "Nobody changed anything yet"),
                           ("alerts", "Nothing is wrong")]:
        page = one.open(fragment)
        expect(page.get_by_text(text).first).to_be_visible()
    page.get_by_role("button", name="anonymous").click()
    page.get_by_label("Your name").fill("Grace Hopper ✓")
    page.get_by_role("button", name="Save").click()
    page = one.open("queues")
    page.get_by_role("button", name="Pause orders").click()
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    eventually(lambda: audit_of(server, "queue.pause"), "the pause is in the audit")
    assert json.dumps(audit_of(server, "queue.pause")[0]["who"]) == json.dumps("Grace Hopper ✓")


def test_alerts_of_triage_rules_lead_to_their_letters(lot, tab):
    places = {("TriageRuleStopped", "triage_stopped", "orders.dlq/0"): "letters?dlq=orders.dlq",
              ("TriageEscalated", "triage_escalated", "orders.dlq/0/ticket"): "letters?dlq=orders.dlq&escalated=true"}
    alerts = [{"alert": alert, "metric": metric, "subject": subject, "severity": "warning", "state": "firing", "value": 1,
               "since": "2026-01-01T00:00:00Z", "summary": "a rule"} for alert, metric, subject in places]
    one = tab(lot())
    one.page.route("**/v1/alerts", lambda route: route.fulfill(json={"alerts": alerts, "rules": []}))
    page = one.open("alerts")
    for (alert, _, _), place in places.items():
        expect(page.get_by_role("link", name=alert)).to_have_attribute("href", f"#/{place}")


def test_the_audit_leads_to_what_an_entry_is_about(lot, tab):
    server = lot()
    letter = world.report_bug(server, 1)
    places = {("retention.delete", "orders.dlq"): "letters?dlq=orders.dlq", ("triage.stop", "orders.dlq[12]"): "letters?dlq=orders.dlq",
              ("resolve", letter): f"letters/{letter}", ("queue.pause", "orders"): "queues?queue=orders"}
    entries = [{"id": f"{n}", "at": "2026-01-01T00:00:00Z", "who": "ada", "what": what, "why": None, "subject": subject, "filter": None,
                "count": 0, "before": None, "after": None} for n, (what, subject) in enumerate(places)]
    one = tab(server)
    one.page.route("**/v1/audit?*", lambda route: route.fulfill(json={"audit": entries, "cursor": None}))
    page = one.open("audit")
    for (what, subject), place in places.items():
        expect(page.get_by_role("row", name=what).get_by_role("link", name=subject, exact=True)).to_have_attribute("href", f"#/{place}")


def test_links_of_the_audit_lead_to_the_real_thing(lot, tab, shop):
    server = lot()
    world.push(server, "orders", "bug", 4)
    server.drained("orders")
    shop.mend("bug")
    first, second, third = (server.message(f"orders-bug-{n}")["id"] for n in range(3))
    fingerprint = server.message(first)["failure"]["fingerprint"]
    for path, change in [(f"/v1/letters/{first}/resolve", {"why": "by hand"}), (f"/v1/letters/{second}/discard", {"why": "no use"}),
                         ("/v1/replays", {"ids": [third], "dry_run": False}), ("/v1/queues/orders/pause", {"why": "deploying"})]:
        assert server.post(path, change).status == 200
    assert server.request("PATCH", f"/v1/groups/{fingerprint}", {"state": "muted", "why": "we know"}).status == 200
    page = tab(server).open("audit")
    for what, there in [("resolve", page.get_by_text("Resolved: by hand")), ("discard", page.get_by_text("Discarded", exact=True)),
                        ("replay.start", page.get_by_role("region", name="Progress")),
                        ("queue.pause", page.locator("tr.at").filter(has_text="deploying")),
                        ("group", page.get_by_role("region", name="KeyError").get_by_text("muted: we know"))]:
        row = page.get_by_role("row").filter(has=page.locator("code", has_text=re.compile(f"^{re.escape(what)}")))
        row.get_by_role("link").first.click()
        expect(there).to_be_visible()
        page.go_back()
        expect(page.get_by_role("heading", name="Audit")).to_be_visible()


def test_a_group_shows_its_versions_and_when_it_was_seen(lot, tab):
    server = lot()
    world.report(server, "task-0", "PriceError", "no price", version="1.4")
    eventually(lambda: any(one["alert"] == "DLQNewGroup" for one in server.get("/v1/alerts").json["alerts"]),
               "the group is known with its first version")
    world.report(server, "task-1", "PriceError", "no price", version="1.5")
    [group] = eventually(lambda: [one for one in server.get("/v1/groups").json["groups"] if len(one["versions"]) == 2],
                         "both versions are known")
    assert set(group["versions"]) == {"1.4", "1.5"} and group["first_seen"] < group["last_seen"]
    page = tab(server).open("groups")
    row = page.get_by_role("row", name="PriceError")
    expect(row).to_contain_text(", ".join(group["versions"]))
    seen = [group["first_seen"], group["last_seen"]]
    assert row.locator("time").evaluate_all("all => all.map(one => one.dateTime)") == seen
    row.get_by_role("button").click()
    panel = page.get_by_role("region", name="PriceError")
    expect(panel).to_contain_text(f"versions {', '.join(group['versions'])}")
    assert panel.locator("time").evaluate_all("all => all.map(one => one.dateTime)") == seen
    page.evaluate("navigator.clipboard.writeText('')")
    panel.get_by_role("button", name="Write it").click()
    panel.get_by_role("button", name="Copy").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    rule = server.get(f"/v1/groups/{group['fingerprint']}/rule", **{"do": "retry"}).json["yaml"]
    assert page.evaluate("navigator.clipboard.readText()") == rule and "PriceError" in rule


def exported(page):
    page.get_by_label("Compress with zstd").uncheck()
    with page.expect_download() as caught:
        page.get_by_role("button", name="Download").click()
    with open(caught.value.path(), encoding="utf-8") as file:
        return [json.loads(line)["message"]["id"] for line in file]


def test_an_export_is_of_all_that_match_not_only_of_the_page(lot, tab):
    server = lot()
    world.push(server, "prompts", "model", 70)
    world.push(server, "prompts", "policy", 3)
    server.drained("prompts")
    wanted = {f"prompts-model-{n}" for n in range(70)}
    page = tab(server).open("letters?category=model_gone")
    expect(page.locator("[data-letter]")).to_have_count(50)
    page.get_by_label("Choose all on this page").check()
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_role("heading", name="Export 50 letters")).to_be_visible()
    assert set(exported(page)) < wanted
    page.get_by_role("button", name="Choose all that match").click()
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_role("heading", name="Export 70 letters")).to_be_visible()
    letters = exported(page)
    assert len(letters) == 70 and set(letters) == wanted
    page.get_by_role("button", name="Choose none").click()
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_role("heading", name="Export 70 letters")).to_be_visible()
    assert len(exported(page)) == 70


def test_an_export_of_resolved_letters_says_how_many_it_is_of(lot, tab):
    server = lot()
    letter = world.report_bug(server, 1)
    server.post(f"/v1/letters/{letter}/resolve", {"why": "fixed"})
    page = tab(server).open("letters?state=resolved")
    page.get_by_label("Choose report-1").check()
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_role("dialog", name="Export 1 letter")).to_be_visible()
