"""The cache of installed components: content-addressed directories that are created atomically."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def build(entry: Path) -> Iterator[Path]:
    """Yields an empty directory to install into; it becomes `entry` if the block succeeds.

    `entry` is <cache>/<component>/<fingerprint>. Processes that need the same entry wait for each other. Each
    gets its own draft, which is deleted if the entry exists meanwhile: check `entry.exists()` first. The
    content must not contain its own path, because the draft is renamed (a Python venv does: see
    `build_in_place`).
    """
    entry.parent.mkdir(parents=True, exist_ok=True)
    with locked(entry):
        draft = entry.with_name(f"{entry.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        try:
            yield draft
            if not entry.exists():
                os.rename(draft, entry)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def build_in_place(entry: Path) -> Iterator[Path]:
    """Like `build`, for content with its own path; complete when `<entry>/.complete` exists."""
    entry.parent.mkdir(parents=True, exist_ok=True)
    with locked(entry):
        if not is_complete(entry):
            shutil.rmtree(entry, ignore_errors=True)
            entry.mkdir()
        yield entry
        (entry / ".complete").touch()


def is_complete(entry: Path) -> bool:
    """Returns whether `build_in_place` has finished this entry."""
    return (entry / ".complete").exists()


@contextmanager
def locked(entry: Path) -> Iterator[None]:
    with open(entry.with_name(f"{entry.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
