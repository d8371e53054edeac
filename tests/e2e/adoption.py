"""What scenarios of adoption have in common, whatever the broker."""
from harness import eventually

QUEUES = {"idle": {"handler": {"exec": ["/bin/true"]}}}
NAME = "legacy"
DLQ = "legacy.dlq"


def entry(source, mode="peek", **more):
    return [{"name": NAME, "source": source, "mode": mode, **more}]


def view(server, name=NAME):
    return next(one for one in server.get("/v1/adoptions").json["adoptions"] if one["adopt"] == name)


def looked(server, name=NAME):
    """Waits until the pass is over."""
    return eventually(lambda: (seen := view(server, name))["state"] == "done" and seen, "the pass is over")


def restart(server, adopt, queues=None, **top):
    """Stops it gracefully and starts it with another `adopt`."""
    server.stop()
    server.configure(queues or QUEUES, adopt=adopt, **top)
    return server.start()


def whole(server, dlq=DLQ, **filters):
    """Every letter with its body, oldest first."""
    rows = server.letters(dlq, **filters)
    return [server.get(f"/v1/letters/{row['id']}").json for row in reversed(rows)]


def refused(answer):
    assert answer.status == 409, (answer.status, answer.body)
    detail = answer.json["detail"]
    assert "read-only" in detail and "mode: take" in detail, detail


def cannot_be_decided(server, letter, dlq=DLQ):
    """Every call that decides says 409, and what to do."""
    path = f"/v1/letters/{letter['id']}"
    for verb in ("resolve", "discard", "escalate", "compensate"):
        refused(server.post(f"{path}/{verb}", {"why": "a look"}))
        refused(server.post(f"/v1/letters/{verb}", {"why": "a look", "filter": {"dlq": dlq}}))
        refused(server.post(f"/v1/letters/{verb}", {"why": "a look", "ids": [letter["id"]]}))
    for choice in ({"ids": [letter["id"]]}, {"filter": {"dlq": dlq}}, {"all": True}):
        for dry_run in (True, False):
            refused(server.post("/v1/replays", {**choice, "dry_run": dry_run}))
    assert server.get(path).json == letter, "nothing has changed"
