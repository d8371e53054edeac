"""What may be set and pressed on a page besides its main way: options of a plan, actions of a group, rarer filters, colours."""
import re

from playwright.sync_api import expect

import world
from harness import eventually


def with_letters(lot, **kinds):
    server = lot()
    for kind, count in kinds.items():
        world.push(server, "prompts", kind, count)
        server.drained("prompts")
    return server


def group_of(server, error_type):
    return next(one for one in server.get("/v1/groups", state="open,muted,resolved").json["groups"]
                if one["error_type"] == error_type)


def open_group(page, error_type):
    page.get_by_role("row", name=error_type).get_by_role("button").click()
    return page.get_by_role("region", name=error_type)


def decide(page, what, count):
    page.get_by_label("Why").last.fill("seen and settled")
    page.get_by_role("dialog").get_by_role("button", name=f"{what} {count} letters").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_options_of_a_plan_are_those_of_the_replay(lot, tab):
    server = with_letters(lot, model=6)
    page = tab(server).open("replays/new?error_type=ModelNotFound")
    expect(page.get_by_text("6 letters would be sent at 50/s")).to_be_visible()
    page.get_by_label("At most, the oldest").fill("2")
    page.get_by_label("At most, the oldest").press("Tab")
    page.get_by_role("combobox", name="Rate").select_option("10/s")
    page.get_by_role("combobox", name=re.compile("^To")).select_option("orders")
    page.get_by_label("Canary:").uncheck()
    page.get_by_label("Ramp up to the rate").uncheck()
    page.get_by_label("Send stale letters too").check()
    expect(page.get_by_text("2 letters would be sent at 10/s")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="2 to orders")).to_be_visible()
    page.get_by_role("button", name="Start: send 2 letters").click()
    expect(page.get_by_text("The replay is started.")).to_be_visible()
    replay = server.get("/v1/replays").json["replays"][0]
    assert [replay[name] for name in ("limit", "rate", "to", "canary", "ramp", "stale", "selected")] == [
        2, "10/s", "orders", [], False, "send", 2]


def test_a_group_is_opened_again(lot, tab):
    server = with_letters(lot, model=2)
    page = tab(server).open("groups")
    panel = open_group(page, "ModelNotFound")
    panel.get_by_role("button", name="Mute").click()
    expect(panel.get_by_text("muted", exact=True)).to_be_visible()
    assert group_of(server, "ModelNotFound")["state"] == "muted"
    panel.get_by_role("button", name="Open again").click()
    expect(panel.get_by_text("open", exact=True)).to_be_visible()
    assert group_of(server, "ModelNotFound")["state"] == "open"


def test_letters_of_a_group_are_resolved_discarded_and_planned_together(lot, tab):
    server = with_letters(lot, model=3, policy=4, stock=2)
    page = tab(server).open("groups")
    panel = open_group(page, "ModelNotFound")
    panel.get_by_role("button", name="Resolve letters…").click()
    decide(page, "Resolve", 3)
    panel = open_group(page, "ContentPolicy")
    panel.get_by_role("button", name="Discard…").click()
    decide(page, "Discard", 4)
    states = [server.message(f"prompts-{kind}-{n}")["state"] for kind, count in (("model", 3), ("policy", 4)) for n in range(count)]
    assert states == ["resolved"] * 3 + ["discarded"] * 4
    open_group(page, "OutOfStock").get_by_role("link", name="Replay…").click()
    expect(page.get_by_text("2 letters would be sent")).to_be_visible()


def test_letters_are_found_by_attempts_and_by_when_they_died(lot, tab):
    server = with_letters(lot, model=3, busy=2)
    page = tab(server).open("letters")
    expect(page.locator("[data-letter]")).to_have_count(5)
    page.get_by_role("button", name="More").click()
    page.get_by_label("Attempts at least").fill("3")
    page.get_by_label("Attempts at least").press("Enter")
    expect(page.locator("[data-letter]")).to_have_count(2)
    expect(page).to_have_url(re.compile("min_attempts=3"))
    page.get_by_label("Attempts at least").fill("")
    page.get_by_label("Dead until").fill("1h")
    page.get_by_label("Dead until").press("Enter")
    expect(page.get_by_text("No letter matches")).to_be_visible()
    expect(page).to_have_url(re.compile("until=1h"))


def test_colours_are_chosen_and_stay(lot, tab):
    page = tab(lot(), color_scheme="light").open("letters")
    ground = "getComputedStyle(document.body).color"
    light = page.evaluate(ground)
    page.get_by_title("Name, colours and clock").click()
    page.get_by_role("group", name="Colours").get_by_role("button", name="dark").click()
    dark = eventually(lambda: page.evaluate(ground) if page.evaluate(ground) != light else None, "the page is dark")
    page.reload()
    expect(page.get_by_role("heading", name="Letters")).to_be_visible()
    assert page.evaluate(ground) == dark


def test_the_first_key_skips_to_the_page_and_backspace_goes_back(lot, tab):
    server = with_letters(lot, model=1)
    page = tab(server).open("letters")
    expect(page.locator("[data-letter]")).to_have_count(1)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.locator("[data-letter]").first.click()
    expect(page.get_by_role("heading", name="ModelNotFound")).to_be_visible()
    page.keyboard.press("Backspace")
    expect(page.get_by_role("heading", name="Letters")).to_be_visible()
