"""Finds stored rows that are in no leaf of the transparency log."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from tailrace.plural import counted
from tailrace.verification.stored_rows import StoredRows, interval, seconds
from tailrace_verify import check
from tailrace_verify.check import Scope
from tailrace_verify.findings import Report
from tailrace_verify.leaves import RowsLeaf

CHECK = "ClickHouse"
WAIT = timedelta(minutes=10)
"""How long a row waits for the log at most while the log runs; replicas that lag take about five minutes."""
CLOCK = timedelta(hours=1)
"""How far the clock of a ClickHouse server may be ahead of this machine's. The log records rows of this hour
later, so a row that was added with such a time is found as a late one."""


def find(
    stored: StoredRows, table: str, leaves: Sequence[RowsLeaf], scope: Scope, now: datetime, report: Report
) -> None:
    """Compares the rows of the period with all leaves of their table.

    A row that was stored before the end of the newest leaf, or in the future, was added behind the log's
    back. One that was stored after it may wait for the log, for WAIT at most. Raises ClickHouseError.
    """
    minutes: dict[int, list[tuple[int, int]]] = {}
    for leaf in leaves:
        minutes.setdefault(seconds(leaf.minute), []).append(interval(leaf))
    reached = max((end for each in minutes.values() for _, end in each), default=0)
    for minute, counts in sorted(stored.counts(table, scope.first, scope.end).items()):
        known = minutes.get(minute, [])
        extra = {at: n for at, n in counts.items() if not any(first <= at < end for first, end in known)}
        _report(table, minute, extra, reached, now, report)
    if outside := stored.rows_at_no_minute(table):
        message = f"{counted(outside, 'row has', 'rows have')} a time that no leaf can have"
        report.tampered(CHECK, message, table=table)


def _report(
    table: str, minute: int, extra: dict[int, int], reached: int, now: datetime, report: Report
) -> None:
    place = {"table": table, "minute": datetime.fromtimestamp(minute, UTC).strftime(check.FORM)}
    future, late = int((now + CLOCK).timestamp()), int((now - WAIT).timestamp())
    if added := sum(n for at, n in extra.items() if at < reached or at > future):
        report.tampered(CHECK, f"{counted(added, 'row is', 'rows are')} in no leaf of the log", **place)
    waiting = {at: n for at, n in extra.items() if reached <= at <= future}
    report.counts["rows that wait for the log"] += sum(waiting.values())
    if overdue := {at: n for at, n in waiting.items() if at < late}:
        since = datetime.fromtimestamp(min(overdue), UTC).strftime(check.FORM)
        rows = counted(sum(overdue.values()), "row is", "rows are")
        report.undetermined(CHECK, f"{rows} in no leaf of the log, stored since {since}", **place)
