"""Kafka as a source, against the real server; records are produced and offsets read by its own client."""
import json
import os
import threading

import scenes
from brokers import contract
from harness import ROOT, eventually, impound, in_full, scaled

PRICE = os.path.join(ROOT, "examples", "orders", "price.py")
LONG = "2m"  # a session that a slow machine does not lose, where nothing may come twice


def test_the_contract_of_every_broker(kafka):
    contract("kafka", KAFKA_ADDRESS=kafka.address)


def queue(url, worker, **more):
    return {"orders": {"source": url, "handler": {"http": worker.url}, "concurrency": 16, **more}}


def test_a_letter_is_mirrored_with_what_is_known_of_it(serve, handler, kafka):
    worker = handler(lambda call: 400)
    topic, mirror = kafka.make_topic("mirrored"), kafka.make_topic("mirrored-dlt")
    server = serve(queue(kafka.url(topic, group=topic), worker, dlq={"mirror": kafka.url(mirror)}))
    kafka.produce(topic, [{"value": b'{"id": 1}', "key": b"k\xff", "headers": [("tenant", b"\xff")]}])
    settled(kafka, server, topic)
    (letter,) = kafka.records(mirror)
    headers = dict(letter.headers())
    assert (letter.value(), letter.key(), headers["tenant"]) == (b'{"id": 1}', b"k\xff", b"\xff")
    assert headers["dlq-reason"] == b"bad_request" and headers["dlq-message-id"] == f"{topic}/0/0".encode()


def test_a_mirrored_tombstone_is_one_and_an_empty_value_is_not(serve, handler, kafka):
    worker = handler(lambda call: 400)
    topic, mirror = kafka.make_topic("tombstones"), kafka.make_topic("tombstones-dlt")
    server = serve(queue(kafka.url(topic, group=topic), worker, dlq={"mirror": kafka.url(mirror)}))
    kafka.produce(topic, [{"value": None, "key": b"gone"}, {"value": b"", "key": b"empty"}])
    settled(kafka, server, topic)
    assert {letter.key(): letter.value() for letter in kafka.records(mirror)} == {b"gone": None, b"empty": b""}


class Lane:
    """A topic and a group of its name."""

    def __init__(self, kafka, name):
        self.kafka, self.name = kafka, kafka.make_topic(name)
        self.source = kafka.url(name, group=name)

    def publish(self, bodies):
        self.kafka.produce(self.name, [json.dumps(body) for body in bodies])

    def left(self):
        return self.kafka.lag(self.name, self.name)


def test_an_answer_that_is_too_large_for_its_sink_holds_nothing_up(serve, handler, kafka):
    answers = kafka.make_topic("small-answers")
    scenes.answer_too_large(serve, handler, Lane(kafka, "large-answers"), kafka.url(answers), 2 * 1024 * 1024)
    assert [record.value() for record in kafka.records(answers)] == [b"x" * 10]


def test_a_kill_between_the_mirror_and_the_source_loses_nothing(serve, handler, kafka, redis):
    scenes.killed_behind_the_mirror(serve, handler, Lane(kafka, "behind-the-mirror"), redis)


def numbered(count, **more):
    return [{"value": json.dumps({"n": n}), "key": f"k{n % 101}", **more} for n in range(count)]


def numbers(worker):
    with worker.lock:
        return [json.loads(call.body)["n"] for call in worker.calls]


def connected(server):
    return server.metric("impound_source_connected", queue="orders") == 1


def says(server, *words):
    """Waits until the queue's trouble has all the words."""
    def said():
        trouble = server.queue("orders")["source_trouble"] or ""
        return all(word in trouble for word in words)
    try:
        eventually(said, f"the trouble is {words}")
    except AssertionError as never:
        raise AssertionError(f"it is {server.queue('orders')['source_trouble']}; log: {server.log()}") from never


