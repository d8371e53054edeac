"""The recipes of docs/triage.md and docs/config.md, run with the programs that the pages show."""
import http.server
import json
import os
import re
import sys
import threading

import pytest

from harness import ROOT, eventually, free_port


@pytest.fixture(name="provider")
def fixture_provider():
    """provider(answers) starts a server that gives these (status, JSON) in turn, the last one again and again."""
    servers = []

    def start(*answers):
        left = list(answers)

        class Request(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, said = left.pop(0) if len(left) > 1 else left[0]
                text = json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_POST = do_GET

            def log_message(self, *args):
                pass
        servers.append(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Request))
        threading.Thread(target=servers[-1].serve_forever, args=(0.05,), daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_address[1]}/"

    yield start
    for one in servers:
        one.shutdown()
        one.server_close()


def program(page, name, folder):
    """The Python program of that name, as the page shows it."""
    with open(os.path.join(ROOT, "docs", page), encoding="utf-8") as text:
        block, = [one for one in re.findall(r"```python\n(.*?)```", text.read(), re.S) if one.startswith(f'"""{name}: ')]
    path = folder / name
    path.write_text(block, encoding="utf-8")
    return [sys.executable, str(path)]


def test_a_letter_is_mended_by_another_queue_and_pushed_on(serve, handler, provider, tmp_path, monkeypatch):
    orders = handler(lambda call: 200 if "price" in json.loads(call.body) else 400)
    port = free_port()
    monkeypatch.setenv("PRICES_URL", provider((200, {"price": 12.5})))
    monkeypatch.setenv("IMPOUND_URL", f"http://127.0.0.1:{port}")
    server = serve({"orders": {"source": "builtin", "handler": {"http": orders.url}},
                    "fixer": {"source": "builtin", "handler": {"exec": program("triage.md", "fix.py", tmp_path)}}},
                   port=port)
    server.push("orders", {"sku": "a-1"}, id="o-1")
    eventually(lambda: server.message("o-1")["state"] == "pending_review", "it is dead")
    letter = server.message("o-1")["id"]
    server.cli("replay", "--dlq", "orders.dlq", "--reason", "bad_request", "--to", "fixer", "--apply")
    server.drained("orders")
    resolved = server.message(letter)
    assert (resolved["state"], resolved["resolution"], resolved["message"]["queue"]) == ("resolved", "replayed", "fixer")
    assert [(call.id, json.loads(call.body)) for call in orders.calls] == [
        ("o-1", {"sku": "a-1"}), ("o-1", {"sku": "a-1", "price": 12.5})]


def test_a_part_of_an_answer_is_kept(serve, provider, tmp_path, monkeypatch):
    said = {"id": "msg-1", "content": [{"type": "text", "text": "A dead-letter queue."}]}
    monkeypatch.setenv("PROVIDER_URL", provider((503, {}), (200, said)))
    server = serve({"summaries": {"source": "builtin", "retry": {"base": "10ms", "cap": "10ms"},
                                  "handler": {"exec": program("config.md", "ask.py", tmp_path), "reply": {"store": "1h"}}}})
    server.push("summaries", {"question": "what is it?"}, id="s-1")
    server.drained("summaries")
    answer = server.get("/v1/results/s-1")
    assert answer.status == 200 and answer.json["body"] == "A dead-letter queue.", answer.body
    assert server.metric("impound_attempts_total", queue="summaries", result="retry") == 1, "the 503 was retried"
