"""RQ: jobs that fail, and jobs that are requeued and done.

rq_jobs.py PORT fail COUNT     enqueues so many and works them off; each raises
rq_jobs.py PORT requeue        requeues all that failed, works them off, and prints what each was given
RQ imports the jobs from this file, so that what they do is told by the environment."""
import os
import sys

import redis
from rq import Queue, SimpleWorker
from rq.registry import FailedJobRegistry


def price(order):
    if os.environ.get("PRICE") != "works":
        raise KeyError(order["pin"])
    print("done", order["pin"], flush=True)


def main(port, verb, count="0"):
    connection = redis.Redis(port=int(port))
    queue = Queue("default", connection=connection)
    failed = FailedJobRegistry(queue=queue)
    if verb == "fail":
        for number in range(int(count)):
            queue.enqueue("rq_jobs.price", {"pin": f"BAD-{number}"})
    else:
        os.environ["PRICE"] = "works"
        for job in failed.get_job_ids():
            failed.requeue(job)
    SimpleWorker([queue], connection=connection).work(burst=True, logging_level="ERROR")
    print("failed", len(failed), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
