"""Finds events that become visible hours or days late: past hours are listed again, and compared with what
was read of them.

The ids of all events of two weeks do not fit into the state. Of an hour whose ids were forgotten it contains
how many events were read, their bytes, and a sum of their ids. If more are listed later, a late event is
recognized by its arrival: it is newer, or longer after the time of the event, than those of all that were
read. What cannot be recognized is counted, so that a gap can record it.
"""

import hashlib
import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tailrace_pull.events import LogEvent

HOUR_MILLIS = 3_600_000
AGES_MILLIS = tuple(hours * HOUR_MILLIS for hours in (1, 6, 48, 14 * 24 + 1))
"""How long after its end an hour is listed again. CloudWatch Logs, PutLogEvents: events older than 14 days
are refused."""
AGAIN_MILLIS = 300_000
"""How soon an hour is listed again that had late events: the others may still be arriving."""
MAX_AHEAD_MILLIS = 500 * HOUR_MILLIS
"""Events that are further ahead of all clocks get no hour."""
NEVER = -(1 << 62)
PACKED = struct.Struct("<4q2qQ2q")


def hash_of(event_id: str) -> bytes:
    return hashlib.blake2b(event_id.encode(), digest_size=8).digest()


@dataclass
class Tally:
    """A set of events, of which the members are not known."""

    count: int = 0
    size: int = 0
    """Bytes, with line feeds."""
    ids: int = 0
    """Exclusive or of the hashes of the ids."""

    def add(self, event: LogEvent) -> None:
        self.count += 1
        self.size += size_of(event)
        self.ids ^= int.from_bytes(hash_of(event.id))

    def plus(self, other: "Tally") -> "Tally":
        return Tally(self.count + other.count, self.size + other.size, self.ids ^ other.ids)

    def minus(self, part: "Tally") -> "Tally":
        return Tally(self.count - part.count, self.size - part.size, self.ids ^ part.ids)


def size_of(event: LogEvent) -> int:
    return len(event.message) + (not event.message.endswith(b"\n"))


@dataclass
class Hour:
    """What was read of an hour, or of a part of one. Times are milliseconds since 1970 UTC."""

    start: int
    end: int
    """The first time that does not belong to it."""
    listed_at: int
    """When it was listed last to its end."""
    again_at: int = 0
    """When it is to be listed again because of late events; 0 if by its age only."""
    read: Tally = field(default_factory=Tally)
    newest_arrival: int = NEVER
    longest_delay: int = NEVER
    """The longest time between the event and its arrival."""

    def add(self, event: LogEvent) -> None:
        self.read.add(event)
        self.newest_arrival = max(self.newest_arrival, event.ingested)
        self.longest_delay = max(self.longest_delay, event.ingested - event.timestamp)

    def is_surely_new(self, event: LogEvent) -> bool:
        """Returns whether no event that was read arrived so late."""
        delay = event.ingested - event.timestamp
        return event.ingested > self.newest_arrival or delay > self.longest_delay

    def due_at(self) -> int | None:
        """Returns the time of the next listing; None if no event can become visible any more."""
        left = [self.end + age for age in AGES_MILLIS if self.end + age > self.listed_at]
        return min([*left[:1], *([self.again_at] if self.again_at else [])], default=None)


