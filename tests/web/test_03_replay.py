"""Replays on screen: planned, tried, started, watched, steered, and stopped by themselves."""
import base64
import json
import re

from playwright.sync_api import expect

import world
from harness import eventually


def fill(server, count):
    world.push(server, "prompts", "model", count)
    server.drained("prompts")


def start(page, count):
    expect(page.get_by_text(f"{count} letters would be sent")).to_be_visible()
    page.get_by_role("button", name=f"Start: send {count} letters").click()
    expect(page.get_by_text("The replay is started.")).to_be_visible()


def steer(page, what, why):
    page.get_by_role("button", name=f"{what}…").click()
    page.get_by_label("Why").fill(why)
    page.get_by_role("dialog").get_by_role("button", name=what).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_replay_is_planned_tried_edited_and_done(lot, tab, shop):
    server = lot()
    fill(server, 15)
    page = tab(server).open("letters?error_type=ModelNotFound")
    page.get_by_label("Choose all on this page").check()
    page.keyboard.press("r")
    expect(page.get_by_role("heading", name="Plan a replay")).to_be_visible()
    page.get_by_label("jq program").fill('.model = "m2" | del(.fail)')
    expect(page.get_by_text('"m2"').first).to_be_visible()
    expect(page.get_by_text("15 letters would be sent at 50/s")).to_be_visible()
    assert server.get("/v1/replays").json["replays"] == [], "a dry run starts nothing"
    page.reload()
    expect(page.get_by_label("jq program")).to_have_value('.model = "m2" | del(.fail)')
    page.get_by_label("Why").fill("m2 stands in")
    start(page, 15)
    expect(page.get_by_role("status").filter(has_text="done")).to_be_visible()
    expect(page.get_by_text("resolved, 100%")).to_be_visible()
    calls = [json.loads(call.body) for call in shop.handler.calls[-15:]]
    assert all(body["model"] == "m2" and "fail" not in body for body in calls)
    replay = server.get("/v1/replays").json["replays"][0]
    assert (replay["who"], replay["order_why"], replay["resolved"]) == ("ada", "m2 stands in", 15)


def test_a_cause_that_is_not_fixed_aborts_before_our_eyes(lot, tab):
    server = lot()
    fill(server, 60)
    page = tab(server, color_scheme="dark").open("replays/new?error_type=ModelNotFound")
    start(page, 60)
    expect(page.get_by_role("status").filter(has_text="aborted")).to_be_visible()
    expect(page.get_by_text("What was not sent is untouched")).to_be_visible()
    replay = server.get("/v1/replays").json["replays"][0]
    expect(page.get_by_role("status").filter(has_text=replay["why"])).to_be_visible()
    assert replay["state"] == "aborted" and replay["sent"] < 60
    expect(page.get_by_text("failed again").first).to_be_visible()
    assert server.dlq("prompts.dlq")["depth"] == 60, "nothing is lost"
    page.get_by_role("link", name="Plan it again").click()
    expect(page.get_by_text("60 letters would be sent")).to_be_visible()


def test_planned_again_it_is_the_same_plan(lot, tab):
    server = lot()
    fill(server, 6)
    assert server.post("/v1/queues/prompts/pause", {}).status == 200
    one = tab(server)
    for order, canary, ramp, stale in [({"limit": 3, "rate": "1/s", "canary": False, "ramp": False, "stale": "send"}, None, False, True),
                                       ({"limit": 2, "rate": "max", "canary": [2, 4]}, "2, then 4", True, False)]:
        replay = server.post("/v1/replays", {"all": True, "dry_run": False, **order}).json["id"]
        assert server.post(f"/v1/replays/{replay}/abort", {}).status == 200
        page = one.open(f"replays/{replay}")
        page.get_by_role("link", name="Plan it again").click()
        expect(page.get_by_text(f"{order['limit']} letters would be sent")).to_be_visible()
        expect(page.get_by_label("At most, the oldest")).to_have_value(str(order["limit"]))
        expect(page.get_by_role("combobox", name="Rate")).to_have_value(order["rate"])
        expect(page.get_by_role("checkbox", name=f"Canary: {canary or '1, then 10'}, must")).to_be_checked(checked=canary is not None)
        expect(page.get_by_role("checkbox", name="Ramp up")).to_be_checked(checked=ramp)
        expect(page.get_by_role("checkbox", name="Send stale letters too")).to_be_checked(checked=stale)


