"""A query with what it needs to be run: the role, the time range, and the alert of `around:`.

A role may use a field, and a kind of log, if it may read a table that has it. Otherwise `Request` raises
DeniedError with the right that is missing: a search never answers "nothing" for what the role must not see.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tailrace.search.errors import DeniedError, SearchError
from tailrace.search.fields import BY_NAME
from tailrace.search.model import All, Around, Comparison, Condition, Not, SearchQuery, Text, Timeline, Top
from tailrace.search.model import Any as AnyOf
from tailrace.search.sources import ALERTS, SOURCES, Column, Role, Source, right_on
from tailrace.search.value_types import ID, Parameter

DEFAULT_SECONDS = 86_400
"""The time range of a search that names none."""
MOST_BARS = 5000
MOST_EVIDENCE = 100
"""Events of an alert that `around:` finds wherever they are."""
_ALERT = """
SELECT
    cluster, instance, user, src_ip AS client,
    arraySlice(arrayDistinct(event_ids), 1, {most:UInt32}) AS evidence,
    toUnixTimestamp64Micro(window_from) AS first_micros, toUnixTimestamp64Micro(event_time) AS last_micros
FROM tailrace.alerts FINAL
WHERE alert_id = {alert:UUID}
"""

Rows = Callable[[str, Mapping[str, Parameter]], Sequence[Mapping[str, Any]]]
"""Runs one SELECT as the account of the role."""


@dataclass(frozen=True)
class Alert:
    """What `around:` compares events with. An empty name is unknown, and restricts nothing."""

    cluster: str
    instance: str
    user: str
    client: str
    evidence: tuple[str, ...]
    """Ids of events, as UUIDs."""
    first: datetime
    last: datetime


@dataclass(frozen=True)
class Request:
    """Raises DeniedError for what the role may not read, and SearchError for a time that cannot be."""

    query: SearchQuery
    role: Role
    now: datetime
    """Aware; the end of `last:`."""
    alert: Alert | None = None
    """Of `around:`; `with_alert` reads it."""

    def __post_init__(self) -> None:
        for comparison in comparisons(self.query.where):
            self._require(comparison)
        if isinstance(self.query.pipe, Top):
            self._require_field(self.query.pipe.field)
        if self.query.around and not self.role.reads(ALERTS):
            raise DeniedError("`around:`", self.role.name, ALERTS.right)
        if not self.query.around or self.alert:
            self._check_span()

    def _check_span(self) -> None:
        since, until = self.span
        if since >= until:
            raise SearchError("`from:` is not before now, where the search ends without `to:`")
        pipe = self.query.pipe
        if isinstance(pipe, Timeline) and (until - since).total_seconds() > MOST_BARS * pipe.seconds:
            raise SearchError(
                f"`| timeline` has at most {MOST_BARS} bars: choose wider ones, or a shorter time"
            )

    @property
    def span(self) -> tuple[datetime, datetime]:
        """The time range in UTC; the end is not included."""
        if self.alert and self.query.around:
            margin = timedelta(seconds=self.query.around.seconds)
            return self.alert.first - margin, self.alert.last + margin + timedelta(microseconds=1)
        between = self.query.between
        until = (between.until if between else None) or self.now.astimezone(UTC)
        if between and between.since:
            return between.since, until
        return until - timedelta(
            seconds=self.query.last.seconds if self.query.last else DEFAULT_SECONDS
        ), until

    @property
    def sources(self) -> list[Source]:
        return self.role.sources

    def with_alert(self, rows: Rows) -> "Request":
        """Returns the request with the alert of `around:`. Raises SearchError if there is none that the
        role sees."""
        if self.query.around is None or self.alert:
            return self
        return replace(self, alert=_alert(rows, self.query.around))

    def _require(self, comparison: Comparison) -> None:
        self._require_field(comparison.field)
        its = BY_NAME[comparison.field]
        for value in comparison.values if its.values else ():
            self._require_sources(f"{its.name}:{value.text}", its.name, its.type.convert(value.text))

    def _require_field(self, name: str) -> None:
        self._require_sources(f"the field {name}", name, None)

    def _require_sources(self, what: str, name: str, value: object) -> None:
        found = [source for source in SOURCES if name in source.columns and _has(source, name, value)]
        missing = [source.rights(name) - self.role.tables for source in found]
        if all(missing):
            # Of the tables that have it, the one with the fewest missing rights.
            least = min(missing, key=len)
            raise DeniedError(what, self.role.name, " and ".join(map(right_on, sorted(least))))


def _has(source: Source, name: str, value: object) -> bool:
    column: Column | None = source.columns[name]
    while column is not None and value is not None:
        if column.values is None or value in column.values:
            return True
        column = column.also
    return value is None


def comparisons(condition: Condition | None) -> Iterator[Comparison]:
    """Returns the comparisons of a condition."""
    match condition:
        case Comparison():
            yield condition
        case Not(inner):
            yield from comparisons(inner)
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from comparisons(part)
        case Text() | None:
            return


def _alert(rows: Rows, around: Around) -> Alert:
    found = rows(_ALERT, {"alert": str(ID.convert(around.alert)), "most": MOST_EVIDENCE})
    if not found:
        raise SearchError(f"there is no alert {around.alert}, or the role does not see its server")
    row = found[0]
    evidence = tuple(id_ for id_ in (ID.convert(each) for each in row["evidence"]) if isinstance(id_, str))
    first, last = (datetime.fromtimestamp(row[key] / 1e6, UTC) for key in ("first_micros", "last_micros"))
    return Alert(row["cluster"], row["instance"], row["user"], row["client"], evidence, first, last)
