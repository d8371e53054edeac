#!/usr/bin/env python3
"""The agent: one task in, one result out. Imported by the runner; run by impound for a retry, with the
task's payload on stdin and the attempt's number in the environment."""
import json
import os
import sys


def search(payload, attempt):
    if attempt <= payload.get("slow", 0):
        raise TimeoutError("the search tool did not answer in 30 s")
    return {"found": payload["query"]}


def extract(payload, attempt):
    return {"invoice": payload["document"]["invoice_number"]}


TOOLS = {"search": search, "extract": extract}


def run(payload, attempt=1):
    return TOOLS[payload["tool"]](payload, attempt)


if __name__ == "__main__":
    print(json.dumps(run(json.load(sys.stdin), int(os.environ["IMPOUND_ATTEMPT"]))))
