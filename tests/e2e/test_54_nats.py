"""NATS JetStream as a source and a sink, against the real server, with nats-py as everybody else."""
import asyncio
import json
import socket
import ssl
import threading
import time

import pytest

import scenes
from brokers import certificate
from harness import PATIENCE_S, eventually, impound, scaled
from nats_node import Lane, Nats
from relay import Relay

RENEWS = 3  # within an ack_wait


@pytest.fixture(scope="module")
def nats(tmp_path_factory):
    node = Nats(tmp_path_factory.mktemp("nats"))
    try:
        yield node.start()
    finally:
        node.close()


def trouble(server):
    return server.queue(scenes.QUEUE)["source_trouble"]


def test_a_bug_is_parked_a_slow_service_is_retried_and_the_rest_flows(serve, nats):
    lane = Lane(nats)
    _, letter = scenes.three_orders(serve, lane)
    assert letter["message"]["id"] == f"{lane.name}:1", "its place in the stream is its identity"
    assert letter["source"] == {"kind": "nats", "stream": lane.name, "consumer": "pricing",
                                "subject": lane.subject, "sequence": 1, "delivered": 1, "typed": "Content-Type"}


def test_of_many_exactly_the_poison_ones_are_dead(serve, handler, nats):
    scenes.one_bad_in_many(serve, handler, Lane(nats))


def test_while_the_downstream_is_out_nothing_dies(serve, handler, nats):
    scenes.outage(serve, handler, Lane(nats), 300)


def test_bad_credentials_halt_and_leave_what_was_not_refused_at_the_broker(serve, handler, nats):
    scenes.halt(serve, handler, Lane(nats), 300)


def revive(server):
    server.kill()
    server.start()


def test_kill_9_of_impound_loses_nothing(serve, handler, nats):
    scenes.killed(serve, handler, Lane(nats, ack_wait=1), scaled(20, least=3), revive)


def test_kill_9_of_the_broker_loses_nothing(serve, handler, nats):
    def restart(_):
        nats.kill()
        nats.start()
    scenes.killed(serve, handler, Lane(nats, ack_wait=5), scaled(5, least=2), restart)


def test_what_stands_beside_the_body_is_kept(serve, handler, nats):
    worker = handler(lambda call: 400)
    lane = Lane(nats)
    server = serve(scenes.queues(lane, {"http": worker.url}))
    body = bytes(range(256)) * 3
    lane.send(body, **{"Nats-Msg-Id": "m-1", "tenant": "t1", "Content-Type": "application/octet-stream",
                       "impound-key": "k-9"})
    letter = eventually(lambda: server.message(f"{lane.name}:1"), "it is a letter")
    assert worker.calls[0].body == body
    message = letter["message"]
    assert message["headers"] == {"Nats-Msg-Id": "m-1", "tenant": "t1"}
    assert (message["content_type"], message["key"]) == ("application/octet-stream", "k-9")
    assert message["size"] == len(body)


def test_a_long_attempt_is_not_given_to_somebody_else(serve, handler, nats):
    """It takes more than twice as long as the server waits for an acknowledgement."""
    lane, release = Lane(nats, ack_wait=5), threading.Event()

    async def renewals(js):
        told = await js._nc.subscribe(f"$JS.ACK.{lane.name}.pricing.>")  # pylint: disable=protected-access
        for _ in range(2 * RENEWS + 1):
            assert (await told.next_msg(timeout=PATIENCE_S)).data == b"+WPI"

    worker = handler(lambda call: 200 if release.wait(PATIENCE_S) else 500)
    server = serve(scenes.queues(lane, {"http": worker.url, "timeout": "1h"}))
    lane.publish([{"id": "slow"}])
    eventually(worker.count, "it is under way")
    nats.run(renewals)
    release.set()
    scenes.finished(server, lane)
    assert worker.count() == 1
    assert lane.info().num_redelivered == 0 and lane.info().delivered.consumer_seq == 1


def test_what_was_delivered_too_often_is_poison_unattempted(serve, handler, nats):
    worker = handler()
    lane = Lane(nats)
    lane.publish([{"id": "killer"}])

    async def fail_at_it(js):
        sub = await js.pull_subscribe_bind("pricing", lane.name)
        for _ in range(4):
            message = (await sub.fetch(1, timeout=PATIENCE_S))[0]
            await message.nak()
    nats.run(fail_at_it)
    lane.publish([{"id": "fine"}])
    server = serve(scenes.queues(lane, {"http": worker.url}, poison={"deliveries": 4}))
    scenes.finished(server, lane)
    assert [json.loads(call.body)["id"] for call in worker.calls] == ["fine"]
    assert server.message(f"{lane.name}:1")["cause"] == "crash"


