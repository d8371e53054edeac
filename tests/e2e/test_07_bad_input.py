"""Whatever is sent, the answer is a clear problem document, and the server goes on as if nothing had
been: never a crash, never a partial write. What libmicrohttpd cannot parse it refuses by itself, in plain text."""
import gzip
import json
import random
import re
import signal
import socket
import threading

import pytest

from harness import Answer, PATIENCE_S, base64_of, eventually, problem

MIB = 1 << 20


@pytest.fixture
def server(serve, handler):
    """A paused queue, so that what was accepted can be counted, and one that runs."""
    worker = handler(lambda call: 400 if call.body == b'"bad"' else 200)
    queue = {"source": "builtin", "handler": {"http": worker.url}}
    server = serve({"orders": queue, "refunds": queue})
    assert server.post("/v1/queues/orders/pause").status == 200
    return server


def depth(server):
    return server.queue("orders")["depth"]


def push(server, text, **headers):
    return server.post("/v1/queues/orders/messages", text,
                       {"Content-Type": "application/json", **headers})


def push_lines(server, lines, queue="orders"):
    return server.post(f"/v1/queues/{queue}/messages", "\n".join(lines),
                       {"Content-Type": "application/x-ndjson"})


def test_what_is_not_a_push_object_is_refused_with_the_reason(server):
    refused = {
        "": "", "nonsense": "", '{"body": 1': "", '{"body": 1}}': "", '{"body": 01}': "",
        '{"body": "\\ud800"': "", b'{"body": "\xff"}': "",
        "[]": "object", '"text"': "object", "null": "object", "7": "object",
        "{}": "body", '{"key": "k"}': "body",
        '{"body": 1, "body_base64": "MQ=="}': "both",
        '{"body": 1, "keey": "k"}': 'did you mean "key"',
        '{"body": 1, "priority": 9}': "priority",
        '{"body": 1, "body": 2}': "twice",
        '{"body": 1, "id": 7}': "id", '{"body": 1, "id": ["a"]}': "id",
        '{"body": 1, "key": {}}': "key", '{"body": 1, "key": 3}': "key",
        '{"body": 1, "headers": []}': "headers", '{"body": 1, "headers": {"a": 1}}': "headers",
        '{"body": 1, "headers": {"a b": "c"}}': "headers",
        '{"body": 1, "headers": {"a": "b\\r\\nEvil: 1"}}': "headers",
        '{"body": 1, "delay": "soon"}': "delay", '{"body": 1, "delay": -1}': "delay",
        '{"body": 1, "delay": "9999999d"}': "delay",
        '{"body_base64": "%%%"}': "base64", '{"body_base64": 1}': "body_base64",
        "[" * 100000: "", '{"body":' + "[" * 100000 + "]" * 100000 + "}": "",
    }
    for text, word in refused.items():
        problem(push(server, text), 400, word)
    assert depth(server) == 0
    assert server.push("orders", {"fine": True})
    assert depth(server) == 1


def test_another_content_type_is_refused(server):
    problem(push(server, '{"body": 1}', **{"Content-Type": "text/plain"}), 415, "application/json")
    assert depth(server) == 0


def test_a_body_that_is_compressed_is_told_so(server):
    packed = gzip.compress(b'{"body": 1}')
    problem(push(server, packed, **{"Content-Encoding": "gzip"}), 415, "Content-Encoding", "gzip")
    assert push(server, '{"body": 1}', **{"Content-Encoding": "identity"}).status == 200
    assert depth(server) == 1


def test_what_curl_sends_unasked_is_read_as_json_but_not_from_another_site(server):
    unasked = {"Content-Type": "application/x-www-form-urlencoded"}
    problem(push(server, "a=b", **unasked), 400, "not JSON")
    problem(push(server, '{"body": 1}', **unasked, Origin="http://elsewhere.example"), 403, "Origin")
    assert depth(server) == 0
    assert push(server, '{"body": 1}', **unasked).status == 200
    assert server.post("/v1/queues/orders/pause", "", unasked).status == 200
    assert depth(server) == 1


