"""The ordinary days before the attacks, and a recording of one, which OrdinaryHabitsTest reads."""

import csv
import gzip
from pathlib import Path

from e2e.attack_day.company import BACKUP
from e2e.attack_day.report import LOGS
from tailrace.config.resources import REPOSITORY

RECORDING = REPOSITORY / "stream-jobs/cli/src/test/resources/ordinary_day"
"""Logs of the first day of `python -m e2e.attack_day DIRECTORY --days 2 --seed 11 --record`."""
NAME, COMMAND, STATEMENT = 2, 6, 8
"""Columns of MariaDB's audit log."""
COMPARED = ("CONNECT", "FAILED_CONNECT", "QUERY")


def sizes(logs: Path) -> dict[str, int]:
    """Returns the size of each log in bytes."""
    return {name: (logs / name).stat().st_size for name in LOGS}


def cut(directory: Path, manifest: dict) -> dict[str, bytes]:
    """Returns the part of each log that the ordinary days before the attack day wrote, by its name."""
    parts = manifest["ordinary_days"]["logs"]
    return {name: (directory / "logs" / name).read_bytes()[slice(*parts[name])] for name in LOGS}


def record(directory: Path, manifest: dict) -> None:
    """Replaces the recording."""
    RECORDING.mkdir(exist_ok=True)
    for name, part in cut(directory, manifest).items():
        (RECORDING / f"{name}.gz").write_bytes(gzip.compress(part, mtime=0))


def recorded(name: str) -> bytes:
    """Returns a log of the recording."""
    return gzip.decompress((RECORDING / f"{name}.gz").read_bytes())


def done(audit_log: bytes) -> list[tuple[str, str, str]]:
    """Returns user, command and statement of each login and query, in order.

    Those of mariadb-dump are left out: they depend on its version.
    """
    lines = audit_log.decode().splitlines()
    records = csv.reader(lines, quotechar="'", escapechar="\\", doublequote=False)
    return [
        (each[NAME], each[COMMAND], each[STATEMENT])
        for each in records
        if each[COMMAND] in COMPARED and each[NAME] != BACKUP.user
    ]
