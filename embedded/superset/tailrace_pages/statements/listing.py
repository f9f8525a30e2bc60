"""Lists of statements: the heaviest ones, and those that a search found."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

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
    totals = rows("page_query_list", query_ids=[], most=MOST, **span.parameters(), **servers)
    texts = {row["id"]: row for row in rows("page_query_texts", query_ids=[row["id"] for row in totals])}
    known = [{**texts.get(row["id"], {"query": "", "last_seen": None}), "id": row["id"]} for row in totals]
    found = _with_numbers(rows, known, totals, span, servers)
    if order == "slower":
        return sorted((row for row in found if row["ratio"] >= SLOWER), key=lambda row: -row["ratio"])
    return found


def measured(
    rows: Rows, found: Sequence[Mapping[str, Any]], span: TimeRange, servers: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Returns statements (rows with id, query, last_seen) with their numbers, in the given order."""
    if not found:
        return []
    ids = [row["id"] for row in found]
    totals = rows("page_query_list", query_ids=ids, most=len(ids), **span.parameters(), **servers)
    return _with_numbers(rows, found, totals, span, servers)


def obstacles(rows: Rows, span: TimeRange, servers: Mapping[str, str]) -> list[str]:
    """Returns a sentence per change of logging settings across which the p95 is compared."""
    given = {"oldest": span.before().parameters()["from"], "to": span.parameters()["to"], **servers}
    return [
        f"{row['server']} logs differently since {formats.time(row['changed'])} UTC ({row['logged']}): "
        "the p95 of its statements is compared across this change."
        for row in rows("page_query_logging_changes", **given)
    ]


def _with_numbers(
    rows: Rows,
    found: Sequence[Mapping[str, Any]],
    totals: Sequence[Mapping[str, Any]],
    span: TimeRange,
    servers: Mapping[str, str],
) -> list[dict[str, Any]]:
    by_id = {row["id"]: row for row in totals}
    given = {"query_ids": list(by_id), **span.parameters(), **servers}
    latencies = (
        {(row["id"], row["period"]): row["p95"] for row in rows("page_query_latencies", **given)}
        if by_id
        else {}
    )
    return [
        {
            "query": shortened(row["query"]),
            "query_id": shown_id(row["id"]),
            "last_seen": by_id.get(row["id"], row)["last_seen"],
            **_numbers(by_id.get(row["id"])),
            **_latency(latencies.get((row["id"], "now")), latencies.get((row["id"], "before"))),
        }
        for row in found
    ]


def _numbers(total: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the numbers of a statement; 0 executions if the slow logs have no entry in the range."""
    if total is None:
        return {"total_seconds": 0.0, "share": None, "executions": 0}
    share = total["total_seconds"] / total["all_seconds"] if total["all_seconds"] else None
    return {"total_seconds": total["total_seconds"], "share": share, "executions": total["executions"]}


def _latency(now: float | None, before: float | None) -> dict[str, Any]:
    """Returns the p95 with its change; the ratio is 0 if one of both is unknown."""
    return {"p95": now, "p95_change": _change(now, before), "ratio": now / before if now and before else 0.0}


def _change(now: float | None, before: float | None) -> str:
    if now is None:
        return ""
    return "no entry before" if before is None else formats.change(now, before)


def shown_id(number: int) -> str:
    """Returns a query id as it is shown everywhere: 16 hexadecimal digits."""
    return f"{number:016X}"


def shortened(query: str) -> str:
    return query if len(query) <= MOST_CHARACTERS else query[:MOST_CHARACTERS] + "…"
