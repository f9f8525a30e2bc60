"""The automatic repair of gaps, as a component of the one-machine stack."""

import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace.ledger import listed_logs
from tailrace.programs.repair import RepairProgram
from tailrace.sources.sources_file import Listed
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local import kafka as local_kafka
from tailrace_local.supervisor.component import PythonComponent

ACCOUNT = "repair"
KAFKA_ACCOUNT = "backfill"


class Repair(RepairProgram, PythonComponent):
    """Runs tailrace.repair with the local Kafka and ClickHouse."""

    needs = ("kafka", "clickhouse")
    start_seconds = 60
    grace_seconds = 30

    def reads(self, listed: Listed) -> object:
        return set(listed_logs.of_list(listed)), set(listed.logs)

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace.repair"),
            *("--sources", self._sources(), "--listed", self._listed()),
            *("--host", self.settings.host or socket.gethostname()),
            *local_kafka.as_arguments(self.settings, self.home, KAFKA_ACCOUNT),
            *local_clickhouse.as_arguments(self.settings, self.home, ACCOUNT),
            *("--heartbeat-file", self._heartbeat()),
        ]

    def address(self) -> str:
        return "-"
