"""Inspects the files of the listed logs on this machine, with the permissions of the current user."""

import glob
import os
import pwd
import re
import stat
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from tailrace import console
from tailrace.sources.sources_file import Source

ROTATED = re.compile(r"(.+)(\.[0-9]{1,6}|-(19|20)[0-9]{6}([0-9]{6})?(-[0-9]+)?|\.gz|\.old)", re.DOTALL)
"""The rule of schemas/contracts/canonical_path.json. census.py has its own copy, because it runs alone."""
PACKED_SUFFIX = re.compile(r"\.(gz|bz2|xz|zst)$")


ABSENT = "does not exist yet; it is read from its first byte once it does"
NOT_MATCHED = "matches no file yet; a matching file will be read from its first byte"

JSON_KEYS = {"description": "says"}
"""Fields of LogState with other names on the control socket: a supervisor may be older than the command."""


@dataclass(frozen=True)
class LogState:
    """One listed log."""

    instance: str
    source: str
    path: str
    ok: bool
    """Whether the live file and all its rotated siblings can be read."""
    description: str
    """Its state, in one clause whose subject is the log."""
    rotated: tuple[str, ...] = ()
    """Paths of rotated siblings, sorted by name."""
    packed: tuple[str, ...] = ()
    """Compressed siblings, which are neither read nor counted."""

    @property
    def is_absent(self) -> bool:
        """Whether there is no live file."""
        return self.description in (ABSENT, NOT_MATCHED)

    def to_json(self) -> dict:
        return {JSON_KEYS.get(name, name): value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, state: dict) -> "LogState":
        values = {field.name: state[JSON_KEYS.get(field.name, field.name)] for field in fields(cls)}
        return cls(**{**values, "rotated": tuple(values["rotated"]), "packed": tuple(values["packed"])})


def inspect(log: Source) -> LogState:
    """Returns the current state of the log."""
    path = str(log.path)
    live = sorted(glob.glob(path)) if glob.has_magic(path) else [path]
    siblings = [sibling for each in live for sibling in _siblings(each)]
    rotated = tuple(sibling for sibling in siblings if not PACKED_SUFFIX.search(sibling))
    packed = tuple(sibling for sibling in siblings if PACKED_SUFFIX.search(sibling))
    problems = [description for each in live if (description := _problem(each))]
    problems += [
        f"is watched, but {each} {description}" for each in rotated if (description := _problem(each))
    ]
    if not live:
        problems = [NOT_MATCHED]
    description = problems[0] if problems else f"is watched, {console.size(sum(map(os.path.getsize, live)))}"
    return LogState(log.instance, log.source, path, not problems, description, rotated, packed)


def inodes(log: Source) -> Iterator[tuple[Path, os.stat_result]]:
    """Yields the log's visible files that are neither compressed nor empty."""
    path = str(log.path)
    for live in sorted(glob.glob(path)) if glob.has_magic(path) else [path]:
        for each in (live, *_siblings(live)):
            status = _status(each)
            if status and status.st_size and stat.S_ISREG(status.st_mode) and not PACKED_SUFFIX.search(each):
                yield Path(each), status


def _problem(path: str) -> str:
    """Returns the reason why the file cannot be read, in a clause; empty if it can."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    except IsADirectoryError:
        return "is not a regular file"
    except FileNotFoundError:
        return ABSENT
    except PermissionError:
        return f"cannot be read: the collectors run as {_user()}, which has no permission"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return "" if is_file else "is not a regular file"


def _user() -> str:
    try:
        return f"user {pwd.getpwuid(os.geteuid()).pw_name}"
    except KeyError:
        return f"user {os.geteuid()}"


def _siblings(live: str) -> Iterator[str]:
    directory, _, wanted = live.rpartition("/")
    try:
        names = sorted(os.listdir(directory or "/"))
    except OSError:  # the problem of the live file is reported
        return
    for name in names:
        if name != wanted and canonical_path(PACKED_SUFFIX.sub("", name)) == wanted:
            yield f"{directory}/{name}"


def canonical_path(path: str) -> str:
    """The path of the log that a file belongs to: without rotation suffixes."""
    directory, slash, name = path.rpartition("/")
    while rotated := ROTATED.fullmatch(name):
        name = rotated[1]
    return f"{directory}{slash}{name}"


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None
