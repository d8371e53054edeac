"""Redis lists and streams as sources and sinks, against the real server, with redis-py as everybody else."""
import contextlib
import json
import socket
import subprocess
import threading

import pytest

import scenes
from brokers import Redis
from harness import PATIENCE_S, eventually, impound, scaled

client = pytest.importorskip("redis")


class Lane:
    """A list or a stream of its own."""

    count = 0

    def __init__(self, redis):
        Lane.count += 1
        self.redis, self.name = redis, f"lane{Lane.count}"
        self.there = client.Redis(port=redis.port, socket_timeout=PATIENCE_S)
        self.prepare()


class List(Lane):
    kind = "list"

    def prepare(self):
        self.source = self.redis.url(f"list={self.name}")

    def publish(self, bodies):
        self.there.lpush(self.name, *[json.dumps(body) for body in bodies])

    def left(self):
        """Waiting and taken, at one moment."""
        return self.there.eval("""
            local count = redis.call('LLEN', KEYS[1])
            for _, hash in ipairs(redis.call('KEYS', KEYS[1] .. ':impound:*')) do
                count = count + redis.call('HLEN', hash)
            end
            return count""", 1, self.name)


class Stream(Lane):
    kind = "stream"

    def prepare(self):
        self.source = self.redis.url(f"stream={self.name}&group=pricing")
        self.there.xgroup_create(self.name, "pricing", id="0", mkstream=True)

    def publish(self, bodies):
        pipeline = self.there.pipeline(transaction=False)
        for body in bodies:
            pipeline.xadd(self.name, {"body": json.dumps(body)})
        pipeline.execute()

    def left(self):
        group = [one for one in self.there.xinfo_groups(self.name) if one["name"] == b"pricing"][0]
        behind = group["lag"]
        if behind is None:  # a server that was killed may have lost count
            behind = len(self.there.xrange(self.name, b"(" + group["last-delivered-id"]))
        return behind + group["pending"]


SHAPES = pytest.mark.parametrize("shape", [List, Stream], ids=["list", "stream"])


def trouble(server):
    return server.queue(scenes.QUEUE)["source_trouble"]


@SHAPES
def test_of_large_messages_few_are_fetched_ahead(serve, handler, redis, shape):
    lane = shape(redis)

    def waiting():
        if shape is List:
            return lane.there.llen(lane.name)
        return lane.left() - lane.there.xpending(lane.name, "pricing")["pending"]
    scenes.bounded_ahead(serve, handler, lane, waiting)


@SHAPES
def test_a_bug_is_parked_a_slow_service_is_retried_and_the_rest_flows(serve, redis, shape):
    lane = shape(redis)
    _, letter = scenes.three_orders(serve, lane)
    assert letter["source"]["kind"] == "redis" and letter["source"][lane.kind] == lane.name
    if shape is List:
        assert letter["message"]["id"] == "o-1", "the id in the JSON is the message's"
    else:
        assert letter["message"]["id"] == letter["source"]["entry"]
        assert letter["source"]["group"] == "pricing"


@SHAPES
def test_of_many_exactly_the_poison_ones_are_dead(serve, handler, redis, shape):
    scenes.one_bad_in_many(serve, handler, shape(redis))


@SHAPES
def test_while_the_downstream_is_out_nothing_dies(serve, handler, redis, shape):
    scenes.outage(serve, handler, shape(redis), 300)


@SHAPES
def test_bad_credentials_halt_and_leave_what_was_not_refused_at_the_broker(serve, handler, redis, shape):
    scenes.halt(serve, handler, shape(redis), 300)


def revive(server):
    server.kill()
    server.start()


@SHAPES
def test_kill_9_of_impound_loses_nothing(serve, handler, redis, shape):
    scenes.killed(serve, handler, shape(redis), scaled(20, least=3), revive)


@SHAPES
def test_kill_9_of_the_broker_loses_nothing(serve, handler, redis, shape):
    def restart(_):
        redis.kill()
        redis.start()
    scenes.killed(serve, handler, shape(redis), scaled(5), restart)


