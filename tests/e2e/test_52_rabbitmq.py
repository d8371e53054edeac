"""RabbitMQ as a source and a sink, against the real server, with pika as everybody else."""
import decimal
import itertools
import json
import logging
import os
import re
import sys
import threading

import pytest

import scenes
from brokers import contract
from harness import PATIENCE_S, eventually, free_port, impound, scaled
from relay import Relay

pika = pytest.importorskip("pika")
logging.getLogger("pika").setLevel(logging.CRITICAL)  # what it cannot reach, it tells at length

TYPES = ["classic", "quorum"]


class Lane:
    """A queue of its own on the node."""

    count = 0

    def __init__(self, rabbit, kind="classic", named=True):
        Lane.count += 1
        self.named = named
        self.rabbit, self.name = rabbit, f"lane{Lane.count}"
        self.source = rabbit.url(f"queue={self.name}")
        with self.channel() as channel:
            channel.queue_declare(self.name, durable=True, arguments={"x-queue-type": kind})
        rabbit.sync()

    def channel(self):
        return self.rabbit.channel()

    def send(self, body, exchange="", **properties):
        with self.channel() as channel:
            channel.basic_publish(exchange, self.name, body,
                                  pika.BasicProperties(delivery_mode=2, **properties), mandatory=True)

    def publish(self, bodies):
        with self.channel() as channel:
            for body in bodies:
                channel.basic_publish("", self.name, json.dumps(body), pika.BasicProperties(
                    delivery_mode=2, message_id=body["id"] if self.named else None,
                    content_type="application/json"), mandatory=True)

    def left(self):
        return self.rabbit.messages(self.name)

    def get(self):
        with self.channel() as channel:
            method, properties, body = channel.basic_get(self.name, auto_ack=True)
            return (method, properties, body) if method else None


@pytest.mark.parametrize("kind", TYPES)
def test_the_contract_of_every_broker(rabbit, kind, tmp_path):
    """tests/contract/broker_contract.c, on this node."""
    left = tmp_path / "left"
    left.write_text(f"""#!{sys.executable}
import os, sys
os.chdir({os.path.dirname(os.path.abspath(__file__))!r})
sys.path.insert(0, ".")
import brokers
node = brokers.Rabbit.__new__(brokers.Rabbit)
node.folder, node.environment = {rabbit.folder!r}, {rabbit.environment!r}
print(node.messages(sys.argv[1]))
""")
    left.chmod(0o755)
    contract("rabbit", RABBIT_PORT=str(rabbit.port), RABBIT_QUEUE_TYPE=kind, RABBIT_LEFT=str(left))


@pytest.mark.parametrize("kind", TYPES)
def test_a_bug_is_parked_a_slow_service_is_retried_and_the_rest_flows(serve, rabbit, kind):
    lane = Lane(rabbit, kind)
    _, letter = scenes.three_orders(serve, lane)
    assert letter["message"]["id"] == "o-1", "the producer's message id is its identity"
    assert letter["source"]["kind"] == "rabbitmq"
    assert letter["source"]["queue"] == lane.name


def test_of_many_exactly_the_poison_ones_are_dead(serve, handler, rabbit):
    scenes.one_bad_in_many(serve, handler, Lane(rabbit))


@pytest.mark.parametrize("kind", TYPES)
def test_while_the_downstream_is_out_nothing_dies(serve, handler, rabbit, kind):
    scenes.outage(serve, handler, Lane(rabbit, kind), 300)


@pytest.mark.parametrize("kind", TYPES)
def test_bad_credentials_halt_and_leave_what_was_not_refused_at_the_broker(serve, handler, rabbit, kind):
    scenes.halt(serve, handler, Lane(rabbit, kind), 300)


def revive(server):
    server.kill()
    server.start()


@pytest.mark.parametrize("kind", TYPES)
def test_kill_9_of_impound_loses_nothing(serve, handler, rabbit, kind):
    scenes.killed(serve, handler, Lane(rabbit, kind), scaled(20, least=3), revive)


def test_kill_9_of_impound_loses_nothing_without_a_message_id(serve, handler, rabbit):
    """Nothing tells whether what comes again has its letter: a kill in between may hold one twice."""
    scenes.killed(serve, handler, Lane(rabbit, named=False), scaled(20, least=3), revive, doubles=True)


def test_kill_9_of_impound_loses_and_doubles_nothing_with_an_id_in_the_body(serve, handler, rabbit):
    lane = Lane(rabbit, named=False)
    lane.source += "&id=.id"
    scenes.killed(serve, handler, lane, scaled(20, least=3), revive)


def restart(rabbit):
    rabbit.kill()
    rabbit.start()


def test_kill_9_of_the_broker_loses_nothing(serve, handler, rabbit):
    """A classic queue: a quorum queue of Debian's 3.10.8 elects no leader after the kill of a lone node."""
    scenes.killed(serve, handler, Lane(rabbit), scaled(5), lambda _: restart(rabbit))