@dataclass
class Past:
    """The hours of one log whose events may still become visible, oldest first."""

    begin: int = 0
    """Where the first hour begins if there is none yet; 0 before the first visit."""
    hours: list[Hour] = field(default_factory=list)

    def extend(self, until: int, at: int) -> None:
        """Adds the hours up to a time, which are listed `at` for the first time."""
        start = self.hours[-1].end if self.hours else self.begin
        if until - max(start, at) > MAX_AHEAD_MILLIS:
            return
        start = max(start, at - AGES_MILLIS[-1] - HOUR_MILLIS)
        while start <= until:
            end = (start // HOUR_MILLIS + 1) * HOUR_MILLIS
            self.hours.append(Hour(start, end, at))
            start = end

    def add(self, event: LogEvent, at: int) -> None:
        """Notes that an event was read `at`."""
        self.extend(event.timestamp, at)
        if hour := self.of(event.timestamp):
            hour.add(event)

    def of(self, timestamp: int) -> Hour | None:
        number = bisect_right(self.hours, timestamp, key=lambda hour: hour.start) - 1
        return self.hours[number] if number >= 0 and timestamp < self.hours[number].end else None

    def due(self, at: int) -> Hour | None:
        """Returns the hour whose listing is due the longest, if any is."""
        times = [(due, hour) for hour in self.hours if (due := hour.due_at()) is not None and due <= at]
        return min(times, key=lambda each: each[0])[1] if times else None

    def forget(self) -> None:
        """Leaves out the hours at the begin that are final."""
        while self.hours and self.hours[0].due_at() is None:
            self.begin = self.hours.pop(0).end

    def found_late(self, hour: Hour, at: int) -> None:
        """Lists an hour with late events again soon, and its neighbours, which may have some, too."""
        hour.again_at = hour.again_at or at + AGAIN_MILLIS
        number = self.hours.index(hour)
        for near in self.hours[max(0, number - 1) : number + 2]:
            if near.end + AGES_MILLIS[0] <= at and near.listed_at + AGAIN_MILLIS <= at:
                near.again_at = at

    def pack(self) -> bytes:
        return b"".join(_pack(hour) for hour in self.hours)

    @classmethod
    def unpack(cls, begin: int, packed: bytes) -> "Past":
        return cls(begin, [_unpack(values) for values in PACKED.iter_unpack(packed)])


def _pack(hour: Hour) -> bytes:
    times = hour.start, hour.end, hour.listed_at, hour.again_at
    read = hour.read.count, hour.read.size, hour.read.ids
    return PACKED.pack(*times, *read, hour.newest_arrival, hour.longest_delay)


def _unpack(values: tuple[int, ...]) -> Hour:
    return Hour(*values[:4], Tally(*values[4:7]), *values[7:])


@dataclass
class Comparison:
    """Compares the events that an hour has now with those that were read. At most about `max_bytes` of late
    events are kept; the hour is divided behind them. Events that arrived after `settled` are left for later,
    because others of their batch may not be visible yet."""

    hour: Hour
    seen: Mapping[bytes, int]
    """Times of events that are known to be read, by the hashes of their ids."""
    settled: int
    max_bytes: int
    late: list[LogEvent] = field(default_factory=list)
    unknown: Tally = field(default_factory=Tally)
    """Events that were not read, and cannot be distinguished from others that were."""
    stream: str = ""
    """A stream with such events."""
    _is_incomplete: bool = False
    """Whether late events are left for later."""

    def take(self, events: Iterator[LogEvent]) -> None:
        """Takes all events of the hour, in the order of their times."""
        self._by_id, self._others = [Tally(), Tally()], [Tally(), Tally()]
        self._divided_at = self.hour.end
        known = sum(self.hour.start <= each < self.hour.end for each in self.seen.values())
        self._knows_all = known == self.hour.read.count
        taken: set[bytes] = set()
        for event in events:
            key = hash_of(event.id)
            if key not in taken and self.hour.start <= event.timestamp < self.hour.end:
                taken.add(key)
                self._take(event, key)
        self._compare()

    def _take(self, event: LogEvent, key: bytes) -> None:
        is_behind = event.timestamp >= self._divided_at
        if key in self.seen:
            self._by_id[is_behind].add(event)
        elif not (self._knows_all or self.hour.is_surely_new(event)):
            self._others[is_behind].add(event)
            self.stream = event.stream
        elif is_behind or event.ingested > self.settled:
            self._is_incomplete = True
        else:
            self.late.append(event)
            self.max_bytes -= size_of(event)
            if self.max_bytes < 0:
                self._divided_at = min(self.hour.end, event.timestamp + 1)
                self.max_bytes = 0

    def _compare(self) -> None:
        """Counts what is unknown. Fewer events than were read are no problem: retention deletes them."""
        expected = self.hour.read.minus(self._by_id[0]).minus(self._by_id[1])
        others = self._others[0].plus(self._others[1])
        self._is_less = others.count < expected.count
        if not self._is_less and others.ids != expected.ids:
            more = others.minus(expected)
            self.unknown = Tally(max(1, more.count), max(1, more.size), more.ids)

    def end(self, past: Past, at: int) -> None:
        """Notes in the hour what is listed, apart from late events, which are noted when they are stored."""
        hour = self.hour
        hour.listed_at, hour.again_at = at, 0
        if not self._is_less:
            hour.read = self._by_id[0].plus(self._others[0])
            if self._divided_at < hour.end:
                self._divide(past, at)
        if self.late or self.unknown.count or self._is_incomplete:
            past.found_late(hour, at)

    def _divide(self, past: Past, at: int) -> None:
        hour = self.hour
        rest = Hour(self._divided_at, hour.end, at, at)
        rest.read = self._by_id[1].plus(self._others[1])
        rest.newest_arrival, rest.longest_delay = hour.newest_arrival, hour.longest_delay
        hour.end = self._divided_at
        past.hours.insert(past.hours.index(hour) + 1, rest)
