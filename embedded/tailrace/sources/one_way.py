"""Rejects a list that reads one log in two ways.

The id of an event depends on the offset of its entry, and each way has offsets of its own: the same entry
would be two events. Equal entries cannot be dropped instead, because a server may write an entry twice.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tailrace.sources.sources_file import PulledSource, Source

FILE = "path"
"""The way of a log that Fluent Bit reads."""


def problem(logs: "Sequence[Source]", pulled: "Sequence[PulledSource]") -> str:
    """Returns which log is read in two ways; empty if none is."""
    known: dict[tuple[str, ...], tuple[str, str]] = {}
    for source, keys, instance, way in _ways(logs, pulled):
        for key in keys:
            other, before = known.setdefault((*key, source), (instance, way))
            if before != way:
                return (
                    f"{source} of {instance} is listed with {way}, and of {other} with {before}: one log read"
                    " in two ways would count each event twice; keep one of the two entries"
                )
    return ""


def _ways(
    logs: "Sequence[Source]", pulled: "Sequence[PulledSource]"
) -> Iterator[tuple[str, list[tuple[str, ...]], str, str]]:
    """Yields kind of log, the names of its server, instance and way."""
    for log in logs:
        yield log.source, [("instance", log.instance)], log.instance, FILE
    for each in pulled:
        names = [("instance", each.instance), ("service", each.region, each.db_instance)]
        yield each.source, names, each.instance, f"kind {each.kind}"
