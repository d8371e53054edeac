"""Dead letters of share groups that are only pointers: Kafka writes neither key nor value unless told to."""
import base64

import adoption
from brokers import START_PATIENCE_S
from harness import eventually, problem

ODD = b"\x00\xff body"
MADE_MS, MADE_AT = 1763215787123, "2025-11-15T14:09:47.123Z"


def pointer(topic, partition, offset, **more):
    headers = [("topic", topic), ("partition", partition), ("offset", offset), ("group", "pricing"),
               ("delivery.count", 5), ("message", "Offset rejected by client.")]
    return {"value": None, "headers": [(f"__dlq.errors.{name}", str(value).encode()) for name, value in headers], **more}


def place(kafka, name, partitions=1):
    """A topic, and the one of its dead letters."""
    return kafka.make_topic(name, partitions), kafka.make_topic(f"dlq.{name}")


def source(kafka, dead):
    return kafka.url(dead, group=dead)


def taken(serve, kafka, dead, count):
    server = serve(adoption.QUEUES, adopt=adoption.entry(source(kafka, dead), "take"))
    eventually(lambda: adoption.view(server)["adopted"] == count, f"{count} letters were adopted")
    eventually(lambda: kafka.lag(dead, dead) == 0, "Kafka knows that they were taken")
    return server


def by_offset(letters):
    return {letter["context"]["adopted"]["at"]["offset"]: letter for letter in letters}


def test_a_pointer_becomes_the_record_that_it_tells_of_and_that_goes_back(serve, kafka):
    topic, dead = place(kafka, "pointed", 2)
    kafka.produce(topic, [{"value": ODD, "key": b"k\xff", "partition": 1, "timestamp": MADE_MS,
                           "headers": [("own", b"1"), ("own", b"2"), ("__connect.errors.topic", b"elsewhere")]}])
    kafka.produce(topic, [{"value": f'{{"n": {n}}}', "partition": 1} for n in range(1, 700)])
    kafka.produce(topic, [{"value": None, "key": b"k", "partition": 0}, {"value": b"", "partition": 0}])
    told = [(1, 0), (1, 690), (1, 690), (0, 0), (1, 3), (0, 1)]
    kafka.produce(dead, [pointer(topic, *where) for where in told] + [{"value": b"no pointer"}])
    server = serve(adoption.QUEUES, adopt=adoption.entry(kafka.url(dead)))
    assert adoption.looked(server)["adopted"] == len(told) + 1
    letters = by_offset(adoption.whole(server))
    for offset, (partition, at) in enumerate(told):
        letter = letters[offset]
        assert letter["context"]["adopted"]["convention"] == "share-group" and letter["context"]["group"] == "pricing"
        assert (letter["reason"], letter["attempts"], letter["message"]["queue"]) == ("rejected", 5, topic)
        assert {**letter["source"], "kind": "kafka", "topic": topic, "partition": partition, "offset": at} == letter["source"]
        assert "gone" not in letter["source"] and letter["message"]["id"] == f"{dead}/0/{offset}"
    assert base64.b64decode(letters[0]["message"]["body_base64"]) == ODD
    assert letters[0]["message"]["key"] == {"base64": base64.b64encode(b"k\xff").decode()}
    assert letters[0]["created_at"] == MADE_AT and letters[0]["dead_at"] > MADE_AT, "the pointer is younger"
    assert [letters[n]["message"]["body"] for n in (1, 2, 4)] == [{"n": 690}, {"n": 690}, {"n": 3}]
    assert letters[3]["source"]["tombstone"] is True and letters[3]["message"]["key"] == "k"
    assert letters[5]["message"]["size"] == 0 and "tombstone" not in letters[5]["source"]
    assert letters[6]["message"]["body"] == "no pointer"

    adoption.restart(server, adoption.entry(source(kafka, dead), "take"))
    eventually(lambda: kafka.lag(dead, dead) == 0 and adoption.view(server)["taken"] == len(letters), "all are taken")
    assert {letter["id"] for letter in adoption.whole(server)} == {letter["id"] for letter in letters.values()}
    chosen = [letters[n]["id"] for n in (0, 3, 5)]
    server.cli("replay", *chosen, "--to", "origin", "--canary", "off", "--apply")
    back = [record for record in kafka.records(topic) if any(name == "Impound-Letter" for name, _ in record.headers() or [])]
    assert {(record.partition(), record.key(), record.value()) for record in back} == {
        (0, b"k", None), (0, None, b""), (1, b"k\xff", ODD)}
    assert back[-1].headers()[:2] == [("own", b"1"), ("own", b"2")]
    assert not any(name.startswith("__dlq.errors.") for record in back for name, _ in record.headers())


