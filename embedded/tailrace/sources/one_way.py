"""Rejects a list that reads one log in two ways.

The id of an event depends on the offset of its entry, and each way has offsets of its own: the same entry
would be two events. Equal entries cannot be dropped instead, because a server may write an entry twice.
"""

from collections.abc import Iterable
from typing import NamedTuple

FILE = "path"
"""The way of a log that Fluent Bit reads."""


class Way(NamedTuple):
    """How one log of the list is read."""

    source: str
    instance: str
    way: str
    """`path` or `kind` with its value."""
    server: tuple[str, ...] = ()
    """Region and name of the server at its service; empty for a file."""

    def names(self) -> list[tuple[str, ...]]:
        """Returns what identifies the log."""
        by_instance = ("instance", self.instance, self.source)
        return [by_instance, ("server", *self.server, self.source)] if self.server else [by_instance]


def problem(ways: Iterable[Way]) -> str:
    """Returns which log is read in two ways; empty if none is."""
    known: dict[tuple[str, ...], Way] = {}
    for each in ways:
        for name in each.names():
            other = known.setdefault(name, each)
            if other.way != each.way:
                return (
                    f"{each.source} of {each.instance} is listed with {each.way}, and of {other.instance}"
                    f" with {other.way}: one log read in two ways would count each event twice; keep one of"
                    " the two entries"
                )
    return ""
