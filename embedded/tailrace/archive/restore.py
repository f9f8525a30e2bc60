"""Restores archived rows into ClickHouse, each once.

A row group is one insert with a token of its own, so that a repeated insert adds nothing, neither to the
table nor to what views derive from it. Row groups that are complete in the table are left out. Of one that is
there in part, only the missing rows are inserted; equal rows count each time.

Only one restore may run at a time, and none beside a run of TTLs: hold `lock.held_with_ttls`. Two restores
would both insert the rows that both miss, under other tokens if these differ.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from tailrace import replaced_file
from tailrace.archive import days, inserts, source, tables
from tailrace.archive.columns import ORIGINAL
from tailrace.archive.location import Location
from tailrace.archive.readback import Group, ReadBack, columns_of_file
from tailrace.archive.tables import BY_NAME, ArchivedTable
from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.parameters import encoded
from tailrace.errors import ReportedError
from tailrace_verify.archive_days import Day, Part

JOURNAL = "archive/restore.json"
"""The journal, below the home directory."""
PREFIX = "restored_"
VIEWED = ("query_events", "audit_events", "error_events")
"""Tables whose inserts views count, in `receipts` and in rollups."""
COPY = """
CREATE TABLE IF NOT EXISTS tailrace.{target} AS tailrace.{table}
ENGINE = MergeTree PARTITION BY toYYYYMMDD({time}) ORDER BY ({order})
SETTINGS non_replicated_deduplication_window = 10000
"""
COUNTED = """
SELECT (SELECT sum(rows) FROM tailrace.receipts WHERE kind = 'EVENT' AND source IN {sources:Array(String)}
        AND day IN {days:Array(Date)}) AS counted,
    (SELECT count() FROM tailrace.{table} WHERE source IN {sources:Array(String)}
        AND toDate(ingested_at, 'UTC') IN {days:Array(Date)}) AS stored
