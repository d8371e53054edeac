"""A Kafka node for the scenarios, and its own client."""
import importlib
import os
import shutil
import subprocess
import sys
import urllib.parse

import pytest

from brokers import START_PATIENCE_S, Process, lend, parts
from harness import eventually, free_port


def confluent_kafka():
    """The ecosystem's own client, with its admin part."""
    folder = parts("confluent-kafka")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    importlib.import_module("confluent_kafka.admin")
    return importlib.import_module("confluent_kafka")


class Kafka(Process):
    """A Kafka node of its own (KRaft). Three doors: one for everybody, one that wants me:secret (`sasl_port`),
    and that one behind TLS (`tls_port`, `ca_file`)."""
    USER, PASSWORD = "me", "secret"

    def __init__(self, folder):
        super().__init__(folder)
        self.sasl_port, self.tls_port, self.controller_port = free_port(), free_port(), free_port()
        self.ca_file = os.path.join(self.folder, "ca.pem")
        self.config_path = os.path.join(self.folder, "server.properties")
        self.java = ["java", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
                     "-cp", os.path.join(parts("kafka"), "*")]
        if not shutil.which("java"):
            pytest.skip("there is no java")
        self.client, self._admin = confluent_kafka(), None
        self._make_certificate()
        self._configure()
        subprocess.run([*self.java, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qk",
                        "-c", self.config_path], check=True, capture_output=True, timeout=START_PATIENCE_S)

    def _make_certificate(self):
        key = os.path.join(self.folder, "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=kafka",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.ca_file],
                       check=True, capture_output=True)
        with open(os.path.join(self.folder, "keystore.pem"), "w", encoding="utf-8") as out:
            for path in (key, self.ca_file):
                with open(path, encoding="utf-8") as part:
                    out.write(part.read())

    def _configure(self):
        module = (f'org.apache.kafka.common.security.plain.PlainLoginModule required '
                  f'user_{self.USER}="{self.PASSWORD}";')
        config = {
            "process.roles": "broker,controller", "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{self.controller_port}",
            "controller.listener.names": "CONTROLLER", "inter.broker.listener.name": "PLAINTEXT",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},SASL://127.0.0.1:{self.sasl_port},"
                         f"TLS://127.0.0.1:{self.tls_port},CONTROLLER://127.0.0.1:{self.controller_port}",
            "listener.security.protocol.map":
                "PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SASL_SSL,CONTROLLER:PLAINTEXT",
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.sasl.plain.sasl.jaas.config": module,
            "listener.name.tls.plain.sasl.jaas.config": module,
            "ssl.keystore.type": "PEM", "ssl.keystore.location": os.path.join(self.folder, "keystore.pem"),
            "log.dirs": os.path.join(self.folder, "data"), "log.index.size.max.bytes": 65536,
            "offsets.topic.replication.factor": 1, "offsets.topic.num.partitions": 1,
            "transaction.state.log.replication.factor": 1, "transaction.state.log.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0, "group.min.session.timeout.ms": 1000,
            # A node that was killed is back as soon as this is over; one that is slower than this leads nothing meanwhile.
            "broker.session.timeout.ms": 6000, "broker.heartbeat.interval.ms": 500,
            "auto.create.topics.enable": "false",
        }
        with open(self.config_path, "w", encoding="utf-8") as out:
            out.writelines(f"{name}={value}\n" for name, value in config.items())

    def start(self):
        self.launch([*self.java, "kafka.Kafka", self.config_path])
        eventually(self.listens, "Kafka listens", START_PATIENCE_S)
        return self

    def open_doors(self):
        """Whoever comes first to a door waits until the node has loaded what it needs for it, which may be longer than
        people wait for an answer."""
        login = {"sasl.mechanism": "PLAIN", "sasl.username": self.USER, "sasl.password": self.PASSWORD}
        for port, more in ((self.port, {}), (self.sasl_port, {"security.protocol": "SASL_PLAINTEXT", **login}),
                           (self.tls_port, {"security.protocol": "SASL_SSL", "ssl.ca.location": self.ca_file, **login})):
            visitor = self.client.admin.AdminClient({"bootstrap.servers": f"127.0.0.1:{port}", **more})
            visitor.list_topics(timeout=START_PATIENCE_S)

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def url(self, topic, **parameters):
        return f"kafka://{self.address}/{topic}" + ("?" + urllib.parse.urlencode(parameters) if parameters else "")

    def admin(self):
        """One for the node's life: a question dies with the client that asked it."""
        if not self._admin:
            self._admin = self.client.admin.AdminClient({"bootstrap.servers": self.address})
        return self._admin

    def make_topic(self, name, partitions=1):
        wanted = self.client.admin.NewTopic(name, num_partitions=partitions, replication_factor=1)
        self._ask(lambda: self.admin().create_topics([wanted])[name].result(timeout=START_PATIENCE_S))
        eventually(lambda: self._has_topic(name, partitions), f"topic {name} is there", START_PATIENCE_S)
        return name

    def remove_topic(self, name):
        self.admin().delete_topics([name])[name].result(timeout=START_PATIENCE_S)
        eventually(lambda: name not in self.admin().list_topics(timeout=START_PATIENCE_S).topics,
                   f"topic {name} is gone", START_PATIENCE_S)

    def _has_topic(self, name, partitions):
        """The broker that answers is told of a new topic a moment later."""
        topic = self.admin().list_topics(name, timeout=START_PATIENCE_S).topics[name]
        return not topic.error and len(topic.partitions) == partitions and \
            all(one.leader >= 0 for one in topic.partitions.values())

    def produce(self, topic, records):
        """Each a value, or a dict for produce(); returns once all are on the broker's side."""
        producer = self.client.Producer({"bootstrap.servers": self.address, "acks": "all", "linger.ms": 5})
        for record in records:
            record = record if isinstance(record, dict) else {"value": record}
            while True:
                try:
                    producer.produce(topic, **record)
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(START_PATIENCE_S) == 0

    def produce_at_once(self, topic, records, commit=True):
        """In one transaction, whose marker is behind the last of them; without `commit` nobody is given them."""
        producer = self.client.Producer({"bootstrap.servers": self.address, "transactional.id": topic})
        producer.init_transactions(START_PATIENCE_S)
        producer.begin_transaction()
        for record in records:
            producer.produce(topic, **record)
        assert producer.flush(START_PATIENCE_S) == 0
        end = producer.commit_transaction if commit else producer.abort_transaction
        end(START_PATIENCE_S)

    def records(self, topic):
        """All that the topic holds, as the client gives them, by partition and offset."""
        ends = self.ends(topic)
        reader = self.client.Consumer({"bootstrap.servers": self.address, "group.id": "reader", "enable.auto.commit": False})
        reader.assign([self.client.TopicPartition(topic, number, 0) for number in ends])
        found = []
        while len(found) < sum(ends.values()):
            record = reader.poll(START_PATIENCE_S)
            assert record is not None and not record.error(), record and record.error()
            found.append(record)
        reader.close()
        return sorted(found, key=lambda record: (record.partition(), record.offset()))

    def _ask(self, question):
        """The answer. A node that was away leads its partitions, and coordinates its groups, a moment later."""
        error = self.client.KafkaError
        not_yet = {error.NOT_LEADER_FOR_PARTITION, error.LEADER_NOT_AVAILABLE, error.COORDINATOR_NOT_AVAILABLE,
                   error.COORDINATOR_LOAD_IN_PROGRESS, error.NOT_COORDINATOR, error._UNKNOWN_PARTITION,
                   error.INVALID_REPLICATION_FACTOR}  # of none that it could use

        def answer():
            try:
                return [question()]
            except self.client.KafkaException as trouble:
                if trouble.args[0].code() not in not_yet:
                    raise
                return None
        return eventually(answer, "the node leads again", START_PATIENCE_S)[0]

    def ends(self, topic):
        """Partition → the offset behind its last record."""
        return self._ask(lambda: self._ends(topic))

    def _ends(self, topic):
        reader = self.client.Consumer({"bootstrap.servers": self.address, "group.id": "reader"})
        numbers = reader.list_topics(topic, timeout=START_PATIENCE_S).topics[topic].partitions
        found = {number: reader.get_watermark_offsets(self.client.TopicPartition(topic, number),
                                                      timeout=START_PATIENCE_S)[1] for number in numbers}
        reader.close()
        return found

    def committed(self, topic, group):
        """Partition → the group's offset there, 0 where it has none."""
        return self._ask(lambda: self._committed(topic, group))

    def _committed(self, topic, group):
        reader = self.client.Consumer({"bootstrap.servers": self.address, "group.id": group})
        asked = [self.client.TopicPartition(topic, number) for number in self.ends(topic)]
        found = {at.partition: max(at.offset, 0) for at in reader.committed(asked, timeout=START_PATIENCE_S)}
        reader.close()
        return found

    def lag(self, topic, group):
        return sum(self.ends(topic).values()) - sum(self.committed(topic, group).values())

    def close(self):
        super().close()
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(name="kafka", scope="module")
def fixture_kafka(tmp_path_factory):
    yield from lend("kafka", Kafka, tmp_path_factory)
