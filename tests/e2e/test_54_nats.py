"""NATS JetStream as a source and a sink, against the real server, with nats-py as everybody else."""
import json

import pytest

import scenes
from brokers import certificate
from harness import eventually, impound, scaled
from nats_node import Lane, Nats


@pytest.fixture(scope="module")
def nats(tmp_path_factory):
    node = Nats(tmp_path_factory.mktemp("nats"))
    try:
        yield node.start()
    finally:
        node.close()


def trouble(server):
    return server.queue(scenes.QUEUE)["source_trouble"]


def test_a_bug_is_parked_a_slow_service_is_retried_and_the_rest_flows(serve, nats):
    lane = Lane(nats)
    _, letter = scenes.three_orders(serve, lane)
    assert letter["message"]["id"] == f"{lane.name}:1", "its place in the stream is its identity"
    assert letter["source"] == {"kind": "nats", "stream": lane.name, "consumer": "pricing",
                                "subject": lane.subject, "sequence": 1, "delivered": 1}


def test_of_many_exactly_the_poison_ones_are_dead(serve, handler, nats):
    total = scaled(20000)
    scenes.one_bad_in_many(serve, handler, Lane(nats), total, 8000 if total > 8000 else 1000)


def test_while_the_downstream_is_out_nothing_dies(serve, handler, nats):
    scenes.outage(serve, handler, Lane(nats), 300)


def test_bad_credentials_halt_and_leave_everything_at_the_broker(serve, handler, nats):
    scenes.halt(serve, handler, Lane(nats), 300)


def revive(server):
    server.kill()
    server.start()


def test_kill_9_of_impound_loses_nothing(serve, handler, nats):
    scenes.killed(serve, handler, Lane(nats, ack_wait=1), scaled(20, least=3), revive)


def test_kill_9_of_the_broker_loses_nothing(serve, handler, nats):
    def restart(_):
        nats.kill()
        nats.start()
    scenes.killed(serve, handler, Lane(nats), scaled(5, least=2), restart)
