"""Exports, verifies and signs evidence for the dashboards."""

from pathlib import Path

from tailrace.config.home import Home
from tailrace.evidence.service.client import EvidenceService, NoServiceError, ServiceError
from tailrace.programs.program import HEALTHY, Health, ModuleProgram


def socket_of(home: Home) -> Path:
    """The socket of the service."""
    return home.run / "evidence.sock"


class EvidenceProgram(ModuleProgram):
    """Configures `python -m tailrace.evidence`."""

    name = "evidence"

    def health(self) -> Health:
        try:
            EvidenceService(socket_of(self.home)).status()
        except (NoServiceError, ServiceError) as error:
            return Health.failing(str(error))
        return HEALTHY
