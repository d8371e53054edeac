"""`to: origin`: letters go back to where they came from, on every broker's real server, and come again from there."""
import contextlib
import importlib
import json

import pytest

from brokers import Rabbit, Redis
from harness import PATIENCE_S, eventually, impound, problem
from kafka_node import Kafka
from nats_node import Lane as NatsLane
from nats_node import Nats

QUEUE = "orders"
DLQ = "orders.dlq"
BODY = b'{"order": 1.0, "big": 12345678901234567890}'


class Road:
    """One place on a broker, written and read by its own client. `source` and `idle` are URLs on the same server."""
    count = 0

    def __init__(self, node):
        Road.count += 1
        self.node, self.name = node, f"road{Road.count}"
        self.make()

    def hurry(self):
        """What nobody acknowledges soon comes again: for those who kill."""


class RedisList(Road):
    kind = "redis list"
    beside = {}  # an element is a body and nothing else

    def make(self):
        self.there = importlib.import_module("redis").Redis(port=self.node.port, socket_timeout=PATIENCE_S)
        self.source, self.idle = self.node.url(f"list={self.name}"), self.node.url(f"list={self.name}-idle")

    def send(self, *bodies):
        self.there.lpush(self.name, *bodies)

    def read(self):
        (element,) = self.there.lrange(self.name, 0, -1)
        return element, {}

    def left(self):
        return self.there.llen(self.name) + sum(self.there.hlen(one) for one in self.there.keys(f"{self.name}:impound:*"))


class RedisStream(Road):
    kind = "redis stream"
    beside = {b"tenant": b"t\xff1", b"key": b"k1"}

    def make(self):
        self.there = importlib.import_module("redis").Redis(port=self.node.port, socket_timeout=PATIENCE_S)
        for name in (self.name, f"{self.name}-idle"):
            self.there.xgroup_create(name, "g", id="0", mkstream=True)
        self.source = self.node.url(f"stream={self.name}&group=g")
        self.idle = self.node.url(f"stream={self.name}-idle&group=g")

    def send(self, *bodies):
        for body in bodies:
            self.there.xadd(self.name, {b"body": body, **self.beside})

    def read(self):
        fields = self.there.xrevrange(self.name, count=1)[0][1]
        return fields.pop(b"body"), fields

    def left(self):
        (group,) = self.there.xinfo_groups(self.name)
        behind = group["lag"]
        if behind is None:  # a server that was killed may have lost count
            behind = len(self.there.xrange(self.name, b"(" + group["last-delivered-id"]))
        return behind + group["pending"]


class RabbitQueue(Road):
    kind = "rabbitmq queue"
    beside = {"message_id": "m-1", "content_type": "application/json", "correlation_id": "c-1", "priority": 3,
              "headers": {"tenant": "t1", "n": 7, "yes": True, "impound-key": "k1"}}

    def make(self):
        self.pika = importlib.import_module("pika")
        with self.node.channel() as channel:
            for name in (self.name, f"{self.name}-idle"):
                channel.queue_declare(name, durable=True)
        self.node.sync()
        self.source = self.node.url(f"queue={self.name}")
        self.idle = self.node.url(f"queue={self.name}-idle")

    def send(self, *bodies):
        with self.node.channel() as channel:
            for n, body in enumerate(bodies):
                more = {**self.beside, "message_id": f"m-{n}"} if len(bodies) > 1 else self.beside
                channel.basic_publish("", self.name, body, self.pika.BasicProperties(delivery_mode=2, **more),
                                      mandatory=True)

    def read(self):
        with self.node.channel() as channel:
            method, properties, body = channel.basic_get(self.name)
            assert method.message_count == 0
            channel.basic_nack(method.delivery_tag, requeue=True)
        assert properties.delivery_mode == 2
        return body, {name: getattr(properties, name) for name in self.beside}

    def left(self):
        return self.node.messages(self.name)

    def remove(self):
        with self.node.channel() as channel:
            channel.queue_delete(self.name)


class NatsStream(Road):
    kind = "nats subject"
    beside = {"tenant": "t1", "impound-key": "k1", "Content-Type": "application/json"}

    def hurry(self):
        self.node.run(lambda js: self.lane.add_consumer(js, ack_wait=5))

    def make(self):
        self.lane, other = NatsLane(self.node), NatsLane(self.node)
        self.name, self.source, self.idle = self.lane.subject, self.lane.source, other.source

    def send(self, *bodies):
        for body in bodies:
            self.lane.send(body, **self.beside)

    def read(self):
        async def last(js):
            state = (await js.stream_info(self.lane.name)).state
            return await js.get_msg(self.lane.name, state.last_seq)
        message = self.node.run(last)
        headers = dict(message.headers)
        assert headers.pop("Nats-Msg-Id")  # its own in each round
        return message.data, headers

    def left(self):
        return self.lane.left()


