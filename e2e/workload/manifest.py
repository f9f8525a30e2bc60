"""The written data per log, file and minute, in whole numbers, so that it can be compared exactly."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass
class Minute:
    """Sums over the entries with event times in one minute (UTC). Microseconds, rows, entries."""

    entries: int = 0
    query_time_us: int = 0
    rows_sent: int = 0
    rows_examined: int = 0
    weight: int = 0
    """Executions that the entries represent: more than entries if the server logs a sample."""
    weighted_query_time_us: int = 0


@dataclass
class LogFile:
    """One generation of a log: a file with the log's name."""

    inode: int = 0
    bytes: int = 0
    entries: int = 0
    framing_bytes: int = 0
    first_records: list[str] = field(default_factory=list)
    """Records with which the server itself begins the file."""


@dataclass
class LogManifest:
    """One log with all its generations. `path` is the live file's, which is also the canonical one."""

    instance: str
    source: str
    shape: str
    path: str
    files: list[LogFile] = field(default_factory=list)
    minutes: dict[int, Minute] = field(default_factory=dict)
    """Sums by minute: seconds since 1970 at its start."""
    classes: dict[str, int] = field(default_factory=dict)
    """Slow log: entries per class of statement. Audit log: records per command."""

    @property
    def entries(self) -> int:
        return sum(file.entries for file in self.files)

    @property
    def distinct_entries(self) -> int:
        """Returns the number of distinct event ids: files that begin within a second may begin with equal
        records."""
        first = [entry for file in self.files for entry in enumerate(file.first_records)]
        return self.entries - len(first) + len(set(first))

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)

    @property
    def framing_bytes(self) -> int:
        return sum(file.framing_bytes for file in self.files)

    def new_file(self, inode: int) -> LogFile:
        """Adds a generation."""
        self.files.append(LogFile(inode))
        return self.files[-1]

    def minute_of(self, seconds: float) -> Minute:
        return self.minutes.setdefault(int(seconds) // 60 * 60, Minute())


def save(file: Path, logs: Iterable[LogManifest]) -> None:
    """Writes the manifest as JSON."""
    file.write_text(json.dumps([asdict(log) for log in logs], indent=1))


def load(file: Path) -> list[LogManifest]:
    """Reads the JSON of `save`."""
    return [_log(entry) for entry in json.loads(file.read_text())]


def _log(entry: dict) -> LogManifest:
    return LogManifest(
        **{
            **entry,
            "files": [LogFile(**file) for file in entry["files"]],
            "minutes": {int(start): Minute(**sums) for start, sums in entry["minutes"].items()},
        }
    )
