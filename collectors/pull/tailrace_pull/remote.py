"""What a service that keeps logs offers to the puller: a list of files, and portions of their content."""

from dataclasses import dataclass
from typing import Protocol

START = ""
"""The position before the first byte of a file."""


@dataclass(frozen=True)
class RemoteFile:
    """A file as the service lists it."""

    name: str
    size: int
    """Bytes."""
    written_at: float
    """Time of the last write, in seconds since 1970 UTC."""


@dataclass(frozen=True)
class Portion:
    """A part of a file."""

    data: bytes
    position: str | None
    """Where the next portion begins, in the notation of the service; None if the service does not say."""
    at_end: bool
    """Whether the file had no further bytes when it was read."""
    is_cut: bool = False
    """Whether the service left out bytes at the end of `data`, up to `position`."""
    is_long_line: bool = False
    """Whether it was joined from several portions."""
    end: int | None = None
    """The offset of `position` in the file, if the service says."""


class RemoteError(Exception):
    """A request failed. The message names the request, the reason and, for a missing permission, its name."""

    kind = "failed"
    right = ""
    """The action that the policy lacks; empty if it is another reason."""


class PermissionMissingError(RemoteError):
    """The credentials lack a permission, are expired or are missing."""

    kind = "permission"

    def __init__(self, message: str, right: str = "") -> None:
        super().__init__(message)
        self.right = right


class ThrottledError(RemoteError):
    """The service refused the request because there were too many."""

    kind = "throttled"


class BinaryDataError(RemoteError):
    """The service refuses a portion because it takes its content for binary data."""


class FileGoneError(RemoteError):
    """The file was renamed or deleted after it was listed."""

    kind = "gone"


class RemoteLogs(Protocol):
    """The files of one log of one server: the live file and its rotated predecessors. Or several live files,
    which the server writes in turn and never renames."""

    @property
    def is_renamed(self) -> bool:
        """Whether the server renames the live file when it rotates the log."""

    def files(self) -> list[RemoteFile]:
        """Lists the files, oldest first; the last one is live. Raises RemoteError."""

    def is_live(self, name: str) -> bool:
        """Returns whether the server writes to the file of this name."""

    def read(self, name: str, position: str, lines: int | None = None) -> Portion:
        """Reads at most this number of lines from a position. Raises RemoteError."""

    def further(self, position: str, size: int) -> str | None:
        """Returns the position that many bytes further; None if the service has no such positions."""
