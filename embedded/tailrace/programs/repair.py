"""The automatic repair of gaps in the logs of sources.yaml."""

import dataclasses
import json
from pathlib import Path

from tailrace.ledger import listed_logs
from tailrace.programs.program import Health, ModuleProgram
from tailrace.sources import active_sources

SILENT_SECONDS = 180
"""The maximum age of the heartbeat: a read of the ledger, the shipment of 1 GB, and the wait for the
ledger."""
NONE_YET = "the ledger was not read yet"


class RepairProgram(ModuleProgram):
    """Configures `python -m tailrace.repair`."""

    name = "repair"

    def prepare(self) -> None:
        listed = active_sources.active_or_listed(self.settings, self.home)
        watched = [{**dataclasses.asdict(log), "path": str(log.path)} for log in listed.logs]
        self._sources().write_text(json.dumps(watched, indent=2))
        listed_logs.write(self._listed(), listed_logs.of_list(listed))
        self._heartbeat().unlink(missing_ok=True)

    def health(self) -> Health:
        return self._health_by_heartbeat(NONE_YET, SILENT_SECONDS)

    def liveness(self) -> Health:
        return self._liveness_by_heartbeat(NONE_YET)

    def _sources(self) -> Path:
        """The watched logs. JSON is YAML."""
        return self.home.data(self.name) / "sources.yaml"

    def _listed(self) -> Path:
        """All entries of sources.yaml, also those that are pulled or polled."""
        return self.home.data(self.name) / "listed.json"
