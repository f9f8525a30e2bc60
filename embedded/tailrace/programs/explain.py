"""Explains the heaviest statements of the servers in sources.yaml with `explain: true`."""

from collections.abc import Mapping
from pathlib import Path

from tailrace.programs.capture import PROGRAM, ServerState, health_by, servers_by, write_servers
from tailrace.programs.program import Health, Program
from tailrace.sources import active_sources
from tailrace.sources.sources_file import Server

MAX_SILENCE_SECONDS = 2400
"""The maximum interval between rounds, while a server is busy or unreachable, is half an hour."""


class ExplainProgram(Program):
    """Configures collectors/capture for the servers whose statements are explained."""

    name = "explain"

    def configured(self) -> bool:
        return bool(self._explained())

    def prepare(self) -> None:
        write_servers(self._servers(), [server.explained() for server in self._explained()])
        self._heartbeat().unlink(missing_ok=True)

    def environment(self) -> Mapping[str, str]:
        return {"PYTHONPATH": str(PROGRAM)}

    def health(self) -> Health:
        return health_by(self._heartbeat(), MAX_SILENCE_SECONDS)

    def servers(self) -> list[ServerState]:
        """Returns the result of the last round on each server."""
        return servers_by(self._heartbeat())

    def _explained(self) -> list[Server]:
        servers = active_sources.active_servers(self.settings, self.home)
        return [server for server in servers if server.explain]

    def _servers(self) -> Path:
        return self.home.data(self.name) / "servers.json"