def settled(kafka, server, topic):
    """Waits until the broker knows everything to be done, and impound agrees. Each topic has a group of its name."""
    eventually(lambda: kafka.lag(topic, topic) == 0, f"nothing is left in {topic}: {server.queue('orders')}",
               scenes.PATIENCE_S)
    eventually(lambda: server.queue("orders")["lag"] == 0, "impound sees no lag")
    server.drained("orders")


def test_the_seeds_three_orders(serve, kafka):
    topic = kafka.make_topic("seeds")
    kafka.produce(topic, ['{"pin":"BAD"}', '{"pin":"560001","trip":2}', '{"pin":"110001"}'])
    server = serve({"orders": {"source": kafka.url(topic, group=topic),
                               "handler": {"exec": ["python3", PRICE], "timeout": "30s"}}})
    settled(kafka, server, topic)
    eventually(lambda: server.metric("impound_attempts_total", queue="orders", result="ok") == 2, "two are priced")
    assert kafka.committed(topic, topic) == {0: 3}
    letter = server.message("seeds/0/0")
    assert letter["state"] == "pending_review" and letter["category"] == "bug" and letter["attempts"] == 1
    assert letter["failure"]["error_type"] == "KeyError"
    assert letter["message"]["id"] == "seeds/0/0" and letter["message"]["body"] == {"pin": "BAD"}
    assert letter["message"]["content_type"] == "application/json"
    assert letter["source"] == {"kind": "kafka", "topic": "seeds", "partition": 0, "offset": 0}
    assert [one["message"]["id"] for one in server.letters("orders.dlq")] == ["seeds/0/0"]


def test_a_record_is_kept_as_it_is(serve, handler, kafka):
    topic = kafka.make_topic("kept")
    headers = [("a", b"1"), ("a", b"2"), ("bytes", b"\xff\xfe"), ("empty", b""), ("none", None), ("content-type", b"text/x-order")]
    kafka.produce(topic, [
        {"value": b"\x00\xff body", "key": None, "headers": headers, "timestamp": 1700000000123},
        {"value": None, "key": b"gone"},
        {"value": b'{"a": 1.0}', "key": b""},
        {"value": b"many", "headers": [("\x01" * 5000, None)]},
    ])
    worker = handler(lambda call: 400)
    server = serve(queue(kafka.url(topic, group=topic), worker))
    settled(kafka, server, topic)
    raw = server.get("/v1/messages/kept%2F0%2F0").body
    shown = json.loads(raw)
    message = shown["message"]
    assert message["headers"] == {"a": "2", "bytes": {"base64": "//4="}, "empty": "", "none": "",
                                  "content-type": "text/x-order"}
    pairs = json.loads(raw, object_pairs_hook=list)
    names = [name for name, _ in dict(dict(pairs)["message"])["headers"]]
    assert names == ["a", "bytes", "empty", "none", "content-type"], "each name once"
    assert message["header_pairs"][:3] == [["a", "1"], ["a", "2"], ["bytes", {"base64": "//4="}]]
    assert shown["source"]["null_headers"] == ["none"]
    assert message["key"] is None
    assert message["content_type"] == "text/x-order"
    assert message["body_base64"] == "AP8gYm9keQ=="
    assert shown["created_at"] == "2023-11-14T22:13:20.123Z"
    tombstone = server.message("kept/0/1")
    assert tombstone["source"]["tombstone"] is True
    assert tombstone["message"]["key"] == "gone" and tombstone["message"]["size"] == 0
    plain = server.message("kept/0/2")
    assert plain["message"]["key"] == "" and "tombstone" not in plain["source"]
    bodies = {call.id: call.body for call in worker.calls}
    assert bodies == {"kept/0/0": b"\x00\xff body", "kept/0/1": b"", "kept/0/2": b'{"a": 1.0}', "kept/0/3": b"many"}
    many = server.message("kept/0/3")
    assert many["message"]["headers"] == {"\x01" * 5000: ""} and "null_headers" not in many["source"]
    assert len(server.letters("orders.dlq")) == 4