def test_equal_elements_of_a_list_are_two_messages(serve, handler, redis):
    worker = handler(lambda call: 400)
    lane = List(redis)
    lane.there.lpush(lane.name, b"same", b"same", b"same")
    server = serve(scenes.queues(lane, {"http": worker.url}))
    eventually(lambda: server.dlq(scenes.DLQ)["depth"] == 3, "each is a letter")
    scenes.finished(server, lane)
    assert lane.there.keys(f"{lane.name}*") == [f"{lane.name}:impound".encode()], "only that we live stands there"
    server.stop()
    assert lane.there.keys(f"{lane.name}*") == []


def test_a_member_of_a_set_is_handled_once_however_many_are_settled_meanwhile(serve, handler, redis):
    worker = handler(lambda call: 200)
    there, count = client.Redis(port=redis.port), scaled(3000, least=1000)
    there.zadd("members", {json.dumps({"n": number}): number for number in range(count)})
    serve({"orders": {"source": redis.url("zset=members"), "handler": {"http": worker.url}}})
    eventually(lambda: there.zcard("members") == 0, "all are settled")
    assert sorted(json.loads(call.body)["n"] for call in worker.calls) == list(range(count))


def test_a_body_is_kept_byte_for_byte(serve, handler, redis):
    worker = handler(lambda call: 400)
    lane = List(redis)
    bodies = [bytes(range(256)), b'{"a": 1.0,  "a": 2}', b""]
    lane.there.lpush(lane.name, *bodies)
    server = serve(scenes.queues(lane, {"http": worker.url}, concurrency=1))
    eventually(lambda: server.dlq(scenes.DLQ)["depth"] == 3, "all are letters")
    assert [call.body for call in worker.calls] == bodies, "in the order of the list"
    kinds = {server.message(one["id"])["message"]["content_type"] for one in server.letters(scenes.DLQ)}
    assert kinds == {"application/octet-stream", "application/json", "text/plain; charset=utf-8"}


def test_fields_of_an_entry_are_body_key_and_headers(serve, handler, redis):
    worker = handler(lambda call: 400)
    lane = Stream(redis)
    lane.there.xadd(lane.name, {"body": b"\xff\x00", "key": "k-1", "tenant": "t1", "content_type": "x/y"}, id="1700000000123-7")
    lane.there.xadd(lane.name, {"payload": '{"id": 7}'})
    lane.there.xadd(lane.name, {"pin": "110001", "qty": "2"})
    server = serve(scenes.queues(lane, {"http": worker.url}, concurrency=1))
    eventually(lambda: worker.count() == 3, "all are handled")
    assert [call.body for call in worker.calls] == [b"\xff\x00", b'{"id": 7}', b'{"pin":"110001","qty":"2"}']
    letter = eventually(lambda: server.message("1700000000123-7"), "it is a letter")
    assert letter["message"]["key"] == "k-1" and letter["message"]["content_type"] == "x/y"
    assert letter["message"]["headers"] == {"tenant": "t1"}
    assert letter["created_at"] == "2023-11-14T22:13:20.123Z"


def test_entries_of_a_dead_consumer_are_claimed(serve, handler, redis):
    worker = handler()
    lane = Stream(redis)
    lane.source += "&idle=1s"
    lane.publish([{"id": f"m-{n}"} for n in range(5)])
    lane.there.xreadgroup("pricing", "dead", {lane.name: ">"}, count=5)
    server = serve(scenes.queues(lane, {"http": worker.url}))
    scenes.finished(server, lane)
    assert sorted(json.loads(call.body)["id"] for call in worker.calls) == [f"m-{n}" for n in range(5)]


