"""What happens to messages, in people's traces and logs."""
import glob
import json
import os
import re
import shutil
import subprocess
import threading
import time

import pytest

from brokers import Process, Redis
from harness import PATIENCE_S, ROOT, eventually, free_port, impound
from otlp_receiver import Receiver

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PRODUCER = "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{PRODUCER}-01"
HEADERS = {"traceparent": PARENT, "tracestate": "shop=1,other=2"}


@pytest.fixture(autouse=True)
def built_in():
    if "otlp" not in impound("version").stdout:
        pytest.skip("a build without protobuf-c")


@pytest.fixture
def receiver():
    """receiver(answer, port) starts a receiver in this process."""
    receivers = []

    def start(*args, **more):
        receivers.append(Receiver(*args, **more))
        return receivers[-1]

    yield start
    for one in receivers:
        one.close()


def telling(receiver, **more):
    """The server's configuration that sends all spans there."""
    return {"server": {"telemetry": {"otlp": receiver.url, **more}}}


def queue_of(url, **more):
    return {"handler": {"http": url}, "retry": {"attempts": 2, "base": "1ms", "cap": "1ms"}, **more}


def seen(call):
    """(trace id, span id, flags) that a handler was given."""
    return re.fullmatch(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})", call.headers["traceparent"]).groups()


def counted(server, sent, dropped):
    """A receiver has its spans before the server has its answer."""
    def said():
        return (server.metric("impound_spans_sent_total"), server.metric("impound_spans_dropped_total"))
    eventually(lambda: said() == (sent, dropped), f"{sent} spans are sent, {dropped} dropped: {said()}")


def apart(spans):
    return {span.operation: span for span in spans}


def test_a_message_goes_on_with_its_producers_trace(serve, handler, receiver):
    work, traces = handler(), receiver()
    server = serve({"orders": queue_of(work.url)}, **telling(traces, headers={"x-key": "k1"}, service="shop"))
    before = time.time()
    server.push("orders", {"n": 1}, id="o-1", headers=HEADERS)
    spans = apart(traces.of("o-1", "process", "settle"))
    process, settle = spans["process"], spans["settle"]
    assert (process.trace_id, process.parent_id) == (TRACE, PRODUCER)
    assert (settle.trace_id, settle.parent_id) == (TRACE, process.span_id)
    assert seen(work.calls[0]) == (TRACE, process.span_id, "01")
    assert work.calls[0].headers["tracestate"] == process.trace_state == HEADERS["tracestate"]
    assert (process.name, process.kind, process.flags) == ("process orders", "SPAN_KIND_CONSUMER", 1)
    assert (settle.name, settle.kind) == ("settle orders", "SPAN_KIND_CLIENT")
    assert process.attributes == {
        "messaging.system": "impound", "messaging.destination.name": "orders", "messaging.message.id": "o-1",
        "messaging.operation.name": "process", "messaging.operation.type": "process",
        "messaging.message.body.size": len('{"n": 1}'), "impound.queue": "orders", "impound.attempt": 1,
        "impound.verdict": "ok", "http.response.status_code": 200}
    assert (settle["messaging.operation.type"], settle["impound.verdict"]) == ("settle", "ok")
    assert not process.failed and not settle.failed and not process.links
    # The engine's clock is read once a turn, in whole milliseconds.
    assert before - 0.1 <= process.start_s <= settle.end_s <= time.time() + 0.1
    assert process.resource["service.name"] == "shop" and process.resource["service.instance.id"]
    assert process.scope.name == "impound" and process.scope.version == process.resource["service.version"]
    path, headers = traces.requests[0]
    assert path == "/v1/traces" and headers["x-key"] == "k1"
    counted(server, 2, 0)


