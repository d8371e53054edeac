"""A NATS server with JetStream for the scenarios, and its own client."""
import asyncio
import dataclasses
import importlib
import json
import os
import shutil
import sys

import pytest

from brokers import START_PATIENCE_S, Process, parts
from harness import eventually


def nats_py():
    folder = parts("nats-py")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module("nats")


class Nats(Process):
    """`more` is added to the server's configuration."""

    def __init__(self, folder, more="", **login):
        super().__init__(folder)
        self.client, self.login = nats_py(), login
        if not shutil.which("nats-server"):
            pytest.skip("nats-server is not installed")
        self.config_path = os.path.join(self.folder, "nats.conf")
        with open(self.config_path, "w", encoding="utf-8") as out:
            out.write(f'host: "127.0.0.1"\nport: {self.port}\njetstream {{ store_dir: "{self.folder}/store" }}\n{more}\n')

    def start(self):
        self.launch(["nats-server", "-c", self.config_path])
        eventually(self.listens, "NATS listens", START_PATIENCE_S)
        return self

    def run(self, work):
        """work(jetstream) on a connection of its own; what it gives."""
        async def whole():
            connection = await self.client.connect(f"nats://127.0.0.1:{self.port}", allow_reconnect=False,
                                                   connect_timeout=START_PATIENCE_S, **self.login)
            try:
                return await work(connection.jetstream(timeout=START_PATIENCE_S))
            finally:
                await connection.close()
        return asyncio.run(whole())

    def url(self, query, user="", scheme="nats"):
        return f"{scheme}://{user}127.0.0.1:{self.port}?{query}"


class Lane:
    """A stream with a durable pull consumer, its own on the server. What is to come again after a kill needs a short
    `ack_wait`, in which a slow machine may well not get to its acknowledgement."""

    count = 0

    def __init__(self, node, **consumer):
        Lane.count += 1
        self.node, self.name = node, f"LANE{Lane.count}"
        self.subject = f"lane{Lane.count}.orders"
        self.source = node.url(f"stream={self.name}&consumer=pricing")

        async def make(js):
            await js.add_stream(name=self.name, subjects=[self.subject])
            await self.add_consumer(js, **consumer)
        node.run(make)

    async def add_consumer(self, js, **consumer):
        from nats.js.api import AckPolicy, ConsumerConfig  # pylint: disable=import-outside-toplevel
        # what nats-py has no names for
        config = dataclasses.make_dataclass("Config", [("max_batch", int, None), ("max_expires", int, None)],
                                            bases=(ConsumerConfig,))
        await js.add_consumer(self.name, config(**{
            "durable_name": "pricing", "ack_policy": AckPolicy.EXPLICIT, "ack_wait": 60, **consumer}))

    def send(self, body, **headers):
        self.node.run(lambda js: js.publish(self.subject, body, headers=headers or None))

    def publish(self, bodies):
        async def all_of_them(js):
            await asyncio.gather(*(js.publish(self.subject, json.dumps(body).encode(), headers={
                "Content-Type": "application/json"}) for body in bodies))
        self.node.run(all_of_them)

    def info(self):
        return self.node.run(lambda js: js.consumer_info(self.name, "pricing"))

    def left(self):
        info = self.info()
        return info.num_pending + info.num_ack_pending