def test_kill_9_of_the_broker_loses_none_of_those_that_differ_in_nothing(serve, handler, rabbit):
    """Behind an unclean stop a classic queue says of everything that it was given before, so that the second
    `tick`, which never left the broker, looks like the first, which was acknowledged."""
    released = threading.Event()

    def answer(call):
        if call.body == b"tick":
            return 400
        released.wait(scenes.PATIENCE_S)
        return 200

    worker = handler(answer)
    lane = Lane(rabbit)
    lane.source += "&prefetch=4"
    for body in [b"tick", *(b"other %d" % number for number in range(6)), b"tick"]:
        lane.send(body)
    server = serve(scenes.queues(lane, {"http": worker.url}, concurrency=2))
    eventually(lambda: len(server.letters(f"{scenes.QUEUE}.dlq")) == 1, "the first is a letter")
    eventually(lambda: lane.left() == 7, "and acknowledged")
    restart(rabbit)
    released.set()
    scenes.finished(server, lane)
    assert len(server.letters(f"{scenes.QUEUE}.dlq")) >= 2, "a third may be the first once more"


def test_of_messages_that_differ_in_nothing_each_that_fails_is_a_letter(serve, handler, rabbit):
    worker = handler(lambda call: 400)
    lane = Lane(rabbit)
    for _ in range(3):
        lane.send(b"tick")
    server = serve(scenes.queues(lane, {"http": worker.url}))
    eventually(lambda: lane.left() == 0, "all are settled")
    letters = server.letters(f"{scenes.QUEUE}.dlq")
    assert len(worker.calls) == len(letters) == 3
    assert len({letter["message"]["id"] for letter in letters}) == 3
    assert not any("Impound-Source-Id" in letter["message"]["headers"] for letter in letters), "they had no id"
    assert server.metric("impound_source_same_id_total", queue=scenes.QUEUE) == 0


def test_messages_with_one_id_are_letters_of_their_own(serve, handler, rabbit):
    """A producer uses one message_id for all: only what the broker marks as given before can be the same."""
    worker = handler(lambda call: 400)
    lane = Lane(rabbit)
    for body in (b"one", b"one", b"two"):
        lane.send(body, message_id="m")
    server = serve(scenes.queues(lane, {"http": worker.url}, concurrency=1))
    scenes.finished(server, lane)
    letters = server.letters(scenes.DLQ)
    assert worker.count() == len(letters) == 3
    assert [letter["message"]["headers"].get("Impound-Source-Id") for letter in letters] == ["m", "m", None]
    assert server.metric("impound_source_same_id_total", queue=scenes.QUEUE) == 2


def test_what_is_given_again_with_its_id_and_body_is_settled(serve, handler, rabbit):
    """The broker does not hear the acknowledgement, and impound is killed: its letter is there already."""
    worker = handler(lambda call: 400)
    lane = Lane(rabbit)
    lane.send(b"once", message_id="m")
    relay = Relay(rabbit.port, bytes([1, 0, 1, 0, 0, 0, 13, 0, 60, 0, 80]))  # how basic.ack begins
    through = lane.source.replace(str(rabbit.port), str(relay.port))
    try:
        server = serve({scenes.QUEUE: {"source": through, "handler": {"http": worker.url}}})
        assert relay.reached.wait(PATIENCE_S), "it is acknowledged"
        server.kill()
    finally:
        relay.close()
    server.configure(scenes.queues(lane, {"http": worker.url}))
    server.start()
    scenes.finished(server, lane)
    assert worker.count() == 1 and len(server.letters(scenes.DLQ)) == 1
    assert server.metric("impound_attempts_total", queue=scenes.QUEUE, result="duplicate") == 1


def test_of_messages_that_differ_in_nothing_an_outage_loses_none(serve, handler, rabbit):
    """What was fetched goes back while the breaker is open, and comes again beside equals that are held."""
    down, total = threading.Event(), 60
    down.set()
    worker = handler(lambda call: 503 if down.is_set() else 200)
    lane = Lane(rabbit)
    for _ in range(total):
        lane.send(b"tick")
    server = serve(scenes.queues(lane, {"http": worker.url}, concurrency=4, retry={"attempts": 100, "base": "50ms", "cap": "50ms"},
                                 breaker={"open": "1s"}))
    eventually(lambda: server.queue(scenes.QUEUE)["breaker"]["state"] == "open", "the breaker is open")
    eventually(lambda: server.queue(scenes.QUEUE)["pending_retry"] > 0, "some are held")
    down.clear()
    scenes.finished(server, lane)
    assert server.letters(f"{scenes.QUEUE}.dlq") == []
    assert server.metric("impound_attempts_total", queue=scenes.QUEUE, result="ok") == total


