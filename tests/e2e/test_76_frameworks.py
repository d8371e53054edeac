"""Programs of others: their work fails in their framework's own way and is dead-lettered; impound adopts it, and what
goes back to its origin is done by the framework's own worker. The programs are tests/frameworks."""
import base64
import hashlib
import os
import pathlib
import subprocess
import threading

import pytest

import adoption
from harness import PATIENCE_S, eventually, impound

redis_client = pytest.importorskip("redis")
pika = pytest.importorskip("pika")

TESTS = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = TESTS / "frameworks"
PYTHON = "/usr/bin/python3"
FETCHED = {"python": "requirements.txt", "node": "package-lock.json", "java": "pom.xml"}
PROGRAM_PATIENCE_S = 4 * PATIENCE_S  # a JVM that starts on a busy machine


def fetched(language):
    """The folder that tools/fetch.sh made for what tools/frameworks says."""
    content = (TESTS.parent / "tools" / "frameworks" / FETCHED[language]).read_bytes()
    folder = TESTS.parent / "build-parts" / f"{language}-frameworks-{hashlib.sha256(content).hexdigest()[:12]}"
    if not folder.is_dir():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
            f"tools/fetch.sh did not fetch the frameworks of {language}")
    return folder


def run(*command, **environment):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, timeout=PROGRAM_PATIENCE_S,
                          cwd=PROGRAMS, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment})
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout.splitlines()


def python(*words, **environment):
    return run(PYTHON, *words, PYTHONPATH=f"{fetched('python')}:{PROGRAMS}", **environment)


def node(*words):
    return run("node", *words, NODE_PATH=str(fetched("node") / "node_modules"))


