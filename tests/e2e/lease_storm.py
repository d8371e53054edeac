"""Workers by the thousand, in one thread: each has a connection of its own, fetches, works, and now and then dies,
is late, extends or fails. What they see is written down and judged afterwards."""
import asyncio
import collections
import json
import random
import time

LEASE_MS = 1500
WAIT_MS = 100  # short, so that what is known of a lease's beginning is sharp
AT_ONCE = 4


class Http:
    """One kept connection, as little of HTTP as a worker needs."""

    def __init__(self, port):
        self.port, self.streams = port, None

    async def post(self, path, body):
        """(status, JSON); ConnectionError when the server is not there."""
        try:
            if not self.streams:
                self.streams = await asyncio.open_connection("127.0.0.1", self.port)
            reader, writer = self.streams
            data = json.dumps(body).encode()
            writer.write(b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                         b"Content-Length: %d\r\n\r\n%s" % (path.encode(), len(data), data))
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
            length = next(int(line.split(":")[1]) for line in head if line.startswith("content-length"))
            return int(head[0].split()[1]), json.loads(await reader.readexactly(length))
        except (OSError, asyncio.IncompleteReadError) as error:
            self.close()
            raise ConnectionError from error

    def close(self):
        if self.streams:
            self.streams[1].close()
        self.streams = None


class Held:
    """One lease, as its worker knows it. It is certainly alive until `until`: a lease begins, or is extended, after
    the request for it was sent."""

    def __init__(self, message, sent):
        self.id, self.lease = message["id"], message["lease"]
        self.until = sent + LEASE_MS / 1000
        self.over = False  # an answer was sent, or its worker died


class Storm:
    def __init__(self, server, queue, workers, seed):
        self.server, self.queue = server, queue
        self.workers, self.random = workers, random.Random(seed)
        self.held = collections.defaultdict(list)  # id → every lease of it
        self.done, self.perhaps = set(), set()     # acknowledged; perhaps, for nobody heard the answer
        self.breaches = []
        self.counts = collections.Counter()
        self.stopping = False

    # ---- what the workers see ----

    def note_lease(self, message, sent):
        now = time.monotonic()
        for other in self.held[message["id"]]:
            if not other.over and other.until > now:
                self.breaches.append(f"{message['id']} was leased while another lease of it was alive")
        if message["id"] in self.done:
            self.breaches.append(f"{message['id']} came back after its ack was taken")
        held = Held(message, sent)
        self.held[message["id"]].append(held)
        return held

    def note_ack(self, held, status, late):
        if status == 200:
            self.done.add(held.id)
        elif not late:
            self.breaches.append(f"an ack in time was refused: {status}")
        self.counts[f"{'late' if late else 'in time'} {status}"] += 1

    # ---- what they do ----

    async def say(self, http, held, what, body=None, again=0):
        """The status of an answer, which is repeated until somebody hears it."""
        while True:
            try:
                status, _ = await http.post(f"/v1/leases/{held.lease}/{what}", body or {})
                if status != 503:
                    return status, again
            except ConnectionError:
                pass
            again += 1
            await asyncio.sleep(0.05)

    async def ack(self, http, held):
        late = time.monotonic() >= held.until
        held.over = True
        self.perhaps.add(held.id)
        status, again = await self.say(http, held, "ack")
        if status in (404, 409) and again:
            self.counts["unheard"] += 1  # an answer that got lost may have been taken
        else:
            self.note_ack(held, status, late or time.monotonic() >= held.until)

    async def extend(self, http, held):
        sent = time.monotonic()
        status, again = await self.say(http, held, "extend", {"lease_ms": LEASE_MS})
        self.counts[f"extend {status}"] += 1
        if status == 200 and not again:
            held.until = sent + LEASE_MS / 1000

    async def work(self, http, message):
        held = message
        fate = self.random.random()
        if fate < 0.05:  # slower than its lease, and unaware of it
            await asyncio.sleep(LEASE_MS / 1000 * 1.2)
        elif fate < 0.15:
            await asyncio.sleep(LEASE_MS / 1000 * 0.6)
            await self.extend(http, held)
            await asyncio.sleep(LEASE_MS / 1000 * 0.6)
        else:
            await asyncio.sleep(self.random.uniform(0, 0.02))
        if 0.9 < fate:
            held.over = True
            status, _ = await self.say(http, held, "fail", {"error_type": "ConnectionError"})
            self.counts[f"fail {status}"] += 1
        else:
            await self.ack(http, held)

    async def fetch(self, http):
        sent = time.monotonic()
        status, said = await http.post(f"/v1/queues/{self.queue}/lease",
                                       {"max": AT_ONCE, "wait_ms": WAIT_MS, "lease_ms": LEASE_MS})
        if status != 200:
            return []
        return [self.note_lease(message, sent) for message in said["messages"]]

    async def live(self):
        http = Http(self.server.port)
        while not self.stopping:
            try:
                mine = await self.fetch(http)
            except ConnectionError:
                await asyncio.sleep(0.05)
                continue
            for held in mine:
                if self.random.random() < 0.04:
                    self.counts["died"] += 1
                    http.close()  # it dies with all that it holds, and another takes its place
                    break
                await self.work(http, held)
        http.close()

    async def run(self, while_running):
        """Until the coroutine has ended; then the workers go home."""
        workers = [asyncio.create_task(self.live()) for _ in range(self.workers)]
        try:
            await while_running
        finally:
            self.stopping = True
            await asyncio.gather(*workers)
