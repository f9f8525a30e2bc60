"""The Flink jobs of stream-jobs/flink-jobs: each is one JVM that includes Flink with its web UI."""

import json
import ssl
import time
import urllib.parse
import urllib.request
import zipfile
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from tailrace.config import content_hash
from tailrace.config.resources import REPOSITORY
from tailrace.credentials.certificates import KEYSTORE_PASSWORD, Certificates
from tailrace.credentials.names import password_name
from tailrace.erasure import vault
from tailrace.kafka import accounts as kafka_accounts
from tailrace.migrations import runner as migration_runner
from tailrace.programs.program import HEALTHY, Health
from tailrace_local import checkpoints, java_build
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local.components import class_archive, flink_classes
from tailrace_local.components.jvm import NO_COUNTERS
from tailrace_local.supervisor import endpoint, maven
from tailrace_local.supervisor.component import Component, Progress

EMBEDDED = REPOSITORY / "embedded" / "flink"
POM = EMBEDDED / "pom.xml"

OPENED_PACKAGES = (
    *("java.lang", "java.lang.reflect", "java.net", "java.io", "java.nio", "java.text", "java.time"),
    *("java.util", "java.util.concurrent", "java.util.concurrent.atomic", "java.util.concurrent.locks"),
    "sun.nio.ch",
)
"""The packages that Flink's scripts open on Java 17 (env.java.opts.all of its configuration)."""

RPC_SYSTEM = "flink-rpc-akka.jar"

SLOW_CLOCK = ("-Dpekko.scheduler.tick-duration=500ms",)
"""Two schedulers of Flink for timeouts, heartbeats and restarts wake up at this interval. The default is
10 ms."""

REST_SECONDS = 1
SAVEPOINT_SECONDS = 30
"""Timeouts: a busy job responds late, and a savepoint takes long."""
SAVEPOINT_POLL_SECONDS = 0.2


