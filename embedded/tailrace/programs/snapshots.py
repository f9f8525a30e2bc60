"""Stores what tailrace.snapshots has: snapshots of servers, and records from Performance Schema."""

from tailrace.programs.capture import has_snapshots
from tailrace.programs.program import Health, ModuleProgram
from tailrace.sources import active_sources

SILENT_SECONDS = 120
"""The maximum age of the heartbeat: an insert into an unresponsive ClickHouse may take that long."""
NONE_YET = "nothing read yet"


class SnapshotProgram(ModuleProgram):
    """Configures `python -m tailrace.facts`."""

    name = "facts"

    def configured(self) -> bool:
        servers = active_sources.active_servers(self.settings, self.home)
        return has_snapshots(self.home, servers) or active_sources.has_pulled(self.settings, self.home)

    def prepare(self) -> None:
        self._heartbeat().unlink(missing_ok=True)

    def health(self) -> Health:
        return self._health_by_heartbeat(NONE_YET, SILENT_SECONDS)

    def liveness(self) -> Health:
        return self._liveness_by_heartbeat(NONE_YET)