def test_one_bad_in_many_over_several_partitions(serve, handler, kafka):
    topic, total, every = kafka.make_topic("many", 6), scenes.MANY, scenes.EVERY
    kafka.produce(topic, numbered(total))
    worker = handler(lambda call: 400 if json.loads(call.body)["n"] % every == 0 else 200)
    server = serve(queue(kafka.url(topic, group=topic, session=LONG), worker))
    settled(kafka, server, topic)
    assert sorted(numbers(worker)) == list(range(total)), "each is handled once"
    letters = server.letters("orders.dlq")
    assert {server.message(one["id"])["message"]["body"]["n"] for one in letters} == set(range(0, total, every))
    assert kafka.committed(topic, topic) == kafka.ends(topic)


def test_an_outage_holds_what_is_in_the_topic_and_kills_nothing(serve, handler, kafka):
    topic, total = kafka.make_topic("outage", 3), 300
    down = threading.Event()
    down.set()
    worker = handler(lambda call: 503 if down.is_set() else 200)
    server = serve(queue(kafka.url(topic, group=topic), worker, breaker={"open": "1s"}))
    kafka.produce(topic, numbered(total))
    eventually(lambda: server.queue("orders")["breaker"]["state"] == "open", "the breaker opens")
    before = sum(kafka.committed(topic, topic).values())
    assert before < total, "what was not taken stays in the topic"
    view = server.queue("orders")
    assert view["lag"] > 0 and view["state"] == "running"
    down.clear()
    settled(kafka, server, topic)
    eventually(lambda: server.queue("orders")["pending_retry"] == 0, "retries are through")
    assert set(numbers(worker)) == set(range(total))
    assert server.letters("orders.dlq") == []


def test_refused_credentials_halt_and_the_broker_keeps_the_rest(serve, handler, kafka):
    topic, total = kafka.make_topic("halt", 3), 100
    kafka.produce(topic, numbered(total))
    refuse = threading.Event()
    refuse.set()
    worker = handler(lambda call: 401 if refuse.is_set() else 200)
    server = serve(queue(kafka.url(topic, group=topic), worker, concurrency=4))
    eventually(lambda: server.queue("orders")["state"] == "halted", "the queue halts")
    eventually(lambda: server.queue("orders")["in_flight"] == 0, "what was under way has ended")
    eventually(lambda: server.queue("orders")["lag"] + server.queue("orders")["depth"] == total,
               "what is not done is lag, or held")
    calls = worker.count()
    # Four were under way, and up to three others were asked before it halted. An offset is committed once everything
    # before it is settled, so that what the server calls lag may hold some that are stored.
    assert calls <= 7
    assert total - calls <= kafka.lag(topic, topic) <= total
    server.stop()
    server.start()
    eventually(lambda: total - calls <= server.queue("orders")["lag"] <= total, "lag is known without joining the group")
    assert server.queue("orders")["state"] == "halted" and worker.count() == calls
    refuse.clear()
    assert server.post("/v1/queues/orders/resume").status == 200
    settled(kafka, server, topic)
    assert set(numbers(worker)) == set(range(total)) and server.letters("orders.dlq") == []


def test_a_paused_queue_receives_nothing_and_goes_on_where_it_was(serve, handler, kafka):
    topic, total = kafka.make_topic("paused", 3), 3000
    worker = handler()
    server = serve(queue(kafka.url(topic, group=topic, session=LONG), worker))
    kafka.produce(topic, numbered(total))
    for _ in range(3):
        seen = worker.count()
        eventually(lambda: worker.count() > min(seen + 50, total - 1), "messages flow")
        server.post("/v1/queues/orders/pause", {"why": "deploy"})
        eventually(lambda: server.queue("orders")["in_flight"] == 0, "what was under way has ended")
        still = worker.count()
        eventually(lambda: server.queue("orders")["lag"] == total - still, "the rest is lag")
        assert worker.count() == still
        server.post("/v1/queues/orders/resume")
    settled(kafka, server, topic)
    assert sorted(numbers(worker)) == list(range(total)), "pausing skips nothing and repeats nothing"


