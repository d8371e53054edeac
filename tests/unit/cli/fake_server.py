"""A server that answers the calls of the command line with fixed JSON, and remembers them."""
import http.server
import json
import threading


class FakeServer:
    """`answers` maps "METHOD /path?query" to (status, text), or to a function of the body that gives
    them, or None to hang up."""

    def __init__(self):
        self.answers = {}
        self.calls = []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                length = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(length)
                name = f"{self.command} {self.path}"
                server.calls.append((name, self.headers.get("Content-Type"), body))
                found = server.answers.get(name, (404, problem(404, f"nothing at {self.path}")))
                found = found(body) if callable(found) else found
                if found is None:
                    self.close_connection = True
                    return
                status, text = found
                data = text if isinstance(text, bytes) else text.encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = answer

            def log_message(self, *args):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()


def problem(status, detail, **more):
    return json.dumps({"type": "about:blank", "title": "trouble", "status": status,
                       "detail": detail, **more})
