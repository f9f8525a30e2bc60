"""This machine, as far as it is the server's: files, space, time zone, logrotate."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from tailrace_capture.doctor import logrotate
from tailrace_capture.doctor.logrotate import Stanza


@dataclass(frozen=True)
class FileState:
    """A log as this process sees it. Sizes in bytes."""

    path: str
    exists: bool
    readable: bool
    size: int = 0
    free: int = 0
    total: int = 0
    """Space of its file system."""


class Host:
    """Looks below `root`, which is / but in tests."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root

    def is_called(self, hostname: str) -> bool:
        """Whether this is the machine that a server says it runs on."""
        return hostname.split(".")[0] == os.uname().nodename.split(".")[0]

    def file(self, path: str) -> FileState:
        at = self._root / path.lstrip("/")
        directory = next((each for each in (at, *at.parents) if os.path.isdir(each)), self._root)
        space = shutil.disk_usage(directory)
        try:
            size = at.stat().st_size
        except OSError:
            return FileState(path, False, False, 0, space.free, space.total)
        return FileState(path, True, os.access(at, os.R_OK), size, space.free, space.total)

    def zone(self) -> str:
        """The IANA name of the local time zone; empty if it is not told."""
        try:
            return (self._root / "etc/timezone").read_text().strip()
        except OSError:
            target = os.path.realpath(self._root / "etc/localtime")
            return target.partition("/zoneinfo/")[2]

    def rotation_of(self, path: str) -> Stanza | None:
        """What logrotate is told of a path."""
        return logrotate.stanza_of(self._root, path)
