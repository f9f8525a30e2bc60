"""What Fluent Bit has read and queued, by the files of its state directory.

Its metrics are some seconds old, and a record may contain several lines.
"""

import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory


def has_queued(state: Path, logs: Iterable[Path]) -> bool:
    """Returns whether Fluent Bit has passed all lines of these files to librdkafka's queue. The files end
    with a complete line."""
    offsets = offsets_by_inode(state)
    are_read = all(offsets.get(found.st_ino) == found.st_size for found in (log.stat() for log in logs))
    return are_read and not any((state / "buffer").rglob("*.flb"))


def offsets_by_inode(state: Path) -> dict[int, int]:
    """Returns the offset that Fluent Bit has read of each file, in bytes. It holds a lock on its databases,
    so this reads copies; nothing of a database that is written meanwhile."""
    found: dict[int, int] = {}
    for database in state.glob("*.db"):
        with TemporaryDirectory() as directory, suppress(OSError, sqlite3.Error):
            for file in state.glob(f"{database.name}*"):
                if not file.name.endswith("-shm"):
                    shutil.copy(file, directory)
            with closing(sqlite3.connect(Path(directory) / database.name)) as copied:
                found.update(copied.execute("SELECT inode, offset FROM in_tail_files").fetchall())
    return found
