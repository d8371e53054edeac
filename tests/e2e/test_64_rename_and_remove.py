"""A queue gets another name, or goes; and what means something else since an upgrade is named."""
import pytest

from damage import damage
from harness import impound, problem

FAILS = {"exec": ["/bin/sh", "-c", 'echo "OrderError: no" >&2; exit 65']}


def paused_with(serve, handler_of_old, pushes, **more):
    """Queue `orders`, paused, with messages; queue `prices` beside it."""
    server = serve({"orders": {"handler": handler_of_old, **more}, "prices": {"handler": "lease"}})
    server.post("/v1/queues/orders/pause", {"why": "another name"})
    server.push_many("orders", pushes)
    return server


def lease_all(server, queue):
    leased = server.post(f"/v1/queues/{queue}/lease", {"max": 100, "wait_ms": 0}).json["messages"]
    return [(one["id"], one["body"]) for one in leased]


def test_a_paused_queue_moves_with_its_messages_and_letters(serve):
    server = serve({"orders": {"handler": FAILS, "dlq": {"route": {"validation": "orders.dlq.validation"}}},
                    "prices": {"handler": "lease"}})
    dead = [server.push("orders", {"dead": n}, id=f"dead-{n}") for n in range(3)]
    server.drained("orders")
    server.post("/v1/queues/orders/pause", {})
    server.push_many("orders", [{"id": f"m{n}", "body": {"n": n}, "key": "k"} for n in range(300)])
    before = {letter["message"]["id"]: letter for letter in server.letters("orders.dlq.validation")}
    said = server.cli("queues", "rename", "orders", "prices", "--why", "one name")
    assert "300 messages and 3 letters moved" in said and "still names orders" in said
    assert server.queue("orders")["depth"] == 0
    assert server.letters("orders.dlq.validation") == []
    after = {letter["message"]["id"]: letter for letter in server.letters("prices.dlq.validation")}
    assert set(after) == set(dead)
    for some_id, letter in after.items():
        assert (letter["id"], letter["message"]["queue"]) == (before[some_id]["id"], "prices")
        assert server.message(letter["id"])["message"]["body"] == {"dead": int(some_id[5:])}
    assert [some_id for some_id, _ in lease_all(server, "prices")] == [f"m{n}" for n in range(100)]
    entry = server.get("/v1/audit").json["audit"][0]
    assert (entry["what"], entry["subject"], entry["why"], entry["count"]) == ("queue.rename", "orders", "one name", 303)
    server.kill()
    server.start()
    assert server.queue("prices")["depth"] == 300 and server.queue("orders")["depth"] == 0


def test_a_queue_that_left_the_configuration_can_be_renamed(serve):
    server = paused_with(serve, FAILS, [{"id": "a", "body": 1}])
    server.stop()
    server.configure({"prices": {"handler": "lease"}})
    server.start()
    assert server.post("/v1/queues/orders/rename", {"to": "prices"}).json == {
        "queue": "prices", "renamed_from": "orders", "messages": 1, "letters": 0, "configured": False}
    assert lease_all(server, "prices") == [("a", 1)]


def test_what_cannot_be_renamed_is_refused_and_stays(serve):
    server = paused_with(serve, FAILS, [{"id": "a", "body": 1}])
    problem(server.post("/v1/queues/orders/rename", {"to": "nowhere"}), 409, "nowhere is not in the configuration")
    problem(server.post("/v1/queues/orders/rename", {"to": "orders"}), 400, "name already")
    problem(server.post("/v1/queues/orders/rename", {}), 400, "to")
    problem(server.post("/v1/queues/nobody/rename", {"to": "prices"}), 404, "nobody")
    problem(server.post("/v1/queues/prices/rename", {"to": "orders"}), 409, "pause it first")
    server.push("prices", 2, id="a")
    problem(server.post("/v1/queues/orders/rename", {"to": "prices"}), 409, '"a" is held')
    assert server.message("a", "orders")["state"] == "queued"


def dead_in(server, queue, some_id, body, error):
    """A dead letter of a lease queue; its id."""
    server.push(queue, body, id=some_id)
    lease = server.post(f"/v1/queues/{queue}/lease", {"max": 1, "wait_ms": 0}).json["messages"][0]["lease"]
    server.post(f"/v1/leases/{lease}/fail", {"error_type": "KeyError", "error_message": error})
    return server.message(some_id, queue)["id"]


LEASED = {"orders": {"handler": "lease"}, "prices": {"handler": "lease"}}


