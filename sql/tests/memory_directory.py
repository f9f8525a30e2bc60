"""Directories of tests in memory, where the small files of a database need less CPU time than on a disk."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")
PREFIX = "tailrace-tests-"
NEEDED_BYTES = 8 << 30
"""Of available memory, and of the file system in memory. The files of a session take far less."""


@contextmanager
def in_memory(otherwise: Path) -> Iterator[Path]:
    """Gives an empty directory in memory, or `otherwise` if memory is scarce.

    The directory is removed at the end; its logs are then in `otherwise`.
    """
    if not _is_enough():
        yield otherwise
        return
    _remove_those_of_killed_runs()
    prefix = f"{PREFIX}{os.getpid()}-"
    # A process that ends may still write; what it leaves is removed by the next run.
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix=prefix, ignore_cleanup_errors=True) as name:
        try:
            yield Path(name)
        finally:
            _keep_logs(Path(name), otherwise)


def _is_enough() -> bool:
    if not os.access(MEMORY, os.W_OK):
        return False
    return min(shutil.disk_usage(MEMORY).free, _available_bytes()) >= NEEDED_BYTES


def _available_bytes() -> int:
    """Memory that processes can get, which includes most of the page cache."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    values = dict(line.split(":") for line in lines)
    return int(values["MemAvailable"].split()[0]) << 10


def _remove_those_of_killed_runs() -> None:
    for directory in MEMORY.glob(f"{PREFIX}*"):
        pid = directory.name.removeprefix(PREFIX).partition("-")[0]
        if not Path("/proc", pid).exists() and not _is_used(directory):
            shutil.rmtree(directory, ignore_errors=True)


def _is_used(directory: Path) -> bool:
    """Whether a component of a stack still runs there, so that `tailrace down` needs the directory."""
    return any(directory in _working_directory(process).parents for process in Path("/proc").glob("[0-9]*"))


def _working_directory(process: Path) -> Path:
    try:
        return (process / "cwd").readlink()
    except OSError:  # it has ended, or is of another user
        return Path("/")


def _keep_logs(directory: Path, target: Path) -> None:
    for logs in (*directory.glob("logs"), *directory.glob("*/logs")):
        shutil.copytree(logs, target / logs.relative_to(directory), dirs_exist_ok=True)
