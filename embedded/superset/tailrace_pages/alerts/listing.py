"""The list of alerts: its columns, its rows and the numbers above it."""

from collections.abc import Mapping
from typing import Any

from tailrace_pages import csv_table, formats
from tailrace_pages.alerts.filters import Filters
from tailrace_pages.columns import Column
from tailrace_pages.store import Store
from tailrace_pages.time_range import TimeRange

ALERTS, COUNTS, NEWEST = "page_alerts", "page_alert_counts", "page_alerts_newest"
"""Files of sql/queries."""

COLUMNS = (
    Column("level", "Severity", 16, "severity"),
    Column("event_time", "Event (UTC)", 20, "time"),
    Column("rule_title", "Rule", 0, link="address"),
    Column("entity_key", "Entity", 28, note="The user, address or other thing that the alert is about"),
    Column("instance", "Instance", 16),
    Column("shown_state", "State", 14),
    Column("assignee", "Assignee", 12),
    Column("alert_count", "Count", 8, "count", note="How often the rule matched for this entity"),
    Column("id", "Id", 16, "id"),
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


def page_of(
    store: Store, filters: Filters, span: TimeRange, viewer: str, page: int, size: int
) -> tuple[list[dict[str, Any]], bool]:
    """Returns the rows of one page of the list, the first is 1, and whether there are more."""
    rows = _rows(store, filters, span, viewer, size + 1, (page - 1) * size)
    return rows[:size], len(rows) > size


def all_of(store: Store, filters: Filters, span: TimeRange, viewer: str) -> list[dict[str, Any]]:
    """Returns the rows for a CSV file."""
    return _rows(store, filters, span, viewer, csv_table.LIMIT + 1, 0)


def _rows(
    store: Store, filters: Filters, span: TimeRange, viewer: str, limit: int, offset: int
) -> list[dict[str, Any]]:
    given = {**filters.parameters(viewer), **span.parameters(), "limit": limit, "offset": offset}
    return [{**row, "shown_state": shown_state(row)} for row in store.rows(ALERTS, **given)]


def shown_state(row: Mapping[str, Any]) -> str:
    """The state of an alert in words: with the verdict if it is closed, and whether it is suppressed."""
    if row["state"] == "closed":
        return f"closed: {row['verdict']}" if row["verdict"] else "closed"
    return "suppressed" if row["silenced"] and row["state"] == "open" else str(row["state"])


def counts(store: Store, filters: Filters, span: TimeRange, viewer: str) -> dict[str, Any]:
    """Returns {levels: {level: n}, total, older}; `older` counts the alerts before the range."""
    rows = store.rows(COUNTS, **filters.parameters(viewer), **span.parameters())
    levels = {row["level"]: row["alerts"] for row in rows if not row["older"]}
    older = sum(row["alerts"] for row in rows if row["older"])
    return {"levels": levels, "total": sum(levels.values()), "older": older}


def headline(levels: Mapping[str, int], addresses: Mapping[str, str]) -> list[dict[str, Any]]:
    """Returns the numbers above the list: alerts by severity, most severe first, each with its address."""
    return [
        {"title": level, "value": formats.count(levels.get(level, 0)), "link": addresses[level], "note": ""}
        for level in formats.LEVELS
    ]
