"""Backlogs at brokers for the benches: each round has a lane of its own. A lane gives the URL that consumes it,
and what the broker itself says is left."""
import asyncio
import os

import pika
import redis

from brokers import Rabbit, Redis
from kafka_node import Kafka
from nats_node import Nats

PAD = "x" * 900
PARTITIONS = 4
FILL_AT_ONCE = 1000


def body(number):
    return f'{{"n": {number}, "pad": "{PAD}"}}'.encode()


def portions(count):
    """The numbers of the messages, some at a time."""
    for start in range(0, count, FILL_AT_ONCE):
        yield range(start, min(start + FILL_AT_ONCE, count))


class Lanes:
    """A server, and the number of the last lane on it."""

    def __init__(self, folder, kind):
        self.server = kind(os.path.join(folder, kind.__name__.lower())).start()
        self.number = 0

    def next(self):
        self.number += 1
        return f"bench{self.number}"

    def close(self):
        self.server.close()


class RedisLanes(Lanes):
    def __init__(self, folder):
        super().__init__(folder, Redis)
        self.there = redis.Redis(port=self.server.port)

    def _push(self, count, push):
        for numbers in portions(count):
            pipeline = self.there.pipeline(transaction=False)
            for number in numbers:
                push(pipeline, body(number))
            pipeline.execute()


class RedisLists(RedisLanes):
    def fill(self, count):
        name = self.next()
        self._push(count, lambda pipeline, one: pipeline.lpush(name, one))
        return self.server.url(f"list={name}")

    def left(self):
        name = f"bench{self.number}"
        held = sum(self.there.hlen(key) for key in self.there.scan_iter(f"{name}:impound:*"))
        return self.there.llen(name) + self.there.llen("alone") + held


class RedisStreams(RedisLanes):
    def fill(self, count):
        name = self.next()
        self._push(count, lambda pipeline, one: pipeline.xadd(name, {"body": one}))
        self.there.xgroup_create(name, "g", id="0")
        return self.server.url(f"stream={name}&group=g")

    def left(self):
        group = self.there.xinfo_groups(f"bench{self.number}")[0]
        return group["pending"] + group["lag"]


class RabbitQueues(Lanes):
    """Classic durable queues, persistent messages."""

    def __init__(self, folder):
        super().__init__(folder, Rabbit)

    def fill(self, count):
        name = self.next()
        connection = pika.BlockingConnection(pika.ConnectionParameters(port=self.server.port))
        channel = connection.channel()
        channel.queue_declare(name, durable=True)
        kept = pika.BasicProperties(delivery_mode=2, content_type="application/json")
        for number in range(count):
            channel.basic_publish("", name, body(number), kept)
        connection.close()
        while self.server.messages(name) < count:
            pass
        return self.server.url(f"queue={name}")

    def left(self):
        return self.server.messages(f"bench{self.number}")


class NatsStreams(Lanes):
    """A stream in a file, a durable pull consumer."""

    def __init__(self, folder):
        super().__init__(folder, Nats)

    def fill(self, count):
        from nats.js.api import AckPolicy, ConsumerConfig  # pylint: disable=import-outside-toplevel
        name = self.next()

        async def make(js):
            await js.add_stream(name=name, subjects=[name])
            for numbers in portions(count):
                await asyncio.gather(*(js.publish(name, body(number)) for number in numbers))
            await js.add_consumer(name, ConsumerConfig(durable_name="c", ack_policy=AckPolicy.EXPLICIT))
        self.server.run(make)
        return self.server.url(f"stream={name}&consumer=c")

    def left(self):
        info = self.server.run(lambda js: js.consumer_info(f"bench{self.number}", "c"))
        return info.num_pending + info.num_ack_pending


class KafkaTopics(Lanes):
    """Reading takes nothing from a topic: a lane is a group that has read none of it yet."""

    def __init__(self, folder):
        super().__init__(folder, Kafka)
        self.topics, self.topic = {}, None

    def _make(self, count):
        name = self.server.make_topic(f"topic{count}", PARTITIONS)
        self.server.produce(name, ({"value": body(i), "partition": i % PARTITIONS} for i in range(count)))
        return name

    def fill(self, count):
        if count not in self.topics:
            self.topics[count] = self._make(count)
        self.topic = self.topics[count]
        return self.server.url(self.topic, group=self.next())

    def left(self):
        return self.server.lag(self.topic, f"bench{self.number}")


# Name, lanes, and how many messages more than others: so fast that fewer would be over in no time.
BROKERS = (("redis list", RedisLists, 1), ("redis stream", RedisStreams, 1), ("rabbitmq", RabbitQueues, 1),
           ("nats", NatsStreams, 1), ("kafka", KafkaTopics, 10))
