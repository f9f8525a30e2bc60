"""The columns of the tables of the page Retention and of its CSV files, and their rows."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tailrace.plural import counted
from tailrace.retention.demands import Demand
from tailrace.retention.holds import Hold
from tailrace.retention.overview import Line
from tailrace.retention.record import TITLES, Recorded, summaries
from tailrace_pages import formats
from tailrace_pages.columns import Column

TABLES = (
    Column("kind", "Class of records", 20),
    Column("table", "Table", 20),
    Column("days", "Kept (days)", 10, "count"),
    Column("mark", "Demands", 0, note="● kept long enough, ▲ too short, ○ no number of days is set"),
    Column("rows", "Rows", 12, "count"),
    Column("oldest", "Oldest row (UTC)", 14),
    Column("expires", "Expires next (UTC)", 16, note="When the oldest row without a hold expires"),
    Column("held", "Held rows", 10, "count"),
    Column("archive", "Waits for archive", 14),
)
CSV_TABLES = (*TABLES, Column("short", "Too short for"))
HOLDS = (
    Column("case", "Case", 16, link="address"),
    Column("selector", "Selected rows", 0),
    Column("state", "State", 16),
    Column("placed_at", "Placed (UTC)", 20),
    Column("placed_by", "By", 12),
    Column("reason", "Reason", 24),
    Column("requested_by", "Release requested by", 16),
    Column("released_by", "Released by", 12),
    Column("id", "Id", 16, "id"),
)
DELETIONS = (
    Column("what", "What", 20),
    Column("table", "Table", 20),
    Column("first", "From (UTC)", 16),
    Column("last", "To (UTC)", 16),
    Column("rows", "Rows", 12, "count"),
    Column("at", "Done (UTC)", 20),
    Column("by", "By", 12),
    Column("reason", "Reason", 0),
    Column("id", "Id", 16, "id"),
)
NAMES = {"iso27001": "ISO 27001"}
"""Short names of frameworks; of others the key in capital letters, such as PCI."""
UNREADABLE = "unknown: your role may not read it"
ENOUGH, SHORT, UNSET = "●", "▲", "○"
"""Long enough, too short, and a demand without a number of days."""


def rows(lines: Iterable[Line]) -> list[dict[str, Any]]:
    """Returns the rows of CSV_TABLES, tables not kept long enough first, then those that expire next."""
    return [
        {
            "kind": line.kind,
            "table": line.table,
            "days": line.days,
            "mark": _demands(line),
            "rows": line.rows,
            "oldest": _oldest(line),
            "expires": _expires(line),
            "held": line.held,
            "archive": line.archive or "no",
            "short": "; ".join(demand.text for demand in line.unmet),
        }
        for line in sorted(lines, key=_order)
    ]


def _order(line: Line) -> tuple[bool, bool, float]:
    """Unknown times are after the known ones, because it is unknown how soon they are."""
    expires = line.expires_next
    return not line.unmet, expires is None, expires.timestamp() if expires else line.days


def _demands(line: Line) -> str:
    return "; ".join(f"{_mark(line, each)} {_short(each)}" for each in line.demands) or "none"


def _mark(line: Line, demand: Demand) -> str:
    if not demand.days:
        return UNSET
    return SHORT if demand in line.unmet else ENOUGH


def _short(demand: Demand) -> str:
    """Returns a demand without its texts, which the page lists below."""
    days = f": {counted(demand.days, 'day')}" if demand.days else ""
    name = NAMES.get(demand.framework, demand.framework.upper())
    return f"{name} {demand.clause}{days}"


def _oldest(line: Line) -> str:
    if line.rows is None:
        return formats.UNKNOWN
    return formats.day(line.oldest) if line.oldest else "no rows"


def _expires(line: Line) -> str:
    if line.rows is None:
        return UNREADABLE
    return formats.day(line.expires_next) if line.expires_next else "nothing"


def hold_rows(holds: Iterable[Hold], address: Callable[[str], str] = str) -> list[dict[str, Any]]:
    """Returns the rows of HOLDS, those in force first; `address` returns that of a hold's page by its id."""
    return [
        {
            "case": hold.case_name,
            "selector": hold.selector.text(),
            "state": hold.state,
            "placed_at": hold.placed_at[:19],
            "placed_by": hold.placed_by,
            "reason": hold.placed_because,
            "requested_by": hold.requested_by,
            "released_by": hold.released_by,
            "id": hold.id,
            "address": address(hold.id),
        }
        for hold in sorted(holds, key=lambda hold: not hold.is_in_force)
    ]


def deletion_rows(found: Sequence[Recorded]) -> list[dict[str, Any]]:
    """Returns the rows of DELETIONS, the newest first."""
    return [
        {
            "what": TITLES[each.recorded.action],
            "table": each.table,
            "first": each.first,
            "last": each.last,
            "rows": each.rows,
            "at": each.recorded.at.rstrip("Z").replace("T", " "),
            "by": each.recorded.actor,
            "reason": each.recorded.reason,
            "id": each.recorded.id,
        }
        for each in summaries(found)
    ]


def headline(lines: Sequence[Line], holds: Sequence[Hold]) -> list[dict[str, Any]]:
    """Returns the numbers above the table. Held rows are unknown if no table can be read."""
    short = sum(bool(line.unmet) for line in lines)
    known = [line.held for line in lines if line.held is not None]
    in_force = sum(hold.is_in_force for hold in holds)
    expiring = sorted((line.expires_next, line.table) for line in lines if line.expires_next)
    none_expires = formats.UNKNOWN if any(line.rows is None for line in lines) else "nothing"
    return [
        {
            "title": "Tables not kept long enough",
            "value": formats.count(short),
            "note": "for the chosen frameworks",
        },
        {
            "title": "Expires next (UTC)",
            "value": formats.day(expiring[0][0]) if expiring else none_expires,
            "note": _expiring(expiring[0][1] if expiring else "", lines),
        },
        {"title": "Legal holds in force", "value": formats.count(in_force)},
        {"title": "Held rows", "value": formats.count(sum(known) if known else None)},
    ]


def _expiring(table: str, lines: Sequence[Line]) -> str:
    """Returns the table whose row expires next, and how many tables are unknown."""
    hidden = sum(line.rows is None for line in lines)
    unknown = f"unknown for {counted(hidden, 'table')}" if hidden else ""
    return ", ".join(filter(None, (table, unknown)))
