"""Fluent Bit: tails the logs of sources.yaml and the census's spool, ships lines to Kafka.

It runs the files of collectors/fluent-bit as they are. Those describe one server, so that for each log of
sources.yaml a copy of its kind's file, such as slowlog.conf, is written with that log's names filled in;
everything else comes from the environment, as in production.
"""

import hashlib
import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

from tailrace import kafka, listing, preflight, sources
from tailrace.parts import fluentbit_build
from tailrace.parts.capture import Capture, tells
from tailrace.parts.census import Census
from tailrace.settings import REPOSITORY
from tailrace.sources import Listed, Source
from tailrace.stack.part import HEALTHY, Health, Part, Progress

COLLECTOR = REPOSITORY / "collectors" / "fluent-bit"

# The variables of kafka.conf that have no usable default, for a broker on this machine.
PLAIN_TEXT = {"TAILRACE_KAFKA_SECURITY_PROTOCOL": "plaintext", "TAILRACE_KAFKA_SASL_MECHANISM": "PLAIN"}


VARIABLES = {
    "security.protocol": "TAILRACE_KAFKA_SECURITY_PROTOCOL",
    "ssl.ca.location": "TAILRACE_KAFKA_CA_FILE",
    "sasl.mechanism": "TAILRACE_KAFKA_SASL_MECHANISM",
    "sasl.username": "TAILRACE_KAFKA_SASL_USERNAME",
    "sasl.password": "TAILRACE_KAFKA_SASL_PASSWORD",
}
"""Of kafka.conf, by librdkafka's names."""


class FluentBit(Part):
    """A `fluent-bit` on PATH if there is one, else 1.8.15 built from source."""

    name = "fluentbit"
    feeds = ("kafka",)
    os_packages = fluentbit_build.OS_PACKAGES
    tools = fluentbit_build.TOOLS
    grace_seconds = 30  # three for each output that has something queued while Kafka is away

    def reads(self, listed: Listed) -> object:
        return set(listed.logs), tells(self.home, listed.servers)

    def installed(self) -> bool:
        return self.program().exists()

    def install(self, progress: Progress) -> None:
        fluentbit_build.build(self.settings.cache, progress)

    def inotify_instances(self) -> int:
        """Before the start, when there is no list in force yet."""
        return instances_for(len(sources.load(self.settings.sources)))

    def prepare(self) -> None:
        listed = listing.in_force(self.settings, self.home)
        if findings := preflight.too_few_inotify_instances(instances_for(len(listed.logs))):
            raise preflight.PreflightError(findings[0])
        directory = self._configuration()
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        inputs = [self._write_input(directory, source) for source in listed.logs]
        outputs = [COLLECTOR / "kafka.conf"]
        if tells(self.home, listed.servers):
            outputs.append(COLLECTOR / "capture.conf")
        included = [COLLECTOR / "service.conf", *inputs, COLLECTOR / "census.conf", *outputs]
        (directory / "tailrace.conf").write_text("".join(f"@INCLUDE {path}\n" for path in included))

    def command(self) -> Sequence[str | Path]:
        return [self.program(), "-c", self._configuration() / "tailrace.conf"]

    def environment(self) -> Mapping[str, str]:
        return {
            "TAILRACE_COLLECTOR_DIR": str(COLLECTOR),
            "TAILRACE_STATE": str(self.home.data(self.name)),
            "TAILRACE_CENSUS_SPOOL": str(Census(self.settings, self.home).spool()),
            "TAILRACE_CAPTURE_SPOOL": str(Capture(self.settings, self.home).spool()),
            "TAILRACE_HEALTH_HOST": "127.0.0.1",
            "TAILRACE_HEALTH_PORT": str(self.settings.port_fluentbit),
            **self._kafka(),
        }

    def _kafka(self) -> dict[str, str]:
        client = kafka.connect(self.settings, self.home, "collector")
        secured = {VARIABLES[name]: value for name, value in client.properties.items()}
        return {"TAILRACE_KAFKA_BROKERS": client.address, **PLAIN_TEXT, **secured}

    def ports(self) -> Mapping[str, int]:
        return {"health and metrics": self.settings.port_fluentbit}

    def health(self) -> Health:
        with urllib.request.urlopen(f"{self.address()}/api/v1/uptime", timeout=1) as answer:
            return HEALTHY if "uptime_sec" in json.load(answer) else Health.failing("gives no uptime")

    def metrics(self) -> str:
        with urllib.request.urlopen(f"{self.address()}/api/v1/metrics/prometheus", timeout=2) as answer:
            return answer.read().decode()

    def version(self) -> str:
        shown = subprocess.run([self.program(), "--version"], capture_output=True, text=True, check=True)
        return shown.stdout.split("\n", maxsplit=1)[0].removeprefix("Fluent Bit v")

    def address(self) -> str:
        return f"http://127.0.0.1:{self.settings.port_fluentbit}"

    def program(self) -> Path:
        """The program that is run: one on PATH before the one that was built."""
        on_path = shutil.which("fluent-bit")
        return Path(on_path) if on_path else fluentbit_build.entry(self.settings.cache) / "bin" / "fluent-bit"

    def _configuration(self) -> Path:
        return self.home.data(self.name) / "configuration"

    def _write_input(self, directory: Path, source: Source) -> Path:
        template = (COLLECTOR / f"{source.source}.conf").read_text()
        name = input_name(source)
        path = directory / f"{name}.conf"
        path.write_text(filled_in(template, variables_of(source, name)))
        return path


def instances_for(logs: int) -> int:
    """The inotify instances that Fluent Bit takes: one for each log, and for the spools of census and
    capture."""
    return logs + 2


def input_name(source: Source) -> str:
    """A unique name of the log that outlives changes of the list: it names the file with its offset."""
    identity = "\0".join((source.instance, source.source, str(source.path)))
    readable = re.sub(r"[^A-Za-z0-9_.-]", "_", source.instance)
    return f"{readable}-{source.source}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}"


def variables_of(source: Source, name: str) -> dict[str, str]:
    """The variables of collectors/fluent-bit/<source>.conf that describe one log."""
    prefix = f"TAILRACE_{source.source.upper()}"
    return {
        "TAILRACE_CLUSTER": source.cluster,
        "TAILRACE_INSTANCE": source.instance,
        "TAILRACE_TZ": source.tz,
        f"{prefix}_NAME": name,
        f"{prefix}_PATH": str(source.path),
        f"{prefix}_FORMAT": source.format,
    }


def filled_in(template: str, variables: Mapping[str, str]) -> str:
    """The text with `${NAME}` replaced for these names only; Fluent Bit replaces the others."""
    return re.sub(r"\$\{(\w+)\}", lambda found: variables.get(found[1], found[0]), template)
