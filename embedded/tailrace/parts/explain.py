"""Explains the heaviest statements of those servers of sources.yaml that say `explain: true`."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tailrace import __version__, listing
from tailrace.accounts import password_name
from tailrace.parts.capture import PROGRAM, Capture, ServerState, health_by, servers_by, write_servers
from tailrace.sources import Listed, Server
from tailrace.stack.part import Health, Part, Progress

ACCOUNT = "explain"
LONGEST_SILENCE_SECONDS = 2400
"""Rounds are half an hour apart at most, while a server is busy or away."""


class Explain(Part):
    """Runs collectors/capture over samples of the embedded ClickHouse; Fluent Bit ships its spool."""

    name = "explain"
    needs = ("clickhouse",)
    start_seconds = 180

    def configured(self) -> bool:
        return bool(self._explained())

    def reads(self, listed: Listed) -> object:
        return {server.explained() for server in listed.servers if server.explain}

    def installed(self) -> bool:
        return True

    def install(self, progress: Progress) -> None:
        """Nothing to do: it needs only Python and what bin/tailrace needs."""

    def prepare(self) -> None:
        write_servers(self._servers(), [server.explained() for server in self._explained()])
        self._beat().unlink(missing_ok=True)

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace_capture", "explain"),
            *("--servers", self._servers(), "--spool", Capture(self.settings, self.home).spool()),
            *("--state", self.home.data(self.name) / "state", "--beat", self._beat()),
            *("--clickhouse", f"http://127.0.0.1:{self.settings.port_clickhouse}"),
            *("--user", ACCOUNT, "--password-file", self.home.secret_file(password_name(ACCOUNT))),
        ]

    def environment(self) -> Mapping[str, str]:
        return {"PYTHONPATH": str(PROGRAM)}

    def health(self) -> Health:
        return health_by(self._beat(), LONGEST_SILENCE_SECONDS)

    def servers(self) -> list[ServerState]:
        """How the last round at each server ended."""
        return servers_by(self._beat())

    def version(self) -> str:
        return __version__

    def address(self) -> str:
        return str(Capture(self.settings, self.home).spool())

    def _explained(self) -> list[Server]:
        servers = listing.servers_in_force(self.settings, self.home)
        return [server for server in servers if server.explain]

    def _beat(self) -> Path:
        return self.home.data(self.name) / "beat"

    def _servers(self) -> Path:
        return self.home.data(self.name) / "servers.json"
