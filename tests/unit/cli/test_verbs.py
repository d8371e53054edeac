"""The verbs against a fake server: what they send, what they print, how they exit."""
import base64
import json
import os
import pty
import socket
import subprocess
import sys
import tempfile
import unittest

from fake_server import FakeServer, problem

IMPOUND = sys.argv.pop()

ENVELOPE = {
    "id": "0190-letter", "dlq": "orders.dlq", "state": "pending_review", "cause": "exhausted",
    "category": "timeout", "reason": "max_attempts:timeout",
    "message": {"id": "o-1", "queue": "orders", "key": "k1", "headers": {"tenant": "acme"},
                "content_type": "application/json", "body": {"order": 1, "items": ["a", "b"]},
                "content_hash": "sha256:00", "size": 30},
    "source": {"kind": "builtin"},
    "failure": {"kind": "exit", "status": None, "exit_code": 1, "error_type": "KeyError",
                "error_message": "'sku'\x1b[2J", "stack_trace": "File \"a.py\", line 3\n  x()",
                "fingerprint": "9f2c000000000000", "retry_after_ms": None},
    "attempts": 2, "max_attempts": 5, "crashes": 0, "replays": 0,
    "history": [{"attempt": 1, "at": "2026-11-15T04:49:41.123Z", "duration_ms": 12,
                 "verdict": "retry", "category": "timeout", "error_type": "KeyError",
                 "error_message": "'sku'", "delay_ms": 132, "counted": True, "replay": 0}],
    "created_at": "2026-11-15T04:49:41.000Z", "dead_at": "2026-11-15T04:50:41.000Z",
}
QUEUE = {"queue": "orders", "state": "halted", "why": "401 from the handler", "depth": 7,
         "in_flight": 1, "pending_retry": 2, "breaker": {"state": "open", "until": None},
         "budget": {"remaining_ratio": 0.833333}, "lag": 3,
         "rates": {"in_per_minute": 60, "ok_per_minute": 59, "failed_per_minute": 1}}
DLQ = {"dlq": "orders.dlq", "depth": 12, "cap": 100000, "spilled": 0, "arrivals_per_minute": 4,
       "oldest_age_seconds": 7200.5, "by_state": {"pending_review": 12}, "by_category": {"bug": 5}, "by_reason": {"missing_key": 5},
       "age_histogram": {"1m": 1}, "owner": "team-orders"}