class NatsStreamOfBareMessages(NatsStream):
    beside = {"tenant": "t1"}


class NatsStreamOfOddSpelling(NatsStream):
    beside = {"CONTENT-type": "application/json"}


class KafkaTopic(Road):
    kind = "kafka topic"
    beside = [("tenant", b"t1"), ("tenant", b"t2"), ("bytes", b"\xff\xfe"), ("empty", b""), ("none", None)]

    def make(self):
        self.node.make_topic(self.name, partitions=3)
        self.node.make_topic(f"{self.name}-idle")
        self.source = self.node.url(self.name, group=self.name)
        self.idle = self.node.url(f"{self.name}-idle", group="idle")

    def send(self, *bodies):
        self.node.produce(self.name, [{"value": body, "key": b"k\xff1", "headers": self.beside, "partition": 1}
                                      for body in bodies])

    def read(self):
        first, last = self.node.records(self.name)
        assert (last.partition(), last.key()) == (first.partition(), first.key()) == (1, b"k\xff1")
        return last.value(), last.headers()

    def left(self):
        return self.node.lag(self.name, self.name)

    def remove(self):
        self.node.remove_topic(self.name)


NODES = {"redis": Redis, "rabbitmq": Rabbit, "nats": Nats, "kafka": Kafka}
ROADS = [RedisList, RedisStream, RabbitQueue, NatsStream, NatsStreamOfBareMessages, NatsStreamOfOddSpelling, KafkaTopic]
QUICK = [RedisList, RedisStream, NatsStream]  # whose servers start at once


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    """The servers that were asked for, each started once."""
    started = {}
    known = json.loads(impound("version", "--json").stdout)["sources"]

    def node(kind):
        if kind not in known:
            pytest.skip(f"a build without {kind}")
        if kind not in started:
            server = NODES[kind](tmp_path_factory.mktemp(kind))
            started[kind] = server
            server.start()
        return started[kind]
    yield node
    for server in started.values():
        server.close()


def name_of(shape):
    return shape.__name__


@pytest.fixture(params=ROADS, ids=name_of)
def road(request, nodes):
    shape = request.param
    for module in {"redis": ["redis"], "rabbitmq": ["pika"]}.get(shape.kind.split()[0], []):
        pytest.importorskip(module)
    return shape(nodes(shape.kind.split()[0]))


def queues(source, worker, **more):
    return {QUEUE: {"source": source, "handler": {"http": worker.url}, "concurrency": 8, **more}}


def move(server, source, worker):
    """The same server, whose queue reads from elsewhere."""
    server.stop()
    server.configure(queues(source, worker))
    server.start()


def the_letter(server, **wanted):
    """The only one that impound holds, once it is like that."""
    def found():
        letters = server.get("/v1/letters", state="pending_review,replaying,resolved").json["letters"]
        assert len(letters) <= 1, letters
        one = server.get(f"/v1/letters/{letters[0]['id']}").json if letters else None
        return one if one and all(one[name] == value for name, value in wanted.items()) else None
    return eventually(found, f"a letter with {wanted}; log: {server.log()[-3000:]}")


def marks_of(letter):
    return {"Impound-Letter": letter["id"], "Impound-Replays": str(letter["replays"])}


def assert_as_sent(road, letter):
    """At the broker it is what it was, but for the two headers that name it."""
    body, beside = road.read()
    marks = marks_of(letter)
    assert body == BODY
    if isinstance(road.beside, list):
        assert beside == road.beside + [(name, value.encode()) for name, value in marks.items()]
    elif isinstance(road, RedisList):
        assert beside == {}
    elif isinstance(road, RedisStream):
        assert beside == {**road.beside, **{name.encode(): value.encode() for name, value in marks.items()}}
    elif isinstance(road, RabbitQueue):
        assert beside == {**road.beside, "headers": {**road.beside["headers"], **marks}}
    else:
        assert beside == {**road.beside, **marks}


