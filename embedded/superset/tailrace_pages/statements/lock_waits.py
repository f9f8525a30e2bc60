"""Waits for metadata locks of the tables of one statement as rows of tables.LOCK_WAITS."""

from typing import Any

from tailrace_pages import formats
from tailrace_pages.statements import tables

IDLE = "Sleep"
"""The command of a session that runs no statement, usually with an open transaction."""


def table(rows: tables.Rows, entity: tables.Entity) -> list[dict[str, Any]]:
    """Returns the rows of page_query_lock_waits, with the addresses of users and tables."""
    return [_row(row, entity) for row in rows]


def _row(row: tables.Row, entity: tables.Entity) -> dict[str, Any]:
    command, seconds = row["holding_command"], formats.duration(row["held_seconds"])
    return {
        **row,
        "name_address": entity("table", row["name"]),
        "waiting": _session(row, "waiting"),
        "waiting_address": _address(row["waiting_user"], entity),
        "holding": _session(row, "holding"),
        "holding_address": _address(row["holding_user"], entity),
        "state": f"idle for {seconds}" if command == IDLE else f"{command or formats.UNKNOWN} for {seconds}",
    }


def _session(row: tables.Row, side: str) -> str:
    user, host, connection = (row[f"{side}_{name}"] for name in ("user", "host", "connection"))
    if not connection:  # such as the thread of a replica
        return user or "thread of the server"
    return f"{user or formats.UNKNOWN}{f' from {host}' if host else ''}, connection {connection}"


def _address(user: str, entity: tables.Entity) -> str:
    return entity("user", user) if user else ""
