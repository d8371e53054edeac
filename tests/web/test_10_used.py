"""A lot that people have worked in: pages that are not empty any more, and every dialog, light and dark, wide and on a
phone. With PICTURES=FOLDER all of them are photographed there."""
import datetime
import re

import pytest
from playwright.sync_api import expect

import world
from conftest import LOOKS
from harness import eventually
from pages import a_letter, check
from week import WEEK_PAGES, passed


def replay(server, **order):
    """One that is over."""
    answer = server.post("/v1/replays", {"dry_run": False, **order}, {"Impound-Actor": "ada"})
    assert answer.status == 200, answer.body
    return eventually(lambda: (one := server.get(f"/v1/replays/{answer.json['id']}").json)["state"] in ("done", "aborted")
                      and one, "the replay is over")


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """A lot of a week with every kind of entry in its audit, replays that are done, aborted and held, and alerts of all
    severities."""
    with passed(tmp_path_factory.mktemp("used"), datetime.datetime.now(datetime.timezone.utc)) as server:
        use(server)
        yield server


def use(server):
    server.at(datetime.datetime.now(datetime.timezone.utc))
    server.shop.mend("stock")
    assert replay(server, filter={"error_type": "OutOfStock"}, why="back on the shelf")["state"] == "done"
    assert replay(server, filter={"error_type": "ModelNotFound"})["state"] == "aborted"
    letter = a_letter(server, error_type="KeyError")
    for path, change in [(f"/v1/letters/{letter['id']}/resolve", {"why": "mended by hand"}),
                         ("/v1/letters/discard", {"filter": {"category": "content_policy"}, "why": "test traffic"}),
                         ("/v1/queues/payments/pause", {"why": "deploying the fix"}),
                         ("/v1/replays", {"filter": {"error_type": "CardExpired"}, "dry_run": False})]:
        answer = server.post(path, change, {"Impound-Actor": "ada"})
        assert answer.status == 200, answer.body
    assert server.request("PATCH", f"/v1/groups/{letter['failure']['fingerprint']}",
                          {"note": "see ticket 42", "owner": "team-orders"}).status == 200
    world.push(server, "payments", "card", 3, start=500)  # they wait: it is paused
    world.push(server, "prompts", "key", 1)
    eventually(lambda: {"QueueHalted", "ReplayAborted", "DLQNotEmpty"} <= {one["alert"] for one in server.get("/v1/alerts").json["alerts"]},
               "alerts of every severity")


def replay_in(server, *states):
    return next(one["id"] for one in server.get("/v1/replays").json["replays"] if one["state"] in states)


# page → (fragment, what must be there)
USED = {
    **{f"used-{name}": WEEK_PAGES[name] for name in ("overview", "letter", "group", "plan")},
    "used-letters": ("letters", "KeyError"),
    "used-groups": ("groups", "“see ticket 42”"),
    "used-replays": ("replays", "back on the shelf|error_type: OutOfStock"),
    "used-replay-done": (lambda server: f"replays/{replay_in(server, 'done')}", "back on the shelf"),
    "used-replay-aborted": (lambda server: f"replays/{replay_in(server, 'aborted')}", "What was not sent is untouched"),
    "used-replay-held": (lambda server: f"replays/{replay_in(server, 'waiting', 'canary')}", "not sent"),
    "used-queues": ("queues", "deploying the fix"),
    "used-waiting": ("queues/payments", "payments-card-500"),
    "used-message": ("letters/payments-card-500?queue=payments", "It waits in the queue"),
    "used-alerts": ("alerts", "QueueHalted"),
    "used-audit": ("audit", "mended by hand"),
}


def open_letter(page, server):
    page.goto(f"{server.url}/#/letters/{a_letter(server, error_type='KeyError')['id']}")


def open_many(page, server):
    page.goto(f"{server.url}/#/letters?error_type=CardExpired")
    page.get_by_label("Choose all on this page").check()


def open_waiting(page, server):
    page.goto(f"{server.url}/#/queues/payments")


def open_message(page, server):
    page.goto(f"{server.url}/#/letters/payments-card-500?queue=payments")


def open_replay(page, server):
    page.goto(f"{server.url}/#/replays/{replay_in(server, 'waiting', 'canary')}")