def test_what_a_transaction_leaves_in_the_log_is_no_lag(serve, handler, kafka):
    """Its marker is behind the last record, and nobody is given that; nor what was aborted."""
    topic, worker = kafka.make_topic("transactions"), handler()
    kafka.produce_at_once(topic, numbered(10))
    server = serve(queue(kafka.url(topic, group=topic), worker))
    eventually(lambda: worker.count() == 10, "all that was committed is handled")
    eventually(lambda: server.queue("orders")["lag"] == 0, "the marker is no lag")
    kafka.produce_at_once(topic, numbered(5), commit=False)
    kafka.produce_at_once(topic, numbered(1))
    eventually(lambda: worker.count() == 11, "what was aborted is passed over")
    eventually(lambda: server.queue("orders")["lag"] == 0, "nor is that")
    server.post("/v1/queues/orders/pause", {"why": "more comes"})
    kafka.produce(topic, numbered(3))
    eventually(lambda: server.queue("orders")["lag"] >= 3, "what comes is")
    server.post("/v1/queues/orders/resume")
    eventually(lambda: worker.count() == 14, "it is handled")
    eventually(lambda: server.queue("orders")["lag"] == 0, "all is")


def test_a_poison_at_the_head_of_a_partition_holds_up_nobody(serve, handler, kafka):
    topic, behind = kafka.make_topic("poison", 24), in_full(99999, 2000)
    release = threading.Event()

    def answer(call):
        if json.loads(call.body)["n"] == 0:
            release.wait(scenes.PATIENCE_S)
            return 400
        return 200

    kafka.produce(topic, [{"value": '{"n":0}', "partition": 17}])
    kafka.produce(topic, numbered(behind + 1, partition=17)[1:])
    kafka.produce(topic, [{"value": json.dumps({"n": behind + 1 + n}), "partition": n} for n in range(24)])
    worker = handler(answer)
    server = serve(queue(kafka.url(topic, group=topic, session=LONG), worker, handler={"http": worker.url, "timeout": f"{2 * scenes.PATIENCE_S}s"}))
    eventually(lambda: worker.count() == behind + 25, "all healthy ones are handled", scenes.PATIENCE_S)
    eventually(lambda: kafka.lag(topic, topic) == behind + 2, "only the partition of the poison is not committed")
    assert kafka.committed(topic, topic)[17] == 0, "its head is under way"
    release.set()
    settled(kafka, server, topic)
    assert [one["message"]["id"] for one in server.letters("orders.dlq")] == ["poison/17/0"]
    assert sorted(numbers(worker)) == list(range(behind + 25))


