"""What somebody has chosen or begun to write stays theirs: whatever arrives, and over a reload."""
from playwright.sync_api import expect

import world

PAGE = 50


def choose_all(page):
    expect(page.locator("[data-letter]")).to_have_count(PAGE)
    page.get_by_label("Choose all on this page").check()
    page.get_by_role("button", name="Choose all that match").click()
    expect(page.get_by_text("All that match", exact=True)).to_be_visible()


def sixty_chosen(lot, tab):
    server = lot()
    world.push(server, "prompts", "model", 60)
    server.drained("prompts")
    page = tab(server).open("letters?category=model_gone")
    choose_all(page)
    return server, page


def arrive(server, page, start):
    """One more letter, which the page shows."""
    world.push(server, "prompts", "model", 1, start=start)
    expect(page.get_by_label(f"Choose prompts-model-{start}", exact=True)).to_be_visible()


def test_all_that_match_stay_chosen_when_a_letter_arrives(lot, tab):
    server, page = sixty_chosen(lot, tab)
    arrive(server, page, 100)
    expect(page.get_by_text("All that match", exact=True)).to_be_visible()
    expect(page.get_by_label("Choose prompts-model-100", exact=True)).to_be_checked()
    page.get_by_role("button", name="Resolve…").click()
    expect(page.get_by_role("heading", name="Resolve 61 letters")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_label("Choose prompts-model-100", exact=True).uncheck()
    expect(page.get_by_text(f"{PAGE - 1} chosen")).to_be_visible()
    page.get_by_label("Choose prompts-model-100", exact=True).check()
    page.get_by_role("button", name="Choose all that match").click()
    page.get_by_label("Category").select_option("bug")
    expect(page.get_by_text("No letter matches")).to_be_visible()
    expect(page.get_by_role("toolbar")).to_have_count(0)


def test_what_arrives_behind_the_dry_run_is_not_touched(lot, tab):
    server, page = sixty_chosen(lot, tab)
    page.get_by_role("button", name="Resolve…").click()
    expect(page.get_by_role("heading", name="Resolve 60 letters")).to_be_visible()
    arrive(server, page, 100)
    expect(page.get_by_role("heading", name="Resolve 60 letters")).to_be_visible()
    page.get_by_label("Why").fill("seen and settled")
    page.get_by_role("button", name="Resolve 60 letters").click()
    expect(page.get_by_text("60 letters resolved.")).to_be_visible()
    expect(page.locator("[data-letter]")).to_have_count(1)
    assert server.message("prompts-model-100")["state"] == "pending_review"


def test_what_arrives_behind_the_dry_run_is_not_replayed(lot, tab, shop):
    server = lot()
    world.push(server, "prompts", "model", 5)
    server.drained("prompts")
    for fragment, start in (("error_type=ModelNotFound", 100), ("all=yes", 101)):
        page = tab(server).open(f"replays/new?{fragment}")
        left = len(server.letters("prompts.dlq"))
        begin = page.get_by_role("button", name=f"Start: send {left} letter")
        expect(begin).to_be_enabled()
        world.push(server, "prompts", "model", 1, start=start)
        server.drained("prompts")
        shop.mend("model")
        begin.click()
        expect(page.get_by_role("status").filter(has_text="done")).to_be_visible()
        assert server.message(f"prompts-model-{start}")["state"] == "pending_review"
        shop.mended.clear()
    assert server.dlq("prompts.dlq")["depth"] == 1


def test_every_letter_can_be_replayed(lot, tab):
    server = lot()
    world.push(server, "prompts", "model", 55)
    server.drained("prompts")
    page = tab(server).open("letters")
    page.get_by_label("Choose all on this page").check()
    page.get_by_role("button", name="Choose all that match").click()
    expect(page.get_by_text("Every letter", exact=True)).to_be_visible()
    page.get_by_role("button", name="Replay…").click()
    expect(page.get_by_text("55 letters would be sent")).to_be_visible()


def test_ticks_survive_a_reload_and_a_look_at_a_letter(lot, tab):
    server = lot()
    world.push(server, "prompts", "model", 60)
    server.drained("prompts")
    page = tab(server).open("letters")
    page.get_by_label("Choose prompts-model-59", exact=True).check()
    page.get_by_label("Choose prompts-model-58", exact=True).check()
    page.reload()
    expect(page.get_by_text("2 chosen")).to_be_visible()
    expect(page.get_by_label("Choose prompts-model-58", exact=True)).to_be_checked()
    page.locator("[data-letter]").first.click()
    expect(page.get_by_text("What happened")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("2 chosen")).to_be_visible()
    page.get_by_role("button", name="Choose none").click()
    page = tab(server).open("letters?category=model_gone")
    choose_all(page)
    page.reload()
    expect(page.get_by_text("All that match", exact=True)).to_be_visible()
    page.get_by_role("button", name="Resolve…").click()
    page.get_by_label("Why").fill("gone for good")
    page.get_by_role("button", name="Resolve 60 letters").click()
    expect(page.get_by_text("No letter matches")).to_be_visible()
    page.reload()
    expect(page.get_by_text("No letter matches")).to_be_visible()
    expect(page.get_by_role("toolbar")).to_have_count(0)


def test_a_reason_half_written_survives_a_reload_and_goes_when_it_is_sent(lot, tab):
    server = lot()
    world.push(server, "orders", "bug", 2)
    server.drained("orders")
    letter = server.letters("orders.dlq")[0]["id"]
    page = tab(server).open(f"letters/{letter}")
    page.get_by_role("button", name="Resolve…").click()
    page.get_by_label("Why").fill("mended in the data")
    page.reload()
    page.get_by_role("button", name="Resolve…").click()
    expect(page.get_by_label("Why")).to_have_value("mended in the data")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Resolve…").click()
    expect(page.get_by_label("Why")).to_have_value("")
    page.keyboard.press("Escape")
    page.goto(f"{server.url}/#/queues")
    page.get_by_role("button", name="Pause orders").click()
    page.get_by_label("Why").fill("deploying")
    page.reload()
    page.get_by_role("button", name="Pause orders").click()
    expect(page.get_by_label("Why")).to_have_value("deploying")
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Resume orders").click()
    expect(page.get_by_label("Why")).to_have_value("")
    assert server.queue("orders")["why"].endswith("deploying")


def test_a_note_half_written_survives_a_reload_and_goes_when_it_is_saved(lot, tab):
    server = lot()
    world.push(server, "orders", "bug", 2)
    server.drained("orders")
    fingerprint = server.letters("orders.dlq")[0]["failure"]["fingerprint"]
    page = tab(server).open(f"groups?group={fingerprint}")
    written = {"Note": "see ticket 42", "Owner": "team-orders", "Why": "we know"}
    for label, text in written.items():
        page.get_by_label(label).fill(text)
    page.reload()
    for label, text in written.items():
        expect(page.get_by_label(label)).to_have_value(text)
    page.get_by_role("button", name="Save note and owner").click()
    expect(page.get_by_text("“see ticket 42”")).to_be_visible()
    bob = {"Impound-Actor": "bob"}
    assert server.request("PATCH", f"/v1/groups/{fingerprint}", {"note": "bob has it"}, bob).status == 200
    page.reload()
    expect(page.get_by_label("Note")).to_have_value("bob has it")
    expect(page.get_by_label("Why")).to_have_value("we know")
    page.get_by_role("button", name="Mute", exact=True).click()
    expect(page.get_by_label("Why")).to_have_value("")
