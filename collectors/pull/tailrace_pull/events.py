"""Serializes the events of a stream to the bytes of a file: messages, each with a line feed at its end.

A service splits a log entry that is longer than its events. The parts have the same time. They are joined
without a line feed.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from tailrace_pull.portions import MAX_LINE_BYTES

SPLIT_BYTES = 256_000
"""An event of at least so many bytes may be continued by the next one. CloudWatch Logs: 262,144 bytes minus
26, less if a character would be cut."""
CONTINUATION_MILLIS = 60_000
"""How long after its arrival an event waits for its continuation."""


def hash_of(event_id: str) -> bytes:
    return hashlib.blake2b(event_id.encode(), digest_size=8).digest()


class LogEvent(msgspec.Struct, eq=False, gc=False):
    """An event as the service lists it. Times are milliseconds since 1970 UTC."""

    stream: str
    timestamp: int
    ingested: int
    id: str
    message: bytes
    key: bytes = b""
    """The hash of the id. Each event needs it, and a cached property takes a lock."""

    def __post_init__(self) -> None:
        self.key = hash_of(self.id)

    @property
    def may_be_split(self) -> bool:
        return len(self.message) >= SPLIT_BYTES and not self.message.endswith(b"\n")


class Entries(NamedTuple):
    """Entries of one stream. An entry is one event, or several of which each is a part."""

    events: Sequence[LogEvent]
    contents: list[bytes]
    """The entries. Each ends with a line feed."""


def entries(events: Sequence[LogEvent], waits: int) -> Entries:
    """Returns the entries of one stream whose events are in the order of the service.

    An entry is left out if it may be continued by an event that is not listed yet: its last event arrived
    after `waits`.
    """
    messages = [event.message for event in events]
    if max(map(len, messages), default=0) < SPLIT_BYTES:
        return Entries(events, [each if each.endswith(b"\n") else each + b"\n" for each in messages])
    ready = list(_joined(events, waits))
    return Entries([event for parts in ready for event in parts], [_content(parts) for parts in ready])


def _joined(events: Sequence[LogEvent], waits: int) -> Iterator[list[LogEvent]]:
    """Yields the events of each entry."""
    parts: list[LogEvent] = []
    for number, event in enumerate(events):
        parts.append(event)
        following = events[number + 1] if number + 1 < len(events) else None
        if following is not None and _continues(parts, following):
            continue
        if not event.may_be_split or event.ingested <= waits or _is_full(parts):
            yield parts
        parts = []


def _continues(parts: list[LogEvent], following: LogEvent) -> bool:
    is_same = parts[-1].may_be_split and parts[-1].timestamp == following.timestamp
    return is_same and not _is_full(parts)


def _is_full(parts: list[LogEvent]) -> bool:
    """Returns whether another part could make the line too long for the job."""
    return sum(len(part.message) for part in parts) > MAX_LINE_BYTES - 2 * SPLIT_BYTES


def _content(parts: list[LogEvent]) -> bytes:
    content = b"".join([part.message for part in parts])
    return content if content.endswith(b"\n") else content + b"\n"