class FlinkJob(Component):
    """Resumes from the newest completed checkpoint of any run, and claims it (claim mode)."""

    needs = ("kafka", "clickhouse")
    tools = ("java", "mvn")
    grace_seconds = 30
    start_seconds = 600
    """At a load of 25 a job with state needs up to 44 s. A restart would begin the start again."""

    main_class: ClassVar[str]
    account: ClassVar[str]
    """The job's Kafka account."""
    jvm_options: ClassVar[tuple[str, ...]] = ()
    """JVM options in addition to the heap and the common ones."""

    @abstractmethod
    def memory(self) -> int:
        """The Java heap, MiB."""

    def chosen_jvm_options(self) -> Sequence[str]:
        """The JVM options from the settings."""
        return ()

    @abstractmethod
    def port(self) -> int:
        """The port of the web UI."""

    @abstractmethod
    def job_configuration(self) -> dict[str, object]:
        """The configuration keys of this job, in addition to the common ones."""

    def installed(self) -> bool:
        return (
            self._libraries().exists()
            and java_build.are_built(self.settings)
            and self._class_archive().exists()
        )

    def install(self, progress: Progress) -> None:
        if not self._libraries().exists():
            progress.report("downloading Flink 2.2.1 (44 jars, 69 MB)")
            maven.copy_dependencies(progress, POM, self._libraries(), unpack_rpc_system)
        java_build.build(self.settings, progress)
        flink_classes.make(self._class_archive(), self._java(), Flink.main_class, progress)

    def prepare(self) -> None:
        checkpoints.remove_dead_runs(self.checkpoint_directory())
        endpoint.choose(self.home, self.name)
        lines = (f"{key}: {value}" for key, value in self._job_configuration().items())
        self._configuration().write_text("\n".join(lines) + "\n")

    def command(self) -> Sequence[str | Path]:
        log4j = f"-Dlog4j2.configurationFile={EMBEDDED / 'log4j2.properties'}"
        # A third of the heap is for young objects. If it grew from a small size, a busy job would collect
        # them twice as often.
        heap = [
            f"-Xms{self.memory()}m",
            f"-Xmx{self.memory()}m",
            *self.jvm_options,
            *self.chosen_jvm_options(),
        ]
        # With the default threshold, loading the classes of the start would cause a full collection.
        classes = ["-XX:MetaspaceSize=96m", *class_archive.options(self._class_archive())]
        # A JVM without memory cannot recover: it exits, and the supervisor restarts it.
        jvm = [*heap, *classes, *SLOW_CLOCK, NO_COUNTERS, "-XX:+ExitOnOutOfMemoryError", log4j]
        return [*self._java(), *jvm, self.main_class, "--config", self._configuration()]

    def _java(self) -> list[str]:
        """The java command with the options that the class archive also depends on."""
        opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED_PACKAGES]
        class_path = f"{self._libraries()}/*:{java_build.jar(self.settings, 'normalize.jar')}"
        # With a heap of this size, the serial collector needs 150 MB less than the default one.
        return ["java", "-XX:+UseSerialGC", *opened, "-cp", class_path]

    def ports(self) -> Mapping[str, int]:
        return {"web UI": self.port()}

    def health(self) -> Health:
        job = self._newest_job()
        if not job:
            return Health.failing("runs no job yet")
        tasks = job["tasks"]
        if job["state"] != "RUNNING":
            return Health.failing(f"the job is {job['state'].lower()}")
        if tasks["running"] < tasks["total"]:
            return Health.failing(f"{tasks['running']} of {tasks['total']} tasks run")
        return HEALTHY

    def metrics(self) -> str:
        return endpoint.read(self.home, self.name)

    def version(self) -> str:
        return self.ask("/config")["flink-version"]

    def address(self) -> str:
        scheme = "https" if self._certificates.exist() else "http"
        return f"{scheme}://127.0.0.1:{self.port()}"

    def checkpoint_directory(self) -> Path:
        directory = self.home.data(self.name) / "checkpoints"
        directory.mkdir(exist_ok=True)
        return directory

    def take_savepoint(self) -> Path:
        """Makes the running job write a savepoint; returns its directory. Raises CheckpointError, OSError."""
        job = self._newest_job(SAVEPOINT_SECONDS)["jid"]
        target = {"target-directory": str(self.checkpoint_directory())}
        trigger = self.ask(f"/jobs/{job}/savepoints", target, SAVEPOINT_SECONDS)
        while True:
            progress = self.ask(f"/jobs/{job}/savepoints/{trigger['request-id']}", seconds=SAVEPOINT_SECONDS)
            if progress["status"]["id"] == "COMPLETED":
                return _savepoint_path(progress["operation"])
            time.sleep(SAVEPOINT_POLL_SECONDS)

    def _newest_job(self, seconds: float = REST_SECONDS) -> dict:
        return max(
            self.ask("/jobs/overview", seconds=seconds)["jobs"],
            key=lambda job: job["start-time"],
            default={},
        )

    def _job_configuration(self) -> dict[str, object]:
        restored = checkpoints.newest(self.checkpoint_directory())
        return {
            **self._kafka(),
            "clickhouse.url": local_clickhouse.address(self.settings, self.home),
            "clickhouse.user": "writer",
            "clickhouse.password-file": self.home.secret_file(password_name("writer")),
            "checkpoint.dir": self.checkpoint_directory().as_uri(),
            "web.port": self.port(),
            **self._web_tls(),
            "metrics.port": endpoint.port(self.home, self.name),
            **self.job_configuration(),
            **self._pseudonyms(),
            **({"restore.path": restored.uri} if restored else {}),
        }

    def _pseudonyms(self) -> dict[str, object]:
        """The keys with which the job replaces names in rows; none if rows contain names."""
        if not self.settings.pseudonyms:
            return {}
        files = vault.make_keys(self.home)
        return {"pseudonym.key-file": files.pseudonyms, "pseudonym.vault-key-file": files.public}

    def ask(self, path: str, body: dict | None = None, seconds: float = REST_SECONDS) -> dict:
        """Sends GET, or POST with a body, to Flink's REST interface; `seconds` is the timeout."""
        request = urllib.request.Request(
            f"{self.address()}{path}",
            json.dumps(body).encode() if body else None,
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=seconds, context=self._tls()) as answer:
            return json.load(answer)

    def _tls(self) -> ssl.SSLContext | None:
        return self._certificates.client("admin") if self._certificates.exist() else None

    def _kafka(self) -> dict[str, object]:
        """Kafka's clients read the password from its file, so that no configuration contains it."""
        bootstrap = {"kafka.bootstrap": f"127.0.0.1:{self.settings.port_kafka}"}
        if not self._certificates.exist():
            return bootstrap
        password = self.home.secret_file(kafka_accounts.password_name(self.account))
        module = "org.apache.kafka.common.security.scram.ScramLoginModule"
        from_file = f"${{files:{password.parent}:{password.name}}}"
        login = f'username="{kafka_accounts.USER_PREFIX}{self.account}" password="{from_file}"'
        properties = {
            "config.providers": "files",
            "config.providers.files.class": "org.apache.kafka.common.config.provider.DirectoryConfigProvider",
            "config.providers.files.param.allowed.paths": password.parent,
            "security.protocol": "SASL_SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": self._certificates.trust,
            "sasl.mechanism": kafka_accounts.MECHANISM,
            "sasl.jaas.config": f"{module} required {login};",
        }
        return {**bootstrap, **{f"kafka.properties.{name}": value for name, value in properties.items()}}

    def _web_tls(self) -> dict[str, object]:
        if not self._certificates.exist():
            return {}
        return {
            "web.keystore": self._certificates.file("flink"),
            "web.truststore": self._certificates.java_trust,
            "web.password-file": self.home.secret_file(KEYSTORE_PASSWORD),
        }

    @property
    def _certificates(self) -> Certificates:
        return Certificates(self.home)

    def _libraries(self) -> Path:
        return self.settings.cache / "flink" / content_hash.fingerprint(POM)

    def _class_archive(self) -> Path:
        return java_build.jar(self.settings, f"normalize-{self._libraries().name}.jsa")

    def _configuration(self) -> Path:
        return self.home.data(self.name) / "job.yaml"


