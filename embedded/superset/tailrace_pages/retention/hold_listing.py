"""The columns and rows of the page of a legal hold, and of the preview of a new one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tailrace.retention import holds
from tailrace.retention.holds import Hold
from tailrace.retention.selection import Selection
from tailrace_pages import formats
from tailrace_pages.columns import Column

SELECTED = (
    Column("kind", "Class of records", 0),
    Column("table", "Table", 28),
    Column("rows", "Selected rows", 16, "count"),
    Column("oldest", "Oldest (UTC)", 20, "time"),
    Column("newest", "Newest (UTC)", 20, "time"),
)
RECORD = (
    Column("at", "Time (UTC)", 20),
    Column("action", "Action", 20),
    Column("actor", "By", 20),
    Column("reason", "Reason", 0),
    Column("account", "Account", 12, note="The account of ClickHouse that recorded the action"),
)
TITLES = {
    holds.PLACE: "Placed",
    holds.REQUEST: "Release requested",
    holds.CONFIRM: "Release confirmed",
}
"""Of the recorded actions."""


def facts(hold: Hold, unapplied: Sequence[str] | None, unread: str = "") -> list[tuple[str, str]]:
    """Returns name and value of what is known about a hold. `unapplied`: tailrace.migrations.hold_state;
    `unread`: why it could not be read."""
    return [
        ("Case", formats.visible(hold.case_name)),
        ("Selector", formats.visible(hold.selector.text())),
        ("State", hold.state),
        *([("Applied", f"unknown: {unread}" if unread else _applied(unapplied))] if hold.is_in_force else []),
        ("Id", hold.id),
    ]


def _applied(unapplied: Sequence[str] | None) -> str:
    """Returns whether the TTLs keep the rows. Without a visible TTL this is unknown."""
    if unapplied is None:
        return "unknown: your role sees no TTL of its tables"
    if not unapplied:
        return "yes: the TTLs of the tables that your role sees keep the rows"
    return f"not yet: the next run of retention changes the TTL of {', '.join(unapplied)}"


def selected_rows(found: Selection) -> list[dict[str, Any]]:
    """Returns the rows of SELECTED: only tables with selected rows."""
    return [vars(each) for each in found.selected if each.rows]


def summary(found: Selection) -> dict[str, Any]:
    """Returns what the page states about a selection. An unknown table is not an empty one."""
    empty = [each.table for each in found.selected if not each.rows]
    return {
        "rows": selected_rows(found),
        "total": found.rows,
        "empty": ", ".join(sorted(empty)),
        "others": ", ".join(found.others),
        "unknown": ", ".join(found.unknown),
        "uncounted": "",
    }


def uncounted(why: str) -> dict[str, Any]:
    """Returns what the page states about a selection whose rows could not be counted."""
    return {"rows": [], "total": 0, "empty": "", "others": "", "unknown": "", "uncounted": why}


def record_rows(actions: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows of RECORD, the oldest first."""
    return [
        {
            "at": row["moment"],
            "action": TITLES.get(row["action"], row["action"]),
            "actor": row["actor"],
            "reason": row["reason"],
            "account": row["account"],
        }
        for row in actions
    ]
