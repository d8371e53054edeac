"""Other people's servers for the scenarios: each on free loopback ports, in a folder of its own, stopped by
pid. A test that needs one that is not installed is skipped, and says so."""
import contextlib
import glob
import json
import os
import shutil
import signal
import socket
import subprocess

import pytest

from harness import IMPOUND, ROOT, eventually, free_port, impound

# Far more than a start takes, also with the machine busy.
START_PATIENCE_S = 120


def parts(name):
    """Where tools/fetch.sh put what Debian does not have."""
    found = sorted(glob.glob(os.path.join(ROOT, "build-parts", f"{name}-*", "")))
    if not found:
        pytest.skip(f"{name} was not fetched (tools/fetch.sh)")
    return found[-1]


def contract(name, **environment):
    """tests/contract/broker_contract.c, on a node that runs."""
    build = os.path.join(os.path.dirname(os.path.realpath(IMPOUND)), "..", "..")
    program = os.path.join(build, "tests", "contract", f"test_broker_contract_{name}")
    if not os.path.exists(program):
        pytest.skip("the contract suite is not built")
    done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=300,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr


def lend(kind, make, tmp_path_factory):
    """A node for the scenarios of a module, where this build has what it takes to speak with it."""
    if kind not in json.loads(impound("version", "--json").stdout)["sources"]:
        pytest.skip(f"a build without {kind}")
    node = make(tmp_path_factory.mktemp(kind))
    try:
        yield node.start()
    finally:
        node.close()


def certificate(folder):
    """A certificate for 127.0.0.1 that stands for itself, and its key: (cert.pem, key.pem)."""
    cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", key, "-out", cert],
                   check=True, capture_output=True)
    return cert, key


class Process:
    """A server as a process group, over as many lives as a scenario wants."""

    def __init__(self, folder):
        self.folder = str(folder)
        os.makedirs(self.folder, exist_ok=True)
        self.port = free_port()
        self.process = None

    def launch(self, command, **environment):
        with open(os.path.join(self.folder, "server.log"), "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                            cwd=self.folder, start_new_session=True,
                                            env={**os.environ, **environment})

    def log(self):
        with open(os.path.join(self.folder, "server.log"), encoding="utf-8", errors="replace") as log:
            return log.read()

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
            return True
        except OSError:
            return False

    def listens(self):
        assert self.process.poll() is None, f"the broker died at its start:\n{self.log()[-4000:]}"
        return self.answers()

    def send(self, number):
        os.killpg(self.process.pid, number)

    def kill(self):
        """kill -9, also of what it started."""
        if self.process and self.process.poll() is None:
            self.send(signal.SIGKILL)
            self.process.wait()
            eventually(lambda: not self.answers(), "the last of its processes is gone")

    def freeze(self):
        self.send(signal.SIGSTOP)

    def thaw(self):
        self.send(signal.SIGCONT)

    def close(self):
        self.kill()


class Redis(Process):
    """A Redis server whose every write is synced before it is answered."""

    def __init__(self, folder, *options):
        super().__init__(folder)
        if not shutil.which("redis-server"):
            pytest.skip("redis-server is not installed")
        self.options = options

    def start(self):
        self.launch(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder,
                     "--save", "", "--appendonly", "yes", "--appendfsync", "always", *self.options])
        eventually(self.listens, "Redis listens", START_PATIENCE_S)
        eventually(self.has_loaded, "Redis has read what it had", START_PATIENCE_S)
        return self

    def has_loaded(self):
        """One that speaks TLS does not understand the question; it begins empty."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=START_PATIENCE_S) as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(b"PING\r\n")
                return not connection.recv(64).startswith(b"-LOADING")
        return True

    def url(self, query, user="", database=0, port=None):
        return f"redis://{user}127.0.0.1:{port or self.port}/{database}?{query}"


@pytest.fixture(name="redis", scope="module")
def fixture_redis(tmp_path_factory):
    yield from lend("redis", Redis, tmp_path_factory)


def rabbitmq_script(name):
    """Debian's own wrapper changes user and folder; the one behind it does neither."""
    found = sorted(glob.glob(f"/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/{name}"))
    if not found or not shutil.which("epmd"):
        pytest.skip("rabbitmq-server is not installed")
    return found[-1]


class RabbitChannel:
    """A confirming channel on a connection of its own."""

    def __init__(self, port):
        import pika  # where RabbitMQ is not tested, it need not be there
        self.connection = pika.BlockingConnection(pika.ConnectionParameters(
            "127.0.0.1", port, socket_timeout=START_PATIENCE_S, blocked_connection_timeout=START_PATIENCE_S))

    def __enter__(self):
        channel = self.connection.channel()
        channel.confirm_delivery()
        return channel

    def __exit__(self, *_):
        if self.connection.is_open:
            self.connection.close()