def test_a_record_that_is_gone_leaves_a_letter_that_says_so_and_cannot_go_back(serve, kafka):
    topic, dead = place(kafka, "gone")
    kafka.produce(topic, [{"value": f"{n}", "timestamp": MADE_MS} for n in range(3)])
    kafka.produce_at_once(topic, [{"value": b"3", "timestamp": MADE_MS}])                    # its marker has offset 4
    kafka.produce_at_once(topic, [{"value": b"5", "timestamp": MADE_MS}], commit=False)      # … and this one's 6
    deleted = kafka.client.TopicPartition(topic, 0, 2)
    kafka.admin().delete_records([deleted])[deleted].result(timeout=START_PATIENCE_S)
    told = [(topic, 0, 1, "partition 0 of topic gone begins at offset 2"), (topic, 0, 900, "ends at offset 7"),
            (topic, 0, 4, "does not have that offset"), (topic, 0, 6, "does not have that offset"),
            (topic, 7, 0, "there is no such partition"), ("nowhere", 0, 0, "topic nowhere: there is no such topic"),
            (topic, 0, 2, None), (topic, 0, 5, None)]                  # a share group may see what was aborted
    kafka.produce(dead, [pointer(*where[:3], timestamp=MADE_MS) for where in told])
    server = taken(serve, kafka, dead, len(told))
    ends = kafka.ends(topic)
    letters = by_offset(adoption.whole(server))
    for offset, (name, partition, at, words) in enumerate(told):
        letter = letters[offset]
        assert (letter["reason"], letter["attempts"]) == ("rejected", 5)
        where = {"kind": "kafka", "topic": name, "partition": partition, "offset": at}
        if not words:
            assert letter["source"] == where and letter["message"]["body"] == at and not letter.get("why")
            continue
        assert letter["source"] == {**where, "gone": True, "why": letter["why"]}
        assert letter["why"].startswith("the record can no longer be read: ") and words in letter["why"], letter["why"]
        assert letter["message"]["size"] == 0
        order = {"ids": [letter["id"]], "to": "origin"}
        for dry_run in (True, False):
            problem(server.post("/v1/replays", {**order, "dry_run": dry_run}), 400, letter["id"],
                    f"was gone from kafka topic {name} before it could be read", "nothing can go back")
    chosen = {"filter": {"dlq": adoption.DLQ, "where": ".source.gone | not"}, "to": "origin"}
    assert server.post("/v1/replays", {**chosen, "dry_run": True}).json["selected"] == 2
    assert kafka.ends(topic) == ends and server.dlq(adoption.DLQ)["depth"] == len(told)


def test_who_stands_where_the_record_was_before_its_topic_was_made_again_does_not_go_back_unseen(serve, kafka):
    topic, dead = place(kafka, "again")
    kafka.produce(topic, [b'{"who": "the one that died"}'])
    kafka.produce(dead, [pointer(topic, 0, 0, timestamp=MADE_MS)])
    kafka.remove_topic(topic)
    kafka.make_topic(topic)
    kafka.produce(topic, [b'{"who": "somebody else"}'])
    server = taken(serve, kafka, dead, 1)
    letter = adoption.whole(server)[0]
    assert letter["message"]["body"] == {"who": "somebody else"} and "gone" not in letter["source"]
    assert "later than the pointer to it: the topic was recreated" in letter["why"] and letter["why"] == letter["source"]["why"]
    order = {"ids": [letter["id"]], "to": "origin"}
    for dry_run in (True, False):
        problem(server.post("/v1/replays", {**order, "dry_run": dry_run}), 400, letter["id"], letter["why"], "--edit .")
    chosen = {"filter": {"dlq": adoption.DLQ, "where": ".source.why | not"}, "to": "origin", "dry_run": True}
    assert server.post("/v1/replays", chosen).json["selected"] == 0 and kafka.ends(topic) == {0: 1}
    server.cli("replay", letter["id"], "--to", "origin", "--edit", ".", "--canary", "off", "--apply")
    assert [record.value() for record in kafka.records(topic)] == [b'{"who": "somebody else"}'] * 2


def test_what_is_no_pointer_stays_as_it_is(serve, kafka):
    topic, dead = place(kafka, "copied")
    kafka.produce(topic, [b"not this"])
    smallrye = [("dead-letter-reason", b"boom"), ("dead-letter-topic", topic.encode()),
                ("dead-letter-partition", b"0"), ("dead-letter-offset", b"0")]
    kafka.produce(dead, [pointer(topic, 0, 0, key=b"k"), {**pointer(topic, 0, 0), "value": b""},
                         {"value": None, "headers": smallrye}, pointer(topic, 0, "last"), pointer("not/a/name", 0, 0)])
    letters = by_offset(adoption.whole(taken(serve, kafka, dead, 5)))
    assert [letters[n]["message"]["size"] for n in range(5)] == [0] * 5
    assert [letters[n]["source"].get("tombstone") for n in range(5)] == [True, None, True, True, True]
    assert letters[0]["message"]["key"] == "k"


