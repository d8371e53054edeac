"""A task that failed elsewhere is reported, judged by the queue's policy, and retried by its handler or
dead-lettered: the answer says which, and it is durable by then."""
import datetime
import traceback
import uuid

from harness import eventually, problem


def queues(url, **more):
    return {"orders": {"source": "builtin", "handler": {"http": url}, "breaker": "off",
                       "retry": {"attempts": 5, "base": "10ms", "cap": "50ms"}, **more}}


def report(server, **members):
    return server.post("/v1/queues/orders/failures", members)


def test_what_can_succeed_is_retried_by_the_handler_and_the_count_goes_on(serve, handler):
    worker = handler(lambda call: 200)
    server = serve(queues(worker.url))
    answer = report(server, task_id="t-1", payload={"n": 1.0}, error_type="ReadTimeout",
                    error_message="no answer in 30 s", attempts=2)
    assert answer.status == 200, answer.body
    said = answer.json
    assert set(said) == {"id", "state", "verdict", "reason", "next_attempt_at"}
    assert (said["id"], said["state"], said["verdict"], said["reason"]) == (
        "t-1", "pending_retry", "retry", "timeout")
    server.drained("orders")
    call, = worker.calls
    assert (call.id, call.attempt, call.body) == ("t-1", 3, b'{"n": 1.0}')
    assert server.message("t-1") is None


def test_what_cannot_is_a_letter_at_once(serve, handler):
    worker = handler()
    server = serve(queues(worker.url))
    said = report(server, task_id="t-2", payload=None, error_type="KeyError", error_message="'pin'",
                  attempts=1).json
    assert set(said) == {"id", "state", "verdict", "reason", "letter"}
    assert (said["state"], said["verdict"]) == ("pending_review", "dlq")
    letter = server.message("t-2")
    assert letter["id"] == said["letter"] and letter["reason"] == said["reason"]
    assert (letter["cause"], letter["category"], letter["attempts"]) == ("terminal", "bug", 1)
    assert letter["failure"]["kind"] == "reported"
    assert letter["source"]["kind"] == "report"
    assert worker.count() == 0
    unknown = report(server, task_id="t-3", error_type="Odd", error_message="odd").json
    assert unknown["reason"] == "unclassified:Odd"
    assert server.metric("impound_dlq_letters_total", reason="unclassified", category="unknown") == 1
    assert server.metric("impound_dlq_letters_total", reason="unclassified:Odd") == 0
    assert [letter["message"]["id"] for letter in server.letters("orders.dlq", reason="unclassified")] == ["t-3"]
    assert server.message("t-3")["cause"] == "unclassified"
    server.kill()
    server.start()
    assert server.message("t-2") == letter


def test_attempts_and_max_attempts_can_use_up_what_is_left(serve, handler):
    worker = handler(lambda call: 503)
    server = serve(queues(worker.url))
    for name, members in (("policy", {"attempts": 5}), ("own", {"attempts": 3, "max_attempts": 3}),
                          ("beyond", {"attempts": 9})):
        said = report(server, task_id=name, error_type="TimeoutError", **members).json
        assert said["state"] == "pending_review", (name, said)
        letter = server.message(name)
        assert (letter["cause"], letter["reason"]) == ("exhausted", "max_attempts:timeout")
        assert letter["attempts"] == members["attempts"]
    assert worker.count() == 0
    report(server, task_id="one-left", error_type="TimeoutError", attempts=1, max_attempts=2)
    server.drained("orders")
    letter = server.message("one-left")
    assert worker.ids() == ["one-left"]
    assert (letter["attempts"], letter["max_attempts"], letter["cause"]) == (2, 2, "exhausted")
    assert [line["attempt"] for line in letter["history"]] == [1, 2]


def test_a_status_a_verdict_and_retry_after_are_understood(serve, handler):
    worker = handler()
    server = serve(queues(worker.url))
    assert report(server, task_id="a", status=422).json["reason"] == "bad_request"
    later = report(server, task_id="b", status=429, retry_after=3600).json
    assert later["state"] == "pending_retry"
    assert server.message("b")["failure"]["retry_after_ms"] == 3_600_000
    assert report(server, task_id="c", status=503, verdict="dlq").json["state"] == "pending_review"
    assert server.message("c")["cause"] == "reported"
    assert report(server, task_id="d", status=503, verdict="discard").json["state"] == "discarded"
    assert server.dlq("orders.dlq")["depth"] == 2


def test_a_report_that_is_made_twice_is_taken_once(serve, handler):
    worker = handler()
    server = serve(queues(worker.url))
    first = report(server, task_id="t", payload={"n": 1}, error_type="KeyError", attempts=1)
    letter = server.message("t")
    again = report(server, task_id="t", payload={"n": 1}, error_type="KeyError", attempts=1)
    assert again.status == 200
    assert {name: again.json[name] for name in ("id", "state", "letter")} == {
        name: first.json[name] for name in ("id", "state", "letter")}
    assert server.message("t") == letter
    problem(report(server, task_id="t", payload={"n": 2}, error_type="KeyError"), 409)
    assert server.dlq("orders.dlq")["depth"] == 1
    pushed = server.post("/v1/queues/orders/messages", '{"id": "t", "body": {"n": 1}}')
    assert pushed.json["duplicates"] == ["t"]


