"""Remembers which events of a log were read, so that late ones are found and none is read twice.

A service lists events by their time, and may show an event after newer ones. So each visit begins before the
newest event that was read, and drops the events whose ids it knows. Events that are later than that are found
by late_events.
"""

import base64
import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from tailrace_pull.events import LogEvent
from tailrace_pull.late_events import Comparison, Past

SHALLOW_MILLIS = 30_000
"""How far every visit looks back."""
DEEP_MILLIS = 900_000
DEEP_EVERY_MILLIS = 300_000
"""How far, and how often, a visit looks back further. Every event of that window is downloaded again."""
MAX_IDS = 20_000
"""Ids that are remembered. More events in the window make the window smaller, so that none is read twice."""
OLD_IDS = 1000
"""Ids that are remembered of older events, if there are not more in the window: a late event of a log with
few events is recognized without doubt."""
PACKED = struct.Struct("<q8s")
FAST = 1
"""Hashes become hardly smaller by a better compression."""


@dataclass
class LookBack:
    """Events of one log that were read. Times are milliseconds since 1970 UTC."""

    newest: int = 0
    """Time of the newest event that was read; 0 before the first. It never exceeds the time of a visit."""
    floor: int = 0
    """Events before this time are not read any more: their ids are not known."""
    deep_at: int = 0
    """Time of the last visit that looked back far and read everything."""
    seen: dict[bytes, int] = field(default_factory=dict)
    """Time of the event by the hash of its id."""
    past: Past = field(default_factory=Past)
    listed_from: int = 0
    token: str = ""
    """Where the last visit stopped, which listed from `listed_from` and found nothing yet; or empty."""

    def continue_at(self, start: int, token: str) -> None:
        """Lets the next visit continue the listing from `start`; without a token it begins a new one."""
        self.listed_from, self.token = (start, token) if token else (0, "")

    def start(self, at: int, history: int) -> int:
        """Returns the time from which a visit at `at` reads; before the first event that is `history`."""
        if self.token:
            return self.listed_from
        if not self.newest:
            return history
        depth = DEEP_MILLIS if self.is_deep(at) else SHALLOW_MILLIS
        return max(self.floor, self.newest - depth)

    def is_deep(self, at: int) -> bool:
        return abs(at - self.deep_at) >= DEEP_EVERY_MILLIS

    def has(self, event: LogEvent) -> bool:
        return event.key in self.seen

    def begin(self, start: int, at: int) -> None:
        """Begins a visit that reads from `start`."""
        self.past.begin = self.past.begin or start
        self.past.extend(at, at)

    def add(self, events: Sequence[LogEvent], at: int) -> None:
        """Notes that events were read by the visit of this time."""
        self.seen.update({event.key: event.timestamp for event in events})
        self.past.add(events, at)

    def advance(self, newest: int, start: int, at: int, is_complete: bool, is_whole: bool) -> None:
        """Ends a visit of the time `at` that began at `start` and read events up to `newest`. If it read
        everything, or reached newer events than those that were known, it listed the whole window, unless
        it continued another visit (not `is_whole`)."""
        self.floor = max(self.floor, 0 if self.newest else start) if newest else self.floor
        if is_whole and (is_complete or newest > self.newest) and self.is_deep(at):
            self.deep_at = at
        self.newest = max(self.newest, newest)

    def forget(self) -> None:
        """Forgets ids so that the state remains small, and hours whose events are all visible."""
        self.past.forget()
        times = sorted(self.seen.values(), reverse=True)
        if len(times) > MAX_IDS:
            self.floor = max(self.floor, min(self.newest, times[MAX_IDS] + 1))
        oldest = times[OLD_IDS] + 1 if len(times) > OLD_IDS else 0
        kept = max(self.floor, min(self.newest - DEEP_MILLIS, oldest))
        self.seen = {each: timestamp for each, timestamp in self.seen.items() if timestamp >= kept}

    def to_text(self) -> str:
        packed = b"".join([PACKED.pack(timestamp, each) for each, timestamp in self.seen.items()])
        parts = packed, self.past.pack()
        seen, hours = (base64.b64encode(zlib.compress(each, FAST)).decode() for each in parts)
        compared = self.past.compared.to_list() if self.past.compared else None
        times = [self.newest, self.floor, self.deep_at]
        content = [*times, seen, self.past.begin, hours, compared, self.listed_from, self.token]
        return json.dumps(content, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> "LookBack":
        """Reads the text of `to_text`; an empty one is that of a log of which nothing was read."""
        if not text:
            return cls()
        newest, floor, deep_at, seen, *past = json.loads(text)
        unpacked = PACKED.iter_unpack(zlib.decompress(base64.b64decode(seen)))
        ids = {each: timestamp for timestamp, each in unpacked}
        # Of what a version without hours read, only the newest time is known.
        begin, hours = past[:2] or (newest + 1 if newest else floor, "")
        compared, listed_from, token = past[2:] or (None, 0, "")
        packed = zlib.decompress(base64.b64decode(hours)) if hours else b""
        unpacked_past = Past.unpack(begin, packed)
        unpacked_past.compared = Comparison.from_list(compared) if compared else None
        return cls(newest, floor, deep_at, ids, unpacked_past, listed_from, token)
