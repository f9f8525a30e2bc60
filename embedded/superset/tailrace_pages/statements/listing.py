"""Lists of statements: the heaviest ones, and those that a search found."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tailrace.reading import statements
from tailrace.reading.statements import shown_id
from tailrace_pages import formats
from tailrace_pages.columns import Column
from tailrace_pages.time_range import TimeRange

Rows = Callable[..., list[dict[str, Any]]]
MOST = 25
"""Statements of the list of the heaviest ones."""
MOST_CHARACTERS = 300
"""Of a statement in a table."""

COLUMNS = (
    Column("query", "Statement", 0, "code", link="address"),
    Column("total_seconds", "Total time", 14, "duration", note="Sum of the execution times in the slow logs"),
    Column("share", "Share", 8, "share", note="Of the total time of all statements"),
    Column("executions", "Executions", 12, "count"),
    Column("p95", "p95", 12, "duration", note="95 % of the executions took at most this time"),
    Column("p95_change", "p95 vs before", 16, note="Against the equally long time before the range"),
    Column("last_seen", "Last seen (UTC)", 20, "time"),
    Column("query_id", "Query id", 16, "id"),
)


ORDERS = {"time": "Most total time", "slower": "Slower than before"}
"""Orders of the list, by the value of `?order=`."""
SLOWER = 1.1
"""Ratio of the p95 to the one before, from which a statement counts as slower."""


def heaviest(
    rows: Rows, span: TimeRange, servers: Mapping[str, str], order: str = "time"
) -> list[dict[str, Any]]:
    """Returns the MOST statements with the most total time; with the order `slower` those of them that are
    slower than in the equally long time before, the largest ratio first. `servers` has the filters cluster
    and instance."""
    found = list(map(_shown, statements.heaviest(rows, span, servers, MOST)))
    if order == "slower":
        return sorted((row for row in found if row["ratio"] >= SLOWER), key=lambda row: -row["ratio"])
    return found


def measured(
    rows: Rows, found: Sequence[Mapping[str, Any]], span: TimeRange, servers: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Returns statements (rows with id, query, last_seen) with their numbers, the most total time first."""
    known = statements.measured(rows, found, span, servers)
    return [_shown(row) for row in sorted(known, key=lambda row: -row["total_seconds"])]


def obstacles(rows: Rows, span: TimeRange, servers: Mapping[str, str]) -> list[str]:
    """Returns a sentence per change of logging settings across which the p95 is compared."""
    given = {"oldest": span.before().parameters()["from"], "to": span.parameters()["to"], **servers}
    return [
        f"{row['server']} logs differently since {formats.time(row['changed'])} UTC ({row['logged']}): "
        "the p95 of its statements is compared across this change."
        for row in rows("page_query_logging_changes", **given)
    ]


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a row of tailrace.reading.statements for the table."""
    kept = {name: row[name] for name in ("last_seen", "total_seconds", "share", "executions")}
    known = {"query": shortened(row["query"]), "query_id": shown_id(row["id"]), **kept}
    return {**known, **_latency(row["p95"], row["p95_before"])}


def _latency(now: float | None, before: float | None) -> dict[str, Any]:
    """Returns the p95 with its change; the ratio is 0 if one of both is unknown."""
    return {"p95": now, "p95_change": _change(now, before), "ratio": now / before if now and before else 0.0}


def _change(now: float | None, before: float | None) -> str:
    if now is None:
        return ""
    return "no entry before" if before is None else formats.change(now, before)


def shortened(query: str) -> str:
    return query if len(query) <= MOST_CHARACTERS else query[:MOST_CHARACTERS] + "…"