def test_a_replay_is_paused_resumed_and_aborted(lot, tab, shop):
    server = lot()
    fill(server, 300)  # at one a second, which is longer than anybody takes
    shop.mend("model")
    page = tab(server).open("replays/new?error_type=ModelNotFound&rate=1/s&canary=off&ramp=off")
    start(page, 300)
    expect(page.get_by_role("region", name="Progress")).to_contain_text("/s on average, of 1/s")
    steer(page, "Pause", "looking at the first")
    expect(page.get_by_role("status").filter(has_text="paused")).to_contain_text("looking at the first")
    page.keyboard.press("p")
    page.get_by_role("dialog").get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause…")).to_be_visible()
    steer(page, "Abort", "the wrong letters")
    expect(page.get_by_role("status").filter(has_text="aborted")).to_contain_text("the wrong letters")
    expect(page.get_by_text("not sent").first).to_be_visible()
    replay = server.get("/v1/replays").json["replays"][0]
    assert replay["state"] == "aborted" and replay["sent"] < 300
    audit = {entry["what"]: entry["why"] for entry in server.get("/v1/audit").json["audit"]}
    assert (audit["replay.pause"], audit["replay.resume"] or "") == ("looking at the first", "")
    assert audit["replay.abort"] == "the wrong letters"
    page = tab(server).open("replays")
    expect(page.get_by_role("row", name="error_type: ModelNotFound")).to_contain_text("aborted")


def test_a_replay_goes_on_before_our_eyes_when_the_server_was_killed(lot, tab, shop):
    server = lot()
    fill(server, 12)
    shop.mend("model")
    page = tab(server).open("replays/new?error_type=ModelNotFound&rate=4/s&canary=off&ramp=off")
    start(page, 12)
    progress = page.get_by_role("region", name="Progress")
    expect(progress.get_by_text(re.compile("^resolved, [1-9]"))).to_be_visible()
    server.kill()
    expect(page.get_by_text("The server does not answer")).to_be_visible()
    server.start()
    expect(progress.get_by_text("resolved, 100%")).to_be_visible()
    assert {server.message(f"prompts-model-{n}")["state"] for n in range(12)} == {"resolved"}


def test_a_body_is_edited_by_hand_and_the_rest_stays_byte_for_byte(lot, tab, shop):
    server = lot()
    fill(server, 1)
    letter = server.letters("prompts.dlq")[0]["id"]
    page = tab(server).open(f"letters/{letter}")
    page.get_by_role("button", name="Replay…").click()
    page.get_by_role("button", name="by hand").click()
    body = page.get_by_label("Body", exact=True)
    text = body.input_value()
    assert "9007199254740993" in text
    body.fill(text.replace('"model": "m1"', '"model": "m3"').replace('"fail": "model",', ""))
    expect(page.get_by_text("del(.fail)").first).to_be_visible()
    page.reload()
    expect(page.get_by_label("Body", exact=True)).to_have_value(text.replace('"model": "m1"', '"model": "m3"').replace('"fail": "model",', ""))
    expect(page.get_by_text('"m3"').first).to_be_visible()
    page.get_by_label("Body", exact=True).fill("{")
    started = page.get_by_role("button", name="Start")
    for _ in ("written", "reloaded"):
        expect(page.get_by_text("Not JSON yet")).to_be_visible()
        expect(page.get_by_text("The body must be mended first")).to_be_visible()
        expect(started).to_be_disabled()
        expect(page.get_by_text("would be sent")).to_have_count(0)
        assert "edit=" not in page.url, "the last program that was one is not what is written"
        page.reload()
    page.get_by_role("button", name="As it was").click()
    page.get_by_label("Body", exact=True).fill(text.replace('"fail": "model",', ""))
    expect(page.get_by_text("1 letter would be sent")).to_be_visible()
    page.get_by_role("button", name="Start: send 1 letter").click()
    expect(page.get_by_role("status").filter(has_text="done")).to_be_visible()
    assert page.evaluate("Object.keys(sessionStorage)") == [], "what was sent is no draft any more"
    sent = shop.handler.calls[-1].body.decode()
    assert "9007199254740993" in sent and '"price": 12.5' in sent and "fail" not in sent
    page = tab(server).open(f"letters/{letter}")
    expect(page.get_by_text("Edited since it first died")).to_be_visible()