def test_an_id_is_1_to_255_bytes_of_printable_text(server):
    for bad in ("", "x" * 256, "é" * 128, "a\nb", "a\x00b", "a\x7fb", "a\x1bb", "a\x85b"):
        problem(push(server, json.dumps({"body": 1, "id": bad})), 400, "id")
    for lone in (r"\ud800", r"a\udfff", r"\ud800\u0041", r"\udc00\ud800"):
        problem(push(server, f'{{"body": 1, "id": "{lone}"}}'), 400, "id", "half a character")
    assert depth(server) == 0
    assert push(server, r'{"body": 1, "id": "\ufffd"}').json["ids"] == ["\ufffd"]
    assert push(server, r'{"body": 1, "id": "\ud83d\ude97"}').json["ids"] == ["\U0001f697"]
    good = ("x", "x" * 255, "é" * 127, "a/b c?d%2f#é", "..", " ")
    for one in good:
        assert server.push("orders", 1, id=one) == one
        assert server.message(one)["message"]["id"] == one
    assert depth(server) == 2 + len(good)


def test_a_body_beyond_max_body_is_413_with_a_length_and_chunked(server):
    announced = push(server, b'{"body": "' + b"x" * (100 * MIB) + b'"}')
    problem(announced, 413, "max_body")

    def chunks():
        yield b'{"body": "'
        for _ in range(100):
            yield b"x" * MIB
        yield b'"}'

    chunked = push(server, chunks())  # http.client sends what can be iterated in chunks
    problem(chunked, 413, "max_body")
    assert depth(server) == 0
    fitting = "x" * (4 * MIB - 100)
    assert server.push("orders", fitting)
    assert depth(server) == 1


def test_an_unknown_queue_is_404_with_a_hint(server):
    path = "/v1/queues/oders/messages"
    problem(server.post(path, {"body": 1}), 404, 'did you mean "orders"')
    problem(server.get("/v1/queues/oders"), 404, 'did you mean "orders"')
    problem(server.get("/v1/dlqs/order.dlq"), 404, 'did you mean "orders.dlq"')
    problem(server.post("/v1/queues/zzzzzz/messages", {"body": 1}), 404, "/v1/queues")
    problem(server.post("/v1/queues/zzzzzz/pause"), 404)
    problem(server.get("/v1/messages/no-such"), 404, "no-such")
    problem(server.get("/v1/letters/no-such/explain"), 404)


def test_a_bad_ndjson_line_refuses_the_whole_request_and_is_named(server):
    lines = [json.dumps({"id": f"m-{n}", "body": n}) for n in range(1, 101)]
    for bad in ('{"body": 57', '{"no": "body"}', '{"body": 1, "id": ""}', "[1]"):
        lines[56] = bad
        assert problem(push_lines(server, lines), 400, "line 57")["line"] == 57
        assert depth(server) == 0
    assert server.message("m-1") is None and server.message("m-100") is None


def test_duplicate_ids_are_listed_and_change_nothing(server):
    assert push_lines(server, ['{"id": "a", "body": {"n": 1.0}, "key": "k1"}']).json["ids"] == ["a"]
    again = push(server, '{"id": "a", "body": {"n": 1.0}, "key": "k2"}')
    assert again.status == 200 and again.json == {"ids": ["a"], "duplicates": ["a"]}
    assert server.message("a")["message"]["key"] == "k1"
    batch = push_lines(server, ['{"id": "b", "body": 2}', '{"id": "a", "body": {"n": 1.0}}',
                                '{"id": "c", "body": 3}', '{"id": "b", "body": 2}'])
    assert batch.json["ids"] == ["b", "a", "c", "b"]
    assert sorted(batch.json["duplicates"]) == ["a", "b"]
    assert depth(server) == 3


@pytest.mark.parametrize("verb, state", [("resolve", "resolved"), ("discard", "discarded")])
def test_an_id_that_only_a_decided_letter_has_is_free(server, verb, state):
    server.push("refunds", "bad", id="again")
    server.drained("refunds")
    first = server.message("again")
    assert server.post(f"/v1/letters/{first['id']}/{verb}", {"why": "done by hand"}).status == 200
    pushed = server.post("/v1/queues/refunds/messages", '{"id": "again", "body": "bad"}')
    assert pushed.json == {"ids": ["again"], "duplicates": []}
    server.drained("refunds")
    second = server.message("again")
    assert second["state"] == "pending_review" and second["id"] != first["id"]
    server.kill()
    server.start()
    assert server.message("again")["id"] == second["id"]
    assert server.message(first["id"])["state"] == state
    pushed = server.post("/v1/queues/refunds/messages", '{"id": "again", "body": "bad"}')
    assert pushed.json["duplicates"] == ["again"]
    assert server.post(f"/v1/letters/{second['id']}/{verb}", {"why": "done by hand"}).status == 200
    assert server.post("/v1/queues/refunds/messages", '{"id": "again", "body": "other"}').json["duplicates"] == []


