"""Messages that are not dead: the list of a queue, and some of them buried or discarded; what the API refuses is shown in
its words."""
import pytest
from playwright.sync_api import expect

import world
from harness import eventually

WHY = "wrong customer"


def hold(server, count):
    """Messages that wait, because their queue is paused."""
    assert server.post("/v1/queues/orders/pause", {"why": "so that they wait"}).status == 200
    return [server.push("orders", {"n": n}, id=f"waiting-{n}", key=f"k{n % 2}") for n in range(count)]


def leasing(lot):
    """A server whose queue `tasks` waits for workers."""
    return lot({"tasks": {"source": "builtin", "handler": "lease", "dlq": {"cap": 1}}})


def rows(page):
    return page.get_by_role("region", name="Waiting messages").get_by_role("row")


def decide(page, does, why=WHY):
    """What the dialog is asked to do; returns the dialog."""
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Why").fill(why)
    dialog.get_by_role("button", name=does, exact=True).click()
    return dialog


def test_a_waiting_message_is_buried_from_its_page(lot, tab):
    server = lot()
    ids = hold(server, 2)
    page = tab(server).open("queues")
    page.get_by_role("link", name="2 messages in orders").click()
    expect(rows(page)).to_have_count(3)
    page.get_by_role("link", name=ids[0]).click()
    expect(page.get_by_role("heading", name="Waiting message")).to_be_visible()
    expect(page.get_by_role("region", name="What happened")).to_contain_text("It waits in the queue for its turn.")
    expect(page.get_by_role("button", name="Replay…")).to_have_count(0)
    page.get_by_role("button", name="Bury…").click()
    expect(page.get_by_role("button", name="Bury", exact=True)).to_be_disabled()
    expect(page.get_by_role("dialog")).to_contain_text(f"{ids[0]} in orders")
    expect(page.get_by_role("link", name="Queues", exact=True).first).to_have_attribute("aria-current", "page")
    expect(decide(page, "Bury")).to_have_count(0)
    letter = server.message(ids[0])
    assert (letter["state"], letter["cause"], letter["why"]) == ("pending_review", "operator", WHY)
    assert server.message(ids[1])["state"] == "queued"
    expect(page.get_by_role("region", name="What happened")).to_contain_text(f"Stopped: operator{WHY}")
    expect(page.get_by_role("button", name="Replay…")).to_be_visible()
    entry = server.get("/v1/audit").json["audit"][0]
    assert (entry["what"], entry["who"], entry["why"]) == ("message.bury", "ada", WHY)
    page.goto(f"{server.url}/#/audit")
    page.get_by_role("link", name=ids[0]).click()
    expect(page.get_by_role("button", name="Replay…")).to_be_visible()


def test_a_message_that_waits_for_its_retry_is_discarded_from_its_page(lot, tab):
    server = lot()
    world.push(server, "orders", "down", 1)
    message = eventually(lambda: (one := server.message("orders-down-0"))["state"] == "pending_retry" and one, "it is to be retried")
    page = tab(server).open(f"letters/{message['message']['id']}?queue=orders")
    expect(page.get_by_text("closed for repair").first).to_be_visible()
    expect(page.get_by_text("next attempt").first).to_be_visible()
    page.keyboard.press("d")
    expect(decide(page, "Discard")).to_have_count(0)
    expect(page.get_by_text("There is nothing left to decide.")).to_be_visible()
    expect(page.get_by_role("region", name="What happened")).to_contain_text(WHY)
    letter = server.message("orders-down-0")
    assert (letter["state"], letter["why"]) == ("discarded", WHY)
    assert server.queue("orders")["depth"] == 0


def test_the_page_of_a_waiting_message_shows_nothing_that_only_a_letter_has(lot, tab):
    server = lot()
    ids = hold(server, 1)
    page = tab(server).open(f"letters/{ids[0]}?queue=orders")
    facts = page.get_by_role("region", name="Message", exact=True)
    expect(facts).to_contain_text(ids[0])
    expect(facts.get_by_text("letter", exact=True)).to_have_count(0)
    expect(page.get_by_role("heading", name="Same cause")).to_have_count(0)
    assert server.post(f"/v1/messages/{ids[0]}/bury", {"why": WHY}).status == 200
    expect(facts.get_by_text("letter", exact=True)).to_have_count(1)


def test_the_page_of_a_message_to_be_retried_shows_letters_of_the_same_cause_if_there_are_any(lot, tab):
    server = lot()
    world.push(server, "orders", "down", 1)
    one = eventually(lambda: (now := server.message("orders-down-0"))["state"] == "pending_retry" and now, "it is to be retried")
    page = tab(server).open(f"letters/{one['message']['id']}?queue=orders")
    expect(page.get_by_text("closed for repair").first).to_be_visible()
    expect(page.get_by_role("heading", name="Same cause")).to_have_count(0)


def test_the_audit_tells_which_messages_were_chosen(lot, tab):
    server = lot()
    hold(server, 3)
    page = tab(server).open("queues/orders")
    page.get_by_role("button", name="Discard all…").click()
    expect(decide(page, "Discard 3 messages")).to_have_count(0)
    assert server.post("/v1/messages/bury", {"ids": [server.push("orders", {}, id=f"by-id-{n}") for n in range(2)], "why": WHY}).status == 200
    assert server.post("/v1/letters/resolve", {"filter": {"queue": "orders", "until": "2026-01-01T00:00:00Z"}, "why": WHY}).status == 200
    page.goto(f"{server.url}/#/audit")
    discarded = page.get_by_role("row").filter(has_text="message.discard")
    expect(discarded).to_contain_text("queue: orders")
    expect(discarded).to_contain_text(", arrived before ")
    expect(discarded).not_to_contain_text("dead before")
    expect(page.get_by_role("row").filter(has_text="message.bury")).to_contain_text("2 messages by id")