def test_a_body_that_is_no_json_says_that_it_cannot_be_edited_by_hand(lot, tab):
    server = lot()
    answer = server.post("/v1/queues/orders/messages", {"id": "text", "content_type": "text/plain",
                                                        "body_base64": base64.b64encode(b"three of tea").decode()})
    assert answer.status == 200, answer.body
    server.drained("orders")
    page = tab(server).open(f"replays/new?ids={server.message('text')['id']}")
    expect(page.get_by_text("By hand only JSON can be edited; this body is text/plain.")).to_be_visible()
    expect(page.get_by_role("button", name="by hand")).to_have_count(0)


def test_a_plan_that_cannot_be_says_why(lot, tab):
    server = lot()
    fill(server, 2)
    page = tab(server).open("replays/new?error_type=ModelNotFound&edit=.model+%3D+%28")
    expect(page.get_by_role("alert")).to_contain_text("edit")
    expect(page.get_by_role("button", name="Start")).to_be_disabled()
    page = tab(server).open("replays/new")
    expect(page.get_by_text("Choose letters above")).to_be_visible()
    page.get_by_label("Every unresolved letter").check()
    expect(page.get_by_text("2 letters would be sent")).to_be_visible()


def test_samples_of_a_plan_are_called_by_their_messages(lot, tab):
    server = lot()
    fill(server, 1)
    letter = server.letters("prompts.dlq")[0]["id"]
    page = tab(server).open("replays/new?all=yes")
    sample = page.get_by_role("region", name="Dry run").get_by_role("link", name="prompts-model-0", exact=True)
    expect(sample).to_have_attribute("href", f"#/letters/{letter}")


def test_a_rate_that_is_not_in_the_list_is_shown_as_it_is(lot, tab):
    server = lot()
    fill(server, 2)
    page = tab(server).open("replays/new?all=yes&rate=7/s")
    expect(page.get_by_text("2 letters would be sent at 7/s")).to_be_visible()
    rate = page.get_by_role("combobox", name="Rate")
    expect(rate).to_have_value("7/s")
    rate.select_option("200/s")
    expect(page.get_by_text("2 letters would be sent at 200/s")).to_be_visible()


def test_a_plan_says_what_is_stale_and_what_is_asked_about(lot, tab, shop):
    stale, asked = ({"prompts.dlq": {"fresh": how}} for how in
                    ({"within": "1ms"}, {"check": {"http": shop.handler.url}}))
    for dlqs, words in ((stale, "2 letters skipped as stale"), (asked, "2 letters asked about before they are sent")):
        server = lot(dlqs=dlqs)
        fill(server, 2)
        page = tab(server).open("replays/new?error_type=ModelNotFound")
        expect(page.get_by_text(words)).to_be_visible()


def test_an_aborted_replay_raises_an_alert_that_leads_to_it(lot, tab):
    server = lot()
    fill(server, 12)
    server.post("/v1/replays", {"all": True, "dry_run": False})
    eventually(lambda: any(one["alert"] == "ReplayAborted" for one in server.get("/v1/alerts").json["alerts"]),
               "the alert fires")
    page = tab(server).open("alerts")
    page.get_by_role("link", name="ReplayAborted").click()
    expect(page.get_by_role("status").filter(has_text="aborted")).to_be_visible()


