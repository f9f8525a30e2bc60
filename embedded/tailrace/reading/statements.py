"""Statements with their numbers in a time range, from the queries sql/queries/page_query_*.sql.

`servers` are the filters cluster and instance, '' for all.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from tailrace.clickhouse.query_files import of_range
from tailrace.reading.rows import Rows
from tailrace.reading.time_range import TimeRange

Row = Mapping[str, Any]
LAST_SEEN_EARLY = timedelta(hours=1)
"""How much earlier than the last record of a statement its `last_seen` may be."""


def heaviest(
    rows: Rows, span: TimeRange, servers: Mapping[str, str], most: int, skip: int = 0
) -> list[dict[str, Any]]:
    """Returns the statements with the most total time, at most `most` after the first `skip`; see `measured`
    for the keys."""
    totals = _totals(rows, span, servers, query_ids=[], most=skip + most)[skip:]
    texts = {row["id"]: row for row in rows("page_query_texts", query_ids=[row["id"] for row in totals])}
    known = [{**texts.get(row["id"], {"query": "", "last_seen": None}), "id": row["id"]} for row in totals]
    return _with_numbers(rows, known, totals, span, servers)


def measured(
    rows: Rows, found: Sequence[Row], span: TimeRange, servers: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Returns statements (rows with id, query, last_seen) with their numbers, in the given order.

    The keys are id (a number), query (the fingerprint), last_seen (at most LAST_SEEN_EARLY before the last
    execution in the range; without one, see `_last_seen`), total_seconds, share (of the time of all
    statements; None without entries), executions, p95 in seconds, and p95_before and seconds_before, the
    total time, of the equally long time before the range; None without entries. `statements` is the number
    of all statements with entries in the range; 0 without entries of this one.
    """
    if not found:
        return []
    ids = [row["id"] for row in found]
    totals = _totals(rows, span, servers, query_ids=ids, most=len(ids))
    return _with_numbers(rows, found, totals, span, servers)


def slower(rows: Rows, span: TimeRange, servers: Mapping[str, str]) -> list[dict[str, Any]]:
    """Returns the statements that became slower on a server, the most total time first, and after them those
    that cannot be compared, with their `obstacle`; the keys are those of page_query_slower.sql."""
    return rows("page_query_slower", **span.parameters(), **servers)


def shown_id(number: int) -> str:
    """Returns a query id as it is shown everywhere: 16 hexadecimal digits."""
    return f"{number:016X}"


def _totals(rows: Rows, span: TimeRange, servers: Mapping[str, str], **given: Any) -> list[dict[str, Any]]:
    return rows(of_range("page_query_list", span.seconds), **given, **span.parameters(), **servers)


def _with_numbers(
    rows: Rows, found: Sequence[Row], totals: Sequence[Row], span: TimeRange, servers: Mapping[str, str]
) -> list[dict[str, Any]]:
    by_id = {row["id"]: row for row in totals}
    given = {"query_ids": list(by_id), **span.parameters(), **servers}
    latencies = rows(of_range("page_query_latencies", span.seconds), **given) if by_id else []
    periods = {(row["id"], row["period"]): row for row in latencies}
    nothing: Row = {"p95": None, "total_seconds": None}
    others = _last_seen(rows, [row for row in found if row["id"] not in by_id])
    return [
        {
            "id": row["id"],
            "query": row["query"],
            "last_seen": by_id[row["id"]]["last_seen"] if row["id"] in by_id else others[row["id"]],
            **_numbers(by_id.get(row["id"])),
            "p95": periods.get((row["id"], "now"), nothing)["p95"],
            "p95_before": periods.get((row["id"], "before"), nothing)["p95"],
            "seconds_before": periods.get((row["id"], "before"), nothing)["total_seconds"],
        }
        for row in found
    ]


def _last_seen(rows: Rows, found: Sequence[Row]) -> dict[int, Any]:
    """Returns when statements without an entry in the range were last recorded, by their ids.

    It is the later one of the last hour in the slow logs and of the fingerprint's time, which may be early.
    """
    ids = [row["id"] for row in found]
    logged = rows("page_query_last_seen", query_ids=ids) if ids else []
    hours = {row["id"]: row["last_hour"] for row in logged}
    times = {row["id"]: (row["last_seen"], hours.get(row["id"])) for row in found}
    return {id_: max(filter(None, both), default=None) for id_, both in times.items()}


def _numbers(total: Row | None) -> dict[str, Any]:
    """Returns the numbers of a statement; 0 executions if the slow logs have no entry in the range."""
    if total is None:
        return {"total_seconds": 0.0, "share": None, "executions": 0, "statements": 0}
    share = total["total_seconds"] / total["all_seconds"] if total["all_seconds"] else None
    return {"share": share, **{name: total[name] for name in ("total_seconds", "executions", "statements")}}