def test_an_id_that_is_held_as_a_dead_letter_is_a_duplicate(server):
    server.push("refunds", "bad", id="dead")
    server.drained("refunds")
    letter = server.message("dead")
    assert letter["state"] == "pending_review"
    again = server.post("/v1/queues/refunds/messages", '{"id": "dead", "body": "bad"}')
    assert again.json["duplicates"] == ["dead"]
    problem(server.post("/v1/queues/refunds/messages", '{"id": "dead", "body": "other"}'), 409, "dead")
    server.drained("refunds")
    assert server.message("dead") == letter
    server.kill()
    server.start()
    again = server.post("/v1/queues/refunds/messages", '{"id": "dead", "body": "bad"}')
    assert again.json["duplicates"] == ["dead"]
    assert server.dlq("refunds.dlq")["depth"] == 1


def test_the_same_id_with_another_body_is_a_conflict_and_a_batch_is_refused_whole(server):
    server.push("orders", {"n": 1}, id="a")
    problem(push(server, '{"id": "a", "body": {"n": 2}}'), 409, '"a"')
    # Bytes count, not meaning.
    problem(push(server, '{"id": "a", "body": {"n":1}}'), 409, '"a"')
    lines = [json.dumps({"id": f"m-{n}", "body": n}) for n in range(1, 10)]
    lines[6] = '{"id": "a", "body": {"n": 3}}'
    assert problem(push_lines(server, lines), 409, "line 7", '"a"')["line"] == 7
    inside = ['{"id": "x", "body": 1}', '{"id": "y", "body": 1}', '{"id": "x", "body": 2}']
    assert problem(push_lines(server, inside), 409, "line 3", '"x"')["line"] == 3
    assert depth(server) == 1
    assert server.message("a")["message"]["body"] == {"n": 1}
    # The same id is free in another queue.
    assert push_lines(server, ['{"id": "a", "body": "other"}'], queue="refunds").status == 200