def test_one_of_a_list_is_discarded_and_the_others_wait(lot, tab):
    server = lot()
    ids = hold(server, 3)
    page = tab(server).open("queues/orders")
    expect(rows(page)).to_have_count(4)
    page.get_by_role("button", name=f"Discard {ids[1]}").click()
    expect(decide(page, "Discard")).to_have_count(0)
    expect(rows(page)).to_have_count(3)
    assert [server.message(one)["state"] for one in ids] == ["queued", "discarded", "queued"]


def test_all_that_match_are_buried_and_nothing_that_arrived_since(lot, tab):
    server = lot()
    ids = hold(server, 5)
    page = tab(server).open("queues/orders")
    page.get_by_label("Key", exact=True).fill("k1")
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(3)
    assert "key=k1" in page.url
    page.get_by_label("State").select_option("queued")
    page.get_by_role("button", name="Bury all that match…").click()
    expect(page.get_by_role("heading", name="Bury 2 messages")).to_be_visible()
    server.push("orders", {"n": 9}, id="late", key="k1")
    expect(decide(page, "Bury 2 messages")).to_have_count(0)
    expect(page.get_by_text("2 messages buried.")).to_be_visible()
    states = [server.message(one)["state"] for one in [*ids, "late"]]
    assert states == ["queued", "pending_review", "queued", "pending_review", "queued", "queued"]
    page.get_by_label("State").select_option("pending_retry")
    expect(page.get_by_text("No message matches")).to_be_visible()


def test_all_are_discarded(lot, tab):
    server = lot()
    ids = hold(server, 3)
    page = tab(server).open("queues/orders")
    page.get_by_role("button", name="Discard all…").click()
    expect(decide(page, "Discard 3 messages")).to_have_count(0)
    expect(page.get_by_text("Nothing waits")).to_be_visible()
    assert {server.message(one)["state"] for one in ids} == {"discarded"}


def test_the_lease_of_a_buried_message_is_revoked(lot, tab):
    server = leasing(lot)
    one = server.push("tasks", {"n": 1}, id="task-1")
    [leased] = server.post("/v1/queues/tasks/lease", {"max": 1}).json["messages"]
    page = tab(server).open(f"letters/{one}?queue=tasks")
    page.get_by_role("button", name="Bury…").click()
    expect(page.get_by_role("dialog")).to_contain_text("If a worker has leased the message, the lease is revoked")
    expect(decide(page, "Bury")).to_have_count(0)
    assert server.message(one)["state"] == "pending_review"
    assert server.post(f"/v1/leases/{leased['lease']}/ack", {}).status == 409


@pytest.mark.parametrize("action", ["bury", "discard"])
def test_a_running_message_is_refused_with_the_time_that_it_has_left(lot, shop, tab, action):
    server = lot()
    shop.answering.clear()
    one = server.push("orders", {"n": 0}, id="running")
    eventually(lambda: server.queue("orders")["in_flight"] == 1, "it runs")
    page = tab(server).open("queues/orders")
    page.get_by_role("button", name=f"{action.title()} {one}").click()
    dialog = decide(page, action.title())
    expect(dialog.get_by_role("alert")).to_contain_text("it is running; its handler has ")
    expect(dialog.get_by_role("alert")).to_contain_text(" left, then ask again")
    expect(dialog.get_by_label("Why")).to_have_value(WHY)
    shop.answering.set()
    server.drained("orders")
    dialog.get_by_role("button", name=action.title(), exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text(f'impound holds no message "{one}"')


def test_what_is_buried_into_a_full_dlq_waits_for_room(lot, tab):
    server = leasing(lot)
    ids = [server.push("tasks", {"n": n}, id=f"task-{n}") for n in range(2)]
    page = tab(server).open("queues/tasks")
    page.get_by_role("button", name=f"Bury {ids[0]}").click()
    expect(decide(page, "Bury")).to_have_count(0)
    page.get_by_role("button", name=f"Bury {ids[1]}").click()
    expect(decide(page, "Bury")).to_have_count(0)
    expect(page.get_by_text("dlq tasks.dlq is full")).to_have_count(1)
    waits = server.message(ids[1])
    assert (waits["state"], waits["cause"]) == ("pending_retry", "operator")


def test_what_waits_for_room_in_a_full_dlq_says_so(lot, shop, tab):
    server = lot({"small": world.queue(shop.handler.url, dlq={"cap": 1})})
    world.push(server, "small", "card", 3)
    held = eventually(lambda: (one := server.queue("small"))["awaiting_room"] == 2 and one, "two wait for room")
    assert held["dlq_full"]
    page = tab(server).open("queues")
    row = page.get_by_role("row").filter(has_text="small")
    expect(row).to_contain_text("DLQ full")
    expect(row).to_contain_text("2 for a full DLQ")
    row.get_by_role("link").click()
    expect(rows(page)).to_have_count(3)
    expect(page.get_by_text("dlq small.dlq is full")).to_have_count(2)
    page.get_by_role("link", name="small-card-").first.click()
    expect(page.get_by_text("dlq small.dlq is full").first).to_be_visible()
    page.get_by_role("button", name="Discard…").click()
    expect(decide(page, "Discard")).to_have_count(0)
    eventually(lambda: server.queue("small")["awaiting_room"] == 1, "one still waits for room")
