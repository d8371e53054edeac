"""A dead letter that is still its broker's can be read and not decided about."""
import json
import subprocess

from playwright.sync_api import expect

import adoption
import world
from brokers import Redis


def push(redis, name, element):
    subprocess.run(["redis-cli", "-p", str(redis.port), "lpush", name, element], check=True, capture_output=True)


def test_a_letter_that_was_only_looked_at_says_how_to_take_it(lot, tab, tmp_path):
    redis = Redis(tmp_path / "redis")
    try:
        redis.start()
        push(redis, "q:dlq", json.dumps({"id": "o-1", "dlq_reason": "timeout:too slow", "dlq_at": 1700000000.5}))
        server = lot(adopt=adoption.entry(redis.url("list=q:dlq")))
        adoption.looked(server)
        letter = server.letters(adoption.DLQ)[0]["id"]
        page = tab(server).open(f"letters/{letter}")
        expect(page.get_by_text("Its broker still has it.")).to_be_visible()
        expect(page.get_by_text("read-only", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Resolve…")).to_have_count(0)
        page.keyboard.press("e")
        expect(page.get_by_role("dialog")).to_have_count(0)
        world.push(server, "orders", "bug", 2)
        server.drained("orders")
        page = tab(server).open("replays/new?all=yes")
        expect(page.get_by_text("2 letters would be sent")).to_be_visible()
        expect(page.get_by_text("1 letter passed over")).to_be_visible()
    finally:
        redis.close()


def test_where_letters_are_adopted_from_is_shown_and_why_it_does_not_work(lot, tab, tmp_path):
    redis = Redis(tmp_path / "redis")
    server = lot(adopt=adoption.entry(redis.url("list=q:dlq")))
    page = tab(server).open("queues")
    row = page.get_by_role("region", name="Adopted from", exact=True).get_by_role("row").filter(has_text=adoption.NAME)
    expect(row).to_contain_text("waiting")
    expect(row).to_contain_text("refused")
    try:
        redis.start()
        push(redis, "q:dlq", json.dumps({"id": "o-1", "dlq_reason": "timeout:too slow", "dlq_at": 1700000000.5}))
        adoption.looked(server)
        expect(row).to_contain_text("done")
        expect(row).not_to_contain_text("refused")
        expect(row.get_by_role("link", name=adoption.DLQ)).to_be_visible()
    finally:
        redis.close()
