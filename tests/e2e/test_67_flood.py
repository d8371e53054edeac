"""A release that breaks every message: the flood guard warns, or holds the queue; people let it pass."""
from harness import eventually


def queues(url, **flood):
    return {"orders": {"source": "builtin", "handler": {"http": url}, "breaker": "off", "runbook": "https://runbooks/orders",
                       "dlq": {"owner": "team-orders"}, "flood": {"of": 20, **flood}}}



def alerts(server, name):
    return [one for one in server.get("/v1/alerts").json["alerts"] if one["alert"] == name and one["state"] == "firing"]


def test_a_flood_is_a_critical_alert_that_names_group_owner_and_runbook(serve, handler):
    worker = handler(lambda call: 400)
    server = serve(queues(worker.url))
    server.push_many("orders", [{"id": f"m{n}", "body": {}} for n in range(30)])
    server.drained("orders")
    fired = eventually(lambda: alerts(server, "DLQFlood"), "the alert fires", 30)
    group = server.get("/v1/groups?dlq=orders.dlq").json["groups"][0]
    assert len(fired) == 1 and fired[0]["severity"] == "critical"
    assert fired[0]["subject"] == f"orders.dlq/{group['fingerprint']}"
    assert "first attempts died of bad_request" in fired[0]["summary"] and "consumer version" in fired[0]["summary"]
    assert fired[0]["owner"] == "team-orders" and fired[0]["runbook"] == "https://runbooks/orders"
    assert server.queue("orders")["state"] == "running", "it only warns"


def test_hold_halts_the_queue_over_a_kill_and_resume_lets_the_group_pass(serve, handler):
    worker = handler(lambda call: 400)
    config = queues(worker.url, then="hold")
    config["orders"]["concurrency"] = 1
    server = serve(config)
    server.push_many("orders", [{"id": f"m{n}", "body": {}} for n in range(60)])
    eventually(lambda: server.queue("orders")["state"] == "halted", "the queue is held")
    view = server.queue("orders")
    assert view["why"].startswith("flood: 20 of 20 first attempts died of group "), view["why"]
    eventually(lambda: server.queue("orders")["in_flight"] == 0, "what was under way has ended")
    held = worker.count()
    assert held <= 21, "no second opinion was asked"
    server.kill()
    server.start()
    assert server.queue("orders")["state"] == "halted"
    eventually(lambda: alerts(server, "DLQFlood"), "the alert fires", 30)
    assert "the queue is halted" in alerts(server, "DLQFlood")[0]["summary"]
    assert worker.count() == held
    server.post("/v1/queues/orders/resume", {"why": "known"})
    server.drained("orders")
    assert server.queue("orders")["state"] == "running", "the group passes"
    assert server.dlq("orders.dlq")["depth"] == 60
    eventually(lambda: not alerts(server, "DLQFlood"), "it is over", 30)


def test_a_healthy_queue_with_a_usual_share_of_deaths_is_no_flood(serve, handler):
    worker = handler(lambda call: 400 if call.id.startswith("bad") else 200)
    server = serve(queues(worker.url, then="hold"))
    server.push_many("orders", [{"id": f"{'bad' if n % 2 else 'good'}-{n}", "body": {}} for n in range(200)])
    server.drained("orders")
    assert server.queue("orders")["state"] == "running"
    assert server.dlq("orders.dlq")["depth"] == 100