def test_of_large_messages_few_are_fetched_ahead(serve, handler, nats):
    lane = Lane(nats)
    scenes.bounded_ahead(serve, handler, lane, lambda: lane.info().num_pending)


def test_deliveries_of_graceful_stops_are_not_held_against_a_message(serve, handler, nats):
    lane = Lane(nats)
    scenes.stopped_often(serve, handler, lane, lambda: lane.info().num_ack_pending == 3)


def test_a_letter_is_terminated_and_a_success_acknowledged(serve, handler, nats):
    """The server tells of what is terminated."""
    worker = handler(lambda call: 400 if b"bad" in call.body else 200)
    lane = Lane(nats)

    async def watch(js):
        await js.add_stream(name="TOLD", subjects=["$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.>"])
    nats.run(watch)
    server = serve(scenes.queues(lane, {"http": worker.url}))
    lane.publish([{"id": "good"}, {"id": "bad"}])
    eventually(lambda: worker.count() == 2, "both are handled")
    scenes.finished(server, lane)
    told = eventually(lambda: nats.run(lambda js: js.stream_info("TOLD")).state.messages, "it is told of")
    assert told == 1
    advisory = json.loads(nats.run(lambda js: js.get_msg("TOLD", 1)).data)
    assert (advisory["stream"], advisory["consumer"]) == (lane.name, "pricing")


def test_a_graceful_stop_gives_back_at_once_what_was_fetched(serve, handler, nats):
    lane = Lane(nats, ack_wait=3600)
    lane.publish([{"id": f"m-{n}"} for n in range(20)])
    server = serve(scenes.queues(lane, {"http": handler(lambda call: 401).url}, concurrency=1))
    eventually(lambda: server.queue(scenes.QUEUE)["state"] == "halted", "it halts")
    eventually(lambda: server.queue(scenes.QUEUE)["in_flight"] == 0, "nothing is under way")
    held = server.queue(scenes.QUEUE)["depth"]
    assert held > 0, "what was refused is stored, and settled at its source"
    server.stop()
    worker = handler()
    server = serve(scenes.queues(lane, {"http": worker.url}))
    eventually(lambda: len({call.body for call in worker.calls}) == 20 - held, "all others come again")
    scenes.finished(server, lane)


@pytest.mark.parametrize("change, words", [
    (lambda lane: lane.node.url("stream=NOWHERE&consumer=pricing"), "stream not found"),
    (lambda lane: lane.node.url(f"stream={lane.name}&consumer=nobody"), "consumer not found (impound does not create one: nats"),
    (lambda lane: f"nats://127.0.0.1:1?stream={lane.name}&consumer=pricing", "127.0.0.1:1: connect: connection refused"),
    (lambda lane: f"tls://127.0.0.1:{lane.node.port}?stream={lane.name}&consumer=pricing", "does not speak TLS"),
])
def test_what_is_wrong_is_said_in_words(serve, handler, nats, change, words):
    lane = Lane(nats)
    lane.source = change(lane)
    server = serve(scenes.queues(lane, {"http": handler().url}))
    eventually(lambda: words in (trouble(server) or ""), f"it says {words}")
    checked = impound("check", "--connect", "-c", server.config_path)
    assert checked.returncode == 1 and words in checked.stdout + checked.stderr


def test_where_letters_would_be_published_is_tried_out(nats, tmp_path):
    lane = Lane(nats)
    urls = [nats.url(f"subject={lane.subject}"), nats.url("subject=nowhere"), "nats://127.0.0.1:1?subject=nowhere"]
    code, (taken, nobody, away) = scenes.check_mirrors(tmp_path, *urls)
    assert code == 1
    assert taken.endswith(": connected")
    assert nobody.endswith("no stream takes subject nowhere")
    assert "127.0.0.1:1: connect: connection refused" in away
    assert lane.left() == 0