# dialog → (where it is opened, by which button, what it is called)
DIALOGS = {
    "settings": (lambda page, server: page.goto(f"{server.url}/#/overview"), "ada", "Settings"),
    "keys": (lambda page, server: page.goto(f"{server.url}/#/letters"), "?", "Keys"),
    "resolve": (open_letter, "Resolve…", "Resolve this letter"),
    "escalate": (open_letter, "Escalate…", "Escalate this letter"),
    "discard": (open_letter, "Discard…", "Discard this letter"),
    "resolve-many": (open_many, "Resolve…", re.compile(r"Resolve \d+ letters")),
    "discard-many": (open_many, "Discard…", re.compile(r"Discard \d+ letters")),
    "bury": (open_message, "Bury…", "Bury this message"),
    "bury-many": (open_waiting, "Bury all…", "Bury 3 messages"),
    "discard-waiting": (open_waiting, "Discard all…", "Discard 3 messages"),
    "export": (open_many, "Export", re.compile(r"Export \d+ letters")),
    "pause-queue": (lambda page, server: page.goto(f"{server.url}/#/queues"), "Pause orders", "Pause orders"),
    "resume-queue": (lambda page, server: page.goto(f"{server.url}/#/queues"), "Resume payments", "Resume payments"),
    "pause-replay": (open_replay, "Pause…", "Pause this replay"),
    "abort-replay": (open_replay, "Abort…", "Abort this replay"),
}


@pytest.mark.parametrize("look", LOOKS)
def test_pages_that_were_used_are_accessible_and_fit(used, tab, look):
    one = tab(used, **LOOKS[look])
    for name, (fragment, text) in USED.items():
        page = one.open(fragment(used) if callable(fragment) else fragment)
        expect(page.get_by_text(re.compile(text)).first).to_be_visible()
        expect(page.get_by_text("Live", exact=True)).to_be_visible()
        check(page, name, look)


@pytest.mark.parametrize("look", LOOKS)
def test_every_dialog_is_accessible_and_fits(used, tab, look):
    one = tab(used, **LOOKS[look])
    for name, (where, button, title) in DIALOGS.items():
        page = one.page
        where(page, used)
        if button == "?":  # a phone has no keys to show
            page.keyboard.press("?")
        else:
            page.get_by_role("button", name=button, exact=True).click()
        dialog = page.get_by_role("dialog", name=title)
        expect(dialog).to_be_visible()
        box = dialog.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= page.viewport_size["width"], name
        check(page, f"dialog-{name}", look, whole=False)
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)


def test_all_pages_are_in_sight_on_a_phone(used, tab):
    page = tab(used, **LOOKS["phone"]).open("audit")
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    expect(links).to_have_count(7)
    for link in links.all():
        box = link.bounding_box()
        assert 0 <= box["x"] and box["x"] + box["width"] <= page.viewport_size["width"], link.text_content()
    links.filter(has_text="Alerts").click()
    expect(page.get_by_role("heading", name="Alerts")).to_be_visible()


def test_a_phone_shows_the_gauges_and_whole_ids(used, tab):
    one = tab(used, **LOOKS["phone"])
    page = one.open("overview")
    gauges = page.get_by_role("img", name="the cap; alerts above")
    expect(gauges).to_have_count(len(used.get("/v1/dlqs").json["dlqs"]))
    for gauge in gauges.all():
        assert gauge.bounding_box()["width"] > 200
    page = one.open(f"replays/{replay_in(used, 'done')}")
    ids = page.get_by_role("region", name="Letters, in the order of sending").get_by_role("link")
    expect(ids).to_have_count(5)
    for link in ids.all():
        assert link.evaluate("link => link.getClientRects().length") == 1, "an id stands on one line"


def test_ids_of_the_audit_stand_on_one_line(used, tab):
    page = tab(used).open("audit")
    ids = page.get_by_role("link", name=re.compile("^[0-9a-f]{8}-[0-9a-f-]{27}$"))
    expect(ids.first).to_be_visible()
    assert ids.evaluate_all("links => links.map(link => link.getClientRects().length)") == [1] * ids.count()


def test_only_where_there_are_keys_one_is_shown(used, tab):
    for look, shown in (("light", True), ("phone", False)):
        page = tab(used, **LOOKS[look]).open("letters")
        expect(page.get_by_label("Search in errors")).to_be_visible()
        expect(page.locator(".search kbd")).to_be_visible(visible=shown)
