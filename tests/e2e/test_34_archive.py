"""Letters leave the store and come back as they were: exports, archives and retention, spill files. Whatever is
deleted was on disk before."""
import base64
import glob
import hashlib
import http.client
import json
import os
import shutil
import subprocess

import pytest

from harness import eventually, impound, problem, scaled

MANY = scaled(20000, 2000)

BODIES = [  # as they are pushed; each must come back to the byte
    b'{"a": 1.0,  "a": 2, "n": 12345678901234567890}',
    b' {"padded": true} ',
    b'{\n  "pretty": [1,\n 2]\n}',
    b'"a JSON string"',
    b'null',
    '"ünïcode \\u0041"'.encode(),
]
RAW = [("text/plain", b"two\nlines \x00 and a \"quote\""), ("text/plain", b""),
       ("application/octet-stream", bytes(range(256))), ("application/json", b"not json")]


def failing(call):
    return (400, {}, b'{"error":{"type":"BadOrder","message":"bad \\u2028 order"}}')


def queue(url, **more):
    return {"source": "builtin", "handler": {"http": url}, "breaker": "off", **more}


def push_all(server):
    for i, body in enumerate(BODIES):
        line = b'{"id":"b-%d","key":"k","headers":{"x":"\xc3\xa9"},"body":%s}' % (i, body)
        answer = server.request("POST", "/v1/queues/orders/messages", line)
        assert answer.status == 200, answer.body
    for i, (kind, body) in enumerate(RAW):
        answer = server.post("/v1/queues/orders/messages", {
            "id": f"r-{i}", "content_type": kind, "body_base64": base64.b64encode(body).decode()})
        assert answer.status == 200, answer.body
    eventually(lambda: server.dlq("orders.dlq")["depth"] == len(BODIES) + len(RAW), "all of them died")


def export(server, expect=200, headers=None, **members):
    answer = server.post("/v1/exports", members, headers)
    assert answer.status == expect, answer.body
    return answer.body


def import_(server, data, expect=200):
    answer = server.request("POST", "/v1/imports", data, {"Content-Type": "application/octet-stream",
                                                          "Impound-Actor": "ada"})
    assert answer.status == expect, answer.body
    return answer.json


def lines_of(data):
    return sorted(data.splitlines())


def wiped(server):
    server.stop()
    os.remove(os.path.join(server.folder, "impound.db"))
    shutil.rmtree(os.path.join(server.folder, "impound.db.d"))
    server.start()
    assert server.get("/v1/letters").json["letters"] == []


def unfolded(path):
    return subprocess.run(["zstd", "-dc", path], check=True, capture_output=True).stdout


def everything(server):
    """Each letter as the API shows it, by id."""
    ids = [json.loads(line)["id"] for line in export(server, all=True).splitlines()]
    return {one: server.get(f"/v1/letters/{one}").body for one in ids}


@pytest.fixture
def lot(serve, handler):
    server = serve({"orders": queue(handler(failing).url)})
    push_all(server)
    return server


def decide_some(server):
    letters = server.letters("orders.dlq")
    for action, letter in zip(("resolve", "discard", "escalate"), letters):
        answer = server.post(f"/v1/letters/{letter['id']}/{action}", {"why": f"to {action}"})
        assert answer.status == 200, answer.body


def test_export_wipe_import_gives_every_letter_back_to_the_byte(lot):
    decide_some(lot)
    before, exported = everything(lot), export(lot, all=True)
    assert len(before) == len(BODIES) + len(RAW)
    assert {json.loads(line)["state"] for line in exported.splitlines()} == {
        "pending_review", "resolved", "discarded"}
    for line in exported.splitlines():
        message = json.loads(line)["message"]
        body = base64.b64decode(message["body_base64"]) if "body_base64" in message else None
        if message["id"].startswith("r-") and body is not None:
            assert body == RAW[int(message["id"][2:])][1]
    wiped(lot)
    result = import_(lot, exported)
    assert (result["imported"], result["present"], result["refused"]) == (len(before), 0, [])
    assert everything(lot) == before
    assert lines_of(export(lot, all=True)) == lines_of(exported)
    assert lot.dlq("orders.dlq")["depth"] == len(before) - 2
    entry = lot.get("/v1/audit").json["audit"][0]
    assert (entry["what"], entry["who"], entry["count"]) == ("import", "ada", len(before))
    # They are letters like any other, also for those who hold them to their ids.
    again = lot.post("/v1/queues/orders/messages", {"id": "r-0", "body": 1})
    problem(again, 409)