def test_each_attempt_is_a_span_and_a_death_says_why(serve, handler, receiver):
    work = handler(lambda call: 503 if call.attempt == 1 else (422, {}, b'{"error":{"type":"NoStock"}}'))
    traces = receiver()
    server = serve({"orders": queue_of(work.url)}, **telling(traces))
    server.push("orders", {"n": 1}, id="o-1", headers=HEADERS)
    spans = traces.of("o-1", "process", "settle", "process", "settle")
    attempts = [span for span in spans if span.operation == "process"]
    ends = [span for span in spans if span.operation == "settle"]
    attempts.sort(key=lambda span: span["impound.attempt"])
    assert [span["impound.attempt"] for span in attempts] == [1, 2]
    assert {span.trace_id for span in spans} == {TRACE} and {span.parent_id for span in attempts} == {PRODUCER}
    assert [seen(call)[1] for call in work.calls] == [span.span_id for span in attempts]
    first, last = attempts
    assert first.failed and (first["error.type"], first["http.response.status_code"]) == ("503", 503)
    assert first["impound.verdict"] == "retry" and "dlq.reason" not in first.attributes
    assert last.failed and (last["error.type"], last["impound.verdict"]) == ("NoStock", "dlq")
    assert last["dlq.reason"] == "bad_request" and last["impound.category"] == "validation"
    dead = next(span for span in ends if span["impound.verdict"] == "dlq")
    letter = server.letters("orders.dlq")[0]
    assert dead.parent_id == last.span_id
    assert (dead["dlq.reason"], dead["impound.dlq"], dead["impound.letter"]) == ("bad_request", "orders.dlq", letter["id"])
    assert letter["message"]["headers"]["traceparent"] == PARENT, "the letter has the message's own"


def replay(server, dlq="orders.dlq"):
    started = server.post("/v1/replays", {"filter": {"dlq": dlq}, "dry_run": False})
    assert started.status in (200, 201, 202), started.body


def test_a_replay_is_a_trace_of_its_own_that_links_to_the_old_one(serve, handler, receiver):
    broken = [True]
    work, traces = handler(lambda call: 400 if broken[0] else 200), receiver()
    server = serve({"orders": queue_of(work.url)}, **telling(traces))
    server.push("orders", {"n": 1}, id="o-1", headers=HEADERS)
    old = apart(traces.of("o-1", "process", "settle"))
    broken[0] = False
    replay(server)
    spans = traces.of("o-1", "process", "settle", "process", "settle", "replay")
    new = apart(span for span in spans if span.trace_id != TRACE)
    assert set(new) == {"process", "settle", "replay"} and len({span.trace_id for span in new.values()}) == 1
    again = new["replay"]
    assert not again.parent_id and new["process"].parent_id == again.span_id
    assert new["settle"].parent_id == new["process"].span_id
    assert [(link.trace_id, link.span_id) for link in again.links] == [
        (TRACE, PRODUCER), (TRACE, old["settle"].span_id)]
    assert again.links[0].trace_state == HEADERS["tracestate"]
    assert (again.name, again["impound.replay"], again["impound.verdict"]) == ("replay orders", 1, "ok")
    assert again["impound.replay.id"] == server.get("/v1/replays").json["replays"][0]["id"]
    # Ends are told by another clock than beginnings, both in whole milliseconds.
    assert again.start_s <= new["process"].start_s and new["process"].end_s <= again.end_s + 0.002
    assert seen(work.calls[-1]) == (again.trace_id, new["process"].span_id, "01")
    assert work.calls[-1].headers["tracestate"] is None


def test_a_message_without_a_trace_gets_one_that_lasts(serve, handler, receiver):
    broken = [True]
    work, traces = handler(lambda call: 503 if broken[0] else 200), receiver()
    server = serve({"orders": queue_of(work.url, retry={"attempts": 5, "base": "1s", "cap": "1s", "jitter": "none"})},
                   **telling(traces))
    server.push("orders", {"n": 1}, id="o-1")
    eventually(lambda: traces.spans, "the first attempt is told")
    server.kill()
    before = len(traces.spans)
    broken[0] = False
    server.start()
    eventually(lambda: "ok" in [span["impound.verdict"] for span in traces.spans[before:]], "the last one is told")
    assert len({span.trace_id for span in traces.spans}) == 1, "its next life goes on with it"
    assert not any(span.parent_id or span.links for span in traces.spans if span.operation == "process")
    assert {seen(call)[0] for call in work.calls} == {traces.spans[0].trace_id}


def test_who_is_not_recorded_is_passed_on_and_not_told(serve, handler, receiver):
    work, traces = handler(), receiver()
    server = serve({"orders": queue_of(work.url)}, **telling(traces, sample="0%"))
    server.push("orders", {"n": 1}, id="begins-here")
    server.push("orders", {"n": 2}, id="unsampled", headers={"traceparent": PARENT[:-2] + "00"})
    server.push("orders", {"n": 3}, id="sampled", headers=HEADERS)
    traces.of("sampled", "process", "settle")
    server.stop()
    assert {span["messaging.message.id"] for span in traces.spans} == {"sampled"}
    flags = {call.id: seen(call)[2] for call in work.calls}
    assert flags == {"begins-here": "00", "unsampled": "00", "sampled": "01"}
    assert seen(next(call for call in work.calls if call.id == "unsampled"))[0] == TRACE