def test_what_both_queues_hold_stays_where_it_is_and_is_named(serve):
    server = serve(LEASED)
    theirs = dead_in(server, "prices", "same", 1, "theirs")
    ours = dead_in(server, "orders", "same", 1, "ours")
    server.push("prices", 2, id="twice")
    server.post("/v1/queues/orders/pause", {})
    server.push_many("orders", [{"id": "twice", "body": 2}, {"id": "alone", "body": 3}])
    refused = server.post("/v1/queues/orders/rename", {"to": "prices"})
    problem(refused, 409, '"same" is held', '"twice" is held', "moved 1 message and 0 letters")
    assert server.message("alone")["message"]["queue"] == "prices"
    assert [letter["id"] for letter in server.letters("orders.dlq")] == [ours]
    assert [letter["id"] for letter in server.letters("prices.dlq")] == [theirs]
    assert server.message(ours)["failure"]["error_message"] == "ours"
    assert len(server.message(ours)["history"]) == 1
    assert server.message("twice", "orders")["state"] == "queued"
    assert server.get("/v1/audit").json["audit"][0]["count"] == 1
    # Once one of the two is settled, the other can move.
    server.post(f"/v1/letters/{theirs}/resolve", {"why": "done"})
    assert lease_all(server, "prices") == [("twice", 2), ("alone", 3)]
    said = server.cli("queues", "rename", "orders", "prices", expect=1)
    assert '"twice" is held' in said and "moved 0 messages and 1 letter" in said
    assert server.message(ours)["message"]["queue"] == "prices"


@pytest.mark.parametrize("text", [b"error-of-o-1", b"body-of-o-1"])
def test_a_damaged_letter_stays_and_the_rest_moves(serve, text):
    server = serve(LEASED)
    letters = [dead_in(server, "orders", f"o-{n}", f"body-of-o-{n}", f"error-of-o-{n}") for n in range(4)]
    assert len(server.letters("orders.dlq")) == 4
    server.stop()
    mend = damage(server.folder, text)
    server.start()
    server.post("/v1/queues/orders/pause", {})
    renamed = server.post("/v1/queues/orders/rename", {"to": "prices"})
    assert renamed.status == 200, renamed.body
    assert (renamed.json["letters"], renamed.json["damaged"]) == (3, [letters[1]])
    assert [letter["id"] for letter in server.letters("prices.dlq")] == [letters[3], letters[2], letters[0]]
    said = server.cli("queues", "rename", "orders", "prices", expect=1)
    assert "0 messages and 0 letters moved" in said and letters[1] in said
    server.stop()
    mend()
    server.start()
    server.post("/v1/queues/orders/pause", {})
    assert server.post("/v1/queues/orders/rename", {"to": "prices"}).json == {
        "queue": "prices", "renamed_from": "orders", "messages": 0, "letters": 1, "configured": True}
    assert server.message(letters[1])["message"]["body"] == "body-of-o-1"


def test_idempotency_keys_and_kept_answers_move_too(serve, handler):
    worker = handler(lambda call: (200, {"Content-Type": "application/json"}, b'{"did": ' + call.body + b'}'))
    queue = {"handler": {"http": worker.url, "reply": {"store": "1h"}},
             "idempotency": {"header": "Idempotency-Key", "dedupe": "24h"}}
    server = serve({"orders": queue, "prices": queue, "others": queue})

    def push(name, key, body):
        some_id = server.push(name, body, headers={"Idempotency-Key": key})
        server.drained(name)
        return some_id
    keys = [f"key-{n}" for n in range(300)]
    server.push_many("orders", [{"id": f"m{n}", "body": n, "headers": {"Idempotency-Key": key}}
                                for n, key in enumerate(keys)])
    server.drained("orders")
    push("others", "key-7", 7)
    push("prices", "theirs", 8)
    assert worker.count() == 302
    server.post("/v1/queues/orders/pause", {})
    server.push("orders", 7, headers={"Idempotency-Key": "key-7"})
    server.cli("queues", "rename", "orders", "prices")
    server.drained("prices")
    server.push_many("prices", [{"body": n, "headers": {"Idempotency-Key": key}} for n, key in enumerate(keys)])
    push("prices", "theirs", 8)
    server.drained("prices")
    assert worker.count() == 302
    push("others", "key-7", 7)
    assert worker.count() == 302, "another queue remembers its own"
    answer = server.get("/v1/results/m7", queue="prices").json
    assert (answer["queue"], answer["body"]) == ("prices", {"did": 7})
    problem(server.get("/v1/results/m7", queue="orders"), 404, "no answer is kept")
    # What moved is forgotten under the old name.
    server.post("/v1/queues/orders/resume", {})
    push("orders", "key-7", 7)
    assert worker.count() == 303
    server.kill()
    server.start()
    push("prices", "key-9", 9)
    assert worker.count() == 303


