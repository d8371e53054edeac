"""Messages that JetStream's consumers gave up, adopted through its advisories: looked at first, then taken."""
import asyncio
import base64
import json

import pytest

import adoption
from harness import eventually, impound, problem, scaled
from nats_node import Nats

ODD = b"\x00\xff not JSON"


@pytest.fixture(scope="module")
def nats(tmp_path_factory):
    node = Nats(tmp_path_factory.mktemp("nats"))
    try:
        yield node.start()
    finally:
        node.close()


class Cemetery:
    """A stream of orders with a consumer that gives up after two deliveries, and a stream of its own that keeps
    what the server tells of it."""

    count = 0

    def __init__(self, node):
        from nats.js.api import AckPolicy, ConsumerConfig  # pylint: disable=import-outside-toplevel
        Cemetery.count += 1
        self.node, self.orders, self.told = node, f"ORDERS{Cemetery.count}", f"ADVISORIES{Cemetery.count}"
        self.subject = f"orders{Cemetery.count}.new"
        self.source = node.url(f"stream={self.told}&consumer=impound")

        async def make(js):
            await js.add_stream(name=self.orders, subjects=[self.subject])
            await js.add_stream(name=self.told, subjects=[
                f"$JS.EVENT.ADVISORY.CONSUMER.{kind}.{self.orders}.>" for kind in ("MAX_DELIVERIES", "MSG_TERMINATED")])
            await js.add_consumer(self.orders, ConsumerConfig(
                durable_name="pricing", ack_policy=AckPolicy.EXPLICIT, ack_wait=30, max_deliver=2))
            await js.add_consumer(self.told, ConsumerConfig(
                durable_name="impound", ack_policy=AckPolicy.EXPLICIT, ack_wait=5))
        node.run(make)

    def send(self, body, **headers):
        return self.node.run(lambda js: js.publish(self.subject, body, headers=headers or None)).seq

    def give_up(self, count, terminate=()):
        """A consumer that cannot do them, until the server has told of so many more. Those whose sequence is in
        `terminate` are terminated, the others run out of deliveries."""
        async def consume(js):
            told = (await js.stream_info(self.told)).state.messages + count
            orders = await js.pull_subscribe_bind("pricing", self.orders)
            while (await js.stream_info(self.told)).state.messages < told:
                try:
                    for message in await orders.fetch(256, timeout=0.2):
                        await (message.term() if message.metadata.sequence.stream in terminate else message.nak())
                except asyncio.TimeoutError:
                    pass
        self.node.run(consume)

    def delete(self, sequence):
        self.node.run(lambda js: js.delete_msg(self.orders, sequence))

    def everything(self):
        """Both streams and both consumers, as the server tells of them."""
        async def look(js):
            return [(await js.stream_info(self.orders)).state, (await js.stream_info(self.told)).state,
                    *[(one.delivered, one.ack_floor, one.num_ack_pending, one.num_pending, one.num_waiting)
                      for one in (await js.consumer_info(self.orders, "pricing"),
                                  await js.consumer_info(self.told, "impound"))]]
        return self.node.run(look)

    def left(self):
        info = self.node.run(lambda js: js.consumer_info(self.told, "impound"))
        return info.num_pending + info.num_ack_pending

    def message(self, sequence):
        return self.node.run(lambda js: js.get_msg(self.orders, sequence))


def by_sequence(letters):
    return {letter["source"]["sequence"]: letter for letter in letters}


def bury(cemetery):
    """Three dead ones: out of deliveries, terminated, and deleted after it was given up."""
    cemetery.send(b'{"order": 1.0}', **{"Content-Type": "application/json", "tenant": "a", "impound-key": "k1"})
    cemetery.send(ODD)
    cemetery.send(b"nobody will read this")
    cemetery.give_up(3, terminate={2})
    cemetery.delete(3)


def check(letters, cemetery):
    assert sorted(letters) == [1, 2, 3]
    first, second, third = letters[1], letters[2], letters[3]
    for letter in letters.values():
        assert (letter["cause"], letter["state"], letter["message"]["queue"]) == (
            "adopted", "pending_review", cemetery.orders)
        assert letter["source"]["kind"] == "nats" and letter["source"]["stream"] == cemetery.orders
        adopted = letter["context"]["adopted"]
        assert (adopted["convention"], adopted["from"]) == ("nats-advisory", adoption.NAME)
        assert adopted["at"]["stream"] == cemetery.told and adopted["at"]["advisory"]["consumer"] == "pricing"
    assert [letter["reason"] for letter in (first, second, third)] == ["max_deliveries", "terminated", "max_deliveries"]
    assert [letter["attempts"] for letter in (first, second, third)] == [2, 1, 2]
    assert first["message"]["body"] == {"order": 1.0} and first["message"]["key"] == "k1"
    assert first["message"]["headers"]["tenant"] == "a" and first["source"]["subject"] == cemetery.subject
    assert base64.b64decode(second["message"]["body_base64"]) == ODD
    assert third["message"]["size"] == 0 and "subject" not in third["source"]
    assert third["context"]["adopted"]["at"]["origin"]["gone"] is True, "it says that the message was deleted"


