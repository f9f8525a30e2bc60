"""A generated log: the bytes of one file, and where its entries are."""

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Entry:
    """Complete lines with one time."""

    at: float
    content: bytes
    events: int = 1
    """The number of events that Tailrace reads from these lines."""


@dataclass(frozen=True)
class Log:
    """One watched log. `source` is slowlog, audit or errorlog."""

    instance: str
    cluster: str
    source: str
    banner: bytes
    entries: tuple[Entry, ...]

    @cached_property
    def content(self) -> bytes:
        return self.banner + b"".join(entry.content for entry in self.entries)

    @property
    def events(self) -> int:
        return sum(entry.events for entry in self.entries)

    def between(self, start: float, end: float) -> tuple[int, int, int]:
        """Returns the first and the last byte offset of the entries of [start, end), and their number of
        events."""
        before = len(self.banner) + sum(len(entry.content) for entry in self.entries if entry.at < start)
        inside = [entry for entry in self.entries if start <= entry.at < end]
        return before, before + sum(len(entry.content) for entry in inside), sum(e.events for e in inside)
