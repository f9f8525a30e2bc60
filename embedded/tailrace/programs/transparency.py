"""The transparency log over signed ranges and rows, and its witness on this machine."""

import urllib.error
import urllib.request
from pathlib import Path

from tailrace.programs.program import HEALTHY, Health, ModuleProgram
from tailrace.transparency import files, keys

SILENT_SECONDS = 900
"""The maximum age of a heartbeat: a step may read the rows of months."""
UNSOLVED_SECONDS = 300
"""The time after which a checkpoint that cannot be published is reported. A restart needs no one."""


class TransparencyProgram(ModuleProgram):
    """Configures `python -m tailrace.transparency`."""

    name = "transparency"

    def prepare(self) -> None:
        keys.prepare_log(self.home)
        keys.prepare_witness(self.home)
        listed = keys.directory(self.home) / keys.WITNESSES
        if not listed.exists():
            address = f"http://127.0.0.1:{self.settings.port_witness}"
            files.write(listed, f"{address} {keys.witness_key(self.home).vkey()}\n".encode())
        self._heartbeat().unlink(missing_ok=True)

    def health(self) -> Health:
        return self._health_by_heartbeat("has not finished its first step", SILENT_SECONDS)

    def problem(self) -> str:
        """Returns why no checkpoint is published, if that lasts."""
        return self._lasting_problem(UNSOLVED_SECONDS)

    def _host_keys(self) -> Path:
        return self.home.root / "keys" / "hosts.json"


class WitnessProgram(ModuleProgram):
    """Configures `python -m tailrace.witness` for the log of this machine."""

    name = "witness"

    def prepare(self) -> None:
        keys.prepare_log(self.home)
        keys.prepare_witness(self.home)

    def health(self) -> Health:
        address = f"http://127.0.0.1:{self.settings.port_witness}/health"
        try:
            with urllib.request.urlopen(address, timeout=1):
                return HEALTHY
        except (OSError, urllib.error.URLError) as error:
            return Health.failing(str(error))
