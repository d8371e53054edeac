"""A lot worth looking at: three queues that price orders, charge cards and ask a model, with a week's worth of ways to
fail. The handler can be mended, so that replays succeed, or made worse."""
import json
import threading

from harness import PATIENCE_S, Handler

PYTHON_TRACE = """Traceback (most recent call last):
  File "/usr/lib/python3/dist-packages/worker/loop.py", line 88, in run
    handle(message)
  File "/srv/shop/price.py", line 41, in handle
    zone = TAX[order["pin"]]
KeyError: 'BAD-{n}'"""

# kind → (status, error type, error message)
FAILURES = {
    "pin": (400, "BadPin", "PIN 560001-X is not in the tax table"),
    "bug": (500, "KeyError", "'pin' is missing in order {n}"),
    "model": (404, "ModelNotFound", "the model m1 is gone, use m2"),
    "policy": (422, "ContentPolicy", "the prompt was refused by the content filter"),
    "card": (422, "CardExpired", "card of customer {n} expired in 04/26"),
    "busy": (503, "Overloaded", "come back later"),
    "stock": (410, "OutOfStock", "article {n} is not sold any more"),
    "key": (401, "KeyExpired", "the key of the tax office expired"),
    "down": (503, "Down", "closed for repair"),
}
# kind → how long its Retry-After says
CLOSED_S = {"down": 600}


class Shop:
    """The handler of all queues: fails as the body's `fail` says, until that kind is mended."""

    def __init__(self):
        self.mended = set()
        self.lock = threading.Lock()
        self.answering = threading.Event()  # while it is clear, calls wait
        self.answering.set()
        self.handler = Handler(self.answer)

    def mend(self, *kinds):
        with self.lock:
            self.mended.update(kinds)

    def answer(self, call):
        self.answering.wait(PATIENCE_S)
        try:
            order = json.loads(call.body)
        except ValueError:
            return 400
        kind = order.get("fail") if isinstance(order, dict) else None
        with self.lock:
            fine = kind is None or kind in self.mended
        if fine:
            return 200
        status, error, message = FAILURES[kind]
        said = {"type": error, "message": message.format(n=order.get("n", 0))}
        headers = {"Content-Type": "application/json"}
        if kind in CLOSED_S:
            headers["Retry-After"] = str(CLOSED_S[kind])
        return status, headers, json.dumps({"error": said}).encode()


def queue(url, **more):
    return {"source": "builtin", "handler": {"http": url, "timeout": "1h"}, "concurrency": 16, "breaker": "off",
            "retry": {"attempts": 3, "base": "10ms", "cap": "40ms", "budget_floor": "1000/s"}, **more}


def queues(shop):
    rules = [{"when": {"error_type": "KeyError"}, "do": "dlq", "category": "bug", "reason": "missing_key"},
             {"when": {"error_type": "ModelNotFound"}, "do": "dlq", "category": "model_gone", "reason": "model_gone"},
             {"when": {"error_type": "ContentPolicy"}, "do": "dlq", "category": "content_policy",
              "reason": "content_policy"}]
    return {
        "orders": queue(shop.handler.url, classify={"rules": rules[:1]},
                        dlq={"owner": "team-orders", "cap": 5000, "route": {"validation": "orders.dlq.validation"}}),
        "payments": queue(shop.handler.url, dlq={"owner": "team-payments", "cap": 200}),
        "prompts": queue(shop.handler.url, classify={"rules": rules[1:]}, dlq={"owner": "team-ai"}),
    }


def push(server, queue_name, kind, count, start=0):
    server.push_many(queue_name, [
        {"id": f"{queue_name}-{kind}-{n}", "key": f"customer-{n % 7}",
         "headers": {"correlation_id": f"c-{n}", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
         "body": {"n": n, "fail": kind, "model": "m1", "customer": {"id": f"customer-{n % 7}", "country": "IN"},
                  "lines": [{"article": "tea", "count": n % 4 + 1, "price": 12.5}, {"article": "cup", "count": 1, "price": 4}],
                  "total": 9007199254740993 if n == 0 else 16.5 + n}}
        for n in range(start, start + count)])


def report(server, task, error_type, error_message, **more):
    """A failure of a worker of somebody else's; returns the letter's id."""
    answer = server.post("/v1/queues/orders/failures", {
        "task_id": task, "task_type": "price", "error_type": error_type, "error_message": error_message, **more})
    assert answer.status == 200, answer.body
    return answer.json["letter"]


def report_bug(server, n):
    return report(server, f"report-{n}", "KeyError", f"'BAD-{n}'", payload={"n": n, "pin": f"BAD-{n}"},
                  stack_trace=PYTHON_TRACE.format(n=n), context={"host": "worker-3"})


def fill(server):
    """One kind after the other, so that lists show them in the same order every time."""
    for queue_name, kind, count in [("orders", "pin", 40), ("orders", "bug", 12), ("orders", "busy", 9),
                                    ("orders", "stock", 5), ("payments", "card", 18), ("payments", "busy", 4),
                                    ("prompts", "model", 120), ("prompts", "policy", 7)]:
        push(server, queue_name, kind, count)
        server.drained(queue_name)
    for n in range(3):
        report_bug(server, n)
