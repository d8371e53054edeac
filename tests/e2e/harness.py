"""What every end-to-end scenario uses: a server, a handler that does as it is told, and patience.

The server under test is the binary named by IMPOUND (default build/impound). Everything listens on
free loopback ports, lives in a temporary folder, and is stopped by pid."""
import base64
import collections
import contextlib
import http.client
import http.server
import json
import os
import shlex
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IMPOUND = os.environ.get("IMPOUND", os.path.join(ROOT, "build", "impound"))
# Counts of the scenarios: a tenth in `make test`, the full ones in `make soak`.
SCALE = float(os.environ.get("SCALE", "0.1"))
# For what is sure to come: a machine may be slow, and waiting long costs nothing when it comes.
PATIENCE_S = float(os.environ.get("PATIENCE_S", "180"))
# A program to run the server under, such as valgrind with its options.
SERVER_UNDER = shlex.split(os.environ.get("SERVER_UNDER", ""))


def scaled(full, least=1):
    return max(least, int(full * SCALE))


def in_full(full, otherwise):
    """For what a tenth of is still too much for `make test`."""
    return full if SCALE >= 1 else otherwise


RESERVED = collections.deque(maxlen=256)  # more than a file of scenarios uses


def free_port(wanted=0):
    """A port that nobody listens on, and that nobody else is given before the one it is for has bound it
    (with SO_REUSEADDR, as servers do), nor between two of its lives: a bound socket keeps its place. It is
    the one that is wanted, unless somebody has it."""
    place = socket.socket()
    try:
        place.bind(("127.0.0.1", wanted))
    except OSError:
        place.bind(("127.0.0.1", 0))
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    RESERVED.append(place)
    return place.getsockname()[1]


def eventually(condition, what, patience_s=None):
    """The first truthy value of condition(); fails with `what`, a text or what gives one, when it never comes."""
    deadline = time.monotonic() + (patience_s or PATIENCE_S)
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"never happened: {what() if callable(what) else what}"
        time.sleep(0.02)


def answers(url):
    """Whether somebody else's server says 200 there."""
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
            return answer.status == 200
    except OSError:
        return False


def impound(*words, stdin=None, cwd=None, **environment):
    """Runs the command line and returns the finished process, its output as text."""
    return subprocess.run([IMPOUND, *map(str, words)], input=stdin, capture_output=True, text=True, cwd=cwd,
                          env={**os.environ, "NO_COLOR": "1", **environment}, timeout=PATIENCE_S,
                          check=False)


def problem(answer, status, *words):
    """Asserts that an answer is a problem document of this status whose detail has all the words."""
    assert answer.status == status, (answer.status, answer.body)
    assert answer.headers["Content-Type"] == "application/problem+json"
    said = answer.json
    assert said["status"] == status and said["title"] and said["detail"]
    for word in words:
        assert str(word) in said["detail"], said
    return said


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


def read_answer(reader):
    """One that says how long it is."""
    status = int(reader.readline().split()[1])
    headers = http.client.parse_headers(reader)
    return Answer(status, headers, reader.read(int(headers["Content-Length"])))


