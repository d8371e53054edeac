"""Every page, light and dark, wide and on a phone: it shows what the server has, axe finds nothing serious, nothing
comes from another host. With PICTURES=FOLDER all of them are photographed there, for whoever wants to look at them."""
import json
import os

import pytest
from playwright.sync_api import expect

from conftest import LOOKS
from pages import PAGES, a_letter, check, show


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_is_accessible_and_fits(full, tab, look):
    one = tab(full, **LOOKS[look])
    for name in PAGES:
        check(show(one, name, full), name, look)


def test_the_overview_says_what_the_server_says(full, tab):
    page = show(tab(full), "overview", full)
    dlqs = full.get("/v1/dlqs").json["dlqs"]
    dead = sum(one["depth"] for one in dlqs)
    expect(page.locator("a.tile", has_text="dead letters")).to_contain_text(str(dead))
    for dlq in dlqs:
        row = page.get_by_role("row").filter(has=page.get_by_role("link", name=dlq["dlq"], exact=True))
        expect(row).to_contain_text(str(dlq["depth"]))
        expect(row.get_by_role("img")).to_have_attribute("aria-label", f"{dlq['depth']:,} of {dlq['cap']:,}, the cap; alerts above "
                                                         "0 (warning), 100 (critical)")
    arrivals = full.get("/v1/arrivals", window="24h").json
    page.get_by_role("button", name="24h").click()
    chart = page.get_by_role("img", name=f"{sum(map(sum, arrivals['categories'].values()))} letters arrived in 24h")
    expect(chart).to_be_visible()
    assert "window=24h" in page.url, "the choice is in the address"
    page.get_by_role("link", name="missing_key").first.click()
    expect(page.get_by_text("KeyError").first).to_be_visible()
    assert "reason=missing_key" in page.url


def test_an_empty_list_says_so_in_the_middle_of_its_card(full, tab):
    card = tab(full).open("letters?q=zzzz").get_by_role("region", name="Letters")
    title = card.get_by_text("No letter matches")
    expect(title).to_be_visible()
    middle_of_title, middle_of_card = (box["x"] + box["width"] / 2 for box in (title.bounding_box(), card.bounding_box()))
    assert abs(middle_of_title - middle_of_card) < 1
    expect(card.locator("footer")).to_have_count(0)


def test_no_reason_has_the_colour_of_a_category(full, tab):
    page = show(tab(full), "overview", full)
    colours = "dots => dots.map(dot => getComputedStyle(dot).backgroundColor)"
    reasons = page.get_by_role("region", name="Top reasons").locator("li .dot").evaluate_all(colours)
    categories = page.get_by_role("region", name="Arrivals").locator(".category i").evaluate_all(colours)
    assert len(set(reasons)) == len(reasons) > 1 and len(categories) > 1
    assert not set(reasons) & set(categories)


def test_the_page_is_small_strict_and_cached(full):
    page = full.get("/")
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    assert page.headers["Cache-Control"] == "no-cache"
    names = [part.split('"')[0] for part in page.body.decode().split("./assets/")[1:]]
    assert any(name.endswith(".js") for name in names) and any(name.endswith(".css") for name in names)
    todo, seen, total = list(names), set(), 0
    types = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
    while todo:
        name = todo.pop()
        seen.add(name)
        packed = full.request("GET", f"/assets/{name}", headers={"Accept-Encoding": "br, gzip;q=0.5"})
        plain = full.request("GET", f"/assets/{name}", headers={"Accept-Encoding": "gzip;q=0, identity"})
        assert packed.headers["Content-Encoding"] == "gzip" and "Content-Encoding" not in plain.headers
        assert packed.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert packed.headers["Content-Type"] == types[os.path.splitext(name)[1]]
        total += len(packed.body)
        text = plain.body.decode()
        todo += [other for other in (part.split('"')[0] for part in text.split('"./')[1:])
                 if other.endswith((".js", ".css")) and other not in seen | set(todo)]
    assert len(seen) >= 3, "the charts come as a part of their own"
    assert total < 250 * 1024, total
    etag = page.headers["ETag"]
    again = full.request("GET", "/", headers={"If-None-Match": f'"other", {etag}'})
    assert (again.status, again.body) == (304, b"")
    assert full.get("/assets/nothing.js").status == 404


def test_the_address_bar_holds_the_filters(full, tab):
    one = tab(full)
    page = one.open("letters")
    page.get_by_label("DLQ", exact=True).select_option("orders.dlq")
    page.get_by_label("Category").select_option("bug")
    expect(page.get_by_text("'pin' is missing in order 3")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("order 3")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 letter on this page")).to_be_visible()
    link = page.url
    other = tab(full, actor="bob").page
    other.goto(link)
    expect(other.get_by_text("1 letter on this page")).to_be_visible()
    expect(other.get_by_label("Search in errors")).to_have_value("order 3")
    other.reload()
    expect(other.get_by_label("Category")).to_have_value("bug")


def test_pages_follow_one_another_by_their_keys(full, tab):
    one = tab(full)
    page = one.open("letters?dlq=prompts.dlq")
    seen = []
    while True:
        expect(page.locator("[data-letter]").first).to_be_visible()
        seen += page.locator("[data-letter]").evaluate_all("list => list.map(a => a.dataset.letter)")
        older = page.get_by_role("link", name="Older")
        if not older.count():
            break
        first = page.locator("[data-letter]").first.get_attribute("data-letter")
        older.click()
        expect(page.locator(f'[data-letter="{first}"]')).to_have_count(0)
    assert len(seen) == len(set(seen)) == full.dlq("prompts.dlq")["depth"]
    page.go_back()
    page.go_back()
    expect(page.locator(f'[data-letter="{seen[0]}"]')).to_be_visible()


def test_times_are_local_or_utc(full, tab):
    letter = a_letter(full, q="BAD")
    page = tab(full).open(f"letters/{letter['id']}")
    here = page.evaluate("at => new Date(at).toLocaleTimeString('en-GB')", letter["dead_at"])
    expect(page.get_by_text(here).first).to_be_visible()
    page.get_by_role("button", name="ada").click()
    page.get_by_role("button", name="UTC").click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text(letter["dead_at"][11:23] + " UTC").first).to_be_visible()
    page.reload()
    expect(page.get_by_text(letter["dead_at"][11:23] + " UTC").first).to_be_visible()


def test_numbers_that_a_browser_cannot_hold_are_shown_as_they_are(full, tab):
    letter = a_letter(full, q="the model", where='.message.id == "prompts-model-0"')
    page = tab(full).open(f"letters/{letter['id']}")
    expect(page.get_by_text("9007199254740993")).to_be_visible()


def test_a_page_that_is_not_there_says_so(full, tab):
    page = tab(full).open("letters/nothing")
    expect(page.get_by_role("alert")).to_contain_text('impound holds no letter "nothing"')
    page = tab(full).open("letters?where=.(")
    expect(page.get_by_role("alert")).to_contain_text("where")


def test_exported_letters_are_those_that_match(full, tab):
    page = tab(full).open("letters?category=bug")
    expect(page.locator("[data-letter]").first).to_be_visible()
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_role("heading", name="Export 15 letters")).to_be_visible()
    page.get_by_label("Compress with zstd").uncheck()
    with page.expect_download() as caught:
        page.get_by_role("button", name="Download").click()
    with open(caught.value.path(), encoding="utf-8") as file:
        letters = [json.loads(line) for line in file]
    assert len(letters) == 15 and {letter["category"] for letter in letters} == {"bug"}
