"""Fluent Bit, as a component of the one-machine stack: a program on PATH, or built from source."""

import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from functools import cache
from http import HTTPStatus
from pathlib import Path

from tailrace.config.settings import SettingsError
from tailrace.programs.capture import has_snapshots
from tailrace.programs.fluentbit import COLLECTOR, FluentBitProgram, instances_for
from tailrace.programs.program import HEALTHY, Health
from tailrace.sources import sources_file
from tailrace.sources.sources_file import Listed
from tailrace_local import kafka as local_kafka
from tailrace_local.components import fluentbit_build
from tailrace_local.components.capture import Capture
from tailrace_local.components.census import Census
from tailrace_local.supervisor.component import Component, Progress

# The variables of kafka.conf that have no usable default, for a broker on this machine.
PLAIN_TEXT = {"TAILRACE_KAFKA_SECURITY_PROTOCOL": "plaintext", "TAILRACE_KAFKA_SASL_MECHANISM": "PLAIN"}


VARIABLES = {
    "security.protocol": "TAILRACE_KAFKA_SECURITY_PROTOCOL",
    "ssl.ca.location": "TAILRACE_KAFKA_CA_FILE",
    "sasl.mechanism": "TAILRACE_KAFKA_SASL_MECHANISM",
    "sasl.username": "TAILRACE_KAFKA_SASL_USERNAME",
    "sasl.password": "TAILRACE_KAFKA_SASL_PASSWORD",
}
"""Variables of kafka.conf, by librdkafka's names."""


class FluentBit(FluentBitProgram, Component):
    """Uses the program of TAILRACE_FLUENT_BIT, or a `fluent-bit` on PATH, or 1.8.15 built from source."""

    feeds = ("kafka",)
    os_packages = fluentbit_build.OS_PACKAGES
    tools = fluentbit_build.TOOLS
    grace_seconds = 30  # three for each output with queued messages while Kafka is unavailable

    def is_version_1(self) -> bool:
        return self.version().startswith("1.")

    def joins_lines(self) -> bool:
        return self.program() == self._built_program()

    def check(self) -> None:
        chosen = self.settings.fluent_bit
        if chosen != Path() and not (chosen.is_file() and os.access(chosen, os.X_OK)):
            raise SettingsError(f"TAILRACE_FLUENT_BIT: there is no program {chosen}")

    def reads(self, listed: Listed) -> object:
        return set(listed.logs), has_snapshots(self.home, listed.servers)

    def installed(self) -> bool:
        return self.program().exists()

    def install(self, progress: Progress) -> None:
        fluentbit_build.build(self.settings.cache, progress)

    def inotify_instances(self) -> int:
        """Is called before the start, when there is no active list yet."""
        return instances_for(len(sources_file.load(self.settings.sources)))

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
        client = local_kafka.connect(self.settings, self.home, "collector")
        secured = {VARIABLES[name]: value for name, value in client.properties.items()}
        return {"TAILRACE_KAFKA_BROKERS": client.address, **PLAIN_TEXT, **secured}

    def ports(self) -> Mapping[str, int]:
        return {"health and metrics": self.settings.port_fluentbit}

    def health(self) -> Health:
        if not self.is_version_1() and self._outputs_fail():  # version 1 exits if an output has failed
            return Health.failing("an output reports errors; see its log")
        with urllib.request.urlopen(f"{self.address()}/api/v1/uptime", timeout=1) as answer:
            return HEALTHY if "uptime_sec" in json.load(answer) else Health.failing("gives no uptime")

    def _outputs_fail(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address()}/api/v1/health", timeout=1):
                return False
        except urllib.error.HTTPError as error:
            return error.code == HTTPStatus.INTERNAL_SERVER_ERROR

    def metrics(self) -> str:
        with urllib.request.urlopen(f"{self.address()}/api/v1/metrics/prometheus", timeout=2) as answer:
            return answer.read().decode()

    def version(self) -> str:
        return _version_of(self.program())

    def address(self) -> str:
        return f"http://127.0.0.1:{self.settings.port_fluentbit}"

    def program(self) -> Path:
        """The program to run: the chosen one, or one on PATH, or the built one."""
        if self.settings.fluent_bit != Path():
            return self.settings.fluent_bit
        on_path = shutil.which("fluent-bit")
        return Path(on_path) if on_path else self._built_program()

    def _built_program(self) -> Path:
        return fluentbit_build.entry(self.settings.cache) / "bin" / "fluent-bit"


@cache
def _version_of(program: Path) -> str:
    shown = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return shown.stdout.split("\n", maxsplit=1)[0].removeprefix("Fluent Bit v")
