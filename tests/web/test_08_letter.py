"""One letter told as a story: its attempts and waits, its trace, and the others of its cause."""
from datetime import datetime, timedelta, timezone

from playwright.sync_api import expect

import world
from harness import eventually


def waited(ms):
    return f"waited {ms} ms" if ms < 1000 else f"waited {ms / 1000:.1f} s"


def test_the_waits_stand_between_the_attempts(lot, tab):
    server = lot()
    world.push(server, "orders", "busy", 1)
    server.drained("orders")
    letter = server.message("orders-busy-0")
    delays = [one["delay_ms"] for one in letter["history"]]
    assert len(delays) == 3 and delays[2] is None and None not in delays[:2]
    page = tab(server).open(f"letters/{letter['id']}")
    steps = page.get_by_role("region", name="What happened").get_by_role("listitem")
    expect(steps).to_have_count(5)
    for place, words in enumerate([["Arrived", "in orders"], ["Attempt 1", waited(delays[0])],
                                   ["Attempt 2", waited(delays[1])], ["Attempt 3", "Overloaded"],
                                   ["Stopped: exhausted", "max_attempts:upstream_busy"]]):
        for word in words:
            expect(steps.nth(place)).to_contain_text(word)
    expect(steps.nth(3)).not_to_contain_text("waited")


def test_frames_of_the_application_are_marked(lot, tab):
    server = lot()
    page = tab(server).open(f"letters/{world.report_bug(server, 1)}")
    trace = page.get_by_role("region", name="Stack trace").last
    marked = trace.locator("div", has_text="(in-app)")
    expect(marked).to_have_count(2)
    expect(marked.nth(0)).to_contain_text('File "/srv/shop/price.py", line 41, in handle')
    expect(marked.nth(1)).to_contain_text('zone = TAX[order["pin"]]')
    expect(trace).to_contain_text("worker/loop.py")
    page.get_by_label("In-app frames only").check()
    expect(trace).not_to_contain_text("worker/loop.py")
    expect(trace).to_contain_text("KeyError: 'BAD-1'")
    expect(marked).to_have_count(2)


def test_others_of_the_same_cause_stand_beside_it(lot, tab):
    server = lot()
    letters = [world.report_bug(server, n) for n in range(3)]
    world.report(server, "other", "ValueError", "of another cause")
    page = tab(server).open(f"letters/{letters[0]}")
    beside = page.get_by_role("region", name="Same cause")
    expect(beside.get_by_role("listitem")).to_have_count(2)
    beside.get_by_role("link", name="report-2").click()
    expect(page.get_by_text("'BAD-2'").first).to_be_visible()
    assert letters[2] in page.url
    expect(beside.get_by_role("link", name="report-0")).to_be_visible()
    beside.get_by_role("link", name="Its group").click()
    expect(page.get_by_role("region", name="KeyError")).to_contain_text("3 unresolved letters")


def test_a_replayed_letter_is_told_in_the_order_of_time(lot, tab, shop):
    server = lot()
    world.push(server, "orders", "busy", 1)
    server.drained("orders")
    letter = server.message("orders-busy-0")["id"]
    shop.mend("busy")
    server.post("/v1/replays", {"ids": [letter], "dry_run": False})
    eventually(lambda: server.message(letter)["state"] == "resolved", "the replay resolves it")
    page = tab(server).open(f"letters/{letter}")
    story = page.get_by_role("region", name="What happened")
    steps = story.get_by_role("listitem")
    expect(steps).to_have_count(7)
    for place, words in enumerate(["Arrived", "Attempt 1", "Attempt 2", "Attempt 3", "Stopped: exhausted", "Replay 1", "Resolved"]):
        expect(steps.nth(place)).to_contain_text(words)
    resolved = datetime.fromisoformat(server.message(letter)["resolved_at"].replace("Z", "+00:00"))
    here = resolved.astimezone(timezone(timedelta(hours=5, minutes=30))).strftime("%Y-%m-%d %H:%M:%S")
    expect(steps.nth(4)).to_contain_text(f"at {here}")


def test_headers_stand_beside_the_message(lot, tab):
    server = lot()
    server.push("orders", {"n": 1, "fail": "bug"}, id="told", headers={"correlation_id": "c-42", "x-tenant": "north & south"})
    server.drained("orders")
    page = tab(server).open(f"letters/{server.message('told')['id']}")
    headers = page.get_by_role("region", name="Headers")
    expect(headers.get_by_role("term")).to_have_text(["correlation_id", "x-tenant"])
    expect(headers.get_by_role("definition")).to_have_text(["c-42", "north & south"])


