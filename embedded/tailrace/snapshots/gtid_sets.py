"""Parses sets of global transaction identifiers of MySQL and MariaDB, and computes their differences.

MySQL: `uuid:interval[:interval]…[:tag:interval…]`, several separated by commas; intervals are inclusive; a
tag (8.3 and later) holds for the intervals after it ("GTID Sets" in the reference manual, "Replication
Concepts").

MariaDB: `domain-server-sequence`, for each domain and server the last one (gtid_binlog_state): sequence
numbers of one domain increase, so the last one of a server represents all earlier ones.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

# Percona's and Oracle's servers: 1 to 2^63 - 2 (sql/rpl_gtid.h, GNO_END is one past the last).
LAST = 2**63 - 2

_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")
_TAG = re.compile(r"[a-z_][a-z0-9_]{0,31}")
_INTERVAL = re.compile(r"(\d{1,19})(?:-(\d{1,19}))?")
_MARIADB = re.compile(r"(\d{1,10})-(\d{1,10})-(\d{1,20})")

Interval = tuple[int, int]
Source = tuple[str, str]
"""Server's UUID, and tag or the empty string."""


class GtidError(ValueError):
    """The text is no set of identifiers; the message contains the invalid part."""


@dataclass(frozen=True)
class GtidSet:
    """A GTID set of MySQL. Each source has sorted intervals that neither touch nor overlap; sources without
    intervals are omitted, so that equal sets are equal objects."""

    sources: dict[Source, tuple[Interval, ...]]

    @staticmethod
    def parse(text: str) -> "GtidSet":
        """Parses any form that servers write or accept; white space and letter case are ignored."""
        found: dict[Source, list[Interval]] = {}
        for part in filter(None, re.sub(r"\s", "", text).lower().split(",")):
            _read_part(part, found)
        return GtidSet({source: joined(intervals) for source, intervals in found.items() if intervals})

    def __str__(self) -> str:
        """Formats the set in MySQL's order: by UUID, without a tag first."""
        written = [
            ":".join([uuid, *([tag] if tag else []), *map(_written, self.sources[uuid, tag])])
            for uuid, tag in sorted(self.sources)
        ]
        return ",".join(written)

    def __bool__(self) -> bool:
        return bool(self.sources)

    def count(self) -> int:
        """Returns the number of transactions."""
        return sum(last - first + 1 for intervals in self.sources.values() for first, last in intervals)

    def union(self, other: "GtidSet") -> "GtidSet":
        """Returns the transactions that are in either set."""
        sources = self.sources.keys() | other.sources.keys()
        return GtidSet({each: joined([*self._of(each), *other._of(each)]) for each in sources})

    def minus(self, other: "GtidSet") -> "GtidSet":
        """Returns the transactions that are only in this set."""
        left = {
            source: subtracted(intervals, other._of(source)) for source, intervals in self.sources.items()
        }
        return GtidSet({source: intervals for source, intervals in left.items() if intervals})

    def without(self, uuids: Collection[str]) -> "GtidSet":
        """Returns the transactions that were not written under any of these UUIDs, with or without a tag."""
        return GtidSet({source: found for source, found in self.sources.items() if source[0] not in uuids})

    def without_start(self) -> "GtidSet":
        """Returns the set itself, because MySQL's set includes purged transactions."""
        return self

    def _of(self, source: Source) -> tuple[Interval, ...]:
        return self.sources.get(source, ())


def _read_part(part: str, found: dict[Source, list[Interval]]) -> None:
    uuid, *pieces = part.split(":")
    if not _UUID.fullmatch(uuid):
        raise GtidError(f"expected a UUID, found {uuid[:80]!r}")
    plain = uuid.replace("-", "")
    uuid = "-".join((plain[:8], plain[8:12], plain[12:16], plain[16:20], plain[20:]))
    tag = ""
    for piece in pieces:
        if interval := _INTERVAL.fullmatch(piece):
            found.setdefault((uuid, tag), []).extend(_read_interval(*interval.groups()))
        elif _TAG.fullmatch(piece):
            tag = piece
        else:
            raise GtidError(f"expected an interval or a tag, found {piece[:80]!r}")


def _read_interval(first: str, last: str | None) -> list[Interval]:
    """Returns one interval; none if it ends before it begins, as in MySQL."""
    begin, end = int(first), int(last or first)
    if begin < 1 or end > LAST:
        raise GtidError(f"expected numbers from 1 to {LAST}, found {first}-{last or first}")
    return [(begin, end)] if begin <= end else []