def test_members_come_and_go_and_nothing_is_lost(serve, handler, kafka):
    topic, total = kafka.make_topic("rebalance", 8), scaled(40000)
    worker = handler()
    url = kafka.url(topic, group=topic, session="2s")
    first = serve(queue(url, worker))
    kafka.produce(topic, numbered(total // 2))
    second = serve(queue(url, worker))
    eventually(lambda: connected(second), "the second has joined")
    kafka.produce(topic, [{"value": json.dumps({"n": n})} for n in range(total // 2, total)])
    done_by_second = lambda: second.metric("impound_attempts_total", queue="orders", result="ok")  # noqa: E731
    eventually(lambda: done_by_second() > 0, "the second has its share")
    second.kill()
    settled(kafka, first, topic)
    assert set(numbers(worker)) == set(range(total))
    assert first.letters("orders.dlq") == []


def test_kill_9_of_impound_loses_nothing(serve, handler, kafka):
    topic, total = kafka.make_topic("killed", 4), scaled(40000)
    kills = scaled(20, least=3)
    worker = handler(lambda call: 400 if json.loads(call.body)["n"] % 100 == 0 else 200)
    server = serve(queue(kafka.url(topic, group=topic), worker))
    for life in range(kills):
        kafka.produce(topic, [{"value": json.dumps({"n": n})} for n in range(life, total, kills)])
        seen = worker.count()
        eventually(lambda: worker.count() > seen + total // kills // 2, "messages flow")
        server.kill()
        handled = set(numbers(worker))
        done = kafka.committed(topic, topic)
        early = [record.offset() for record in kafka.records(topic)
                 if record.offset() < done[record.partition()] and json.loads(record.value())["n"] not in handled]
        assert early == [], "nothing is committed before it was handled"
        server.start()
    settled(kafka, server, topic)
    assert set(numbers(worker)) == set(range(total))
    dead = {server.message(one["id"])["message"]["body"]["n"] for one in server.letters("orders.dlq")}
    assert dead == set(range(0, total, 100))
    assert server.dlq("orders.dlq")["depth"] == len(dead), "a redelivery of a letter is settled, not doubled"


def test_kill_9_of_the_broker_loses_nothing(serve, handler, kafka):
    topic, total = kafka.make_topic("broker", 4), scaled(20000)
    kafka.produce(topic, numbered(total))
    worker = handler()
    server = serve(queue(kafka.url(topic, group=topic), worker))
    for _ in range(scaled(5, least=1)):
        seen = worker.count()
        eventually(lambda: worker.count() > min(seen + 100, total - 1), "messages flow")
        kafka.kill()
        try:
            says(server, "no broker can be reached", kafka.address)
        finally:
            kafka.start()
        eventually(lambda: connected(server), "the broker is found again")
    settled(kafka, server, topic)
    assert set(numbers(worker)) == set(range(total))
    log = server.log()
    assert log.count("retrying until it succeeds") == log.count("connected again")


def test_a_broker_that_stops_answering_is_said_so_and_waited_for(serve, handler, kafka):
    topic = kafka.make_topic("frozen")
    worker = handler()
    server = serve(queue(kafka.url(topic, group=topic), worker))
    eventually(lambda: connected(server), "it is connected")
    kafka.freeze()
    try:
        says(server, "does not answer")
        assert "does not answer" in server.cli("queues")
    finally:
        kafka.thaw()
    eventually(lambda: connected(server), "it is connected again")
    kafka.produce(topic, numbered(10))
    settled(kafka, server, topic)
    # The group may be formed anew in the midst, by a broker that is late itself: some come twice then.
    assert set(numbers(worker)) == set(range(10))


def check_connect(tmp_path, url):
    path = tmp_path / "check.yaml"
    path.write_text(json.dumps({"queues": {"orders": {"source": url, "handler": {"exec": ["true"]}}}}))
    return impound("check", "--connect", "-c", path)


def test_a_source_is_tried_out_and_what_is_wrong_is_said(tmp_path, kafka):
    topic = kafka.make_topic("tried")
    kafka.open_doors()
    sasl = f"kafka://{{}}@127.0.0.1:{kafka.sasl_port}/{topic}?group={topic}"
    tls = f"kafkas://me:secret@127.0.0.1:{kafka.tls_port}/{topic}?group={topic}"
    good = [kafka.url(topic, group=topic), sasl.format("me:secret"), f"{tls}&ca={kafka.ca_file}"]
    for url in good:
        done = check_connect(tmp_path, url)
        assert done.returncode == 0 and ": connected" in done.stdout, (url, done.stdout, done.stderr)
        assert "secret" not in done.stdout + done.stderr
    bad = [(f"kafka://127.0.0.1:1/{topic}?group={topic}", "no broker can be reached", "127.0.0.1:1"),
           (f"kafka://no-such-host.invalid/{topic}?group={topic}", "unknown host", "no-such-host.invalid"),
           (sasl.format("me:wr0ng"), "credentials are refused", "127.0.0.1"),
           (tls, "the TLS connection failed", str(kafka.tls_port)),
           (kafka.url("missing", group=topic), "no such topic", "missing")]
    for url, *words in bad:
        done = check_connect(tmp_path, url)
        assert done.returncode == 1, (url, done.stdout)
        assert all(word in done.stderr for word in words), (url, done.stderr)
        assert "wr0ng" not in done.stderr
    assert kafka.admin().describe_consumer_groups(["nobody"])["nobody"].result().members == []


def test_one_broker_of_those_named_is_enough(tmp_path, kafka):
    """Which one is tried first is a matter of chance."""
    topic = kafka.make_topic("either")
    source, mirror = (url.replace("kafka://", "kafka://127.0.0.1:1,")
                      for url in (kafka.url(topic, group=topic), kafka.url(topic)))
    for _ in range(8):
        done = check_connect(tmp_path, source)
        assert done.returncode == 0, done.stderr
    code, told = scenes.check_mirrors(tmp_path, *[mirror] * 8)
    assert code == 0, told


def test_where_letters_would_be_published_is_tried_out(tmp_path, kafka):
    topic = kafka.make_topic("tried-mirror")
    kafka.open_doors()
    bad = f"kafka://me:wr0ng@127.0.0.1:{kafka.sasl_port}/{topic}"
    code, (there, missing, refused) = scenes.check_mirrors(tmp_path, kafka.url(topic), kafka.url("unmade"), bad)
    assert code == 1
    assert there.endswith(": connected")
    assert missing.endswith("topic unmade: there is no such topic")
    assert "credentials are refused" in refused and "wr0ng" not in refused
    assert scenes.check_mirrors(tmp_path, kafka.url(topic)) == (0, [there])


def test_a_topic_that_is_made_later_is_found(serve, handler, kafka):
    worker = handler()
    server = serve(queue(kafka.url("later", group="later"), worker))
    says(server, "no such topic")
    kafka.make_topic("later", 2)
    kafka.produce("later", numbered(10))
    settled(kafka, server, "later")
    assert sorted(numbers(worker)) == list(range(10))
    assert server.queue("orders")["source_trouble"] is None


def test_a_topic_that_is_made_again_is_read_from_its_start_when_impound_was_stopped_meanwhile(serve, handler, kafka):
    topic, worker = kafka.make_topic("remade"), handler(lambda call: 200)
    server = serve({"q": {"source": kafka.url(topic, group=topic), "handler": {"http": worker.url}}})
    kafka.produce(topic, [f"old {n}" for n in range(10)])
    eventually(lambda: worker.count() == 10 and kafka.lag(topic, topic) == 0, "the first topic's records are handled")
    server.stop()
    kafka.remove_topic(topic)
    kafka.make_topic(topic)
    kafka.produce(topic, [f"new {n}" for n in range(30)])
    server.start()
    eventually(lambda: kafka.lag(topic, topic) == 0, "all are settled")
    assert sorted(call.body for call in worker.calls[10:]) == sorted(f"new {n}".encode() for n in range(30))


def test_a_mirror_that_is_made_later_is_found(serve, handler, kafka):
    topic, mirror = kafka.make_topic("mirror-later"), "mirror-later-dlt"
    worker = handler(lambda call: 400)
    server = serve(queue(kafka.url(topic, group=topic), worker, dlq={"mirror": kafka.url(mirror)}))
    kafka.produce(topic, numbered(1))
    why = eventually(lambda: server.queue("orders")["why"], "it is said")
    assert why.endswith(f"topic {mirror}: there is no such topic"), why
    kafka.make_topic(mirror)
    settled(kafka, server, topic)
    assert len(kafka.records(mirror)) == 1 and worker.count() == 1