"""


class RestoreError(ReportedError):
    """Rows cannot be restored; the message states why and what to do."""


@dataclass(frozen=True)
class Restored:
    """The result for the rows of a day."""

    table: str
    day: str
    inserted: int
    present: int


@dataclass(frozen=True)
class Restorer:
    """Restores from one archive. `journal` is the file that names the insert that is running; `kept_days` is
    the retention by table. Methods raise RestoreError, DamagedFileError, ClickHouseError and OSError."""

    clickhouse: ClickHouse
    location: Location
    journal: Path
    kept_days: Mapping[str, int]
    is_copy: bool = False
    """Restore into tables `restored_TABLE`, which have neither retention nor views."""
    require_lock: Callable[[], None] = lambda: None
    """Called before each insert: raises if another process may restore rows or change TTLs."""

    def restore(self, first: date, end: date, chosen: tuple[ArchivedTable, ...] = ()) -> Iterator[Restored]:
        """Restores the days in [first, end) of some tables, by default of all, and yields each."""
        wanted = {table.name for table in chosen or tables.TABLES}
        found = [
            (table, day)
            for table, day in days.listed(self.location, first.isoformat(), end.isoformat())
            if table in wanted
        ]
        if not self.is_copy:
            self._refuse_expired(found)
        for table, day in found:
            yield self._day(days.read(self.location, table, day))

    def _refuse_expired(self, found: list[tuple[str, str]]) -> None:
        today = datetime.now(UTC).date()
        for table, day in found:
            kept = self.kept_days.get(table)
            if kept is not None and date.fromisoformat(day) + timedelta(days=kept) < today + timedelta(
                days=2
            ):
                raise RestoreError(
                    f"ClickHouse would delete {table} of {day} at once, because rows are kept for {kept}"
                    f" days: restore it with --copy into tailrace.{PREFIX}{table}, or increase {table} in"
                    " retention.yaml and run `tailrace migrate`"
                )

    def _day(self, day: Day) -> Restored:
        table = BY_NAME[day.table]
        target = self._target(table)
        if not self.is_copy:
            self._refuse_counted(day)
        inserted = present = 0
        for part in day.parts:
            reader = ReadBack(self.clickhouse, self.location, part.columns, day.time)
            for file in part.files:
                for group in reader.groups(file):
                    added = self._group(target, table, part, group, f"{file.sha256} {group.first}")
                    inserted += added
                    present += len(group.hashes) - added
        return Restored(day.table, day.day, inserted, present)

    def _target(self, table: ArchivedTable) -> str:
        if not self.is_copy:
            return table.name
        target = f"{PREFIX}{table.name}"
        order = tables.order_of(self.clickhouse, table)
        self.clickhouse.execute(COPY.format(target=target, table=table.name, time=table.time, order=order))
        return target

    def _refuse_counted(self, day: Day) -> None:
        """Views must not count rows again that they counted before ClickHouse lost them."""
        if day.table not in VIEWED or self.journal.exists():
            return
        sources, stored_days = set(), set()
        for file in (each for part in day.parts for each in part.files):
            found = columns_of_file(self.location, file.path, ["source", "ingested_at"])
            sources |= set(pc.unique(found["source"]).to_pylist())
            stored_days |= set(pc.unique(found["ingested_at"].cast(pa.date32())).to_pylist())
        query = COUNTED.replace("{table}", day.table)
        days = sorted(each.isoformat() for each in stored_days)
        shown = encoded({"sources": sorted(sources), "days": days})
        row = self.clickhouse.rows(query, shown)[0]
        if int(row["counted"]) > int(row["stored"]):
            raise RestoreError(
                f"{day.table} of {day.day}: the rollups have counted rows that ClickHouse has lost since"
                f" ({row['counted']} counted, {row['stored']} stored) and would count them again: restore"
                f" with --copy into tailrace.{PREFIX}{day.table}"
            )

    def _group(self, target: str, table: ArchivedTable, part: Part, group: Group, name: str) -> int:
        """Inserts the rows of a row group that are missing; returns their number."""
        if not group.hashes:
            return 0
        token = hashlib.sha256(f"{target} {name}".encode()).hexdigest()
        if (interrupted := self._interrupted(token)) is not None:
            missing = interrupted
        else:
            missing = _missing(group.hashes, self._present(target, table, part, group))
        if missing:
            self._insert(target, part, group, missing, token)
        return len(missing)

    def _present(self, target: str, table: ArchivedTable, part: Part, group: Group) -> Counter[bytes]:
        span = source.Span(min(group.minutes), max(group.minutes) + source.MINUTE_SECONDS, 0, source.ALWAYS)
        found = source.Source(self.clickhouse, replace(table, name=target))
        return Counter(hash_ for _, hash_ in found.hashes(span, part.columns))

    def _interrupted(self, token: str) -> list[int] | None:
        """Returns the rows of an insert that was interrupted: it is repeated with its token."""
        if not self.journal.exists():
            return None
        found = json.loads(self.journal.read_text())
        return found["rows"] if found["token"] == token else None

    def _insert(self, target: str, part: Part, group: Group, missing: list[int], token: str) -> None:
        self.journal.parent.mkdir(parents=True, exist_ok=True)
        replaced_file.write(self.journal, json.dumps({"token": token, "rows": missing}))
        rows = group.rows if len(missing) == len(group.hashes) else group.rows.take(missing)
        is_text = pc.is_null(rows[ORIGINAL])
        typed, others = rows.filter(is_text), rows.filter(pc.invert(is_text))
        suffix = hashlib.sha256(json.dumps(missing).encode()).hexdigest()[:16]
        self.require_lock()
        if len(typed):
            inserts.typed_rows(self.clickhouse, target, part.columns, typed, f"{token} {suffix}")
        if len(others):
            lines = others[ORIGINAL].to_pylist()
            inserts.json_rows(self.clickhouse, target, part.columns, lines, f"{token} {suffix} original")
        self.journal.unlink()


def _missing(hashes: list[bytes], present: Counter[bytes]) -> list[int]:
    """Returns the numbers of the rows, from 0, that are not present; equal rows count each time."""
    left, found = Counter(present), []
    for number, hash_ in enumerate(hashes):
        if left[hash_] > 0:
            left[hash_] -= 1
        else:
            found.append(number)
    return found
