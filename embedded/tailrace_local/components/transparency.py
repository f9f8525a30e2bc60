"""The transparency log, as a component of the one-machine stack."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace.programs.transparency import TransparencyProgram
from tailrace.transparency import keys
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local.supervisor.component import PythonComponent

ACCOUNT = "auditor"


class Transparency(TransparencyProgram, PythonComponent):
    """Runs tailrace.transparency with the local ClickHouse."""

    needs = ("clickhouse",)
    feeds = ("witness",)
    start_seconds = 600

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace.transparency"),
            *("--directory", keys.directory(self.home)),
            *("--key", keys.prepare_log(self.home)),
            *("--keys-file", self._host_keys()),
            *local_clickhouse.as_arguments(self.settings, self.home, ACCOUNT),
            *("--interval", str(self.settings.transparency_interval)),
            *("--heartbeat-file", self._heartbeat()),
        ]

    def address(self) -> str:
        return str(keys.directory(self.home))