def stage(page):
    """The one that the replay is in."""
    return page.get_by_role("list", name="Stages").locator("[aria-current=step]")


def sent(page):
    return page.get_by_role("region", name="Progress").locator("dl div", has_text="sent").locator("dd")


def test_canary_and_ramp_are_shown_while_they_run_and_the_counts_follow(lot, tab, shop):
    server = lot()
    fill(server, 900)  # which take it half a minute
    shop.mend("model")
    shop.answering.clear()
    page = tab(server).open("replays/new?error_type=ModelNotFound")
    start(page, 900)
    stages = page.get_by_role("list", name="Stages").get_by_role("listitem")
    expect(stages).to_have_text(["planned", "canary 1, then 10", "ramp", "at 50/s", "done"])
    expect(stage(page)).to_have_text("canary 1, then 10")
    expect(sent(page)).to_have_text("1")
    page.evaluate("window.asItWas = true")
    shop.answering.set()
    expect(stage(page)).to_have_text("ramp")
    seen = set()
    for _ in range(2):
        seen.add(sent(page).text_content())
        expect(sent(page)).not_to_have_text(re.compile(f"^({'|'.join(seen)})$"))
    expect(page.get_by_role("region", name="Progress").get_by_role("img", name="of 900 sent")).to_be_visible()
    assert page.evaluate("window.asItWas"), "the page was not loaded anew"
    steer(page, "Abort", "seen enough")
    expect(page.get_by_role("status").filter(has_text="aborted")).to_be_visible()
    expect(stage(page)).to_have_count(0)


def test_a_dry_run_ends_when_nothing_is_chosen_any_more(lot, tab):
    server = lot()
    fill(server, 2)
    one = tab(server)
    tried = []
    one.page.route("**/v1/replays", lambda route: tried.append(route))  # which nobody answers
    page = one.open("replays/new?error_type=ModelNotFound")
    status = page.get_by_role("region", name="Dry run").get_by_role("status")
    expect(status).to_have_text("trying…")
    eventually(lambda: page.evaluate("1") and tried, "the dry run is asked for")
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_text("Choose letters above")).to_be_visible()
    expect(status).to_have_text("")
    expect(page.get_by_role("region", name="Dry run")).to_have_attribute("aria-busy", "false")
    one.page.unroute("**/v1/replays")


def test_the_older_page_of_replays_has_a_way_back(lot, tab):
    server = lot()
    fill(server, 1)
    letter = server.letters("prompts.dlq")[0]["id"]
    assert server.post("/v1/queues/prompts/pause", {}).status == 200
    for _ in range(51):
        replay = server.post("/v1/replays", {"ids": [letter], "dry_run": False}).json["id"]
        assert server.post(f"/v1/replays/{replay}/abort", {}).status == 200
    page = tab(server).open("replays")
    rows = page.get_by_role("region", name="Replays").locator("tbody tr")
    expect(rows).to_have_count(50)
    expect(page.get_by_role("link", name="Newest")).to_have_count(0)
    page.get_by_role("link", name="Older").click()
    expect(rows).to_have_count(1)
    page.get_by_role("link", name="Newest").click()
    expect(rows).to_have_count(50)


def test_the_window_is_called_what_it_shows(lot, tab):
    server = lot()
    fill(server, 1)
    letter = server.letters("prompts.dlq")[0]["id"]
    assert server.post("/v1/queues/prompts/pause", {}).status == 200
    replay = server.post("/v1/replays", {"ids": [letter], "dry_run": False}).json["id"]
    one = tab(server)
    for fragment, title in [("letters", "Letters"), (f"letters/{letter}", "ModelNotFound: prompts-model-0"), ("replays", "Replays"),
                            ("replays/new", "Plan a replay"), (f"replays/{replay}", f"Replay, waiting: letter {letter}"),
                            ("overview", "Overview")]:
        expect(one.open(fragment)).to_have_title(f"{title} · impound")
