"""Explains the heaviest statements, as a component of the one-machine stack."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace import __version__
from tailrace.credentials.names import password_name
from tailrace.programs.explain import ExplainProgram
from tailrace.sources.sources_file import Listed
from tailrace_local.components.capture import Capture
from tailrace_local.supervisor.component import Component, Progress

ACCOUNT = "explain"


class Explain(ExplainProgram, Component):
    """Runs collectors/capture with samples of the local ClickHouse; Fluent Bit ships its spool."""

    needs = ("clickhouse",)
    start_seconds = 180

    def reads(self, listed: Listed) -> object:
        return {server.explained() for server in listed.servers if server.explain}

    def installed(self) -> bool:
        return True

    def install(self, progress: Progress) -> None:
        """Nothing to do: it needs only Python and what bin/tailrace needs."""

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace_capture", "explain"),
            *("--servers", self._servers(), "--spool", Capture(self.settings, self.home).spool()),
            *("--state", self.home.data(self.name) / "state", "--heartbeat-file", self._heartbeat()),
            *("--clickhouse", f"http://127.0.0.1:{self.settings.port_clickhouse}"),
            *("--user", ACCOUNT, "--password-file", self.home.secret_file(password_name(ACCOUNT))),
        ]

    def version(self) -> str:
        return __version__

    def address(self) -> str:
        return str(Capture(self.settings, self.home).spool())
