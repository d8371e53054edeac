"""Dead letters that RabbitMQ made itself, adopted: looked at first, then taken."""
import collections
import logging

import pytest

from harness import PATIENCE_S, eventually, impound, problem, scaled
from relay import Relay

pika = pytest.importorskip("pika")
logging.getLogger("pika").setLevel(logging.CRITICAL)

TYPES = ["classic", "quorum"]
ASIDE = {"orders": {"handler": "lease"}}  # a queue that has nothing to do with it
Grave = collections.namedtuple("Grave", "queue reason category attempts")


class Cemetery:
    """A DLQ of its own on the node, and queues whose messages die into it."""

    count = 0

    def __init__(self, rabbit, kind="classic", **arguments):
        Cemetery.count += 1
        self.rabbit, self.name = rabbit, f"dlq{Cemetery.count}"
        self.declare(self.name, {"x-queue-type": kind, **arguments})

    def declare(self, name, arguments):
        with self.rabbit.channel() as channel:
            channel.queue_declare(name, durable=True, arguments=arguments)

    def queue(self, suffix, to=None, **arguments):
        name = f"{self.name}-{suffix}"
        self.declare(name, {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": to or self.name, **arguments})
        return name

    def publish(self, queue, body, **properties):
        with self.rabbit.channel() as channel:
            channel.basic_publish("", queue, body, pika.BasicProperties(delivery_mode=2, **properties), mandatory=True)

    def get(self, channel, queue):
        """The next message of the queue, once there is one."""
        return eventually(lambda: [got for got in [channel.basic_get(queue)] if got[0]], f"{queue} has a message")[0]

    def reject(self, queue, times=1):
        with self.rabbit.channel() as channel:
            for _ in range(times):
                channel.basic_reject(self.get(channel, queue)[0].delivery_tag, requeue=False)

    def left(self):
        return self.rabbit.messages(self.name)

    def holds(self, count):
        eventually(lambda: self.left() == count, f"{count} dead letters lie in {self.name}")

    def contents(self):
        """What lies there, in order, but for what a look changes; it lies there afterwards, too."""
        found = []
        with self.rabbit.channel() as channel:
            while (got := channel.basic_get(self.name))[0]:
                found.append((got[2], got[1].message_id, (got[1].headers or {}).get("x-death")))
                last = got[0].delivery_tag
            if found:
                channel.basic_nack(last, multiple=True, requeue=True)
        return found

    def adopt(self, mode, port=None, query="", **more):
        source = self.rabbit.url(f"queue={self.name}{query}", port=port)
        return [{"name": "legacy", "source": source, "mode": mode, **more}]

    # The four ways to die.

    def rejected(self):
        queue = self.queue("rejected")
        self.publish(queue, b"rejected", message_id="m-rejected", headers={"tenant": "a"})
        self.reject(queue)
        return Grave(queue, "rejected", "unknown", 1)

    def expired(self):
        queue = self.queue("expired")
        self.publish(queue, b"expired", message_id="m-expired", expiration="1")
        return Grave(queue, "expired", "timeout", 1)

    def pushed_out(self):
        queue = self.queue("maxlen", **{"x-max-length": 1})
        self.publish(queue, b"maxlen", message_id="m-maxlen")
        self.publish(queue, b"the next", message_id="m-next")
        return Grave(queue, "maxlen", "transient", 1)

    def given_up(self):
        queue = self.queue("limit", **{"x-queue-type": "quorum", "x-delivery-limit": 2})
        self.publish(queue, b"delivery_limit", message_id="m-delivery_limit")
        with self.rabbit.channel() as channel:
            for _ in range(3):
                channel.basic_nack(self.get(channel, queue)[0].delivery_tag, requeue=True)
        return Grave(queue, "delivery_limit", "crash", 1)

    def all_four(self):
        graves = []
        for die in (self.rejected, self.expired, self.pushed_out, self.given_up):
            graves.append(die())
            self.holds(len(graves))
        return {grave.reason: grave for grave in graves}


def adoption(server):
    return server.get("/v1/adoptions").json["adoptions"][0]


def looked(server):
    """Waits until the pass is over."""
    return eventually(lambda: [view for view in [adoption(server)] if view["state"] in ("done", "refused")],
                      "the pass is over")[0]


def whole(server, dlq="legacy.dlq"):
    return [server.get(f"/v1/letters/{row['id']}").json for row in server.letters(dlq)]


def again(server, queues, **top):
    server.stop()
    server.configure(queues, **top)
    server.start()


@pytest.mark.parametrize("mode", ["peek", "take"])
def test_of_several_hosts_one_that_answers_is_found(serve, rabbit, mode):
    cemetery = Cemetery(rabbit)
    cemetery.publish(cemetery.name, b"here", message_id="m-1")
    server = serve(ASIDE, adopt=cemetery.adopt(mode, port=f"1,127.0.0.1:1,127.0.0.1:{rabbit.port}"))
    letter, = eventually(lambda: whole(server), "it is found")
    assert letter["message"]["id"] == "m-1"
    assert impound("check", "--connect", "-c", server.config_path).returncode == 0


def test_that_no_host_answers_is_said_of_the_last(serve, rabbit):
    server = serve(ASIDE, adopt=Cemetery(rabbit).adopt("peek", port="1,127.0.0.1:2"))
    assert eventually(lambda: adoption(server)["trouble"], "it is said").startswith("127.0.0.1:2: connect: ")
    checked = impound("check", "--connect", "-c", server.config_path)
    assert checked.returncode == 1 and "127.0.0.1:2: connect: " in checked.stderr


@pytest.mark.parametrize("kind", TYPES)
def test_letters_of_all_four_reasons_are_looked_at_and_then_taken(serve, rabbit, kind):
    cemetery = Cemetery(rabbit, kind)
    graves = cemetery.all_four()
    before = cemetery.contents()

    server = serve(ASIDE, adopt=cemetery.adopt("peek"))
    looked(server)
    letters = {letter["reason"]: letter for letter in whole(server)}
    assert set(letters) == set(graves)
    for reason, grave in graves.items():
        letter = letters[reason]
        assert (letter["state"], letter["cause"], letter["category"]) == ("pending_review", "adopted", grave.category)
        assert letter["message"]["queue"] == letter["source"]["queue"] == grave.queue
        assert letter["attempts"] == grave.attempts
        assert letter["message"]["body"] == reason and letter["message"]["id"] == f"m-{reason}"
        assert letter["context"]["adopted"]["convention"] == "rabbitmq"
        assert letter["context"]["adopted"]["from"] == "legacy"
        assert letter["context"]["adopted"]["at"]["queue"] == cemetery.name
    assert letters["rejected"]["message"]["headers"]["tenant"] == "a"
    problem(server.post(f"/v1/letters/{letters['expired']['id']}/resolve", {"why": "seen"}), 409, "take")

    again(server, ASIDE, adopt=cemetery.adopt("peek"))
    assert looked(server)["known"] == 4
    assert {letter["id"] for letter in whole(server)} == {letter["id"] for letter in letters.values()}
    server.stop()
    assert cemetery.left() == 4
    assert cemetery.contents() == before, "a look leaves the queue as it was"

    server.configure(ASIDE, adopt=cemetery.adopt("take"))
    server.start()
    cemetery.holds(0)
    assert {letter["id"] for letter in whole(server)} == {letter["id"] for letter in letters.values()}
    answer = server.post(f"/v1/letters/{letters['expired']['id']}/resolve", {"why": "seen"})
    assert answer.status == 200, answer.body

    with rabbit.channel() as channel:
        channel.basic_publish("", graves["rejected"].queue, b"one more", pika.BasicProperties(message_id="m-5"))
    cemetery.reject(graves["rejected"].queue)
    eventually(lambda: len(server.letters("legacy.dlq")) == 4, "what dies later is taken, too")
    cemetery.holds(0)


@pytest.mark.parametrize("kind", TYPES)
def test_a_look_at_many_keeps_their_order(serve, rabbit, kind):
    cemetery, total = Cemetery(rabbit, kind), 1200  # more than two consumers may have
    with rabbit.channel() as channel:
        for number in range(total):
            channel.basic_publish("", cemetery.name, f"{number}", pika.BasicProperties(delivery_mode=2))
    server = serve(ASIDE, adopt=cemetery.adopt("peek"))
    assert looked(server)["adopted"] == total
    server.stop()
    assert [body for body, _, _ in cemetery.contents()] == [f"{number}".encode() for number in range(total)]


def somebody_waits_to_consume(rabbit):
    return rabbit.evaluate("""
        Waits = fun({Module, Function, _, _}) -> {Module, Function} == {rabbit_quorum_queue, consume} end,
        lists:any(fun(Channel) -> case erlang:process_info(Channel, current_stacktrace) of
            {_, Stack} -> lists:any(Waits, Stack);
            undefined -> false
        end end, rabbit_channel:list()).""") == "true"


def test_a_quorum_queue_that_is_too_busy_to_count_is_not_empty(serve, rabbit):
    """RabbitMQ says 0 messages when the queue does not tell it within 250 ms."""
    with rabbit.channel() as channel:
        channel.queue_declare("busy", durable=True, arguments={"x-queue-type": "quorum"})
        for number in range(3):
            channel.basic_publish("", "busy", b"%d" % number, pika.BasicProperties(delivery_mode=2))
    with rabbit.stalled("busy"):
        server = serve(ASIDE, adopt=[{"name": "legacy", "source": rabbit.url("queue=busy")}])
        eventually(lambda: adoption(server)["state"] == "done" or somebody_waits_to_consume(rabbit), "it looks")
    assert looked(server)["adopted"] == 3


def test_a_message_that_died_thrice_by_way_of_a_queue_where_it_waits_counts_three(serve, rabbit):
    cemetery = Cemetery(rabbit)
    orders, wait = f"{cemetery.name}-orders", f"{cemetery.name}-wait"
    cemetery.queue("orders", to=wait)
    cemetery.queue("wait", to=orders, **{"x-message-ttl": 1})
    cemetery.publish(orders, b"again and again", message_id="m-1")
    cemetery.reject(orders, times=3)
    with rabbit.channel() as channel:  # a consumer that gives it up buries it with its deaths
        _, properties, body = cemetery.get(channel, orders)
        channel.basic_publish("", cemetery.name, body, properties, mandatory=True)
    server = serve(ASIDE, adopt=cemetery.adopt("peek"))
    looked(server)
    letter, = whole(server)
    assert letter["message"]["queue"] == orders
    assert letter["attempts"] == 3
    assert [death["count"] for death in letter["context"]["adopted"]["at"]["deaths"]] == [3, 3]


@pytest.mark.parametrize("limit, forbidden", [(4, True), (6, False)])
def test_where_a_delivery_limit_leaves_too_few_nothing_is_looked_at(serve, rabbit, limit, forbidden):
    cemetery = Cemetery(rabbit, "quorum", **{"x-delivery-limit": limit, "x-max-length": 1000,
                                             "x-dead-letter-exchange": "nowhere"})
    cemetery.rejected()
    cemetery.holds(1)
    server = serve(ASIDE, adopt=cemetery.adopt("peek"))
    view = looked(server)
    assert view["state"] == ("refused" if forbidden else "done"), view
    assert len(server.letters("legacy.dlq")) == (0 if forbidden else 1)
    if forbidden:
        assert "delivery limit leaves 4" in view["trouble"], view
    server.stop()
    with rabbit.channel() as channel:
        _, properties, _ = cemetery.get(channel, cemetery.name)
        assert properties.headers["x-delivery-count"] == (0 if forbidden else 1)


def test_a_missing_queue_and_bad_credentials_are_told_and_mended(serve, rabbit):
    cemetery = Cemetery(rabbit)
    missing = [{"name": "legacy", "source": rabbit.url("queue=later"), "mode": "peek"}]
    server = serve(ASIDE, adopt=missing)
    eventually(lambda: "NOT_FOUND" in (adoption(server)["trouble"] or ""), "the missing queue is named")
    cemetery.declare("later", {})
    assert looked(server)["trouble"] is None
    again(server, ASIDE, adopt=[{**missing[0], "source": rabbit.url("queue=later", user="guest:wrong")}])
    eventually(lambda: "password" in (adoption(server)["trouble"] or ""), "the credentials are named")
    assert "wrong" not in server.log()


def test_letters_that_differ_in_nothing_are_as_many_as_there_are(serve, rabbit):
    cemetery, total = Cemetery(rabbit), 20
    queue = cemetery.queue("twins", **{"x-max-length": 0})
    for _ in range(total):
        cemetery.publish(queue, b"the same")
    cemetery.holds(total)
    server = serve(ASIDE, adopt=cemetery.adopt("peek"))
    looked(server)
    assert len(server.letters("legacy.dlq")) == total
    again(server, ASIDE, adopt=cemetery.adopt("take"))
    cemetery.holds(0)
    assert len(server.letters("legacy.dlq")) == total


def test_a_letter_goes_back_to_the_queue_where_it_died_first(serve, rabbit):
    cemetery = Cemetery(rabbit)
    grave = cemetery.rejected()
    cemetery.holds(1)
    server = serve(ASIDE, adopt=cemetery.adopt("take"))
    cemetery.holds(0)
    letter, = whole(server)
    answer = server.post("/v1/replays", {"ids": [letter["id"]], "to": "origin", "dry_run": False})
    assert answer.status in (200, 201, 202), answer.body
    with rabbit.channel() as channel:
        _, properties, body = cemetery.get(channel, grave.queue)
    assert body == b"rejected" and properties.message_id == "m-rejected"
    assert properties.headers["tenant"] == "a"
    assert not [name for name in properties.headers if "death" in name], properties.headers
    eventually(lambda: server.get(f"/v1/letters/{letter['id']}").json["state"] == "resolved", "the letter is resolved")


def to_origin(server, *letters):
    answer = server.post("/v1/replays", {"ids": [letter["id"] for letter in letters], "to": "origin", "dry_run": False})
    assert answer.status in (200, 201, 202), answer.body


def resolved(server, letter):
    eventually(lambda: server.get(f"/v1/letters/{letter['id']}").json["state"] == "resolved", "the letter is resolved")


@pytest.mark.parametrize("die", ["reject", "exhaust"])
def test_after_a_delay_queue_the_origin_is_the_queue_where_a_consumer_failed(serve, rabbit, die):
    """jobs.wait holds it until its expiration, jobs gets it by a dead-letter exchange, and a consumer of jobs fails."""
    cemetery = Cemetery(rabbit)
    jobs = cemetery.queue("jobs", **({"x-queue-type": "quorum", "x-delivery-limit": 1} if die == "exhaust" else {}))
    wait = cemetery.queue("jobs.wait", to=jobs)
    cemetery.publish(wait, b"later", message_id="m-1", expiration="1", headers={"tenant": "a"})
    with rabbit.channel() as channel:
        for _ in range(1 if die == "reject" else 2):
            channel.basic_nack(cemetery.get(channel, jobs)[0].delivery_tag, requeue=die == "exhaust")
    cemetery.holds(1)
    server = serve(ASIDE, adopt=cemetery.adopt("take"))
    cemetery.holds(0)
    letter, = whole(server)
    assert letter["message"]["queue"] == letter["source"]["queue"] == jobs
    to_origin(server, letter)
    with rabbit.channel() as channel:
        _, properties, body = cemetery.get(channel, jobs)
    assert (body, properties.message_id, properties.headers["tenant"]) == (b"later", "m-1", "a")
    assert rabbit.messages(wait) == 0
    resolved(server, letter)


def test_a_letter_goes_back_by_its_exchange_and_routing_key(serve, rabbit):
    """A worker that dispatches by routing key sees the one that the producer chose."""
    cemetery = Cemetery(rabbit)
    jobs, work = cemetery.queue("jobs"), f"{cemetery.name}-work"
    with rabbit.channel() as channel:
        channel.exchange_declare(work, "topic", durable=True)
        channel.queue_bind(jobs, work, "job.#")
        channel.basic_publish(work, "job.created", b"by topic", pika.BasicProperties(delivery_mode=2), mandatory=True)
    cemetery.reject(jobs)
    server = serve(ASIDE, adopt=cemetery.adopt("take"))
    cemetery.holds(0)
    letter, = whole(server)
    to_origin(server, letter)
    with rabbit.channel() as channel:
        method, _, body = cemetery.get(channel, jobs)
    assert (body, method.exchange, method.routing_key) == (b"by topic", work, "job.created")
    resolved(server, letter)


@pytest.mark.parametrize("gone", ["binding", "exchange", "asked"])
def test_without_its_exchange_a_letter_goes_to_its_queue(serve, rabbit, gone):
    """Its binding or exchange is gone, or the URL says origin=queue: other queues of an exchange get nothing then."""
    cemetery = Cemetery(rabbit)
    jobs, work = cemetery.queue("jobs"), f"{cemetery.name}-work"
    with rabbit.channel() as channel:
        channel.exchange_declare(work, "topic", durable=True)
        channel.queue_bind(jobs, work, "job.#")
        for body in (b"1", b"2"):
            channel.basic_publish(work, "job.created", body, pika.BasicProperties(delivery_mode=2), mandatory=True)
    cemetery.reject(jobs, times=2)
    cemetery.holds(2)
    server = serve(ASIDE, adopt=cemetery.adopt("take", query="&origin=queue" if gone == "asked" else ""))
    cemetery.holds(0)
    letters = whole(server)
    with rabbit.channel() as channel:
        if gone == "binding":
            channel.queue_unbind(jobs, work, "job.#")
        elif gone == "exchange":
            channel.exchange_delete(work)
        else:
            channel.queue_declare(f"{jobs}-other", durable=True)
            channel.queue_bind(f"{jobs}-other", work, "job.#")
    to_origin(server, *letters)
    with rabbit.channel() as channel:
        got = [cemetery.get(channel, jobs) for _ in range(2)]
    assert {body for _, _, body in got} == {b"1", b"2"}
    assert {(method.exchange, method.routing_key) for method, _, _ in got} == {("", jobs)}
    for letter in letters:
        resolved(server, letter)
    if gone == "asked":
        assert rabbit.messages(f"{jobs}-other") == 0


def test_a_letter_that_names_no_origin_is_not_sent_there(serve, rabbit):
    cemetery = Cemetery(rabbit)
    cemetery.publish(cemetery.name, b"put here by hand")
    server = serve(ASIDE, adopt=cemetery.adopt("take"))
    cemetery.holds(0)
    letter, = whole(server)
    assert letter["context"]["adopted"]["convention"] == "plain" and letter["reason"] == "unknown"
    assert letter["message"]["queue"] == "legacy"
    problem(server.post("/v1/replays", {"ids": [letter["id"]], "to": "origin", "dry_run": False}), 400, "rabbitmq")
    assert server.get(f"/v1/letters/{letter['id']}").json["state"] == "pending_review"


@pytest.mark.parametrize("named", [True, False])
def test_kill_9_while_letters_are_taken_loses_none(serve, rabbit, named):
    """With a message id none is doubled; without one nothing tells whether what comes again has its letter."""
    cemetery, total = Cemetery(rabbit, "quorum"), scaled(5000, least=500)
    queue = cemetery.queue("full", **{"x-max-length": 0})
    with rabbit.channel() as channel:
        for number in range(total):
            channel.basic_publish("", queue, f"{number}", pika.BasicProperties(
                delivery_mode=2, message_id=f"m-{number}" if named else None))
    cemetery.holds(total)
    server = serve(ASIDE, adopt=cemetery.adopt("take"))
    for _ in range(scaled(10, least=3)):
        eventually(lambda: adoption(server)["adopted"] > 0 or cemetery.left() == 0, "some were taken")
        server.kill()
        server.start()
    cemetery.holds(0)
    bodies = collections.Counter(letter["message"]["body"] for letter in whole(server))
    assert set(bodies) == set(range(total))
    if named:
        assert set(bodies.values()) == {1} and server.dlq("legacy.dlq")["depth"] == total


ACK = bytes([1, 0, 1, 0, 0, 0, 13, 0, 60, 0, 80])  # how a basic.ack on channel 1 begins


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("kind", TYPES)
def test_a_kill_between_letter_and_acknowledgement_loses_none(serve, rabbit, kind, named):
    """Messages with an id are known again by it and their body; those without one are letters of their own."""
    cemetery = Cemetery(rabbit, kind)
    for number in range(3):
        cemetery.publish(cemetery.name, b"the same", message_id=f"m-{number}" if named else None)
    relay = Relay(rabbit.port, ACK)
    try:
        server = serve(ASIDE, adopt=cemetery.adopt("take", relay.port))
        assert relay.reached.wait(PATIENCE_S), "something was acknowledged"
        server.kill()
    finally:
        relay.close()
    server.configure(ASIDE, adopt=cemetery.adopt("take"))
    server.start()
    cemetery.holds(0)
    letters = whole(server)
    assert {letter["message"]["body"] for letter in letters} == {"the same"}
    if named:
        assert sorted(letter["message"]["id"] for letter in letters) == ["m-0", "m-1", "m-2"]
    else:
        assert 3 <= len(letters) <= 6, "each of them at least once"
