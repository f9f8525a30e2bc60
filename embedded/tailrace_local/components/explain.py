"""Explains the heaviest statements, as a component of the one-machine stack."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace.programs.explain import ExplainProgram
from tailrace.sources.sources_file import Listed
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local.components.capture import Capture
from tailrace_local.supervisor.component import PythonComponent

ACCOUNT = "explain"


class Explain(ExplainProgram, PythonComponent):
    """Runs collectors/capture with samples of the local ClickHouse; Fluent Bit ships its spool."""

    needs = ("clickhouse",)
    start_seconds = 180

    def reads(self, listed: Listed) -> object:
        return {server.explained() for server in listed.servers if server.explain}

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace_capture", "explain"),
            *("--servers", self._servers(), "--spool", Capture(self.settings, self.home).spool()),
            *("--state", self.home.data(self.name) / "state", "--heartbeat-file", self._heartbeat()),
            *local_clickhouse.as_arguments(self.settings, self.home, ACCOUNT),
        ]

    def address(self) -> str:
        return str(Capture(self.settings, self.home).spool())
