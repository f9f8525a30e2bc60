"""The selector of a legal hold: which rows of which tables it selects.

    instance:shop-db-1 user:etl from:2026-10-01 to:2026-10-31

Different keys must all match, several values of one key are alternatives. A table is selected if it has a
column for each key; its other rows are about something else. `from` and `to` are compared with the time by
which the retention of the table counts.
"""

import json
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from tailrace.errors import ReportedError

NAMES = ("instance", "cluster", "user", "client", "table")
FIRST, END = "from", "to"
MOST_CHARACTERS = 4000
FORM = "%Y-%m-%d %H:%M:%S"
BUCKETS: Mapping[str, int] = {
    "query_load_1m": 60,
    "query_classes_1h": 3600,
    "query_classes_1d": 86_400,
    "entities_1d": 86_400,
    "receipts": 86_400,
}
"""Seconds that one row of a rollup sums up, from the time in its column on."""


MAPPED = "::ffff:"
"""Some servers write an IPv4 address as an IPv6 address."""


class SelectorError(ReportedError):
    """The text is no selector; the message states what was expected."""


@dataclass(frozen=True)
class Selector:
    """Rows with one of the values of each key, in [first, end), UTC; None: without that limit."""

    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    first: datetime | None = None
    end: datetime | None = None

    def condition(self, table: str, columns: Collection[str], time: str) -> str | None:
        """Returns a condition in SQL for the selected rows of a table, None if it has no such rows.

        `columns` are those that the table stores, `time` the expression by which its retention counts.
        """
        parts = []
        for name, values in self.values.items():
            if not (either := _matches(name, values, columns)):
                return None
            parts.append(f"({' OR '.join(either)})")
        bucket = BUCKETS.get(table, 0)
        if self.first:
            parts.append(
                f"toDateTime({time}) >= {_moment(self.first - timedelta(seconds=max(bucket - 1, 0)))}"
            )
        if self.end:
            parts.append(f"toDateTime({time}) < {_moment(self.end)}")
        return f"({' AND '.join(parts)})"

    def touches(self, day: date) -> bool:
        """Whether a part of the day (UTC) is in the time range."""
        start = datetime(day.year, day.month, day.day, tzinfo=UTC)
        return not (
            (self.first and self.first >= start + timedelta(days=1)) or (self.end and self.end <= start)
        )

    def text(self) -> str:
        """Returns the selector as a person writes it; `parse` reads it again."""
        words = [f"{name}:{value}" for name, values in self.values.items() for value in values]
        words += [f"{FIRST}:{self.first:%Y-%m-%dT%H:%M:%S}"] if self.first else []
        words += [f"{END}:{self.end:%Y-%m-%dT%H:%M:%S}"] if self.end else []
        return shlex.join(words)

    def as_json(self) -> str:
        """Returns the form that is stored."""
        limits = {FIRST: self.first, END: self.end}
        stored = {name: list(values) for name, values in self.values.items()}
        stored |= {name: f"{limit:%Y-%m-%dT%H:%M:%SZ}" for name, limit in limits.items() if limit}
        return json.dumps(stored, ensure_ascii=False, sort_keys=True)


def parse(text: str) -> Selector:
    """Parses `instance:db1 user:etl from:2026-10-01`. Raises SelectorError."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise SelectorError(f"selector {text!r}: {error}") from None
    values: dict[str, list[str]] = {}
    for word in words:
        name, colon, value = word.partition(":")
        if not colon or not value or name not in (*NAMES, FIRST, END):
            known = ", ".join((*NAMES, FIRST, END))
            raise SelectorError(f"expected KEY:VALUE with a key of {known}, found {word!r}")
        if not value.isprintable():
            raise SelectorError(f"{name}: control characters are not possible")
        values.setdefault(name, []).append(value)
    if not values or len(text) > MOST_CHARACTERS:
        raise SelectorError(f"expected at least one KEY:VALUE, and at most {MOST_CHARACTERS} characters")
    limits = {name: _limit(name, values.pop(name)) for name in (FIRST, END) if name in values}
    return _checked({name: tuple(sorted(set(each))) for name, each in values.items()}, limits)


def from_json(text: str) -> Selector:
    """Reads the stored form. Raises SelectorError: a hold that cannot be read must not be ignored."""
    try:
        stored = json.loads(text)
        limits = {name: _limit(name, [stored.pop(name)]) for name in (FIRST, END) if name in stored}
        if unknown := stored.keys() - set(NAMES):
            raise ValueError(f"unknown keys {', '.join(sorted(unknown))}")
        if not (stored or limits):
            raise ValueError("it has no key")
        return _checked({name: _values(each) for name, each in stored.items()}, limits)
    except (ValueError, AttributeError, TypeError) as error:
        raise SelectorError(f"a stored selector cannot be read by this version: {error}") from None


def _values(stored: object) -> tuple[str, ...]:
    """Reads the values of a key. People insert rows, too: a text is one value, not one for each letter."""
    found = [stored] if isinstance(stored, str) else stored
    if not isinstance(found, list) or not found:
        raise ValueError(f"expected a list of values, found {stored!r}")
    return tuple(map(str, found))


def _checked(values: Mapping[str, tuple[str, ...]], limits: Mapping[str, datetime]) -> Selector:
    first, end = limits.get(FIRST), limits.get(END)
    if first and end and first >= end:
        raise SelectorError(f"from {first:{FORM}} is not before to {end:{FORM}}")
    return Selector(dict(sorted(values.items())), first, end)


def _limit(name: str, texts: list[str]) -> datetime:
    """Parses a time in UTC; a date means its start for `from` and its end for `to`."""
    if len(texts) > 1:
        raise SelectorError(f"{name}: expected one time, found {len(texts)}")
    try:
        found = datetime.fromisoformat(texts[0])
        is_day = len(texts[0]) == len("2026-10-01")
        found += timedelta(days=1 if is_day and name == END else 0)
    except (ValueError, OverflowError):
        raise SelectorError(
            f"{name}: expected a time such as 2026-10-01 or 2026-10-01T08:30, UTC, found {texts[0]!r}"
        ) from None
    found = (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC).replace(microsecond=0)
    if not 2000 <= found.year < 2100:
        raise SelectorError(f"{name}: {texts[0]}: no log is of that year")
    return found


def _matches(name: str, values: Collection[str], columns: Collection[str]) -> list[str]:
    """Returns alternative conditions; empty if the table has no column for the key."""
    among = f"IN ({', '.join(map(quoted, values))})"
    if name == "client":
        among = f"IN ({', '.join(map(quoted, client_forms(values)))})"
        either = [f"{column} {among}" for column in ("host", "ip") if column in columns]
        return either if "user" in columns else []
    if name == "table":
        arrays = [column for column in ("tables", "tables_read", "tables_written") if column in columns]
        return [f"has({column}, {quoted(value)})" for column in arrays for value in values] + [
            f"arrayExists(its -> endsWith(its, {quoted('.' + value)}), {column})"
            for column in arrays
            for value in values
            if "." not in value
        ]
    return [f"{name} {among}"] if name in columns else []


def client_forms(clients: Collection[str]) -> list[str]:
    """Returns the forms in which rows contain clients: IPv4 addresses also as IPv6 addresses."""
    return [*clients, *(f"{MAPPED}{client}" for client in clients if client.count(".") == 3)]


def _moment(moment: datetime) -> str:
    return f"toDateTime('{moment:{FORM}}', 'UTC')"


def quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
