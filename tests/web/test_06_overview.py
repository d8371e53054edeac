"""What the overview draws when there is more than usual: many reasons, old letters, queues that are held."""
import datetime
import json
import re

from playwright.sync_api import expect

import world
from harness import eventually

BARS_MAX = 9
# how long dead → the line of "Dead for" that counts it
AGES = {"5m": "1 – 10 min", "30m": "10 min – 1 h", "3h": "1 – 6 h", "20h": "6 – 24 h", "49h": "over 24 h"}


def line(page, card, text):
    return page.get_by_role("region", name=card).get_by_role("listitem").filter(has_text=text)


def test_reasons_are_a_pie_up_to_six_and_bars_beyond(lot, tab):
    rules = [{"when": {"error_type": f"Type{n}"}, "do": "dlq", "category": "bug", "reason": f"reason_{n:02}"}
             for n in range(11)]
    server = lot(more={"orders": world.queue("http://127.0.0.1:9/", classify={"rules": rules})})

    def add(reasons):
        for n in reasons:
            for copy in range(n + 1):
                world.report(server, f"task-{n}-{copy}", f"Type{n}", "wrong")

    add(range(6))
    page = tab(server).open()
    card = page.get_by_role("region", name="Top reasons")
    expect(card).to_contain_text("6 reasons")
    pie = card.get_by_role("img", name="Reasons: reason_05 6, reason_04 5, reason_03 4")
    expect(pie).to_be_visible()
    expect(card.locator(".bar")).to_have_count(0)
    add(range(6, 11))
    expect(card).to_contain_text("11 reasons")
    expect(pie).to_have_count(0)
    expect(card.locator(".bar")).to_have_count(BARS_MAX)
    widths = card.locator(".bar i").evaluate_all("bars => bars.map(bar => bar.getBoundingClientRect().width)")
    assert widths == sorted(widths, reverse=True) and widths[0] > widths[-1] > 0, "the most frequent is the longest"
    expect(line(page, "Top reasons", "reason_10")).to_contain_text("11 17%")
    expect(line(page, "Top reasons", "2 more")).to_contain_text("3")


def ago(text):
    unit = {"m": "minutes", "h": "hours"}[text[-1]]
    return datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(**{unit: int(text[:-1])})


def bring_old_letters(lot):
    """A server whose letters died at the AGES, one each: taken from another server's export."""
    young = lot()
    world.push(young, "orders", "bug", len(AGES))
    young.drained("orders")
    letters = [json.loads(text) for text in young.post("/v1/exports", {"all": True, "compress": "none"}).body.splitlines()]
    for letter, age in zip(letters, AGES):
        letter["dead_at"] = ago(age).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    server = lot()
    answer = server.request("POST", "/v1/imports", "\n".join(map(json.dumps, letters)).encode(),
                            {"Content-Type": "application/x-ndjson"})
    assert answer.status == 200, answer.body
    return server, letters


def test_old_letters_are_counted_by_their_age_and_the_oldest_is_a_link(lot, tab):
    server, letters = bring_old_letters(lot)
    page = tab(server).open()
    for title in AGES.values():
        expect(line(page, "Dead for", title)).to_contain_text("1")
    expect(line(page, "Dead for", "under 1 min")).to_contain_text("0")
    tile = page.locator("a.tile", has_text="oldest letter")
    expect(tile).to_contain_text("2 d 1 h")
    oldest, second = letters[-1]["message"]["id"], letters[-2]["message"]["id"]
    for link in (tile, page.get_by_role("link", name="oldest 2 d 1 h, in orders.dlq"),
                 page.get_by_role("row", name="orders.dlq").get_by_role("link", name="2 d 1 h")):
        link.first.click()
        expect(page.get_by_label(f"Choose {oldest}")).to_be_visible()
        expect(page.get_by_label(f"Choose {second}")).to_have_count(0)
        page.go_back()
    line(page, "Dead for", "6 – 24 h").get_by_role("link").click()
    expect(page.get_by_label(f"Choose {second}")).to_be_visible()
    expect(page.locator("[data-letter]")).to_have_count(1)