def test_an_agent_runners_entry_can_be_reported_as_it_is(serve, handler):
    """The fields that a runner keeps of a failed task, and nothing translated."""
    try:
        {}["plan"]
    except KeyError as error:
        task = {"task_id": str(uuid.uuid4()), "task_type": "summarise", "payload": {"doc": 7, "pages": [1, 2]},
                "error_type": type(error).__name__, "error_message": str(error),
                "stack_trace": traceback.format_exc(), "attempts": 1, "max_attempts": 3,
                "context": {"agent_type": "Summariser", "tool_calls": [{"name": "search"}]}}
    server = serve(queues(handler().url))
    assert report(server, **task).json["state"] == "pending_review"
    letter = server.message(task["task_id"])
    assert letter["task"] == {"id": task["task_id"], "type": "summarise"}
    assert letter["context"] == task["context"]
    assert letter["message"]["body"] == task["payload"]
    assert letter["failure"]["error_type"] == "KeyError"
    assert letter["failure"]["error_message"] == "'plan'"
    assert "test_12_reports.py" in letter["failure"]["stack_trace"]
    assert (letter["attempts"], letter["max_attempts"]) == (1, 3)


def test_a_task_runners_to_dict_is_taken_without_a_change(serve, handler):
    """Member for member what DLQEntry.to_dict() of the second seed gives: utcnow().isoformat() has no zone."""
    server = serve(queues(handler().url))
    created = datetime.datetime(2026, 1, 31, 12, 0, 0, 250_000)
    entry = {"id": str(uuid.uuid4()), "task_id": "task-7", "task_type": "research", "payload": {"query": "impound"},
             "error_message": "'plan'", "error_type": "KeyError", "attempt_count": 1, "max_retries": 3,
             "status": "pending_retry", "created_at": created.isoformat()}
    answer = report(server, **entry)
    assert answer.status == 200, answer.body
    assert (answer.json["id"], answer.json["state"], answer.json["max_retries"]) == ("task-7", "pending_review", 3)
    letter = server.message("task-7")
    assert letter["created_at"] == "2026-01-31T12:00:00.250Z"
    assert letter["context"] == {"entry": entry["id"], "status": "pending_retry"}
    assert letter["failure"].get("status") is None
    alone = report(server, id="e-1", payload=1, error_type="KeyError", status="pending_review", resolved_at=None)
    assert alone.json["id"] == "e-1"
    for over in ({"status": "resolved"}, {"status": "discarded"}, {"resolved_at": "2026-01-31T12:00:00"}):
        problem(report(server, task_id="done", **over), 400, "failed")
    assert server.message("done") is None


def test_a_report_that_is_not_one_is_refused_and_changes_nothing(serve, handler):
    server = serve(queues(handler().url))
    for members, word in (({}, "task_id"), ({"task_id": ""}, "task_id"), ({"task_id": 7}, "task_id"),
                          ({"task_id": "x" * 256}, "task_id"), ({"task_id": "t", "attempts": 0}, "attempts"),
                          ({"task_id": "t", "attempts": "2"}, "attempts"),
                          ({"task_id": "t", "attempts": 1.5}, "attempts"),
                          ({"task_id": "t", "max_attempts": -1}, "max_attempts"),
                          ({"task_id": "t", "error_type": 5}, "error_type"),
                          ({"task_id": "t", "error_message": ["x"]}, "error_message"),
                          ({"task_id": "t", "stack_trace": {}}, "stack_trace"),
                          ({"task_id": "t", "context": [1]}, "context"),
                          ({"task_id": "t", "task_type": 3}, "task_type"),
                          ({"task_id": "t", "verdict": "shred"}, "verdict"),
                          ({"task_id": "t", "status": "many"}, "status"),
                          ({"task_id": "t", "retry_after": "soon"}, "retry_after"),
                          ({"task_id": "t", "eror_type": "E"}, 'did you mean "error_type"')):
        problem(report(server, **members), 400, word)
    problem(server.post("/v1/queues/orders/failures", "[]"), 400)
    problem(server.post("/v1/queues/orders/failures", "{"), 400)
    problem(server.post("/v1/queues/oders/failures", {"task_id": "t"}), 404, "orders")
    assert server.message("t") is None
    assert server.dlq("orders.dlq")["depth"] == server.queue("orders")["depth"] == 0


