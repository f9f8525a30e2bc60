"""Kafka: one KRaft node from the jars on Maven Central, with the topics of schemas/topics.yaml."""

import base64
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tailrace.config import content_hash
from tailrace.config.resources import REPOSITORY
from tailrace.config.template import fill
from tailrace.credentials.certificates import RENEWAL_DAYS, Certificates
from tailrace.kafka import accounts as kafka_accounts
from tailrace.kafka import topics
from tailrace.plural import counted
from tailrace.programs.program import HEALTHY, Health
from tailrace.signing import publication
from tailrace.signing.registry import Registry
from tailrace_local import kafka as local_kafka
from tailrace_local.components import class_archive
from tailrace_local.components.jvm import NO_COUNTERS
from tailrace_local.supervisor import endpoint, maven
from tailrace_local.supervisor.component import Component, Progress

EMBEDDED = REPOSITORY / "embedded" / "kafka"
POM = EMBEDDED / "pom.xml"
TEMPLATE = EMBEDDED / "server.properties.template"
PLAINTEXT = EMBEDDED / "plaintext.properties.template"
SECURED = EMBEDDED / "secured.properties.template"
METRICS = EMBEDDED / "metrics.yaml"
HEALTH_SECONDS = 1
LOGGING = f"-Dlog4j2.configurationFile={EMBEDDED / 'log4j2.properties'}"


class Kafka(Component):
    """Broker and controller in one JVM."""

    name = "kafka"
    tools = ("java", "mvn")
    grace_seconds = 30

    def installed(self) -> bool:
        return self._libraries().exists() and self._class_archive().exists()

    def install(self, progress: Progress) -> None:
        if not self._libraries().exists():
            progress.report("downloading Kafka 4.3.1 (93 jars, 57 MB)")
            maven.copy_dependencies(progress, POM, self._libraries())
        class_archive.make(self._class_archive(), self._java(), self._run_once, progress)

    def _run_once(self, directory: Path, listing: Sequence[str]) -> None:
        """Runs a separate broker until it listens."""
        port, controller = class_archive.free_ports()
        configuration = directory / "server.properties"
        values = {
            "CONTROLLER_PORT": controller,
            "LOG_DIRECTORY": directory / "log",
            "LISTENERS": fill(PLAINTEXT, {"PORT": port, "CONTROLLER_PORT": controller}),
        }
        configuration.write_text(fill(TEMPLATE, values))
        self._format(configuration)
        broker = [*self._java(), *listing, LOGGING, "kafka.Kafka", configuration]
        class_archive.run_until(broker, lambda: local_kafka.listens(port))

    def prepare(self) -> None:
        # A client does not reload its certificates.
        self.__dict__.pop("_admin", None)
        endpoint.choose(self.home, self.name)
        values = {
            "CONTROLLER_PORT": self.settings.port_kafka_controller,
            "LOG_DIRECTORY": self._log_directory(),
            "LISTENERS": self._listeners(),
        }
        self._configuration().write_text(fill(TEMPLATE, values))
        if not (self._log_directory() / "meta.properties").exists():
            self._format(self._configuration())

    def command(self) -> Sequence[str | Path]:
        heap = ["-Xms64m", f"-Xmx{self.settings.memory_kafka}m"]
        (agent,) = self._libraries().glob("jmx_prometheus_javaagent-*.jar")
        metrics = f"-javaagent:{agent}=127.0.0.1:{endpoint.port(self.home, self.name)}:{METRICS}"
        return [*self.java(), *heap, NO_COUNTERS, LOGGING, metrics, "kafka.Kafka", self._configuration()]

    def ports(self) -> Mapping[str, int]:
        ports = {"broker": self.settings.port_kafka, "controller": self.settings.port_kafka_controller}
        internal = {"internal": self.settings.port_kafka_internal} if self._certificates.exist() else {}
        return {**ports, **internal}

    def health(self) -> Health:
        try:
            brokers = self._admin.list_topics(timeout=HEALTH_SECONDS).brokers
        except KafkaException as error:
            return Health.failing(error.args[0].str())
        return HEALTHY if brokers else Health.failing("knows no broker")

    def metrics(self) -> str:
        return endpoint.read(self.home, self.name)

    def provision(self) -> None:
        if self._certificates.exist():
            kafka_accounts.apply_accounts(self._admin, kafka_accounts.accounts(), self.home.secret)
        topics.apply(self._admin, topics.load())
        publication.publish(local_kafka.administration(self.settings, self.home), Registry(self.home).text())

    def problem(self) -> str:
        if not self._certificates.exist():
            return ""
        left = (self._certificates.first_expiry() - datetime.now(UTC)).days
        if left >= RENEWAL_DAYS:
            return ""
        return f"a certificate ends in {counted(left, 'day')}: tailrace credentials renew"

    def version(self) -> str:
        (jar,) = self._libraries().glob("kafka_2.13-*.jar")
        return jar.stem.removeprefix("kafka_2.13-")

    def address(self) -> str:
        return f"127.0.0.1:{self.settings.port_kafka}"

    @cached_property
    def _admin(self) -> AdminClient:
        # While Kafka is down, the client would write a line per attempt to our standard error.
        client = local_kafka.administration(self.settings, self.home)
        return AdminClient(client.settings({"log_level": 0, "error_cb": _ignore}))

    @property
    def _certificates(self) -> Certificates:
        return Certificates(self.home)

    def _listeners(self) -> str:
        values = {"PORT": self.settings.port_kafka, "CONTROLLER_PORT": self.settings.port_kafka_controller}
        if not self._certificates.exist():
            return fill(PLAINTEXT, values)
        secured = {
            "INTERNAL_PORT": self.settings.port_kafka_internal,
            "KEY_AND_CERTIFICATE": self._certificates.file("kafka"),
            "TRUST": self._certificates.trust,
        }
        return fill(SECURED, {**values, **secured})

    def _format(self, configuration: Path) -> None:
        """Formats the empty log directory with a cluster id, as KRaft requires."""
        tool = [*self.java(), "kafka.tools.StorageTool", "format", "--standalone"]
        identity = ["--cluster-id", new_cluster_id(), "--config", configuration]
        done = subprocess.run([*tool, *identity], capture_output=True, text=True)
        if done.returncode:
            raise OSError(f"Kafka's storage cannot be formatted: {(done.stderr or done.stdout).strip()}")

    def java(self) -> list[str | Path]:
        """Returns the command to which options of the JVM and a class of Kafka are added."""
        return [*self._java(), *class_archive.options(self._class_archive())]

    def _java(self) -> list[str]:
        # One broker beside everything else: the simple compiler and collector take a third less CPU time for
        # the first millions of messages, and 140 MB less memory.
        return ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{self._libraries()}/*"]

    def _libraries(self) -> Path:
        return self.settings.cache / self.name / content_hash.fingerprint(POM)

    def _class_archive(self) -> Path:
        return self._libraries().with_suffix(".jsa")

    def _log_directory(self) -> Path:
        return self.home.data(self.name) / "log"

    def _configuration(self) -> Path:
        return self.home.data(self.name) / "server.properties"


def new_cluster_id() -> str:
    """Returns 22 characters in Kafka's notation of a UUID; never with a leading `-`, which its tool
    rejects."""
    identity = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    return identity.replace("-", "A")


def _ignore(error: object) -> None:
    """Ignores the client's background errors, which `health` also detects."""
