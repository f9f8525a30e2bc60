"""Rewinds the tables to a checkpoint, for a restore from an older checkpoint than the latest.

Exactly-once holds from the latest completed checkpoint on. A job that starts from an older one writes all
later rows again, under new tokens. Every row contains the checkpoint that its writer had passed, so the rows
to delete are exactly those with `after_checkpoint` at or above that checkpoint's id.

The transparency log contains digests of the deleted rows. So the number of rows by minute and second of the
insert is recorded first, with the name of a person (tailrace.retention.record).
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from tailrace.clickhouse.client import ClickHouse
from tailrace.migrations.rollups import ROLLUPS, rebuild_rollups
from tailrace.retention import record
from tailrace.retention.holds import stored_columns

PROVEN = ("query_events", "audit_events", "error_events")
"""Tables whose rows are in the transparency log."""
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


@dataclass(frozen=True)
class Order:
    """Who rewinds, and why. `auditor` is the connection that appends to the record."""

    auditor: ClickHouse
    actor: str
    reason: str


def rewind(
    clickhouse: ClickHouse, checkpoint: int, order: Order, report: Callable[[str], None] = lambda _: None
) -> list[date]:
    """Records and deletes rows that were written after a checkpoint, and rebuilds the rollups of their days.

    The job must be stopped, and must start from that checkpoint next. `clickhouse` is admin's. Rollups are
    first, computed from the events that will remain, so that an interrupted rewind can be repeated. Returns
    the days, UTC. Raises HoldError, ClickHouseError, OSError.
    """
    report("recording the rewind")
    if details := _recorded(clickhouse, checkpoint):
        record.append(order.auditor, record.REWIND, order.actor, order.reason, details, record.new_id())
    days: set[date] = set()
    for events in sorted({rollup.events for rollup in ROLLUPS}):
        of_table = _days(clickhouse, events, checkpoint)
        _rebuild(clickhouse, events, of_table, checkpoint, report)
        days.update(of_table)
    for table in TABLES:
        report(f"deleting from {table}")
        _delete(clickhouse, table, checkpoint)
    return sorted(days)


def _recorded(clickhouse: ClickHouse, checkpoint: int) -> list[dict[str, object]]:
    """Returns what is deleted of each table; nothing of tables without such rows."""
    columns = stored_columns(clickhouse)
    found = []
    for table in TABLES:
        has_time = "ingested_at" in columns.get(table, ())
        times = "min(ingested_at), max(ingested_at)" if has_time else "NULL, NULL"
        (row,) = clickhouse.rows(
            f"SELECT count() AS rows, toString(({times}).1) AS first, toString(({times}).2) AS last "
            f"FROM tailrace.{table} WHERE after_checkpoint >= {{checkpoint:UInt64}}",
            {"checkpoint": checkpoint},
        )
        if rows := int(row["rows"]):
            times = {"from": row["first"], "to": row["last"]} if has_time else {}
            cells = _cells(clickhouse, table, checkpoint) if table in PROVEN else []
            found.append({"table": table, "checkpoint": checkpoint, "rows": rows, **times, "cells": cells})
    return found


def _cells(clickhouse: ClickHouse, table: str, checkpoint: int) -> list[list[int]]:
    """Returns minute of the event, second of the insert (both since 1970 UTC) and number of rows."""
    rows = clickhouse.rows(
        "SELECT toUnixTimestamp(toStartOfMinute(event_time)) AS minute, "
        f"toUnixTimestamp(ingested_at) AS second, count() AS rows "
        f"FROM tailrace.{table} WHERE after_checkpoint >= {{checkpoint:UInt64}} "
        "GROUP BY toStartOfMinute(event_time), ingested_at ORDER BY minute, second",
        {"checkpoint": checkpoint},
    )
    return [[int(row["minute"]), int(row["second"]), int(row["rows"])] for row in rows]


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