def test_many_reports_at_once_are_all_there_after_kill_9(serve, handler):
    worker = handler(lambda call: 200)
    server = serve(queues(worker.url))
    for n in range(100):
        assert report(server, task_id=f"t-{n}", payload=n, error_type="KeyError" if n % 2 else "TimeoutError",
                      retry_after=3600).status == 200
    server.kill()
    server.start()
    assert server.dlq("orders.dlq")["depth"] == 50
    assert server.queue("orders")["pending_retry"] == 50
    eventually(lambda: len(server.letters("orders.dlq")) == 50, "and listed")


def test_other_names_for_attempts_and_their_time_are_taken_and_shown(serve, handler):
    server = serve({"tasks": {"handler": {"http": handler().url}, "retry": {"attempts": 5}}})
    report = {"task_id": "t-1", "payload": {"n": 1}, "error_type": "TimeoutError", "attempt_count": 3, "max_retries": 3,
              "last_attempted_at": "2026-01-31T12:00:00.250Z", "consumer_instance": "runner-2"}
    answer = server.post("/v1/queues/tasks/failures", report)
    assert answer.status == 200, answer.body
    said = answer.json
    assert (said["state"], said["attempt_count"], said["max_retries"]) == ("pending_review", 3, 3)
    assert said["last_attempted_at"] == "2026-01-31T12:00:00.250Z"
    letter = server.message("t-1")
    assert (letter["attempts"], letter["max_attempts"], letter["cause"]) == (3, 3, "exhausted")
    assert letter["last_failure_at"] == "2026-01-31T12:00:00.250Z" and letter["consumer"]["instance"] == "runner-2"
    answer = server.post("/v1/queues/tasks/failures", {"task_id": "t-2", "last_attempted_at": "yesterday"})
    problem(answer, 400, "last_attempted_at")


def test_a_task_is_as_old_as_its_report_says(serve, handler):
    server = serve(queues(handler().url, dlq={"fresh": {"within": "6h"}}))
    dead = {"payload": 1, "error_type": "KeyError"}
    times = {"new": {}, "made": {"created_at": "2026-01-30T12:00:00.123456", "failed_at": "2026-01-31T12:00:00Z"},
             "failed": {"failed_at": "2026-01-31T12:00:00Z"}, "last": {"last_attempted_at": "2026-01-31T12:00:00"},
             "first": {"first_attempted_at": "2026-01-30T12:00:00Z", "last_attempted_at": "2026-01-31T12:00:00Z"},
             "ahead": {"created_at": "2999-01-01T00:00:00Z"}}
    for name, said in times.items():
        assert report(server, task_id=name, **dead, **said).status == 200
    letters = {name: server.message(name) for name in times}
    assert {name: one["created_at"] for name, one in letters.items() if name not in ("new", "ahead")} == {
        "made": "2026-01-30T12:00:00.123Z", "failed": "2026-01-31T12:00:00.000Z",
        "last": "2026-01-31T12:00:00.000Z", "first": "2026-01-30T12:00:00.000Z"}
    assert letters["ahead"]["created_at"] <= letters["ahead"]["dead_at"], "never in the future"
    assert letters["made"]["last_failure_at"] == "2026-01-31T12:00:00.000Z"
    plan = server.post("/v1/replays", {"all": True, "dry_run": True}).json
    assert plan["stale"] == 4, "made, failed, last and first are older than six hours"
    for name in ("created_at", "first_attempted_at", "failed_at"):
        problem(report(server, task_id="t-2", **{name: "yesterday"}), 400, name)
        problem(report(server, task_id="t-2", **{name: "1969-01-31T12:00:00Z"}), 400, name)


def test_tasks_are_found_by_their_type(serve, handler):
    rule = {"when": {"task_type": "mail"}, "do": "discard", "every": "1s"}
    server = serve(queues(handler().url))
    for number, kind in enumerate(("billing", "billing", "mail", 'a "b"', None)):
        assert report(server, task_id=f"t-{number}", task_type=kind, error_type="KeyError", payload=number).status == 200

    def found(**words):
        return {letter["message"]["id"] for letter in server.letters("orders.dlq", **words)}

    eventually(lambda: found() == {"t-0", "t-1", "t-2", "t-3", "t-4"}, "all are listed")
    assert found(task_type="billing") == {"t-0", "t-1"} and found(task_type='a "b"') == {"t-3"}
    assert found(task_type="billing", where='.message.id == "t-1"') == {"t-1"}
    assert found(where='.message.id == "t-1"', task_type="mail") == set()
    assert found(task_type="none") == set()
    assert "t-2" in server.cli("ls", "orders.dlq", "--task-type", "mail")
    plan = server.post("/v1/replays", {"filter": {"task_type": "billing"}, "dry_run": True}).json
    assert plan["selected"] == 2
    problem(server.get("/v1/letters?task_type="), 400, "task_type")
    server.stop()
    server.configure(queues(handler().url, dlq={"triage": [rule]}))
    server.start()
    eventually(lambda: {one["message"]["id"] for one in server.letters("orders.dlq", state="discarded")} == {"t-2"},
               "the rule takes the type that it names alone")
    assert found() == {"t-0", "t-1", "t-3", "t-4"}