def test_entries_that_may_not_be_read_again_are_told_of(serve, handler, redis):
    ended = threading.Event()
    worker = handler(lambda call: 200 if ended.wait(PATIENCE_S) else 500)
    lane = Stream(redis)
    lane.there.execute_command("ACL", "SETUSER", "heir", "on", ">s3cret", "~*", "+@all")
    lane.source = redis.url(f"stream={lane.name}&group=pricing", user="heir:s3cret@")
    server = serve(scenes.queues(lane, {"http": worker.url}))
    lane.publish([{"id": "m-1"}])
    eventually(lambda: worker.count() == 1, "it is at the handler")
    server.kill()
    ended.set()
    lane.there.execute_command("ACL", "SETUSER", "heir", "-xrange")
    server.start()
    eventually(lambda: "the user lacks the permission" in (trouble(server) or ""), "it says so")
    lane.there.execute_command("ACL", "SETUSER", "heir", "+xrange")
    scenes.finished(server, lane)
    assert worker.count() == 2


def test_more_entries_of_a_dead_consumer_than_are_wanted_at_hand_are_claimed_later(serve, handler, redis):
    worker, total = handler(), 9000
    lane = Stream(redis)
    lane.source += "&idle=1s"
    lane.publish([{"id": n} for n in range(total)])
    lane.there.xreadgroup("pricing", "dead", {lane.name: ">"}, count=total)
    server = serve(scenes.queues(lane, {"http": worker.url}, concurrency=64))
    scenes.finished(server, lane)
    assert sorted(json.loads(call.body)["id"] for call in worker.calls) == list(range(total))


def test_an_element_that_was_taken_for_us_behind_our_back_is_found(serve, handler, redis):
    """As by a command that was given up and reached the server late."""
    worker = handler()
    lane = List(redis)
    lane.source += "&idle=1s"
    server = serve(scenes.queues(lane, {"http": worker.url}))
    consumer, = eventually(lambda: lane.there.zrange(f"{lane.name}:impound", 0, -1), "it consumes")
    lane.there.hset(f"{lane.name}:impound:{consumer.decode()}", "01a1e263-6740-7118-b852-d149b5a43d9b", '{"id": "stray"}')
    eventually(lambda: worker.ids() == ["stray"], "it is handled")
    scenes.finished(server, lane)


def test_elements_of_a_dead_consumer_go_back_to_the_list(serve, handler, redis):
    worker = handler(lambda call: 503)
    lane = List(redis)
    lane.source += "&idle=2s"
    dead = serve(scenes.queues(lane, {"http": worker.url, "timeout": "60s"}, concurrency=2, breaker="off"))
    worker.answer = lambda call: stuck(call)
    release = []

    def stuck(_):
        eventually(lambda: release, "it is told to go on")
        return 200
    lane.publish([{"id": f"m-{n}"} for n in range(5)])
    eventually(lambda: worker.count() >= 2, "the first two are under way")
    dead.kill()
    worker.answer = lambda call: 200
    alive = serve(scenes.queues(lane, {"http": worker.url}))
    scenes.finished(alive, lane)
    release.append(True)
    assert {json.loads(call.body)["id"] for call in worker.calls} == {f"m-{n}" for n in range(5)}


def test_an_entry_that_was_delivered_too_often_is_poison_unattempted(serve, handler, redis):
    worker = handler()
    lane = Stream(redis)
    lane.source += "&idle=1s"
    entry = lane.there.xadd(lane.name, {"body": '{"id": "killer"}'})
    lane.there.xreadgroup("pricing", "dead", {lane.name: ">"}, count=5)
    for _ in range(9):
        lane.there.xclaim(lane.name, "pricing", "dead", 0, [entry])
    lane.publish([{"id": "fine"}])
    server = serve(scenes.queues(lane, {"http": worker.url}))
    letter = eventually(lambda: server.message(entry.decode()), "it is a letter")
    assert (letter["cause"], letter["reason"], letter["attempts"]) == ("crash", "deliveries", 0)
    scenes.finished(server, lane)
    assert [json.loads(call.body)["id"] for call in worker.calls] == ["fine"]


