#!/usr/bin/env python3
"""A small stand-in for an AI provider, to see what a pipeline does on the real one's bad days.

POST /v1/messages answers {"model", "max_tokens", "messages"} as the large providers do, errors
included. POST /admin changes its mood:

    {"models": ["m2", "small"]}   which models there are
    {"failing": ["m1"]}           models that answer 500
    {"overloaded": 2}             the next two calls are answered with 529
    {"limited": 2}                the next two with 429 and Retry-After
    {"empty": 2}                  the next two with 200 and an answer without content
    {"key": "sk-other"}           the only key that it takes
"""
import http.server
import json
import sys
import threading

LONGEST = 4096

mood = {"models": ["m1", "small"], "failing": [], "overloaded": 0, "limited": 0, "empty": 0,
        "key": "sk-example"}
lock = threading.Lock()


def failure(status, kind, message, **headers):
    return status, {"type": "error", "error": {"type": kind, "message": message}}, headers


def message(model, content, stop_reason="end_turn"):
    return 200, {"type": "message", "model": model, "content": content, "stop_reason": stop_reason}, {}


def take(name):
    """Uses up one of the calls that are to fail in this way."""
    with lock:
        left = mood[name]
        mood[name] = max(0, left - 1)
        return left > 0


def answer(key, ask):
    """(status, body, headers) for one call of /v1/messages."""
    prompt = " ".join(str(message["content"]) for message in ask["messages"])
    if key != mood["key"]:
        return failure(401, "authentication_error", "invalid x-api-key")
    if take("limited"):
        return failure(429, "rate_limit_error", "too many requests per minute", **{"Retry-After": "1"})
    if take("overloaded"):
        return failure(529, "overloaded_error", "Overloaded")
    if ask["model"] not in mood["models"]:
        return failure(404, "not_found_error", f"model: {ask['model']}")
    if ask["model"] in mood["failing"]:
        return failure(500, "api_error", "Internal server error")
    if ask["max_tokens"] > LONGEST:
        return failure(400, "invalid_request_error", f"max_tokens: {ask['max_tokens']} > {LONGEST}")
    if "forbidden" in prompt:
        return failure(400, "invalid_request_error", "Output blocked by content filtering policy")
    if take("empty"):
        return message(ask["model"], [])
    if "unthinkable" in prompt:
        return message(ask["model"], [{"type": "text", "text": "I will not."}], "refusal")
    return message(ask["model"], [{"type": "text", "text": f"{ask['model']} says: {prompt}"}])


class Provider(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        ask = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if self.path == "/admin":
            with lock:
                mood.update(ask)
            status, said, headers = 200, mood, {}
        else:
            try:
                status, said, headers = answer(self.headers["x-api-key"], ask)
            except (KeyError, TypeError) as wrong:
                status, said, headers = failure(400, "invalid_request_error", f"the request is not right: {wrong}")
        text = json.dumps(said, separators=(",", ":")).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(text)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8091
    http.server.ThreadingHTTPServer(("127.0.0.1", port), Provider).serve_forever()