class Verbs(unittest.TestCase):
    def setUp(self):
        self.server = FakeServer()
        self.addCleanup(self.server.close)

    def impound(self, *args, stdin=b"", env=None):
        return subprocess.run([IMPOUND, *args], input=stdin, capture_output=True, timeout=60,
                              env={"IMPOUND_URL": self.server.url, **(env or {})}, check=False)

    def answer(self, call, value, status=200):
        self.server.answers[call] = (status, value if isinstance(value, str) else json.dumps(value))

    def sent(self, index=-1):
        return json.loads(self.server.calls[index][2])

    def expect(self, run, code, *words):
        self.assertEqual(run.returncode, code, run)
        for word in words:
            self.assertIn(word, (run.stdout + run.stderr).decode())

    # ---- push ----

    def push(self, *args, **more):
        self.answer("POST /v1/queues/orders/messages", {"ids": ["m-1"], "duplicates": []})
        run = self.impound("push", "orders", *args, **more)
        self.expect(run, 0)
        return run

    def test_a_json_body_is_sent_with_its_exact_bytes(self):
        run = self.push('{"b":1.0, "a":12345678901234567890,"a":2}')
        self.assertIn(b'"body":{"b":1.0, "a":12345678901234567890,"a":2}', self.server.calls[0][2])
        self.assertEqual(self.server.calls[0][1], "application/json")
        self.assertEqual(run.stdout, b"m-1\n")

    def test_a_body_that_is_not_json_is_sent_as_text(self):
        self.push("hello, world")
        self.assertEqual(self.sent(), {"body_base64": base64.b64encode(b"hello, world").decode(),
                                       "content_type": "text/plain"})

    def test_a_content_type_of_ones_own_goes_with_raw_bytes(self):
        self.push("--content-type=text/csv", stdin=b"1,\xff\n")
        self.assertEqual(base64.b64decode(self.sent()["body_base64"]), b"1,\xff\n")
        self.assertEqual(self.sent()["content_type"], "text/csv")

    def test_all_options_of_a_push_reach_the_server(self):
        self.push("7", "--key", "k1", "--header", "a=b=c", "--header", "d=", "--id=x y",
                  "--delay", "5m")
        self.assertEqual(self.sent(), {"body": 7, "key": "k1", "id": "x y", "delay": "5m",
                                       "headers": {"a": "b=c", "d": ""}})

    def test_options_that_make_no_sense_are_a_matter_of_usage(self):
        for args in (["--header", "novalue"], ["--delay", "soon"], ["--ndjson", "-", "--key", "k"],
                     ["--kee", "k"], ["--key"], ["b", "c"]):
            self.expect(self.impound("push", "orders", *args, stdin=b"1"), 2, "usage: impound push")
        self.assertEqual(self.server.calls, [])

    def test_behind_two_dashes_nothing_is_an_option(self):
        self.push("--", "--help")
        self.assertEqual(base64.b64decode(self.sent()["body_base64"]), b"--help")

    # ---- push --ndjson ----

    def echo_ids(self, body):
        lines = [json.loads(line) for line in body.splitlines()]
        for number, line in enumerate(lines, 1):
            if line["body"] == "bad":
                return 400, problem(400, f"line {number}: it is bad", line=number)
        return 200, json.dumps({"ids": [f"m-{line['body']}" for line in lines], "duplicates": []})

    def push_lines(self, bodies, *args):
        self.server.answers["POST /v1/queues/orders/messages"] = self.echo_ids
        text = "".join(json.dumps({"body": body}) + "\n\n" for body in bodies)
        return self.impound("push", "orders", "--ndjson", "-", *args, stdin=text.encode())

    def test_many_lines_go_in_requests_of_bounded_size(self):
        run = self.push_lines(range(2500))
        self.expect(run, 0, "pushed 2500 messages")
        self.assertEqual([len(call[2].splitlines()) for call in self.server.calls],
                         [1000, 1000, 500])
        self.assertEqual(run.stdout.decode().splitlines()[:-1], [f"m-{i}" for i in range(2500)])

    def test_long_lines_make_requests_of_fewer(self):
        self.expect(self.push_lines([f"{i}" + "x" * 400_000 for i in range(5)]), 0, "pushed 5")
        self.assertTrue(all(len(call[2]) <= 1 << 20 for call in self.server.calls))

    def test_many_lines_give_one_json_document(self):
        run = self.push_lines(range(1500), "--json")
        self.assertEqual(json.loads(run.stdout),
                         {"ids": [f"m-{i}" for i in range(1500)], "duplicates": []})

    def test_the_line_that_is_refused_is_named_by_its_place_in_the_file(self):
        # Every second line is blank, so message 1100 stands on line 2201.
        run = self.push_lines([*range(1100), "bad", *range(10)])
        self.expect(run, 1, "line 2201: it is bad", "Pushed before: 1000")

    def test_a_first_request_that_is_refused_has_stored_nothing(self):
        run = self.push_lines([1, "bad", 2])
        self.expect(run, 1, "line 3: it is bad\nNothing is stored.\n")

    def test_lines_without_an_answer_are_not_said_to_be_lost(self):
        self.server.answers["POST /v1/queues/orders/messages"] = (
            lambda body: self.echo_ids(body) if len(self.server.calls) == 1 else None)
        text = "".join(json.dumps({"body": i}) + "\n" for i in range(1200))
        run = self.impound("push", "orders", "--ndjson", "-", stdin=text.encode())
        self.expect(run, 3, "Pushed before: 1000", "Lines 1001 to 1200 may or may not be stored")
        self.assertEqual(len(self.server.calls), 2, "a push without an answer is not sent again")

    def test_a_file_is_pushed_by_name_and_must_be_there(self):
        self.server.answers["POST /v1/queues/orders/messages"] = self.echo_ids
        with tempfile.NamedTemporaryFile("w", suffix=".ndjson") as file:
            file.write('{"body":1}\n{"body":2}')
            file.flush()
            self.expect(self.impound("push", "orders", "--ndjson", file.name), 0, "pushed 2")
        self.expect(self.impound("push", "orders", "--ndjson", file.name), 1, file.name)

    # ---- lists ----

    def test_queues_are_a_table_and_one_is_a_story(self):
        self.answer("GET /v1/queues", {"queues": [QUEUE], "cursor": None})
        self.answer("GET /v1/queues/orders", QUEUE)
        run = self.impound("queues")
        self.expect(run, 0, "QUEUE", "halted", "401 from the handler")
        self.assertEqual(len(run.stdout.splitlines()), 2)
        self.expect(self.impound("queues", "orders"), 0, "queue orders", "401 from the handler",
                    "budget left      83%\n")

    def test_dlqs_are_a_table_and_one_is_a_story(self):
        self.answer("GET /v1/dlqs", {"dlqs": [DLQ], "cursor": None})
        self.answer("GET /v1/dlqs/orders.dlq", DLQ)
        self.expect(self.impound("dlqs"), 0, "orders.dlq", "2h", "team-orders")
        self.expect(self.impound("dlqs", "orders.dlq"), 0, "by reason", "missing_key")

    def test_ls_sends_every_filter_under_its_name_in_the_api(self):
        call = ("GET /v1/dlqs/orders.dlq/letters?state=resolved&category=bug&reason=max%3A&cause="
                "crash&error_type=KeyError&fingerprint=9f&since=6h&until=1h&min_attempts=2&key=k%201"
                "&escalated=true&q=a%26b&where=.x%20%3E%201&limit=5&cursor=c")
        self.answer(call, {"letters": [ENVELOPE], "cursor": None})
        self.expect(self.impound(
            "ls", "orders.dlq", "--state", "resolved", "--category=bug", "--reason", "max:",
            "--cause", "crash", "--error-type", "KeyError", "--fingerprint", "9f", "--since", "6h",
            "--until", "1h", "--min-attempts", "2", "--key", "k 1", "--escalated", "true",
            "--q", "a&b", "--where", ".x > 1", "--limit", "5", "--cursor", "c"), 0, "0190-letter")

    def test_ls_of_a_queue_shows_its_messages(self):
        self.answer("GET /v1/messages?queue=orders", {"messages": [ENVELOPE], "cursor": None})
        self.expect(self.impound("ls", "--queue", "orders"), 0, "o-1", "KeyError")

    def test_ls_says_when_there_is_more_and_all_follows_the_cursors(self):
        def page(name, cursor):
            return {"letters": [{**ENVELOPE, "id": name}], "cursor": cursor}
        self.answer("GET /v1/letters", page("l-1", "c/1"))
        self.answer("GET /v1/letters?limit=1000", page("l-1", "c/1"))
        self.answer("GET /v1/letters?limit=1000&cursor=c%2F1", page("l-2", "c2"))
        self.answer("GET /v1/letters?limit=1000&cursor=c2", page("l-3", None))
        self.expect(self.impound("ls"), 0, "There are more")
        run = self.impound("ls", "--all")
        self.assertEqual([line.split()[0] for line in run.stdout.decode().splitlines()],
                         ["ID", "l-1", "l-2", "l-3"])
        document = json.loads(self.impound("ls", "--all", "--json").stdout)
        self.assertEqual([row["id"] for row in document["letters"]], ["l-1", "l-2", "l-3"])

    # ---- one ----

    def test_show_tells_the_story_of_a_letter(self):
        self.answer("GET /v1/messages/o-1?queue=orders", ENVELOPE)
        self.expect(self.impound("show", "o-1", "--queue=orders"), 0, "letter 0190-letter",
                    "exhausted", "failure KeyError", '    File "a.py", line 3\n      x()', "132ms",
                    "tenant", '"order": 1')

    def test_no_message_can_play_with_the_terminal(self):
        self.answer("GET /v1/messages/o-1", ENVELOPE)
        self.answer("GET /v1/letters", {"letters": [ENVELOPE], "cursor": None})
        for args in (["show", "o-1"], ["ls"]):
            run = self.impound(*args)
            self.expect(run, 0, "\\x1b[2J")
            self.assertNotIn(b"\x1b", run.stdout)

    def test_explain_prints_the_summary_first(self):
        self.answer("GET /v1/letters/o%2F1/explain", {
            "id": "o/1", "state": "pending_review", "summary": "All 5 attempts failed.",
            "steps": [{"attempt": 1, "at": "2026-11-15T04:49:41.123Z", "what": "attempt 1 failed"}],
            "rule": {"name": "orders.rules[1]", "verdict": "retry", "when": {"status": 503}},
            "limits": {"attempts": 5}})
        run = self.impound("explain", "o/1")
        self.expect(run, 0, "attempt 1 failed", "orders.rules[1]", '{"status": 503}')
        self.assertTrue(run.stdout.startswith(b"All 5 attempts failed.\n"))

    def test_pause_and_resume_say_how_the_queue_is_then(self):
        self.answer("POST /v1/queues/orders/pause", {**QUEUE, "state": "paused", "why": "a move"})
        self.answer("POST /v1/queues/orders/resume", {**QUEUE, "state": "running", "why": None})
        run = self.impound("pause", "orders", "--why", "a move")
        self.assertEqual((run.stdout, self.sent()), (b"orders is paused: a move\n",
                                                     {"why": "a move"}))
        self.assertEqual(self.impound("resume", "orders").stdout, b"orders is running\n")

    def test_stats_shows_queues_dlqs_and_totals(self):
        self.answer("GET /v1/stats?window=1m", {
            "queues": [QUEUE], "dlqs": [DLQ], "totals": {"depth": 7, "attempts": {"ok": 59}}})
        self.expect(self.impound("stats", "--window", "1m"), 0, "orders.dlq", "halted", "totals")

    # ---- every verb ----

    def test_json_is_the_servers_answer_as_it_is(self):
        text = '{"queues": [ {"depth":1.0} ],\n "cursor":null}'
        self.answer("GET /v1/queues", text)
        for args in (["queues", "--json"], ["--json", "queues"]):
            self.assertEqual(self.impound(*args).stdout.decode(), text + "\n")

    def test_exit_codes_tell_what_went_wrong(self):
        self.answer("GET /v1/messages/twice", problem(409, "held by orders and mails"), 409)
        self.answer("GET /v1/queues", "<html>", 200)
        self.expect(self.impound("show", "twice"), 1, "impound: held by orders and mails\n")
        self.expect(self.impound("show", "gone"), 4, "impound: nothing at /v1/messages/gone\n")
        self.expect(self.impound("queues"), 1, "is it impound?")
        self.expect(self.impound("queues", "--url", "ftp://x/"), 2)
        self.expect(self.impound("show"), 2, "usage: impound show ID")

    def test_a_server_that_is_not_there_is_exit_3(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # bound, not listening: nobody else gets the port
            url = f"http://127.0.0.1:{taken.getsockname()[1]}"
            self.expect(self.impound("queues", "--url", url + "/"), 3,
                        f"impound: cannot reach impound at {url}: ", "is `impound serve` running?")

    def test_a_verb_that_there_is_none_of_is_refused(self):
        self.expect(self.impound("queus"), 2, 'did you mean "queues"?')

    def test_help_is_everywhere(self):
        whole = self.impound()
        self.expect(whole, 0, "push", "serve", "--url")
        self.assertEqual(self.impound("help").stdout, whole.stdout)
        self.assertEqual(self.impound("--help").stdout, whole.stdout)
        one = self.impound("help", "push")
        self.expect(one, 0, "usage: impound push QUEUE [BODY]", "--ndjson FILE")
        for args in (["push", "--help"], ["push", "orders", "-h"], ["--help", "push"]):
            self.assertEqual(self.impound(*args).stdout, one.stdout)

    def test_version_says_what_is_built_in(self):
        version = json.loads(self.impound("version", "--json").stdout)
        self.assertIn("http", version["handlers"])
        self.expect(self.impound("version"), 0, f"impound {version['version']}\n")

    def test_local_verbs_get_their_options_without_the_global_ones(self):
        run = self.impound("--url", "http://x", "serve", "-c", "--json", "--json")
        self.assertEqual(run.stdout, b"serve -c --json\n")

    def on_terminal(self, env):
        master, slave = pty.openpty()
        with os.fdopen(master, "rb", buffering=0) as reader:
            subprocess.run([IMPOUND, "queues"], stdout=slave, timeout=60, check=True,
                           env={"IMPOUND_URL": self.server.url, **env})
            os.close(slave)
            return reader.read(65536)

    def test_colour_is_for_terminals_that_want_it(self):
        self.answer("GET /v1/queues", {"queues": [QUEUE], "cursor": None})
        self.assertIn(b"\x1b[31mhalted", self.on_terminal({}))
        self.assertNotIn(b"\x1b", self.on_terminal({"NO_COLOR": "1"}))
        self.assertNotIn(b"\x1b", self.impound("queues").stdout)

    def test_bash_completes_verbs_options_and_files(self):
        script = self.impound("completion", "bash").stdout.decode()

        def complete(*words):
            ask = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _impound; printf "%s\\n" "${COMPREPLY[@]}"'
            run = subprocess.run(["bash", "-c", script + ask, "-", *words], capture_output=True,
                                 timeout=60, check=True, text=True)
            return run.stdout.split()
        self.assertEqual(complete("impound", "pu"), ["push"])
        self.assertEqual(complete("impound", "rep"), ["replay", "replays"])
        self.assertEqual(complete("impound", "benc"), [])  # a verb of a later version
        self.assertEqual(complete("impound", "ls", "--er"), ["--error-type"])
        self.assertEqual(complete("impound", "serve", "-c", __file__[:-1]), [__file__])

    def test_other_shells_get_every_verb_too(self):
        for shell in ("zsh", "fish"):
            run = self.impound("completion", shell)
            self.expect(run, 0, "explain", "error-type", "config")
            self.assertNotIn(b"bench", run.stdout)
        self.expect(self.impound("completion", "tcsh"), 2, "bash, zsh or fish")


if __name__ == "__main__":
    unittest.main()