def test_of_messages_that_differ_in_nothing_a_restart_loses_none(serve, handler, rabbit):
    """One is a letter, which the broker has heard of before impound is gone; the other is given again."""
    released = threading.Event()

    def answer(call):
        if len(worker.calls) == 1:
            return 400
        released.wait(scenes.PATIENCE_S)
        return 200

    worker = handler(answer)
    lane = Lane(rabbit)
    server = serve(scenes.queues(lane, {"http": worker.url}, concurrency=4), server={"drain": "1s"})
    lane.send(b"tick")
    eventually(lambda: lane.left() == 0, "the first is a letter, and settled")
    lane.send(b"tick")
    eventually(lambda: worker.count() == 2, "the second is at the handler")
    server.stop()
    released.set()
    server.start()
    eventually(lambda: lane.left() == 0, "the second is settled")
    assert len(worker.calls) == 3
    assert len(server.letters(f"{scenes.QUEUE}.dlq")) == 1
    assert server.metric("impound_attempts_total", queue=scenes.QUEUE, result="duplicate") == 0


def test_everything_that_stands_beside_the_body_is_kept(serve, handler, rabbit):
    """Properties and headers as texts, the body byte for byte, also where it is not text."""
    worker = handler(lambda call: 400)
    lane = Lane(rabbit)
    server = serve(scenes.queues(lane, {"http": worker.url}))
    body = bytes(range(256)) * 3
    lane.send(body, message_id="m-1", content_type="application/octet-stream", correlation_id="c-7",
              reply_to="answers", type="order.placed", app_id="shop", priority=3, timestamp=1700000000,
              headers={"tenant": "t1", "tries": 2, "big": 2 ** 40, "ratio": decimal.Decimal("0.5"), "yes": True, "nothing": None,
                       "nested": {"a": [1, "two", {"b": False}]}, "impound-key": "k-9"})
    letter = eventually(lambda: server.message("m-1"), "it is a letter")
    assert worker.calls[0].body == body
    message = letter["message"]
    assert message["content_type"] == "application/octet-stream" and message["size"] == len(body)
    assert message["key"] == "k-9"
    headers = message["headers"]
    assert json.loads(headers.pop("nested")) == {"a": [1, "two", {"b": False}]}
    assert headers == {"message_id": "m-1", "correlation_id": "c-7", "reply_to": "answers", "type": "order.placed",
                       "app_id": "shop", "priority": "3", "timestamp": "1700000000", "tenant": "t1",
                       "tries": "2", "big": str(2 ** 40), "ratio": "0.5", "yes": "true", "nothing": "null"}
    assert letter["created_at"] == "2023-11-14T22:13:20.000Z"
    source = letter["source"]
    assert (source["kind"], source["vhost"], source["exchange"]) == ("rabbitmq", "/", "")
    assert (source["queue"], source["routing_key"], source["redelivered"]) == (lane.name, lane.name, False)


def test_messages_without_an_id_are_told_apart_by_what_they_are(serve, handler, rabbit):
    worker = handler(lambda call: 400)
    lane = Lane(rabbit)
    server = serve(scenes.queues(lane, {"http": worker.url}))
    lane.send(b"one")
    lane.send(b"two")
    lane.send(b"two", headers={"n": 2})
    eventually(lambda: server.dlq(scenes.DLQ)["depth"] == 3, "all three are letters")
    assert len({letter["message"]["id"] for letter in server.letters(scenes.DLQ)}) == 3


def test_what_was_delivered_too_often_is_poison_unattempted(serve, handler, rabbit):
    """A quorum queue counts deliveries, whoever failed at them before us."""
    worker = handler()
    lane = Lane(rabbit, "quorum")
    lane.publish([{"id": "killer"}])
    with lane.channel() as channel:
        for _ in range(4):
            method = eventually(lambda: channel.basic_get(lane.name)[0], "it comes again")
            channel.basic_nack(method.delivery_tag, requeue=True)
    lane.publish([{"id": "fine"}])
    server = serve(scenes.queues(lane, {"http": worker.url}, poison={"deliveries": 4}))
    scenes.finished(server, lane)
    assert worker.ids() == ["fine"]
    assert server.message("killer")["cause"] == "crash"


def test_deliveries_of_connections_that_ended_are_not_held_against_a_message(serve, handler, rabbit):
    release = threading.Event()
    worker = handler(lambda call: release.wait(PATIENCE_S) and 200)
    lane, relay = Lane(rabbit, "quorum"), Relay(rabbit.port, b"never said by anybody")
    lane.source = rabbit.url(f"queue={lane.name}", port=relay.port)
    lane.publish([{"id": f"m-{n}"} for n in range(5)])
    server = serve(scenes.queues(lane, {"http": worker.url, "timeout": "1h"}, concurrency=1, poison={"deliveries": 2}))
    for cut in range(1, 6):
        eventually(lambda: relay.told.count(b'{"id": "m-4"}') == cut, "the last of them comes")
        relay.hang_up()
    release.set()
    scenes.finished(server, lane)
    relay.close()
    assert server.dlq(f"{scenes.QUEUE}.dlq")["depth"] == 0
    assert set(worker.ids()) == {f"m-{n}" for n in range(5)}


