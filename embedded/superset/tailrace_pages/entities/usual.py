"""Compares a time range of a user or a client with its records of the 30 days before: which values are new.

Something is new if no earlier record of the entity names it, and the logs that name it now have records of
earlier days. Without such days it is unknown whether it is new. A day counts if the log of the server has a
record of it, of anybody.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from tailrace.plural import counted
from tailrace_pages import formats
from tailrace_pages.columns import Column
from tailrace_pages.entities import addresses
from tailrace_pages.entities.kinds import Entity
from tailrace_pages.entities.listing import Table
from tailrace_pages.read_once import read_once
from tailrace_pages.time_range import TimeRange

KINDS = ("user", "client")
"""Entities that are compared."""
DAYS = 30
MOST_RECORDS = 2_000_000
"""Earlier records that are read; an entity with more is compared with fewer days, at least one."""
DIMENSIONS = {
    "table": "table",
    "client": "client",
    "user": "user",
    "program": "program",
    "hour": "hour of the day (UTC)",
}
"""Of page_entity_usual, with their names."""
SENT = "sent"
NEW, UNKNOWN, SEEN = "new", "unknown", "seen"

Row = Mapping[str, Any]


@dataclass(frozen=True)
class EarlierDays:
    """The days before a range: rows of page_entity_usual_days from `first_possible` on."""

    span: TimeRange
    rows: Sequence[Row]

    @staticmethod
    def first_possible(span: TimeRange) -> datetime:
        return _midnight(span.since.date() - timedelta(days=DAYS))

    @read_once
    def first(self) -> date:
        """The first day with which the range is compared."""
        records = {row["its_day"]: row["records"] for row in self._own}
        begin, total = self.span.since.date(), 0
        for number in range(1, DAYS + 1):
            total += records.get(begin - timedelta(days=number), 0)
            if number > 1 and total > MOST_RECORDS:
                return begin - timedelta(days=number - 1)
        return begin - timedelta(days=DAYS)

    @property
    def since(self) -> datetime:
        return _midnight(self.first)

    @property
    def number(self) -> int:
        return (self.span.since.date() - self.first).days

    @property
    def has_records(self) -> bool:
        """Whether the entity has a record on one of the days."""
        return any(row["records"] for row in self._own if self._is_earlier(row["its_day"]))

    def days_of(self, places: Sequence[Sequence[str]]) -> int:
        """Returns the number of days of which a log has records: of (server, log) the one with the most."""
        return max((self._days.get(tuple(place), 0) for place in places), default=0)

    def statements(self) -> tuple[int, int]:
        """Returns the most statements on a day of the range and on an earlier day."""
        last = (self.span.until - timedelta(microseconds=1)).date()
        now = [row["statements"] for row in self._own if self.span.since.date() <= row["its_day"] <= last]
        before = [row["statements"] for row in self._own if self._is_earlier(row["its_day"])]
        return int(max(now, default=0)), int(max(before, default=0))

    @read_once
    def _own(self) -> list[dict[str, Any]]:
        return [{**row, "its_day": _day(row["its_day"])} for row in self.rows if row["is_its"]]

    @read_once
    def _days(self) -> dict[tuple[str, str], int]:
        return {
            (row["log_server"], row["log"]): sum(self._is_earlier(_day(each)) for each in row["log_days"])
            for row in self.rows
            if not row["is_its"]
        }

    def _is_earlier(self, day: date) -> bool:
        return self.first <= day < self.span.since.date()


@dataclass(frozen=True)
class Usual:
    """The comparison of an entity: `rows` are those of page_entity_usual."""

    entity: Entity
    earlier: EarlierDays
    rows: Sequence[Row]
    links: Mapping[str, str]

    @property
    def days(self) -> int:
        """The days of which a log that names the entity now has records."""
        return self.earlier.days_of([place for row in self.rows for place in row["places"]])

    def sentence(self) -> str:
        """With what the range is compared."""
        first, number = self.earlier.first, self.earlier.number
        cut = f", because at most {formats.count(MOST_RECORDS)} records are read" if number < DAYS else ""
        compared = f"Compared with the {counted(number, 'day')} before, since {first:%Y-%m-%d}{cut}."
        if not self.days:
            return f"{compared} The logs have no record of these days: what is new is unknown."
        known = f"{compared} The logs have records of {self.days} of these days."
        if self.earlier.has_records:
            return known
        return f"{known} None of them names {formats.visible(self.entity.in_words)}: all of it is new."

    def numbers(self) -> list[dict[str, str]]:
        """Returns the numbers of parts.numbers."""
        return [*map(self._new, self._dimensions), self._sent(), self._statements()]

    def table(self) -> Table:
        """Returns what is new, and then that of which this is unknown."""
        found = [
            self._row(row, state)
            for state in (NEW, UNKNOWN)
            for dimension in self._dimensions
            for row in self._of(dimension)
            if self._state(row) == state
        ]
        columns = (
            Column("what", "Kind", 20),
            Column("name", "Name", 0, link="address"),
            Column("is_new", "New", 12),
            Column("log_days", "Earlier days of its logs", 20, "count"),
            Column("first_at", "First in this range (UTC)", 24, "time"),
            Column("records", "Records", 12, "count"),
        )
        return Table("usual", "What is new in this range", columns, found, len(found))

    @property
    def _dimensions(self) -> list[str]:
        return [each for each in DIMENSIONS if each != self.entity.kind]

    def _of(self, dimension: str) -> list[Row]:
        return [row for row in self.rows if row["dimension"] == dimension]

    def _state(self, row: Row) -> str:
        if row["earlier_records"]:
            return SEEN
        if not self.earlier.days_of(row["places"]):
            return UNKNOWN
        # The attributes of a session are in few logs; a login of an earlier day without them says nothing.
        is_unnamed = row["dimension"] == "program" and not row["was_named"] and self.earlier.has_records
        return UNKNOWN if is_unnamed else NEW

    def _row(self, row: Row, state: str) -> dict[str, Any]:
        dimension, value = row["dimension"], row["value"]
        is_linked = dimension in ("table", "client", "user")
        return {
            "what": DIMENSIONS[dimension].partition(" (")[0],
            "name": _hour(value) if dimension == "hour" else value,
            "address": addresses.entity(dimension, value, self.links) if is_linked else "",
            "is_new": state,
            "log_days": self.earlier.days_of(row["places"]),
            "first_at": row["first_at"],
            "records": row["records"],
        }

    def _new(self, dimension: str) -> dict[str, str]:
        rows, (name, _, unit) = self._of(dimension), DIMENSIONS[dimension].partition(" ")
        item = {"title": f"New {name}s {unit}".rstrip(), "link": ""}
        if not rows:
            return {
                **item,
                "value": "0" if dimension == "table" else formats.UNKNOWN,
                "note": "no record names one",
            }
        states = [self._state(row) for row in rows]
        new, unknown, total = states.count(NEW), states.count(UNKNOWN), rows[0]["all_values"]
        if unknown == len(rows):
            return {
                **item,
                "value": formats.UNKNOWN,
                "note": f"of {formats.count(total)}: no earlier record to compare",
            }
        least = "≥ " if unknown or len(rows) < rows[0]["new_values"] else ""
        note = f"of {formats.count(total)}" + (f", unknown for {unknown}" if unknown else "")
        return {**item, "value": f"{least}{formats.count(new)}", "note": note}

    def _sent(self) -> dict[str, str]:
        item = {"title": "Most rows sent by a statement", "link": ""}
        rows = self._of(SENT)
        if not rows:
            return {**item, "value": formats.UNKNOWN, "note": "only slow query logs contain it"}
        (row,) = rows
        known = bool(row["earlier_records"])
        before = row["most_sent_before"] if known else None
        return {**item, "value": formats.count(row["most_sent"]), "note": _compared(row["most_sent"], before)}

    def _statements(self) -> dict[str, str]:
        now, before = self.earlier.statements()
        note = _compared(now, before if self.days else None)
        return {
            "title": "Most statements on a day (UTC)",
            "value": formats.count(now),
            "link": "",
            "note": note,
        }


def _compared(now: int, before: int | None) -> str:
    if before is None:
        return "before: unknown"
    most = f"at most {formats.count(before)} before"
    return f"{most} ({formats.change(now, before)})" if before and now > before else most


def _hour(value: str) -> str:
    return f"{value}:00 to {int(value) + 1:02}:00"


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _day(value: date | str) -> date:
    """ClickHouse's driver returns a date, JSON a text."""
    return date.fromisoformat(value) if isinstance(value, str) else value
