"""Days that the archive has, by tailrace.archived_days: rows wait for it before they are deleted."""

from collections.abc import Collection, Mapping
from datetime import UTC, date, datetime

from tailrace.retention.holds import Reads, exists

TABLE = "archived_days"
DONE = ("verified", "deleted")
"""States of a day that its rows need not wait for: `deleted` was verified before the archive deleted it."""

UNARCHIVED = """
SELECT toString(min(day)) AS day, count() AS days
FROM
(
    SELECT toDate({time}, 'UTC') AS day, count() AS stored FROM tailrace.{table} GROUP BY day
) AS own
LEFT ANY JOIN (
    SELECT day, rows AS archived FROM tailrace.archived_days FINAL
    WHERE table = {{table:String}} AND state IN {{done:Array(String)}}
) AS other USING (day)
WHERE archived = 0 OR {{is_exact:UInt8}} AND stored > archived
"""
EXACT_ENGINES = ("MergeTree", "ReplicatedMergeTree")
"""Engines that keep each row: if more rows are stored than archived, some came after the archive."""


def caps(clickhouse: Reads, times: Mapping[str, str], today: date | None = None) -> dict[str, date]:
    """Returns by table the first day (UTC) that is not in the archive: its rows and later ones must wait.

    `times` has the tables that wait, with the expression of the time of a row. A table without any row that
    waits has today. If the archive has no list of days yet, all rows wait. Raises ClickHouseError, OSError.
    """
    today = today or datetime.now(UTC).date()
    if not exists(clickhouse, TABLE):
        return dict.fromkeys(times, date(1970, 1, 2))
    exact = _exact(clickhouse, times)
    found = {}
    for table, time in times.items():
        parameters = {"table": table, "done": list(DONE), "is_exact": int(table in exact)}
        (row,) = clickhouse.rows(UNARCHIVED.format(time=time, table=table), parameters)
        first = date.fromisoformat(str(row["day"])) if row["days"] else today
        found[table] = min(first, today)
    return found


def _exact(clickhouse: Reads, tables: Collection[str]) -> set[str]:
    rows = clickhouse.rows(
        "SELECT DISTINCT name FROM system.tables WHERE database IN ('tailrace', 'tailrace_shard') "
        "AND name IN {tables:Array(String)} AND engine IN {engines:Array(String)}",
        {"tables": list(tables), "engines": list(EXACT_ENGINES)},
    )
    return {str(row["name"]) for row in rows}


def tables(clickhouse: Reads) -> set[str]:
    """Returns the tables of which the archive has a day. Raises ClickHouseError, OSError."""
    if not exists(clickhouse, TABLE):
        return set()
    rows = clickhouse.rows(f"SELECT DISTINCT table FROM tailrace.{TABLE}")
    return {str(row["table"]) for row in rows}


def states(clickhouse: Reads) -> dict[str, dict[str, object]]:
    """Returns by table the newest archived day and the days by state; nothing without an archive."""
    if not exists(clickhouse, TABLE):
        return {}
    rows = clickhouse.rows(
        "SELECT table, toString(max(day)) AS newest, countIf(state = 'written') AS written, "
        "countIf(state = 'verified') AS verified, countIf(state = 'deleted') AS deleted "
        f"FROM tailrace.{TABLE} FINAL GROUP BY table"
    )
    return {str(row["table"]): row for row in rows}