def test_a_delivery_counts_when_it_is_handed_over_not_when_it_is_fetched(serve, handler, redis):
    """Four lives of a paused queue, and nothing is poison."""
    worker = handler()
    lane = Stream(redis)
    server = serve(scenes.queues(lane, {"http": worker.url}, poison={"deliveries": 2}))
    server.post(f"/v1/queues/{scenes.QUEUE}/pause", {"why": "lunch"})
    lane.publish([{"id": f"m-{n}"} for n in range(5)])
    for _ in range(4):
        revive(server)
        eventually(lambda: server.queue(scenes.QUEUE)["lag"] == 5, "they wait")
    server.post(f"/v1/queues/{scenes.QUEUE}/resume")
    scenes.finished(server, lane)
    assert worker.count() == 5 and server.dlq(scenes.DLQ)["depth"] == 0


def test_a_pause_gives_back_what_was_fetched(serve, handler, redis):
    """Another consumer gets what waits at a paused queue."""
    release = []

    def stuck(_):
        eventually(lambda: release, "it is told to go on")
        return 200
    worker = handler(stuck)
    lane = List(redis)
    server = serve(scenes.queues(lane, {"http": worker.url}, concurrency=1))
    lane.publish([{"id": f"m-{n}"} for n in range(5)])
    eventually(lambda: worker.count() == 1, "one is under way")
    server.post(f"/v1/queues/{scenes.QUEUE}/pause", {"why": "lunch"})
    eventually(lambda: lane.there.llen(lane.name) == 4, "four are back")
    assert json.loads(lane.there.rpop(lane.name))["id"] == "m-1", "in their order"
    release.append(True)
    server.post(f"/v1/queues/{scenes.QUEUE}/resume")
    scenes.finished(server, lane)
    assert worker.count() == 4


def test_order_by_key_and_idempotency_hold_for_a_stream(serve, handler, redis):
    worker = handler(lambda call: 400 if json.loads(call.body)["id"] == "a-1" else 200)
    lane = Stream(redis)
    server = serve(scenes.queues(lane, {"http": worker.url}, order="key", idempotency={"key": ".once"}))
    for one, key in [("a-1", "a"), ("a-2", "a"), ("b-1", "b"), ("b-2", "b")]:
        lane.there.xadd(lane.name, {"body": json.dumps({"id": one, "once": one}), "key": key})
    lane.there.xadd(lane.name, {"body": json.dumps({"id": "b-2 again", "once": "b-2"}), "key": "b"})
    eventually(lambda: server.metric("impound_attempts_total", queue=scenes.QUEUE, result="duplicate") == 1,
               "the duplicate is settled")
    assert [json.loads(call.body)["id"] for call in worker.calls if call.body.count(b"b-")] == ["b-1", "b-2"]
    assert lane.left() == 0 and server.queue(scenes.QUEUE)["depth"] == 1, "a-2 waits behind a-1"


def test_workers_lease_what_comes_from_a_list(serve, redis):
    lane = List(redis)
    server = serve({scenes.QUEUE: {"source": lane.source, "handler": "lease"}})
    lane.publish([{"id": f"m-{n}"} for n in range(3)])
    seen = set()
    while len(seen) < 3:
        answer = server.post(f"/v1/queues/{scenes.QUEUE}/lease", {"max": 10, "wait_ms": 60000, "lease_ms": 30000}).json
        for message in answer["messages"]:
            seen.add(message["id"])
            assert server.post(f"/v1/leases/{message['lease']}/ack", {}).status == 200
    assert seen == {"m-0", "m-1", "m-2"}
    scenes.finished(server, lane)


def test_the_id_of_another_message_is_not_a_loss(serve, handler, redis):
    worker = handler(lambda call: 400)
    lane = List(redis)
    server = serve(scenes.queues(lane, {"http": worker.url}))
    lane.publish([{"id": "same", "n": 1}])
    eventually(lambda: server.message("same"), "it is a letter")
    lane.publish([{"id": "same", "n": 2}])
    eventually(lambda: server.dlq(scenes.DLQ)["depth"] == 2, "so is the other")
    headers = [server.message(one["id"])["message"]["headers"] for one in server.letters(scenes.DLQ)]
    assert sorted(map(str, headers)) == sorted(["{}", "{'Impound-Source-Id': 'same'}"])


