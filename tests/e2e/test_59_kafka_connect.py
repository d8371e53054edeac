"""A real Kafka Connect sink whose dead letter queue is adopted, and whose letters go back to their topic."""
import json

import pytest

from connect_node import Connect
from harness import eventually, problem

TOPIC, DEAD, DLQ = "orders", "orders-dead", "connect.dlq"
GOOD = b'{"schema": {"type": "string"}, "payload": "good"}'
BROKEN = b'{"schema": {"type": "string"}, "payl'
BARE = b'{"price": 1.0}'
HEADERS = [("tenant", b"t\xff1"), ("traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")]


@pytest.fixture(name="kafka", scope="module")
def fixture_topics(kafka):
    for topic in (TOPIC, DEAD):
        kafka.make_topic(topic)
    return kafka


@pytest.fixture(name="connect", scope="module")
def fixture_connect(kafka, tmp_path_factory):
    worker = Connect(tmp_path_factory.mktemp("connect"), kafka, TOPIC, DEAD)
    try:
        yield worker.start()
    finally:
        worker.close()


def adopt(kafka, mode):
    return [{"name": "connect", "source": kafka.url(DEAD, group="impound"), "dlq": DLQ, "mode": mode}]


def others(worker):
    return {"others": {"source": "builtin", "handler": {"http": worker.url}}}


def letters(server, count, **wanted):
    """The letters of the DLQ by body, once they are so many and each is like that; none is there twice."""
    def found():
        listed = server.letters(DLQ, state="pending_review,replaying,resolved")
        assert len(listed) <= count, listed
        if len(listed) < count:
            return None
        whole = [server.get(f"/v1/letters/{one['id']}").json for one in listed]
        return whole if all(one[name] == value for one in whole for name, value in wanted.items()) else None
    found = eventually(found, f"{count} letters with {wanted}; log: {server.log()[-3000:]}")
    return {one["message"]["size"]: one for one in found}


def test_dead_letters_of_a_connector_are_adopted_and_go_back(serve, handler, kafka, connect):
    kafka.produce(TOPIC, [{"value": value, "key": "k1", "headers": HEADERS} for value in (GOOD, BROKEN, BARE)])
    eventually(lambda: kafka.ends(DEAD) == {0: 2}, f"two are dead; {connect.log()[-2000:]}")
    eventually(lambda: connect.lines() == ["good"], "the third is written, when the connector comes to it")

    # Looked at, and left alone.
    server = serve(others(handler(lambda call: 200)), adopt=adopt(kafka, "peek"))
    seen = letters(server, 2, state="pending_review", cause="adopted", read_only=True)
    problem(server.post("/v1/replays", {"ids": [seen[len(BROKEN)]["id"]], "to": "origin", "dry_run": False}), 409, "take")
    assert kafka.committed(DEAD, "impound") == {0: 0}
    broken, bare = seen[len(BROKEN)], seen[len(BARE)]
    for offset, letter in ((1, broken), (2, bare)):
        assert letter["message"]["queue"] == TOPIC and letter["message"]["key"] == "k1"
        source = letter["source"]
        assert (source["kind"], source["topic"], source["partition"], source["offset"]) == ("kafka", TOPIC, 0, offset)
        assert letter["failure"]["error_type"] == "org.apache.kafka.connect.errors.DataException"
        context = json.dumps(letter["context"])
        for word in ("kafka-connect", "VALUE_CONVERTER", Connect.CONNECTOR):
            assert word in context, context
        assert letter["message"]["headers"]["__connect.errors.stage"] == "VALUE_CONVERTER"
    assert broken["message"]["body"] == BROKEN.decode() and bare["message"]["body"] == {"price": 1.0}

    # Taken: the same letters.
    server.stop()
    server.configure(others(handler(lambda call: 200)), adopt=adopt(kafka, "take"))
    server.start()
    taken = letters(server, 2, state="pending_review", cause="adopted")
    eventually(lambda: not any(one.get("read_only") for one in letters(server, 2).values()), "they are ours")
    assert {one["id"] for one in taken.values()} == {broken["id"], bare["id"]}
    eventually(lambda: kafka.committed(DEAD, "impound") == {0: 2}, "the topic is consumed")
    problem(server.post("/v1/replays", {"ids": [broken["id"]], "dry_run": False}), 400, "not in the configuration", "origin")

    # Sent back as it was, it fails as it did: the same letter again.
    assert f"1 to kafka topic {TOPIC}" in server.cli("replay", broken["id"], "--to", "origin")
    server.cli("replay", broken["id"], "--to", "origin", "--apply")
    record = kafka.records(TOPIC)[3]
    assert (record.value(), record.key()) == (BROKEN, b"k1")
    assert record.headers() == HEADERS + [("Impound-Letter", broken["id"].encode()), ("Impound-Replays", b"1")]
    eventually(lambda: kafka.ends(DEAD) == {0: 3}, "it is dead again")
    again = eventually(lambda: (lambda one: one if one["state"] == "pending_review" and one["replays"] == 1 else None)(
        letters(server, 2)[len(BROKEN)]), f"the letter is back; log: {server.log()[-3000:]}")
    assert again["id"] == broken["id"] and again["source"]["offset"] == 3

    # Edited into what the converter reads, it passes.
    server.cli("replay", bare["id"], "--to", "origin", "--edit",
               '{schema: {type: "string"}, payload: "price \\(.price)"}', "--apply")
    eventually(lambda: connect.lines() == ["good", "price 1"] or connect.lines() == ["good", "price 1.0"],
               f"the connector wrote it: {connect.lines()}")
    done = letters(server, 2)[len(kafka.records(TOPIC)[4].value())]
    assert (done["id"], done["state"], done["resolution"]) == (bare["id"], "resolved", "replayed")
    assert kafka.ends(DEAD) == {0: 3} and server.dlq(DLQ)["depth"] == 1
