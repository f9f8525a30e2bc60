"""Archives closed days. A day is whole or not listed: its document is written last.

`pending/TABLE-DAY.json` exists while a part is written. After a kill, the next run completes the part if
Iceberg has its files, and deletes what the run left otherwise.
"""

import json
import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path

from pyiceberg.io.pyarrow import schema_to_pyarrow

from tailrace.archive import days
from tailrace.archive.location import Location
from tailrace.archive.source import SLICE_ROWS, Source, SourceError, Span, day_span, divided, iso
from tailrace.archive.tables import TABLES, ArchivedTable
from tailrace.archive.warehouse import Warehouse
from tailrace.archive.writer import FILE_ROWS, PartWriter
from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.replica_progress import ReplicaProgress
from tailrace.transparency.collector import TABLES as PROVEN
from tailrace.transparency.log import STORE
from tailrace.transparency.store import Store
from tailrace.verification import proofs
from tailrace.verification.stored_rows import seconds
from tailrace_verify import archive_days, archive_spans
from tailrace_verify.archive_days import PROOFS, Day, Part
from tailrace_verify.check import moment

PENDING = "pending"
TOKEN = "tailrace.token"


@dataclass(frozen=True)
class Sizes:
    """Rows in memory at once, and rows of a file."""

    slice_rows: int = SLICE_ROWS
    file_rows: int = FILE_ROWS


