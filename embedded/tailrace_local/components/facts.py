"""Stores the snapshots of servers, as a component of the one-machine stack."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace import __version__
from tailrace.credentials.names import password_name
from tailrace.programs.snapshots import SnapshotProgram
from tailrace_local import kafka as local_kafka
from tailrace_local.supervisor.component import Component, Progress

ACCOUNT = "facts"


class Facts(SnapshotProgram, Component):
    """Runs tailrace.facts with the local Kafka and ClickHouse."""

    needs = ("kafka", "clickhouse")
    start_seconds = 60
    grace_seconds = 30

    def installed(self) -> bool:
        return True

    def install(self, progress: Progress) -> None:
        """Nothing to do: it needs only Python."""

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace.facts"),
            *local_kafka.as_arguments(self.settings, self.home, ACCOUNT),
            *("--clickhouse", f"http://127.0.0.1:{self.settings.port_clickhouse}"),
            *("--user", ACCOUNT, "--password-file", self.home.secret_file(password_name(ACCOUNT))),
            *("--heartbeat-file", self._heartbeat()),
        ]

    def version(self) -> str:
        return __version__

    def address(self) -> str:
        return "-"