# ---- trouble ----

@pytest.mark.parametrize("change, words", [
    (lambda lane: f"redis://127.0.0.1:1/0?list={lane.name}", "redis 127.0.0.1:1: Connection refused"),
    (lambda lane: f"redis://no.such.host.invalid/0?list={lane.name}", "redis no.such.host.invalid:6379: "),
    (lambda lane: lane.redis.url(f"list={lane.name}", user="me:s3cret@"), "the user or the password is refused"),
    (lambda lane: lane.redis.url(f"list={lane.name}", database=99), "no such database"),
    (lambda lane: lane.redis.url("stream=nowhere&group=g"), 'there is no stream "nowhere"'),
    (lambda lane: lane.redis.url("list=text"), '"text" is a string, not a list'),
    (lambda lane: lane.redis.url("stream=text&group=g"), '"text" is a string, not a stream'),
])
def test_what_is_wrong_is_said_in_words_and_without_secrets(serve, handler, redis, change, words):
    lane = List(redis)
    lane.there.set("text", "x")
    lane.source = change(lane)
    server = serve(scenes.queues(lane, {"http": handler().url}))
    assert words in eventually(lambda: trouble(server), "it says so")
    assert words in server.cli("queues", scenes.QUEUE)
    done = impound("check", "--connect", "-c", server.config_path)
    assert done.returncode == 1 and words in done.stderr
    for said in (server.log(), done.stderr, server.get("/v1/queues").body.decode()):
        assert "s3cret" not in said


@contextlib.contextmanager
def parrot(words):
    """The port of a server that answers everything with these words."""
    def answer():
        with contextlib.suppress(OSError):  # it was closed
            while True:
                with contextlib.suppress(ConnectionError), listener.accept()[0] as near:
                    while near.recv(65536):
                        near.sendall(words)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize("said", [
    b"-ERR unknown command 'AUTH', with args beginning with: 's3cret' \r\n",
    b"-ERR unknown command `AUTH`, with args beginning with: `s3cr\r\n",
    b"-DENIED no such thing as AUTH s3cret\r\n",
])
def test_a_server_that_repeats_the_password_is_not_repeated(serve, handler, said):
    with parrot(said) as port:
        server = serve({scenes.QUEUE: {"source": f"redis://:s3cret@127.0.0.1:{port}/0?list=l",
                                       "handler": {"http": handler().url}}})
        words = eventually(lambda: trouble(server), "it says so")
        assert said[1:4].decode() in words
        done = impound("check", "--connect", "-c", server.config_path)
        assert done.returncode == 1 and f"redis 127.0.0.1:{port}: " in done.stderr
        server.stop()
    for told in (words, server.log(), done.stdout, done.stderr):
        assert "s3cr" not in told


def test_check_connects_and_changes_nothing(redis, serve, handler):
    lane = Stream(redis)
    lane.there.xgroup_destroy(lane.name, "pricing")
    server = serve(scenes.queues(lane, {"http": handler().url}))
    server.stop()
    lane.there.xgroup_destroy(lane.name, "pricing")
    done = impound("check", "--connect", "-c", server.config_path)
    assert done.returncode == 0 and "connected" in done.stdout
    assert lane.there.xinfo_groups(lane.name) == []


def test_where_letters_would_be_published_is_tried_out(redis, tmp_path):
    there = client.Redis(port=redis.port)
    there.set("words", "x")
    there.execute_command("ACL", "SETUSER", "pusher", "on", ">s3cret", "~*", "-@all", "+lpush", "+rpush", "+xadd", "+select")
    urls = [redis.url("list=fresh.dlq"), redis.url("stream=words"), "redis://127.0.0.1:1?list=fresh.dlq",
            redis.url("list=fresh.dlq", user="pusher:s3cret@")]
    code, (fresh, taken, away, pusher) = scenes.check_mirrors(tmp_path, *urls)
    assert code == 1
    assert ": connected, but " in pusher and "the user lacks the permission" in pusher and "s3cret" not in pusher
    assert 'mirror of DLQ "q0.dlq"' in fresh and fresh.endswith(": connected")
    assert taken.endswith('"words" is a string, not a stream')
    assert "127.0.0.1:1" in away and "refused" in away
    assert not there.exists("fresh.dlq")
    assert scenes.check_mirrors(tmp_path, urls[0], urls[0]) == (0, [fresh])
    assert scenes.check_mirrors(tmp_path, urls[3])[0] == 0
    code, (reply, mirror) = scenes.check_mirrors(tmp_path, urls[0], reply="redis://127.0.0.1:1?key=result:{id}&ttl=24h")
    assert (code, mirror) == (1, fresh)
    assert 'mirrors.yaml:1: reply of queue "q0"' in reply and "refused" in reply


