"""Dramatiq on RabbitMQ: an actor that raises, is retried by way of its delay queue, and dead-lettered by its broker.

dramatiq_app.py send PIN                       enqueues one
dramatiq_app.py work                           works until a line comes on standard input"""
import os
import sys

import dramatiq
from dramatiq.brokers.rabbitmq import RabbitmqBroker

broker = RabbitmqBroker(url=f"amqp://guest:guest@127.0.0.1:{os.environ['RABBIT_PORT']}/")
dramatiq.set_broker(broker)


@dramatiq.actor(queue_name="prices", max_retries=1, min_backoff=10, max_backoff=20)
def price(order):
    if os.environ.get("PRICE") != "works":
        raise KeyError(order["pin"])
    print("done", order["pin"], flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "send":
        print(price.send({"pin": sys.argv[2], "note": "ü 1.0", "big": 12345678901234567890}).message_id)
    else:
        worker = dramatiq.Worker(broker, worker_threads=1, worker_timeout=100)
        worker.start()
        print("works", flush=True)
        sys.stdin.readline()
        worker.stop()
    broker.close()
