"""The receiver of other tools' actions on alerts, as a component of the one-machine stack."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace.programs.callbacks import CallbackProgram
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local.supervisor.component import PythonComponent

ACCOUNT = "analyst"


class Callbacks(CallbackProgram, PythonComponent):
    """Runs tailrace.callbacks with the local ClickHouse."""

    needs = ("clickhouse",)
    start_seconds = 60

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace.callbacks"),
            *("--config", self.settings.callbacks_config),
            *local_clickhouse.as_arguments(self.settings, self.home, ACCOUNT),
            *("--port", str(self.settings.port_callbacks)),
            *("--heartbeat-file", self._heartbeat()),
        ]

    def address(self) -> str:
        return f"port {self.settings.port_callbacks}"
