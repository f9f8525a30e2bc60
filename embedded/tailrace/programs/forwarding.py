"""The forwarding of events, if alerts.yaml has the section `events`."""

import json
import time
from pathlib import Path

from tailrace.alerts.delivery import config
from tailrace.config.yaml_reader import ConfigurationError
from tailrace.programs.program import HEALTHY, STUCK_SECONDS, Health, ModuleProgram

SILENT_SECONDS = 300
"""The maximum age of a status: a request may wait for its answer, and a commit for Kafka."""

OUTAGE_SECONDS = 600
"""The time after which an unavailable receiver is reported. A short outage needs no one."""


class ForwardingProgram(ModuleProgram):
    """Configures `python -m tailrace.forwarding`."""

    name = "forwarding"

    def configured(self) -> bool:
        """Returns whether the file lists events. A file with a mistake is reported by `delivery`."""
        file = self.settings.alerts_config
        try:
            return file.exists() and bool(config.load(file).events)
        except ConfigurationError:
            return False

    def check(self) -> None:
        config.load(self.settings.alerts_config)

    def prepare(self) -> None:
        self.check()
        for file in self._statuses():
            file.unlink()

    def health(self) -> Health:
        for channel, status in self._read().items():
            if status["problem"] and time.time() - status["since"] > OUTAGE_SECONDS:
                return Health.failing(f"{channel}: {status['problem']}")
        return self._unless_silent(SILENT_SECONDS)

    def liveness(self) -> Health:
        return self._unless_silent(STUCK_SECONDS)

    def _unless_silent(self, longest: float) -> Health:
        statuses = self._read()
        if not statuses:
            return Health.failing("not started yet")
        for channel, status in statuses.items():
            silent = time.time() - status["at"]
            if silent > longest:
                return Health.failing(f"{channel}: no status for {silent:.0f} s")
        return HEALTHY

    def _read(self) -> dict[str, dict]:
        return {file.stem: json.loads(file.read_text()) for file in self._statuses()}

    def _statuses(self) -> list[Path]:
        return sorted(self.home.data(self.name).glob("*.json"))
