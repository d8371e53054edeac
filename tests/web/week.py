"""A lot that has been open for a week, for pictures: letters of some sixty causes that died over seven days, an outage, a
model that went away, a replay that stopped itself. Its server's wall clock is set by hand (clocked.py), so that a week passes
in seconds and a picture that is taken again shows the same times."""
import contextlib
import datetime
import json
import time

import world
from clocked import Clock
from harness import Server, eventually
from pages import PAGES, a_letter

# How many hours before now something dies: now and then, and in each hour of the last day.
HOURS = [*range(164, 24, -5), *range(24, 0, -1)]
# (queue, kind, how many at which step and hour)
DEATHS = [
    ("orders", "pin", lambda step, hour: 1 + step % 4 if step % 2 == 0 else 0),
    ("orders", "bug", lambda step, hour: 2 if step % 7 == 3 else 0),
    ("orders", "busy", lambda step, hour: {69: 14, 64: 22, 59: 6, 16: 5}.get(hour, 0)),
    ("payments", "card", lambda step, hour: 1 + step % 3 if step % 3 == 1 else 0),
    ("prompts", "policy", lambda step, hour: 2 if step % 6 == 5 else 0),
    ("prompts", "model", lambda step, hour: {9: 3, 8: 9, 7: 16, 6: 24, 5: 19, 4: 8}.get(hour, 0)),
]
# Not long ago, one kind after the other, so that lists show them in the same order every time.
LAST = [("orders", "pin", 6), ("orders", "stock", 5), ("payments", "card", 3), ("prompts", "model", 7), ("prompts", "policy", 2)]
THINGS = ["price", "coupon", "address", "invoice", "parcel", "refund", "voucher", "tariff", "stock", "basket", "customer",
          "receipt", "carrier"]
# What a worker of somebody else's reports of a thing: (error type, error message)
TROUBLES = [("ValidationError", "the {thing} has no country"), ("TypeError", "the {thing} is None"),
            ("{Thing}Missing", "no {thing} for order {n}"), ("ParseError", "the {thing} ends in the middle of a line")]
# Waits of a letter that was tried for long: they are longer than a test is.
DELAYS_MS = [1_200, 7_900, 62_000, 418_000]
LATE_TRACE = """Traceback (most recent call last):
  File "/usr/lib/python3/dist-packages/worker/loop.py", line 88, in run
    handle(message)
  File "/srv/shop/tax.py", line 17, in rate_of
    return office.ask(order["pin"])
  File "/srv/shop/office.py", line 63, in ask
    raise GatewayTimeout("the tax office did not answer within 10 s")
GatewayTimeout: the tax office did not answer within 10 s"""


def text_of(at):
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"


class WeekServer(Server):
    """A server whose wall clock is set from here; `now` is when its week is over."""

    def __init__(self, folder, shop, now):
        # A week in seconds is a flood or none, as fast as the machine is: the guard is off.
        super().__init__(folder, {name: {**queue, "flood": {"then": "off"}}
                                  for name, queue in world.queues(shop).items()})
        self.shop, self.now, self.clock = shop, now, Clock(self.folder)
        self.under = self.clock.under

    def ago(self, **span):
        """And half a minute more: how many minutes old something is does not hang on how long it takes."""
        return self.now - datetime.timedelta(**span) - datetime.timedelta(seconds=30)

    def at(self, moment):
        self.clock.ahead(moment.timestamp() - time.time())

    def settled(self, *queues):
        """What died is counted at the time that it is."""
        for name in queues:
            self.drained(name)
        self.get("/v1/arrivals", window="1h")

    def told(self, alert, *states):
        """Alerts are looked at every now and then, and last from then on."""
        eventually(lambda: any(one["alert"] == alert and one["state"] in states for one in self.get("/v1/alerts").json["alerts"]),
                   lambda: f"{alert} is {states}: {self.get('/v1/alerts').body}")


