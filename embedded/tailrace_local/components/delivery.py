"""The delivery of alerts, as a component of the one-machine stack."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace.programs.delivery import DeliveryProgram
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local.components import superset
from tailrace_local.supervisor.component import PythonComponent

ACCOUNT = "delivery"


class Delivery(DeliveryProgram, PythonComponent):
    """Runs tailrace.delivery with the local ClickHouse."""

    needs = ("clickhouse",)
    start_seconds = 60
    grace_seconds = 30

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace.delivery"),
            *("--config", self.settings.alerts_config),
            *local_clickhouse.as_arguments(self.settings, self.home, ACCOUNT),
            *("--dashboards", superset.address(self.settings, self.home)),
            *("--secrets", self.home.secrets),
            *("--heartbeat-file", self._heartbeat()),
        ]

    def address(self) -> str:
        return str(self.settings.alerts_config)
