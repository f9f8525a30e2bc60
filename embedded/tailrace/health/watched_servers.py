"""Metrics of servers that stop writing what is expected: audit events, and signatures of their logs."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.clickhouse.query_files import text_of

CHANGE_SECONDS = 86400
"""The age up to which a change of auditing counts as recent."""
SILENT_SECONDS = 900
"""A server whose statements are this far ahead of its audit events is silent."""
STATES = ("writing", "quiet", "silent", "off", "unknown")
SECONDS = 10


def metrics_of(clickhouse: ClickHouse, now: float) -> Iterator[Metric]:
    """Yields the metrics at `now`, in seconds since 1970 UTC. Unknown values have no sample.

    The user must have access to server facts, events and the ledger. Raises ClickHouseError, OSError.
    """
    yield from _audit(_rows(clickhouse, "health_audit", now=_text(now)))
    changes = GaugeMetricFamily(
        "tailrace_recent_audit_changes",
        f"Changes of auditing between snapshots of the last {CHANGE_SECONDS / 3600:g} hours.",
        labels=["instance", "key", "change"],
    )
    for row in _rows(clickhouse, "health_audit_changes", since=_text(now - CHANGE_SECONDS)):
        changes.add_metric([row["instance"], row["key"], row["change"]], row["changes"])
    yield changes
    unsigned = GaugeMetricFamily(
        "tailrace_unsigned_seconds",
        "Age of the oldest unsigned bytes in the newest file of a signed log.",
        labels=["instance", "source", "host"],
    )
    for row in _rows(clickhouse, "health_unsigned", now=_text(now)):
        unsigned.add_metric([row["instance"], row["source"], row["host"]], max(0.0, now - row["since"]))
    yield unsigned


def _audit(rows: Iterable[Row]) -> Iterator[Metric]:
    state = GaugeMetricFamily(
        "tailrace_audit_state",
        "1 for the state of a server's audit log.",
        labels=["instance", "state"],
    )
    silent = GaugeMetricFamily(
        "tailrace_audit_silent_seconds",
        "Time between the last audit event and the last statement that should have been audited.",
        labels=["instance"],
    )
    for row in rows:
        seconds = silent_seconds(row)
        found = audit_state(row, seconds)
        for each in STATES:
            state.add_metric([row["instance"], each], each == found)
        if seconds is not None:
            silent.add_metric([row["instance"]], seconds)
    return iter((state, silent))


def silent_seconds(row: Row) -> float | None:
    """Returns by how much the last statement is later than the last audit event or the last change of
    auditing; None if unknown. `row`: of health_audit.sql."""
    if row["active"] != "yes" or not row["writes_all"]:
        return None
    return max(0.0, row["executed_at"] - max(row["audited_at"], row["settings_since"]))


def audit_state(row: Row, seconds: float | None) -> str:
    """Returns one of STATES. `quiet`: neither audit events nor statements in the last day."""
    if row["active"] != "yes":
        return "off" if row["active"] == "no" else "unknown"
    if seconds is not None and seconds > SILENT_SECONDS:
        return "silent"
    if row["audited_at"]:
        return "writing"
    return "unknown" if seconds is None else "quiet"


def _rows(clickhouse: ClickHouse, query: str, **parameters: str) -> list[Row]:
    return clickhouse.rows(text_of(query), parameters, timeout=SECONDS)


def _text(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"
