"""All rows of the page of one statement, from the queries sql/queries/page_query_*.sql."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from tailrace.clickhouse.query_files import of_range
from tailrace_pages.at_once import Start
from tailrace_pages.page_errors import UnavailableError
from tailrace_pages.read_bars import ReadBars
from tailrace_pages.read_once import read_once
from tailrace_pages.statements import periods, slow_logs, trend
from tailrace_pages.time_range import TimeRange

Rows = Callable[..., list[dict[str, Any]]]
DETAIL_RANGE = timedelta(days=7)
"""Callers and the executions of plans are counted in single events: of longer ranges, in the latest part
only."""
DDL_RANGE = timedelta(days=92)
"""An index can have been created or dropped long before it is missed; query events are kept as long."""
CHAINS = (
    ("versions", "callers", "deadlocks"),
    ("ddl", "sizes", "lock_waits", "counters", "plan_load"),
    ("requests", "plan_changes"),
)
"""Properties of Statement that need no other part of the page. One thread reads a chain, one after the other:
more threads than a server has cores would only need more connections."""
SIZES_RANGE = timedelta(days=2)
"""Sizes of tables are measured hourly; the latest one before the end of the range counts."""


@dataclass(frozen=True)
class Statement:
    """One statement in a time range. Each property runs its query once, when it is used, in any thread."""

    rows: Rows
    row: Mapping[str, Any]
    """Of page_query_statement."""
    span: TimeRange
    servers: Mapping[str, str]
    """The filters cluster and instance, '' for all."""

    @property
    def ids(self) -> list[int]:
        return [self.row["id"], *self.row["others"]]

    @property
    def detail_span(self) -> TimeRange:
        """The part of the range in which single events are counted."""
        since = max(self.span.since, self.span.until - DETAIL_RANGE)
        return self.span if since == self.span.since else TimeRange(since, self.span.until)

    def read_all(self, start: Start) -> None:
        """Reads all parts of the page, several at the same time; `start` is of Store.at_once."""
        chains = [start(partial(self._read, names)) for names in CHAINS]
        _ = self.overview  # the next two need its servers
        read = start(lambda: self.read)
        _ = self.logging, read()
        for chain in chains:
            chain()

    def _read(self, names: Sequence[str]) -> None:
        for name in names:
            getattr(self, name)

    @read_once
    def overview(self) -> dict[str, dict[str, Any]]:
        found = self._of_servers(
            of_range("page_query_overview", self.span.seconds), self.span, width=trend.width(self.span)
        )
        return periods.by_kind(found)

    @read_once
    def logging(self) -> periods.Logging:
        names = sorted(self.overview["server"])
        earliest = self.span.since - max(self.span.until - self.span.since, periods.DAY)
        if not names:
            return periods.Logging([], [])
        given = {"servers": names, "oldest": _sql(earliest), "to": self.span.parameters()["to"]}
        return periods.Logging(names, self.rows("page_query_logging", **given))

    @read_once
    def read(self) -> ReadBars:
        """When the slow logs of the servers that ran it were read; without such a server, of no log."""
        names = sorted(self.overview["server"])
        cluster = self.servers.get("cluster", "")
        return slow_logs.read(self.rows, self.span, cluster, names) if names else ReadBars([])

    @read_once
    def buckets(self) -> list[dict[str, Any]]:
        """The executions over time, one row per bucket. The log of one server says nothing about another one:
        a bucket is read if the logs of all servers that ran the statement were."""
        servers = set(self.overview["server"])
        return trend.buckets(
            self.span,
            self.overview["bucket"],
            lambda start, end: self.read.is_read_on(servers, start, end, slow_logs.SOURCES),
        )

    @property
    def begin(self) -> datetime | None:
        """The time of the first entry of these slow logs, if it is in the range."""
        begin = self.read.begin(slow_logs.SOURCES)
        return begin if begin and begin > self.span.since else None

    @read_once
    def periods(self) -> periods.Periods:
        return periods.Periods(
            self.span,
            self.overview["period"],
            self.logging,
            self.read.is_watched_since(self.span.comparable_since(), slow_logs.SOURCES),
        )

    @read_once
    def callers(self) -> list[dict[str, Any]]:
        return self._of_servers("page_query_callers", self.detail_span)

    @read_once
    def plans(self) -> list[dict[str, Any]]:
        return self._of_servers("page_query_plans", self.span)

    @read_once
    def plan_load(self) -> list[dict[str, Any]]:
        return self._of_servers("page_query_plan_load", self.detail_span) if self.plans else []

    @property
    def plans_known(self) -> tuple[float, float] | None:
        """Returns the executions with a known plan and all executions; None if only a part was counted."""
        now = self.overview["period"].get(periods.NOW)
        if now is None or self.detail_span is not self.span:
            return None
        return sum(row["executions"] for row in self.plan_load), now["executions"]

    @read_once
    def plan_changes(self) -> list[dict[str, Any]]:
        return self._of_servers("page_query_plan_changes", self.span)

    @read_once
    def deadlocks(self) -> list[dict[str, Any]]:
        return self._of_servers("page_query_deadlocks", self.span)

    @read_once
    def requests(self) -> list[dict[str, Any]]:
        return self.rows("page_query_requests", query_ids=self.ids, **self.span.parameters())

    @read_once
    def versions(self) -> list[dict[str, Any]] | None:
        """The versions of the applications; None if they cannot be read in time. The query reads all
        statements of these applications, and the rest of the page does not need it."""
        try:
            return self.rows("page_query_versions", query_ids=self.ids, **self.span.parameters())
        except UnavailableError:
            return None

    @read_once
    def tables(self) -> Mapping[str, Any]:
        """The tables that it reads and writes, as its entries name them; without an entry, as its fingerprint
        does: in lower case and without numbers."""
        if not (self.row["reads"] or self.row["writes"]):
            return self.row
        (named,) = self._of_servers("page_query_names", self.detail_span)
        return named if named["reads"] or named["writes"] else self.row

    @property
    def _table_names(self) -> list[str]:
        """The tables of the statement in lower case, with or without their database."""
        names = (*self.tables["reads"], *self.tables["writes"])
        return sorted({name.replace("`", "").lower() for name in names})

    @read_once
    def ddl(self) -> list[dict[str, Any]]:
        """The DDL on the tables of the statement before the end of the range, the newest first."""
        if not self._table_names:
            return []
        oldest = _sql(min(self.span.since, self.span.until - DDL_RANGE))
        return self._of_servers("page_query_ddl", self.span, names=self._table_names, oldest=oldest)

    @read_once
    def lock_waits(self) -> list[dict[str, Any]]:
        """The waits for metadata locks of the tables of the statement, the latest first."""
        if not self._table_names:
            return []
        return self._of_servers("page_query_lock_waits", self.span, names=self._table_names)

    @read_once
    def counters(self) -> list[dict[str, Any]]:
        """What the servers counted of it in Performance Schema."""
        return self._of_servers("page_query_counters", self.span)

    @property
    def ddl_of_range(self) -> list[dict[str, Any]]:
        return [row for row in self.ddl if row["at"] >= self.span.since]

    @read_once
    def sizes(self) -> list[dict[str, Any]]:
        names = {name.rpartition(".")[2] for name in self._table_names}
        if not names:
            return []
        given = {"oldest": _sql(self.span.until - SIZES_RANGE), "to": self.span.parameters()["to"]}
        return self.rows("page_query_tables", names=sorted(names), **given)

    def _of_servers(self, query: str, span: TimeRange, **more: Any) -> list[dict[str, Any]]:
        return self.rows(query, query_ids=self.ids, **span.parameters(), **self.servers, **more)


def _sql(time: Any) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S}"