class Archiver:
    """Writes one archive; `home` is the home directory with the transparency log, if there is one.

    `progress` determines up to which second of insertion rows are complete.
    Methods raise ClickHouseError, ReplicaError, SourceError, WarehouseError, DamagedDocumentError and
    OSError.
    """

    def __init__(
        self,
        clickhouse: ClickHouse,
        location: Location,
        home: Path,
        report: Callable[[str], None],
        progress: ReplicaProgress,
        sizes: Sizes | None = None,
    ) -> None:
        self._clickhouse, self._location, self._home, self._report = clickhouse, location, home, report
        self._progress, self._sizes = progress, sizes or Sizes()
        self.warehouse = Warehouse(location)
        self._proofs_of: dict[date, str] = {}

    def run(self, end: date, tables: Sequence[ArchivedTable] = TABLES) -> Iterator[Day]:
        """Archives the days before `end` that have new rows, and yields each."""
        self.recover()
        for table in tables:
            yield from self._table(table, end)

    def recover(self) -> None:
        """Completes or removes the parts that an interrupted run has left."""
        for name in self._location.names(PENDING):
            found = json.loads(self._location.read(name) or b"{}")
            table, day, token = found["table"], found["day"], found["token"]
            if any(path.endswith(f"-{token}.parquet") for path in self.warehouse.files(table)):
                self._finish(archive_days.parse(json.dumps(found["document"]).encode()))
                self._report(f"completed {table} of {day}, which was interrupted")
            else:
                self._forget(table, day, token)
            self._location.delete(name)

    def _table(self, table: ArchivedTable, end: date) -> Iterator[Day]:
        source = Source(self._clickhouse, table)
        until = self._until(source)
        known = {
            day: seconds(days.read_deletion(self._location, name, day).until)
            for name, day in days.deleted(self._location)
            if name == table.name
        }
        known |= {
            day: _until_of(found)
            for name, day in days.listed(self._location)
            if name == table.name and (found := days.read(self._location, name, day))
        }
        found = source.days(end, until, known)
        for day in found:
            yield self._day(source, date.fromisoformat(day), known.get(day, 0), until)
        self._record_empty(table.name, sorted({*known, *found}), end)

    def _until(self, source: Source) -> int:
        """Returns the second of insert up to which rows are archived. With a transparency log these are rows
        that it contains, so that each archived row has its proof."""
        until = self._progress.wait_until()
        file = self._home / proofs.DIRECTORY / STORE
        if source.table.name not in PROVEN or not file.exists():
            return until
        store = Store(file, is_reader=True)
        try:
            return min(until, store.get(f"position {source.table.name}", 0))
        finally:
            store.close()

    def _day(self, source: Source, day: date, start: int, until: int) -> Day:
        table, text, token = source.table, day.isoformat(), secrets.token_hex(8)
        types = source.columns()
        self.warehouse.prepare(table.name, types, table.time)
        pending = f"{PENDING}/{table.name}-{text}.json"
        state = {"table": table.name, "day": text, "token": token}
        self._location.write(pending, json.dumps(state).encode())
        writer = self._write(source, day_span(day, start, until), text, token)
        part = Part(
            token=token,
            ingested=(iso(start), iso(until)),
            rows=sum(file.rows for file in writer.files),
            columns=types,
            files=writer.files,
            minutes=writer.minutes,
            proofs=self._proofs(day, token),
        )
        before = days.read(self._location, table.name, text) or Day(
            table.name, text, table.time, table.replaces
        )
        document = replace(before, parts=[*before.parts, part])
        state["document"] = json.loads(document.encoded())
        self._location.write(pending, json.dumps(state).encode())
        self.warehouse.append(table.name, [file.path for file in part.files], {TOKEN: token, "day": text})
        finished = self._finish(document)
        self._location.delete(pending)
        return finished

    def _write(self, source: Source, span: Span, day: str, token: str) -> PartWriter:
        name, types = source.table.name, source.columns()
        folder = f"{archive_days.TABLES}/{name}/data/{source.table.time}_day={day}"
        writer = PartWriter(self._location, folder, token, schema_to_pyarrow(self.warehouse.schema(name)))
        counts = source.minutes(span)
        slices = divided(span, counts, self._sizes.slice_rows)
        writer.write((source.rows(each, types) for each in slices), self._sizes.file_rows)
        found = {minute: rows for minute, rows, _ in writer.minutes}
        if found != {iso(minute): rows for minute, rows in counts.items()}:
            raise SourceError(f"{name}: rows of {day} changed while they were read; run the archive again")
        return writer

    def _proofs(self, day: date, token: str) -> str:
        """Copies the proofs of a day from the transparency log; returns their directory, empty if there is no
        log. The tables of one run share them."""
        if day not in self._proofs_of:
            first = moment(f"{day.isoformat()}T00:00:00Z")
            with tempfile.TemporaryDirectory() as directory:
                target = Path(directory)
                end = first + timedelta(days=1)
                after = archive_spans.beginning(self._spans())
                written = proofs.write(
                    self._clickhouse, self._home, first, end, target, most_rows=0, after=after
                )
                folder = f"{PROOFS}/{day.isoformat()}/{token}" if written else ""
                content = target / proofs.TRANSPARENCY
                for path in sorted(content.rglob("*")) if written else ():
                    if path.is_file():
                        name = f"{folder}/{path.relative_to(content).as_posix()}"
                        self._location.write(name, path.read_bytes())
            self._proofs_of[day] = folder
        return self._proofs_of[day]

    def _spans(self) -> list[archive_spans.Span]:
        """Returns the leaves of the log whose proofs the archive has."""
        names = (name for name in self._location.names(PROOFS) if name.endswith(f"/{archive_spans.SCOPE}"))
        return archive_spans.parsed({name: self._location.read(name) for name in names})

    def _finish(self, document: Day) -> Day:
        """Publishes a day whose files are in Iceberg."""
        last = document.parts[-1]
        table = self.warehouse.table(document.table)
        snapshot = next(
            each.snapshot_id
            for each in table.metadata.snapshots
            if each.summary and each.summary.additional_properties.get(TOKEN) == last.token
        )
        parts = [*document.parts[:-1], replace(last, snapshot=str(snapshot))]
        finished = replace(document, parts=parts)
        days.write(self._location, finished)
        days.record(self._clickhouse, self._location, document.table, document.day, days.WRITTEN, finished)
        return finished

    def _forget(self, table: str, day: str, token: str) -> None:
        for path in self._location.names(f"{archive_days.TABLES}/{table}/data"):
            if f"-{token}.parquet" in path:
                self._location.delete(path)
        for path in self._location.names(f"{PROOFS}/{day}/{token}"):
            self._location.delete(path)
        self._report(f"removed an interrupted part of {table} of {day}")

    def _record_empty(self, table: str, found: Sequence[str], end: date) -> None:
        """Records days without rows between the first archived day and `end`: nothing of them waits."""
        if not found:
            return
        states = days.states(self._clickhouse, self._location)
        day = date.fromisoformat(found[0])
        while day < end:
            name = day.isoformat()
            if name not in found and (table, name) not in states:
                days.record(self._clickhouse, self._location, table, name, days.VERIFIED, None)
            day += timedelta(days=1)


def _until_of(day: Day) -> int:
    return seconds(day.parts[-1].ingested[1])
