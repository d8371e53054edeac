"""The pictures of docs/guide, taken anew by every run and compared with those in the tree, so that they stay true: one
that shows something else is a failure, whatever the machine's fonts. A test run never writes into the tree. Only
`make pictures` (TAKE_PICTURES=1) replaces those that look different; ids and durations differ every time, and a picture
that differs in nothing else is left as it is."""
import base64
import datetime
import os
import re

import pytest

from conftest import ROOT
from harness import eventually
from pages import photograph, show
from week import WEEK_PAGES, passed

GUIDE = os.path.join(ROOT, "docs", "guide")
FOLDER = os.path.join(GUIDE, "pictures")
# The part of its pixels by which a picture may differ and still show the same page; a replay is a list of ids.
SAME = 0.005
SAME_OF_IDS = {"replay-dark": 0.02}
# Other fonts, or another Chromium, draw every letter a little differently; another page differs in most of its lines.
ANOTHER = 0.4
TALLEST = 1600
NOW = datetime.datetime(2026, 11, 12, 21, 42, tzinfo=datetime.timezone.utc)
DIFFERENCE = """async pictures => {
  const bitmaps = await Promise.all(pictures.map(async (picture) =>
    createImageBitmap(await (await fetch(`data:image/png;base64,${picture}`)).blob())));
  const width = Math.min(...bitmaps.map((bitmap) => bitmap.width)), height = Math.min(...bitmaps.map((bitmap) => bitmap.height));
  const [before, after] = bitmaps.map((bitmap) => {
    const drawn = new OffscreenCanvas(width, height).getContext("2d");
    drawn.drawImage(bitmap, 0, 0);
    return drawn.getImageData(0, 0, width, height).data;
  });
  let differ = 0;
  for (let at = 0; at < after.length; at += 4)
    if ([0, 1, 2].some((colour) => Math.abs(before[at + colour] - after[at + colour]) > 24)) differ++;
  const sized = bitmaps.every((bitmap) => bitmap.width === width && bitmap.height === height);
  return [differ / (width * height), sized];
}"""


def named():
    """The pictures that the guide shows."""
    with open(os.path.join(GUIDE, "README.md"), encoding="utf-8") as text:
        return re.findall(r"\(pictures/([^)]+)\.png\)", text.read())


@pytest.fixture(scope="module")
def week(tmp_path_factory):
    with passed(tmp_path_factory.mktemp("week"), NOW) as server:
        yield server


def difference(browser, before, after):
    """Of the part that both have, the share of pixels that differ; and whether there is no other part."""
    page = browser.new_page()
    try:
        return page.evaluate(DIFFERENCE, [base64.b64encode(picture).decode() for picture in (before, after)])
    finally:
        page.close()


def at_rest(page):
    """Its picture, when nothing that it asked for is still to come: two in a row are the same."""
    pictures = [b""]

    def same():
        pictures.append(photograph(page, TALLEST))
        return pictures[-1] == pictures[-2]

    eventually(same, "the page is at rest")
    return pictures[-1]


def keep(browser, folder, name, picture, take):
    """Compares it with the one in the folder; with `take` one that looks different is replaced."""
    path = os.path.join(folder, f"{name}.png")
    differs, sized = 1, False
    if os.path.exists(path):
        with open(path, "rb") as file:
            differs, sized = difference(browser, file.read(), picture)
    if not take:
        assert differs < ANOTHER, f"{name} differs in {differs:.2%} of its pixels: run make pictures, look, commit"
    elif not sized or differs > SAME_OF_IDS.get(name, SAME):
        with open(path, "wb") as file:
            file.write(picture)


@pytest.mark.parametrize("name", named())
def test_a_picture_of_the_guide_is_taken(browser, tab, week, name):
    page_name, theme = name.rsplit("-", 1)
    assert page_name in WEEK_PAGES and theme in ("light", "dark"), f"nobody knows how to take {name}"
    one = tab(week, color_scheme=theme)
    one.page.clock.set_fixed_time(NOW)
    week.at(NOW)
    page = show(one, page_name, week, WEEK_PAGES)
    page.evaluate("document.fonts.ready")
    keep(browser, FOLDER, name, at_rest(page), os.environ.get("TAKE_PICTURES") == "1")


def test_a_picture_is_replaced_only_when_that_was_asked_for(browser, tmp_path):
    page = browser.new_page()
    page.set_content("<body style='background: white'>")
    white = page.screenshot()
    page.set_content("<body style='background: white'><div style='background: black; width: 20vw; height: 20vh'></div>")
    some = page.screenshot()
    page.set_content("<body style='background: black'>")
    black = page.screenshot()
    page.close()
    kept = tmp_path / "a.png"
    kept.write_bytes(white)
    keep(browser, tmp_path, "a", some, take=False)
    with pytest.raises(AssertionError, match="make pictures"):
        keep(browser, tmp_path, "a", black, take=False)
    assert kept.read_bytes() == white and os.listdir(tmp_path) == ["a.png"]
    keep(browser, tmp_path, "a", black, take=True)
    assert kept.read_bytes() == black


def test_the_guide_shows_all_pictures_that_there_are():
    assert len(named()) == len(set(named()))
    assert {f"{name}.png" for name in named()} == set(os.listdir(FOLDER))
