"""The table of records across logs, newest or oldest first, with alerts between them.

Records of one log with the same time are in the order of the log. A page begins after a position, which is
the time and the place of the last row of the page before. It costs the same whichever page it is: `lowest`
and `highest` limit the time range that is read, by the counts of the chart's bars.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tailrace.search.fields import KINDS
from tailrace_pages import formats
from tailrace_pages.columns import Column
from tailrace_pages.entities import addresses
from tailrace_pages.entities.kinds import SESSION, Entity
from tailrace_pages.page_errors import BadAddressError
from tailrace_pages.time_range import TimeRange

__all__ = ["KINDS"]
"""Kinds of records by their value in addresses, with the names of the search."""
PAGE_SIZE = 200
ROWS_AT_ONCE = 2000
"""Rows of one query for a CSV file."""

ORDERS = ("newest", "oldest")
"""Which records are first, as the argument `order`; the first is the default."""
TITLES = {
    "": "All",
    "connection": "Logins and logouts",
    "refused": "Refused logins",
    "statement": "Statements",
    "failed": "Failed statements",
    "table": "Accesses to a table",
    "message": "Messages of the error log",
    "other": "Other records of an audit log",
    "alert": "Alerts",
}
WITH_ROWS = frozenset({"statement", "failed", "table"})
"""Kinds of records that can send rows: their number is unknown if the log does not contain it."""
LOGS = {"audit": "audit", "general": "general", "slowlog": "slow query", "errorlog": "error", "": ""}
PRECISE = "%Y-%m-%d %H:%M:%S.%f"

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Position:
    """The last row of a page: the next page has what follows in the order of the page. `id` is the place of
    a record (`place` of page_entity_events), or the id of an alert."""

    time: datetime
    id: str

    def argument(self) -> str:
        """Returns the argument `before` of an address."""
        return f"{self.time.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}~{self.id}"

    def end(self) -> datetime:
        """Returns the exclusive end of the times that the next page may have."""
        return self.time + timedelta(microseconds=1)


def position(text: str) -> Position | None:
    """Returns the position of the argument `before`, None for an empty one. Raises BadAddressError."""
    if not text:
        return None
    time, _, record = text.partition("~")
    try:
        found = datetime.strptime(time, "%Y-%m-%dT%H:%M:%S.%f").replace(tzinfo=UTC)
    except ValueError:
        raise BadAddressError(f"before={text} is not a place in the table; open its first page.") from None
    return Position(found, record)


def kind(text: str) -> str:
    """Returns the kind of the argument `kind`; empty: all. Raises BadAddressError."""
    if text and text not in KINDS:
        raise BadAddressError(f"kind={text} does not exist; there are {', '.join(KINDS)}.")
    return text


def oldest_first(text: str) -> bool:
    """Returns whether the argument `order` asks for the oldest records first. Raises BadAddressError."""
    if text not in ORDERS:
        raise BadAddressError(f"order={text} does not exist; there are {', '.join(ORDERS)}.")
    return text == ORDERS[1]


def lowest(
    rows: Sequence[Row], span: TimeRange, width: int, before: Position | None, wanted: str, limit: int
) -> datetime:
    """Returns a time from which there are `limit` records of a kind before a position, or the range's begin.

    `rows` are those of page_entity_timeline. The bar of the position itself is not counted.
    """
    end = (before.time if before else span.until).timestamp()
    left = limit
    for bar, records in reversed(_bars(rows, wanted)):
        if bar.timestamp() + width > end:
            continue
        left -= records
        if left <= 0:
            return max(bar, span.since)
    return span.since


def highest(
    rows: Sequence[Row], span: TimeRange, width: int, after: Position | None, wanted: str, limit: int
) -> datetime:
    """Returns a time before which there are `limit` records of a kind after a position, or the range's end.

    `rows` are those of page_entity_timeline. The bar of the position itself is not counted.
    """
    begin = (after.time if after else span.since).timestamp()
    left = limit
    for bar, records in _bars(rows, wanted):
        if bar.timestamp() < begin:
            continue
        left -= records
        if left <= 0:
            return min(bar + timedelta(seconds=width), span.until)
    return span.until


def _bars(rows: Sequence[Row], wanted: str) -> list[tuple[datetime, int]]:
    """Returns the begin of each bar of the range and its number of records of a kind, in order of time."""
    bars = [
        (row["bar"], row["kinds"].get(wanted, 0) if wanted else sum(row["kinds"].values()))
        for row in rows
        if row["is_current"]
    ]
    return sorted(bars)


def merged(
    found: Sequence[Row], alerts: Sequence[Row], before: Position | None, size: int, oldest: bool = False
) -> tuple[list[Row], Position | None]:
    """Returns the rows of a page, newest or oldest first, and the position of the next page, None if this is
    the last. `found` are records from the position on, at most size + 1."""
    both = [*found, *(row for row in alerts if before is None or _follows(row, before, oldest))]
    both.sort(key=_place, reverse=not oldest)
    if len(both) <= size:
        return both, None
    shown = both[:size]
    return shown, Position(*_place(shown[-1]))


def _follows(row: Row, before: Position, oldest: bool) -> bool:
    cursor = (before.time, before.id)
    return _place(row) > cursor if oldest else _place(row) < cursor


def _place(row: Row) -> tuple[datetime, str]:
    return row["event_time"], row.get("place", row["id"])


def shown(
    rows: Sequence[Row],
    statements: Mapping[str, str],
    touched: Mapping[str, Row],
    links: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Returns rows of the table, with the texts of statements by query id and data classes by event id.

    `links` are the arguments of addresses that links keep, such as the time range.
    """
    return [_alert(row) if "relation" in row else _record(row, statements, touched, links) for row in rows]


