"""Rewinds the tables to a checkpoint, for a restore from an older checkpoint than the latest.

Exactly-once holds from the latest completed checkpoint on. A job that starts from an older one writes all
later rows again, under new tokens. Every row contains the checkpoint that its writer had passed, so the rows
to delete are exactly those with `after_checkpoint` at or above that checkpoint's id.
"""

from collections.abc import Callable
from datetime import date

from tailrace.clickhouse.client import ClickHouse
from tailrace.migrations.rollups import ROLLUPS, rebuild_rollups

TABLES = (
    "dead_letters",
    "ledger",
    "signed_ranges",
    "query_samples",
    "otel_traces",
    "receipts",
    "counted_events",
    "audit_events",
    "error_events",
    "query_events",
)
"""Events with rollups are last: their rows show which days are not finished.

fingerprints is missing: a second write of a statement's text changes nothing. A deletion would lose a text
that was known before the checkpoint, because the restored job does not write it again."""


def rewind(
    clickhouse: ClickHouse, checkpoint: int, report: Callable[[str], None] = lambda _: None
) -> list[date]:
    """Deletes rows that were written after a checkpoint and rebuilds the rollups of the affected days.

    The job must be stopped, and must start from that checkpoint next. `clickhouse` is admin's. Rollups are
    first, computed from the events that will remain, so that an interrupted rewind can be repeated. Returns
    the days, UTC.
    """
    days: set[date] = set()
    for events in sorted({rollup.events for rollup in ROLLUPS}):
        of_table = _days(clickhouse, events, checkpoint)
        _rebuild(clickhouse, events, of_table, checkpoint, report)
        days.update(of_table)
    for table in TABLES:
        report(f"deleting from {table}")
        _delete(clickhouse, table, checkpoint)
    return sorted(days)


def _rebuild(
    clickhouse: ClickHouse, events: str, days: list[date], checkpoint: int, report: Callable[[str], None]
) -> None:
    rollups = [rollup for rollup in ROLLUPS if rollup.events == events]
    remaining = f"after_checkpoint < {checkpoint:d}"
    for day in days:
        rebuild_rollups(clickhouse, day, day, report, events=remaining, rollups=rollups)


def _days(clickhouse: ClickHouse, events: str, checkpoint: int) -> list[date]:
    rows = clickhouse.rows(
        f"SELECT DISTINCT toDate(event_time) AS day FROM tailrace.{events} "
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
