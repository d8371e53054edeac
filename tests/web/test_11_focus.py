"""The keys act where the focus is, whatever arrives meanwhile; and the focus goes to what somebody asked to see."""
from playwright.sync_api import expect

import world
from conftest import LOOKS
from pages import go


def listed(lot, tab, count):
    """A page of letters, or the first of them."""
    server = lot()
    world.push(server, "prompts", "model", count)
    server.drained("prompts")
    page = tab(server).open("letters")
    rows = page.locator("[data-letter]")
    expect(rows).to_have_count(min(count, 50))
    return server, page, rows


def test_keys_act_on_the_letter_in_focus_when_another_arrives(lot, tab):
    server, page, rows = listed(lot, tab, 3)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(rows.nth(1)).to_be_focused()
    world.push(server, "prompts", "model", 1, start=100)
    expect(rows).to_have_count(4)
    expect(rows.nth(2)).to_be_focused()
    page.keyboard.press("x")
    expect(page.get_by_text("1 chosen")).to_be_visible()
    expect(page.locator("tbody tr").nth(2).get_by_role("checkbox")).to_be_checked()
    page.keyboard.press("j")
    expect(rows.nth(3)).to_be_focused()


def test_keys_act_on_the_letter_that_was_gone_to_with_tab(lot, tab):
    _, page, rows = listed(lot, tab, 3)
    page.keyboard.press("j")
    page.keyboard.press("Tab")
    page.keyboard.press("x")
    expect(page.locator("tbody tr").nth(1).get_by_role("checkbox")).to_be_checked()
    page.keyboard.press("j")
    expect(rows.nth(2)).to_be_focused()


def test_the_keys_start_at_the_top_of_an_older_page(lot, tab):
    _, page, rows = listed(lot, tab, 60)
    for _ in range(3):
        page.keyboard.press("j")
    expect(rows.nth(2)).to_be_focused()
    page.get_by_role("link", name="Older").click()
    expect(rows).to_have_count(10)
    page.keyboard.press("j")
    expect(rows.nth(0)).to_be_focused()


def test_back_from_a_letter_the_keys_go_on_where_they_were(lot, tab):
    _, page, rows = listed(lot, tab, 4)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_text("What happened")).to_be_visible()
    page.go_back()
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("j")
    expect(rows.nth(2)).to_be_focused()


def test_when_the_letter_in_focus_goes_the_keys_go_on_with_the_next(lot, tab):
    server, page, rows = listed(lot, tab, 4)
    page.keyboard.press("j")
    page.keyboard.press("j")
    gone, after = (rows.nth(place).get_attribute("data-letter") for place in (1, 2))
    assert server.post(f"/v1/letters/{gone}/resolve", {"why": "by hand"}).status == 200
    expect(rows).to_have_count(3)
    page.keyboard.press("j")
    expect(page.locator(f'[data-letter="{after}"]')).to_be_focused()


def test_keys_go_on_from_the_group_in_focus_when_another_arrives(lot, tab):
    server = lot()
    for task, error in [("a0", "Bent"), ("a1", "Bent"), ("b0", "Torn")]:
        world.report(server, task, error, "wrong")
    page = tab(server).open("groups")
    groups = page.locator("[data-group]")
    expect(groups).to_have_count(2)
    page.keyboard.press("j")
    expect(groups.nth(0)).to_contain_text("Bent")
    for n in range(3):
        world.report(server, f"c{n}", "Wet", "wrong")
    expect(groups.nth(0)).to_contain_text("Wet")
    page.keyboard.press("j")
    expect(groups.nth(2)).to_be_focused()


def test_another_page_takes_the_focus_and_says_its_name(lot, tab):
    _, page, rows = listed(lot, tab, 1)
    main = page.get_by_role("main")
    expect(page.locator("body")).to_be_focused()
    page.get_by_role("link", name="Queues").click()
    expect(main).to_be_focused()
    expect(main).to_have_accessible_name("Queues")
    go(page, "l")
    expect(rows).to_have_count(1)
    expect(main).to_be_focused()
    rows.click()
    expect(main).to_have_accessible_name("ModelNotFound: prompts-model-0")
    expect(main).to_be_focused()


def groups_page(lot, tab, **look):
    """Fifty causes, and the place of one far down."""
    server = lot()
    for n in range(50):
        world.report(server, f"task-{n}", f"Type{chr(ord('A') + n // 26)}{chr(ord('A') + n % 26)}", "wrong")
    page = tab(server, **look).open("groups")
    groups = page.locator("[data-group]")
    expect(groups).to_have_count(50)
    return page, groups.nth(45)


def test_a_group_far_down_opens_in_sight(lot, tab):
    page, group = groups_page(lot, tab)
    group.click()
    panel = page.get_by_role("region", name="Type")
    for part in (panel.get_by_role("heading"), panel.get_by_role("button", name="Save note and owner"), group):
        expect(part).to_be_in_viewport(ratio=1)
    expect(group).to_be_focused()
    page.get_by_role("button", name="Close the group").click()
    group.press("Enter")
    expect(panel.get_by_role("heading")).to_be_focused()
    expect(panel.get_by_role("heading")).to_be_in_viewport(ratio=1)


def test_on_a_phone_a_group_that_is_opened_is_gone_to_and_come_back_from(lot, tab):
    page, group = groups_page(lot, tab, **LOOKS["phone"])
    group.tap()
    heading = page.get_by_role("region", name="Type").get_by_role("heading")
    expect(heading).to_be_focused()
    expect(heading).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Close the group").tap()
    expect(group).to_be_focused()
    expect(group).to_be_in_viewport(ratio=1)
