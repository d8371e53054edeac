"""Dead letters that Kafka's frameworks wrote, in their own bytes, adopted from the real server."""
import base64
import struct

from harness import eventually, impound, problem

ASIDE = {"aside": {"handler": "lease"}}  # a queue that has nothing to do with it


def varint(number):
    head = bytes([number & 127 | (128 if number > 127 else 0)])
    return head + varint(number >> 7) if number > 127 else head


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    return varint(field << 3 | 2) + varint(len(value)) + value


SPRING = [
    ("tenant", b"a"),
    ("kafka_dlt-original-topic", b"orders"),
    ("kafka_dlt-original-partition", struct.pack(">i", 3)),
    ("kafka_dlt-original-offset", struct.pack(">q", 884201)),
    ("kafka_dlt-original-timestamp", struct.pack(">q", 1763215787123)),
    ("kafka_dlt-original-consumer-group", b"pricing"),
    ("kafka_dlt-exception-fqcn", b"org.springframework.kafka.listener.ListenerExecutionFailedException"),
    ("kafka_dlt-exception-cause-fqcn", b"java.lang.NullPointerException"),
    ("kafka_dlt-exception-message", b"Listener failed"),
    ("retry_topic-attempts", struct.pack(">i", 4)),
    ("retry_topic-original-timestamp", (1763215787123).to_bytes(6, "big")),
]
STREAMS = [("__streams.errors.topic", b"orders"), ("__streams.errors.partition", b"3"),
           ("__streams.errors.offset", b"884201"), ("__streams.errors.exception", b"a.TimeoutException"),
           ("__streams.errors.message", b"late")]
SHARED = [("__dlq.errors.topic", b"orders"), ("__dlq.errors.partition", b"3"), ("__dlq.errors.offset", b"884201"),
          ("__dlq.errors.group", b"pricing"), ("__dlq.errors.delivery.count", b"5"),
          ("__dlq.errors.message", b"Offset delivery count exceeded the threshold.")]
SMALLRYE = [("dead-letter-exception-class-name", b"java.lang.RuntimeException"), ("dead-letter-reason", b"boom"),
            ("dead-letter-topic", b"orders"), ("dead-letter-partition", b"3"), ("dead-letter-offset", b"884201")]
METADATA = number(1, 3) + text(2, b"orders") + number(3, 3) + number(4, 884201) + text(6, b"k\xff")

CASES = {
    "spring-kafka": ({"headers": SPRING, "key": b"\x00\x07"},
                     {"reason": "null_pointer", "category": "bug", "attempts": 3,
                      "created_at": "2025-11-15T14:09:47.123Z"}, b"\x00\x07"),
    "kafka-streams": ({"headers": STREAMS, "key": b"k"}, {"reason": "timeout", "category": "timeout"}, b"k"),
    "share-group": ({"headers": SHARED}, {"reason": "delivery_limit", "category": "crash", "attempts": 5}, None),
    "smallrye": ({"headers": SMALLRYE}, {"reason": "runtime_exception", "category": "unknown"}, None),
    "uforwarder": ({"key": METADATA, "headers": [("tenant", b"a")]}, {"reason": "unknown", "attempts": 4}, b"k\xff"),
}


def shown(value):
    """As JSON shows any bytes."""
    if value is None:
        return None
    is_text = b"\0" not in value and value.decode(errors="replace").encode() == value
    return value.decode() if is_text else {"base64": base64.b64encode(value).decode()}


def letters_of(server, count):
    eventually(lambda: len(server.letters("legacy.dlq")) == count, f"{count} letters were adopted")
    found = [server.get(f"/v1/letters/{row['id']}").json for row in server.letters("legacy.dlq")]
    return {letter["context"]["adopted"]["convention"]: letter for letter in found}


def adopt(kafka, topic, mode):
    return [{"name": "legacy", "source": kafka.url(topic, group=topic), "mode": mode}]


def test_each_framework_s_letters_are_read_as_it_wrote_them(serve, kafka):
    topic = kafka.make_topic("frameworks")
    kafka.produce(topic, [{"value": name, **record} for name, (record, _, _) in CASES.items()])
    server = serve(ASIDE, adopt=[{"name": "legacy", "source": kafka.url(topic)}])  # who looks needs no group
    assert impound("check", "--connect", "-c", server.config_path).returncode == 0
    letters = letters_of(server, len(CASES))
    assert set(letters) == set(CASES)
    for name, (record, expected, key) in CASES.items():
        letter = letters[name]
        assert {**letter, **expected} == letter, (name, letter)
        assert letter["source"] == {"kind": "kafka", "topic": "orders", "partition": 3, "offset": 884201}
        assert letter["message"]["queue"] == "orders" and letter["message"]["body"] == name
        assert letter["message"]["key"] == shown(key)
        assert letter["message"]["headers"] == {header: shown(value) for header, value in record["headers"]}
        assert letter["context"]["adopted"]["at"]["topic"] == topic
    assert letters["spring-kafka"]["failure"]["error_type"] == "java.lang.NullPointerException"
    assert letters["spring-kafka"]["context"]["group"] == "pricing"
    problem(server.post(f"/v1/letters/{letters['smallrye']['id']}/resolve", {"why": "seen"}), 409, "take")
    assert kafka.lag(topic, topic) == len(CASES), "a look takes nothing"
    server.stop()
    server.configure(ASIDE, adopt=adopt(kafka, topic, "take"))
    server.start()
    eventually(lambda: kafka.lag(topic, topic) == 0, "Kafka knows that they were taken")
    taken = letters_of(server, len(CASES))
    assert {name: letter["id"] for name, letter in taken.items()} == {name: letter["id"] for name, letter in letters.items()}
    assert server.post(f"/v1/letters/{letters['smallrye']['id']}/resolve", {"why": "seen"}).status == 200


def test_bytes_that_are_no_text_survive_an_export(serve, kafka, tmp_path):
    topic = kafka.make_topic("bytes")
    record, _, key = CASES["spring-kafka"]
    kafka.produce(topic, [{"value": b"spring-kafka", **record}])
    server = serve(ASIDE, adopt=adopt(kafka, topic, "take"))
    letter = letters_of(server, 1)["spring-kafka"]
    line = tmp_path / "letters.ndjson"
    server.cli("export", "--dlq", "legacy.dlq", "-o", str(line))
    elsewhere = serve(ASIDE)
    elsewhere.cli("import", str(line))
    back = elsewhere.get(f"/v1/letters/{letter['id']}").json
    assert back["message"] == letter["message"] and back["message"]["key"] == shown(key)


def test_a_topic_that_was_made_again_has_other_letters_at_its_offsets(serve, kafka):
    topic = kafka.make_topic("again.dlq")
    kafka.produce(topic, [b"old 0", b"old 1"])
    server = serve(ASIDE, adopt=adopt(kafka, topic, "take"))
    eventually(lambda: kafka.lag(topic, topic) == 0, "Kafka knows that they were taken")
    server.stop()
    kafka.remove_topic(topic)
    kafka.make_topic(topic)
    kafka.produce(topic, [b"new 0", b"old 1", b"new 2"])
    server.start()
    eventually(lambda: kafka.lag(topic, topic) == 0, "… and those of the new one, too")
    bodies = [server.get(f"/v1/letters/{row['id']}").json["message"]["body"] for row in server.letters("legacy.dlq")]
    assert sorted(bodies) == ["new 0", "new 2", "old 0", "old 1", "old 1"]
