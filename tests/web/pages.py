"""Every page of the dashboard: where it is, and what must be there when it is shown; and what axe says of it."""
import datetime
import os

from playwright.sync_api import expect

HERE = os.path.dirname(os.path.abspath(__file__))
AXE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "web", "node_modules", "axe-core", "axe.min.js")
PICTURES = os.environ.get("PICTURES")


def a_letter(server, **filters):
    return server.page("/v1/letters", limit=1, **filters)["letters"][0]


# page → (fragment, what must be there)
PAGES = {
    "overview": ("overview", "Dead-letter queues"),
    "letters": ("letters", "the prompt was refused"),
    "letter": (lambda server: f"letters/{a_letter(server, q='BAD')['id']}", "What happened"),
    "groups": ("groups", "the model m1 is gone"),
    "group": (lambda server: f"groups?group={a_letter(server, error_type='ModelNotFound')['failure']['fingerprint']}",
              "Make a rule"),
    "replays": ("replays", "Nothing was replayed yet"),
    "plan": ("replays/new?error_type=ModelNotFound&edit=.model%20%3D%20%22m2%22", "would be sent"),
    "queues": ("queues", "prompts"),
    "alerts": ("alerts", "DLQNewGroup"),
    "audit": ("audit", "Nobody changed anything yet"),
}


def show(tab, name, server, pages=None):
    fragment, text = (pages or PAGES)[name]
    page = tab.open(fragment(server) if callable(fragment) else fragment)
    expect(page.get_by_text(text).first).to_be_visible()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    if name == "overview":
        page.locator("canvas").first.wait_for()
    return page


def go(page, key):
    """By the keys g and this one; for the page no time passes between the two."""
    page.clock.set_fixed_time(datetime.datetime.now())
    page.keyboard.press("g")
    page.keyboard.press(key)


def axe(page):
    """What axe calls serious or critical."""
    with open(AXE, encoding="utf-8") as source:
        page.evaluate(source.read() + "; undefined")
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [(one["id"], one["nodes"][0]["html"], one["nodes"][0].get("failureSummary")) for one in found["violations"]
            if one["impact"] in ("serious", "critical")]


def photograph(page, tallest=None, **more):
    """All of a page, or its first `tallest` pixels, in a window of that height: what keeps to the window's edges does so."""
    window = page.viewport_size
    height = max(window["height"], page.evaluate("document.documentElement.scrollHeight"))
    page.set_viewport_size({**window, "height": min(height, tallest or height)})
    picture = page.screenshot(**more)
    page.set_viewport_size(window)
    return picture


def check(page, name, look, whole=True):
    """It is accessible, and no wider than its window. With PICTURES=FOLDER it is photographed there, as a `whole` or as
    much as the window shows."""
    if PICTURES:
        photograph(page, None if whole else page.viewport_size["height"], path=os.path.join(PICTURES, f"{name}-{look}.png"))
    assert axe(page) == [], name
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than its window"
