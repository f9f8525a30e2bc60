"""Files that survive a crash of the machine."""

import os
from collections.abc import Callable
from pathlib import Path

Write = Callable[[Path, bytes], None]


def write(path: Path, data: bytes) -> None:
    """Replaces a file at once: a reader, also after a crash, finds the old or the new content.

    Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.draft")
    with draft.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync(path.parent)


def sync(directory: Path) -> None:
    """Makes new, renamed and removed names in the directory durable. Raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