def ready(lane):
    with lane.channel() as channel:
        return channel.queue_declare(lane.name, passive=True).method.message_count


@pytest.mark.parametrize("kind", TYPES)
def test_deliveries_of_graceful_stops_are_not_held_against_a_message(serve, handler, rabbit, kind):
    lane = Lane(rabbit, kind)
    scenes.stopped_often(serve, handler, lane, lambda: ready(lane) == 0)


def test_of_large_messages_few_are_fetched_ahead(serve, handler, rabbit):
    lane = Lane(rabbit)
    scenes.bounded_ahead(serve, handler, lane, lambda: ready(lane))


def test_what_the_broker_says_of_earlier_deaths_is_kept(serve, handler, rabbit):
    worker = handler(lambda call: 400)
    lane = Lane(rabbit)
    with lane.channel() as channel:
        channel.queue_declare("first", durable=True, arguments={
            "x-dead-letter-exchange": "", "x-dead-letter-routing-key": lane.name})
        channel.basic_publish("", "first", b"{}", pika.BasicProperties(message_id="d-1"))
        method = eventually(lambda: channel.basic_get("first")[0], "it is there")
        channel.basic_reject(method.delivery_tag, requeue=False)
    server = serve(scenes.queues(lane, {"http": worker.url}))
    letter = eventually(lambda: server.message("d-1"), "it is a letter")
    death = letter["source"]["deaths"][0]
    assert (death["queue"], death["reason"], death["count"]) == ("first", "rejected", 1)
    assert letter["message"]["headers"]["x-first-death-queue"] == "first"


