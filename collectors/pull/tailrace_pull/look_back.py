"""Remembers which events of a log were read, so that late ones are found and none is read twice.

A service lists events by their time, and may show an event after newer ones. So each visit begins before the
newest event that was read, and drops the events whose ids it knows.
"""

import base64
import hashlib
import json
import struct
import zlib
from dataclasses import dataclass, field

SHALLOW_MILLIS = 30_000
"""How far every visit looks back."""
DEEP_MILLIS = 900_000
DEEP_EVERY_MILLIS = 300_000
"""How far, and how often, a visit looks back further. Every event of that window is downloaded again."""
MAX_IDS = 20_000
"""Ids that are remembered. More events in the window make the window smaller, so that none is read twice."""
PACKED = struct.Struct("<q8s")


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

    def start(self, at: int, history: int) -> int:
        """Returns the time from which a visit at `at` reads; before the first event that is `history`."""
        if not self.newest:
            return history
        depth = DEEP_MILLIS if self.is_deep(at) else SHALLOW_MILLIS
        return max(self.floor, self.newest - depth)

    def is_deep(self, at: int) -> bool:
        return abs(at - self.deep_at) >= DEEP_EVERY_MILLIS

    def has(self, event_id: str) -> bool:
        return _hash(event_id) in self.seen

    def add(self, event_id: str, timestamp: int) -> None:
        self.seen[_hash(event_id)] = timestamp

    def advance(self, newest: int, start: int, done_at: int | None) -> None:
        """Ends a visit that began at `start` and read events up to `newest`. `done_at` is its time if it
        read everything."""
        self.floor = max(self.floor, 0 if self.newest else start) if newest else self.floor
        self.newest = max(self.newest, newest)
        if done_at is not None and self.is_deep(done_at):
            self.deep_at = done_at
        self._forget()

    def _forget(self) -> None:
        times = sorted(self.seen.values(), reverse=True)
        if len(times) > MAX_IDS:
            self.floor = max(self.floor, min(self.newest, times[MAX_IDS] + 1))
        kept = max(self.floor, self.newest - DEEP_MILLIS)
        self.seen = {each: timestamp for each, timestamp in self.seen.items() if timestamp >= kept}

    def to_text(self) -> str:
        packed = b"".join(PACKED.pack(timestamp, each) for each, timestamp in sorted(self.seen.items()))
        seen = base64.b64encode(zlib.compress(packed)).decode()
        return json.dumps([self.newest, self.floor, self.deep_at, seen], separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> "LookBack":
        """Reads the text of `to_text`; an empty one is that of a log of which nothing was read."""
        if not text:
            return cls()
        newest, floor, deep_at, seen = json.loads(text)
        unpacked = PACKED.iter_unpack(zlib.decompress(base64.b64decode(seen)))
        return cls(newest, floor, deep_at, {each: timestamp for timestamp, each in unpacked})


def _hash(event_id: str) -> bytes:
    return hashlib.blake2b(event_id.encode(), digest_size=8).digest()
