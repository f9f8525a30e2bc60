"""Compares tables in which a newer row replaces an older one with the versions in the transparency log."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tailrace.clickhouse.client import ClickHouse
from tailrace.verification import unrecorded
from tailrace.verification.stored_rows import seconds
from tailrace_verify import check, versions
from tailrace_verify.check import Scope
from tailrace_verify.findings import Report
from tailrace_verify.leaves import VersionsLeaf

CHECK = "ClickHouse"
QUERY = """
SELECT {select}
FROM tailrace.{table} FINAL
SETTINGS {settings}
"""


@dataclass
class _Recorded:
    """The newest recorded version of a row; equal versions may have several hashes."""

    version: int
    minute: str
    leaf: int
    columns: Sequence[str]
    hashes: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Stored:
    minute: int
    version: int
    hash: str
    second: int


def find(
    clickhouse: ClickHouse,
    table: str,
    leaves: Sequence[VersionsLeaf],
    scope: Scope,
    now: datetime,
    report: Report,
) -> None:
    """Compares the current row of each key whose minute is in `scope`. Raises ClickHouseError, OSError."""
    recorded = _recorded(leaves)
    wanted = {key: each for key, each in recorded.items() if check.is_inside(each.minute, scope)}
    by_columns: dict[Sequence[str], list[str]] = defaultdict(list)
    for key, each in wanted.items():
        by_columns[each.columns].append(key)
    reached = max((seconds(leaf.ingested[1]) for leaf in leaves), default=0)
    newest: dict[str, _Stored] = {}
    waiting: set[str] = set()
    for columns, keys in by_columns.items():
        newest = _stored(clickhouse, table, columns)
        for key in keys:
            if _is_stored_again(wanted[key], newest.get(key), reached):
                waiting.add(key)
            else:
                _compare(table, key, wanted[key], newest.get(key), report)
    newest = newest or _stored(clickhouse, table, ("event_time",))
    for key, row in newest.items():
        if key in waiting or key not in recorded or row.version > recorded[key].version:
            _unrecorded(table, key, row, scope, reached, now, report)


def _recorded(leaves: Iterable[VersionsLeaf]) -> dict[str, _Recorded]:
    found: dict[str, _Recorded] = {}
    for leaf in leaves:
        for each in leaf.versions:
            known = found.get(each.key)
            if known is None or known.version < each.version:
                known = found[each.key] = _Recorded(each.version, each.minute, leaf.index, leaf.columns)
            if known.version == each.version:
                known.hashes.add(each.hash.hex())
    return found


def _stored(clickhouse: ClickHouse, table: str, columns: Sequence[str]) -> dict[str, _Stored]:
    query = QUERY.format(**versions.query(table, columns))
    return {
        row["key"]: _Stored(int(row["minute"]), int(row["version"]), row["hash"], int(row["second"]))
        for row in clickhouse.rows(query)
    }


def _is_stored_again(recorded: _Recorded, stored: _Stored | None, reached: int) -> bool:
    """Whether the newest version was stored again, at a time that the log has not reached."""
    if stored is None or stored.second < reached:
        return False
    return stored.version == recorded.version and stored.hash not in recorded.hashes


def _compare(table: str, key: str, recorded: _Recorded, stored: _Stored | None, report: Report) -> None:
    place = {"table": table, "minute": recorded.minute, "leaf": recorded.leaf}
    if stored is None:
        report.tampered(CHECK, f"the row {key} was deleted", **place)
    elif stored.version < recorded.version:
        report.tampered(CHECK, f"the row {key} is an older one than the recorded", **place)
    elif stored.version == recorded.version and stored.hash not in recorded.hashes:
        report.tampered(CHECK, f"the row {key} was changed", **place)
    else:
        report.counts["versions of rows that are stored"] += 1


def _unrecorded(
    table: str, key: str, row: _Stored, scope: Scope, reached: int, now: datetime, report: Report
) -> None:
    """Reports a row that no leaf has, unless it may wait for the log (tailrace.verification.unrecorded)."""
    minute = datetime.fromtimestamp(row.minute, UTC).strftime(check.FORM)
    if not check.is_inside(minute, scope):
        return
    place = {"table": table, "minute": minute}
    if row.second < reached or row.second > (now + unrecorded.CLOCK).timestamp():
        report.tampered(CHECK, f"the row {key} is in no leaf of the log", **place)
    elif row.second < (now - unrecorded.WAIT).timestamp():
        report.undetermined(CHECK, f"the row {key} is in no leaf of the log yet", **place)
    else:
        report.counts["rows that wait for the log"] += 1
