"""The pictures of docs/guide, taken anew by every run, so that they stay true. One that looks as it did is left as it is:
ids and times differ every time, and a picture that differs in nothing else is no change."""
import base64
import os
import re

import pytest
from playwright.sync_api import expect

import world
from conftest import ROOT
from pages import PAGES, show

GUIDE = os.path.join(ROOT, "docs", "guide")
FOLDER = os.path.join(GUIDE, "pictures")
# The part of its pixels by which a picture may differ and still show the same page.
SAME = 0.02
DIFFERENCE = """async pictures => {
  const [before, after] = await Promise.all(pictures.map(async (picture) => {
    const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${picture}`)).blob());
    const drawn = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    drawn.drawImage(bitmap, 0, 0);
    return drawn.getImageData(0, 0, bitmap.width, bitmap.height);
  }));
  if (before.width !== after.width || before.height !== after.height) return 1;
  let differ = 0;
  for (let at = 0; at < after.data.length; at += 4)
    if ([0, 1, 2].some((colour) => Math.abs(before.data[at + colour] - after.data[at + colour]) > 24)) differ++;
  return differ / (after.width * after.height);
}"""


def named():
    """The pictures that the guide shows."""
    with open(os.path.join(GUIDE, "README.md"), encoding="utf-8") as text:
        return re.findall(r"\(pictures/([^)]+)\.png\)", text.read())


def a_replay_that_stopped_itself(one):
    world.push(one.server, "prompts", "model", 60)
    one.server.drained("prompts")
    page = one.open("replays/new?error_type=ModelNotFound")
    page.get_by_role("button", name="Start: send 60 letters").click()
    expect(page.get_by_role("status").filter(has_text="aborted")).to_be_visible()
    expect(page.get_by_text("failed again").first).to_be_visible()
    page.get_by_role("button", name="Dismiss").click()
    return page


def difference(browser, before, after):
    page = browser.new_page()
    try:
        return page.evaluate(DIFFERENCE, [base64.b64encode(picture).decode() for picture in (before, after)])
    finally:
        page.close()


def keep(browser, name, picture):
    path = os.path.join(FOLDER, f"{name}.png")
    if os.path.exists(path):
        with open(path, "rb") as file:
            if difference(browser, file.read(), picture) < SAME:
                return
    with open(path, "wb") as file:
        file.write(picture)


@pytest.mark.parametrize("name", named())
def test_a_picture_of_the_guide_is_taken(browser, tab, full, lot, name):
    page_name, theme = name.rsplit("-", 1)
    assert page_name in {*PAGES, "replay"} and theme in ("light", "dark"), f"nobody knows how to take {name}"
    if page_name == "replay":
        page = a_replay_that_stopped_itself(tab(lot(), color_scheme=theme))
    else:
        page = show(tab(full, color_scheme=theme), page_name, full)
    page.evaluate("document.fonts.ready")
    keep(browser, name, page.screenshot())


def test_the_guide_shows_all_pictures_that_there_are():
    assert len(named()) == len(set(named()))
    assert {f"{name}.png" for name in named()} == set(os.listdir(FOLDER))
