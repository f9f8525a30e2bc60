"""Downloads logs into a directory, without a stack: for `tailrace digest` and other commands on files."""

from pathlib import Path

from tailrace_pull.log import PulledLog
from tailrace_pull.reading import LineRun, Round


class Directory:
    """Writes each file to its path below a directory. Bytes that the service left out are a hole of NUL
    bytes."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def ship(self, rounds: dict[PulledLog, Round]) -> None:
        """Raises OSError."""
        for log, done in rounds.items():
            for run in done.runs:
                self._write(log, run)

    def path(self, log: PulledLog, run: LineRun) -> Path:
        return self._root / log.instance / log.path(run.file).lstrip("/")

    def _write(self, log: PulledLog, run: LineRun) -> None:
        path = self.path(log, run)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("r+b" if path.exists() else "w+b") as file:
            file.seek(run.offset)
            file.write(run.lines)
