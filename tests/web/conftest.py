import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tests", "e2e"), HERE]

from playwright.sync_api import expect, sync_playwright  # noqa: E402

import world  # noqa: E402
from folder import fixture_tmp_path, pytest_runtest_makereport  # noqa: E402,F401  pylint: disable=unused-import
from harness import PATIENCE_S, Server, eventually  # noqa: E402

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
WIDE = {"width": 1360, "height": 900}
expect.set_options(timeout=PATIENCE_S * 1000)
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
LOOKS = {"light": {"color_scheme": "light"}, "dark": {"color_scheme": "dark"}, "phone": PHONE,
         "phone-dark": {**PHONE, "color_scheme": "dark"}}

# A notice is shown for 6 s, in which a slow machine may not look at the page once.
NOTICES_STAY = """(later => {
    window.setTimeout = (run, ms, ...more) => ms === 6000 ? 0 : later(run, ms, ...more);
})(window.setTimeout)"""


@pytest.fixture(scope="session", autouse=True)
def built(tmp_path_factory):
    """A build without npm serves a plain page: then there is nothing to test."""
    server = Server(tmp_path_factory.mktemp("built"), {"idle": {"handler": {"http": "http://127.0.0.1:9/"}}}).start()
    page = server.get("/").body
    server.stop()
    if b"/assets/" not in page and os.environ.get("CI") != "true":
        pytest.skip("the server was built without the dashboard")
    assert b"/assets/" in page


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


class Tab:
    """A page of the dashboard in a browser of its own, which notes everything that should not happen."""

    def __init__(self, browser, server, actor, **more):
        self.context = browser.new_context(viewport=more.pop("viewport", WIDE), timezone_id="Asia/Kolkata", **more)
        self.context.set_default_timeout(PATIENCE_S * 1000)
        self.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.context.add_init_script(NOTICES_STAY)
        if actor:
            self.context.add_init_script(
                f"localStorage.getItem('impound.settings') ?? localStorage.setItem('impound.settings', '{{\"actor\":\"{actor}\"}}')")
        self.page = self.context.new_page()
        self.server = server
        self.wrong = []
        self.hosts = set()
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("console", self._said)
        self.page.on("dialog", self._dialog)
        self.page.on("request", lambda request: self.hosts.add(request.url.split("/")[2] if "//" in request.url else request.url))

    def _said(self, message):
        if "Content Security Policy" in message.text:
            self.wrong.append(message.text)

    def _dialog(self, dialog):
        self.wrong.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def open(self, fragment=""):
        self.page.goto(f"{self.server.url}/#/{fragment}")
        return self.page

    def close(self):
        self.context.close()
        assert not self.wrong, self.wrong
        ours = f"127.0.0.1:{self.server.port}"
        assert self.hosts <= {ours}, f"the page asked another host: {self.hosts}"


@pytest.fixture
def tab(browser):
    """tab(server, …) opens a browser of one person; at the end nothing may have gone wrong in it."""
    tabs = []

    def start(server, actor="ada", **more):
        tabs.append(Tab(browser, server, actor, **more))
        return tabs[-1]

    yield start
    for one in tabs:
        one.close()


@pytest.fixture
def shop():
    one = world.Shop()
    yield one
    one.handler.close()


@pytest.fixture
def lot(tmp_path, shop):
    """lot() starts a server with the shop's queues and those of `more`; it must stop cleanly at the end."""
    servers = []

    def start(more=None, **top):
        folder = tmp_path / f"server{len(servers)}"
        folder.mkdir()
        servers.append(Server(folder, {**world.queues(shop), **(more or {})}, **top))
        return servers[-1].start()

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """A server with a lot of letters that tests look at and do not change."""
    shop = world.Shop()
    server = Server(tmp_path_factory.mktemp("full"), world.queues(shop)).start()
    world.fill(server)
    eventually(lambda: any(one["severity"] == "critical" for one in server.get("/v1/alerts").json["alerts"]),
               "an alert says that the cap of payments is near")
    yield server
    server.stop()
    shop.handler.close()
