"""idempotency: what succeeded once is not run again, however often it is sent."""
import collections
import concurrent.futures
import json
import threading
import time

from harness import eventually, scaled

PRODUCERS = 50
KEYS = scaled(2000, least=200)
TIMES = 3


class Runs:
    """How often each order was run, and whether two of one order ever ran together."""

    def __init__(self, answer=lambda order, run: 200):
        self.answer = answer
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.inside = collections.Counter()
        self.together = []
        self.paths = collections.defaultdict(list)

    def __call__(self, call):
        order = json.loads(call.body)["order_id"]
        with self.lock:
            self.counts[order] += 1
            run = self.counts[order]
            self.paths[order].append(call.path)
            self.inside[order] += 1
            if self.inside[order] > 1:
                self.together.append(order)
        time.sleep(0.002)
        with self.lock:
            self.inside[order] -= 1
        return self.answer(order, run)


def config(worker, life=0, **more):
    return {"q": {"handler": {"http": f"{worker.url}/{life}", **more.pop("handler", {})}, "concurrency": 32,
                  "idempotency": {"key": ".order_id", "dedupe": "24h"}, "breaker": "off",
                  "retry": {"base": "5ms", "cap": "20ms", "budget_floor": "1000/s"}, **more}}


def push_everything(server):
    """Many producers at once; each key is sent three times, by different ones."""
    pushes = [{"body": {"order_id": key, "time": time_}} for time_ in range(TIMES)
              for key in range(KEYS)]
    shares = [pushes[i::PRODUCERS] for i in range(PRODUCERS)]
    with concurrent.futures.ThreadPoolExecutor(PRODUCERS) as pool:
        ids = list(pool.map(lambda share: server.push_many("q", share), shares))
    return [some_id for share in ids for some_id in share]


def test_of_what_is_sent_three_times_at_once_one_is_run(serve, handler):
    runs = Runs()
    worker = handler(runs)
    server = serve(config(worker))
    push_everything(server)
    server.drained("q")
    assert runs.together == []
    assert dict(runs.counts) == {key: 1 for key in range(KEYS)}
    eventually(lambda: server.metric("impound_attempts_total", queue="q", result="duplicate")
               == KEYS * (TIMES - 1), "duplicates are counted")
    assert server.metric("impound_attempts_total", queue="q", result="ok") == KEYS


def test_it_is_remembered_across_kill_9(serve, handler):
    runs = Runs()
    worker = handler(runs)
    server = serve(config(worker))
    push_everything(server)
    lives = 3
    for life in range(1, lives + 1):
        eventually(lambda: sum(runs.counts.values()) >= KEYS * life // (lives + 1), "some were run")
        server.kill()
        server.configure(config(worker, life))
        server.start()
    server.drained("q")
    assert set(runs.counts) == set(range(KEYS))
    # A kill between a handler's answer and its commit repeats a run in the next life, never in the same.
    for order, paths in runs.paths.items():
        assert len(paths) == len(set(paths)), (order, paths)
    seen = sum(runs.counts.values())
    server.push_many("q", [{"body": {"order_id": key}} for key in range(KEYS)])
    server.drained("q")
    assert sum(runs.counts.values()) == seen


def test_when_the_first_fails_the_next_one_runs_and_exact_numbers_differ(serve, handler):
    runs = Runs(lambda order, run: 400 if order == 1 and run == 1 else 200)
    worker = handler(runs)
    server = serve(config(worker))
    first = server.push("q", {"order_id": 1})
    eventually(lambda: server.message(first)["state"] == "pending_review", "the first is dead")
    server.push("q", {"order_id": 1})
    server.push("q", {"order_id": 1})
    for body in ('{"order_id":9007199254740993}', '{"order_id":9007199254740992}',
                 '{"order_id":9007199254740993}'):
        answer = server.post("/v1/queues/q/messages", '{"body":%s}' % body)
        assert answer.status == 200
    server.drained("q")
    assert runs.counts == {1: 2, 9007199254740993: 1, 9007199254740992: 1}


def test_a_duplicate_has_the_first_answer(serve, handler):
    worker = handler(lambda call: (200, {"Content-Type": "application/json"},
                                    b'{"price":' + call.body.split(b":")[1]))
    server = serve(config(worker, handler={"reply": {"store": "1h"}}))
    first = server.push("q", {"order_id": 7})
    server.drained("q")
    second = server.push("q", {"order_id": 7})
    server.drained("q")
    answers = [eventually(lambda: server.get(f"/v1/results/{some_id}").status == 200
                          and server.get(f"/v1/results/{some_id}"), "the answer is there")
               for some_id in (first, second)]
    assert answers[0].body == answers[1].body
    assert worker.count() == 1


def test_a_replayed_duplicate_is_not_run_and_ends_as_one(serve, handler):
    runs = Runs(lambda order, run: 400 if run == 1 else 200)
    server = serve(config(handler(runs)))
    first = server.push("q", {"order_id": 1})
    eventually(lambda: server.message(first)["state"] == "pending_review", "the first is dead")
    server.push("q", {"order_id": 1})
    server.drained("q")
    answer = server.post("/v1/replays", {"ids": [server.message(first)["id"]], "dry_run": False})
    assert answer.status == 200, answer.body
    eventually(lambda: server.message(first)["state"] == "resolved", "the replay is through")
    assert server.message(first)["resolution"] == "duplicate"
    assert runs.counts[1] == 2, "not run again"
    assert server.metric("impound_attempts_total", queue="q", result="duplicate") == 1


def test_a_replay_takes_its_key_from_the_edited_body(serve, handler):
    runs = Runs(lambda order, run: 400 if order == 1 else 200)
    server = serve(config(handler(runs)))
    first = server.push("q", {"order_id": 1})
    eventually(lambda: server.message(first)["state"] == "pending_review", "the first is dead")
    server.push("q", {"order_id": 2})
    server.drained("q")
    answer = server.post("/v1/replays", {"ids": [server.message(first)["id"]], "edit": ".order_id = 2",
                                         "dry_run": False})
    assert answer.status == 200, answer.body
    eventually(lambda: server.message(first)["state"] == "resolved", "the replay is through")
    assert server.message(first)["resolution"] == "duplicate" and dict(runs.counts) == {1: 1, 2: 1}
