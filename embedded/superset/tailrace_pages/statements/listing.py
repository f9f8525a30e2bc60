"""Lists of statements: the heaviest ones, and those that a search found."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from tailrace.clickhouse import query_files
from tailrace.plural import counted
from tailrace.reading import statements
from tailrace.reading.statements import shown_id
from tailrace_pages import formats
from tailrace_pages.columns import Column
from tailrace_pages.statements import slow_logs
from tailrace_pages.time_range import TimeRange

Rows = Callable[..., list[dict[str, Any]]]
MOST = 25
"""Statements of a page of the list."""
COMPARED = 100
"""Statements with the most total time, among which the other orders choose."""
MOST_CHARACTERS = 300
"""Of a statement in a table."""
NO_TEXT = "text not stored"
"""For a statement whose text has not arrived, or is no longer kept."""

NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
"""sql/queries/parts/slower.sql writes it in its measures, for dashboards; `formats.visible` escapes it."""

BEFORE = (
    "Against the equally long time before the range; if the range begins at midnight (UTC), the same hours "
    "of the days before"
)
LAST_SEEN = (
    "The last execution in the slow logs of the time range; only its hour is known if the range is longer "
    "than two days. Without one, the last record of any time: its hour, or a time that is up to an hour "
    "early, and more if the job reads old audit or general logs"
)
COLUMNS = (
    Column("query", "Statement", 0, "code", link="address"),
    Column("total_seconds", "Total time", 14, "duration", note="Sum of the execution times in the slow logs"),
    Column("share", "Share", 8, "share", note="Of the total time of all statements"),
    Column("total_change", "Total vs before", 14, "figure", note=BEFORE),
    Column("executions", "Executions", 12, "count"),
    Column("p95", "p95", 10, "duration", note="95 % of the executions took at most this time"),
    Column("p95_change", "p95 vs before", 14, "figure", note=BEFORE),
    Column("last_seen", "Last seen (UTC)", 20, "time", note=LAST_SEEN),
    Column("query_id", "Query id", 14, "id"),
)

SLOWER_COLUMNS = (
    Column("query", "Statement", 0, "code", link="address"),
    Column("server", "Server", 12),
    Column("grew", "What grew", 28, note=BEFORE),
    Column("total_seconds", "Total time", 12, "duration", note="Sum of the execution times in the slow logs"),
    Column("total_change", "Total vs before", 10, "figure", note=BEFORE),
    Column("executions", "Executions", 10, "count"),
    Column("p95", "p95", 10, "duration", note="95 % of the executions took at most this time"),
    Column("p99", "p99", 10, "duration", note="99 % of the executions took at most this time"),
    Column("lock_seconds", "Lock time", 10, "duration", note="Sum of the lock times in the slow logs"),
    Column("query_id", "Query id", 14, "id"),
)
"""Of the order `slower`: a row is a statement on one server."""

ORDERS = {
    "time": "Most total time",
    "slower": "Slower than before",
    "grown": "More total time than before",
    "executions": "Most executions",
    "p95": "Highest p95",
}
"""Orders of the list, by the value of `?order=`."""
GROWN = 1.1
"""Ratio to the total time before, from which a statement counts as grown. `slower` is defined by
sql/queries/parts/slower.sql."""
_KEYS: dict[str, tuple[str, float]] = {
    "grown": ("total_ratio", GROWN),
    "executions": ("executions", 0),
    "p95": ("p95", 0),
}
"""The key of a row by which an order sorts, and its least value in the list."""


@dataclass(frozen=True)
class Listed:
    """A page of the list: its rows, the number of the first one, and the number of rows on all pages.
    `statements` is the number of all statements in the range."""

    rows: list[dict[str, Any]]
    first: int
    found: int
    statements: int

    @property
    def has_more(self) -> bool:
        return self.first - 1 + len(self.rows) < self.found

    def caption(self, order: str) -> str:
        """Returns what the list contains, with the threshold of its order."""
        all_of_them = counted(self.statements, "statement")
        among = (
            f"the {COMPARED} with the most total time, of {all_of_them}"
            if self.statements > COMPARED
            else all_of_them
        )
        found = f"{self.first} to {self.first - 1 + len(self.rows)}"
        at_least = f"by at least {GROWN - 1:.0%}".replace("%", " %")
        return {
            "time": f"Statements with the most total time: {found} of {all_of_them}",
            "slower": "Statements on a server whose p95, p99, total time or lock time is at least 50 % "
            f"higher, beyond noise: {self.found}",
            "grown": f"Statements whose total time grew {at_least}: {self.found} of {among}",
            "executions": f"Statements with the most executions: {found} of {among}",
            "p95": f"Statements with the highest p95: {found} of {among}",
        }[order]


def heaviest(
    rows: Rows, span: TimeRange, servers: Mapping[str, str], order: str = "time", page: int = 1
) -> Listed:
    """Returns a page of MOST statements in an order of ORDERS but `slower`; orders other than `time` choose
    among the COMPARED statements with the most total time. `servers` has the filters cluster and instance."""
    skip, shown = (page - 1) * MOST, partial(_shown, span)
    if order == "time":
        found = statements.heaviest(rows, span, servers, MOST, skip)
        known = found[0]["statements"] if found else 0
        return Listed(list(map(shown, found)), skip + 1, known, known)
    compared = statements.heaviest(rows, span, servers, COMPARED)
    key, least = _KEYS[order]
    chosen = [row for row in map(shown, compared) if (row[key] or 0) >= least]
    chosen.sort(key=lambda row: -(row[key] or 0))
    known = compared[0]["statements"] if compared else 0
    return Listed(chosen[skip : skip + MOST], skip + 1, len(chosen), known)


def slower(
    rows: Rows, span: TimeRange, servers: Mapping[str, str], page: int = 1
) -> tuple[Listed, list[str]]:
    """Returns a page of the statements that became slower on a server, with a sentence for each server and
    reason why statements cannot be compared."""
    found = statements.slower(rows, span, servers)
    chosen = [_slower(row) for row in found if not row["obstacle"]]
    not_compared = Counter((row["server"], row["obstacle"]) for row in found if row["obstacle"])
    sentences = [
        f"{server}: {counted(number, 'statement')} cannot be compared: {obstacle}."
        for (server, obstacle), number in sorted(not_compared.items())
    ]
    skip = (page - 1) * MOST
    return Listed(chosen[skip : skip + MOST], skip + 1, len(chosen), len(chosen)), sentences


def _slower(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("server", "total_seconds", "executions", "p95", "p99", "lock_seconds")
    return {
        "query": shortened(row["query"]),
        "query_id": shown_id(row["id"]),
        "grew": row["grew"].replace(NO_BREAK_SPACE, " "),
        "total_change": _change(row["total_seconds"], row["seconds_before"]),
        **{name: row[name] for name in kept},
    }


def measured(
    rows: Rows,
    found: Sequence[Mapping[str, Any]],
    span: TimeRange,
    servers: Mapping[str, str],
    keeps_order: bool = False,
) -> list[dict[str, Any]]:
    """Returns statements (rows with id, query, last_seen) with their numbers, the most total time first, or
    in the given order."""
    known = statements.measured(rows, found, span, servers)
    by_time = known if keeps_order else sorted(known, key=lambda row: -row["total_seconds"])
    without = [row for row in known if not row["executions"] and not _is_recorded(row, span)]
    are_read = bool(without) and slow_logs.were_read(rows, span, servers)
    return [{**_shown(span, row), **_unlogged(row, span, are_read)} for row in by_time]


def obstacles(rows: Rows, span: TimeRange, servers: Mapping[str, str]) -> list[str]:
    """Returns a sentence per change of logging settings across which the p95 is compared."""
    given = {"oldest": span.before().parameters()["from"], "to": span.parameters()["to"], **servers}
    return [
        f"{row['server']} logs differently since {formats.time(row['changed'])} UTC ({row['logged']}): "
        "the p95 of its statements is compared across this change."
        for row in rows("page_query_logging_changes", **given)
    ]


def _shown(span: TimeRange, row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a row of tailrace.reading.statements for the table."""
    kept = {name: row[name] for name in ("total_seconds", "share", "executions")}
    known = {"query": shortened(row["query"]), "query_id": shown_id(row["id"]), **kept}
    return {
        **known,
        "last_seen": _last_seen(row, span),
        **_latency(row["p95"], row["p95_before"]),
        "total_change": _change(row["total_seconds"] or None, row["seconds_before"]),
        "total_ratio": _ratio(row["total_seconds"], row["seconds_before"]),
    }