def test_a_stream_that_appears_later_is_consumed_then(serve, handler, redis):
    worker = handler()
    lane = Stream(redis)
    lane.there.delete(lane.name)
    server = serve(scenes.queues(lane, {"http": worker.url}))
    eventually(lambda: "there is no stream" in (trouble(server) or ""), "it is missed")
    lane.publish([{"id": "late"}])
    eventually(lambda: worker.count() == 1, "it is consumed, through a group that is made for it")
    assert trouble(server) is None
    lane.there.delete(lane.name)
    eventually(lambda: trouble(server), "that it is gone again is noticed")


def test_a_broker_that_stops_answering_is_noticed_and_found_again(serve, handler, redis):
    worker = handler()
    lane = List(redis)
    server = serve(scenes.queues(lane, {"http": worker.url}))
    eventually(lambda: server.metric("impound_source_connected", queue=scenes.QUEUE) == 1, "it is connected")
    redis.freeze()
    try:
        assert "does not answer" in eventually(lambda: trouble(server), "it is noticed")
    finally:
        redis.thaw()
    lane.publish([{"id": "after"}])
    eventually(lambda: worker.ids() == ["after"], "messages flow again")
    assert trouble(server) is None
    log = server.log()
    assert log.count("retrying until it succeeds") == log.count("connected again") > 0, "trouble is logged when it begins and ends"


# ---- TLS ----

