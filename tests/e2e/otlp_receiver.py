"""A receiver of OTLP over HTTP, built from the official protobuf definitions: what it cannot parse is a failure."""
import collections
import http.server
import importlib
import sys
import threading

from brokers import parts
from harness import eventually

CONTENT_TYPE = "application/x-protobuf"


def messages():
    """The official definitions of the trace service's messages."""
    for name in ("protobuf", "opentelemetry-proto"):
        folder = parts(name)
        if folder not in sys.path:
            sys.path.insert(0, folder)
    return importlib.import_module("opentelemetry.proto.collector.trace.v1.trace_service_pb2")


def plain(value):
    return getattr(value, value.WhichOneof("value"))


def pairs(attributes):
    found = {each.key: plain(each.value) for each in attributes}
    assert len(found) == len(attributes), "each attribute stands once"
    return found


Link = collections.namedtuple("Link", "trace_id span_id trace_state")


class Span:
    """One span with its ids as hex, its attributes as a dict, and what stood around it in the request."""

    def __init__(self, span, resource, scope):
        assert len(span.trace_id) == 16 and len(span.span_id) == 8 and len(span.parent_span_id) in (0, 8)
        assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
        self.trace_id, self.span_id = span.trace_id.hex(), span.span_id.hex()
        self.parent_id, self.trace_state = span.parent_span_id.hex(), span.trace_state
        self.name, self.kind, self.flags = span.name, span.SpanKind.Name(span.kind), span.flags
        self.start_s, self.end_s = span.start_time_unix_nano / 1e9, span.end_time_unix_nano / 1e9
        self.attributes = pairs(span.attributes)
        self.links = [Link(link.trace_id.hex(), link.span_id.hex(), link.trace_state) for link in span.links]
        self.failed, self.trouble = span.status.code == span.status.STATUS_CODE_ERROR, span.status.message
        self.resource, self.scope = resource, scope

    def __getitem__(self, attribute):
        return self.attributes[attribute]

    @property
    def operation(self):
        return self["messaging.operation.name"]

    def __repr__(self):
        return f"<{self.name} {self.trace_id}/{self.span_id} below {self.parent_id or 'nothing'} {self.attributes}>"


class Receiver:
    """`answer(request number, spans)` gives a status, or (status, headers, response message)."""

    def __init__(self, answer=lambda number, spans: 200, port=0):
        self.proto = messages()
        self.answer = answer
        self.lock = threading.Lock()
        self.spans = []  # of the requests that were answered with 200
        self.requests = []  # (path, headers) of all of them
        self.troubles = []
        outer = self

        class Listener(http.server.ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, request, client_address):
                pass

        class Request(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, headers, message = outer.take(self.path, self.headers, body)
                text = message.SerializeToString()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", CONTENT_TYPE)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *args):
                pass

        self.server = Listener(("127.0.0.1", port), Request)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def read(self, body):
        request = self.proto.ExportTraceServiceRequest()
        request.ParseFromString(body)
        return [Span(span, pairs(of.resource.attributes), scoped.scope)
                for of in request.resource_spans for scoped in of.scope_spans for span in scoped.spans]

    def take(self, path, headers, body):
        try:
            assert headers["Content-Type"] == CONTENT_TYPE
            spans = self.read(body)
        except Exception as trouble:  # whoever waits for spans is told
            self.troubles.append(trouble)
            raise
        with self.lock:
            self.requests.append((path, headers))
            number = len(self.requests)
        said = self.answer(number, spans)
        status, more, message = said if isinstance(said, tuple) else (said, {}, self.proto.ExportTraceServiceResponse())
        if status == 200:
            with self.lock:
                self.spans += spans
        return status, more, message

    def partial(self, rejected, text):
        answer = self.proto.ExportTraceServiceResponse()
        answer.partial_success.rejected_spans = rejected
        answer.partial_success.error_message = text
        return 200, {}, answer

    def of(self, message_id, *operations):
        """The spans of a message, once they are these operations (in any order), in the order of their ends."""
        def whole():
            with self.lock:
                found = [span for span in self.spans if span["messaging.message.id"] == message_id]
            return found if sorted(span.operation for span in found) == sorted(operations) else None
        try:
            found = eventually(lambda: self.troubles or whole(), "")
            assert not self.troubles
        except AssertionError as never:
            raise AssertionError(f"not {operations} but {self.troubles or self.spans}") from never
        return sorted(found, key=lambda span: span.end_s)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