def test_pointers_are_followed_once_each_through_a_kill(serve, kafka):
    count = 1000
    topic, dead = place(kafka, "killed", 3)
    kafka.produce(topic, [{"value": f"{n}", "partition": n % 3} for n in range(count)])
    kafka.produce(dead, [pointer(topic, n % 3, n // 3) for n in range(count)])
    server = serve(adoption.QUEUES, adopt=adoption.entry(source(kafka, dead), "take"))
    eventually(lambda: adoption.view(server)["adopted"] >= count // 10, "some are letters")
    server.kill()
    server.start()
    eventually(lambda: kafka.lag(dead, dead) == 0, "all are taken")
    letters = adoption.whole(server)
    assert sorted(letter["message"]["body"] for letter in letters) == list(range(count))


def test_a_queue_whose_source_has_pointers_hands_over_the_records(serve, handler, kafka):
    topic, dead = place(kafka, "handed")
    kafka.produce(topic, [{"value": ODD, "headers": [("own", b"1")]}])
    kafka.produce(dead, [pointer(topic, 0, 0)])
    worker = handler(lambda call: 200)
    serve({"orders": {"source": source(kafka, dead), "handler": {"http": worker.url}}})
    eventually(lambda: kafka.lag(dead, dead) == 0, "it is settled")
    assert [(call.id, call.body) for call in worker.calls] == [(f"{dead}/0/0", ODD)]


def test_a_queues_letter_goes_back_to_where_its_record_was_without_a_value_as_before(serve, kafka):
    topic, dead = place(kafka, "emptied", 2)
    mirror = kafka.make_topic("emptied.mirror")
    kafka.produce(topic, [{"value": None, "key": b"k", "partition": 1, "headers": [("none", None), ("empty", b"")]}])
    kafka.produce(dead, [pointer(topic, 1, 0)])
    server = serve({"q": {"source": source(kafka, dead), "handler": {"exec": ["/bin/false"]}, "retry": {"attempts": 1},
                          "dlq": {"mirror": kafka.url(mirror)}}})
    eventually(lambda: kafka.lag(dead, dead) == 0, "it is a letter, and settled")
    copy = kafka.records(mirror)[0]
    told = dict(copy.headers())
    assert (copy.key(), copy.value()) == (b"k", None)
    assert [told[f"dlq-original-{name}"] for name in ("topic", "partition", "offset")] == [topic.encode(), b"1", b"0"]
    server.cli("replay", "--dlq", "q.dlq", "--to", "origin", "--canary", "off", "--apply")
    assert kafka.ends(dead) == {0: 1}, "nothing went to where the pointer is"
    back = kafka.records(topic)[-1]
    assert (back.partition(), back.offset(), back.key(), back.value()) == (1, 1, b"k", None)
    assert back.headers()[:2] == [("none", None), ("empty", b"")]
    assert not any(name.startswith("__dlq.errors.") for name, _ in back.headers())


def test_no_handler_is_called_with_the_empty_body_of_a_record_that_is_gone(serve, handler, kafka):
    topic, dead = place(kafka, "bodiless")
    kafka.produce(dead, [pointer(topic, 0, 5, timestamp=MADE_MS)])
    worker = handler(lambda call: 200)
    server = serve({topic: {"handler": {"http": worker.url}}}, adopt=adoption.entry(source(kafka, dead), "take"))
    eventually(lambda: adoption.view(server)["adopted"] == 1, "it is a letter")
    letter, = adoption.whole(server)
    for dry_run in (True, False):
        problem(server.post("/v1/replays", {"ids": [letter["id"]], "dry_run": dry_run}), 400, letter["id"],
                "was gone before it could be read", "`edit`")
    chosen = {"filter": {"dlq": adoption.DLQ, "where": ".source.gone or .source.origin.gone | not"}}
    assert server.post("/v1/replays", {**chosen, "dry_run": True}).json["selected"] == 0
    order = {"ids": [letter["id"]], "edit": '{"made": (. == null)}'}
    sample, = server.post("/v1/replays", {**order, "dry_run": True}).json["samples"]
    assert sample["after"] == {"made": True}
    server.cli("replay", letter["id"], "--edit", order["edit"], "--canary", "off", "--apply")
    eventually(lambda: server.get(f"/v1/letters/{letter['id']}").json["state"] == "resolved", "it is resolved")
    assert [call.body for call in worker.calls] == [b'{"made":true}']


def test_a_queue_buries_a_pointer_whose_record_is_gone_unattempted(serve, handler, kafka):
    topic, dead = place(kafka, "buried")
    kafka.produce(topic, [b"here"])
    kafka.produce(dead, [pointer(topic, 0, at, timestamp=MADE_MS) for at in (5, 0)])
    worker = handler(lambda call: 200)
    server = serve({"q": {"source": source(kafka, dead), "handler": {"http": worker.url}}})
    eventually(lambda: kafka.lag(dead, dead) == 0, "both are settled")
    assert [call.body for call in worker.calls] == [b"here"]
    letter, = adoption.whole(server, "q.dlq")
    assert (letter["reason"], letter["attempts"], letter["message"]["size"]) == ("gone", 0, 0)
    assert letter["why"].startswith("the record can no longer be read: ") and letter["source"]["origin"]["gone"] is True
    problem(server.post("/v1/replays", {"ids": [letter["id"]]}), 400, "`edit`")
