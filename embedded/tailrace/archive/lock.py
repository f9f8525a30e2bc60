"""One process at a time writes an archive from this home directory."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tailrace.errors import ReportedError

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
