"""401: nothing is lost, nothing is dead, the queue stops and says why."""
from harness import eventually


def queues(url):
    return {"orders": {"source": "builtin", "handler": {"http": url}, "concurrency": 4}}


def test_a_401_halts_the_queue_until_somebody_resumes_it_also_over_a_restart(serve, handler):
    worker = handler(lambda call: (401, {"Content-Type": "application/json"},
                                   b'{"error":{"type":"invalid_api_key","message":"key expired"}}'))
    server = serve(queues(worker.url))
    ids = [server.push("orders", {"n": n}) for n in range(50)]
    view = eventually(lambda: server.queue("orders")["state"] == "halted" and server.queue("orders"),
                      "the queue halts")
    assert "auth" in view["why"] and "key expired" in view["why"]
    assert f"warn  queue orders: halted: {view['why']}" in server.log()
    eventually(lambda: server.queue("orders")["in_flight"] == 0, "what was under way has ended")
    assert worker.count() <= 4 + 3, "what was under way in that one turn, and three others that were asked"
    assert server.dlq("orders.dlq")["depth"] == 0
    assert server.queue("orders")["depth"] == len(ids)
    first = eventually(lambda: (found := server.message(worker.ids()[0]))["state"] == "queued" and found,
                       "it went back")
    assert first["attempts"] == 0
    assert first["history"][0]["counted"] is False and first["history"][0]["verdict"] == "halt"
    untried = next(one for one in ids if one not in worker.ids())
    for one in (untried, worker.ids()[0]):
        said = server.get(f"/v1/letters/{one}/explain").json["summary"]
        assert "halted" in said and "key expired" in said and "`impound resume orders`" in said
    ready = server.get("/readyz")
    assert ready.status == 200 and "orders" in ready.body.decode()

    calls = worker.count()
    server.stop()
    server.start()
    assert server.queue("orders")["state"] == "halted"
    assert server.queue("orders")["why"] == view["why"]
    assert worker.count() == calls, "a restart does not try again by itself"

    worker.answer = lambda call: 200
    assert server.post("/v1/queues/orders/resume").status == 200
    server.drained("orders")
    assert set(worker.ids()) == set(ids)
    assert server.queue("orders")["state"] == "running"
    assert server.dlq("orders.dlq")["depth"] == 0


def test_a_paused_queue_takes_pushes_hands_nothing_over_and_stays_paused_over_a_kill(serve, handler):
    worker = handler()
    server = serve(queues(worker.url))
    assert server.post("/v1/queues/orders/pause", {"why": "deploy"}).status == 200
    ids = [server.push("orders", {"n": n}) for n in range(10)]
    assert server.queue("orders")["state"] == "paused"
    assert server.queue("orders")["why"] == "deploy"
    server.kill()
    server.start()
    assert server.queue("orders")["state"] == "paused"
    assert server.queue("orders")["depth"] == len(ids)
    assert worker.count() == 0
    server.post("/v1/queues/orders/resume")
    server.drained("orders")
    assert set(worker.ids()) == set(ids)
