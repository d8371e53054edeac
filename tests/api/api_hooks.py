"""What schemathesis is told beyond /openapi.json (SCHEMATHESIS_HOOKS).

Names that exist, so that more than the path of a request matters; and what a schema cannot say: a jq program that
compiles, a cursor that an answer gave, a text with a word in it. A request must not write anywhere on this machine nor wait for long."""
import json
import os

import schemathesis

# Parameter → what exists under that name, as the test that runs this has it.
REAL = json.loads(os.environ.get("API_NAMES", "{}"))
PROGRAM = ".attempts > 0"
EDIT = "."
WAIT_MS = 5
NAME_MAX = 255  # what is longer is not valid


@schemathesis.serializer("application/x-ndjson")
def ndjson(context, value):
    return (json.dumps(value) + "\n").encode()


def is_text(value):
    return isinstance(value, str) and value != ""


def name_what_exists(values):
    """In two of three cases, by the name's length: any name is as valid as another."""
    for name, real in REAL.items():
        given = (values or {}).get(name)
        if is_text(given) and len(given) <= NAME_MAX and len(given) % 3 != 2:
            values[name] = real[len(given) // 3 % len(real)]


def make_possible(values):
    if is_text(values.get("where")):
        values["where"] = PROGRAM
    if is_text(values.get("q")):
        values["q"] = "word"
    if is_text(values.get("cursor")):
        values["cursor"] = ""


@schemathesis.hook
def before_call(context, case, kwargs):
    name_what_exists(case.path_parameters)
    if isinstance(case.query, dict):
        name_what_exists(case.query)
        make_possible(case.query)
    body = case.body
    if not isinstance(body, dict):
        return
    make_possible(body)
    if isinstance(body.get("filter"), dict):
        name_what_exists(body["filter"])
        make_possible(body["filter"])
    if is_text(body.get("edit")):
        body["edit"] = EDIT
    if is_text(body.get("to")) and body["to"].startswith("file:") and len(body["to"]) > len("file:"):
        body["to"] = "file:exported"
    if isinstance(body.get("wait_ms"), (int, float)) and 0 <= body["wait_ms"] <= 60000:
        body["wait_ms"] %= WAIT_MS