@pytest.fixture(name="secure")
def fixture_secure(tmp_path, redis):  # pylint: disable=unused-argument  # it skips where there is none
    def make(*words):
        subprocess.run(["openssl", *words], cwd=tmp_path, check=True, capture_output=True)
    make("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2",
         "-subj", "/CN=test", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    server = Redis(tmp_path, "--tls-port", "0")
    server.options = ("--tls-port", str(server.port), "--port", "0", "--tls-auth-clients", "no",
                      "--tls-cert-file", "cert.pem", "--tls-key-file", "key.pem", "--tls-ca-cert-file", "cert.pem",
                      "--requirepass", "s3cret/@")
    server.certificate = str(tmp_path / "cert.pem")
    try:
        yield server.start()
    finally:
        server.close()


def test_tls_with_a_password_carries_messages_and_answers(serve, handler, secure):
    there = client.Redis(port=secure.port, password="s3cret/@", ssl=True, ssl_ca_certs=secure.certificate)
    place = f"rediss://:s3cret%2F%40@127.0.0.1:{secure.port}/3?ca={secure.certificate}"
    worker = handler(lambda call: (200, {}, b"x" * 200000))
    server = serve({"orders": {"source": place + "&list=q", "handler": {
        "http": worker.url, "reply": place.replace("127.0.0.1", "localhost") + "&key=result:{id}"}}})
    there.execute_command("SELECT", 3)
    there.lpush("q", *[json.dumps({"id": f"m-{n}", "fill": "y" * 20000}) for n in range(50)])
    eventually(lambda: len(there.keys("result:*")) == 50, "every answer is there")
    assert there.get("result:m-7") == b"x" * 200000
    assert "s3cret" not in server.log()


@pytest.mark.parametrize("query, words", [("", "self-signed certificate"), ("&ca=/nowhere", "cannot be read")])
def test_a_certificate_that_is_not_known_is_refused(serve, handler, secure, query, words):
    place = f"rediss://:x@127.0.0.1:{secure.port}/0?list=q{query}"
    server = serve({"orders": {"source": place, "handler": {"http": handler().url}}})
    assert words in eventually(lambda: trouble(server), "it is refused")


# ---- publishing ----

def test_answers_are_pushed_and_added(serve, handler, redis):
    worker = handler(lambda call: (200, {"Content-Type": "text/plain"}, b"priced " + call.id.encode()))
    for shape, sink in ((List, "list=answers"), (Stream, "stream=answered")):
        lane = List(redis)
        server = serve(scenes.queues(lane, {"http": worker.url, "reply": redis.url(sink)}))
        lane.publish([{"id": "m-1"}])
        scenes.finished(server, lane)
        if shape is List:
            assert lane.there.rpop("answers") == b"priced m-1"
        else:
            (_, fields), = lane.there.xrange("answered")
            assert fields == {b"body": b"priced m-1", b"content_type": b"text/plain"}


def test_letters_are_mirrored_before_their_source_is_acknowledged(serve, handler, redis):
    """As an entry with dlq-* headers, and as the record that a worker of the seeds would have pushed."""
    worker = handler(lambda call: (400, {"Content-Type": "application/json"},
                                   b'{"error": {"type": "BadPin", "message": "no such pin"}}'))
    lane = List(redis)
    server = serve({
        "orders": {"source": lane.source, "handler": {"http": worker.url}, "dlq": {"mirror": redis.url("stream=orders.dlq")}},
        "pins": {"handler": {"http": worker.url}, "dlq": {"mirror": redis.url("list=q:dlq")}}})
    lane.publish([{"id": "o-1", "pin": "BAD"}])
    server.push("pins", {"id": "p-1", "model": "m"})
    scenes.finished(server, lane)
    (_, entry), = lane.there.xrange("orders.dlq")
    assert json.loads(entry.pop(b"body")) == {"id": "o-1", "pin": "BAD"}
    letter = server.message("o-1")
    assert abs(int(entry.pop(b"dlq-failed-at")) - lane.there.time()[0]) < 600
    assert entry == {b"content_type": b"application/json", b"dlq-original-topic": lane.name.encode(),
                     b"dlq-error-class": b"BadPin", b"dlq-error-msg": b"no such pin", b"dlq-attempts": b"1",
                     b"dlq-cause": b"terminal", b"dlq-category": b"validation", b"dlq-reason": b"bad_request",
                     b"dlq-letter-id": letter["id"].encode(), b"dlq-message-id": b"o-1"}
    record = json.loads(eventually(lambda: lane.there.rpop("q:dlq"), "the other is there too"))
    assert record.pop("dlq_at") > 1700000000
    assert record == {"id": "p-1", "model": "m", "dlq_reason": "bad_request"}


@SHAPES
def test_a_kill_between_the_mirror_and_the_source_loses_nothing(serve, handler, redis, shape):
    scenes.killed_behind_the_mirror(serve, handler, shape(redis), redis)


def test_a_mirror_that_is_down_holds_its_letters_up(serve, handler, redis):
    worker = handler(lambda call: 400)
    lane = List(redis)
    server = serve(scenes.queues(lane, {"http": worker.url}, dlq={"mirror": redis.url("list=text")}))
    lane.there.set("text", "x")
    lane.publish([{"id": "m-1"}])
    eventually(lambda: "a letter could not be published" in server.log(), "it is said")
    assert lane.left() == 1 and server.dlq(scenes.DLQ)["depth"] == 0
    why = server.queue(scenes.QUEUE)["why"]
    assert why.startswith("letters are not published, trying again: ") and why in server.cli("queues"), why
    lane.there.delete("text")
    eventually(lambda: server.dlq(scenes.DLQ)["depth"] == 1, "it is a letter")
    scenes.finished(server, lane)
    assert lane.there.llen("text") == 1 and worker.count() == 1
    assert server.queue(scenes.QUEUE)["why"] is None
