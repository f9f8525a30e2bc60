"""The deadlocks of one statement as rows of tables.DEADLOCKS."""

from collections.abc import Callable, Mapping
from typing import Any

from tailrace_pages import formats
from tailrace_pages.statements import tables


def table(
    rows: tables.Rows, callers: tables.Rows, entity: tables.Entity, statement: Callable[[int], str]
) -> list[dict[str, Any]]:
    """Returns the rows of page_query_deadlocks from the view of the statement; `statement(id)` is the address
    of the page of the other statement."""
    applications: dict[tuple[str, str], set[str]] = {}
    for row in callers:
        application = row["application"] or tables.NO_TAG
        applications.setdefault((row["user"], row["client"]), set()).add(application)
    return [_row(row, applications, entity, statement) for row in rows]


def _row(
    row: tables.Row,
    applications: Mapping[tuple[str, str], set[str]],
    entity: tables.Entity,
    statement: Callable[[int], str],
) -> dict[str, Any]:
    its, other = ("first", "second") if row["is_first"] else ("second", "first")
    who = {"user": row[f"{its}_user"], "client": row[f"{its}_client"]}
    known = sorted(applications.get((who["user"], who["client"]), ()))
    other_user, other_client = row[f"{other}_user"], row[f"{other}_client"]
    victim = {"1": "first", "2": "second"}.get(row["rolled_back"])
    return {
        **row,
        **who,
        **tables.addresses(who, entity, "user", "client"),
        "application": ", ".join(known) or formats.UNKNOWN,
        "outcome": {its: "this one", other: "the other one"}.get(victim or "", formats.UNKNOWN),
        "other_user": other_user,
        "other_user_address": entity("user", other_user) if other_user else "",
        "other_client": other_client,
        "other_client_address": entity("client", other_client) if other_client else "",
        "other": row["other_text"] or formats.UNKNOWN,
        "other_address": statement(row["other_id"]) if row["other_id"] else "",
    }