def _written(interval: Interval) -> str:
    first, last = interval
    return str(first) if first == last else f"{first}-{last}"


def joined(intervals: list[Interval]) -> tuple[Interval, ...]:
    """Merges intervals to as few as possible, sorted."""
    done: list[Interval] = []
    for first, last in sorted(intervals):
        if done and first <= done[-1][1] + 1:
            done[-1] = (done[-1][0], max(last, done[-1][1]))
        else:
            done.append((first, last))
    return tuple(done)


def subtracted(these: tuple[Interval, ...], others: tuple[Interval, ...]) -> tuple[Interval, ...]:
    """Returns the numbers of the first that are not in the second; both sorted and without overlap."""
    left: list[Interval] = []
    rest = list(reversed(others))
    for first, last in these:
        while rest and rest[-1][1] < first:
            rest.pop()
        for other_first, other_last in reversed(rest):
            if other_first > last:
                break
            if other_first > first:
                left.append((first, other_first - 1))
            first = max(first, other_last + 1)
        if first <= last:
            left.append((first, last))
    return tuple(left)


@dataclass(frozen=True)
class MariaDbState:
    """MariaDB's gtid_binlog_state: the last sequence number by domain and server."""

    last: dict[tuple[int, int], int]
    start: dict[int, int] = field(default_factory=dict)
    """By domain, the server's position when its binary log began, for a server that was restored from a copy,
    or that does not log what it applies (log_slave_updates)."""

    @staticmethod
    def parse(logged: str, applied: str = "") -> "MariaDbState":
        """Parses `0-1-13,0-2-15`: gtid_binlog_state, and gtid_slave_pos for positions that only it contains.
        `applied` must have been read before `logged`. Raises GtidError."""
        last = _last_of(logged)
        beyond = {key: n for key, n in _last_of(applied).items() if n > last.get(key, 0)}
        start: dict[int, int] = {}
        for (domain, _), sequence in beyond.items():
            start[domain] = max(sequence, start.get(domain, 0))
        return MariaDbState({**last, **beyond}, start)

    def __str__(self) -> str:
        return ",".join(f"{domain}-{server}-{n}" for (domain, server), n in sorted(self.last.items()))

    def __bool__(self) -> bool:
        return bool(self.last)

    def minus(self, other: "MariaDbState") -> "MariaDbState":
        """Returns the last transactions that the other has not reached. The number of transactions before
        them is unknown: those of other servers are in between."""
        return MariaDbState({key: n for key, n in self.last.items() if n > other._reached(key)})

    def _reached(self, key: tuple[int, int]) -> int:
        return max(self.last.get(key, 0), self.start.get(key[0], 0))

    def union(self, other: "MariaDbState") -> "MariaDbState":
        """Returns the transactions that are in either set."""
        return MariaDbState(_later(self.last, other.last), _later(self.start, other.start))

    def without_start(self) -> "MariaDbState":
        """Returns the positions by server: a replica has all earlier transactions of its source."""
        return MariaDbState(self.last)

    def written_by(self, server: int) -> "MariaDbState":
        """Returns the transactions of one server."""
        return MariaDbState({key: n for key, n in self.last.items() if key[1] == server})

    def count(self) -> int:
        """Returns the number of streams of one domain and server."""
        return len(self.last)


def _last_of(text: str) -> dict[tuple[int, int], int]:
    last: dict[tuple[int, int], int] = {}
    for part in filter(None, re.sub(r"\s", "", text).split(",")):
        found = _MARIADB.fullmatch(part)
        if not found:
            raise GtidError(f"expected domain-server-sequence, found {part[:80]!r}")
        domain, server, sequence = map(int, found.groups())
        last[domain, server] = max(sequence, last.get((domain, server), 0))
    return last


def _later(these: dict, others: dict) -> dict:
    return {key: max(these.get(key, 0), others.get(key, 0)) for key in these.keys() | others.keys()}


Transactions = GtidSet | MariaDbState


def parse(flavour: str, attributes: Mapping[str, str]) -> Transactions:
    """Parses a server's transactions from its fact `gtid`. Raises GtidError."""
    if flavour == "mariadb":
        return MariaDbState.parse(
            attributes.get("gtid_binlog_state", ""), attributes.get("gtid_slave_pos", "")
        )
    executed = GtidSet.parse(attributes.get("gtid_executed", ""))
    return executed.union(GtidSet.parse(attributes.get("gtid_purged", "")))