def _record(
    row: Row, statements: Mapping[str, str], touched: Mapping[str, Row], links: Mapping[str, str]
) -> dict[str, Any]:
    connection, its = row["connection_id"], touched.get(row["id"])
    server = (row["cluster"], row["instance"])
    return {
        **row,
        "shown_kind": KINDS[row["event_kind"]],
        "shown_log": LOGS.get(row["log"], row["log"]),
        "what": row["text"] or statements.get(row["query"], "") or _command(row),
        "address": addresses.query(row["query"], links) if row["query"] else "",
        "shown_rows": _rows_sent(row),
        "tables": ", ".join(row["table_names"]),
        "classes": _classes(its) if its else "",
        "session": str(connection) if connection else "",
        "session_address": addresses.session(*server, connection, _around(row["event_time"]))
        if connection
        else "",
        "user_address": addresses.entity("user", row["user"], links) if row["user"] else "",
        "client_address": addresses.entity("client", row["client"], links) if row["client"] else "",
    }


def _alert(row: Row) -> dict[str, Any]:
    nothing = dict.fromkeys(
        ("database", "tables", "classes", "session", "session_address", "user_address", "client_address"), ""
    )
    return {
        **row,
        **nothing,
        "shown_kind": KINDS["alert"],
        "shown_log": "",
        "client": row["src_ip"],
        "what": f"{row['level']}: {row['rule_title']}",
        "address": addresses.alert(row["alert"]),
        "error_code": "",
        "query": "",
        "program": "",
        "query_seconds": None,
        "sent_rows": None,
        "shown_rows": "",
    }


def _rows_sent(row: Row) -> str:
    """Returns the rows sent; empty for a record of a kind that sends none."""
    if row["sent_rows"] is None and row["event_kind"] not in WITH_ROWS:
        return ""
    return formats.count(row["sent_rows"])


def _command(row: Row) -> str:
    return " ".join(filter(None, (row["verb"] or row["command"], row["database"])))


def _classes(its: Row) -> str:
    return ", ".join([*its["classes"], *(["unknown"] if its["is_unknown"] else [])])


def _around(time: datetime) -> dict[str, str]:
    """Returns the time range of a session's link: connection ids start again when a server restarts."""
    hour = timedelta(hours=1)
    return {"from": formats.iso(time - hour), "to": formats.iso(time + hour)}


_COLUMNS = (
    Column("event_time", "Time (UTC)", 20, "time"),
    Column("shown_kind", "Kind", 16),
    Column("shown_log", "Log", 12),
    Column("user", "User", 14, link="user_address"),
    Column("client", "Client", 16, link="client_address"),
    Column("instance", "Instance", 12),
    Column("session", "Session", 10, link="session_address", note="The connection id"),
    Column("what", "Statement, message or alert", 0, link="address"),
    Column("shown_rows", "Rows sent", 10, "figure", note="Slow query logs contain it, audit logs do not"),
    Column("classes", "Data classes", 12),
    Column("error_code", "Error", 8, "figure", note="The error code of the server"),
)
_HIDDEN: Mapping[str, Collection[str]] = {
    "user": {"user"},
    "client": {"client"},
    SESSION: {"user", "client", "instance", "session"},
}
"""Columns that have one value on the page of a kind."""

CSV_COLUMNS = (
    Column("event_time", "Time (UTC)", 0, "time"),
    Column("shown_kind", "Kind"),
    Column("shown_log", "Log"),
    Column("cluster", "Cluster"),
    Column("instance", "Instance"),
    Column("user", "User"),
    Column("client", "Client"),
    Column("program", "Program"),
    Column("database", "Database"),
    Column("session", "Connection id"),
    Column("what", "Statement, message or alert"),
    Column("tables", "Tables"),
    Column("classes", "Data classes"),
    Column("error_code", "Error"),
    Column("query_seconds", "Duration (s)", 0, "number"),
    Column("sent_rows", "Rows sent", 0, "count"),
    Column("query", "Query id"),
    Column("id", "Record id"),
)


def columns(entity: Entity) -> list[Column]:
    """Returns the columns of the table on the page of an entity."""
    hidden = _HIDDEN.get(entity.kind, ())
    return [column for column in _COLUMNS if column.key not in hidden]