def test_a_letter_goes_back_as_it_came_and_is_the_same_when_it_comes_again(serve, handler, road):
    healthy = []
    worker = handler(lambda call: 200 if healthy else 400)
    road.send(BODY)
    server = serve(queues(road.source, worker))
    first = the_letter(server, state="pending_review", replays=0)
    eventually(lambda: road.left() == 0, "it is settled")

    move(server, road.idle, worker)  # nobody reads there now
    plan = server.cli("replay", first["id"], "--to", "origin")
    assert f"1 to {road.kind} {road.name}" in plan
    assert "is done: 1 of 1 sent, 1 resolved" in server.cli("replay", first["id"], "--to", "origin", "--apply")
    sent = the_letter(server, state="resolved", resolution="replayed", replays=1)
    assert sent["id"] == first["id"] and sent["to_origin"] is True
    assert_as_sent(road, sent)

    move(server, road.source, worker)  # it is read, and fails as before
    again = the_letter(server, state="pending_review", replays=1)
    assert again["id"] == first["id"] and again["message"]["id"] == first["message"]["id"]
    for name in ("body", "key", "headers", "content_type", "content_hash"):
        assert again["message"].get(name) == first["message"].get(name)
    assert [(line["replay"], line["attempt"], line["verdict"]) for line in again["history"]] == \
        [(0, 1, "dlq"), (1, 1, "dlq")]
    eventually(lambda: road.left() == 0, "it is settled")
    assert [call.headers["Impound-Replay"] for call in worker.calls] == ["0", "1"]
    assert [call.body for call in worker.calls] == [BODY, BODY]

    healthy.append(True)
    server.cli("replay", first["id"], "--to", "origin", "--apply")
    eventually(lambda: len(worker.calls) == 3, "it is handed over")
    done = the_letter(server, state="resolved", resolution="replayed", replays=2)
    assert done["id"] == first["id"] and worker.calls[2].body == BODY
    eventually(lambda: road.left() == 0, "it is settled")
    assert server.dlq(DLQ)["depth"] == 0


@pytest.mark.parametrize("fields", [
    {b"job": b"\x80\x04\x95pickled\xff", b"n": b"7"},
    {b"\xfename": b"\xc3(", b"base64:YQ==": b'{"base64":"YQ=="}'},
    {b"\xffonly": b"\x00\xff"},
], ids=["value", "name", "single"])
def test_a_stream_entry_without_a_body_comes_back_byte_for_byte(serve, handler, nodes, fields):
    pytest.importorskip("redis")
    road = RedisStream(nodes("redis"))
    worker = handler(lambda call: 400)
    road.there.xadd(road.name, fields)
    server = serve(queues(road.source, worker))
    first = the_letter(server, state="pending_review", replays=0)
    move(server, road.idle, worker)
    server.cli("replay", first["id"], "--to", "origin", "--apply")
    sent = the_letter(server, state="resolved", resolution="replayed", replays=1)
    marks = {name.encode(): value.encode() for name, value in marks_of(sent).items()}
    assert road.there.xrevrange(road.name, count=1)[0][1] == {**fields, **marks}


def pile_up(serve, handler, road, count):
    """So many letters, and a worker that takes them by now."""
    healthy, bodies = [], [b'{"n":%d}' % n for n in range(count)]
    worker = handler(lambda call: 200 if healthy else 400)
    road.send(*bodies)
    server = serve(queues(road.source, worker))
    eventually(lambda: server.dlq(DLQ).get("depth") == count, "all are dead")
    eventually(lambda: road.left() == 0, "all are settled")
    healthy.append(True)
    del worker.calls[:]
    return server, worker, set(bodies)


def replay_all(server, **more):
    answer = server.post("/v1/replays", {"all": True, "to": "origin", "dry_run": False, "canary": False,
                                         "ramp": False, **more})
    assert answer.status == 200, answer.body
    return answer.json["id"]


def state_of(server, replay):
    return server.get(f"/v1/replays/{replay}").json


@contextlib.contextmanager
def away(node):
    """The broker is killed, and there again afterwards, whatever happens meanwhile."""
    node.kill()
    try:
        yield
    finally:
        node.start()


def assert_all_went_round(server, worker, road, bodies):
    """Each was handled, and none is a second letter."""
    eventually(lambda: {call.body for call in worker.calls} >= bodies, "every letter was handled")
    eventually(lambda: road.left() == 0, "the broker has nothing left")
    eventually(lambda: server.dlq(DLQ)["depth"] == 0, "nothing is dead or on its way")
    letters = server.letters(DLQ, state="resolved")
    assert len(letters) == len(bodies) == len({one["id"] for one in letters})
    assert all(one["resolution"] == "replayed" and one["replays"] == 1 for one in letters)
    assert len(server.letters(DLQ)) == 0


@pytest.mark.parametrize("road", QUICK, ids=name_of, indirect=True)
def test_while_the_broker_is_away_letters_wait(serve, handler, road):
    road.hurry()
    server, worker, bodies = pile_up(serve, handler, road, 20)
    with away(road.node):
        eventually(lambda: server.queue(QUEUE)["source_trouble"], "impound knows")
        replay = replay_all(server, rate="max")
        eventually(lambda: state_of(server, replay)["state"] == "waiting", "the replay waits")
        assert "the source of queue orders is away" in state_of(server, replay)["why"]
        assert server.dlq(DLQ)["depth"] == 20
    eventually(lambda: state_of(server, replay)["state"] == "done", "the replay goes on")
    assert_all_went_round(server, worker, road, bodies)


