"""What people already watch with: the rules, the dashboard and the configurations in packaging/, tried with the real
Prometheus and Alertmanager."""
import json
import os
import re
import subprocess
import urllib.parse
import urllib.request

import pytest

from harness import PATIENCE_S, ROOT, answers, eventually, free_port
from watchers import tool

PACKAGING = os.path.join(ROOT, "packaging", "prometheus")
DASHBOARD = os.path.join(ROOT, "packaging", "grafana", "impound.json")
# What Grafana puts in for its variables.
VARIABLES = {"$dlq": ".*", "$queue": ".*", "$__rate_interval": "1m"}


def passes(*words):
    done = subprocess.run(words, cwd=PACKAGING, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_promtool_and_amtool_are_content():
    rules = passes(tool("promtool"), "check", "rules", "impound-alerts.yml")
    with open(os.path.join(PACKAGING, "impound-alerts.yml"), encoding="utf-8") as text:
        names = re.findall(r"- alert: (\w+)", text.read())
    assert f"{len(names)} rules found" in rules
    passes(tool("promtool"), "check", "config", "prometheus.yml")
    passes(tool("amtool"), "check-config", "alertmanager.yml")
    passes(tool("promtool"), "test", "rules", "impound-alerts-test.yml")
    with open(os.path.join(PACKAGING, "impound-alerts-test.yml"), encoding="utf-8") as text:
        tried = re.findall(r"alertname: (\w+)(, exp_alerts: \[\])?", text.read())
    assert {name for name, quiet in tried if not quiet} == set(names), "each alert is seen to fire"
    assert {name for name, quiet in tried if quiet} == set(names), "and not to"


class Prometheus:
    def __init__(self, folder, server):
        self.url = f"http://127.0.0.1:{free_port()}"
        config = folder / "prometheus.yml"
        config.write_text(f"""
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: ['{PACKAGING}/impound-alerts.yml']
scrape_configs:
  - job_name: impound
    static_configs: [{{targets: ['{server.url.removeprefix("http://")}']}}]
""")
        self.log = open(folder / "prometheus.log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [tool("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address={self.url.removeprefix('http://')}"], stdout=self.log, stderr=self.log)
        eventually(lambda: answers(self.url + "/-/ready"), "Prometheus is ready")

    def ask(self, path, **arguments):
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(arguments)}"
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
            return json.load(answer)["data"]

    def query(self, expression):
        return self.ask("query", query=expression)["result"]

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        self.log.close()


@pytest.fixture
def watched(serve, handler, tmp_path):
    """A server with something to tell, and a Prometheus that has seen it change."""
    worker = handler(lambda call: 200 if json.loads(call.body)["n"] % 2 else 422)
    server = serve({"orders": {"handler": {"http": worker.url}}})
    prometheus = Prometheus(tmp_path, server)
    for n in range(4):
        server.push("orders", {"n": n})
    server.drained("orders")
    eventually(lambda: prometheus.query("impound_dlq_depth == 2"), "Prometheus sees the letters")
    server.push("orders", {"n": 4})
    eventually(lambda: prometheus.query("impound_dlq_depth == 3"), "and sees more")
    yield prometheus
    prometheus.stop()


def dashboard():
    with open(DASHBOARD, encoding="utf-8") as text:
        return json.load(text)


def queries():
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", []):
            expression = target["expr"]
            for variable, value in VARIABLES.items():
                expression = expression.replace(variable, value)
            assert "$" not in expression, expression
            yield panel["title"], expression


def test_every_query_of_the_dashboard_answers_and_the_alerts_fire(watched):
    asked = list(queries())
    assert len(asked) > 20
    for title, expression in asked:
        eventually(lambda: watched.query(expression), f"{title}: {expression}")
    alert = eventually(lambda: [alert for alert in watched.ask("alerts")["alerts"]
                                if alert["state"] == "firing" and alert["labels"]["alertname"] == "DLQNotEmpty"],
                       "an alert fires")[0]
    assert alert["labels"]["dlq"] == "orders.dlq"


def test_the_variables_of_the_dashboard_have_values(watched):
    """label_values(metric, label) is Grafana's own word; it asks Prometheus for that label of those series."""
    found = {}
    for variable in dashboard()["templating"]["list"]:
        if variable["type"] != "query":
            continue
        query = variable["query"]["query"]
        assert query == variable["definition"]
        metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", query).groups()
        found[f"${variable['name']}"] = watched.ask(f"label/{label}/values", **{"match[]": metric})
    assert found == {"$dlq": ["orders.dlq"], "$queue": ["orders"]}
    assert set(found) == {name for name in VARIABLES if not name.startswith("$__")}


def test_the_rules_are_impounds_own_and_the_guide_names_the_others(serve, handler):
    server = serve({"orders": {"handler": {"http": handler().url}}})
    own = {rule["alert"] for rule in server.get("/v1/alerts").json["rules"]}
    with open(os.path.join(PACKAGING, "impound-alerts.yml"), encoding="utf-8") as text:
        rules = set(re.findall(r"- alert: (\w+)", text.read()))
    with open(os.path.join(ROOT, "docs", "monitoring.md"), encoding="utf-8") as guide:
        named = set(re.findall(r"`((?:DLQ|Impound|Message|Queue|Source)[A-Z]\w+)`", guide.read()))
    assert own ^ rules == named


def test_the_guide_names_every_metric_and_no_other(serve, handler):
    server = serve({"orders": {"handler": {"http": handler().url}}})
    given = set(re.findall(r"^# TYPE (\w+) ", server.get("/metrics").body.decode(), re.M))
    with open(os.path.join(ROOT, "docs", "monitoring.md"), encoding="utf-8") as guide:
        named = set(re.findall(r"`(impound_\w+)`", guide.read()))
    assert given == named
