"""Things happen while the page is open: letters come, the stream breaks, the server restarts; and letters that were
written to do harm."""
import base64
import json
import re

import pytest
from playwright.sync_api import expect

import world
from harness import eventually

SCRIPT = "<script>window.hacked = 1; alert(1)</script><img src=x onerror=\"window.hacked=1\"><style>*{display:none}</style>"


def test_letters_show_the_moment_they_come(lot, tab):
    server = lot()
    page = tab(server).open("letters")
    expect(page.get_by_text("Nothing is dead")).to_be_visible()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    world.push(server, "orders", "bug", 2)
    expect(page.locator("[data-letter]")).to_have_count(2)
    expect(page.get_by_role("link", name="Letters 2")).to_be_visible()


def test_without_a_stream_the_page_asks_again_and_again(lot, tab):
    server = lot()
    one = tab(server)
    one.context.add_init_script("delete window.SharedWorker")
    refused = []
    one.page.route("**/v1/events", lambda route: refused.append(route.abort()))
    page = one.open("letters")
    eventually(lambda: page.evaluate("1") and refused, "a stream is asked for, and refused")
    expect(page.get_by_text("Every 3 s")).to_be_visible()
    world.push(server, "orders", "bug", 1)
    expect(page.locator("[data-letter]")).to_have_count(1)


def see(page, seen):
    """A headless browser shows all its tabs at once: one is put behind the others, or in front."""
    page.evaluate("""seen => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => !seen });
        document.dispatchEvent(new Event("visibilitychange"));
    }""", seen)


WINDOWS = 8  # more than a browser has connections to one host


def open_windows(one):
    pages = [one.page, *(one.context.new_page() for _ in range(WINDOWS - 1))]
    for page in pages:
        page.goto(f"{one.server.url}/#/letters")
        expect(page.get_by_text("Nothing is dead")).to_be_visible()
        expect(page.get_by_text("Live", exact=True)).to_be_visible()
        yield page


def test_more_windows_than_a_browser_has_connections_share_one_stream(lot, tab):
    server = lot()
    pages = list(open_windows(tab(server)))
    world.push(server, "orders", "bug", 2)
    for page in pages:
        expect(page.locator("[data-letter]")).to_have_count(2)
        expect(page.get_by_text("Live", exact=True)).to_be_visible()
    server.kill()
    for page in pages:
        expect(page.get_by_text("The server does not answer")).to_be_visible()
    server.start()
    for page in pages:
        expect(page.get_by_text("Live", exact=True)).to_be_visible()


@pytest.mark.parametrize("shared", [True, False])
def test_a_window_that_nobody_sees_holds_no_connection(lot, tab, shared):
    server = lot()
    one = tab(server)
    if not shared:
        one.context.add_init_script("delete window.SharedWorker")
    pages = []
    for page in open_windows(one):
        see(page, False)
        expect(page.get_by_text("Live", exact=True)).to_have_count(0)
        pages.append(page)
    world.push(server, "orders", "bug", 2)
    server.drained("orders")
    see(pages[0], True)
    expect(pages[0].locator("[data-letter]")).to_have_count(2)
    expect(pages[0].get_by_text("Live", exact=True)).to_be_visible()
    expect(pages[1].locator("[data-letter]")).to_have_count(0)


def test_what_is_shown_says_of_when_it_is_while_the_server_refuses(lot, tab):
    server = lot()
    world.push(server, "orders", "bug", 1)
    server.drained("orders")
    letter = server.letters("orders.dlq")[0]["id"]
    problem = {"title": "Service Unavailable", "detail": "the store is being mended"}
    for fragment, path, shown in [("letters", "**/v1/letters?*", "'pin' is missing"), ("groups", "**/v1/groups?*", "'pin' is missing"),
                                  (f"letters/{letter}", f"**/v1/letters/{letter}", "What happened")]:
        one = tab(server)
        page = one.open(fragment)
        expect(page.get_by_text(shown).first).to_be_visible()
        expect(page.get_by_text("Live", exact=True)).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)
        page.route(path, lambda route: route.fulfill(status=503, json=problem))
        see(page, True)
        expect(page.get_by_role("alert")).to_contain_text(re.compile(r"As of .*\d\d:\d\d:\d\d\s*: Service Unavailable.*the store is being mended", re.S))
        expect(page.get_by_text(shown).first).to_be_visible()
        with page.expect_request(path):
            page.get_by_role("button", name="Try again").click()
        page.unroute(path)
        see(page, True)
        expect(page.get_by_role("alert")).to_have_count(0)


def test_the_server_restarts_while_the_page_is_open(lot, tab):
    server = lot()
    world.push(server, "orders", "bug", 3)
    server.drained("orders")
    page = tab(server).open("letters")
    expect(page.locator("[data-letter]")).to_have_count(3)
    page.get_by_label("Choose orders-bug-1").check()
    server.kill()
    expect(page.get_by_text("The server does not answer")).to_be_visible()
    expect(page.locator("[data-letter]")).to_have_count(3)
    expect(page.get_by_label("Choose orders-bug-1")).to_be_checked()
    server.start()
    expect(page.get_by_text("The server does not answer")).to_be_hidden()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    world.push(server, "orders", "bug", 1, start=50)
    expect(page.locator("[data-letter]")).to_have_count(4)