def test_a_long_header_is_shown_to_its_end_when_it_is_asked_for(lot, tab):
    server = lot()
    server.push("orders", {"n": 1, "fail": "bug"}, id="told", headers={"x-token": "t" * (8 * 1024 - 3) + "end"})
    server.drained("orders")
    page = tab(server).open(f"letters/{server.message('told')['id']}")
    header = page.get_by_role("region", name="Headers").get_by_role("definition")
    expect(header).to_contain_text("ttt")
    expect(header).not_to_contain_text("tend")
    header.get_by_role("button", name="Show more (6,192 characters)").click()
    expect(header).to_contain_text("tend")
    expect(header.get_by_role("button")).to_have_count(0)


def test_the_body_is_folded_and_unfolds(lot, tab):
    server = lot()
    world.push(server, "orders", "bug", 1)
    server.drained("orders")
    page = tab(server).open(f"letters/{server.message('orders-bug-0')['id']}")
    body = page.get_by_role("region", name="Body")
    article = body.get_by_text("article").first
    first = body.locator("summary", has_text="0: {")
    expect(body.get_by_text("customer-0")).to_be_visible()
    expect(first).to_be_visible()
    expect(article).to_be_hidden()
    first.click()
    expect(article).to_be_visible()
    first.click()
    expect(article).to_be_hidden()
    body.locator("summary").first.click()
    expect(first).to_be_hidden()
    body.get_by_role("button", name="text").click()
    expect(body.locator("pre")).to_contain_text('"article": "tea"')
    body.get_by_role("button", name="folded").click()
    expect(body.locator("pre")).to_have_count(0)


def test_commands_are_copied_as_they_stand_there(lot, tab):
    server = lot()
    letter = world.report_bug(server, 1)
    page = tab(server).open(f"letters/{letter}")
    for command in (f"impound show {letter}", f"impound replay {letter} --apply"):
        page.get_by_role("button", name=f"Copy {command}").click()
        expect(page.get_by_text("Copied.").last).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == command


def test_a_letter_that_is_decided_offers_no_replay(lot, tab):
    server = lot()
    letter = world.report_bug(server, 1)
    assert server.post(f"/v1/letters/{letter}/resolve", {"why": "by hand"}).status == 200
    commands = tab(server).open(f"letters/{letter}").get_by_role("region", name="On the command line")
    expect(commands.get_by_text(f"impound show {letter}")).to_be_visible()
    expect(commands.get_by_text("impound replay")).to_have_count(0)


def test_without_a_clipboard_the_page_says_so(lot, tab):
    server = lot()
    page = tab(server).open(f"letters/{world.report_bug(server, 1)}")
    copy = page.get_by_role("button", name="Copy impound show")
    copy.click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    copy.click()
    expect(page.get_by_text("The browser gives no clipboard here")).to_be_visible()


def test_a_reason_stands_with_the_decision_that_it_was_given_for(lot, tab, shop):
    server = lot()
    world.push(server, "orders", "bug", 2)
    server.drained("orders")
    by_hand, replayed = (server.message(f"orders-bug-{n}")["id"] for n in range(2))
    for letter in (by_hand, replayed):
        assert server.post(f"/v1/letters/{letter}/escalate", {"why": "for the lawyers"}).status == 200
    one = tab(server)
    page = one.open(f"letters/{by_hand}")
    steps = page.get_by_role("region", name="What happened").get_by_role("listitem")
    escalated, resolved = (steps.filter(has=page.locator("strong", has_text=turn)) for turn in ("Escalated", "Resolved"))
    expect(escalated).to_contain_text("for the lawyers")
    assert server.post(f"/v1/letters/{by_hand}/resolve", {"why": "they settled"}).status == 200
    expect(resolved).to_contain_text("they settled")
    expect(escalated).not_to_contain_text("they settled")
    shop.mend("bug")
    server.post("/v1/replays", {"ids": [replayed], "dry_run": False})
    page = one.open(f"letters/{replayed}")
    expect(resolved).to_contain_text("replayed")
    expect(resolved).not_to_contain_text("for the lawyers")
    expect(escalated).to_contain_text("for the lawyers")