class Rabbit(Process):
    """A RabbitMQ node with its own epmd, guest:guest, no plugins; also behind TLS (`tls_port`, `ca_file`)."""

    def __init__(self, folder):
        super().__init__(folder)
        self.epmd_port, self.tls_port = free_port(), free_port()
        self.ca_file, key_file = certificate(self.folder)
        self.config = {"listeners.tcp.1": f"127.0.0.1:{self.port}", "disk_free_limit.absolute": "1MB",
                       "listeners.ssl.1": f"127.0.0.1:{self.tls_port}", "ssl_options.cacertfile": self.ca_file,
                       "ssl_options.certfile": self.ca_file, "ssl_options.keyfile": key_file,
                       "log.file": "false", "log.console": "true"}
        self.environment = {
            "HOME": self.folder, "LC_ALL": "C.UTF-8",
            "RABBITMQ_NODENAME": f"rabbit{self.port}@localhost",
            "RABBITMQ_MNESIA_BASE": os.path.join(self.folder, "mnesia"),
            "RABBITMQ_LOG_BASE": os.path.join(self.folder, "log"),
            "RABBITMQ_CONFIG_FILE": os.path.join(self.folder, "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": os.path.join(self.folder, "plugins"),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "ERL_EPMD_PORT": str(self.epmd_port), "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 2:2 +sbwt none",
        }
        with open(self.environment["RABBITMQ_CONFIG_FILE"], "w", encoding="utf-8") as out:
            out.writelines(f"{name} = {value}\n" for name, value in self.config.items())
        with open(self.environment["RABBITMQ_ENABLED_PLUGINS_FILE"], "w", encoding="utf-8") as out:
            out.write("[].\n")
        self.script = rabbitmq_script("rabbitmq-server")
        self.epmd = subprocess.Popen(["epmd", "-port", str(self.epmd_port), "-address", "127.0.0.1"],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self):
        self.launch([self.script], **self.environment)
        eventually(self.listens, "RabbitMQ listens", START_PATIENCE_S)
        return self

    def evaluate(self, expression):
        """What the node itself says, at once: rabbitmqctl takes seconds to start."""
        with open(os.path.join(self.folder, ".erlang.cookie"), encoding="utf-8") as cookie:
            done = subprocess.run(
                ["erl_call", "-sname", self.environment["RABBITMQ_NODENAME"], "-c", cookie.read(), "-e"],
                input=expression + "\n", capture_output=True, text=True, env={**os.environ, **self.environment},
                timeout=START_PATIENCE_S, check=False)
        assert done.returncode == 0 and done.stdout.startswith("{ok,"), (expression, done.stdout, done.stderr)
        return done.stdout[len("{ok, "):-1]

    def sync(self):
        """What was declared is on disk. Without it a kill -9 within the next second or so forgets durable queues."""
        assert self.evaluate("mnesia:sync_log().") == "ok"

    @contextlib.contextmanager
    def stalled(self, queue):
        """A quorum queue that has no time: what it is told waits."""
        leader = f"""{{ok, Queue}} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"{queue}">>)),
            sys:%s(element(1, amqqueue:get_pid(Queue)))."""
        assert self.evaluate(leader % "suspend") == "ok"
        try:
            yield
        finally:
            assert self.evaluate(leader % "resume") == "ok"

    @contextlib.contextmanager
    def alarmed(self):
        """A node that is short of memory, by its own measure: it reads nothing more from whoever publishes."""
        limit = self.evaluate("vm_memory_monitor:get_vm_memory_high_watermark().")
        assert self.evaluate("vm_memory_monitor:set_vm_memory_high_watermark(0.0000001), rabbit_alarm:get_alarms().") != "[]"
        try:
            yield
        finally:
            assert self.evaluate(f"vm_memory_monitor:set_vm_memory_high_watermark({limit}), rabbit_alarm:get_alarms().") == "[]"

    @contextlib.contextmanager
    def limited(self, size, what="max_message_size"):
        """Channels that are opened now take no larger messages; with `frame_max`, connections no larger frames."""
        limit = self.evaluate(f"{{ok, Size}} = application:get_env(rabbit, {what}), Size.")
        assert self.evaluate(f"application:set_env(rabbit, {what}, {size}).") == "ok"
        try:
            yield
        finally:
            assert self.evaluate(f"application:set_env(rabbit, {what}, {limit}).") == "ok"

    def connections(self):
        return int(self.evaluate("length(rabbit_networking:connections())."))

    def messages(self, queue):
        """Waiting and unacknowledged, in the node's own view."""
        return int(self.evaluate(f"""
            {{ok, Queue}} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"{queue}">>)),
            case amqqueue:get_type(Queue) of
                rabbit_quorum_queue ->
                    {{ok, {{_, Count}}, _}} = ra:leader_query(amqqueue:get_pid(Queue),
                                                              fun rabbit_fifo:query_messages_total/1),
                    Count;
                _ ->
                    [{{messages, Count}}] = rabbit_amqqueue:info(Queue, [messages]),
                    Count
            end."""))

    def channel(self):
        return RabbitChannel(self.port)

    def url(self, query, user="guest:guest", vhost="", port=None):
        return f"amqp://{user}@127.0.0.1:{port or self.port}/{vhost}?{query}"

    def close(self):
        super().close()
        self.epmd.kill()
        self.epmd.wait()


@pytest.fixture(name="rabbit", scope="module")
def fixture_rabbit(tmp_path_factory):
    yield from lend("rabbitmq", Rabbit, tmp_path_factory)