class Server:
    """One impound server, over as many lives as a scenario wants."""
    under = ()  # a program to run this one under

    def __init__(self, folder, queues, port=None, **top):
        self.folder = str(folder)
        self.port = port or free_port()
        self.config_path = os.path.join(self.folder, "impound.yaml")
        self.process = None
        self.log_path = os.path.join(self.folder, "impound.log")
        self.configure(queues, **top)

    def configure(self, queues, **top):
        """jq is given the time that a slow machine needs; a program that must be stopped gets less."""
        server = {"listen": f"127.0.0.1:{self.port}", "jq_timeout": "30s", **top.pop("server", {})}
        config = {"server": server, "store": "sqlite:impound.db", "queues": queues, **top}
        with open(self.config_path, "w", encoding="utf-8") as out:
            json.dump(config, out, indent=1)  # JSON is YAML

    def launch(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*SERVER_UNDER, *self.under, IMPOUND, "serve", "-c", self.config_path], stdout=log, stderr=log)

    def start(self):
        self.launch()
        eventually(self._up, f"the server is ready; its log: {self.log_path}")
        return self

    def _up(self):
        assert self.process.poll() is None, f"the server died at its start:\n{self.log()}"
        try:
            return self.get("/healthz").status == 200
        except (OSError, http.client.HTTPException):
            return False

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def stop(self, expect=0):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            code = self.process.wait(timeout=PATIENCE_S)
            assert code == expect, f"stopped with {code}:\n{self.log()[-4000:]}"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            if isinstance(body, str):
                body = body.encode()
            elif isinstance(body, (dict, list)):
                body = json.dumps(body).encode()
            send = dict(headers or {})
            if body is not None:
                send.setdefault("Content-Type", "application/json")
            connection.request(method, path, body=body, headers=send)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def raw(self, data, count=1):
        """Sends bytes as they are, and returns so many answers."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S) as connection:
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):  # it has heard enough
                connection.sendall(data)
            with connection.makefile("rb") as reader:
                return [read_answer(reader) for _ in range(count)]

    def get(self, path, **parameters):
        if parameters:
            path += "?" + urllib.parse.urlencode(parameters)
        return self.request("GET", path)

    def post(self, path, body=None, headers=None):
        return self.request("POST", path, body, headers)

    def push(self, queue, body, **more):
        answer = self.post(f"/v1/queues/{queue}/messages", {"body": body, **more})
        assert answer.status == 200, answer.body
        return answer.json["ids"][0]

    def push_many(self, queue, pushes):
        lines = "".join(json.dumps(push) + "\n" for push in pushes)
        answer = self.post(f"/v1/queues/{queue}/messages", lines,
                           {"Content-Type": "application/x-ndjson"})
        assert answer.status == 200, answer.body
        return answer.json["ids"]

    def queue(self, name):
        return self.get(f"/v1/queues/{name}").json

    def dlq(self, name):
        return self.get(f"/v1/dlqs/{name}").json

    def page(self, path, **filters):
        """A page that shows all that was committed before it was asked for: one that is `behind` does not."""
        def current():
            answer = self.get(path, **filters)
            assert answer.status == 200, answer.body
            return answer.json if not answer.json.get("behind") else None
        return eventually(current, f"{path} catches up")

    def letters(self, dlq, **filters):
        """Every letter that matches, page by page."""
        found, cursor = [], None
        while True:
            page = self.page(f"/v1/dlqs/{dlq}/letters", limit=1000, **filters,
                              **({"cursor": cursor} if cursor else {}))
            found += page["letters"]
            cursor = page["cursor"]
            if not cursor:
                return found

    def message(self, some_id, queue=None):
        answer = self.get(f"/v1/messages/{urllib.parse.quote(some_id, safe='')}",
                          **({"queue": queue} if queue else {}))
        return answer.json if answer.status == 200 else None

    def drained(self, queue, patience_s=None):
        """Waits until the queue holds nothing that is still to be handed over."""
        def empty():
            view = self.queue(queue)
            return view["depth"] == 0 and view["in_flight"] == 0
        eventually(empty, f"queue {queue} is drained: {self.queue(queue)}", patience_s)

    def metric(self, name, **labels):
        """The value of one sample of /metrics, or 0."""
        for line in self.get("/metrics").body.decode().splitlines():
            if line.startswith("#") or not line.startswith(name):
                continue
            sample, value = line.rsplit(" ", 1)
            rest = sample[len(name):]
            if rest and rest[0] not in "{":
                continue
            if all(f'{key}="{wanted}"' in rest for key, wanted in labels.items()):
                return float(value)
        return 0.0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def cli(self, *words, expect=0, stdin=None):
        done = impound(*words, stdin=stdin, IMPOUND_URL=self.url)
        assert done.returncode == expect, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout if expect == 0 else done.stdout + done.stderr


Call = collections.namedtuple("Call", "at id attempt body headers path")


class Handler:
    """An HTTP handler in this process. `answer(call)` gives a status, or (status, headers, body), or
    raises Reset to cut the connection. Every call is remembered."""

    class Reset(Exception):
        pass

    def __init__(self, answer=lambda call: 200, tls=None, port=0):
        self.answer = answer
        self.calls = []
        self.ends = []  # (call, when) of each call that was answered
        self.lock = threading.Lock()
        outer = self

        class Listener(http.server.ThreadingHTTPServer):
            request_queue_size = 512
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass

        class Request(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                call = Call(time.monotonic(), self.headers["Impound-Message-Id"],
                            int(self.headers["Impound-Attempt"]), body, self.headers, self.path)
                with outer.lock:
                    outer.calls.append(call)
                try:
                    said = outer.answer(call)
                except Handler.Reset:
                    # RST, not FIN: what a dying process leaves behind.
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                               b"\x01\x00\x00\x00\x00\x00\x00\x00")
                    self.connection.close()
                    self.close_connection = True
                    return
                status, headers, text = said if isinstance(said, tuple) else (said, {}, b"")
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                with outer.lock:
                    outer.ends.append((call, time.monotonic()))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *args):
                pass

        self.server = Listener(("127.0.0.1", port), Request)
        scheme = "http"
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
            scheme = "https"
        self.port = self.server.server_address[1]
        self.url = f"{scheme}://127.0.0.1:{self.port}/work"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def ids(self):
        with self.lock:
            return [call.id for call in self.calls]

    def count(self):
        with self.lock:
            return len(self.calls)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def base64_of(data):
    return base64.b64encode(data).decode()
