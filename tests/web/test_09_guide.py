"""The pictures of docs/guide, taken anew by every run, so that they stay true. One that looks as it did is left as it is:
ids and durations differ every time, and a picture that differs in nothing else is no change. Where CI=true one that
shows something else is a failure, whatever the machine's fonts; elsewhere one that looks different takes the place of
the old one."""
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


def keep(browser, name, picture):
    path = os.path.join(FOLDER, f"{name}.png")
    differs, sized = 1, False
    if os.path.exists(path):
        with open(path, "rb") as file:
            differs, sized = difference(browser, file.read(), picture)
    if os.environ.get("CI") == "true":
        assert differs < ANOTHER, (
            f"{name} differs in {differs:.2%} of its pixels: run tools/web_test.sh tests/web/test_09_guide.py, look, commit")
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
    keep(browser, name, at_rest(page))


def test_the_guide_shows_all_pictures_that_there_are():
    assert len(named()) == len(set(named()))
    assert {f"{name}.png" for name in named()} == set(os.listdir(FOLDER))