@pytest.mark.parametrize("mode", ["peek", "take"])
def test_of_several_hosts_one_that_answers_is_found(serve, nats, mode):
    cemetery = Cemetery(nats)
    cemetery.send(b"{}")
    cemetery.give_up(1)
    source = cemetery.source.replace("127", "127.0.0.1:1,127", 1)
    server = serve(adoption.QUEUES, adopt=adoption.entry(source, mode))
    eventually(lambda: server.letters(adoption.DLQ), "it is found")
    assert impound("check", "--connect", "-c", server.config_path).returncode == 0


@pytest.mark.parametrize("mode", ["peek", "take"])
def test_a_host_without_jetstream_is_passed_over(serve, nats, tmp_path, mode):
    cemetery = Cemetery(nats)
    cemetery.send(b"{}")
    cemetery.give_up(1)
    bare = Nats(tmp_path, more="jetstream: disabled")
    try:
        bare.start()
        source = cemetery.source.replace("127", f"127.0.0.1:{bare.port},127", 1)
        server = serve(adoption.QUEUES, adopt=adoption.entry(source, mode))
        eventually(lambda: server.letters(adoption.DLQ), "it is found")
    finally:
        bare.close()


def test_messages_given_up_are_looked_at_and_then_taken(serve, nats):
    cemetery = Cemetery(nats)
    bury(cemetery)
    before = cemetery.everything()
    server = serve(adoption.QUEUES, adopt=adoption.entry(cemetery.source))
    assert adoption.looked(server)["adopted"] == 3
    letters = by_sequence(adoption.whole(server))
    check(letters, cemetery)
    adoption.cannot_be_decided(server, letters[1])
    adoption.restart(server, adoption.entry(nats.url(f"stream={cemetery.told}")))  # a consumer need not be named
    assert adoption.looked(server)["known"] == 3
    assert by_sequence(adoption.whole(server)) == letters, "the same letters, not doubled"
    assert cemetery.everything() == before, "a look changes nothing at the broker"

    adoption.restart(server, adoption.entry(cemetery.source, "take"))
    eventually(lambda: cemetery.left() == 0 and adoption.view(server)["taken"] == 3, "each is taken and acknowledged")
    taken = by_sequence(adoption.whole(server))
    check(taken, cemetery)
    assert {one["id"] for one in taken.values()} == {one["id"] for one in letters.values()}
    assert server.post(f"/v1/letters/{taken[2]['id']}/resolve", {"why": "done by hand"}).status == 200
    cemetery.send(b"one more")
    cemetery.give_up(1, terminate={4})
    eventually(lambda: 4 in by_sequence(adoption.whole(server)), "what dies later is taken, too")
    adoption.restart(server, adoption.entry(cemetery.source))
    assert (view := adoption.looked(server))["adopted"] == 0, view


def test_what_goes_back_is_the_message_that_was_given_up(serve, nats):
    cemetery = Cemetery(nats)
    bury(cemetery)
    server = serve(adoption.QUEUES, adopt=adoption.entry(cemetery.source, "take"))
    eventually(lambda: adoption.view(server)["adopted"] == 3, "each is taken")
    letters = by_sequence(adoption.whole(server))
    server.cli("replay", letters[1]["id"], letters[2]["id"], "--to", "origin", "--apply")
    back = [cemetery.message(4), cemetery.message(5)]
    assert {one.data for one in back} == {b'{"order": 1.0}', ODD}
    order = next(one for one in back if one.data != ODD)
    assert order.subject == cemetery.subject and order.headers["tenant"] == "a"
    assert order.headers["Content-Type"] == "application/json" and order.headers["impound-key"] == "k1"
    assert order.headers["Impound-Letter"] == letters[1]["id"]
    for number in (1, 2):
        letter = server.get(f"/v1/letters/{letters[number]['id']}").json
        assert (letter["state"], letter["resolution"]) == ("resolved", "replayed")
    server.cli("replay", letters[3]["id"], "--to", "origin", "--apply", expect=1)
    assert server.get(f"/v1/letters/{letters[3]['id']}").json["state"] == "pending_review", "there is nothing to send"

    cemetery.give_up(2, terminate={5})
    eventually(lambda: len(server.letters(adoption.DLQ)) == 3, "given up again, they are the same letters")
    again = {letter["id"]: letter for letter in adoption.whole(server)}
    assert set(again) == {letter["id"] for letter in letters.values()}
    assert [again[letters[number]["id"]]["replays"] for number in (1, 2)] == [1, 1]


