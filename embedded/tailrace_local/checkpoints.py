"""Lists the normalize job's checkpoints and savepoints on disk, and finds the one to resume from.

Flink's layout: <directory>/<job id>/chk-<id>/_metadata, and <directory>/savepoint-<name>/_metadata. The
metadata file is written last: a directory without it is no completed checkpoint. It begins with a magic
number, the version of its layout, and the checkpoint's id (class Checkpoints of Flink 2.2). Ids continue
after a restore, across job ids. Each checkpoint is self-contained: the heap state backend shares no files
between checkpoints.
"""

import re
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path

from tailrace.errors import ReportedError

METADATA = "_metadata"
HEADER = struct.Struct(">IiQ")
MAGIC = 0x4960672D
JOB_ID = re.compile(r"[0-9a-f]{32}")


class CheckpointError(ReportedError):
    """The checkpoint does not exist or is invalid."""


@dataclass(frozen=True, order=True)
class Checkpoint:
    """A completed checkpoint or savepoint, ordered by id and then by time."""

    id: int
    completed: float
    """Completion time, in seconds since 1970 UTC."""
    path: Path

    @property
    def uri(self) -> str:
        return self.path.as_uri()


def completed(directory: Path) -> list[Checkpoint]:
    """Returns every completed checkpoint and savepoint, newest last. Raises CheckpointError for a broken
    one."""
    found = (*directory.glob(f"*/chk-*/{METADATA}"), *directory.glob(f"savepoint-*/{METADATA}"))
    return sorted(_checkpoint(metadata) for metadata in found)


def newest(directory: Path) -> Checkpoint | None:
    """Returns the checkpoint to resume from."""
    return max(completed(directory), default=None)


def remove_dead_runs(directory: Path) -> None:
    """Removes checkpoints of runs that a later run has resumed; savepoints stay. Only while no job runs."""
    latest = newest(directory)
    if latest is None:
        return
    for run in directory.iterdir():
        if JOB_ID.fullmatch(run.name) and run not in latest.path.parents:
            shutil.rmtree(run)


def remove_later(directory: Path, than: Checkpoint) -> None:
    """Removes every checkpoint after the given one, so that it is the newest. Only while no job runs."""
    for checkpoint in completed(directory):
        if checkpoint > than:
            shutil.rmtree(checkpoint.path)


def _checkpoint(metadata: Path) -> Checkpoint:
    with metadata.open("rb") as file:
        header = file.read(HEADER.size)
    if len(header) < HEADER.size or HEADER.unpack(header)[0] != MAGIC:
        raise CheckpointError(f"{metadata} is not the metadata of a Flink checkpoint")
    return Checkpoint(HEADER.unpack(header)[2], metadata.stat().st_mtime, metadata.parent)
