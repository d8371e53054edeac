#!/usr/bin/env python3
"""Runs an agent's tasks, one JSON object a line: {"task_id", "task_type", "payload"}. A task that fails
is reported to impound with its context, and is then impound's to retry or to keep for review."""
import json
import os
import sys
import traceback
import urllib.request

import agent

IMPOUND_URL = os.environ.get("IMPOUND_URL", "http://127.0.0.1:7070")


def report(task, failure):
    """What impound makes of the failure: its state, and why."""
    body = json.dumps({
        "task_id": task["task_id"],
        "task_type": task["task_type"],
        "payload": task["payload"],
        "error_type": type(failure).__name__,
        "error_message": str(failure),
        "stack_trace": "".join(traceback.format_exception(failure)),
        "attempts": 1,
        "context": {"agent": agent.__name__, "tool": task["payload"].get("tool"), "runner_pid": os.getpid()},
    }).encode()
    request = urllib.request.Request(f"{IMPOUND_URL}/v1/queues/agent-tasks/failures", body,
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def main(path):
    with open(path, encoding="utf-8") as tasks:
        for line in tasks:
            task = json.loads(line)
            try:
                print(task["task_id"], "done:", json.dumps(agent.run(task["payload"])))
            except Exception as failure:  # whatever a tool throws is impound's to judge
                judged = report(task, failure)
                print(task["task_id"], f"{judged['state']}:", judged["reason"])


if __name__ == "__main__":
    main(sys.argv[1])