def test_a_stream_of_plain_messages_is_adopted_too(serve, nats):
    cemetery = Cemetery(nats)
    for number in range(300):
        cemetery.send(b"%d" % number)
    for number in (1, 7, 300):
        cemetery.delete(number)
    server = serve(adoption.QUEUES, adopt=adoption.entry(nats.url(f"stream={cemetery.orders}&consumer=later")))
    assert adoption.looked(server)["adopted"] == 297
    letters = {letter["context"]["adopted"]["at"]["sequence"]: letter for letter in adoption.whole(server)}
    assert set(letters) == set(range(1, 301)) - {1, 7, 300}
    assert all(letter["message"]["body"] == number - 1 for number, letter in letters.items())
    assert letters[2]["context"]["adopted"]["convention"] == "plain"


class OwnQueue:
    """A stream with two consumers, impound's and another's, and a stream of all terminations."""

    def __init__(self, node, name, **stream):
        from nats.js.api import AckPolicy, ConsumerConfig  # pylint: disable=import-outside-toplevel
        self.node, self.name, self.told = node, name, f"{name}-TOLD"
        self.subject = f"{name.lower()}.new"
        self.source = node.url(f"stream={name}&consumer=pricing")
        self.advisories = node.url(f"stream={self.told}&consumer=impound")

        async def make(js):
            await js.add_stream(name=name, subjects=[self.subject], **stream)
            await js.add_stream(name=self.told, subjects=[
                f"$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.{one}.>" for one in (name, self.told)])
            for place, durable in ((name, "pricing"), (self.told, "impound")):
                await js.add_consumer(place, ConsumerConfig(
                    durable_name=durable, ack_policy=AckPolicy.EXPLICIT, ack_wait=30))
        node.run(make)

    def send(self, *bodies):
        async def publish(js):
            for body in bodies:
                await js.publish(self.subject, body)
        self.node.run(publish)

    def advised(self):
        return self.node.run(lambda js: js.stream_info(self.told)).state.messages

    def unread(self):
        info = self.node.run(lambda js: js.consumer_info(self.told, "impound"))
        return info.num_pending + info.num_ack_pending


@pytest.mark.parametrize("mode", ["peek", "take"])
@pytest.mark.parametrize("retention", ["limits", "workqueue"])
def test_impounds_own_terminations_are_not_adopted(serve, handler, nats, mode, retention):
    """Its letters are there already; with a work queue the terminated message is gone, too."""
    orders = OwnQueue(nats, f"OWN-{mode}-{retention}", retention=retention)
    worker = handler(lambda call: 422)
    queues = {"orders": {"source": orders.source, "handler": {"http": worker.url}}}
    server = serve(queues)
    orders.send(b"1", b"2", b"3")
    eventually(lambda: len(server.letters("orders.dlq")) == 3 and orders.advised() == 3, "three terminations are told of")
    first, *_ = server.letters("orders.dlq")
    assert server.post(f"/v1/letters/{first['id']}/discard", {"why": "nobody wants it"}).status == 200
    adoption.restart(server, adoption.entry(orders.advisories, mode), queues)
    eventually(lambda: adoption.view(server)["known"] == 3, "each is known")
    if mode == "take":
        eventually(lambda: orders.unread() == 0, "each is acknowledged")
    assert server.letters(adoption.DLQ) == [] and adoption.view(server)["adopted"] == 0
    assert len(server.letters("orders.dlq")) == 2


def test_a_termination_by_another_consumer_is_adopted(serve, handler, nats):
    orders = OwnQueue(nats, "OWN-SHARED")
    nats.run(lambda js: js.add_consumer(orders.name, durable_name="billing", ack_policy="explicit"))
    worker = handler(lambda call: 422)
    server = serve({"orders": {"source": orders.source, "handler": {"http": worker.url}}},
                   adopt=adoption.entry(orders.advisories, "take"))
    orders.send(b"bad for both")
    eventually(lambda: adoption.view(server)["known"] == 1, "impound's own termination is known")

    async def terminate(js):
        billing = await js.pull_subscribe_bind("billing", orders.name)
        await (await billing.fetch(1))[0].term()
    nats.run(terminate)
    letter, = eventually(lambda: adoption.whole(server), "the other one is a letter")
    assert letter["context"]["adopted"]["at"]["advisory"]["consumer"] == "billing"
    assert letter["message"]["body"] == "bad for both" and len(server.letters("orders.dlq")) == 1