def test_twice_is_once_and_what_has_changed_stays_and_is_named(lot):
    exported = export(lot, all=True)
    count = len(exported.splitlines())
    result = import_(lot, exported)
    assert (result["imported"], result["present"], result["changed"]) == (0, count, [])
    first = json.loads(exported.splitlines()[0])["id"]
    assert lot.post(f"/v1/letters/{first}/resolve", {"why": "done"}).status == 200
    result = import_(lot, exported + exported)
    assert (result["imported"], result["present"]) == (0, 2 * count)
    assert [(one["line"], one["id"], one["state"]) for one in result["changed"]] == [
        (1, first, "resolved"), (count + 1, first, "resolved")]
    assert lot.message(first)["state"] == "resolved"
    wiped(lot)
    result = import_(lot, exported + exported)
    assert (result["imported"], result["present"]) == (count, count)
    assert lot.dlq("orders.dlq")["depth"] == count


def test_an_edited_letter_comes_back_with_the_body_that_first_died(serve, handler):
    server = serve({"orders": queue(handler(failing).url)})
    server.push("orders", {"model": "m1"}, id="o-1")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 1, "it died")
    letter = server.letters("orders.dlq")[0]["id"]
    replay = server.post("/v1/replays", {"ids": [letter], "edit": '.model = "m2"', "dry_run": False})
    assert replay.status == 200, replay.body
    eventually(lambda: (shown := server.message(letter)) and shown["replays"] == 1 and
               shown["state"] == "pending_review", "it died again")
    exported = export(server, all=True)
    line = json.loads(exported)
    assert line["message"]["body"] == {"model": "m2"}
    assert json.loads(base64.b64decode(line["original_base64"])) == {"model": "m1"}
    wiped(server)
    assert import_(server, exported)["imported"] == 1
    assert export(server, all=True) == exported


def test_every_filter_chooses_the_same_for_a_list_a_dry_run_and_an_export(serve, handler):
    def answer(call):
        kind = json.loads(call.body)["kind"]
        return ({"bad": 400, "gone": 404, "bug": 500}[kind], {},
                json.dumps({"error": {"type": f"{kind}Error", "message": f"a {kind} zebra{call.id[-1]}"}}).encode())
    server = serve({"orders": queue(handler(answer).url)})
    for i, kind in enumerate(["bad", "gone", "bug", "bad", "gone", "bad"]):
        server.push("orders", {"kind": kind, "n": i}, id=f"o-{i}", key=f"k{i % 2}")
    eventually(lambda: server.dlq("orders.dlq")["depth"] == 6, "six letters")
    fingerprint = server.letters("orders.dlq")[0]["failure"]["fingerprint"]
    for words, least in (({"reason": "bad"}, 3), ({"category": "not_found"}, 2), ({"error_type": "bugError"}, 1),
                         ({"fingerprint": fingerprint}, 1), ({"q": "zebra3"}, 1), ({"key": "k1"}, 3),
                         ({"where": ".message.body.n >= 4"}, 2), ({"since": "1h"}, 6), ({"until": "1h"}, 0),
                         ({"min_attempts": "1", "dlq": "orders.dlq"}, 6), ({"state": "pending_review"}, 6)):
        listed = {letter["id"] for letter in server.page("/v1/letters", **words)["letters"]}
        exported = {json.loads(line)["id"] for line in export(server, filter=words).splitlines()}
        dry = server.post("/v1/letters/discard", {"filter": words, "dry_run": True}).json
        assert exported == listed and dry["count"] == len(listed) and len(listed) >= least, words
        plan = server.post("/v1/replays", {"filter": words, "dry_run": True})
        assert plan.status == 200 and plan.json["selected"] == len(listed), (words, plan.body)
    picky = 'if .message.body.n == 2 then error("no") else .message.body.n < 4 end'
    answer = server.post("/v1/exports", {"filter": {"where": picky}})
    assert len(answer.body.splitlines()) == 3 and answer.headers["Impound-Skipped"] == "1"
    said = impound("export", "--where", picky, IMPOUND_URL=server.url)
    assert len(said.stdout.splitlines()) == 3 and "--where failed on 1" in said.stderr
    problem(server.post("/v1/exports", {"filter": {"reson": "x"}}), 400, "reason")
    problem(server.post("/v1/exports", {"all": True, "to": "s3://b/p"}), 501)


