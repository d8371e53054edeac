"""The server and its own description agree: what /openapi.json allows is taken, what it forbids is refused, and every
answer is of the shape that it says. schemathesis makes the requests; the seed is fixed, so that a failure comes again.

`make test` sends what the coverage phase derives from the schema, the bounds of every member among it; `make soak` many
random requests besides. tests/api/api_hooks.py says what a schema cannot."""
import json
import os
import re
import subprocess
import sys

import parts
from harness import ROOT, eventually, in_full

SEED = 20261116
PATIENCE_S = 3600
QUEUES = {"orders": {"handler": "lease"}, "done": {"handler": {"exec": ["/bin/true"]}},
          "dead": {"handler": {"exec": ["/bin/sh", "-c", "exit 65"]}}}


def names(server):
    """Something under every name that a path takes."""
    for queue in ("dead", "orders"):
        server.push_many(queue, [{"body": {"n": n}} for n in range(6)])
    eventually(lambda: server.dlq("dead.dlq")["depth"] == 6, "there are letters")
    letters = server.letters("dead.dlq")
    leased = server.post("/v1/queues/orders/lease", {"max": 3, "lease_ms": 3600000}).json["messages"]
    return {"queue": list(QUEUES), "dlq": ["dead.dlq", "orders.dlq"], "id": [one["id"] for one in letters],
            "lease": [one["lease"] for one in leased], "fingerprint": [letters[0]["failure"]["fingerprint"]]}


def test_the_server_and_openapi_agree(serve, tmp_path):
    folder = parts.packages("schemathesis")
    server = serve(QUEUES)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([folder, os.path.join(ROOT, "tests", "api")]),
                   "SCHEMATHESIS_HOOKS": "api_hooks", "API_NAMES": json.dumps(names(server)),
                   "PYTHONDONTWRITEBYTECODE": "1"}
    phases = in_full(["--phases", "coverage,fuzzing", "--max-examples", "100"], ["--phases", "coverage"])
    done = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json", "--checks", "all", "--seed", str(SEED),
         "--exclude-path", "/v1/events",  # it never ends
         "--continue-on-failure", "--no-color", "--warnings", "off", "--request-timeout", str(PATIENCE_S), *phases],
        cwd=tmp_path, env=environment, capture_output=True, text=True, errors="replace", timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-4000:]
    selected, total = map(int, re.search(r"(\d+) selected / (\d+) total", done.stdout).groups())
    assert selected == total - 1, "none was left out but the one above"
    assert total >= len(server.get("/openapi.json").json["paths"])
    assert server.get("/healthz").status == 200
