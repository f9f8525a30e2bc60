"""The delivery of alerts, as a component of the one-machine stack."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace import __version__
from tailrace.credentials.names import password_name
from tailrace.programs.delivery import DeliveryProgram
from tailrace_local.components import superset
from tailrace_local.supervisor.component import Component, Progress

ACCOUNT = "delivery"


class Delivery(DeliveryProgram, Component):
    """Runs tailrace.delivery with the local ClickHouse."""

    needs = ("clickhouse",)
    start_seconds = 60
    grace_seconds = 30

    def installed(self) -> bool:
        return True

    def install(self, progress: Progress) -> None:
        """Nothing to do: it needs only Python."""

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace.delivery"),
            *("--config", self.settings.alerts_config),
            *("--clickhouse", f"http://127.0.0.1:{self.settings.port_clickhouse}"),
            *("--user", ACCOUNT, "--password-file", self.home.secret_file(password_name(ACCOUNT))),
            *("--dashboards", superset.address(self.settings, self.home)),
            *("--heartbeat-file", self._heartbeat()),
        ]

    def version(self) -> str:
        return __version__

    def address(self) -> str:
        return str(self.settings.alerts_config)