def test_a_broker_that_dies_in_the_midst_loses_nothing(serve, handler, road):
    road.hurry()
    server, worker, bodies = pile_up(serve, handler, road, 40)
    replay = replay_all(server, rate="40/s")
    eventually(lambda: state_of(server, replay)["sent"] >= 5, "some are sent")
    with away(road.node):
        pass
    eventually(lambda: state_of(server, replay)["state"] == "done",
               f"the replay goes on: {state_of(server, replay)}")
    assert_all_went_round(server, worker, road, bodies)


def test_kill_9_of_impound_loses_and_doubles_nothing(serve, handler, road):
    road.hurry()
    server, worker, bodies = pile_up(serve, handler, road, 60)
    replay = replay_all(server, rate="100/s")
    for sent in (5, 30):
        eventually(lambda sent=sent: state_of(server, replay)["sent"] >= sent, "some are sent")
        server.kill()
        server.start()
    eventually(lambda: state_of(server, replay)["state"] == "done", "the replay goes on")
    assert_all_went_round(server, worker, road, bodies)


def test_letters_of_the_built_in_queue_are_refused_and_told_where_to_go(serve, handler):
    worker = handler(lambda call: 400)
    server = serve({QUEUE: {"source": "builtin", "handler": {"http": worker.url}}})
    server.push(QUEUE, {"n": 1})
    letter = the_letter(server, state="pending_review")
    for dry_run in (True, False):
        problem(server.post("/v1/replays", {"ids": [letter["id"]], "to": "origin", "dry_run": dry_run}), 400,
                letter["id"], "built-in queue", "without `to`")
    assert "built-in queue" in server.cli("replay", letter["id"], "--to", "origin", "--apply", expect=1)
    assert the_letter(server)["replays"] == 0


def test_without_a_way_back_it_is_refused(serve, handler, nodes):
    pytest.importorskip("redis")
    worker = handler(lambda call: 400)
    road = RedisList(nodes("redis"))
    road.send(BODY)
    server = serve(queues(road.source, worker))
    letter = the_letter(server, state="pending_review")
    server.stop()
    server.configure({"others": {"source": "builtin", "handler": {"http": worker.url}}})
    server.start()
    order = {"ids": [letter["id"]], "dry_run": False}
    problem(server.post("/v1/replays", {**order, "to": "origin"}), 400,
            f"redis list {road.name}", f'queue "{QUEUE}"', "adopt entry")
    problem(server.post("/v1/replays", order), 400, f'queue "{QUEUE}"', "not in the configuration", "origin")


@pytest.mark.parametrize("road, why", [(RabbitQueue, "routes it to no queue"), (KafkaTopic, "there is no such topic")],
                         indirect=["road"])
def test_what_the_origin_will_never_take_is_dead_as_before(serve, handler, road, why):
    worker = handler(lambda call: 400)
    road.send(BODY)
    server = serve(queues(road.source, worker))
    letter = the_letter(server, state="pending_review")
    move(server, road.idle, worker)
    road.remove()
    assert why in server.cli("replay", letter["id"], "--to", "origin", "--apply", expect=1)
    after = the_letter(server, state="pending_review", replays=0)
    assert why in after["why"] and after["reason"] == letter["reason"]


def test_rounds_are_bounded_by_max_replays(serve, handler, nodes):
    pytest.importorskip("redis")
    worker = handler(lambda call: 400)
    road = RedisStream(nodes("redis"))
    road.send(BODY)
    server = serve(queues(road.source, worker, dlq={"max_replays": 1}))
    letter = the_letter(server, state="pending_review")
    server.cli("replay", letter["id"], "--to", "origin", "--apply")
    the_letter(server, state="pending_review", replays=1)
    assert "1 escalated" in server.cli("replay", letter["id"], "--to", "origin", "--apply")
    after = the_letter(server, state="pending_review", replays=1)
    assert after["escalated_at"] and len(worker.calls) == 2


def test_an_edited_letter_goes_back_edited(serve, handler, nodes):
    pytest.importorskip("redis")
    worker = handler(lambda call: 200 if b'"fixed"' in call.body else 400)
    road = RedisList(nodes("redis"))
    road.send(b'{"order": 1.0}')
    server = serve(queues(road.source, worker))
    letter = the_letter(server, state="pending_review")
    server.cli("replay", letter["id"], "--to", "origin", "--edit", '.pin = "fixed"', "--apply")
    eventually(lambda: len(worker.calls) == 2, "it is handed over")
    assert json.loads(worker.calls[1].body) == {"order": 1.0, "pin": "fixed"}
    done = the_letter(server, state="resolved", replays=1)
    assert done["edited"] and done["original"]["body"] == {"order": 1.0}
