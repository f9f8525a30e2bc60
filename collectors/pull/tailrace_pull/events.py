"""Serializes the events of a stream to the bytes of a file: messages, each with a line feed at its end.

A service splits a log entry that is longer than its events. The parts have the same time. They are joined
without a line feed.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tailrace_pull.portions import MAX_LINE_BYTES

SPLIT_BYTES = 256_000
"""An event of at least so many bytes may be continued by the next one. CloudWatch Logs: 262,144 bytes minus
26, less if a character would be cut."""
CONTINUATION_MILLIS = 60_000
"""How long after its arrival an event waits for its continuation."""


def hash_of(event_id: str) -> bytes:
    return hashlib.blake2b(event_id.encode(), digest_size=8).digest()


@dataclass(eq=False)  # not frozen: that makes it three times slower to create one
class LogEvent:
    """An event as the service lists it. Times are milliseconds since 1970 UTC."""

    stream: str
    timestamp: int
    ingested: int
    id: str
    message: bytes
    key: bytes = field(init=False)
    """The hash of the id. Each event needs it, and a cached property takes a lock."""

    def __post_init__(self) -> None:
        self.key = hash_of(self.id)

    @property
    def may_be_split(self) -> bool:
        return len(self.message) >= SPLIT_BYTES and not self.message.endswith(b"\n")


class Entry(NamedTuple):
    """Events that are one log entry, or a part of one that has several events."""

    events: tuple[LogEvent, ...]
    content: bytes
    """Ends with a line feed."""


def entries(events: Sequence[LogEvent], waits: int) -> Iterator[Entry]:
    """Yields the entries of one stream whose events are in the order of the service.

    An entry is left out if it may be continued by an event that is not listed yet: its last event arrived
    after `waits`.
    """
    if all(len(event.message) < SPLIT_BYTES for event in events):
        yield from (Entry((event,), _ended(event.message)) for event in events)
        return
    parts: list[LogEvent] = []
    for number, event in enumerate(events):
        parts.append(event)
        following = events[number + 1] if number + 1 < len(events) else None
        if following is not None and _continues(parts, following):
            continue
        if not event.may_be_split or event.ingested <= waits or _is_full(parts):
            yield _entry(parts)
        parts = []


def _continues(parts: list[LogEvent], following: LogEvent) -> bool:
    is_same = parts[-1].may_be_split and parts[-1].timestamp == following.timestamp
    return is_same and not _is_full(parts)


def _is_full(parts: list[LogEvent]) -> bool:
    """Returns whether another part could make the line too long for the job."""
    return sum(len(part.message) for part in parts) > MAX_LINE_BYTES - 2 * SPLIT_BYTES


def _entry(parts: list[LogEvent]) -> Entry:
    content = parts[0].message if len(parts) == 1 else b"".join(part.message for part in parts)
    return Entry(tuple(parts), _ended(content))


def _ended(content: bytes) -> bytes:
    return content if content.endswith(b"\n") else content + b"\n"