def test_who_may_publish_need_not_be_allowed_to_ask_where_it_goes(tmp_path):
    node = Nats(tmp_path, """authorization { users: [
        { user: me, password: pw, permissions: { publish: "orders.dlq", subscribe: "_INBOX.>" } } ] }""")
    try:
        node.start()
        code, (line,) = scenes.check_mirrors(tmp_path, node.url("subject=orders.dlq", user="me:pw@"))
    finally:
        node.close()
    assert code == 0
    assert ": connected, but the stream of subject orders.dlq may not be looked up" in line


@pytest.mark.parametrize("consumer, words", [
    ({"ack_policy": "none"}, "with any other than explicit, messages can be lost"),
    ({"deliver_subject": "pushed"}, "a pull consumer is needed"),
])
def test_a_consumer_that_would_lose_messages_is_refused(serve, handler, nats, consumer, words):
    lane = Lane(nats, **consumer)
    server = serve(scenes.queues(lane, {"http": handler().url}))
    eventually(lambda: words in (trouble(server) or ""), f"it says {words}")


class Crowd(threading.Thread):
    """Somebody else's pull, which takes the only place there is until it `goes`. `pulls` counts all that are sent
    meanwhile."""

    def __init__(self, lane):
        super().__init__()
        self.lane, self.pulls = lane, 0
        self.there, self.over = threading.Event(), threading.Event()

    async def watch(self, _):
        self.pulls += 1
        self.there.set()

    async def crowd(self, js):
        await js._nc.subscribe(  # pylint: disable=protected-access
            f"$JS.API.CONSUMER.MSG.NEXT.{self.lane.name}.pricing", cb=self.watch)
        waiting = await js.pull_subscribe_bind("pricing", self.lane.name)
        pull = asyncio.ensure_future(waiting.fetch(1, timeout=10 * PATIENCE_S))
        await asyncio.get_running_loop().run_in_executor(None, self.over.wait)
        pull.cancel()

    def run(self):
        self.lane.node.run(self.crowd)

    def goes(self):
        self.over.set()
        self.join()


def test_a_pull_that_is_refused_is_not_repeated_at_full_speed(serve, handler, nats):
    worker, lane = handler(), Lane(nats, max_waiting=1)
    crowd = Crowd(lane)
    crowd.start()
    try:
        assert crowd.there.wait(PATIENCE_S)
        server = serve(scenes.queues(lane, {"http": worker.url}))
        began = time.monotonic()
        eventually(lambda: crowd.pulls > 4, "impound asks, and asks again")
        assert crowd.pulls < 5 + 7 * (time.monotonic() - began), "at its leisure"
    finally:
        crowd.goes()
    lane.publish([{"id": f"m-{n}"} for n in range(1000)])
    scenes.finished(server, lane)
    assert worker.count() == 1000


@pytest.mark.parametrize("limit", [{"max_batch": 10}, {"max_expires": 250 * 10**6}])
def test_a_consumer_may_limit_what_is_asked_for_at_once(serve, handler, nats, limit):
    worker, lane = handler(), Lane(nats, **limit)
    server = serve(scenes.queues(lane, {"http": worker.url}))
    lane.publish([{"id": f"m-{n}"} for n in range(35)])
    scenes.finished(server, lane)
    assert worker.count() == 35


def test_a_server_that_stops_answering_is_noticed_and_found_again(serve, handler, nats):
    worker = handler()
    lane = Lane(nats)
    server = serve(scenes.queues(lane, {"http": worker.url}))
    assert impound("check", "--connect", "-c", server.config_path).returncode == 0
    nats.freeze()
    try:
        assert "answer" in eventually(lambda: trouble(server), "it is noticed")
    finally:
        nats.thaw()
    lane.publish([{"id": "after"}])
    eventually(lambda: worker.count() == 1, "messages flow again")
    assert trouble(server) is None


GREETING = (b'INFO {"server_id":"x","version":"2.9.10","tls_required":true,"headers":true,'
            b'"max_payload":1048576,"port":1,"host":"x","proto":1}\r\n')


