"""Three Kafka brokers on loopback, each also a KRaft controller, in place of the one of a stack.

They use the stack's Kafka distribution, certificates, accounts and topics: TLS, SCRAM, three replicas in
three racks, two of them in sync for each write. Ids of transactions and of idempotent producers expire after
seconds.
"""

import signal
import subprocess
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack, wait_until
from tailrace.config.template import fill
from tailrace.credentials.certificates import Certificates
from tailrace.kafka import accounts as kafka_accounts
from tailrace.kafka import topics
from tailrace_local import kafka as local_kafka
from tailrace_local.components import kafka as kafka_component
from tailrace_local.components.kafka import Kafka

NUMBERS = (1, 2, 3)
START_SECONDS = 300
QUERY_SECONDS = 20
STOP_SECONDS = 120
HEAP = ("-Xms64m", "-Xmx256m")
EXPIRATION_MILLIS = 40_000
"""After this time without a transaction, or without a record, Kafka forgets a producer."""
PARTITIONS = 2
LISTENERS = 3
"""Of each broker: for clients, for brokers and administration, and the controller's."""

CLUSTER = f"""process.roles=broker,controller
node.id=${{NODE}}
broker.rack=rack-${{NODE}}
replica.selector.class=org.apache.kafka.common.replica.RackAwareReplicaSelector
controller.quorum.voters=${{VOTERS}}
controller.listener.names=CONTROLLER
${{LISTENERS}}log.dirs=${{LOG_DIRECTORY}}
auto.create.topics.enable=false
default.replication.factor=3
min.insync.replicas=2
offsets.topic.replication.factor=3
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=2
transaction.state.log.num.partitions=4
message.max.bytes=20000000
replica.fetch.max.bytes=20000000
group.initial.rebalance.delay.ms=0
log.index.size.max.bytes=1048576
log.cleaner.dedupe.buffer.size=8388608
num.network.threads=2
num.io.threads=4
controller.quorum.election.timeout.ms=10000
controller.quorum.fetch.timeout.ms=20000
controller.quorum.request.timeout.ms=20000
broker.session.timeout.ms=30000
initial.broker.registration.timeout.ms=240000
transactional.id.expiration.ms={EXPIRATION_MILLIS}
transaction.remove.expired.transaction.cleanup.interval.ms=2000
producer.id.expiration.ms={EXPIRATION_MILLIS}
producer.id.expiration.check.interval.ms=2000
"""


class Broker:
    """One of the brokers. `disk` is its log directory, whose file system may be small."""

    def __init__(self, cluster: "Brokers", number: int, directory: Path) -> None:
        self.number = number
        self.disk = directory / f"broker-{number}"
        self.disk.mkdir()
        self._cluster = cluster
        self._log_file = directory / f"broker-{number}.log"
        self._configuration = directory / f"broker-{number}.properties"
        self._log_start = 0
        self._process: subprocess.Popen | None = None

    @property
    def log(self) -> str:
        """The output of the process since its last start."""
        return self._log_file.read_bytes()[self._log_start :].decode(errors="replace")

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """That of the last process; None while it runs. 143: the JVM ended by itself after SIGTERM."""
        return self._process.poll() if self._process else None

    def format(self, cluster_id: str) -> None:
        """Writes the configuration, and starts the tool that prepares the empty log directory."""
        cluster = self._cluster
        ports = dict(
            zip(("PORT", "INTERNAL_PORT", "CONTROLLER_PORT"), cluster.ports(self.number), strict=True)
        )
        certificates = cluster.certificates
        secured = {"KEY_AND_CERTIFICATE": certificates.file("kafka"), "TRUST": certificates.trust}
        template = self._configuration.with_suffix(".template")
        template.write_text(CLUSTER)
        values = {
            "NODE": self.number,
            "VOTERS": ",".join(f"{n}@127.0.0.1:{cluster.ports(n)[2]}" for n in NUMBERS),
            "LISTENERS": fill(kafka_component.SECURED, {**ports, **secured}),
            "LOG_DIRECTORY": self.disk / "log",
        }
        self._configuration.write_text(fill(template, values))
        words = ["kafka.tools.StorageTool", "format", "--cluster-id", cluster_id, "--config"]
        with self._log_file.open("ab") as log:
            self._process = subprocess.Popen(
                [*cluster.java(), *words, self._configuration], stdout=log, stderr=subprocess.STDOUT
            )

    def start(self) -> None:
        """Starts the process, and does not wait for it."""
        with self._log_file.open("ab") as log:
            self._log_start = log.tell()
            self._process = self._started(log)

    def _started(self, log: BinaryIO) -> subprocess.Popen:
        command = [*self._cluster.java(), *HEAP, "kafka.Kafka", self._configuration]
        return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)

    def end(self, number: int = signal.SIGTERM) -> None:
        """Sends a signal to the process if it runs, and waits for its end; then kills it."""
        if not self._process:
            return
        self._process.send_signal(number)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def await_end(self) -> None:
        """Returns when the process has ended by itself."""
        assert self._process
        self._process.wait(START_SECONDS)


