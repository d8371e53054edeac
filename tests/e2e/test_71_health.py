"""Health and metrics are answered whatever else is asked: no list, export or full disk stands before them."""
import contextlib
import os
import sqlite3
import threading

from harness import eventually, problem

SLOW_THREADS, SLOW_WAITING_MAX = 2, 64  # workers.h


@contextlib.contextmanager
def held_lists(server):
    """Lists are held: a transaction from outside keeps the fold from ending, which they wait for."""
    server.push("jobs", 1, id="m1")
    with contextlib.closing(sqlite3.connect(os.path.join(server.folder, "impound.db"), isolation_level=None)) as outside:
        outside.execute("BEGIN IMMEDIATE")
        server.push("jobs", 2, id="m2")
        yield
        outside.execute("ROLLBACK")


class Lists:
    def __init__(self, server, count):
        self.answers = []
        self.threads = [threading.Thread(target=self.ask, args=(server,)) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def ask(self, server):
        self.answers.append(server.get("/v1/letters", limit=1))

    def join(self):
        for thread in self.threads:
            thread.join()


def test_health_metrics_and_single_messages_do_not_wait_for_lists(serve):
    server = serve({"jobs": {"handler": "lease"}})
    with held_lists(server):
        lists = Lists(server, 12)
        eventually(lambda: server.metric("impound_http_running", lane="slow") == SLOW_THREADS and
                   server.metric("impound_http_waiting", lane="slow") > 0, "the lists are held")
        assert server.get("/readyz").status == 200
        assert server.get("/healthz").status == 200
        assert server.message("m2")["message"]["body"] == 2
        assert server.queue("jobs")["depth"] == 2
        assert len(lists.answers) < 12  # all of that came before the lists were done
    lists.join()
    assert [answer.status for answer in lists.answers] == [200] * 12


def test_lists_beyond_the_limit_are_told_to_come_again(serve):
    server = serve({"jobs": {"handler": "lease"}})
    with held_lists(server):
        lists = Lists(server, SLOW_THREADS + SLOW_WAITING_MAX + 10)
        refused = eventually(lambda: [answer for answer in lists.answers if answer.status != 200],
                             "more lists wait than may")[0]
        problem(refused, 503, f"{SLOW_WAITING_MAX} requests of this kind wait already")
        assert int(refused.headers["Retry-After"]) >= 1
        assert server.get("/readyz").status == 200
    lists.join()
    assert {answer.status for answer in lists.answers} == {200, 503}