def flip(data, at):
    return data[:at] + bytes([data[at] ^ 0x01]) + data[at + 1:]


def test_a_flipped_bit_is_found_and_named_and_the_rest_is_imported(lot):
    exported = export(lot, all=True, compress="zstd")
    count = len(BODIES) + len(RAW)
    frames = exported.split(b"\x28\xb5\x2f\xfd")[1:]
    assert len(frames) == count, "a frame for each letter"
    starts = [4 + sum(len(frame) + 4 for frame in frames[:i]) for i in range(count)]
    wiped(lot)
    for victim in (0, 3, count - 1):
        for place in (0, 1, len(frames[victim]) // 2, len(frames[victim]) - 1):
            result = import_(lot, flip(exported, starts[victim] + place))
            assert result["imported"] + result["present"] == count - 1, (victim, place, result)
            assert [one["line"] for one in result["refused"]] == [victim + 1], (victim, place, result)
            assert "damaged" in result["refused"][0]["why"]
    assert import_(lot, exported)["refused"] == []
    # The same without compression: a body that is not the one that was written.
    plain = export(lot, filter={"key": "k"})
    wiped(lot)
    result = import_(lot, plain.replace(b"12345678901234567890", b"12345678901234567891"))
    assert result["imported"] == len(BODIES) - 1 and "content_hash" in result["refused"][0]["why"]


def test_what_is_no_letter_is_refused_line_by_line(lot):
    exported = export(lot, filter={"key": "k"}, limit=2).splitlines()
    wiped(lot)
    alive = json.loads(exported[0]) | {"state": "queued"}
    result = import_(lot, b"\n".join([b"nonsense", exported[0], b"{}", json.dumps(alive).encode(), b"", exported[1]]))
    assert result["imported"] == 2
    assert [one["line"] for one in result["refused"]] == [1, 3, 4]
    assert "queued" in result["refused"][2]["why"]
    assert import_(lot, b"") == {"lines": 0, "imported": 0, "present": 0, "changed_count": 0, "refused_count": 0,
                                 "changed": [], "refused": []}


def test_the_command_line_exports_and_imports(lot, tmp_path):
    plain, folded = tmp_path / "all.ndjson", tmp_path / "all.ndjson.zst"
    lot.cli("export", "-o", plain)
    lot.cli("export", "--output", folded)
    count = len(BODIES) + len(RAW)
    assert len(plain.read_bytes().splitlines()) == count
    assert lines_of(unfolded(folded)) == lines_of(plain.read_bytes())
    assert len(lot.cli("export", "--key", "k").strip().split("\n")) == len(BODIES)
    assert lot.cli("export", "--state", "resolved") == ""
    wiped(lot)
    assert f"{len(BODIES) + len(RAW)} letters imported, 0 here already, 0 lines refused" in lot.cli(
        "import", folded)
    assert json.loads(lot.cli("import", plain, folded, "--json")) == {
        "imported": 0, "present": 2 * count, "changed": 0, "refused": 0}
    damaged = tmp_path / "damaged.zst"
    damaged.write_bytes(flip(folded.read_bytes(), 60))
    assert f"{damaged}: line 1: a damaged zstd frame" in lot.cli("import", damaged, expect=1)
    lot.cli("import", tmp_path / "nothing", expect=1)


def test_an_export_without_a_filter_is_every_letter_in_any_state(serve):
    server = serve({"orders": {"handler": "lease"}})
    for task in ("a", "b"):
        server.post("/v1/queues/orders/failures", {"task_id": task, "payload": {}, "error_type": "KeyError"})
    server.post("/v1/letters/a/resolve", {"why": "done by hand"})
    for answer in (server.post("/v1/exports", {}), server.post("/v1/exports", {"filter": {}}),
                   server.request("POST", "/v1/exports"), server.post("/v1/exports", {"all": True})):
        assert answer.status == 200, answer.body
        assert {line["message"]["id"]: line["state"] for line in map(json.loads, answer.body.splitlines())} == {
            "a": "resolved", "b": "pending_review"}


def test_an_export_to_a_folder_leaves_an_archive_with_a_manifest(lot):
    answer = lot.post("/v1/exports", {"filter": {"dlq": "orders.dlq"}, "to": "file:taken/"})
    assert answer.status == 200, answer.body
    archive = answer.json["archive"]
    path = os.path.join(lot.folder, "taken", archive["file"])
    with open(path, "rb") as file:
        data = file.read()
    assert archive["letters"] == answer.json["letters"] == len(BODIES) + len(RAW)
    assert archive["bytes"] == len(data) and archive["sha256"] == hashlib.sha256(data).hexdigest()
    dead = [letter["dead_at"] for letter in lot.letters("orders.dlq")]
    assert (archive["first_dead_at"], archive["last_dead_at"]) == (min(dead), max(dead))
    with open(path.replace(".ndjson.zst", ".manifest.json"), encoding="utf-8") as file:
        assert json.load(file) == archive
    assert lines_of(unfolded(path)) == lines_of(export(lot, filter={"dlq": "orders.dlq"}))
    assert f"{archive['letters']} here already" in lot.cli("import", path)
    # Cut between two frames, every frame is whole; only the manifest knows better.
    with open(path, "wb") as file:
        file.write(data[:data.rindex(b"\x28\xb5\x2f\xfd")])
    assert "it is damaged" in (said := lot.cli("import", path, expect=1))
    assert f"{archive['letters'] - 1} here already" in said, "the rest is imported all the same"


# ---- retention ----

def archived(server, dlq="orders.dlq"):
    found = []
    for path in sorted(glob.glob(os.path.join(server.folder, "archive", dlq, "letters-*.ndjson.zst"))):
        found += [json.loads(line) for line in unfolded(path).splitlines()]
    return found


def held(server):
    return {json.loads(line)["id"] for line in export(server, all=True).splitlines()}


def test_what_was_decided_long_ago_is_archived_then_deleted_and_comes_back(serve, handler):
    url = handler(failing).url
    server = serve({"orders": queue(url)})
    push_all(server)
    decide_some(server)
    ids = {action: server.letters("orders.dlq", state=state)[0]["id"]
           for action, state in (("resolve", "resolved"), ("discard", "discarded"))}
    before = {some_id: server.get(f"/v1/letters/{some_id}").body for some_id in ids.values()}
    server.configure({"orders": queue(url, dlq={"archive": "file:archive/",
                                                "retention": {"resolved": "1ms", "discarded": "1ms"}})})
    server.reload()
    eventually(lambda: all(server.message(some_id) is None for some_id in ids.values()), "both have left")
    assert {letter["id"] for letter in archived(server)} == set(ids.values())
    assert server.dlq("orders.dlq")["depth"] == len(BODIES) + len(RAW) - 2, "the others are untouched"
    entries = [one for one in server.get("/v1/audit").json["audit"] if one["what"] == "retention.delete"]
    assert sum(one["count"] for one in entries) == 2 and {one["subject"] for one in entries} == {"orders.dlq"}
    listed = server.get("/v1/archives").json["archives"]
    assert {one["file"] for one in listed} == {one["after"]["archive"] for one in entries}
    assert sum(one["letters"] for one in listed) == 2 and {one["dlq"] for one in listed} == {"orders.dlq"}
    problem(server.get("/v1/archives", dlq="other.dlq"), 404, "other.dlq")

    server.configure({"orders": queue(url)})
    server.stop()
    server.start()
    server.cli("import", *[one["path"] for one in listed])
    assert {some_id: server.get(f"/v1/letters/{some_id}").body for some_id in ids.values()} == before


def test_unresolved_letters_expire_only_where_it_is_said_and_are_archived_first(serve, handler):
    url = handler(failing).url
    server = serve({"orders": queue(url, dlq={"archive": "file:archive/", "retention": {"unresolved": "1s"}}),
                    "others": queue(url, dlq={"retention": {"resolved": "1s"}})})
    server.push("others", {}, id="stays")
    server.push("orders", {}, id="goes")
    eventually(lambda: (shown := server.message("goes")) and shown["state"] == "resolved", "it has expired")
    letter = server.message("goes")
    assert letter["resolution"] == "expired" and letter["resolved_at"]
    assert [json.dumps(one, sort_keys=True) for one in archived(server)] == [json.dumps(letter, sort_keys=True)]
    entry = next(one for one in server.get("/v1/audit").json["audit"] if one["what"] == "retention.expire")
    assert (entry["subject"], entry["count"]) == ("orders.dlq", 1)
    assert server.message("stays")["state"] == "pending_review"


def has_none(server):
    try:
        return server.page("/v1/letters", state="resolved")["letters"] == []
    except (OSError, http.client.HTTPException):
        return False  # it does not listen yet


def test_a_kill_during_retention_loses_no_letter(serve, handler):
    url = handler(failing).url
    server = serve({"orders": queue(url, concurrency=64)})
    server.push_many("orders", [{"id": f"o-{i}", "body": {"n": i}} for i in range(MANY)])
    eventually(lambda: server.dlq("orders.dlq")["depth"] == MANY, "all of them died")
    assert server.post("/v1/letters/resolve", {"all": True, "why": "x"}).json["count"] == MANY
    everyone = held(server)
    assert len(everyone) == MANY
    server.configure({"orders": queue(url, dlq={"archive": "file:archive/", "retention": {"resolved": "1ms"}})})
    # Each life is killed when one more archive has its name: before, in or behind the commit. A life that was quick
    # leaves nothing to the next.
    pattern = os.path.join(server.folder, "archive", "orders.dlq", "letters-*.ndjson.zst")
    server.stop()
    for life in range(1, 4):
        before = len(glob.glob(pattern))
        server.launch()
        eventually(lambda: len(glob.glob(pattern)) > before or has_none(server), f"an archive of life {life}")
        server.kill()
    assert glob.glob(pattern)
    server.configure({"orders": queue(url, dlq={"archive": "file:archive/"})})
    server.start()
    assert held(server) | {letter["id"] for letter in archived(server)} == everyone
    listed = [one["path"] for one in server.get("/v1/archives").json["archives"]]
    for path in listed:
        server.cli("import", path)
    assert held(server) | {letter["id"] for letter in archived(server)} == everyone
    server.cli("import", *glob.glob(pattern))
    assert held(server) == everyone


def test_spilled_letters_come_back(serve, handler):
    url = handler(failing).url
    server = serve({"orders": queue(url, concurrency=1, dlq={"cap": 2, "on_full": "spill",
                                                             "archive": "file:archive/"})})
    for i in range(6):
        answer = server.request("POST", "/v1/queues/orders/messages", b'{"id":"o-%d","body":{\n"n":%d}}' % (i, i))
        assert answer.status == 200, answer.body
    eventually(lambda: server.dlq("orders.dlq")["spilled"] == 4, "four are spilled")
    files = glob.glob(os.path.join(server.folder, "archive", "orders.dlq", "spill-*.ndjson.zst"))
    assert "4 letters imported" in server.cli("import", *files)
    assert "0 letters imported, 4 here already" in server.cli("import", *files)
    letters = server.letters("orders.dlq")
    assert {letter["message"]["id"] for letter in letters} == {f"o-{i}" for i in range(6)}
    assert server.message("o-5")["message"]["body"] == {"n": 5}