class Mute(threading.Thread):
    """Greets as a server that wants TLS, and says nothing more."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.callers = []
        self.start()

    def run(self):
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return
            self.callers.append(caller)
            caller.sendall(GREETING)

    def url(self, query, scheme="tls"):
        return f"{scheme}://127.0.0.1:{self.listener.getsockname()[1]}?{query}"

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.join()
        for caller in self.callers:
            caller.close()


@pytest.mark.parametrize("scheme", ["tls", "nats"])
def test_a_tls_handshake_that_is_never_answered_has_an_end(serve, handler, nats, scheme):
    mute = Mute()
    try:
        lane = Lane(nats)
        lane.source = mute.url(f"stream={lane.name}&consumer=pricing", scheme)
        server = serve(scenes.queues(lane, {"http": handler().url}))
        assert "connect: the server does not answer" in eventually(lambda: trouble(server), "it is said")
        eventually(lambda: len(mute.callers) > 1, "it is tried again")
        checked = impound("check", "--connect", "-c", server.config_path)
        assert checked.returncode == 1 and "connect: the server does not answer" in checked.stderr
        server.stop()
    finally:
        mute.close()


@pytest.fixture(name="secure")
def secure_node(tmp_path):
    cert, key = certificate(tmp_path)
    node = Nats(tmp_path / "node", f'tls {{ cert_file: "{cert}", key_file: "{key}", timeout: {PATIENCE_S} }}',
                tls=ssl.create_default_context(cafile=cert))
    node.cert = cert
    try:
        yield node.start()
    finally:
        node.close()


def test_what_is_wrong_with_a_second_server_is_said_though_the_first_is_mute(serve, handler, secure):
    mute = Mute()
    try:
        lane = Lane(secure)
        lane.source = mute.url(f"stream={lane.name}&consumer=pricing").replace("?", f",127.0.0.1:{secure.port}?")
        said = eventually(lambda one=serve(scenes.queues(lane, {"http": handler().url})): trouble(one), "it is said")
        assert said == f"127.0.0.1:{secure.port}: connect: TLS failed; is the server's certificate trusted (ca=FILE)?"
    finally:
        mute.close()


HANDSHAKE = b"\x16\x03\x01"
HELD_S = 1


def test_a_second_server_has_its_own_time_for_the_handshake(serve, handler, secure):
    relay = Relay(secure.port, HANDSHAKE, waits=True)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        try:
            lane, worker = Lane(secure), handler()
            lane.source = (f"tls://127.0.0.1:{silent.getsockname()[1]},127.0.0.1:{relay.port}"
                           f"?stream={lane.name}&consumer=pricing&ca={secure.cert}")
            server = serve(scenes.queues(lane, {"http": worker.url}))
            assert relay.reached.wait(PATIENCE_S), "the first is given up"
            assert not relay.go.wait(HELD_S), "the second is slow"
            relay.go.set()
            lane.publish([{"id": "m-1"}])
            eventually(lambda: worker.count() == 1, "it is handled")
            assert "connect:" not in server.log(), "no try was in vain"
            server.stop()
        finally:
            relay.close()


def test_a_broken_connection_is_made_again_to_the_next_server(serve, handler, nats):
    relay = Relay(nats.port, b"no such words")
    lane, worker = Lane(nats), handler()
    lane.source = nats.url(f"stream={lane.name}&consumer=pricing").replace("127", f"127.0.0.1:{relay.port},127", 1)
    try:
        server = serve(scenes.queues(lane, {"http": worker.url}))
        eventually(lambda: len(relay.sockets) > 1, "the first is asked")
        lane.publish([{"id": "before"}])
        eventually(lambda: worker.count() == 1, "messages flow")
    finally:
        relay.close()
    lane.publish([{"id": "after"}])
    eventually(lambda: worker.count() == 2, "messages flow again")
    server.stop()


def test_credentials_and_tls(serve, handler, tmp_path):
    cert, key = certificate(tmp_path)
    node = Nats(tmp_path / "node", f'''
        authorization {{ user: me, password: "s3 cret" }}
        tls {{ cert_file: "{cert}", key_file: "{key}" }}''')
    context = ssl.create_default_context(cafile=cert)
    node.login = {"user": "me", "password": "s3 cret", "tls": context}
    try:
        lane = Lane(node.start())
        query = f"stream={lane.name}&consumer=pricing"
        worker = handler()
        lane.source = node.url(f"{query}&ca={cert}", "me:s3%20cret@", "tls")
        server = serve(scenes.queues(lane, {"http": worker.url}))
        lane.publish([{"id": "m-1"}])
        eventually(lambda: worker.count() == 1, "it is handled")
        for url, words in ((node.url(f"{query}&ca={cert}", "me:wrong%20s3cret@", "tls"), "are refused"),
                           (node.url(query, "me:s3%20cret@", "nats"), "TLS failed"),
                           (node.url(query, "me:s3%20cret@", "tls"), "TLS failed")):
            lane.source = url
            other = serve(scenes.queues(lane, {"http": worker.url}))
            assert words in eventually(lambda one=other: trouble(one), f"it says {words}")
            assert "cret" not in other.log()
        server.stop()
    finally:
        node.close()


def test_an_answer_is_published_and_confirmed(serve, handler, nats):
    worker = handler(lambda call: (200, {"Content-Type": "text/plain"}, b"priced " + call.body))
    lane, answers = Lane(nats), Lane(nats)
    server = serve(scenes.queues(lane, {"http": worker.url, "reply": nats.url(f"subject={answers.subject}")}))
    lane.publish([{"id": f"m-{n}"} for n in range(100)])
    eventually(lambda: answers.left() == 100, "all answers are there")
    scenes.finished(server, lane)
    first = nats.run(lambda js: js.get_msg(answers.name, 1))
    assert first.data.startswith(b"priced ")
    assert first.headers["Nats-Msg-Id"].startswith(lane.name + ":")
    assert first.headers["Content-Type"] == "text/plain"


def test_an_answer_that_is_too_large_for_its_sink_holds_nothing_up(serve, handler, nats):
    answers = Lane(nats)
    scenes.answer_too_large(serve, handler, Lane(nats), nats.url(f"subject={answers.subject}"), 2 * 1024 * 1024)
    assert answers.left() == 1


def test_a_letter_is_mirrored_with_what_is_known_of_it(serve, handler, nats):
    worker = handler(lambda call: 400)
    lane, mirror = Lane(nats), Lane(nats)
    server = serve(scenes.queues(lane, {"http": worker.url}, dlq={"mirror": nats.url(f"subject={mirror.subject}")}))
    lane.send(b'{"id": 1}', tenant="t1")
    scenes.finished(server, lane)
    assert mirror.left() == 1, "it is mirrored before its source is acknowledged"
    letter = nats.run(lambda js: js.get_msg(mirror.name, 1))
    assert letter.data == b'{"id": 1}' and letter.headers["tenant"] == "t1"
    assert letter.headers["dlq-reason"] == "bad_request" and letter.headers["dlq-message-id"] == f"{lane.name}:1"


def test_letters_of_two_queues_with_one_id_are_both_mirrored(serve, handler, nats):
    worker, mirror = handler(lambda call: 400), Lane(nats)
    one = {"handler": {"http": worker.url}, "dlq": {"mirror": nats.url(f"subject={mirror.subject}")}}
    server = serve({"orders": one, "refunds": one})
    for queue in ("orders", "refunds"):
        server.push(queue, {"of": queue}, id="m-1")
        eventually(lambda queue=queue: len(server.letters(f"{queue}.dlq")) == 1, "it is dead")
    assert mirror.left() == 2


def test_a_letter_that_is_too_large_for_its_mirror_is_a_letter_all_the_same(serve, handler, nats):
    worker = handler(lambda call: 400)
    lane = Lane(nats)
    nats.run(lambda js: js.add_stream(name="SMALL", subjects=["small"], max_msg_size=4096))
    server = serve(scenes.queues(lane, {"http": worker.url}, dlq={"mirror": nats.url("subject=small")}))
    lane.publish([{"id": "large", "pad": "x" * 8192}, {"id": "small"}])
    scenes.finished(server, lane)
    assert len(server.letters(scenes.DLQ)) == 2
    assert nats.run(lambda js: js.stream_info("SMALL")).state.messages == 1
    assert "is not in its mirror: nats: message size exceeds maximum allowed" in server.log()


def test_a_kill_between_the_mirror_and_the_source_loses_nothing(serve, handler, nats, redis):
    scenes.killed_behind_the_mirror(serve, handler, Lane(nats, ack_wait=5), redis)


def test_what_no_stream_takes_is_an_error_and_not_a_loss(serve, handler, nats):
    lane = Lane(nats)
    server = serve(scenes.queues(lane, {"http": handler().url, "reply": nats.url("subject=nowhere.yet")}))
    lane.publish([{"id": "m-1"}])
    eventually(lambda: "no stream takes" in server.log(), "it is said")
    assert lane.left() == 1
    nats.run(lambda js: js.add_stream(name="LATE", subjects=["nowhere.>"]))
    scenes.finished(server, lane)
    assert nats.run(lambda js: js.stream_info("LATE")).state.messages == 1