@pytest.fixture(scope="module", name="java")
def fixture_java(tmp_path_factory):
    """java(PROGRAM, …) runs a program of tests/frameworks, which is compiled once."""
    jars, classes = fetched("java") / "*", tmp_path_factory.mktemp("classes")
    run("javac", "-d", classes, "-cp", jars, *sorted(PROGRAMS.glob("*.java")))
    return lambda *words: run("java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                              "-cp", f"{classes}:{jars}", *words)


class Worker:
    """A program that works until it is told to stop, and what it has said."""

    def __init__(self, *command, **environment):
        self.process = subprocess.Popen(
            [*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=PROGRAMS,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment})

    def says(self, start):
        """The first line that begins so; a program that never says it is ended."""
        seen, end = [], threading.Timer(PROGRAM_PATIENCE_S, self.process.kill)
        end.start()
        try:
            for line in self.process.stdout:
                seen.append(line)
                if line.startswith(start):
                    return line.split()
        finally:
            end.cancel()
        raise AssertionError(f"it ended without a word of {start}: {seen}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=PROGRAM_PATIENCE_S)


# ---- sets of ids: BullMQ and RQ ----

def refused(serve, redis, name, more):
    """check --connect and adopt in either mode refuse the set, and leave everything as it is."""
    there = redis_client.Redis(port=redis.port, socket_timeout=PATIENCE_S)
    before = there.zrange(name, 0, -1, withscores=True)
    assert len(before) == 3
    for mode in ("peek", "take"):
        server = serve(adoption.QUEUES, adopt=adoption.entry(redis.url(f"zset={name}"), mode))
        told = eventually(lambda seen=server: adoption.view(seen)["trouble"], "it is refused")
        for words in (name, "holds ids of jobs, not messages", "would leave its job behind", more):
            assert words in told
        checked = impound("check", "--connect", "-c", server.config_path)
        assert checked.returncode == 1 and told in checked.stdout + checked.stderr
        assert server.letters(adoption.DLQ) == []
        server.stop()
    assert there.zrange(name, 0, -1, withscores=True) == before


def test_failed_jobs_of_bullmq_are_refused_and_stay_bullmqs(serve, redis):
    assert node("bullmq_jobs.mjs", redis.port, "fail", 3) == ["failed 3"]
    refused(serve, redis, "bull:orders:failed", "job.retry()")
    assert sorted(node("bullmq_jobs.mjs", redis.port, "retry")) == ["done BAD-0", "done BAD-1", "done BAD-2", "failed 0"]


def test_failed_jobs_of_rq_are_refused_and_stay_rqs(serve, redis):
    assert python("rq_jobs.py", redis.port, "fail", 3)[-1] == "failed 3"
    refused(serve, redis, "rq:failed:default", "rq requeue")
    assert sorted(python("rq_jobs.py", redis.port, "requeue")) == ["done BAD-0", "done BAD-1", "done BAD-2", "failed 0"]


# ---- RabbitMQ: Celery, Dramatiq, Spring ----

def waiting(rabbit, queue):
    """How many messages wait there, asked as any client does: the node itself may have no time to answer while a
    framework starts beside it."""
    with rabbit.channel() as channel:
        return channel.queue_declare(queue, passive=True).method.message_count


def look(rabbit, queue):
    """The next message of the queue, which stays there: exchange, routing key, properties and body."""
    with rabbit.channel() as channel:
        method, properties, body = eventually(
            lambda: [got for got in [channel.basic_get(queue)] if got[0]], f"{queue} has a message")[0]
        channel.basic_nack(method.delivery_tag, requeue=True)
    return method.exchange, method.routing_key, properties, body


def beside(properties):
    """All that a producer set, without what RabbitMQ and impound put among the headers."""
    kept = {name: value for name, value in vars(properties).items() if name != "headers"}
    kept["headers"] = {name: value for name, value in (properties.headers or {}).items()
                       if not name.startswith(("x-death", "x-first-death", "x-last-death", "Impound-"))}
    return kept


def adopt(serve, rabbit, dlq, convention):
    server = serve(adoption.QUEUES, adopt=adoption.entry(rabbit.url(f"queue={dlq}"), "take"))
    letter, = eventually(lambda: adoption.whole(server), "it is adopted")
    assert letter["context"]["adopted"]["convention"] == convention
    eventually(lambda: waiting(rabbit, dlq) == 0, "and taken")
    return server, letter


def send_back(server, letter):
    server.cli("replay", letter["id"], "--to", "origin", "--apply")
    assert server.get(f"/v1/letters/{letter['id']}").json["resolution"] == "replayed"


def test_a_task_that_celery_rejected_goes_back_and_is_done(serve, rabbit):
    environment = {"RABBIT_PORT": str(rabbit.port), "CELERY_QUEUE": "celery-prices"}
    worker = [PYTHON, "-m", "celery", "-A", "celery_app", "worker", "--pool", "solo", "--loglevel", "ERROR",
              "--without-gossip", "--without-mingle", "--without-heartbeat"]
    path = {"PYTHONPATH": f"{fetched('python')}:{PROGRAMS}", **environment}
    with rabbit.channel() as channel:
        channel.queue_declare("celery-prices.dlq", durable=True)
    python("celery_app.py", "declare", **environment)
    task, = python("celery_app.py", "send", "BAD", **environment)
    sent = look(rabbit, "celery-prices")
    with Worker(*worker, **path):
        eventually(lambda: waiting(rabbit, "celery-prices.dlq") == 1, "it is dead-lettered", PROGRAM_PATIENCE_S)
    server, letter = adopt(serve, rabbit, "celery-prices.dlq", "rabbitmq")
    assert (letter["reason"], letter["message"]["queue"]) == ("rejected", "celery-prices")
    send_back(server, letter)
    back = look(rabbit, "celery-prices")
    assert back[3] == sent[3] and back[:2] == sent[:2] == ("celery-prices.tasks", "price.new")
    assert beside(back[2]) == beside(sent[2])
    with Worker(*worker, PRICE="works", **path) as program:
        assert program.says("done") == ["done", "BAD", "celery-prices.tasks", "price.new", task]


def test_a_message_that_dramatiq_gave_up_goes_back_and_is_done(serve, rabbit):
    environment = {"RABBIT_PORT": str(rabbit.port)}
    path = {"PYTHONPATH": f"{fetched('python')}:{PROGRAMS}", **environment}
    python("dramatiq_app.py", "send", "BAD", **environment)
    with Worker(PYTHON, "dramatiq_app.py", "work", **path):
        eventually(lambda: waiting(rabbit, "prices.XQ") == 1, "it is dead-lettered", PROGRAM_PATIENCE_S)
    dead = look(rabbit, "prices.XQ")
    server, letter = adopt(serve, rabbit, "prices.XQ", "rabbitmq")
    assert letter["message"]["queue"] == "prices"
    send_back(server, letter)
    back = look(rabbit, "prices")
    assert back[3] == dead[3] and back[:2] == ("", "prices")
    assert beside(back[2]) == beside(dead[2])
    with Worker(PYTHON, "dramatiq_app.py", "work", PRICE="works", **path) as program:
        assert program.says("done") == ["done", "BAD"]


BODY = bytes(range(256)) + "ü".encode()


@pytest.mark.parametrize("verb, convention, exchange", [
    ("reject", "rabbitmq", "orders-work"), ("republish", "spring-amqp", "orders-work"), ("republish", "spring-amqp", "")])
def test_a_message_that_a_listener_of_spring_threw_on_goes_back_and_is_done(serve, rabbit, java, verb, convention, exchange):
    queue = f"spring-{verb}-{exchange or 'default'}"
    key = "order.new" if exchange else queue
    with rabbit.channel() as channel:
        channel.queue_declare(f"{queue}.dlq", durable=True)
        channel.queue_declare(queue, durable=True, arguments={
            "x-dead-letter-exchange": "", "x-dead-letter-routing-key": f"{queue}.dlq"})
        if exchange:
            exchange = f"{exchange}-{verb}"
            channel.exchange_declare(exchange, "topic", durable=True)
            channel.queue_bind(queue, exchange, "order.#")
        channel.basic_publish(exchange, key, BODY, pika.BasicProperties(
            delivery_mode=2, message_id="m-1", content_type="application/octet-stream", headers={"tenant": "a", "n": 7}),
            mandatory=True)
    sent = look(rabbit, queue)
    java("SpringAmqp", rabbit.port, queue, verb, 1)
    server, letter = adopt(serve, rabbit, f"{queue}.dlq", convention)
    if verb == "republish":
        assert "no price for m-1" in letter["failure"]["error_message"]
        assert letter["failure"]["error_type"] == "java.lang.IllegalStateException"
        assert "SpringAmqp" in letter["failure"]["stack_trace"]
    send_back(server, letter)
    back = look(rabbit, queue)
    assert back[3] == sent[3] and back[:2] == sent[:2] == (exchange, key)
    assert beside(back[2]) == beside(sent[2])
    done, = java("SpringAmqp", rabbit.port, queue, "work", 1)
    words = done.split()
    assert words[0] == "done" and base64.b64decode(words[words.index("m-1") + 1]) == BODY


# ---- Spring Kafka ----

def test_records_that_a_listener_of_spring_gave_up_go_back_and_are_done(serve, kafka, java):
    topic, count = "spring-orders", 3
    kafka.make_topic(topic, 2)
    kafka.make_topic(f"{topic}-dlt", 2)
    kafka.produce(topic, [{"key": f"k-{number}".encode(), "value": BODY + bytes([number]),
                           "headers": [("tenant", b"a"), ("bytes", b"\xff\x00"), ("tenant", b"b")]} for number in range(count)])
    java("SpringKafka", kafka.address, topic, "fail", count)
    server = serve(adoption.QUEUES, adopt=adoption.entry(kafka.url(f"{topic}-dlt", group="impound"), "take"))
    letters = eventually(lambda: (seen := adoption.whole(server)) and len(seen) == count and seen, "all are adopted")
    for letter in letters:
        assert letter["context"]["adopted"]["convention"] == "spring-kafka"
        assert letter["failure"]["error_type"] == "java.lang.IllegalStateException"
        assert letter["source"]["topic"] == topic
    server.cli("replay", "--dlq", adoption.DLQ, "--to", "origin", "--apply")
    done = [line.split() for line in java("SpringKafka", kafka.address, topic, "work", count)]
    assert {base64.b64decode(words[2]): base64.b64decode(words[3]) for words in done} == {
        f"k-{number}".encode(): BODY + bytes([number]) for number in range(count)}
    for words in done:
        headers = [one.partition("=")[::2] for one in words[4:]]
        own = [(name, base64.b64decode(value)) for name, value in headers if not name.startswith("Impound-")]
        assert own == [("tenant", b"a"), ("bytes", b"\xff\x00"), ("tenant", b"b")]
