"""A filter or an option that names a queue or a DLQ that does not exist is an error that names the nearest one. An
empty result would look like "there is nothing to do"."""
import pytest

from harness import eventually, problem

NOT_FOUND = 4
QUEUE, DLQ = "agent-tasks", "agent-tasks.dlq"
BAD_QUEUE, BAD_DLQ = "agent-taks", "agent-tasks.dql"


@pytest.fixture
def lot(serve, handler):
    """One dead letter, and one message that waits."""
    worker = handler(lambda call: 422)
    server = serve({QUEUE: {"source": "builtin", "handler": {"http": worker.url}},
                    "leased": {"source": "builtin", "handler": "lease"}})
    server.push(QUEUE, {"n": 1}, id="dead")
    server.push("leased", {"n": 2}, id="waits")
    eventually(lambda: server.dlq(DLQ)["depth"] == 1, "it is dead")
    return server


def hint(name):
    return f'did you mean "{name}"'


@pytest.mark.parametrize("words", [
    ("discard", "--dlq", BAD_DLQ, "--apply", "--why", "w"),
    ("discard", "--dlq", BAD_DLQ),
    ("resolve", "--dlq", BAD_DLQ, "--apply", "--why", "w"),
    ("escalate", "--dlq", BAD_DLQ, "--apply", "--why", "w"),
    ("compensate", "--dlq", BAD_DLQ, "--apply", "--why", "w"),
    ("replay", "--dlq", BAD_DLQ, "--apply"),
    ("replay", "--dlq", BAD_DLQ),
    ("export", "--dlq", BAD_DLQ),
    ("groups", "--dlq", BAD_DLQ),
    ("ls", BAD_DLQ),
    ("dlqs", BAD_DLQ),
    ("what-if", "--rules", "impound.yaml", "--dlq", BAD_DLQ),
])
def test_a_misspelt_dlq_is_named_with_the_nearest_one(lot, words):
    words = [lot.config_path if word == "impound.yaml" else word for word in words]
    assert hint(DLQ) in lot.cli(*words, expect=NOT_FOUND)
    assert lot.message("dead")["state"] == "pending_review"


@pytest.mark.parametrize("words", [
    ("ls", "--queue", BAD_QUEUE),
    ("ls", DLQ, "--queue", BAD_QUEUE),
    ("discard", "--queue", BAD_QUEUE, "--apply", "--why", "w"),
    ("discard", "--queue", BAD_QUEUE, "--state", "queued", "--apply", "--why", "w"),
    ("bury", "--queue", BAD_QUEUE, "--apply", "--why", "w"),
    ("resolve", "--queue", BAD_QUEUE, "--apply", "--why", "w"),
    ("escalate", "--queue", BAD_QUEUE, "--apply", "--why", "w"),
    ("replay", "--queue", BAD_QUEUE, "--apply"),
    ("replay", "--all", "--to", BAD_QUEUE, "--apply"),
    ("queues", "rename", BAD_QUEUE, "leased"),
    ("queues", "remove", BAD_QUEUE),
    ("resume", BAD_QUEUE),
    ("export", "--queue", BAD_QUEUE),
    ("show", "dead", "--queue", BAD_QUEUE),
    ("explain", "dead", "--queue", BAD_QUEUE),
    ("discard", "dead", "--queue", BAD_QUEUE, "--apply", "--why", "w"),
    ("what-if", "--rules", "impound.yaml", "--queue", BAD_QUEUE),
    ("queues", BAD_QUEUE),
    ("pause", BAD_QUEUE),
    ("push", BAD_QUEUE, "1"),
])
def test_a_misspelt_queue_is_named_with_the_nearest_one(lot, words):
    words = [lot.config_path if word == "impound.yaml" else word for word in words]
    assert hint(QUEUE) in lot.cli(*words, expect=NOT_FOUND)
    assert lot.message("dead")["state"] == "pending_review"
    assert lot.message("waits")["state"] == "queued"


@pytest.mark.parametrize("path", ["/v1/letters", "/v1/messages"])
def test_lists_of_the_api_refuse_names_that_do_not_exist(lot, path):
    problem(lot.get(path, dlq=BAD_DLQ), 404, BAD_DLQ, hint(DLQ))
    problem(lot.get(path, queue=BAD_QUEUE), 404, BAD_QUEUE, hint(QUEUE))
    assert lot.get(path, queue=QUEUE, dlq=DLQ).status == 200
    assert lot.get(path, dlq="leased.dlq").status == 200, "configured, nothing ever died there"


@pytest.mark.parametrize("path", ["/v1/groups", "/v1/archives"])
def test_lists_by_dlq_refuse_names_that_do_not_exist(lot, path):
    problem(lot.get(path, dlq=BAD_DLQ), 404, BAD_DLQ, hint(DLQ))
    assert lot.get(path, dlq=DLQ).status == 200


@pytest.mark.parametrize("path", ["/v1/letters/resolve", "/v1/letters/discard", "/v1/letters/escalate",
                                  "/v1/letters/compensate", "/v1/messages/bury", "/v1/messages/discard",
                                  "/v1/replays", "/v1/exports"])
def test_filters_in_bodies_refuse_names_that_do_not_exist(lot, path):
    more = {} if path == "/v1/exports" else {"why": "w", "dry_run": False}
    problem(lot.post(path, {"filter": {"queue": BAD_QUEUE}, **more}), 404, BAD_QUEUE, hint(QUEUE))
    problem(lot.post(path, {"filter": {"dlq": BAD_DLQ}, **more}), 404, BAD_DLQ, hint(DLQ))
    assert lot.message("dead")["state"] == "pending_review"
    assert lot.message("waits")["state"] == "queued"


@pytest.mark.parametrize("call", [("GET", "/v1/messages/dead"), ("GET", "/v1/letters/dead"),
                                  ("GET", "/v1/letters/dead/explain"), ("GET", "/v1/results/dead"),
                                  ("POST", "/v1/letters/dead/resolve"), ("POST", "/v1/messages/waits/bury"),
                                  ("POST", "/v1/messages/waits/discard")])
def test_the_queue_of_an_id_must_exist(lot, call):
    method, path = call
    body = {"why": "w"} if method == "POST" else None
    problem(lot.request(method, f"{path}?queue={BAD_QUEUE}", body), 404, BAD_QUEUE, hint(QUEUE))
    assert lot.message("waits")["state"] == "queued"


def test_a_queue_that_the_configuration_no_longer_names_can_still_be_chosen(lot):
    lot.stop()
    lot.configure({"leased": {"source": "builtin", "handler": "lease"}})
    lot.start()
    assert [row["message"]["id"] for row in lot.page("/v1/letters", queue=QUEUE)["letters"]] == ["dead"]
    assert [row["message"]["id"] for row in lot.page("/v1/letters", dlq=DLQ)["letters"]] == ["dead"]
    assert hint(QUEUE) in lot.cli("ls", "--queue", BAD_QUEUE, expect=NOT_FOUND)
    lot.cli("discard", "--queue", QUEUE, "--why", "gone", "--apply")
    assert lot.message("dead")["state"] == "discarded"
