"""Takes the tables back to a checkpoint: for who restores an older one than the latest.

Exactly-once holds from the latest completed checkpoint on. A job that starts from an older one writes
everything since a second time, under new tokens. Every row knows the checkpoint that its writer had passed,
so the rows to delete are exactly those with `after_checkpoint` at or above that checkpoint's id.
"""

from collections.abc import Callable
from datetime import date

from tailrace.clickhouse.client import ClickHouse
from tailrace.migrations.runner import rebuild_rollups

TABLES = (
    "audit_events",
    "error_events",
    "dead_letters",
    "ledger",
    "query_samples",
    "otel_traces",
    "receipts",
    "query_events",
)
"""query_events last: its rows say which days are still to be done.

Not fingerprints: writing the text of a statement twice changes nothing, and deleting one that was known
before the checkpoint would lose it, because the restored job will not write it again."""


def rewind(
    clickhouse: ClickHouse, checkpoint: int, report: Callable[[str], None] = lambda _: None
) -> list[date]:
    """Deletes what was written after a checkpoint and rebuilds the rollups of the days that it touched.

    The job must be stopped and must be started from that checkpoint next. `clickhouse` is admin's. Rollups
    come first, from the events that will remain: so a rewind that broke off is finished by running it again.
    Returns the days, UTC.
    """
    days = _days(clickhouse, checkpoint)
    for day in days:
        rebuild_rollups(clickhouse, day, day, report, events=f"after_checkpoint < {checkpoint:d}")
    for table in TABLES:
        report(f"deleting from {table}")
        _delete(clickhouse, table, checkpoint)
    return days


def _days(clickhouse: ClickHouse, checkpoint: int) -> list[date]:
    rows = clickhouse.rows(
        "SELECT DISTINCT toDate(event_time) AS day FROM tailrace.query_events "
        "WHERE after_checkpoint >= {checkpoint:UInt64} ORDER BY day",
        {"checkpoint": checkpoint},
    )
    return [date.fromisoformat(row["day"]) for row in rows]


def _delete(clickhouse: ClickHouse, table: str, checkpoint: int) -> None:
    clickhouse.execute(
        f"ALTER TABLE tailrace.{table} DELETE WHERE after_checkpoint >= {{checkpoint:UInt64}}",
        {"checkpoint": checkpoint},
        mutations_sync=2,
    )
