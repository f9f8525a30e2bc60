"""The witness of this machine's transparency log, as a component of the one-machine stack."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tailrace.programs.transparency import WitnessProgram
from tailrace.transparency import keys
from tailrace_local.supervisor.component import PythonComponent


class Witness(WitnessProgram, PythonComponent):
    """Runs tailrace.witness with a key and a state of its own."""

    start_seconds = 60

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace.witness"),
            *("--directory", self.home.root / keys.WITNESS_DIRECTORY / "state"),
            *("--name", keys.witness_key(self.home).name),
            *("--key", keys.prepare_witness(self.home)),
            *("--log", keys.directory(self.home) / keys.LOG_VKEY),
            *("--port", str(self.settings.port_witness)),
        ]

    def ports(self) -> Mapping[str, int]:
        return {"HTTP": self.settings.port_witness}

    def address(self) -> str:
        return f"http://127.0.0.1:{self.settings.port_witness}"