class Flink(FlinkJob):
    """The normalize job: from lines to events."""

    name = "flink"
    main_class = "io.tailrace.flink.normalize.NormalizeJob"
    account = "normalize"

    def memory(self) -> int:
        return self.settings.memory_flink

    def port(self) -> int:
        return self.settings.port_flink

    def chosen_jvm_options(self) -> Sequence[str]:
        return self.settings.jvm_options_flink.split()

    def job_configuration(self) -> dict[str, object]:
        """The keys are documented in io.tailrace.flink.normalize.NormalizeJobOptions."""
        retention = migration_runner.load_retention()
        return {
            "checkpoint.interval.ms": self.settings.checkpoint_interval,
            "gap.timeout.ms": self.settings.gap_timeout * 1000,
            "retention.query-events.days": retention["query_events"],
            "retention.audit-events.days": retention["audit_events"],
            "retention.error-events.days": retention["error_events"],
            "retention.otel-traces.days": retention["otel_traces"],
            "innodb.log.capacity": self.settings.innodb_log_capacity,
            "parallelism": self.settings.parallelism,
        }


def unpack_rpc_system(libraries: Path) -> None:
    """Replaces the jar of Flink's loader of the RPC system by the jar in it, which goes onto the class path.

    io.tailrace.flink.runtime.ClassPathRpcSystemLoader explains why.
    """
    (loader,) = libraries.glob("flink-rpc-akka-loader-*.jar")
    with zipfile.ZipFile(loader) as content:
        content.extract(RPC_SYSTEM, libraries)
    loader.unlink()


def _savepoint_path(operation: dict) -> Path:
    if "location" not in operation:
        cause = operation.get("failure-cause", {}).get("class", "no cause was given")
        raise checkpoints.CheckpointError(f"the job could not write a savepoint: {cause}")
    return Path(urllib.parse.unquote(urllib.parse.urlsplit(operation["location"]).path))
