"""Explains the heaviest statements of those servers of sources.yaml that say `explain: true`."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tailrace import __version__, sources
from tailrace.accounts import password_name
from tailrace.parts.capture import PROGRAM, Capture, write_servers
from tailrace.sources import Server
from tailrace.stack.part import HEALTHY, Health, Part, Progress

ACCOUNT = "reader_security"


class Explain(Part):
    """Runs collectors/capture over samples of the embedded ClickHouse; Fluent Bit ships its spool."""

    name = "explain"
    needs = ("clickhouse",)
    start_seconds = 60

    def configured(self) -> bool:
        return sources.names_servers(self.settings.sources) and bool(self._explained())

    def installed(self) -> bool:
        return True

    def install(self, progress: Progress) -> None:
        """Nothing to do: it needs only Python and what bin/tailrace needs."""

    def prepare(self) -> None:
        write_servers(self._servers(), self._explained())

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace_capture", "explain"),
            *("--servers", self._servers(), "--spool", Capture(self.settings, self.home).spool()),
            *("--state", self.home.data(self.name) / "state"),
            *("--clickhouse", f"http://127.0.0.1:{self.settings.port_clickhouse}"),
            *("--user", ACCOUNT, "--password-file", self.home.secret_file(password_name(ACCOUNT))),
        ]

    def environment(self) -> Mapping[str, str]:
        return {"PYTHONPATH": str(PROGRAM)}

    def health(self) -> Health:
        """It runs; what keeps it from explaining is in its log, and is nothing that a restart mends."""
        return HEALTHY

    def version(self) -> str:
        return __version__

    def address(self) -> str:
        return str(Capture(self.settings, self.home).spool())

    def _explained(self) -> list[Server]:
        return [server for server in sources.load_servers(self.settings.sources) if server.explain]

    def _servers(self) -> Path:
        return self.home.data(self.name) / "servers.json"