def test_of_several_nodes_one_that_lives_is_enough(serve, handler, rabbit):
    worker = handler(lambda call: 200)
    lane = Lane(rabbit)
    lane.source = f"amqp://guest:guest@127.0.0.1:{free_port()},127.0.0.1:{rabbit.port}/?queue={lane.name}"
    lane.publish([{"id": "m-1"}])
    server = serve(scenes.queues(lane, {"http": worker.url}))
    scenes.finished(server, lane)
    checked = impound("check", "--connect", "-c", server.config_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_while_the_broker_is_down_lag_is_what_it_was(serve, handler, rabbit):
    """What was fetched and never handed over waits at the broker again."""
    released = threading.Event()

    def answer(call):
        released.wait(scenes.PATIENCE_S)
        return 200

    worker = handler(answer)
    lane = Lane(rabbit)
    lane.publish([{"id": f"m-{number}"} for number in range(20)])
    server = serve(scenes.queues(lane, {"http": worker.url}, concurrency=1))
    eventually(lambda: worker.count() == 1, "one is at the handler")
    eventually(lambda: server.queue(scenes.QUEUE)["lag"] == 19, "the others wait")
    rabbit.kill()
    try:
        eventually(lambda: server.metric("impound_source_connected", queue=scenes.QUEUE) == 0, "it is known to be down")
        assert server.queue(scenes.QUEUE)["lag"] == 19
    finally:
        rabbit.start()
        released.set()
    scenes.finished(server, lane)


def test_a_pause_gives_back_what_was_fetched(serve, handler, rabbit):
    """Another consumer gets what waits at a paused queue."""
    worker = handler()
    lane = Lane(rabbit)
    server = serve(scenes.queues(lane, {"http": worker.url}))
    server.post(f"/v1/queues/{scenes.QUEUE}/pause", {"why": "lunch"})
    lane.publish([{"id": f"m-{n}"} for n in range(5)])
    eventually(lambda: server.queue(scenes.QUEUE)["lag"] == 5, "impound sees them wait")
    assert lane.get()[2] and lane.left() == 4
    server.post(f"/v1/queues/{scenes.QUEUE}/resume")
    scenes.finished(server, lane)
    assert worker.count() == 4


def trouble(server):
    return server.queue(scenes.QUEUE)["source_trouble"]


@pytest.mark.parametrize("change, words", [
    (lambda lane: lane.rabbit.url(f"queue={lane.name}", user="guest:s3cret"), "password is refused"),
    (lambda lane: lane.rabbit.url("queue=nowhere"), "no queue 'nowhere' in vhost '/'"),
    (lambda lane: lane.rabbit.url(f"queue={lane.name}", vhost="moon"), "moon"),
    (lambda lane: f"amqp://127.0.0.1:1/?queue={lane.name}", "127.0.0.1:1: connect: connection refused"),
    (lambda lane: f"amqp://no.such.host.invalid/?queue={lane.name}", "unknown host"),
])
def test_what_is_wrong_is_said_in_words_and_without_secrets(serve, handler, rabbit, change, words):
    lane = Lane(rabbit)
    lane.source = change(lane)
    server = serve(scenes.queues(lane, {"http": handler().url}))
    eventually(lambda: words in (trouble(server) or ""), f"it says {words}")
    checked = impound("check", "--connect", "-c", server.config_path)
    assert checked.returncode == 1 and words in checked.stdout + checked.stderr
    assert "s3cret" not in checked.stdout + checked.stderr
    assert words in server.cli("queues", scenes.QUEUE)
    assert "s3cret" not in server.log()


def stream_lane(rabbit):
    """A stream with one message, which came before anybody consumed it."""
    lane = Lane(rabbit, "stream")
    lane.publish([{"id": "before"}])
    return lane


@pytest.mark.parametrize("mode", ["source", "peek", "take"])
def test_a_stream_is_refused_with_a_remedy(serve, handler, rabbit, mode):
    """impound keeps no offsets: what comes while it is down would never be handed over."""
    lane = stream_lane(rabbit)
    worker = handler()
    if mode == "source":
        server = serve(scenes.queues(lane, {"http": worker.url}))
        seen = lambda: trouble(server) or ""  # noqa: E731
    else:
        server = serve({"idle": {"handler": "lease"}},
                       adopt=[{"name": "legacy", "source": lane.source, "mode": mode}])
        seen = lambda: server.get("/v1/adoptions").json["adoptions"][0]["trouble"] or ""  # noqa: E731
    told = eventually(seen, "it is refused")
    assert f'queue "{lane.name}" is a stream' in told and "Bind a quorum or classic queue" in told
    checked = impound("check", "--connect", "-c", server.config_path)
    assert checked.returncode == 1 and told in checked.stdout + checked.stderr
    lane.publish([{"id": "after"}])
    assert worker.count() == 0


def test_a_user_who_may_not_declare_learns_of_a_stream_by_its_first_message(serve, handler, rabbit):
    lane, worker = stream_lane(rabbit), handler()
    rabbit.evaluate("""rabbit_auth_backend_internal:add_user(<<"reader">>, <<"reader">>, <<"test">>),
        rabbit_auth_backend_internal:set_permissions(<<"reader">>, <<"/">>, <<"^$">>, <<".*">>, <<".*">>, <<"test">>).""")
    lane.source = rabbit.url(f"queue={lane.name}", user="reader:reader")
    server = serve(scenes.queues(lane, {"http": worker.url}))
    eventually(lambda: lane.publish([{"id": "after"}]) or "is a stream" in (trouble(server) or ""), "it is refused")
    assert worker.count() == 0


def test_where_letters_would_be_published_is_tried_out(rabbit, tmp_path):
    lane = Lane(rabbit)
    urls = [rabbit.url(query) for query in (f"queue={lane.name}", "exchange=amq.topic&routing_key=dead",
                                            "queue=nowhere", "exchange=nowhere&routing_key=dead")]
    code, (queue, exchange, no_queue, no_exchange) = scenes.check_mirrors(tmp_path, *urls)
    assert code == 1
    assert queue.endswith(": connected") and exchange.endswith(": connected")
    assert "no queue 'nowhere' in vhost '/'" in no_queue
    assert "no exchange 'nowhere' in vhost '/'" in no_exchange
    assert scenes.check_mirrors(tmp_path, urls[0].replace("@127", "@127.0.0.1:1,127"))[0] == 0
    assert lane.left() == 0


def test_a_queue_that_appears_later_is_consumed_then(serve, handler, rabbit):
    worker = handler()
    lane = Lane(rabbit)
    with lane.channel() as channel:
        channel.queue_delete(lane.name)
    server = serve(scenes.queues(lane, {"http": worker.url}))
    eventually(lambda: "no queue" in (trouble(server) or ""), "it is missed")
    with lane.channel() as channel:
        channel.queue_declare(lane.name, durable=True)
    lane.publish([{"id": "late"}])
    eventually(lambda: worker.ids() == ["late"], "it is consumed")
    assert trouble(server) is None
    with lane.channel() as channel:
        channel.queue_delete(lane.name)
    eventually(lambda: trouble(server), "that it is gone again is noticed")


def test_a_broker_that_stops_answering_is_noticed_and_found_again(serve, handler, rabbit):
    worker = handler()
    lane = Lane(rabbit)
    server = serve(scenes.queues(lane, {"http": worker.url}))
    assert impound("check", "--connect", "-c", server.config_path).returncode == 0
    rabbit.freeze()
    try:
        assert "answer" in eventually(lambda: trouble(server), "it is noticed")
    finally:
        rabbit.thaw()
    lane.publish([{"id": "after"}])
    eventually(lambda: worker.ids() == ["after"], "messages flow again")
    assert trouble(server) is None
    log = server.log()
    assert log.count("retrying until it succeeds") == log.count("connected again") > 0, "trouble is logged when it begins and ends"


def test_an_answer_is_published_and_confirmed(serve, handler, rabbit):
    worker = handler(lambda call: (200, {"Content-Type": "text/plain"}, b"priced " + call.body))
    lane, answers = Lane(rabbit), Lane(rabbit)
    server = serve(scenes.queues(lane, {"http": worker.url, "reply": rabbit.url(f"queue={answers.name}")}))
    lane.publish([{"id": f"m-{n}"} for n in range(100)])
    scenes.finished(server, lane)
    assert answers.left() == 100
    _, properties, body = answers.get()
    assert body == b"priced " + json.dumps({"id": properties.message_id}).encode()
    assert properties.delivery_mode == 2 and properties.content_type == "text/plain"


def test_an_answer_that_is_too_large_for_its_sink_holds_nothing_up(serve, handler, rabbit):
    answers = Lane(rabbit)
    with rabbit.limited(4096):
        scenes.answer_too_large(serve, handler, Lane(rabbit), rabbit.url(f"queue={answers.name}"), 8192)
    assert answers.left() == 1


def test_a_letter_is_mirrored_with_what_is_known_of_it(serve, handler, rabbit):
    worker = handler(lambda call: 400)
    lane, mirror = Lane(rabbit), Lane(rabbit, "quorum")
    server = serve(scenes.queues(lane, {"http": worker.url}, dlq={"mirror": rabbit.url(f"queue={mirror.name}")}))
    lane.send(b'{"id": 1}', message_id="m-1", correlation_id="c-7", headers={"tries": 2, "tenant": "t1"})
    eventually(lambda: mirror.left() == 1, "it is mirrored")
    scenes.finished(server, lane)
    _, properties, body = eventually(mirror.get, "it can be read")
    assert body == b'{"id": 1}'
    assert properties.headers["tenant"] == "t1" and properties.headers["dlq-reason"] == "bad_request"
    assert properties.headers["dlq-message-id"] == "m-1"
    assert properties.correlation_id == "c-7" and "correlation_id" not in properties.headers


@pytest.mark.parametrize("kind", TYPES)
def test_a_kill_between_the_mirror_and_the_source_loses_nothing(serve, handler, rabbit, redis, kind):
    scenes.killed_behind_the_mirror(serve, handler, Lane(rabbit, kind), redis)


def test_what_no_queue_takes_is_an_error_and_not_a_loss(serve, handler, rabbit):
    """Mandatory publishing: the message is not settled until its answer was routed."""
    worker = handler()
    lane = Lane(rabbit)
    with lane.channel() as channel:
        channel.exchange_declare("answers", "direct", durable=True)
    server = serve(scenes.queues(lane, {"http": worker.url,
                                        "reply": rabbit.url("exchange=answers&routing_key=gone")}))
    lane.publish([{"id": "m-1"}])
    eventually(lambda: "routes it to no queue" in server.log(), "it is said")
    assert lane.left() == 1
    with lane.channel() as channel:
        channel.queue_declare("gone", durable=True)
        channel.queue_bind("gone", "answers", "gone")
    scenes.finished(server, lane)
    assert rabbit.messages("gone") == 1


def read_all(lane):
    return [one[1].headers for one in iter(lane.get, None)]


def test_of_letters_with_one_body_those_that_no_queue_takes_are_known(serve, handler, rabbit):
    """An exchange that routes by headers; those that come back are offered again, and no others."""
    worker = handler(lambda call: 400)
    lane, here, there = Lane(rabbit), Lane(rabbit), Lane(rabbit)
    with lane.channel() as channel:
        channel.exchange_declare("by-place", "headers", durable=True)
        channel.queue_bind(here.name, "by-place", "", {"x-match": "all", "place": "here"})
    server = serve(scenes.queues(lane, {"http": worker.url}, concurrency=100,
                                 dlq={"mirror": rabbit.url("exchange=by-place&routing_key=any")}))
    server.post(f"/v1/queues/{scenes.QUEUE}/pause", {"why": "all at once"})
    ids = {place: {f"{place}-{n}" for n in range(40)} for place in ("here", "there")}
    for pair in zip(*ids.values()):
        for one in pair:
            lane.send(b"tick", message_id=one, headers={"place": one.split("-")[0]})
    server.post(f"/v1/queues/{scenes.QUEUE}/resume")
    eventually(lambda: lane.left() == 40, "those that have a queue are letters")
    with lane.channel() as channel:
        channel.queue_bind(there.name, "by-place", "", {"x-match": "all", "place": "there"})
    scenes.finished(server, lane)
    assert sorted(headers["dlq-message-id"] for headers in read_all(here)) == sorted(ids["here"])
    assert sorted(headers["dlq-message-id"] for headers in read_all(there)) == sorted(ids["there"])


def test_a_letter_that_is_too_large_for_its_mirror_is_a_letter_all_the_same(serve, handler, rabbit):
    """And those beside it, which the end of the channel takes along, are published. Once the limit is known, no
    other channel ends by it."""
    worker = handler(lambda call: 400)
    lane, mirror = Lane(rabbit), Lane(rabbit)
    server = serve(scenes.queues(lane, {"http": worker.url}, dlq={"mirror": rabbit.url(f"queue={mirror.name}")}))
    server.post(f"/v1/queues/{scenes.QUEUE}/pause", {"why": "the limit first"})
    small, large = {f"small-{n}" for n in range(20)}, {f"large-{n}" for n in range(20)}
    for pair in zip(small, large):
        lane.publish([{"id": one, "pad": "x" * 8192 if one in large else ""} for one in pair])
    ended = rabbit.log().count("is larger than configured max size")
    with rabbit.limited(4096):
        server.post(f"/v1/queues/{scenes.QUEUE}/resume")
        scenes.finished(server, lane)
    assert {letter["message"]["id"] for letter in server.letters(scenes.DLQ)} == small | large
    assert {headers["dlq-message-id"] for headers in read_all(mirror)} == small
    told = [line for line in server.log().splitlines() if "is not in its mirror: rabbitmq: the message has 82" in line]
    assert len(told) == len(large)
    assert rabbit.log().count("is larger than configured max size") == ended + 1


def test_a_letter_whose_headers_are_too_large_for_its_mirror_is_a_letter_all_the_same(serve, handler, rabbit):
    """They fit a frame as they came, and no more with what is said of the letter."""
    worker = handler(lambda call: 400)
    lane, mirror = Lane(rabbit), Lane(rabbit)
    server = serve(scenes.queues(lane, {"http": worker.url}, dlq={"mirror": rabbit.url(f"queue={mirror.name}")}))
    lane.send(b"{}", message_id="large", headers={"pad": "x" * 130900})
    lane.send(b"{}", message_id="small")
    scenes.finished(server, lane)
    assert {letter["message"]["id"] for letter in server.letters(scenes.DLQ)} == {"large", "small"}
    assert {headers["dlq-message-id"] for headers in read_all(mirror)} == {"small"}
    assert "is not in its mirror: rabbitmq: the headers are larger than a frame" in server.log()


def test_headers_that_are_too_large_do_no_harm_to_what_goes_beside_them(serve, handler, rabbit):
    """Each of the others is mirrored once, on one connection."""
    worker = handler(lambda call: 400)
    lane, mirror = Lane(rabbit), Lane(rabbit)
    server = serve(scenes.queues(lane, {"http": worker.url}, concurrency=100,
                                 dlq={"mirror": rabbit.url(f"queue={mirror.name}")}))
    server.post(f"/v1/queues/{scenes.QUEUE}/pause", {"why": "all at once"})
    small = [f"small-{n}" for n in range(40)]
    for n, one in enumerate(small):
        lane.send(b"{}", message_id=one)
        if n % 10 == 5:
            lane.send(b"{}", message_id=f"large-{n}", headers={"pad": "x" * 130900})
    server.post(f"/v1/queues/{scenes.QUEUE}/resume")
    scenes.finished(server, lane)
    assert sorted(headers["dlq-message-id"] for headers in read_all(mirror)) == sorted(small)
    assert server.log().count("the headers are larger than a frame, 131072 bytes") == 4
    assert server.log().count("sink rabbitmq: ") == 1, "no connection was lost"


def test_headers_may_fill_a_frame_to_its_last_byte(serve, handler, rabbit):
    worker = handler(lambda call: 400)
    lane, mirror = Lane(rabbit), Lane(rabbit)
    server = serve(scenes.queues(lane, {"http": worker.url}, dlq={"mirror": rabbit.url(f"queue={mirror.name}")}))
    lane.send(b"{}", message_id="m-1", headers={"pad": "x" * 100000})
    _, properties, _ = eventually(mirror.get, "it is mirrored")
    room = 131072 - 20 - len(b"".join(properties.encode()))
    lane.send(b"{}", message_id="m-2", headers={"pad": "x" * (100000 + room)})
    lane.send(b"{}", message_id="m-3", headers={"pad": "x" * (100000 + room + 1)})
    scenes.finished(server, lane)
    assert [headers["dlq-message-id"] for headers in read_all(mirror)] == ["m-2"]
    assert server.log().count("the headers are larger than a frame, 131072 bytes") == 1
    assert server.log().count("sink rabbitmq: ") == 1, "no connection was lost"


class Halfway(Relay):
    """Holds what impound says behind so many bytes."""

    def __init__(self, port, half):
        super().__init__(port, b"-")
        self.left = half

    def cut(self, before, data):
        self.left -= len(data)
        if self.left < 0:
            self.reached.set()
            self.go.wait()
        return data

    def is_silent(self):
        return False

    def confirmed(self):
        """How many messages the broker has confirmed, all that came before them among them."""
        acks = re.findall(rb"\x01\x00\x01\x00\x00\x00\x0d\x00\x3c\x00\x50(.{8})(.)\xce", self.told, re.DOTALL)
        tags = set()
        for tag, multiple in acks:
            last = int.from_bytes(tag, "big")
            tags |= set(range(1, last + 1)) if multiple == b"\x01" else {last}
        return next(tag for tag in itertools.count() if tag + 1 not in tags)


def test_what_was_confirmed_before_a_write_failed_is_not_published_again(serve, handler, rabbit):
    worker = handler(lambda call: 400)
    lane, mirror = Lane(rabbit), Lane(rabbit)
    relay = Halfway(rabbit.port, 6 << 20)
    url = rabbit.url(f"queue={mirror.name}", port=f"{relay.port},127.0.0.1:{rabbit.port}")
    server = serve(scenes.queues(lane, {"http": worker.url}, concurrency=100, dlq={"mirror": url}))
    server.post(f"/v1/queues/{scenes.QUEUE}/pause", {"why": "all at once"})
    lane.publish([{"id": f"m-{n}", "pad": "x" * (256 << 10)} for n in range(60)])
    server.post(f"/v1/queues/{scenes.QUEUE}/resume")
    try:
        assert relay.reached.wait(PATIENCE_S)
        eventually(lambda: relay.confirmed() == mirror.left() > 10, "all that arrived is confirmed")
        confirmed = relay.confirmed()
    finally:
        relay.close()
    scenes.finished(server, lane)
    ids = [headers["dlq-message-id"] for headers in read_all(mirror)]
    assert set(ids) == {f"m-{n}" for n in range(60)}
    assert [one for one in ids[:confirmed] if ids.count(one) > 1] == []


def test_the_frame_is_the_one_that_the_server_wants(serve, handler, rabbit):
    """The source has its connection from before."""
    worker = handler(lambda call: 400)
    lane, mirror = Lane(rabbit), Lane(rabbit)
    server = serve(scenes.queues(lane, {"http": worker.url}, dlq={"mirror": rabbit.url(f"queue={mirror.name}")}))
    server.post(f"/v1/queues/{scenes.QUEUE}/pause", {"why": "the frame first"})
    eventually(lambda: server.queue(scenes.QUEUE)["state"] == "paused", "it is paused")
    lane.send(b"{}", message_id="large", headers={"pad": "x" * 8192})
    lane.send(b"x" * 65536, message_id="small")
    with rabbit.limited(8192, "frame_max"):
        server.post(f"/v1/queues/{scenes.QUEUE}/resume")
        scenes.finished(server, lane)
        assert [headers["dlq-message-id"] for headers in read_all(mirror)] == ["small"]
    assert server.log().count("the headers are larger than a frame, 8192 bytes") == 1


@pytest.mark.parametrize("size", [10, 32 * 1024 * 1024], ids=["small", "large"])
def test_a_server_that_blocks_publishers_is_told_of_and_published_to_later(serve, handler, rabbit, size):
    """A large letter is in the middle of its write when the server stops reading."""
    worker = handler(lambda call: 400)
    lane, mirror = Lane(rabbit), Lane(rabbit)
    server = serve(scenes.queues(lane, {"http": worker.url}, dlq={"mirror": rabbit.url(f"queue={mirror.name}")}))
    server.post(f"/v1/queues/{scenes.QUEUE}/pause", {"why": "the alarm first"})
    lane.publish([{"id": "m-1", "pad": "x" * size}])
    with rabbit.alarmed():
        server.post(f"/v1/queues/{scenes.QUEUE}/resume")
        eventually(lambda: "blocks publishers: low on memory" in (server.queue(scenes.QUEUE)["why"] or ""), "it is said")
        assert "blocks publishers: low on memory" in server.cli("queues", scenes.QUEUE)
        assert lane.left() == 1 and mirror.left() == 0
    scenes.finished(server, lane)
    assert mirror.left() >= 1
    assert len(server.letters(scenes.DLQ)) == 1
    assert server.queue(scenes.QUEUE)["why"] is None


def test_tls(serve, handler, rabbit):
    """A certificate that is not trusted is not talked to."""
    lane = Lane(rabbit)
    worker = handler()
    where = f"localhost:{rabbit.tls_port}/?queue={lane.name}"  # librabbitmq looks for names alone
    for source, words in ((f"amqps://{where}", "certificate is not trusted"),
                          (f"amqps://127.0.0.1:{rabbit.port}/?queue={lane.name}", "TLS failed"),
                          (f"amqps://{where}&ca=/no/such.pem", "file cannot be read")):
        lane.source = source
        server = serve(scenes.queues(lane, {"http": worker.url}))
        eventually(lambda one=server, said=words: said in (trouble(one) or ""), f"it says {words}")
    lane.publish([{"id": "m-1"}])
    assert worker.count() == 0
    lane.source = f"amqps://{where}&ca={rabbit.ca_file}"
    server = serve(scenes.queues(lane, {"http": worker.url}))
    eventually(lambda: worker.ids() == ["m-1"], "it is handled")
    scenes.finished(server, lane)


def test_of_several_hosts_one_that_answers_is_found(serve, handler, rabbit):
    lane = Lane(rabbit)
    worker = handler()
    lane.source = f"amqp://127.0.0.1:1,127.0.0.1:{rabbit.port}/?queue={lane.name}"
    server = serve(scenes.queues(lane, {"http": worker.url}))
    lane.publish([{"id": "m-1"}])
    scenes.finished(server, lane)
    assert worker.ids() == ["m-1"]