def test_the_dlq_of_a_renamed_queue_is_listed_no_longer(serve):
    server = serve(LEASED)
    dead_in(server, "orders", "one", 1, "no")
    resolved = dead_in(server, "orders", "two", 2, "no")
    server.post(f"/v1/letters/{resolved}/resolve", {"why": "done"})
    server.post("/v1/queues/orders/pause", {})
    server.stop()
    server.configure({"prices": {"handler": "lease"}})
    server.start()

    def listed():
        return [[one["dlq"] for one in server.get(path).json["dlqs"]] for path in ("/v1/dlqs", "/v1/stats")]
    assert listed() == [["prices.dlq", "orders.dlq"]] * 2, "it holds letters"
    assert "0 messages and 2 letters moved" in server.cli("queues", "rename", "orders", "prices")
    assert listed() == [["prices.dlq"]] * 2
    assert "orders.dlq" not in server.cli("dlqs")
    server.kill()
    server.start()
    assert listed() == [["prices.dlq"]] * 2
    assert server.dlq("prices.dlq")["by_state"] == {"pending_review": 1, "replaying": 0, "resolved": 1, "discarded": 0}


def test_one_message_and_one_letter_are_told_in_the_singular(serve):
    server = serve(LEASED)
    dead_in(server, "orders", "one", 1, "no")
    server.post("/v1/queues/orders/pause", {})
    server.push("orders", 2)
    assert "1 message and 1 letter moved" in server.cli("queues", "rename", "orders", "prices")


def test_an_empty_paused_queue_is_removed_and_another_is_not(serve):
    server = paused_with(serve, FAILS, [{"id": "a", "body": 1}])
    problem(server.post("/v1/queues/prices/remove", {}), 409, "pause it first")
    problem(server.post("/v1/queues/nobody/remove", {}), 404, "nobody")
    assert "cannot be removed: it holds 1 waiting message and 0 unresolved letters" in server.cli("queues", "remove", "orders")
    problem(server.post("/v1/queues/orders/remove", {}), 409, "not empty", "rename")
    server.post("/v1/queues/orders/rename", {"to": "prices"})
    assert "would be removed; --apply does it" in server.cli("queues", "remove", "orders")
    assert [entry["what"] for entry in server.get("/v1/audit").json["audit"]][0] == "queue.rename"
    said = server.cli("queues", "remove", "orders", "--apply", "--why", "gone")
    assert "orders is removed" in said and "still names orders, so it stays listed" in said
    entry = server.get("/v1/audit").json["audit"][0]
    assert (entry["what"], entry["subject"], entry["why"]) == ("queue.remove", "orders", "gone")


def test_a_queue_with_letters_is_not_removed(serve):
    server = serve({"orders": {"handler": FAILS}})
    server.push("orders", 1)
    server.drained("orders")
    server.post("/v1/queues/orders/pause", {})
    problem(server.post("/v1/queues/orders/remove", {}), 409, "1 unresolved letter.")


QUEUES = {"orders": {"handler": FAILS}, "prices": {"handler": {"http": "http://127.0.0.1:9/"},
                                                   "classify": {"presets": ["http"]}}}


def test_check_names_settings_whose_meaning_changed(serve):
    server = serve(QUEUES)
    done = impound("check", "-c", server.config_path)
    assert done.returncode == 0
    heading, *changed = [line for line in done.stdout.splitlines() if line.startswith("# ")]
    assert heading == "# For those who used an earlier version:"
    assert all(line.startswith("# changed in ") for line in changed)
    assert any("classify.presets: errors (queue orders)" in line for line in changed)
    assert any("poison.crashes (queue prices)" in line for line in changed)
    for setting in ("classify.presets (queue orders and 1 more)", "breaker.open (queue orders and 1 more)",
                    "retry.attempts and retry.max_age (queue orders and 1 more)", "retry.retry_after_cap (queue prices)",
                    "dlq.on_full: block (queue orders and 1 more)", "flood (queue orders and 1 more)", "alerts.defaults: ",
                    "limit: "):
        assert any(f": {setting}" in line for line in changed), setting
    for setting in ("dlq.triage", "fallback", "compensate", "source", "adopt", "ai-api", "jq programs"):
        assert not any(f": {setting}" in line for line in changed), setting
    assert done.stderr == ""


def test_a_store_that_this_version_made_has_nothing_to_be_told(serve):
    server = serve(QUEUES)
    assert "changed in" not in server.log()
    server.push("orders", 1)
    server.drained("orders")
    server.stop()
    server.start()
    assert "changed in" not in server.log()