def test_a_conflict_is_seen_among_pushes_that_are_under_way_together(server):
    """The id is reserved before the disk has it: of many at once, one body wins."""
    answers = []

    def send(n):
        answers.append(push(server, json.dumps({"id": "race", "body": n % 2})))

    threads = [threading.Thread(target=send, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.status for answer in answers} <= {200, 409}
    fresh = [a for a in answers if a.status == 200 and not a.json["duplicates"]]
    assert len(fresh) == 1
    assert depth(server) == 1


def test_header_bombs_are_refused_and_told_the_limit(server):
    start = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    many = "".join(f"X-{n}: {n}\r\n" for n in range(10000))
    arguments = "&".join(f"a{n}=b" for n in range(5000))
    for bomb, status, word in (
            (start + "X-Huge: " + "x" * (40 << 10) + "\r\n\r\n", 431, "32KiB"),
            (start + "".join(f"X-{n}: {n}\r\n" for n in range(300)) + "\r\n", 431, "256 header lines"),
            ("GET /" + "x" * (20 << 10) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 414, "16KiB")):
        problem(server.raw(bomb.encode())[0], status, word)
    for bomb, status in (  # beyond all memory for a head: libmicrohttpd's own answers
            (start + "X-Huge: " + "x" * (100 << 10) + "\r\n\r\n", 431),
            (start + "X-Huge: " + "x" * (2 * MIB) + "\r\n\r\n", 431),
            (start + many + "\r\n", 431),
            ("GET /" + "x" * (200 << 10) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 414)):
        assert server.raw(bomb.encode())[0].status == status
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as connection:
        connection.sendall(f"GET /v1/letters?{arguments} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert connection.recv(4096) == b""
    problem(push(server, json.dumps({"body": 1, "headers": {f"h{n}": "v" for n in range(10000)}})), 400,
            "headers")
    problem(push(server, json.dumps({"body": 1, "headers": {"h": "v" * MIB}})), 400, "headers")
    problem(server.get("/v1/letters?" + "&".join(f"a{n}=b" for n in range(100))), 400, "64 query parameters")
    assert server.get("/healthz").status == 200
    assert depth(server) == 0


def test_what_is_not_http_is_told_so(server):
    for rubbish, status in ((b"GET / HTTP/9.9\r\n\r\n", 505), (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
                            (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n", 400),
                            (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n", 400)):
        assert server.raw(rubbish)[0].status == status
    problem(server.raw(b"GET /healthz HTTP/1.1\r\n\r\n")[0], 400, "Host")
    assert server.get("/healthz").status == 200


def test_a_request_that_could_be_read_in_two_ways_is_refused_also_behind_another(server):
    start = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    push_start = "POST /v1/queues/orders/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n"
    for bad, word in ((start + "Host: evil.example\r\n\r\n", "Host"),
                      (start + "Origin: http://localhost\r\nOrigin: http://evil.example\r\n\r\n", "Origin"),
                      (start + "X: a\x01b\r\n\r\n", "header line"),
                      (push_start + 'Content-Length: 10\r\n\r\n{"body":1}', "Content-Length"),
                      (push_start + 'Transfer-Encoding: chunked\r\n\r\na\r\n{"body":1}\r\n0\r\n\r\n', "Transfer-Encoding")):
        first, second = server.raw((start + "\r\n" + bad).encode(), 2)
        assert first.status == 200
        problem(second, 400, word)
        assert second.headers["Connection"] == "close"
    assert depth(server) == 0


def test_half_a_request_holds_nobody_up(server):
    head = b"POST /v1/queues/orders/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    halves = [b"", b"PO", head[:40], head + b"Content-Length: 1000\r\n\r\n{\"body\": ",
              head + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{\"bo"]
    slow = []
    try:
        for n in range(200):
            connection = socket.create_connection(("127.0.0.1", server.port))
            connection.sendall(halves[n % len(halves)])
            slow.append(connection)
        for n in range(50):
            assert server.push("orders", {"n": n})
    finally:
        for connection in slow:
            connection.close()
    assert depth(server) == 50


@pytest.mark.parametrize("count", [255, 256, 257])
def test_any_number_of_requests_at_once_is_answered(server, count):
    """They come while the server stands still, so that it finds all of them ready: with libmicrohttpd's own threads
    128 in the hands of one were left there until the connections' time was over, which closed them."""
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    clients = [socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) for _ in range(count)]
    try:
        for standing_still in (False, True):
            if standing_still:
                server.process.send_signal(signal.SIGSTOP)
            for client in clients:
                client.sendall(request)
            server.process.send_signal(signal.SIGCONT)
            assert {client.recv(4096)[:15] for client in clients} == {b"HTTP/1.1 200 OK"}
    finally:
        for client in clients:
            client.close()


def test_garbage_is_survived(server):
    garbage = random.Random(7)
    for _ in range(100):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(garbage.randbytes(garbage.choice([1, 10, 1000, 5000])))
    for text in (b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET http:// HTTP/1.1\r\n\r\n",
                 b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                 b"POST /v1/queues/orders/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
                 b"POST /v1/queues/orders/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
                 b"Content-Length: 20\r\n\r\n{\"body\":1}",
                 b"POST /v1/queues/orders/messages HTTP/1.1\r\nHost: localhost\r\n"
                 b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n{\"body\":1}\r\n0\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(PATIENCE_S)  # a client that stays silent is given 30 s
            try:
                assert b" 200 " not in connection.recv(65536).split(b"\r\n")[0]
            except ConnectionResetError:
                pass
    assert depth(server) == 0
    assert server.get("/healthz").status == 200


def test_a_wrong_method_is_405_and_names_the_right_ones(server):
    for method, path, allowed in (("GET", "/v1/queues/orders/messages", {"POST"}),
                                  ("DELETE", "/v1/queues/orders", {"GET"}),
                                  ("POST", "/metrics", {"GET"}),
                                  ("PUT", "/v1/letters", {"GET"}),
                                  ("BREW", "/healthz", {"GET"})):
        answer = server.request(method, path)
        problem(answer, 405, method)
        assert allowed <= set(re.split(r",\s*", answer.headers["Allow"]))
    problem(server.get("/v1/nothing"), 404, "/openapi.json")
    problem(server.get("/v2/queues"), 404)


def test_every_path_says_which_methods_it_takes(server):
    """What /openapi.json has for a path, HEAD where there is GET, and OPTIONS, which asks for just that. A message may
    be called "discard": a path that is also another's with a name in it is answered as that one's, too."""
    paths = server.get("/openapi.json").json["paths"]
    for path, item in paths.items():
        takes = {method.upper() for method in item}
        takes |= {"OPTIONS"} | ({"HEAD"} if "GET" in takes else set())
        path = re.sub(r"\{[^}]*\}", "x", path)
        by_name = {method.upper() for other, its in paths.items() for method in its
                   if re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", other), path)}
        asked = server.request("OPTIONS", path)
        assert (asked.status, asked.body) == (204, b""), (path, asked.status, asked.body)
        assert set(asked.headers["Allow"].split(", ")) == takes, path
        for method in {"GET", "POST", "PATCH", "PUT", "DELETE", "BREW"} - takes - by_name:
            answer = server.request(method, path)
            problem(answer, 405, method)
            assert set(answer.headers["Allow"].split(", ")) == takes, (method, path)
    problem(server.request("OPTIONS", "/v1/nothing"), 404)
    assert server.get("/v1/queues").headers["Allow"] is None


def test_an_export_to_what_is_no_folder_is_refused(server):
    problem(server.post("/v1/exports", {"to": "h"}), 400, "file:FOLDER")
    problem(server.post("/v1/exports", {"to": "s3://bucket/prefix"}), 501, "only file:")


def test_a_foreign_host_or_origin_is_refused(server):
    body = {"body": 1}
    for headers in ({"Host": "evil.example"}, {"Host": f"evil.example:{server.port}"},
                    {"Origin": "http://evil.example"}, {"Origin": "null"},
                    {"Origin": f"http://localhost.evil.example:{server.port}"},
                    {"Host": f"localhost:{server.port}", "Origin": "http://localhost:1"}):
        problem(server.post("/v1/queues/orders/messages", body, headers), 403)
        problem(server.request("GET", "/v1/queues", headers=headers), 403)
    assert depth(server) == 0
    for headers in ({"Host": f"localhost:{server.port}"}, {"Host": f"[::1]:{server.port}"},
                    {"Host": f"127.0.0.1:{server.port}", "Origin": f"http://127.0.0.1:{server.port}"}):
        assert server.post("/v1/queues/orders/messages", body, headers).status == 200


def test_paths_do_not_escape(server):
    for path in ("/../etc/passwd", "/v1/../../etc/passwd", "//etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
                 "/v1/queues/..%2f..%2fetc/passwd", "/v1/dlqs/..%2F..%2Fetc%2Fpasswd", "/v1//queues",
                 "/v1/queues/orders/", "/v1/queues/%00", "/v1/letters/%00/explain"):
        answer = server.get(path)
        problem(answer, answer.status)
        assert answer.status in (400, 404), (path, answer.body)
    problem(server.get("/v1/queues/%zz"), 400, "percent")
    problem(server.get("/v1/letters?reason=%zz"), 400)


def test_head_is_get_without_a_body(server):
    for path in ("/healthz", "/v1/queues", "/metrics"):
        answer = server.request("HEAD", path)
        assert answer.status == 200 and answer.body == b""
    assert server.request("HEAD", "/v1/nothing").status == 404


def test_pipelined_requests_are_answered_in_order(server):
    one = '{"id": "%s", "body": 1}'
    requests = b"".join(
        f"POST /v1/queues/orders/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(one % f'p-{n}')}\r\n\r\n{one % f'p-{n}'}".encode() for n in range(20))
    answers = server.raw(requests, 20)
    assert [answer.json["ids"] for answer in answers] == [[f"p-{n}"] for n in range(20)]
    assert depth(server) == 20


def test_bad_filters_are_refused_and_say_which(server):
    for query, word in (("stat=queued", "did you mean \"state\""), ("state=pendig_review", "did you mean"),
                        ("cause=because", "cause"), ("limit=0", "limit"), ("limit=1001", "limit"),
                        ("limit=many", "limit"), ("since=yesterday", "since"), ("min_attempts=x", "min_attempts"),
                        ("fingerprint=zz", "fingerprint"), ("escalated=maybe", "escalated"),
                        ("cursor=nonsense", "cursor"), ("category=", "category"), ("where=.%5B", "where")):
        problem(server.get(f"/v1/letters?{query}"), 400, word)
    problem(server.get("/v1/stats?window=never"), 400, "window")


def test_after_all_of_it_the_server_holds_exactly_what_it_acknowledged(server):
    fuzz = random.Random(11)
    whole = json.dumps({"id": "seed", "body": {"a": [1, 2.50, None, "é"]}, "key": "k", "headers": {"h": "v"},
                        "delay": "1s"}, ensure_ascii=False).encode()
    acknowledged = set()
    for _ in range(500):
        text = bytearray(whole)
        for _ in range(fuzz.randint(1, 4)):
            text[fuzz.randrange(len(text))] = fuzz.randrange(256)
        answer = push(server, bytes(text))
        assert isinstance(answer, Answer) and answer.status in (200, 400, 409)
        if answer.status == 200:
            acknowledged |= set(answer.json["ids"])
        else:
            problem(answer, answer.status)
    assert depth(server) == len(acknowledged)
    server.kill()
    server.start()
    assert depth(server) == len(acknowledged)
    assert all(server.message(one) for one in acknowledged)
    assert server.post("/v1/queues/orders/messages", {"body_base64": base64_of(b"")}).status == 200
    eventually(lambda: depth(server) == len(acknowledged) + 1, "and takes more")
