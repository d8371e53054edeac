"""Servers that fail on purpose, for the client libraries that the exception table is tested with.

`start()` returns their ports: `http` answers with the status that begins the path (`/429/…`) or, under `/slow/`, not at
all (`/200/…` is a chat completion); `silent` accepts connections and says nothing; `pg_*` and `redis_*` refuse in PostgreSQL's and Redis' own protocols;
`closed` is a port where nothing listens."""
import http.server
import json
import socket
import struct
import threading

AWS_CODES = {429: "ThrottlingException", 503: "ServiceUnavailable", 500: "InternalServerError",
             401: "UnrecognizedClientException", 403: "AccessDeniedException", 400: "ValidationException"}
PG_ERRORS = {
    "pg_auth": ("FATAL", "28P01", 'password authentication failed for user "worker"'),
    "pg_starting": ("FATAL", "57P03", "the database system is starting up"),
    "pg_full": ("FATAL", "53300", "sorry, too many clients already"),
}
REDIS_ERRORS = {
    "redis_auth": b"-WRONGPASS invalid username-password pair or user is disabled.\r\n",
    "redis_loading": b"-LOADING Redis is loading the dataset in memory\r\n",
}


COMPLETION = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "priced"}}]}


class Failing(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        word = self.path.split("/")[1]
        if word == "slow":
            self.server.stopped.wait()
            self.close_connection = True
            return
        status = int(word)
        with self.server.lock:
            self.server.answered[status] = self.server.answered.get(status, 0) + 1
        error = {"message": "the server fails on purpose", "type": "test_error"}
        body = {"error": error, "message": error["message"]}
        if "X-Amz-Date" in self.headers:
            body["__type"] = AWS_CODES[status]
        data = json.dumps(COMPLETION if status == 200 else body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Failing)
        self.stopped, self.lock, self.answered = threading.Event(), threading.Lock(), {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.stopped.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        pass  # a client that timed out has gone


def listen():
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(128)
    return server


def serve(answer):
    server = listen()

    def run():
        kept = []
        while True:
            client, _ = server.accept()
            kept.append(client)
            threading.Thread(target=answer, args=(client,), daemon=True).start()
    threading.Thread(target=run, daemon=True).start()
    return server.getsockname()[1]


def refuse_postgres(severity, code, text):
    fields = b"".join(kind + value.encode() + b"\0" for kind, value in
                      ((b"S", severity), (b"V", severity), (b"C", code), (b"M", text))) + b"\0"

    def answer(client):
        while True:
            size = struct.unpack("!I", client.recv(4, socket.MSG_WAITALL))[0]
            said = client.recv(size - 4, socket.MSG_WAITALL)
            if struct.unpack("!I", said[:4])[0] in (80877103, 80877104):  # asks for TLS, or for GSSAPI
                client.sendall(b"N")
                continue
            client.sendall(b"E" + struct.pack("!I", len(fields) + 4) + fields)
            client.close()
            return
    return answer


def refuse_redis(line):
    def answer(client):
        while said := client.recv(65536):
            client.sendall(line * max(1, said.count(b"*")))
    return answer


def start():
    server = Server()
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))  # bound and never listening: nobody else gets the port
    ports = {"http": server.server_address[1], "closed": closed.getsockname()[1],
             "silent": serve(lambda client: None)}
    for name, error in PG_ERRORS.items():
        ports[name] = serve(refuse_postgres(*error))
    for name, line in REDIS_ERRORS.items():
        ports[name] = serve(refuse_redis(line))
    start.kept = (server, closed)
    return ports