class Brokers:
    """The cluster of a stack without its own Kafka, whose ports it uses; the others begin at `first_port`."""

    def __init__(self, stack: Stack, directory: Path, first_port: int) -> None:
        self.stack = stack
        self.certificates = Certificates(stack.home)
        self.certificates.make()
        self._first_port = first_port
        self._component = Kafka(stack.settings, stack.home)
        self.all = [Broker(self, number, directory) for number in NUMBERS]

    def ports(self, number: int) -> Sequence[int]:
        """Returns the ports of a broker: of clients, of brokers, of its controller."""
        settings = self.stack.settings
        if number == 1:
            return (settings.port_kafka, settings.port_kafka_internal, settings.port_kafka_controller)
        return range(self._first_port + LISTENERS * (number - 2), self._first_port + LISTENERS * (number - 1))

    def java(self) -> list[str | Path]:
        return [*self._component.java(), kafka_component.LOGGING]

    def start(self) -> None:
        """Formats and starts all, and creates accounts and topics, these with few partitions."""
        cluster_id = kafka_component.new_cluster_id()
        for broker in self.all:
            broker.format(cluster_id)
        for broker in self.all:
            broker.await_end()
            broker.start()
        self.await_all()
        self._retry(
            lambda: kafka_accounts.apply_accounts(
                self.admin(), kafka_accounts.accounts(), self.stack.home.secret
            )
        )
        self.apply_topics(PARTITIONS)

    def stop(self) -> None:
        for broker in self.all:
            broker.end(signal.SIGKILL)

    def apply_topics(self, partitions: int) -> None:
        """Creates the topics, or gives those of lines more partitions. Topics of one partition keep it."""
        listed = [
            replace(
                topic, partitions=partitions if topic.name.endswith(".lines") else min(2, topic.partitions)
            )
            for topic in topics.load()
        ]
        self._retry(lambda: topics.apply(self.admin(), listed))

    def admin(self, numbers: Sequence[int] = NUMBERS) -> AdminClient:
        """Returns a new client with the certificate of the administration, which asks these brokers first."""
        client = local_kafka.administration(self.stack.settings, self.stack.home)
        addresses = ",".join(f"127.0.0.1:{self.ports(number)[1]}" for number in numbers)
        return AdminClient({**client.settings({"log_level": 0}), "bootstrap.servers": addresses})

    def partition(self, topic: str, key: str) -> int:
        """Returns the partition of a key, as librdkafka chooses it."""
        return zlib.crc32(key.encode()) % self.partition_count(topic)

    def partition_count(self, topic: str) -> int:
        return len(self._partitions()[topic])

    def end_offset(self, topic: str, partitions: Sequence[int]) -> int:
        """Returns the sum of the ends of partitions: what consumers can read, which all replicas in sync
        have."""
        asked = {TopicPartition(topic, number): OffsetSpec.latest() for number in partitions}
        admin = self.admin([broker.number for broker in self.all if broker.is_running])
        # The client must be referenced: one that is deleted never answers.
        found = admin.list_offsets(asked, request_timeout=QUERY_SECONDS)
        try:
            return sum(each.result(QUERY_SECONDS).offset for each in found.values())
        except KafkaException as error:
            raise ConnectionError(str(error)) from error

    def transactional_ids(self) -> str:
        """Returns Kafka's table of the transactional ids that it knows."""
        return self._transactions("list")

    def producers(self, topic: str, partition: int) -> int:
        """Returns the number of idempotent producers of a partition that its leader knows."""
        place = ["--topic", topic, "--partition", str(partition)]
        lines = self._transactions("describe-producers", *place).splitlines()
        return sum(line[:1].isdigit() for line in lines)

    def _transactions(self, *words: str) -> str:
        """Runs Kafka's tool; no Python client can ask this. The first word of a row is a number or an id."""
        options = self._configuration_of_tools()
        addresses = ",".join(f"127.0.0.1:{self.ports(number)[1]}" for number in NUMBERS)
        tool = ["org.apache.kafka.tools.TransactionsCommand", "--bootstrap-server", addresses]
        command = [*self.java(), *tool, "--command-config", options, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS)
        if done.returncode:
            raise ConnectionError(f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def _configuration_of_tools(self) -> Path:
        file = self.stack.home.root / "tools.properties"
        stores = {"keystore": self.certificates.file("admin"), "truststore": self.certificates.trust}
        lines = [f"ssl.{name}.type=PEM\nssl.{name}.location={path}" for name, path in stores.items()]
        file.write_text("\n".join(["security.protocol=SSL", *lines]) + "\n")
        return file

    def leader(self, topic: str, partition: int = 0) -> Broker:
        """Returns the leader of a partition. Raises OSError if it has none."""
        number = self._partitions()[topic][partition].leader
        if number not in NUMBERS:
            raise ConnectionError(f"{topic} has no leader")
        return self.all[number - 1]

    def await_all(self) -> None:
        """Returns when each broker answers that all brokers run, and that each replica is in sync.

        Each one is asked, because the others do not notice at once that a broker was killed.
        """
        wait_until(lambda: all(map(self._are_in_sync, NUMBERS)), "three brokers in sync")

    def start_ended(self) -> None:
        """Starts the brokers whose process has ended."""
        for broker in self.all:
            if not broker.is_running:
                broker.start()

    def _are_in_sync(self, number: int) -> bool:
        metadata = self._metadata([number])
        partitions = [p for topic in metadata.topics.values() for p in topic.partitions.values()]
        return len(metadata.brokers) == len(NUMBERS) and all(
            len(partition.isrs) == len(NUMBERS) and partition.leader in NUMBERS for partition in partitions
        )

    def _partitions(self) -> dict[str, dict]:
        return {name: topic.partitions for name, topic in self._metadata().topics.items()}

    def _metadata(self, numbers: Sequence[int] = NUMBERS):
        try:
            return self.admin(numbers).list_topics(timeout=QUERY_SECONDS)
        except KafkaException as error:
            raise ConnectionError(str(error)) from error

    def _retry(self, action) -> None:
        """Repeats an idempotent action: on a busy machine an answer may take longer than the client waits."""

        def succeeds() -> bool:
            try:
                action()
            except KafkaException as error:
                raise ConnectionError(str(error)) from error
            return True

        wait_until(succeeds, "the cluster to accept a change")

    @contextmanager
    def without(self, broker: Broker, number: int = signal.SIGTERM) -> Iterator[None]:
        """Ends a broker, and starts it again at the end of the block; returns when all are in sync."""
        broker.end(number)
        try:
            yield
        finally:
            broker.start()
        self.await_all()


def await_time(at: float) -> None:
    """Returns at a time in seconds since 1970 UTC."""
    wait_until(lambda: time.time() > at, "a time", seconds=LIMIT_SECONDS + max(0.0, at - time.time()))
