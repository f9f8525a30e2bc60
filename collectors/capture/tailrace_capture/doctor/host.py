"""Reads the local machine, if it is the server's: files, disk space, time zone, logrotate."""

import getpass
import grp
import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from tailrace_capture.doctor import logrotate
from tailrace_capture.doctor.logrotate import Stanza


@dataclass(frozen=True)
class FileState:
    """A log file as visible to this process. Sizes in bytes."""

    path: str
    exists: bool
    readable: bool
    size: int = 0
    free: int = 0
    total: int = 0
    """Free and total space of its file system."""


class Host:
    """Reads files below `root`, which is / except in tests."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root

    def is_called(self, hostname: str) -> bool:
        """Returns whether this machine has the host name that the server reports."""
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
        """Returns the IANA name of the local time zone; empty if it is unknown."""
        try:
            return (self._root / "etc/timezone").read_text().strip()
        except OSError:
            target = os.path.realpath(self._root / "etc/localtime")
            return target.partition("/zoneinfo/")[2]

    def zone_of_process(self, pid_file: str) -> str:
        """Returns the variable TZ of a process; empty if it has none, or is not readable for this user."""
        try:
            pid = int((self._root / pid_file.lstrip("/")).read_text())
            variables = (self._root / "proc" / str(pid) / "environ").read_bytes().split(b"\0")
        except (OSError, ValueError):
            return ""
        zones = [
            each.removeprefix(b"TZ=").decode(errors="replace") for each in variables if each[:3] == b"TZ="
        ]
        return zones[0].removeprefix(":") if zones else ""

    def commands_for_access(self, path: str) -> tuple[str, ...]:
        """Returns commands that make a file readable for this user: group memberships and group
        permissions."""
        at = self._root / path.lstrip("/")
        groups, rights = [], []
        for each, wanted in ((at.parent, 0o050), (at, 0o040)):
            try:
                found = each.stat()
            except OSError:
                continue
            groups.append(_group(found.st_gid))
            if found.st_mode & wanted != wanted:
                rights.append(f"chmod g+{'rx' if each is not at else 'r'} {shlex.quote(str(each))}")
        joined = ",".join(dict.fromkeys(groups)) or "mysql"
        return (f"usermod --append --groups {joined} {getpass.getuser()}", *rights)

    def rotation_of(self, path: str) -> Stanza | None:
        """Returns logrotate's stanza for a path."""
        return logrotate.stanza_of(self._root, path)


def _group(number: int) -> str:
    """Returns a group's name, or its number if it has none."""
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
