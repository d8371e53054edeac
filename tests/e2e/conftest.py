import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from brokers import fixture_rabbit, fixture_redis  # noqa: E402,F401  pylint: disable=unused-import
from folder import fixture_tmp_path, pytest_runtest_makereport  # noqa: E402,F401  pylint: disable=unused-import
from harness import Handler, Server  # noqa: E402
from kafka_node import fixture_kafka  # noqa: E402,F401  pylint: disable=unused-import


@pytest.fixture
def serve(tmp_path):
    """serve(queues, …) starts a server; all are stopped, and must stop cleanly, at the end."""
    servers = []

    def start(queues, **top):
        folder = tmp_path / f"server{len(servers)}"
        folder.mkdir()
        servers.append(Server(folder, queues, **top))
        return servers[-1].start()

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def handler():
    """handler(answer) starts an HTTP handler in this process."""
    handlers = []

    def start(*args, **more):
        handlers.append(Handler(*args, **more))
        return handlers[-1]

    yield start
    for one in handlers:
        one.close()
