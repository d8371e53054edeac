"""order: key. Messages of one key go one at a time and in order; nobody else waits for them."""
import collections
import random
import threading
import time

from harness import eventually, scaled

KEYS = scaled(200, least=20)
EACH = 10
FAST = {"retry": {"attempts": 5, "base": "5ms", "cap": "20ms", "budget_floor": "1000/s"},
        "breaker": "off", "order": "key", "concurrency": 32}


def key_of(call):
    return call.id.rsplit("-", 1)[0]


def queue(worker, life=0, **more):
    return {"q": {"handler": {"http": f"{worker.url}/{life}"}, **FAST, **more}}


def number_of(some_id):
    return int(some_id.rsplit("-", 1)[1])


class Ledger:
    """What the handler saw of each key: who was inside, and who succeeded, in order. What a killed life
    had sent may reach a thread of ours after the next life's: that is nobody's order any more."""

    def __init__(self, plan):
        self.plan = plan  # id -> statuses to answer before 200
        self.lock = threading.Lock()
        self.life = 0
        self.inside = collections.Counter()
        self.together = []
        self.done = collections.defaultdict(list)
        self.tried = collections.Counter()

    def __call__(self, call):
        key, life = key_of(call), int(call.path.rsplit("/", 1)[1])
        with self.lock:
            if life != self.life:
                return 200
            self.inside[life, key] += 1
            if self.inside[life, key] > 1:
                self.together.append(call.id)
            self.tried[call.id] += 1
            planned = self.plan.get(call.id, [])
            status = planned[self.tried[call.id] - 1] if self.tried[call.id] <= len(planned) else 200
        time.sleep(0.001)  # long enough for a second one of the key to be seen inside
        with self.lock:
            self.inside[life, key] -= 1
            if status == 200 and life == self.life:
                self.done[key].append(number_of(call.id))
        return status

    def kills(self, server, worker, **more):
        """The server, which then lives again."""
        server.kill()
        with self.lock:
            self.life += 1
        server.configure(queue(worker, self.life, **more))
        server.start()

    def is_through(self):
        with self.lock:
            return sum(len(set(numbers)) for numbers in self.done.values()) == KEYS * EACH


def push_all(server, queue="q"):
    """Interleaved, so that every key always has others between its messages."""
    server.push_many(queue, [{"body": {}, "id": f"k{key}-{number}", "key": f"k{key}"}
                             for number in range(EACH) for key in range(KEYS)])


def test_keys_keep_their_order_through_failures_and_dead_heads_stop_nobody_else(serve, handler):
    chance = random.Random(20)
    plan = {f"k{key}-{number}": [503] * chance.choice([0, 0, 0, 1, 2])
            for key in range(KEYS) for number in range(EACH)}
    dead = {f"k{key}": chance.randrange(EACH - 1) for key in range(0, KEYS, 10)}
    plan.update({f"{key}-{number}": [400] for key, number in dead.items()})
    ledger = Ledger(plan)
    worker = handler(ledger)
    server = serve(queue(worker))
    push_all(server)
    others = (KEYS - len(dead)) * EACH
    before_the_dead = sum(dead.values())
    eventually(lambda: sum(map(len, ledger.done.values())) == others + before_the_dead,
               "every other key is through")
    eventually(lambda: server.dlq("q.dlq")["depth"] == len(dead), "every dead head is a letter")
    assert ledger.together == []
    for key in (f"k{n}" for n in range(KEYS)):
        assert ledger.done[key] == list(range(dead.get(key, EACH))), key

    letters = {letter["message"]["key"]: letter for letter in server.letters("q.dlq")}
    for key, number in dead.items():
        waiting = server.message(f"{key}-{number + 1}")
        assert waiting["state"] == "queued" and waiting["attempts"] == 0
        assert waiting["blocked_by"] == letters[key]["id"]
        explained = server.get(f"/v1/letters/{key}-{number + 1}/explain").json
        assert letters[key]["id"] in explained["summary"] and explained["limits"]["max_attempts"] == 5

    first = next(iter(dead))
    ledger.kills(server, worker)
    assert server.message(f"{first}-{dead[first] + 1}")["blocked_by"] == letters[first]["id"]
    for key, number in dead.items():
        answer = server.post(f"/v1/letters/{letters[key]['id']}/resolve", {"why": "done by hand"})
        assert answer.status == 200, answer.body
    server.drained("q")
    for key, number in dead.items():
        assert ledger.done[key] == [n for n in range(EACH) if n != number], key
    assert ledger.together == []


def replay_all(server):
    """One replay of every letter, until it is over."""
    answer = server.post("/v1/replays", {"filter": {"dlq": "q.dlq"}, "canary": False, "ramp": False, "rate": "max",
                                         "dry_run": False})
    assert answer.status in (200, 201, 202), answer.body
    eventually(lambda: server.get(f"/v1/replays/{answer.json['id']}").json["state"] in ("done", "aborted"),
               "the replay is over")
    eventually(lambda: server.letters("q.dlq", state="replaying") == [], "what it sent has come to an end")


