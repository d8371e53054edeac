"""Workers that lease in bulk: push → lease → ack and push → lease → fail → dead, all of it durable, beside one
message at a time."""
import http.client
import json
import threading
import time

from bench import Folder, ROUNDS, Server, cpu_seconds, median

MESSAGES = 40000
WORKERS = 4
AT_ONCE = 500
SINGLE_MESSAGES = 2000
BODY = "x" * 1000


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def post(self, path, body, content_type="application/json"):
        self.connection.request("POST", path, body, {"Content-Type": content_type})
        return json.loads(self.connection.getresponse().read())


def push(server, count):
    client = Client(server.port)
    line = json.dumps({"body": BODY}) + "\n"
    for start in range(0, count, 2000):
        client.post("/v1/queues/jobs/messages", line * min(2000, count - start), "application/x-ndjson")


def acks(leases):
    return {"ack": leases}


def deaths(leases):
    return {"fail": [{"lease": lease, "error_type": "ValueError", "error_message": "no amount", "verdict": "dlq"}
                     for lease in leases]}


def work(port, at_once, answer, left, lock):
    """Leases and answers until nothing is left."""
    client = Client(port)
    ask = json.dumps({"max": at_once, "wait_ms": 200})
    while left[0] > 0:
        leases = [message["lease"] for message in client.post("/v1/queues/jobs/lease", ask)["messages"]]
        if leases:
            client.post("/v1/leases", json.dumps(answer(leases)))
            with lock:
                left[0] -= len(leases)


def measure(count, at_once, answer=acks):
    with Folder() as folder:
        server = Server(folder, {"jobs": {"handler": "lease", "dlq": {"cap": 2 * count}}}).start()
        try:
            left, lock = [count], threading.Lock()
            cpu, start = cpu_seconds(server.process.pid), time.monotonic()
            threads = [threading.Thread(target=work, args=(server.port, at_once, answer, left, lock)) for _ in range(WORKERS)]
            for thread in threads:
                thread.start()
            push(server, count)
            for thread in threads:
                thread.join()
            return count / (time.monotonic() - start), (cpu_seconds(server.process.pid) - cpu) / count * 1e6
        finally:
            server.stop()


def main():
    bulk, dead, single = [], [], []
    for _ in range(ROUNDS):
        bulk.append(measure(MESSAGES, AT_ONCE))
        dead.append(measure(MESSAGES, AT_ONCE, deaths))
        single.append(measure(SINGLE_MESSAGES, 1))
    rate, cost = (median(values) for values in zip(*bulk))
    dead_rate, dead_cost = (median(values) for values in zip(*dead))
    one_rate, one_cost = (median(values) for values in zip(*single))
    print(f"lease: push, lease, ack of 1 KB: {rate:,.0f}/s by {AT_ONCE} ({cost:.0f} µs of CPU each), "
          f"{one_rate:,.0f}/s one by one ({one_cost:.0f} µs): {rate / one_rate:.1f} ×")
    print(f"lease: push, lease, fail, dead of 1 KB: {dead_rate:,.0f}/s by {AT_ONCE} ({dead_cost:.0f} µs of CPU each)")


if __name__ == "__main__":
    main()