def test_arrivals_are_shown_over_an_hour_a_day_and_a_week(lot, tab):
    server = lot()
    world.push(server, "orders", "bug", 4)
    server.drained("orders")
    page = tab(server).open()
    for window in ("1h", "24h", "7d"):
        page.get_by_role("group", name="Window").get_by_role("button", name=window).click()
        expect(page.get_by_role("img", name=f"4 letters arrived in {window}: bug 4")).to_be_visible()
        assert f"window={window}" in page.url
    arrivals = server.get("/v1/arrivals", window="7d").json
    assert arrivals["steps"] * arrivals["step_seconds"] == 7 * 24 * 3600
    page.reload()
    expect(page.get_by_role("button", name="7d")).to_have_attribute("aria-pressed", "true")


def test_a_week_tells_each_date_once(lot, tab):
    one = tab(lot())
    one.page.add_init_script("""const { clearRect, fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.clearRect = function (...box) { this.canvas.said = []; clearRect.apply(this, box); };
      CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
        (this.canvas.said ??= []).push(text);
        fillText.call(this, text, ...place);
      };""")
    page = one.open("overview?window=7d")
    chart = page.get_by_role("img", name="letters arrived in 7d").locator("canvas")
    dates = "canvas => (canvas.said ?? []).filter(text => /^[0-9]{2}-[0-9]{2}$/.test(text))"
    drawn = eventually(lambda: chart.count() == 1 and chart.evaluate(dates), "the dates are drawn")
    assert len(drawn) == len(set(drawn)) == 7


def test_a_halted_queue_and_an_open_breaker_say_why(lot, tab, shop):
    flaky = world.queue(shop.handler.url, breaker={"consecutive": 3, "open": "30s"})
    server = lot(more={"flaky": flaky})
    world.push(server, "orders", "key", 1)
    world.push(server, "flaky", "down", 4)
    eventually(lambda: server.queue("orders")["state"] == "halted", "the queue halts")
    eventually(lambda: server.queue("flaky")["breaker"]["state"] == "open", "the breaker opens")
    one = tab(server)
    for fragment in ("overview", "queues"):
        page = one.open(fragment)
        table = page.get_by_role("table").last
        halted = table.get_by_role("row").filter(has=page.get_by_text("orders", exact=True))
        expect(halted).to_contain_text("halted")
        expect(halted).to_contain_text(server.queue("orders")["why"])
        held = table.get_by_role("row").filter(has=page.get_by_text("flaky", exact=True))
        expect(held.get_by_text("open", exact=True)).to_be_visible()
        expect(held).to_contain_text("until ")
    page = one.open("overview")
    expect(page.locator("a.tile", has_text="queues held")).to_contain_text("2 of 4")


def test_alerts_for_information_alone_have_a_card_too(lot, tab):
    told = {"metric": "dlq_depth", "dlq": "*", "severity": "info"}
    server = lot(alerts={"defaults": "off", "rules": [{"name": "SomeDead", "above": 0, **told},
                                                      {"name": "MoreDead", "above": 1, **told}]})
    world.push(server, "payments", "card", 2)
    server.drained("payments")
    eventually(lambda: len([one for one in server.get("/v1/alerts").json["alerts"] if one["state"] == "firing"]) == 2,
               "both alerts fire")
    page = tab(server).open()
    card = page.get_by_role("region", name="2 alerts for information")
    expect(card.get_by_role("link", name="SomeDead")).to_be_visible()
    expect(card.get_by_role("link", name="MoreDead")).to_be_visible()


def test_the_alerts_that_are_counted_are_those_that_call_somebody(lot, tab):
    severities = ["critical", "info", "info", "warning", "info"]
    alerts = [{"alert": f"Rule{n}", "metric": "dlq_depth", "subject": "orders.dlq", "severity": severity, "state": "firing",
               "value": 1, "since": "2026-01-01T00:00:00Z", "summary": "too many"} for n, severity in enumerate(severities)]
    alerts[3]["state"] = "pending"
    one = tab(lot())
    one.page.clock.set_fixed_time("2026-01-01T00:00:04Z")
    one.page.route("**/v1/alerts", lambda route: route.fulfill(json={"alerts": alerts, "rules": []}))
    page = one.open()
    card = page.get_by_role("region", name="One alert is firing")
    expect(card).to_contain_text("3 for information")
    expect(card.get_by_role("link", name="Rule0")).to_contain_text(re.compile(r"too many\s+for\s+4 s\s*$"))
    expect(page.get_by_role("navigation", name="Pages").get_by_role("link", name="Alerts").locator(".badge")).to_have_text("1")
    page = one.open("alerts")
    firing, pending = page.locator("[data-alert^=Rule0]"), page.locator("[data-alert^=Rule3]")
    expect(pending).to_contain_text(re.compile(r"pending for\s+4 s"))
    colours = [row.evaluate("row => getComputedStyle(row).color") for row in (firing, pending)]
    assert colours[0] != colours[1], "what only threatens is paler"