def pass_the_week(server):
    for step, hour in enumerate(HOURS):
        server.at(server.ago(hours=hour))
        for queue, kind, count in DEATHS:
            if count(step, hour):
                world.push(server, queue, kind, count(step, hour), start=1000 + 100 * step)
        thing = THINGS[step % len(THINGS)]
        error_type, message = (text.format(thing=thing, Thing=thing.title(), n=1000 + step) for text in TROUBLES[step // len(THINGS)])
        world.report(server, f"report-{thing}-{step}", error_type, message, payload={"n": step, thing: None})
        server.settled("orders", "payments", "prompts")


def bring_one_that_was_tried_for_long(server):
    """From another lot: what an import brings has its own times."""
    exported = server.post("/v1/exports", {"filter": {"error_type": "Overloaded"}, "compress": "none"})
    assert exported.status == 200, exported.body
    letter = json.loads(exported.body.splitlines()[0])
    first, last = letter["history"][0], letter["history"][-1]
    at, history = server.ago(hours=3), []
    for number, delay in enumerate([*DELAYS_MS, None], 1):
        history.append({**(first if delay else last), "attempt": number, "at": text_of(at), "duration_ms": 10_000 + 7 * number,
                        "error_type": "GatewayTimeout", "error_message": "the tax office did not answer within 10 s",
                        **({"delay_ms": delay} if delay else {})})
        at += datetime.timedelta(milliseconds=10_000 + (delay or 0))
    letter.update(id=f"{letter['id'][:-12]}0123456789ab", attempts=len(history), max_attempts=len(history), history=history,
                  created_at=text_of(server.ago(hours=3, seconds=1)), first_failure_at=text_of(server.ago(hours=3)),
                  last_failure_at=text_of(at), dead_at=text_of(at))
    letter["message"]["id"] = "orders-late-7"
    letter["failure"].update(status=504, error_type="GatewayTimeout", error_message="the tax office did not answer within 10 s",
                             stack_trace=LATE_TRACE, fingerprint="5b1c6f0e92d47a38")
    answer = server.post("/v1/imports", json.dumps(letter), {"Content-Type": "application/x-ndjson", "Impound-Actor": "ada"})
    assert answer.status == 200 and answer.json["imported"] == 1, answer.body


def replay_too_early(server):
    answer = server.post("/v1/replays", {"filter": {"error_type": "ModelNotFound"}, "why": "the new model is there",
                                         "dry_run": False}, {"Impound-Actor": "ada"})
    assert answer.status == 200, answer.body
    eventually(lambda: server.get(f"/v1/replays/{answer.json['id']}").json["state"] == "aborted", "the replay stops itself")


@contextlib.contextmanager
def passed(folder, now):
    """A server at the end of its week, when what has to be told has been told."""
    shop = world.Shop()
    server = WeekServer(folder, shop, now)
    server.at(server.ago(days=7))
    server.start()
    pass_the_week(server)
    server.at(server.ago(minutes=50))
    bring_one_that_was_tried_for_long(server)
    server.at(server.ago(minutes=40))
    for queue, kind, count in LAST:
        world.push(server, queue, kind, count)
        server.drained(queue)
    for n in range(3):
        world.report_bug(server, n)
    server.settled("orders", "payments", "prompts")
    server.told("DLQDepthHigh", "pending", "firing")
    server.at(server.ago(minutes=10))
    replay_too_early(server)
    for alert in ("ReplayAborted", "DLQDepthHigh", "DLQStaleMessages"):
        server.told(alert, "firing")
    server.at(now)
    yield server
    server.stop()
    shop.handler.close()


# The pages that look different after a week.
WEEK_PAGES = {
    **PAGES,
    "overview": ("overview?window=7d", "Dead-letter queues"),
    "letter": (lambda server: f"letters/{a_letter(server, error_type='GatewayTimeout')['id']}", "What happened"),
    "replays": ("replays", "aborted"),
    "replay": (lambda server: f"replays/{server.get('/v1/replays').json['replays'][0]['id']}", "What was not sent is untouched"),
}
