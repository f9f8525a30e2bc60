"""The tables of the page of one statement: their columns, and their rows with the addresses of links."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tailrace_pages import formats
from tailrace_pages.columns import Column
from tailrace_pages.statements import advice

Row = Mapping[str, Any]
Rows = Sequence[Row]
NO_TAG = "(no tag)"
Entity = Callable[[str, str], str]
"""`entity(kind, name)`: the address of the page about a user, a client or a table, or of the search for its
events; '' if the viewer has neither page."""

BUCKETS = (
    Column("start", "Start (UTC)", 20, "time"),
    Column("executions", "Executions", 12, "count"),
    Column(
        "load",
        "Load",
        12,
        "number",
        note="Seconds of execution per second: executions that ran at once, on average",
    ),
    Column("p50", "p50", 14, "duration"),
    Column("p95", "p95", 14, "duration"),
    Column("lock_seconds", "Lock time", 14, "duration"),
    Column("examined", "Rows examined", 0, "count"),
)
SERVERS = (
    Column("server", "Server", 0),
    Column("executions", "Executions", 14, "count"),
    Column("total_seconds", "Total time", 14, "duration"),
    Column("p50", "p50", 14, "duration"),
    Column("p95", "p95", 14, "duration"),
    Column("logged", "Slow log contains", 32),
)
_OF_HISTOGRAM = (
    "Of the server's histogram of the statements in the last column: within 2.4 %; unknown without it"
)
COUNTERS = (
    Column("server", "Server", 0),
    Column("database", "Database", 14),
    Column("statements", "Executions", 12, "count", note="All that the server counted, logged or not"),
    Column("total_seconds", "Total time", 12, "duration"),
    Column("mean", "Mean", 10, "duration"),
    Column("p50", "p50", 10, "duration", note=_OF_HISTOGRAM),
    Column("p95", "p95", 10, "duration", note=_OF_HISTOGRAM),
    Column("p99", "p99", 10, "duration", note=_OF_HISTOGRAM),
    Column("lock_share", "Lock time", 10, "share", note="Share of the total time, as the server counts it"),
    Column("rows_examined", "Rows examined", 12, "number", note="Per execution"),
    Column(
        "tmp_disk_tables", "Tables on disk", 12, "count", note="Temporary tables that were written to disk"
    ),
    Column("no_index_share", "Without index", 10, "share", note="Executions that scanned a table"),
    Column("errors", "Errors", 8, "count"),
    Column(
        "histogram_statements", "In histogram", 10, "count", note="Executions of which percentiles are known"
    ),
)
CALLERS = (
    Column("user", "User", 20, link="user_address"),
    Column("client", "Client", 24, link="client_address"),
    Column("application", "Application", 20, link="application_address"),
    Column("endpoint", "Endpoint", 0, link="endpoint_address"),
    Column("executions", "Executions", 12, "count"),
    Column("total_seconds", "Total time", 14, "duration"),
    Column("share", "Share", 8, "share", note="Of the total time of the statement"),
)
PLANS = (
    Column("plan_hash", "Plan", 20, "id"),
    Column("server", "Server", 0),
    Column("source", "Source", 10, note="slowlog: the plan is in the log entry; explain: capture read it"),
    Column("first_seen", "First seen (UTC)", 20, "time"),
    Column("last_seen", "Last seen (UTC)", 20, "time"),
    Column("executions", "Executions", 12, "count"),
    Column("p50", "p50", 12, "duration", note="Of all executions with this plan in the time range"),
    Column("p95", "p95", 12, "duration", note="Of all executions with this plan in the time range"),
    Column("cost", "Cost", 12, "number", note="The optimizer's estimate; not comparable across products"),
)
AT_VERDICT = "Of the executions that the verdict compares: their number is in its column"
CHANGES = (
    Column("changed", "Changed (UTC)", 20, "time"),
    Column("server", "Server", 0),
    Column("old_plan", "From plan", 16, "id"),
    Column("new_plan", "To plan", 16, "id"),
    Column("effect", "Verdict", 28),
    Column("median_before", "Median before", 14, "duration", note=f"Latency p50. {AT_VERDICT}"),
    Column("median_after", "Median after", 14, "duration", note=f"Latency p50. {AT_VERDICT}"),
    Column("rows_examined_before", "Rows before", 12, "number", note="Rows examined per execution, median"),
    Column("rows_examined_after", "Rows after", 12, "number", note="Rows examined per execution, median"),
)
REQUESTS = (
    Column("service", "Service", 20),
    Column("endpoint", "Endpoint", 0),
    Column("requests", "Requests", 12, "count"),
    Column("calls", "Calls", 12, "count", note="Executions of this statement"),
    Column("loops", "N+1 requests", 14, "count", note="Requests with at least five calls of this statement"),
    Column("most_calls", "Most per request", 16, "count"),
    Column("total_seconds", "Time in calls", 14, "duration"),
    Column("worst_trace", "Trace with most calls", 20, "id", link="trace_address"),
)
TABLES = (
    Column("name", "Table", 0, link="address"),
    Column("access", "Access", 12),
    Column("server", "Server", 20),
    Column(
        "estimated_rows",
        "Rows",
        14,
        "count",
        note="As the storage engine estimates them, or as a plan read them",
    ),
    Column("bytes", "Size", 12, "bytes", note="Data and indexes"),
    Column("measured", "Measured (UTC)", 20, "time"),
    Column(
        "known_by",
        "Known by",
        16,
        note="capture measures tables hourly; a plan that reads all rows states their number",
    ),
)
DDL = (
    Column("at", "Time (UTC)", 20, "time"),
    Column("server", "Server", 16),
    Column("user", "User", 14, link="user_address"),
    Column("client", "Client", 16, link="client_address"),
    Column("text", "Masked statement", 0, "code"),
)
DEADLOCKS = (
    Column("at", "Time (UTC)", 20, "time"),
    Column("server", "Server", 14),
    Column("user", "User of this statement", 20, link="user_address"),
    Column("client", "Client", 14, link="client_address"),
    Column(
        "application", "Application", 16, note="Of the entries with this user and client in the slow logs"
    ),
    Column("outcome", "Rolled back", 14, note="The transaction that the server rolled back"),
    Column("other_user", "Other user", 16, link="other_user_address"),
    Column("other_client", "Other client", 14, link="other_client_address"),
    Column("other", "Other statement", 0, "code", link="other_address"),
)
LOCK_WAITS = (
    Column("since", "Since (UTC)", 18, "time", note="The begin of the command that waited"),
    Column(
        "waited_seconds",
        "Waited for",
        10,
        "duration",
        note="Until the last poll, once a minute, that found it",
    ),
    Column("server", "Server", 12),
    Column("name", "Table", 14, link="name_address"),
    Column("waiting", "Waited", 20, link="waiting_address"),
    Column("waiting_lock", "For the lock", 14),
    Column("holding", "Had a lock", 0, link="holding_address"),
    Column("holding_lock", "Its lock", 18),
    Column("state", "Its state", 14, note="An idle session usually has an open transaction"),
)
COLUMNS = {
    "buckets": BUCKETS,
    "servers": SERVERS,
    "counters": COUNTERS,
    "callers": CALLERS,
    "plans": PLANS,
    "changes": CHANGES,
    "requests": REQUESTS,
    "tables": TABLES,
    "ddl": DDL,
    "deadlocks": DEADLOCKS,
    "lock_waits": LOCK_WAITS,
}
"""By the name of the table in the address of its CSV: `?format=csv&table=callers`."""


MOST_EVENTS = 200
"""Rows that the queries of deadlocks, DDL and waits for metadata locks return at most."""


def part(shown: int, known: int, all_: int, which: str) -> str:
    """Returns how many rows a table shows that is cut after `shown` ones, such as `the latest 10 of 37`.
    A table that shows all `known` ones has not all if there may be more.

    `all_` is the number of all rows, and 0 if it is unknown because the query ends after `known` ones.
    """
    is_all = all_ or known < shown
    if is_all and max(known, all_) <= shown:
        return f"all {known}"
    number = formats.count(all_) if all_ else f"at least {formats.count(known)}"
    return f"the {which} {shown} of {number}"


def servers(rows: Mapping[str, Row], logging: Rows) -> list[dict[str, Any]]:
    logged = {row["server"]: row["logged"] for row in logging}
    found = [
        {**row, "server": name, "logged": logged.get(name) or formats.UNKNOWN} for name, row in rows.items()
    ]
    return sorted(found, key=lambda row: (-row["total_seconds"], row["server"]))


def callers(rows: Rows, entity: Entity, all_seconds: float) -> list[dict[str, Any]]:
    """Returns the rows of page_query_callers with the addresses of their values."""
    return [
        {
            **row,
            "application": row["application"] or NO_TAG,
            "endpoint": row["endpoint"] or NO_TAG,
            "share": row["total_seconds"] / all_seconds if all_seconds else None,
            **addresses(row, entity, "user", "client", "application", "endpoint"),
        }
        for row in rows
    ]


def addresses(row: Row, entity: Entity, *kinds: str) -> dict[str, str]:
    """Returns the addresses for the values of a row; a value that is empty has none."""
    return {f"{kind}_address": entity(kind, row[kind]) if row[kind] else "" for kind in kinds}


def ddl(rows: Rows, entity: Entity) -> list[dict[str, Any]]:
    return [{**row, **addresses(row, entity, "user", "client")} for row in rows]


def plans(rows: Rows, load: Rows, known: tuple[float, float] | None) -> list[dict[str, Any]]:
    """Returns the plans with their executions.

    `known` is the number of executions with a known plan, and of all. A plan without executions has 0 if both
    are equal, else an unknown number.
    """
    measured = {(row["server"], row["plan_hash"]): row for row in load}
    none = {"executions": 0 if known and known[0] >= known[1] else None, "p50": None, "p95": None}
    found = []
    for row in rows:
        ran = measured.get((row["server"], row["plan_hash"]), none)
        found.append({**row, **{name: ran[name] for name in none}})
    return found


def changes(rows: Rows) -> list[dict[str, Any]]:
    return [{**row, "effect": effect(row)} for row in rows]


def effect(change: Row) -> str:
    """Returns the verdict of a plan change in words."""
    if change["verdict"] in ("slower", "faster") and change["ratio"]:
        before, after = formats.count(change["executions_before"]), formats.count(change["executions_after"])
        return (
            f"{change['verdict']}: {change['ratio']:.3g} times as long "
            f"({before} executions before, {after} after)"
        )
    reason = f": {change['reason']}" if change["reason"] else ""
    return change["verdict"].replace("_", " ") + reason


def requests(rows: Rows, trace: Callable[[str], str]) -> list[dict[str, Any]]:
    return [
        {**row, "endpoint": row["endpoint"] or formats.UNKNOWN, "trace_address": trace(row["worst_trace"])}
        for row in rows
    ]


def tables(
    reads: Sequence[str], writes: Sequence[str], sizes: Rows, entity: Entity, plans: Rows = ()
) -> list[dict]:
    """Returns a row per table and server with a known size. Of every other table, a row with the rows that
    the latest plan read which reads all of them, or else with unknown numbers."""
    found = []
    for name in dict.fromkeys([*writes, *reads]):
        access = ", ".join(word for word, names in (("reads", reads), ("writes", writes)) if name in names)
        known = [{**row, "known_by": "capture"} for row in sizes if is_size_of(row, name)]
        none = _scanned(name, plans) or {
            "server": formats.UNKNOWN,
            "estimated_rows": None,
            "measured": None,
            "known_by": "",
        }
        none = {**none, "bytes": None}
        address = entity("table", name)
        found += [{**row, "name": name, "access": access, "address": address} for row in known or [none]]
    return found


def _scanned(name: str, plans: Rows) -> dict[str, Any] | None:
    """Returns the number of rows of a table by the first of the plans that reads all of them."""
    plain = name.replace("`", "").lower().rpartition(".")[2]
    for plan in plans:
        for node in advice.nodes(plan):
            rows = node.get("examined_rows")
            if str(node.get("table") or "").lower() == plain and node.get("access_type") == "ALL" and rows:
                by = f"plan {formats.short_id(plan['plan_hash'])}"
                return {
                    "server": plan["server"],
                    "estimated_rows": rows,
                    "measured": plan["last_seen"],
                    "known_by": by,
                }
    return None


def is_size_of(size: Row, name: str) -> bool:
    """Returns whether a size is of the table that a statement names, with or without its database."""
    database, _, table = name.replace("`", "").lower().rpartition(".")
    return size["table_name"].lower() == table and database in ("", size["schema_name"].lower())