def _last_seen(row: Mapping[str, Any], span: TimeRange) -> datetime | formats.Hour | None:
    """Returns when a statement was last seen. Rollups know the hour only, by its beginning: those of long
    ranges, and of statements without an entry in the range."""
    seen = row["last_seen"]
    of_rollup = not row["executions"] or query_files.of_hours(span.seconds)
    return formats.Hour(seen) if of_rollup and seen and seen.minute == seen.second == 0 else seen


def _is_recorded(row: Mapping[str, Any], span: TimeRange) -> bool:
    """Returns whether a log may have a record of the statement since the range began."""
    seen = row["last_seen"]
    return seen is None or seen + statements.LAST_SEEN_EARLY > span.since


def _unlogged(row: Mapping[str, Any], span: TimeRange, are_read: bool) -> dict[str, None]:
    """Returns the unknown numbers of a statement without an entry in the time range.

    They are unknown if another log may have a record of it since the range began, or if the slow logs were
    not read in all of the range (`are_read`).
    """
    is_known = row["executions"] or (are_read and not _is_recorded(row, span))
    return {} if is_known else {"total_seconds": None, "executions": None}


def _latency(now: float | None, before: float | None) -> dict[str, Any]:
    """Returns the p95 with its change; the ratio is 0 if one of both is unknown."""
    return {"p95": now, "p95_change": _change(now, before), "ratio": _ratio(now, before)}


def _ratio(now: float | None, before: float | None) -> float:
    return now / before if now and before else 0.0


def _change(now: float | None, before: float | None) -> str:
    if now is None:
        return ""
    return "no entry before" if before is None else formats.change(now, before)


def shortened(query: str) -> str:
    """Returns the text of a statement for a table, which links it: never empty."""
    if not query:
        return NO_TEXT
    return query if len(query) <= MOST_CHARACTERS else query[:MOST_CHARACTERS] + "…"
