"""The list of alerts: its columns, its rows and the numbers above it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tailrace_pages import csv_table, formats, links
from tailrace_pages.alerts.filters import Filters
from tailrace_pages.columns import Column
from tailrace_pages.time_range import TimeRange

if TYPE_CHECKING:
    from tailrace_pages.store import Store

ALERTS, OVERVIEW, ROWS, NEWEST = "page_alerts", "page_alert_overview", "page_alert_rows", "page_alerts_newest"
"""Files of sql/queries."""
PAGES = 20
"""Pages of the list; page_alert_overview.sql reads the ids of PAGES * 50 + 50 alerts of each severity."""

COLUMNS = (
    Column("level", "Level", 14, "severity"),
    Column("event_time", "Event (UTC)", 20, "time"),
    Column("rule_title", "Rule", 0, link="address"),
    Column(
        "entity_key", "Entity", 28, "entity", note="The user, client or other thing that the alert is about"
    ),
    Column("instance", "Instance", 12),
    Column("shown_state", "State", 14),
    Column("assignee", "Assignee", 10),
    Column("alert_count", "Count", 6, "count", note="How often the rule matched for this entity"),
    Column("id", "Id", 14, "id"),
)
"""Of the page."""

CSV_COLUMNS = (
    *COLUMNS[:-2],
    Column("alert_count", "Count", 8, "count"),
    Column("verdict", "Verdict"),
    Column("cluster", "Cluster"),
    Column("user", "User"),
    Column("src_ip", "Client"),
    Column("database", "Database"),
    Column("updated_at", "Last detected (UTC)", 20, "time"),
    Column("id", "Id"),
)


@dataclass(frozen=True)
class Overview:
    """The alerts that the filters select, by severity."""

    levels: Mapping[str, int]
    """Their number in the time range."""
    older: int
    """Their number before the time range."""
    latest: Mapping[str, Sequence[str]]
    """The ids of the latest ones, latest first."""

    def ids(self, levels: Sequence[str], page: int, size: int) -> list[str]:
        """Returns the ids of a page of the list, the first is 1, and one more if there is a next page."""
        listed = [id_ for each in levels for id_ in self.latest.get(each, ())]
        return listed[(page - 1) * size : page * size + 1]


def overview(store: "Store", filters: Filters, span: TimeRange, viewer: str, upto: int) -> Overview:
    """Returns the numbers above the list, for every severity, and the ids of the first `upto` alerts."""
    given = {**filters.with_level("").parameters(viewer), **span.parameters(), "upto": upto}
    rows = {row["level"]: row for row in store.rows(OVERVIEW, **given)}
    return Overview(
        {level: row["alerts"] for level, row in rows.items()},
        sum(rows[level]["older"] for level in filters.levels if level in rows),
        {level: row["latest"] for level, row in rows.items()},
    )


def rows_of(store: "Store", ids: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the rows of alerts, highest level first, then by latest event."""
    return _shown(store.rows(ROWS, ids=list(ids))) if ids else []


def all_of(store: "Store", filters: Filters, span: TimeRange, viewer: str) -> list[dict[str, Any]]:
    """Returns the rows for a CSV file."""
    given = {**filters.parameters(viewer), **span.parameters(), "limit": csv_table.LIMIT + 1}
    return _shown(store.rows(ALERTS, **given))


def _shown(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "shown_state": shown_state(row), "address": links.alert(row["id"])} for row in rows]


def shown_state(row: Mapping[str, Any]) -> str:
    """The state of an alert in words: with the verdict if it is closed, and whether it is suppressed."""
    if row["state"] == "closed":
        return f"closed: {row['verdict']}" if row["verdict"] else "closed"
    return "suppressed" if row["silenced"] and row["state"] == "open" else str(row["state"])


def headline(levels: Mapping[str, int], addresses: Mapping[str, str]) -> list[dict[str, Any]]:
    """Returns the numbers above the list: alerts by level, highest first, each with its address."""
    return [
        {"level": level, "value": formats.count(levels.get(level, 0)), "link": addresses[level]}
        for level in formats.LEVELS
    ]
