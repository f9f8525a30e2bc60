"""Finds events that become visible hours or days late: past hours are listed again, and compared with what
was read of them.

The ids of all events of two weeks do not fit into the state. For an hour whose ids were forgotten, the state
contains the number of read events, their bytes, and a sum of their ids. If the service lists more events
later, the puller recognizes a late event by its arrival: it arrived later than all read events, or with a
longer delay. The puller counts the events that it cannot recognize, and records them as a gap.
"""

import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
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


@dataclass
class Tally:
    """A set of events, of which the members are not known."""

    count: int = 0
    size: int = 0
    """Bytes, with line feeds."""
    ids: int = 0
    """Exclusive or of the hashes of the ids."""

    def add(self, *events: LogEvent) -> None:
        size, ids = self.size, self.ids
        for event in events:
            size += len(event.message) + (not event.message.endswith(b"\n"))
            ids ^= int.from_bytes(event.key)
        self.count, self.size, self.ids = self.count + len(events), size, ids

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

    def add(self, events: Sequence[LogEvent]) -> None:
        """Notes that events of the hour, at least one, were read."""
        self.read.add(*events)
        arrivals = [event.ingested for event in events]
        delays = [event.ingested - event.timestamp for event in events]
        self.newest_arrival = max(self.newest_arrival, max(arrivals))
        self.longest_delay = max(self.longest_delay, max(delays))

    def due_at(self) -> int | None:
        """Returns the time of the next listing; None if no event can become visible any more."""
        left = [self.end + age for age in AGES_MILLIS if self.end + age > self.listed_at]
        return min([*left[:1], *([self.again_at] if self.again_at else [])], default=None)


@dataclass
class Comparison:
    """Compares the events that an hour has now with those that were read. A visit lists a part of the hour
    (`hour_parts`), the next one continues behind it. Times are milliseconds since 1970 UTC."""

    start: int
    """Where the hour begins."""
    begun_at: int
    position: int
    """Events before this time were compared, and of this time those in `ids`."""
    newest_arrival: int
    longest_delay: int
    """As in the hour when the comparison began: late events that it finds are no measure for others."""
    token: str = ""
    """Where the service continues the listing from `position`, if it showed no event since; or empty."""
    by_id: Tally = field(default_factory=Tally)
    """Events that are known to be read."""
    others: Tally = field(default_factory=Tally)
    """Events that may have been read."""
    stream: str = ""
    """A stream with such events."""
    has_late: bool = False
    """Whether late events were found, or are left for later."""
    ids: set[bytes] = field(default_factory=set)
    """Hashes of ids."""

    def has_passed(self, event: LogEvent) -> bool:
        """Returns whether the event was compared."""
        is_before = event.timestamp < self.position
        return is_before or (event.timestamp == self.position and event.key in self.ids)

    def pass_by(self, event: LogEvent) -> None:
        if event.timestamp > self.position:
            self.position, self.ids = event.timestamp, set()
        self.ids.add(event.key)

    def note(self, event: LogEvent) -> None:
        """Notes that an event of the hour was read meanwhile. One behind the position will be listed: its id
        may be forgotten until then."""
        if self.has_passed(event):
            self.by_id.add(event)
        else:
            self.newest_arrival = max(self.newest_arrival, event.ingested)
            self.longest_delay = max(self.longest_delay, event.ingested - event.timestamp)

    def is_surely_new(self, event: LogEvent) -> bool:
        """Returns whether no event that was read arrived so late."""
        delay = event.ingested - event.timestamp
        return event.ingested > self.newest_arrival or delay > self.longest_delay

    def end(self, hour: Hour) -> Tally:
        """Notes in the hour what was listed. Returns events that were not read, and cannot be distinguished
        from others that were. Fewer events than were read are no problem: retention deletes them."""
        hour.listed_at, hour.again_at = self.begun_at, 0
        expected = hour.read.minus(self.by_id)
        if self.others.count < expected.count:
            return Tally()
        hour.read = self.by_id.plus(self.others)
        if self.others.ids == expected.ids:
            return Tally()
        more = self.others.minus(expected)
        return Tally(max(1, more.count), max(1, more.size), more.ids)

    def to_list(self) -> list:
        tallies = [[each.count, each.size, each.ids] for each in (self.by_id, self.others)]
        times = [self.start, self.begun_at, self.position, self.newest_arrival, self.longest_delay]
        ids = [each.hex() for each in sorted(self.ids)]
        return [*times, self.token, *tallies, self.stream, self.has_late, ids]

    @classmethod
    def from_list(cls, values: list) -> "Comparison":
        *times_and_token, by_id, others, stream, has_late, ids = values
        known = {bytes.fromhex(each) for each in ids}
        return cls(*times_and_token, Tally(*by_id), Tally(*others), stream, has_late, known)


@dataclass
class Past:
    """The hours of one log whose events may still become visible, oldest first."""

    begin: int = 0
    """Where the first hour begins if there is none yet; 0 before the first visit."""
    hours: list[Hour] = field(default_factory=list)
    compared: Comparison | None = None
    """The comparison that was begun and has not ended."""

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

    def add(self, events: Sequence[LogEvent], at: int) -> None:
        """Notes that events were read `at`."""
        for hour, own in self._by_hour(events, at):
            hour.add(own)
            if self.compared and self.compared.start == hour.start:
                for event in own:
                    self.compared.note(event)

    def _by_hour(self, events: Sequence[LogEvent], at: int) -> Iterator[tuple[Hour, Sequence[LogEvent]]]:
        """Yields consecutive events of one hour, and adds hours. Events that get no hour are left out."""
        begin = 0
        while begin < len(events):
            time, end = events[begin].timestamp, begin + 1
            self.extend(time, at)
            if hour := self.of(time):
                while end < len(events) and hour.start <= events[end].timestamp < hour.end:
                    end += 1
                yield hour, events[begin:end]
            begin = end

    def of(self, timestamp: int) -> Hour | None:
        number = bisect_right(self.hours, timestamp, key=lambda hour: hour.start) - 1
        return self.hours[number] if number >= 0 and timestamp < self.hours[number].end else None

    def due(self, at: int) -> Hour | None:
        """Returns the hour whose listing is due the longest, if any is."""
        times = [(due, hour) for hour in self.hours if (due := hour.due_at()) is not None and due <= at]
        return min(times, key=lambda each: each[0])[1] if times else None

    def comparison(self, at: int) -> Comparison | None:
        """Returns the comparison to continue, or begins that of the hour that is due; None if none is."""
        if self.compared is None and (hour := self.due(at)):
            arrivals = hour.newest_arrival, hour.longest_delay
            self.compared = Comparison(hour.start, at, hour.start, *arrivals)
        return self.compared

    def end_comparison(self, at: int) -> Tally:
        """Ends the comparison of a whole hour. Returns events that are a gap."""
        compared = self.compared
        hour = self.of(compared.start) if compared else None
        if compared is None or hour is None:
            raise ValueError("no comparison was begun")
        self.compared = None
        unknown = compared.end(hour)
        if compared.has_late or unknown.count:
            self.found_late(hour, at)
        return unknown

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
