"""The columns of the rows of a result, which are those of its query."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from tailrace.evidence.framework import Result
from tailrace_pages.columns import Column

TEXTS = frozenset({"statement", "change", "what", "privileges", "affected_tables", "known_tables", "finding"})
SHORT_TEXT = 20
"""Characters of texts that need no more width than other values, such as the kind of a loss."""
"""Columns with long texts, which share the width that the others leave."""
WIDTH_OF_TIME = 20
WIDTH_BESIDE_TEXTS = 14
"""Of other columns, if there is a column of TEXTS."""

WIDTHS = {"account": 24}
"""Of columns whose values are longer and read as a whole: `'app_orders'@'10.20.1.%'` is not broken."""

DASHBOARDS = {
    "servers": ("Log coverage", "coverage"),
    "coverage": ("Log coverage", "coverage"),
    "gaps": ("Log coverage", "coverage"),
    "cardholder_access": ("Data access", "data-access"),
    "sensitive_access": ("Data access", "data-access"),
    "unknown_access": ("Data access", "data-access"),
    "administration": ("Privileged activity", "privileged-activity"),
    "refused_access": ("Failed access", "failed-access"),
    "accounts": ("Accounts", "accounts"),
    "account_use": ("Accounts", "accounts"),
    "rights_changes": ("Accounts", "accounts"),
}
"""Title and slug of the dashboard that sums up the rows of a result."""

IP = re.compile(r"\bip\b")
PAGE = "SELECT * FROM (\n{}\n)\n{}\nLIMIT {{limit:UInt32}} OFFSET {{offset:UInt32}}"
NOT_COVERED = (
    "SELECT * FROM (\n{}\n)\nWHERE state != 'covered'\n"
    "ORDER BY source NOT IN ('audit', 'general'), instance, source, log, from_time\n"
    "LIMIT {{limit:UInt32}} OFFSET {{offset:UInt32}}"
)
"""The rows of the result `coverage` that are not covered, those of audit logs first."""
COUNT = "SELECT count() AS counted FROM (\n{}\n)"


def page_of(result: Result) -> str:
    """Returns the query of one page of the rows, with the parameters limit and offset.

    It repeats the order of the query: ClickHouse does not keep that of a subquery.
    """
    statement = result.statement()
    return PAGE.format(statement, statement[statement.rindex("\nORDER BY ") + 1 :])


def not_covered(result: Result) -> str:
    """Returns the query of one page of the intervals that are not covered, with the same parameters."""
    return NOT_COVERED.format(result.statement())


def count_of(result: Result) -> str:
    """Returns the query of the number of rows, `counted`."""
    return COUNT.format(result.statement())


def columns(names: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Returns the columns with these names; the kind of each is that of its first known value."""
    chosen = [*names]
    texts = {name for name in TEXTS.intersection(chosen) if not rows or _is_long(name, rows)}
    others = WIDTH_BESIDE_TEXTS if texts else 0
    wide = WIDTHS if others else {}
    widths = {name: 0 if name in texts else wide.get(name, others) for name in chosen}
    return [_column(name, _kind(name, rows), widths[name]) for name in chosen]


def shown(result: Result, rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Returns the columns that the page shows; a CSV file contains all."""
    return columns(result.columns, rows)


def complete(rows: Sequence[Mapping[str, Any]], result: Result) -> list[Column]:
    """Returns all columns of the rows; without rows those that the page shows."""
    return columns(rows[0] if rows else result.columns, rows)


def _column(name: str, kind: str, width: int) -> Column:
    title = IP.sub("IP", name.replace("_", " ").capitalize())
    if kind == "time":
        return Column(name, f"{title} (UTC)", WIDTH_OF_TIME, kind)
    return Column(name, title, width, kind)


def _is_long(name: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    return any(len(str(row[name] or "")) > SHORT_TEXT for row in rows)


def _kind(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    value = next((row[name] for row in rows if row[name] is not None), None)
    if isinstance(value, datetime):
        return "time"
    if isinstance(value, date):
        return "day"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    return "code" if name in TEXTS else "text"
