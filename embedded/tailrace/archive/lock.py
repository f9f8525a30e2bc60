"""One process at a time works on an archive from this home directory."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tailrace.clickhouse.client import ClickHouse
from tailrace.errors import ReportedError
from tailrace.migrations.lock import lock as schema_lock

FILE = "archive/lock"


class BusyError(ReportedError):
    """Another process works on the archive."""


@contextmanager
def held(home: Path) -> Iterator[None]:
    """Holds the lock. Raises BusyError."""
    file = home / FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError("another run of the archive is active; try again when it has ended") from None
        yield


@contextmanager
def held_with_ttls(home: Path, clickhouse: ClickHouse) -> Iterator[Callable[[], None]]:
    """Holds the lock of the archive and that of migrations, so that no other machine restores into this
    ClickHouse and no run changes its TTLs. Yields a function that raises LockLostError if the second ended.

    Raises BusyError, LockedError, MigrationError, OSError.
    """
    with held(home), schema_lock(clickhouse) as schema:
        yield schema.require