def test_a_queue_of_advisories_does_not_feed_itself(serve, handler, nats):
    """Its stream keeps the terminations of its own consumer, too."""
    orders = OwnQueue(nats, "OWN-LOOP")
    worker = handler(lambda call: 422)
    server = serve({"orders": {"source": orders.source, "handler": {"http": worker.url}},
                    "given-up": {"source": orders.advisories, "handler": {"http": worker.url}}})
    orders.send(b"once")
    eventually(lambda: len(server.letters("given-up.dlq")) == 1 and orders.unread() == 0, "its advisory is a letter")
    assert orders.advised() == 1 and worker.count() == 2


def test_kill_9_while_taking_loses_and_doubles_nothing(serve, nats):
    cemetery, total = Cemetery(nats), scaled(3000, least=300)
    nats.run(lambda js: fill(js, cemetery.subject, total))
    cemetery.give_up(total, terminate=range(1, total + 1))
    server = serve(adoption.QUEUES, adopt=adoption.entry(cemetery.source, "take"))
    for _ in range(scaled(20, least=3)):
        eventually(lambda: adoption.view(server)["adopted"] + adoption.view(server)["known"] > 0 or cemetery.left() == 0,
                   "it takes some")
        server.kill()
        server.start()
    eventually(lambda: cemetery.left() == 0, "all are taken and acknowledged")
    letters = server.letters(adoption.DLQ)
    assert sorted(one["source"]["sequence"] for one in letters) == list(range(1, total + 1))
    assert server.dlq(adoption.DLQ)["depth"] == total


async def fill(js, subject, total):
    for number in range(total):
        await js.publish(subject, json.dumps({"n": number}).encode())


def test_a_missing_stream_is_told_and_found_later(serve, nats):
    server = serve(adoption.QUEUES, adopt=adoption.entry(nats.url("stream=LATER&consumer=impound")))
    eventually(lambda: "stream not found" in (adoption.view(server)["trouble"] or ""), "the missing stream is named")
    checked = impound("check", "-c", server.config_path, "--connect")
    assert checked.returncode == 1 and "LATER" in checked.stderr, checked.stderr

    async def make(js):
        await js.add_stream(name="LATER", subjects=["later"])
        await js.publish("later", b"here")
    nats.run(make)
    assert adoption.looked(server)["adopted"] == 1
    checked = impound("check", "-c", server.config_path, "--connect")
    assert checked.returncode == 0, "a look needs no consumer"
    letter, = adoption.whole(server)
    problem(server.post(f"/v1/letters/{letter['id']}/discard", {"why": "x"}), 409, "take")


def test_a_stream_that_was_made_again_has_other_letters_at_its_sequences(serve, nats):
    async def make(js):
        await js.add_stream(name="AGAIN", subjects=["again"])
        await js.add_consumer("AGAIN", durable_name="impound", ack_policy="explicit", ack_wait=5)

    async def send(js, bodies):
        for body in bodies:
            await js.publish("again", body, headers={"impound-key": " k ", "b": "1", "a": "2", "c": "3"})

    async def left(js):
        info = await js.consumer_info("AGAIN", "impound")
        return info.num_pending + info.num_ack_pending

    source = nats.url("stream=AGAIN&consumer=impound")
    nats.run(make)
    nats.run(lambda js: send(js, [b"old 1", b"old 2"]))
    server = serve(adoption.QUEUES, adopt=adoption.entry(source))
    assert adoption.looked(server)["adopted"] == 2
    adoption.restart(server, adoption.entry(source, "take"))
    eventually(lambda: adoption.view(server)["taken"] == 2 and nats.run(left) == 0, "the same two are taken")
    server.stop()
    nats.run(lambda js: js.delete_stream("AGAIN"))
    nats.run(make)
    nats.run(lambda js: send(js, [b"new 1", b"old 2", b"new 3"]))
    server.start()
    eventually(lambda: nats.run(left) == 0, "the new ones are acknowledged")
    bodies = [letter["message"]["body"] for letter in adoption.whole(server)]
    assert sorted(bodies) == ["new 1", "new 3", "old 1", "old 2", "old 2"]