SHOW_ENVIRONMENT = 'printf "%s %s" "$TRACEPARENT" "$TRACESTATE" > "$IMPOUND_MESSAGE_ID.seen"'
ECHO_HEADERS = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    with open(message["id"] + ".seen", "w") as out:
        out.write(" ".join(message["headers"].get(name, "") for name in ("traceparent", "tracestate")))
    print(json.dumps({"id": message["id"], "ok": True}), flush=True)
"""


@pytest.mark.parametrize("shape", [
    {"exec": ["sh", "-c", SHOW_ENVIRONMENT]},
    {"exec": ["python3", "-c", ECHO_HEADERS], "mode": "stream", "workers": 1},
], ids=["process", "stream"])
def test_a_program_sees_our_span(serve, receiver, shape):
    traces = receiver()
    server = serve({"orders": {"handler": shape}}, **telling(traces))
    server.push("orders", {"n": 1}, id="o-1", headers=HEADERS)
    process = apart(traces.of("o-1", "process", "settle"))["process"]
    with open(os.path.join(server.folder, "o-1.seen"), encoding="utf-8") as said:
        assert said.read() == f"00-{TRACE}-{process.span_id}-01 {HEADERS['tracestate']}"
    assert process.parent_id == PRODUCER


def test_of_a_batch_each_message_has_its_own_span(serve, handler, receiver):
    work, traces = handler(), receiver()
    server = serve({"orders": {"handler": {"http": work.url, "batch": 10}}}, **telling(traces))
    server.push_many("orders", [{"id": f"o-{n}", "body": n, "headers": HEADERS} for n in range(5)])
    given = {}
    for n in range(5):
        process = apart(traces.of(f"o-{n}", "process", "settle"))["process"]
        given[f"o-{n}"] = f"00-{TRACE}-{process.span_id}-01"
    assert len(set(given.values())) == 5
    items = [item for call in work.calls for item in json.loads(call.body)]
    assert {item["id"]: item["headers"]["traceparent"] for item in items} == given


def test_a_workers_span_survives_a_kill(serve, receiver):
    traces = receiver()
    server = serve({"orders": {"handler": "lease"}}, **telling(traces))
    server.push("orders", {"n": 1}, id="o-1", headers=HEADERS)
    leased = server.post("/v1/queues/orders/lease", {"max": 1, "wait_ms": 60000}).json["messages"][0]
    trace, span = leased["headers"]["traceparent"].split("-")[1:3]
    assert trace == TRACE and leased["headers"]["tracestate"] == HEADERS["tracestate"]
    server.kill()
    server.start()
    assert server.post(f"/v1/leases/{leased['lease']}/ack").status == 200
    process = apart(traces.of("o-1", "process", "settle"))["process"]
    assert (process.span_id, process.parent_id) == (span, PRODUCER)


def test_a_brokers_message_says_where_it_came_from(serve, handler, receiver, tmp_path):
    if "redis" not in json.loads(impound("version", "--json").stdout)["sources"]:
        pytest.skip("a build without hiredis")
    client = pytest.importorskip("redis")
    work, traces, broker = handler(), receiver(), Redis(tmp_path / "redis")
    try:
        broker.start()
        serve({"orders": {**queue_of(work.url), "source": broker.url("stream=shop&group=pricing")}}, **telling(traces))
        entry = client.Redis(port=broker.port).xadd("shop", {"body": "{}", **HEADERS}).decode()
        process = apart(traces.of(entry, "process", "settle"))["process"]
    finally:
        broker.close()
    assert (process.trace_id, process.parent_id, process.name) == (TRACE, PRODUCER, "process orders")
    assert (process["messaging.system"], process["messaging.destination.name"]) == ("redis", "shop")
    assert (process["messaging.consumer.group.name"], process["impound.queue"]) == ("pricing", "orders")


def test_without_telemetry_headers_are_as_they_came(serve, handler):
    work = handler()
    server = serve({"orders": queue_of(work.url)})
    server.push("orders", {"n": 1}, headers=HEADERS)
    eventually(work.count, "it is handed over")
    assert {name: work.calls[0].headers[name] for name in HEADERS} == HEADERS


def test_a_receiver_that_comes_later_gets_what_waited(serve, handler, receiver):
    work, port = handler(), free_port()
    server = serve({"orders": queue_of(work.url)}, server={"telemetry": {"otlp": f"http://127.0.0.1:{port}/"}})
    server.push_many("orders", [{"id": f"o-{n}", "body": n} for n in range(20)])
    server.drained("orders")
    eventually(lambda: "cannot send spans, retrying" in server.log(), "the log tells of the trouble")
    traces = receiver(port=port)
    for n in range(20):
        traces.of(f"o-{n}", "process", "settle")
    eventually(lambda: "accepts spans again" in server.log(), "the log tells of its end")
    assert server.metric("impound_spans_dropped_total") == 0
    assert server.log().count("cannot send spans, retrying") == 1


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_receiver_is_asked_again(serve, handler, receiver, status):
    work = handler()
    traces = receiver(lambda number, spans: 200 if number > 2 else (
        status, {"Retry-After": "1"}, traces.proto.ExportTraceServiceResponse()))
    server = serve({"orders": queue_of(work.url)}, **telling(traces))
    server.push("orders", {"n": 1}, id="o-1")
    traces.of("o-1", "process", "settle")
    counted(server, 2, 0)


def test_what_a_receiver_refuses_is_counted(serve, handler, receiver):
    work = handler()
    answers = iter([lambda: traces.partial(1, "one is too old"), lambda: 200])  # the two spans may come apart

    def answer(_, spans):
        return 400 if spans[0]["messaging.message.id"] == "refused" else next(answers)()

    traces = receiver(answer)
    server = serve({"orders": queue_of(work.url)}, **telling(traces))
    server.push("orders", {"n": 1}, id="refused")
    counted(server, 0, 2)
    server.push("orders", {"n": 2}, id="partial")
    counted(server, 1, 3)
    assert "the receiver rejects spans" in server.log() and "one is too old" in server.log()


def test_a_receiver_that_hangs_costs_nothing_but_spans(serve, handler, receiver):
    """More spans than there is room for, while no request ends."""
    work, hanging = handler(), threading.Event()
    traces = receiver(lambda number, spans: 200 if hanging.wait(PATIENCE_S) else 503)
    server = serve({"orders": {"handler": {"http": work.url, "batch": 500}, "concurrency": 1000}}, **telling(traces))
    for part in range(5):
        server.push_many("orders", [{"body": n} for n in range(1000)])
    server.drained("orders")
    eventually(lambda: traces.requests, "the receiver is asked")
    assert not traces.spans, "and has not answered yet"
    counted(server, 0, 2 * 5000 - 8192)
    hanging.set()
    counted(server, 8192, 2 * 5000 - 8192)


def test_stopping_sends_what_is_left(serve, handler, receiver):
    work, traces = handler(), receiver()
    server = serve({"orders": queue_of(work.url)}, **telling(traces))
    server.push("orders", {"n": 1}, id="o-1")
    server.drained("orders")
    server.stop()
    assert {span.operation for span in traces.spans} == {"process", "settle"}


def test_the_environments_variables_are_honoured(serve, handler, receiver, monkeypatch):
    work, traces = handler(), receiver()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", traces.url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=k%201, x-other=2")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "shop")
    server = serve({"orders": queue_of(work.url)})
    server.push("orders", {"n": 1}, id="o-1")
    process = apart(traces.of("o-1", "process", "settle"))["process"]
    assert process.resource["service.name"] == "shop"
    assert (traces.requests[0][1]["x-key"], traces.requests[0][1]["x-other"]) == ("k 1", "2")
    shown = impound("check", "-c", server.config_path).stdout
    assert f'telemetry: {{otlp: "{traces.url}", service: shop, sample: 100%}}' in shown


def lines_of(server):
    """Every line of a log in JSON."""
    return [json.loads(line) for line in server.log().split("\n") if line]


def test_a_log_in_json_names_the_message_and_its_trace(serve, handler, receiver):
    work, traces = handler(lambda call: 400), receiver()
    server = serve({"orders": queue_of(work.url)},
                   server={"telemetry": {"otlp": traces.url}, "log": "json", "log_level": "debug"})
    server.push("orders", {"n": 1}, id="o-\u2028\"1", headers=HEADERS)
    spans = apart(traces.of("o-\u2028\"1", "process", "settle"))
    letter = server.letters("orders.dlq")[0]
    lines = lines_of(server)
    for line in lines:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])
        assert line["level"] in ("debug", "info", "warn", "error") and line["message"]
    dead = next(line for line in lines if line["message"].startswith("dead:"))
    assert dead == {"time": dead["time"], "level": "info", "queue": "orders", "message_id": "o-\u2028\"1",
                    "message": "dead: terminal, validation, bad_request, in orders.dlq", "letter": letter["id"],
                    "trace_id": TRACE, "span_id": spans["process"].span_id}
    assert any(line["level"] == "debug" and line.get("trace_id") == TRACE for line in lines)


def test_a_log_names_the_trace_that_a_message_came_with_though_nobody_traces(serve, handler):
    server = serve({"orders": queue_of(handler(lambda call: 400).url)}, server={"log": "json", "log_level": "debug"})
    server.push("orders", {"n": 1}, id="traced", headers=HEADERS)
    server.push("orders", {"n": 2}, id="untraced")
    server.drained("orders")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 2, "both died")
    about = {"traced": [], "untraced": []}
    for line in lines_of(server):
        if line.get("message_id") in about:
            about[line["message_id"]].append((line["message"].split(":")[0], line.get("trace_id"), line.get("span_id")))
    assert about == {"traced": [("an attempt ended", TRACE, PRODUCER), ("dead", TRACE, PRODUCER)],
                     "untraced": [("an attempt ended", None, None), ("dead", None, None)]}


def test_the_log_changes_its_form_with_a_reload(serve, handler):
    work = handler(lambda call: 400)
    queues = {"orders": queue_of(work.url)}
    server = serve(queues)
    server.push("orders", {"n": 1}, id="o-1")
    eventually(lambda: re.search(r" info  queue orders: message o-1: letter \S+: dead: terminal, validation, bad_request",
                                 server.log()), "a letter is told of in text")
    server.configure(queues, server={"log": "json"})
    before = len(server.log())
    server.reload()
    eventually(lambda: "is in force" in server.log()[before:], "the new form is in force")
    before = len(server.log())
    server.configure(queues, server={"log": "jsn"})
    server.reload()
    eventually(lambda: "stays as it is" in server.log()[before:], "a mistake is told")
    told = [json.loads(line)["message"] for line in server.log()[before:].split("\n") if line]
    assert any('log: expected text or json, got "jsn"' in line for line in told), "in the form that is in force"


def test_letters_do_not_drown_the_log(serve, handler):
    work = handler(lambda call: 400)
    server = serve({"orders": queue_of(work.url)}, server={"log": "json"})
    server.push_many("orders", [{"body": n} for n in range(300)])
    server.drained("orders")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 300, "all are dead")
    told = eventually(lambda: [line for line in lines_of(server) if line["message"].startswith("dead:")], "some are told of")
    assert len(told) < 300


def otelcol():
    """A real OpenTelemetry collector."""
    built = sorted(glob.glob(os.path.join(ROOT, "build-parts", "otelcol-*", "otelcol")))
    found = os.environ.get("OTELCOL") or shutil.which("otelcol") or (built[-1] if built else None)
    if not found:
        pytest.skip("NO OPENTELEMETRY COLLECTOR: tools/collector.sh builds one, or OTELCOL names one")
    return found


class Collector(Process):
    """It sends on what it takes."""

    def __init__(self, folder, to):
        super().__init__(folder)
        config = os.path.join(self.folder, "collector.yaml")
        with open(config, "w", encoding="utf-8") as out:
            json.dump({"receivers": {"otlp": {"protocols": {"http": {"endpoint": f"127.0.0.1:{self.port}"}}}},
                       "exporters": {"otlphttp": {"endpoint": to.url, "compression": "none"}},
                       "service": {"telemetry": {"metrics": {"level": "none"}},
                                   "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["otlphttp"]}}}}, out)
        self.launch([otelcol(), "--config", config])
        eventually(self.listens, "the collector listens")
        self.url = f"http://127.0.0.1:{self.port}"


def test_the_packaged_collectors_configuration_is_good():
    done = subprocess.run([otelcol(), "validate", "--config", os.path.join(ROOT, "packaging", "otel", "collector.yaml")],
                          capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr


def test_a_real_collector_takes_our_spans(serve, handler, receiver, tmp_path):
    broken = [True]
    work, traces = handler(lambda call: 400 if broken[0] else 200), receiver()
    collector = Collector(tmp_path / "collector", traces)
    try:
        server = serve({"orders": queue_of(work.url)}, **telling(collector))
        server.push("orders", {"n": 1}, id="o-1", headers=HEADERS)
        traces.of("o-1", "process", "settle")
        broken[0] = False
        replay(server)
        spans = traces.of("o-1", "process", "settle", "process", "settle", "replay")
        again = next(span for span in spans if span.operation == "replay")
        assert {link.trace_id for link in again.links} == {TRACE}
        counted(server, 5, 0)
    finally:
        collector.close()
