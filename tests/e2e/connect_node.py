"""A Kafka Connect worker for the scenarios: standalone, with one sink connector that writes a file."""
import os
import shutil
import urllib.request

import pytest

from brokers import START_PATIENCE_S, Process, parts
from harness import answers, eventually

LOG = """log4j.rootLogger=WARN, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d %p %m%n
"""


class Connect(Process):
    """What its converter cannot read goes to the topic `dead`, with headers that say why."""
    CONNECTOR = "orders-file"

    def __init__(self, folder, kafka, topic, dead):
        super().__init__(folder)
        if not shutil.which("java"):
            pytest.skip("there is no java")
        self.jars = parts("connect")
        self.lines_path = os.path.join(self.folder, "lines.txt")
        json_converter = "org.apache.kafka.connect.json.JsonConverter"
        self._write("worker.properties", {
            "bootstrap.servers": kafka.address, "listeners": f"HTTP://127.0.0.1:{self.port}",
            "offset.storage.file.filename": os.path.join(self.folder, "offsets"), "offset.flush.interval.ms": 1000,
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": json_converter, "value.converter.schemas.enable": "true",
            "plugin.discovery": "only_scan"})
        self._write("connector.properties", {
            "name": self.CONNECTOR, "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
            "tasks.max": 1, "topics": topic, "file": self.lines_path, "errors.tolerance": "all",
            "errors.deadletterqueue.topic.name": dead, "errors.deadletterqueue.topic.replication.factor": 1,
            "errors.deadletterqueue.context.headers.enable": "true"})
        with open(os.path.join(self.folder, "log4j.properties"), "w", encoding="utf-8") as out:
            out.write(LOG)

    def _write(self, name, config):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as out:
            out.writelines(f"{key}={value}\n" for key, value in config.items())

    def start(self):
        self.launch(["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
                     f"-Dlog4j.configuration=file:{self.folder}/log4j.properties", "-cp", os.path.join(self.jars, "*"),
                     "org.apache.kafka.connect.cli.ConnectStandalone", os.path.join(self.folder, "worker.properties"),
                     os.path.join(self.folder, "connector.properties")])
        eventually(self._runs, "Kafka Connect runs its connector", START_PATIENCE_S)
        return self

    def _runs(self):
        assert self.process.poll() is None, f"Kafka Connect died at its start:\n{self.log()[-4000:]}"
        url = f"http://127.0.0.1:{self.port}/connectors/{self.CONNECTOR}/status"
        if not answers(url):
            return False
        with urllib.request.urlopen(url, timeout=START_PATIENCE_S) as answer:
            return b'"tasks":[{"id":0,"state":"RUNNING"' in answer.read()

    def lines(self):
        """What the connector wrote."""
        if not os.path.exists(self.lines_path):
            return []
        with open(self.lines_path, encoding="utf-8") as lines:
            return lines.read().splitlines()

    def close(self):
        super().close()
        shutil.rmtree(self.folder, ignore_errors=True)