def test_bodies_are_hidden_until_asked_for_where_the_server_says_so(lot, tab):
    server = lot(server={"payloads": "hidden"})
    world.push(server, "orders", "bug", 1)
    server.drained("orders")
    letter = server.letters("orders.dlq")[0]["id"]
    page = tab(server).open(f"letters/{letter}")
    expect(page.get_by_role("button", name="Show the body")).to_be_visible()
    assert page.get_by_text("9007199254740993").count() == 0
    page.get_by_role("button", name="Show the body").click()
    expect(page.get_by_text("9007199254740993")).to_be_visible()
    page = tab(server).open(f"replays/new?ids={letter}")
    page.get_by_role("button", name="by hand").click()
    editor = page.get_by_role("region", name="Edit")
    expect(editor.get_by_role("button", name="Show the body")).to_be_visible()
    expect(page.get_by_label("Body", exact=True)).to_have_count(0)
    editor.get_by_role("button", name="Show the body").click()
    assert "9007199254740993" in page.get_by_label("Body", exact=True).input_value()


def hostile(server, **more):
    answer = server.post("/v1/queues/orders/failures", {
        "task_id": f"evil-{SCRIPT}"[:120], "task_type": SCRIPT, "payload": {"html": SCRIPT, SCRIPT: [SCRIPT]},
        "error_type": SCRIPT, "error_message": SCRIPT, "stack_trace": f'  File "{SCRIPT}", line 1\n{SCRIPT}',
        "headers": {"x-evil": SCRIPT}, "key": SCRIPT, "context": {SCRIPT: SCRIPT}, **more})
    assert answer.status == 200, answer.body
    return answer.json["letter"]


def is_text(page, where):
    """What was written to do harm is shown and does none."""
    expect(page.get_by_role("main").get_by_text("window.hacked").first).to_be_visible()
    assert page.evaluate("window.hacked") is None, where
    assert page.locator("main script, main img, main style").count() == 0, where
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), where
    assert page.evaluate("document.body.innerText.length") < 50_000, f"{where}: the rest is shown when it is asked for"


LONG = SCRIPT + "A" * 1_000_000


@pytest.mark.parametrize("error", [SCRIPT, LONG], ids=["script", "long"])
def test_a_hostile_letter_is_text_everywhere(lot, tab, error):
    server = lot()
    letter = hostile(server, error_message=error, payload={SCRIPT: [error]})
    evil = {"Impound-Actor": SCRIPT}
    why = error[:1000]
    error_type = server.message(letter)["failure"]["error_type"]
    fingerprint = server.message(letter)["failure"]["fingerprint"]
    server.post("/v1/queues/orders/pause", {"why": SCRIPT}, evil)
    order = {"filter": {"error_type": error_type}, "why": why, "edit": f". + {{evil: {json.dumps(error[:30_000])}}}", "dry_run": False}
    replay = server.post("/v1/replays", order, evil)
    for answer in (replay, server.post(f"/v1/replays/{replay.json['id']}/abort", {"why": SCRIPT}, evil),
                   server.request("PATCH", f"/v1/groups/{fingerprint}", {"note": error[:4000], "owner": SCRIPT[:255]}, evil),
                   server.post(f"/v1/letters/{letter}/escalate", {"why": why}, evil)):
        assert answer.status == 200, answer.body
    eventually(lambda: any(one["alert"] == "DLQNewGroup" for one in server.get("/v1/alerts").json["alerts"]), "the alert fires")
    one = tab(server)
    for fragment in ["overview", "letters", f"letters/{letter}", "groups", f"groups?group={fingerprint}", "replays",
                     f"replays/{replay.json['id']}", f"replays/new?ids={letter}", "queues", "alerts", "audit"]:
        page = one.open(fragment)
        is_text(page, fragment)
        page.locator("main details").evaluate_all("all => all.forEach(one => one.open = true)")
        is_text(page, f"{fragment}, unfolded")


def test_a_line_of_a_million_letters_is_shown_when_it_is_asked_for(lot, tab):
    server = lot()
    long = "A" * 1_000_000
    letter = hostile(server, task_id="long", error_message=long[:60_000], payload={"line": long, "deep": [[[[long[:5000]]]]]})
    page = tab(server).open(f"letters/{letter}")
    expect(page.get_by_text("What happened")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.body.innerText.length") < 50_000, "the rest is shown when it is asked for"
    page.get_by_role("button", name="characters more").first.click()
    page.wait_for_function("document.body.innerText.length > 900000")


def test_bytes_that_are_no_text_are_shown_as_base64(lot, tab):
    server = lot()
    data = bytes(range(256))
    server.post("/v1/queues/orders/messages", {"id": "raw", "content_type": "application/octet-stream",
                                               "body_base64": base64.b64encode(data).decode()})
    world.push(server, "orders", "bug", 1)
    server.drained("orders")
    raw = server.message("raw")
    page = tab(server).open(f"letters/{raw['id']}")
    expect(page.get_by_text(base64.b64encode(data).decode()[:40])).to_be_visible()
    expect(page.get_by_text("shown as base64")).to_be_visible()


def test_a_letter_that_comes_while_the_list_is_asked_for_is_not_missed(lot, tab):
    server = lot()
    one = tab(server)
    # Nobody polls: only the event can make the page look again.
    one.context.add_init_script("const later = setTimeout; window.setTimeout = (run, ms, ...more) => ms >= 3000 ? 0 : later(run, ms, ...more)")
    held = []
    one.page.route("**/v1/letters?*", lambda route: held.append((route, route.fetch())), times=1)
    page = one.open("letters")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    eventually(lambda: page.evaluate("1") and held, "the list is asked for, and its answer is under way")
    world.push(server, "orders", "bug", 1)
    expect(page.get_by_role("link", name="Letters 1")).to_be_visible()
    route, before = held[0]
    route.fulfill(response=before)
    expect(page.locator("[data-letter]")).to_have_count(1)
