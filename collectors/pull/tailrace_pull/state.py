"""What the puller knows about the files of one log. It is stored in Kafka, in the transaction of the
lines."""

import base64
import json
from dataclasses import dataclass, field

from tailrace_pull.remote import START

VERSION = 4
"""1: before signed ranges; 2: before hours that are listed again; 3: before hours that are listed in
parts."""
HEAD_BYTES = 4096
"""As in the census: a file is identified by its first complete lines, at most so many bytes."""


class StateError(ValueError):
    """The stored state is of a newer version or damaged."""


@dataclass
class PulledFile:
    """One file of a log. It keeps its number when the service renames it."""

    number: int
    """Identity, in place of an inode: unique among the files of the installation's logs, and never used
    again."""
    name: str
    is_live: bool = True
    """Whether the server writes to it."""
    offset: int = 0
    """Bytes whose lines were shipped."""
    position: str = START
    """A position of the service at or before `offset`."""
    skip: int = 0
    """Bytes between `position` and `offset`."""
    head: bytes = b""
    """The first complete lines."""
    size: int = 0
    """Known bytes of the file."""
    written_at: float = 0.0
    """Time of the last write, in seconds since 1970 UTC."""
    missing_since: float | None = None
    """Time of the first listing without the file, in seconds since 1970 UTC; None if the last listing had
    it."""
    read_size: int = -1
    """Size in the listing before the file was last read to its end."""

    range_from: int = -1
    """Start of the open signed range; -1 before the first."""
    range_bytes: bytes = b""
    """Its lines: fewer than 16,384 bytes, because the service may not have them any more when it closes."""

    @property
    def has_more(self) -> bool:
        """Returns whether the file may have lines that were not read; an incomplete last line is none."""
        return self.missing_since is None and self.offset < self.size and self.size != self.read_size

    def copy(self) -> "PulledFile":
        made = PulledFile.__new__(PulledFile)
        vars(made).update(vars(self))  # a tenth of the time of `replace`: a visit copies all files of a log
        return made

    def extend_head(self, lines: bytes) -> None:
        """Adds complete lines to the head, as long as they fit; an incomplete line is never part of it."""
        if self.offset == len(self.head):
            free = (self.head + lines)[:HEAD_BYTES]
            self.head = free[: free.rfind(b"\n") + 1]


ENCODER = json.JSONEncoder(separators=(",", ":"))
BYTES = ("head", "range_bytes")
"""Fields that JSON stores in base64."""


@dataclass
class LogState:
    """The files of one log, oldest first. The last one is live, if any is."""

    files: list[PulledFile] = field(default_factory=list)
    memory: str = ""
    """What the reader of the service remembers beside the files, in its own notation."""

    def names(self) -> list[tuple[int, str]]:
        """Returns which number has which name."""
        return [(file.number, file.name) for file in self.files if file.missing_since is None]

    def to_json(self) -> bytes:
        files = [
            vars(file) | {name: base64.b64encode(getattr(file, name)).decode() for name in BYTES}
            for file in self.files
        ]
        content = {"version": VERSION, "files": files} | ({"memory": self.memory} if self.memory else {})
        return ENCODER.encode(content).encode()

    @classmethod
    def from_json(cls, stored: bytes) -> "LogState":
        """Raises StateError."""
        try:
            content = json.loads(stored)
            if content["version"] > VERSION:
                raise StateError(
                    f"the state has version {content['version']}; this program reads up to {VERSION}"
                )
            return cls([_file(each) for each in content["files"]], content.get("memory", ""))
        except (KeyError, TypeError, ValueError) as error:
            raise error if isinstance(error, StateError) else StateError(f"damaged state: {error}") from error

    def copy(self) -> "LogState":
        """Returns a state whose files can be changed without an effect on this one."""
        return LogState([file.copy() for file in self.files], self.memory)


def _file(stored: dict) -> PulledFile:
    known = {name: base64.b64decode(stored[name]) for name in BYTES if name in stored}
    return PulledFile(**{**stored, **known})
