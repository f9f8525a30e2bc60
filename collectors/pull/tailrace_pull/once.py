"""Downloads logs into a directory, without a stack: for `tailrace digest` and other commands on files."""

import glob
from pathlib import Path

from tailrace_pull.costs import Cost
from tailrace_pull.log import PulledLog
from tailrace_pull.reading import LineRun, Round


class Directory:
    """Writes each file to its path below a directory. Bytes that the service left out are a hole of NUL
    bytes."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def ship(self, rounds: dict[PulledLog, Round], its_costs: dict[PulledLog, Cost]) -> None:
        """Raises OSError."""
        for log, done in rounds.items():
            for run in done.runs:
                self._write(log, run)

    def files(self, log: PulledLog) -> list[Path]:
        """Returns what an earlier run has left of a log. Rotated files have other names in each run, and a
        shorter file would end with bytes of the longer one."""
        live = self._root / log.instance / log.live_path.lstrip("/")
        return sorted(live.parent.glob(f"{glob.escape(live.name)}*"))

    def path(self, log: PulledLog, run: LineRun) -> Path:
        return self._root / log.instance / log.path(run.file).lstrip("/")

    def _write(self, log: PulledLog, run: LineRun) -> None:
        path = self.path(log, run)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("r+b" if path.exists() else "w+b") as file:
            file.seek(run.offset)
            file.write(run.lines)
