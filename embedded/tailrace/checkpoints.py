"""The Flink job's checkpoints and savepoints on disk: which there are, and which one to resume from.

Layout (Flink's own): <directory>/<job id>/chk-<checkpoint id>/_metadata; the metadata file is written last,
so that a directory without it is no completed checkpoint. Each is self-contained: the heap state backend
shares no files between checkpoints. Checkpoint ids go on counting after a restore, across job ids.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

METADATA = "_metadata"


class CheckpointError(RuntimeError):
    """There is no such checkpoint, or what lies there is none."""


@dataclass(frozen=True, order=True)
class Checkpoint:
    """A completed checkpoint, ordered by id and then by time."""

    id: int
    completed: float
    """When, seconds since 1970 UTC."""
    path: Path

    @property
    def job(self) -> str:
        """Flink's id of the run that took it."""
        return self.path.parent.name

    @property
    def uri(self) -> str:
        return self.path.as_uri()


def completed(directory: Path) -> list[Checkpoint]:
    """Every completed checkpoint, the newest last."""
    return sorted(_checkpoint(metadata) for metadata in directory.glob(f"*/chk-*/{METADATA}"))


def newest(directory: Path) -> Checkpoint | None:
    """What to resume from."""
    return max(completed(directory), default=None)


def remove_dead_runs(directory: Path) -> None:
    """Removes what runs left that have been resumed by a later one. Only while no job runs."""
    latest = newest(directory)
    if latest is None:
        return
    for run in directory.iterdir():
        if run.is_dir() and run.name != latest.job:
            shutil.rmtree(run)


def remove_later(directory: Path, than: Checkpoint) -> None:
    """Forgets every checkpoint after the given one, so that it is the newest. Only while no job runs."""
    for checkpoint in completed(directory):
        if checkpoint > than:
            shutil.rmtree(checkpoint.path)


def _checkpoint(metadata: Path) -> Checkpoint:
    number = re.fullmatch(r"chk-(\d+)", metadata.parent.name)
    if number is None:
        raise CheckpointError(f"{metadata.parent} does not look like a checkpoint")
    return Checkpoint(int(number[1]), metadata.stat().st_mtime, metadata.parent)
