"""Stores the snapshots of servers, as a component of the one-machine stack."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace.programs import fingerprint
from tailrace.programs.snapshots import SnapshotProgram
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local import kafka as local_kafka
from tailrace_local.supervisor.component import PythonComponent

ACCOUNT = "facts"


class Facts(SnapshotProgram, PythonComponent):
    """Runs tailrace.facts with the local Kafka and ClickHouse."""

    needs = ("kafka", "clickhouse")
    start_seconds = 60
    grace_seconds = 30

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace.facts"),
            *local_kafka.as_arguments(self.settings, self.home, ACCOUNT),
            *local_clickhouse.as_arguments(self.settings, self.home, ACCOUNT),
            *("--heartbeat-file", self._heartbeat()),
            *("--fingerprint-socket", fingerprint.socket_of(self.home)),
        ]

    def address(self) -> str:
        return "-"
