"""What the pages of entities read from ClickHouse.

The queries with records of an entity are rendered for its kind (sql/queries/parts/entity_records.sql). Values
are parameters, as everywhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any, Protocol

import jinja2

from tailrace.clickhouse.query_files import QUERIES, query_text
from tailrace_pages import csv_table
from tailrace_pages.at_once import Start
from tailrace_pages.entities import overview, records, usual
from tailrace_pages.entities.kinds import SESSION, Entity
from tailrace_pages.entities.records import PRECISE, Position
from tailrace_pages.read_bars import ReadBars
from tailrace_pages.read_once import read_once
from tailrace_pages.time_range import TimeRange

SIDE_DAYS = 7
"""Days that the side tables cover at most; only data classes are read for a longer range."""
SESSION_DAYS = 7
"""Longest range for which alerts in the same sessions are searched: that reads every record of the range."""
ALERTS_WITH_EVENTS = 50
"""Alerts in whose events pseudonyms are searched."""
SOURCES = list(overview.SOURCES.values())
EARLIEST = datetime(2000, 1, 1)
ABOUT = ("about it", "names its records")

Row = Mapping[str, Any]


class Rows(Protocol):
    """The part of store.Store that is used here. Times of rows are aware."""

    def rows(self, query: str, **parameters: Any) -> list[dict[str, Any]]: ...


@cache
def text(query: str, kind: str, daily: bool = False, matches: bool = True, oldest: bool = False) -> str:
    """Returns a query of sql/queries for entities of a kind; `daily` for bars of days, `matches` for actions
    of data access that are matched between logs, `oldest` for the oldest records first."""
    template = query_text(QUERIES / f"{query}.sql")
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)
    return environment.from_string(template).render(kind=kind, daily=daily, matches=matches, oldest=oldest)


@dataclass(frozen=True)
class Reading:
    """Reads one entity in one range; each part is read when it is first used."""

    store: Rows
    entity: Entity
    span: TimeRange
    oldest: bool = False
    """Whether the oldest records are first."""

    def _rows(
        self,
        query: str,
        since: datetime,
        until: datetime,
        daily: bool = False,
        matches: bool = True,
        **more: object,
    ) -> list[dict[str, Any]]:
        span = {"from": f"{since:{PRECISE}}", "to": f"{until:{PRECISE}}"}
        rendered = text(query, self.entity.kind, daily, matches, self.oldest)
        return self.store.rows(rendered, **self.entity.parameters(), **span, **more)

    @read_once
    def logs(self) -> overview.Logs:
        span = {"from": f"{self.span.since:{PRECISE}}", "to": f"{self.span.until:{PRECISE}}"}
        server = {"cluster": self.entity.cluster, "instance": self.entity.instance}
        rows = self.store.rows("page_entity_logs", **span, **server)
        return overview.Logs(rows, self.entity.is_pseudonym and not self._is_near)

    @read_once
    def read(self) -> ReadBars:
        """Returns when the logs of the chosen cluster and server, or of a session, were read."""
        named = {"clusters": self.entity.cluster, "servers": self.entity.instance}
        given = {name: [value] if value else [] for name, value in named.items()} | {"sources": SOURCES}
        width = overview.width_of(self.span)
        return ReadBars(
            self.store.rows("page_entity_coverage", **given, width=width, **self.span.parameters())
        )

    @read_once
    def _since(self) -> datetime:
        """The begin of the earlier period, or of the range if the logs begin later."""
        begins = self.logs.begin_before(self.span.comparable_since())
        return self.span.before().since if begins else self.span.since

    @property
    def _is_near(self) -> bool:
        return self.span.seconds <= SESSION_DAYS * 86_400

    @read_once
    def timeline(self) -> list[dict[str, Any]]:
        width = overview.width_of(self.span)
        ends = {"begin": self.span.since, "earlier_end": self.span.before().until}
        bars = {name: f"{time:{PRECISE}}" for name, time in ends.items()}
        bars |= {"width": width, "daily": width == overview.DAY}
        matches = self.entity.kind == "class" and self._matches
        return self._rows("page_entity_timeline", self._since, self.span.until, matches=matches, **bars)

    @read_once
    def alerts(self) -> list[dict[str, Any]]:
        """The alerts of the range and of the earlier period, the highest level first."""
        evidence = self._rows("page_entity_evidence", self._since, self.span.until) if self._is_near else []
        ids = {
            "near": [row["id"] for row in evidence],
            "names": [row["id"] for row in evidence if row["is_its"]],
        }
        found = self._rows("page_entity_alerts", self._since, self.span.until, **ids)
        end = self.span.before().until
        return [row for row in found if row["event_time"] >= self.span.since or row["event_time"] < end]

    @property
    def alerts_of_range(self) -> list[dict[str, Any]]:
        return [row for row in self.alerts if row["event_time"] >= self.span.since]

    def pseudonyms(self) -> list[Row]:
        """Returns the pseudonyms of a named user or client in the events of its alerts: alerts have names."""
        if not self.entity.is_subject or self.entity.is_pseudonym or not self._is_near:
            return []
        about = [row for row in self.alerts_of_range if row["relation"] == ABOUT[0]][:ALERTS_WITH_EVENTS]
        ids = sorted({id_ for row in about for id_ in row["its_events"]})
        if not ids:
            return []
        span = {"from": f"{self.span.since:{PRECISE}}", "to": f"{self.span.until:{PRECISE}}"}
        given = {"event_ids": ids, "instance": self.entity.instance, **span}
        found = self.store.rows("page_event_pseudonyms", **given)
        return [row for row in found if row["kind"] == self.entity.kind]

    @property
    def alerts_about(self) -> list[dict[str, Any]]:
        """Those that count: about the entity, or with one of its records as evidence."""
        return [row for row in self.alerts if row["relation"] in ABOUT]

    @property
    def sides_since(self) -> datetime:
        """The begin of the side tables."""
        if self.entity.kind == "class":
            return self.span.since
        return max(self.span.since, self.span.until - timedelta(days=SIDE_DAYS))

    @read_once
    def others(self) -> list[dict[str, Any]]:
        """Users, clients, programs and tables."""
        return self._rows("page_entity_others", self.sides_since, self.span.until)

    @read_once
    def classes(self) -> list[dict[str, Any]]:
        """Data classes."""
        return self._rows("page_entity_classes", self.sides_since, self.span.until, matches=self._matches)

    @read_once
    def _matches(self) -> bool:
        """Whether actions must be matched between logs; the analysis of that query takes long."""
        since = self.span.before().since if self.entity.kind == "class" else self.sides_since
        return bool(self._rows("page_entity_unmatched", since, self.span.until))

    @property
    def compared(self) -> TimeRange:
        """The range that is compared with the days before it."""
        return TimeRange(self.sides_since, self.span.until)

    @read_once
    def earlier_days(self) -> usual.EarlierDays:
        span, first = self.compared, usual.EarlierDays.first_possible(self.compared)
        return usual.EarlierDays(span, self._rows("page_entity_usual_days", first, span.until))

    @read_once
    def usual_names(self) -> list[dict[str, Any]]:
        """What the records of the range name, and whether those of the days before name it, too."""
        begin = {"begin": f"{self.compared.since:{PRECISE}}"}
        return self._rows("page_entity_usual", self.earlier_days.since, self.compared.until, **begin)

    @read_once
    def logins(self) -> list[dict[str, Any]]:
        return self._rows("page_session_logins", self.span.since, self.span.until)

    @read_once
    def databases(self) -> list[str]:
        """The databases of the servers whose rows the reader sees."""
        return [row["database"] for row in self.store.rows("page_entity_databases")]

    def latest(self) -> datetime | None:
        """Returns the time of the latest record of any time, None if there is no record."""
        found = self._rows("page_entity_latest", EARLIEST, self.span.until + timedelta(days=366))
        return found[0]["latest"] if found else None

    def first_view(
        self, start: Start, kind: str, before: Position | None
    ) -> tuple[list[Row], Position | None]:
        """Returns page(), and reads the other parts at the same time; `start` is of Store.at_once."""
        parts = [start(partial(getattr, self, name)) for name in self._independent]
        _ = self.logs  # the next two begin with the logs
        alerts = start(lambda: self.alerts)
        _ = self.timeline, alerts()
        found = self.page(kind, before)
        for part in parts:
            part()
        return found

    @property
    def _independent(self) -> Sequence[str]:
        """Parts that need no other one, the longest first."""
        return ("read", "others", "classes", *(["logins"] if self.entity.kind == SESSION else []))

    def page(
        self, kind: str, before: Position | None, size: int = records.PAGE_SIZE
    ) -> tuple[list[Row], Position | None]:
        """Returns the records and alerts of a page, and the position of the next one."""
        alerts = (
            [row for row in self.alerts_of_range if row["relation"] in ABOUT] if kind in ("", "alert") else []
        )
        found = self._records(kind, before, size + 1) if kind != "alert" else []
        return records.merged(found, alerts, before, size, self.oldest)

    def _records(self, kind: str, before: Position | None, limit: int) -> list[Row]:
        width = overview.width_of(self.span)
        given = (self.timeline, self.span, width, before, kind, limit)
        if self.oldest:
            ends = before.time if before else self.span.since, records.highest(*given)
        else:
            ends = records.lowest(*given), before.end() if before else self.span.until
        place = {"kinds": [kind] if kind else [], "before_id": before.id if before else "", "limit": limit}
        return self._rows("page_entity_events", *ends, **place)

    def shown(self, rows: Sequence[Row], links: Mapping[str, str]) -> list[dict[str, Any]]:
        """Returns rows of the table of records, with texts and data classes."""
        return records.shown(rows, self._statements(rows), self._touched(rows), links)

    def _statements(self, rows: Sequence[Row]) -> dict[str, str]:
        ids = sorted({row["query"] for row in rows if row.get("query")})
        found = self.store.rows("page_entity_statements", queries=ids) if ids else []
        return {row["query"]: row["statement"] for row in found}

    def _touched(self, rows: Sequence[Row]) -> dict[str, Row]:
        logged = [row for row in rows if "relation" not in row]
        if not logged:
            return {}
        times = [row["event_time"] for row in logged]
        span = {
            "from": f"{min(times):{PRECISE}}",
            "to": f"{max(times) + timedelta(microseconds=1):{PRECISE}}",
        }
        found = self.store.rows("page_entity_touched", ids=[row["id"] for row in logged], **span)
        return {row["id"]: row for row in found}

    def all(self, kind: str, links: Mapping[str, str]) -> list[dict[str, Any]]:
        """Returns the rows for a CSV file, at most one more than csv_table.LIMIT."""
        found: list[dict[str, Any]] = []
        for rows in self._pages(kind):
            found += self.shown(rows, links)
            if len(found) > csv_table.LIMIT:
                break
        return found[: csv_table.LIMIT + 1]

    def _pages(self, kind: str) -> Iterator[list[Row]]:
        before = None
        while True:
            rows, before = self.page(kind, before, records.ROWS_AT_ONCE)
            yield rows
            if before is None:
                return