def test_keys_keep_their_order_through_random_failures_and_replays(serve, handler):
    chance = random.Random(200)
    plan = {}
    for key in range(KEYS):
        for number in range(EACH):
            statuses = [0, 0, 503, 400] if key % 2 == 0 else [0, 0, 0, 503]
            plan[f"k{key}-{number}"] = [s for s in (chance.choice(statuses) for _ in range(2)) if s]
    deaths = sum(statuses.count(400) for statuses in plan.values())
    ledger = Ledger(plan)
    worker = handler(ledger)
    server = serve(queue(worker, dlq={"max_replays": 1000}))
    push_all(server)
    odd = [f"k{key}" for key in range(1, KEYS, 2)]
    eventually(lambda: all(len(ledger.done[key]) == EACH for key in odd), "other keys never wait")
    assert not ledger.is_through()
    rounds = 0
    while not ledger.is_through():
        eventually(lambda: server.dlq("q.dlq")["depth"] > 0 or server.queue("q")["depth"] == 0,
                   "a head dies, or all are through")
        replay_all(server)
        rounds += 1
        if rounds == 2:
            ledger.kills(server, worker, dlq={"max_replays": 1000})
    server.drained("q")
    seen = sum(ledger.tried.values())
    assert seen >= sum(map(len, plan.values())) + KEYS * EACH and deaths > KEYS / 4
    for key in (f"k{n}" for n in range(KEYS)):
        assert list(dict.fromkeys(ledger.done[key])) == list(range(EACH)), key  # a kill may repeat one
        assert sorted(ledger.done[key]) == ledger.done[key], key
    assert server.dlq("q.dlq")["depth"] == 0


def test_on_dead_continue_lets_a_key_go_on(serve, handler):
    ledger = Ledger({"k0-0": [400], "k0-3": [400]})
    worker = handler(ledger)
    server = serve(queue(worker, on_dead="continue"))
    server.push_many("q", [{"body": {}, "id": f"k0-{n}", "key": "k0"} for n in range(EACH)])
    server.drained("q")
    assert ledger.done["k0"] == [n for n in range(EACH) if n not in (0, 3)]
    assert server.dlq("q.dlq")["depth"] == 2


def test_beyond_the_limit_successors_follow_their_head_unattempted(serve, handler):
    limit, more = 5, scaled(1000, least=50)
    ledger = Ledger({"k0-0": [400]})
    worker = handler(ledger)
    server = serve(queue(worker, blocked_limit=limit))
    server.push_many("q", [{"body": {}, "id": f"k0-{n}", "key": "k0"}
                           for n in range(1 + limit + more)])
    eventually(lambda: server.dlq("q.dlq")["depth"] == 1 + more, "what is beyond the limit is dead")
    blocked = server.letters("q.dlq", cause="blocked")
    assert len(blocked) == more
    assert all(letter["attempts"] == 0 for letter in blocked)
    assert {number_of(letter["message"]["id"]) for letter in blocked} == \
        set(range(1 + limit, 1 + limit + more))
    assert server.queue("q")["depth"] == limit
    assert worker.count() == 1


def test_a_kill_breaks_no_order(serve, handler):
    ledger = Ledger({f"k{key}-{n}": [503] for key in range(0, KEYS, 3) for n in range(0, EACH, 4)})
    worker = handler(ledger)
    server = serve(queue(worker))
    push_all(server)
    for share in (0.2, 0.5, 0.8):
        eventually(lambda: sum(map(len, ledger.done.values())) >= share * KEYS * EACH,
                   "some were handled")
        ledger.kills(server, worker)
    server.drained("q")
    for key in (f"k{n}" for n in range(KEYS)):
        firsts = list(dict.fromkeys(ledger.done[key]))  # a kill may repeat one
        assert firsts == list(range(EACH)), (key, ledger.done[key])
        repeated = [b for a, b in zip(ledger.done[key], ledger.done[key][1:]) if b < a]
        assert repeated == [], (key, ledger.done[key])


def test_replayed_letters_of_a_key_go_in_their_order_and_open_it(serve, handler):
    limit, more = 3, 6
    broken = threading.Event()
    broken.set()
    ledger = Ledger({})
    worker = handler(lambda call: 400 if broken.is_set() and call.id == "k0-0" else ledger(call))
    server = serve(queue(worker, blocked_limit=limit))
    total = 1 + limit + more
    server.push_many("q", [{"body": {}, "id": f"k0-{n}", "key": "k0"} for n in range(total)])
    eventually(lambda: server.dlq("q.dlq")["depth"] == 1 + more, "head and followers are dead")
    broken.clear()
    answer = server.post("/v1/replays", {"filter": {"dlq": "q.dlq"}, "dry_run": False})
    assert answer.status in (200, 201, 202), answer.body
    eventually(lambda: server.dlq("q.dlq")["depth"] == 0, "every letter is replayed")
    server.drained("q")
    assert ledger.done["k0"] == list(range(total))
    assert ledger.together == []
