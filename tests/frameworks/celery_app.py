"""Celery on RabbitMQ: a task that rejects what it cannot do, with a dead-letter queue that its own queue names.

celery_app.py PORT declare | send PIN        celery -A celery_app worker"""
import os
import sys

from celery import Celery
from celery.exceptions import Reject
from kombu import Exchange, Queue

PORT = os.environ.get("RABBIT_PORT", "5672")
QUEUE = os.environ.get("CELERY_QUEUE", "prices")
app = Celery("celery_app", broker=f"amqp://guest:guest@127.0.0.1:{PORT}//")
app.conf.update(
    task_queues=[Queue(QUEUE, Exchange(f"{QUEUE}.tasks", type="topic"), routing_key="price.new", queue_arguments={
        "x-dead-letter-exchange": "", "x-dead-letter-routing-key": f"{QUEUE}.dlq"})],
    task_default_queue=QUEUE, task_default_exchange=f"{QUEUE}.tasks", task_default_exchange_type="topic",
    task_default_routing_key="price.new", task_ignore_result=True, worker_prefetch_multiplier=1,
    worker_redirect_stdouts=False,
    broker_connection_retry_on_startup=True)


@app.task(bind=True, acks_late=True)
def price(self, order):
    if os.environ.get("PRICE") != "works":
        raise Reject(f"no price for {order['pin']}", requeue=False)
    info = self.request.delivery_info
    print("done", order["pin"], info["exchange"], info["routing_key"], self.request.id, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "declare":
        with app.connection_for_write() as connection:
            for queue in app.conf.task_queues:
                queue(connection.default_channel).declare()
    else:
        print(price.delay({"pin": sys.argv[2], "note": "ü 1.0", "big": 12345678901234567890}).id)
