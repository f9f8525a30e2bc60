"""Verifies ClickHouse against the transparency log of this installation."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tailrace.clickhouse.client import ClickHouse
from tailrace.plural import counted
from tailrace.verification import stored_ranges, stored_versions, unrecorded
from tailrace.verification.stored_rows import StoredRows, by_table
from tailrace_verify import check, files, rewinds, rows
from tailrace_verify.check import Scope
from tailrace_verify.files import Files
from tailrace_verify.findings import Report
from tailrace_verify.leaves import REPLACED, TABLES, Leaves, RowsLeaf
from tailrace_verify.rewinds import Rewinds
from tailrace_verify.trust import HOST_KEYS, LOG_KEY, WITNESS_KEYS, Trust

DIRECTORY = "transparency"
"""Of the log, below the home directory."""
LOG_VKEY, WITNESSES = "log.vkey", "witnesses"
CHECK = "ClickHouse"
READ = (stored_ranges.TABLE, *REPLACED, *TABLES)
"""Tables whose rows are compared: a replica that lags in one of them lacks rows."""
SETTLE_SECONDS = 300
"""When all records are in the log: signed ranges arrive with the lines that they cover, and wait for the next
checkpoint of the job and of the log."""
MAX_AGE_SECONDS = 600
"""Of the newest cosignature of a log that runs: it is cosigned once a minute."""


def files_of_log(home: Path) -> Files:
    """Returns the files of the running log as those of a bundle: with its keys where a bundle has them."""
    with files.opened(home / DIRECTORY) as log:
        keys = {LOG_KEY: log.read(LOG_VKEY), HOST_KEYS: _read(home / "keys" / "hosts.json")}
        for number, line in enumerate((log.read(WITNESSES) or b"").splitlines()):
            if (words := line.split()) and not words[0].startswith(b"#"):
                keys[f"{WITNESS_KEYS}/{number}.vkey"] = words[-1]
        present = {name: data for name, data in keys.items() if data is not None}
        return Files(lambda name: present.get(name) or log.read(name), tuple(sorted({*log.names, *present})))


def verify(
    clickhouse: ClickHouse,
    home: Path,
    trust: Trust,
    scope: Scope | None,
    kept_days: Mapping[str, int],
    now: datetime | None = None,
) -> Report:
    """Verifies the log, and the rows of ClickHouse in the period, by default all that are still stored.

    `kept_days` is the retention by table: older minutes were deleted and are left out. Raises
    ClickHouseError, StoredRowsError, OSError.
    """
    now = now or datetime.now(UTC)
    report, held = check.examine(files_of_log(home), trust, scope, now.timestamp() - SETTLE_SECONDS)
    _check_age(report, scope, now)
    stored = StoredRows(clickhouse)
    leaves_of = by_table(held.rows)
    columns = stored.columns(sorted({*leaves_of, *READ}))
    rewound = _rewinds(
        stored, [leaf for leaf in leaves_of.get(rewinds.TABLE, ()) if _is_readable(leaf, columns)]
    )
    for table, leaves in leaves_of.items():
        period = _period(scope, kept_days.get(table))
        inside = [leaf for leaf in leaves if check.is_inside(leaf.minute, period)]
        readable = [leaf for leaf in inside if _is_readable(leaf, columns)]
        _report_columns(table, [leaf for leaf in inside if leaf not in readable], columns, report)
        for leaf, found in stored.hashes(readable):
            _compare(leaf, found, rewound, report)
    for table in TABLES:
        if table in columns:
            unrecorded.find(stored, table, leaves_of.get(table, ()), scope or Scope(), now, report)
    _check_replaced(clickhouse, held, columns, _Periods(scope, kept_days), rewound, now, report)
    return report


@dataclass(frozen=True)
class _Periods:
    """The period by table: of `scope`, and within the retention."""

    scope: Scope | None
    kept_days: Mapping[str, int]

    def of(self, table: str) -> Scope:
        return _period(self.scope, self.kept_days.get(table))


def _check_replaced(
    clickhouse: ClickHouse,
    held: Leaves,
    columns: Mapping[str, Set[str]],
    periods: _Periods,
    rewound: Rewinds,
    now: datetime,
    report: Report,
) -> None:
    """Verifies tables in which ClickHouse replaces rows: alerts, and signed ranges."""
    if held.ranges and stored_ranges.TABLE in columns:
        stored_ranges.find(clickhouse, held.ranges, periods.of(stored_ranges.TABLE), rewound, report)
    elif held.ranges:
        report.tampered(CHECK, "signed_ranges is no table with stored rows", table=stored_ranges.TABLE)
    for table in REPLACED:
        leaves = [leaf for leaf in held.versions if leaf.table == table]
        names = {name for leaf in leaves for name in leaf.columns}
        if missing := sorted(names - columns.get(table, set())):
            message = f"{table} does not store {', '.join(missing)}: its rows cannot be compared"
            report.tampered(CHECK, message, table=table)
        elif leaves:
            stored_versions.find(clickhouse, table, leaves, periods.of(table), now, report)


def _check_age(report: Report, scope: Scope | None, now: datetime) -> None:
    """A log that was not cosigned lately stands still, or was replaced by an earlier state of it."""
    cosigned = report.about.get("cosigned_at")
    if not isinstance(cosigned, str) or (scope and scope.end):
        return
    if now - check.moment(cosigned) > timedelta(seconds=MAX_AGE_SECONDS):
        report.undetermined(
            check.COVERAGE,
            f"the log was last cosigned at {cosigned}: newer rows are not proven",
            minute=cosigned,
        )


def _is_readable(leaf: RowsLeaf, columns: Mapping[str, Set[str]]) -> bool:
    return {*leaf.columns} <= columns.get(leaf.table, set())


def _report_columns(
    table: str, leaves: Sequence[RowsLeaf], columns: Mapping[str, Set[str]], report: Report
) -> None:
    """Reports recorded columns that are no longer stored; a computed column can differ by reader."""
    if not leaves:
        return
    missing = sorted({name for leaf in leaves for name in leaf.columns} - columns.get(table, set()))
    what = f"does not store {', '.join(missing)}" if table in columns else "is no table with stored rows"
    rows_of = sum(leaf.rows for leaf in leaves)
    first = min(leaves, key=lambda leaf: leaf.minute)
    message = f"{table} {what}: {counted(rows_of, 'recorded row')} cannot be compared"
    report.tampered(CHECK, message, table=table, minute=first.minute, leaf=first.index)


def _period(scope: Scope | None, days: int | None) -> Scope:
    """A day before the end of the retention, because ClickHouse deletes rows on its own schedule."""
    scope = scope or Scope()
    if days is None:
        return scope
    oldest = datetime.now(UTC) - timedelta(days=days - 1)
    return replace(scope, first=max(oldest, scope.first or oldest))


def _rewinds(stored: StoredRows, leaves: Iterable[RowsLeaf]) -> Rewinds:
    """Returns the recorded rewinds of all times whose rows give the digest of their leaf."""
    found = Rewinds()
    for leaf, lines in stored.lines(leaves):
        if len(lines) == leaf.rows and rows.root_of_hashes(rows.hashes(lines)) == leaf.root:
            found.add(lines)
    return found


def _compare(leaf: RowsLeaf, found: Sequence[bytes], rewound: Rewinds, report: Report) -> None:
    if len(found) == leaf.rows and rows.root_of_hashes(found) == leaf.root:
        report.counts["rows"] += leaf.rows
        report.counts["minutes"] += 1
        return
    place = {"table": leaf.table, "minute": leaf.minute, "part": leaf.part, "leaf": leaf.index}
    missing = leaf.rows - len(found)
    if text := rewound.explanation(leaf, missing):
        report.undetermined(CHECK, rewinds.message(leaf, missing, text), **place)
        return
    if not missing:
        message = "its row was changed" if leaf.rows == 1 else f"some of its {leaf.rows} rows were changed"
    else:
        message = f"it has {counted(len(found), 'row')}, {leaf.rows} were recorded"
    report.tampered(CHECK, message, **place)


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None