def test_the_gauge_marks_the_cap(lot, tab):
    server = lot(alerts={"rules": [{"name": "VeryDeep", "metric": "dlq_depth", "dlq": "*", "above": 1000,
                                    "severity": "critical"}]})
    page = tab(server).open()
    gauge = page.get_by_role("row", name="payments.dlq").locator(".gauge")
    mark = gauge.locator(".cap")
    expect(mark).to_be_visible()
    box, whole = mark.bounding_box(), gauge.bounding_box()
    at = (box["x"] + box["width"] / 2 - whole["x"]) / whole["width"]
    # cap 200 on a scale that ends at the last threshold, 1,000: log(201) / log(1001)
    assert 0.75 < at < 0.79, at
    full = page.get_by_role("row", name="prompts.dlq").locator(".gauge .cap").bounding_box()
    assert abs(full["x"] + full["width"] / 2 - whole["x"] - whole["width"]) < 2, "nothing is beyond a cap of 100,000"


def test_newest_letters_show_the_moment_they_come(lot, tab):
    server = lot()
    page = tab(server).open()
    card = page.get_by_role("region", name="Newest letters")
    expect(card).to_contain_text("Nothing is dead")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    world.report(server, "task-0", "PriceError", "no price")
    expect(card.get_by_role("listitem")).to_have_text([re.compile("no price.*PriceError · orders.dlq", re.S)])
    world.report(server, "task-1", "StockError", "no stock")
    expect(card.get_by_role("listitem")).to_have_text([re.compile("no stock"), re.compile("no price")])
    card.get_by_role("link", name="no stock").click()
    expect(page.get_by_role("heading", name="StockError")).to_be_visible()


def test_letters_of_one_cause_are_one_line_that_says_of_how_many(lot, tab):
    server = lot()
    world.report(server, "other", "StockError", "no stock")
    world.push(server, "prompts", "model", 3)
    server.drained("prompts")
    page = tab(server).open()
    expect(line(page, "Newest letters", "ModelNotFound")).to_contain_text("3 of this cause")
    world.push(server, "prompts", "model", 70, start=3)
    server.drained("prompts")
    expect(line(page, "Newest letters", "ModelNotFound")).to_contain_text("60 of the newest 60")
    line(page, "Newest letters", "ModelNotFound").get_by_role("link").click()
    expect(page.locator("[data-letter]")).to_have_count(50)


def test_the_overview_shows_the_lag_and_the_budget_of_a_queue(lot, tab):
    server = lot()
    assert server.post("/v1/queues/orders/pause", {}).status == 200
    world.push(server, "orders", "bug", 7)
    one = tab(server)

    def spend(route):
        said = route.fetch().json()
        said["queues"][0]["budget"]["remaining_ratio"] = 0.15
        route.fulfill(json=said)

    one.page.route("**/v1/queues", spend)
    page = one.open()
    table = page.get_by_role("table").last
    expect(table.get_by_role("row", name="orders")).to_be_visible()
    places = [head.text_content() for head in table.get_by_role("columnheader").all()]
    [lag, budget] = [places.index(name) for name in ("Lag", "Retry budget")]
    assert server.queue("orders")["lag"] == 7 and server.get("/v1/queues").json["queues"][0]["queue"] == "orders"
    for name, waiting, left, look in (("orders", "7", "15%", "warm"), ("payments", "0", "100%", "good")):
        cells = table.get_by_role("row", name=name).get_by_role("cell")
        expect(cells.nth(lag)).to_have_text(waiting)
        expect(cells.nth(budget)).to_have_text(left)
        expect(cells.nth(budget).locator(f".bar i.{look}")).to_have_count(1)


def test_what_the_overview_cannot_get_it_says(lot, tab):
    server = lot()
    for path in ("/v1/dlqs", "/v1/alerts", "/v1/queues", "/v1/letters?*", "/v1/arrivals?*"):
        one = tab(server)
        one.page.route(f"**{path}", lambda route: route.fulfill(status=503, json={"title": "Service Unavailable", "detail": "being mended"}))
        page = one.open()
        expect(page.get_by_role("alert")).to_contain_text("being mended")
        page.unroute(f"**{path}")
        expect(page.get_by_role("alert")).to_have_count(0)
