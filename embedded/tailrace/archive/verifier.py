"""Reads archived days back, compares them with their digests and with ClickHouse, and marks them verified."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from pyiceberg.schema import Schema

from tailrace.archive import days
from tailrace.archive.location import Location
from tailrace.archive.readback import DamagedFileError, ReadBack
from tailrace.archive.runner import PENDING
from tailrace.archive.source import SLICE_ROWS, Slice, Source, day_span, divided, iso
from tailrace.archive.tables import BY_NAME, TABLES, ArchivedTable
from tailrace.archive.warehouse import Warehouse, WarehouseError
from tailrace.archive.writer import MARK_BYTES
from tailrace.clickhouse.client import ClickHouse
from tailrace.plural import counted
from tailrace.retention import record
from tailrace.retention.record import Recorded
from tailrace.verification.stored_rows import seconds
from tailrace_verify import archive_days, archive_rows
from tailrace_verify import rows as canonical_rows
from tailrace_verify.archive_days import ArchivedFile, Day, Deletion, Part
from tailrace_verify.findings import NOTED, Report

CHECK, ICEBERG, LIVE = "archive", "Iceberg", "ClickHouse"
Hashes = Mapping[str, list[bytes]]


@dataclass(frozen=True)
class ArchiveVerifier:
    """Verifies days of one archive. Methods raise ClickHouseError, WarehouseError and OSError."""

    clickhouse: ClickHouse
    location: Location
    warehouse: Warehouse
    slice_rows: int = SLICE_ROWS

    def verify(self, table: str, day: str, report: Report, with_clickhouse: bool = True) -> bool:
        """Verifies a day; marks it as verified if nothing differs, and returns whether it is.

        Without ClickHouse, the rows are compared only with the digests that were recorded when they were
        read from ClickHouse.
        """
        before = sum(report.found.values())
        try:
            found = days.read(self.location, table, day)
        except days.DamagedDocumentError as error:
            report.tampered(CHECK, str(error), table=table, day=day)
            return False
        for part in found.parts:
            archived = self._part(found, part, report)
            if with_clickhouse and sum(report.found.values()) == before:
                self._compare(found, part, archived, report)
        self._check_iceberg(found, report)
        if sum(report.found.values()) > before:
            return False
        report.counts["days"] += 1
        days.record(self.clickhouse, self.location, table, day, days.VERIFIED, found)
        return True

    def _part(self, day: Day, part: Part, report: Report) -> Hashes:
        """Reads all files of a part; returns the hashes of its rows by minute."""
        found: dict[str, list[bytes]] = defaultdict(list)
        reader = ReadBack(self.clickhouse, self.location, part.columns, day.time)
        unread = [file for file in part.files if not self._file(reader, file, found, report)]
        recorded = {minute: (rows, root) for minute, rows, root in part.minutes}
        for minute in sorted({*recorded, *found}):
            rows, root = recorded.get(minute, (0, ""))
            hashes = found.get(minute, [])
            if len(hashes) == rows and canonical_rows.root_of_hashes(hashes).hex() == root:
                report.counts["rows"] += rows
            elif not unread or len(hashes) >= rows:
                archived = counted(len(hashes), "archived row does", "archived rows do")
                message = f"{archived} not give the digest of {counted(rows, 'row')}"
                report.tampered(CHECK, message, table=day.table, minute=minute)
        return found

    def _file(
        self, reader: ReadBack, file: ArchivedFile, found: dict[str, list[bytes]], report: Report
    ) -> bool:
        """Adds the hashes of a file's rows; returns whether all could be read."""
        try:
            if self.location.sha256(file.path) != file.sha256:
                report.tampered(CHECK, "its bytes are not those that were archived", file=file.path)
            marks = self.location.read(file.marks)
            for group in reader.groups(file):
                _check_marks(group.first, group.hashes, marks, file, report)
                for minute, hash_ in zip(group.minutes, group.hashes, strict=True):
                    found[iso(minute)].append(hash_)
        except FileNotFoundError:
            report.incomplete(CHECK, "the file is missing", file=file.path, row=1)
        except DamagedFileError as error:
            report.tampered(CHECK, str(error), file=file.path)
        else:
            report.counts["files"] += 1
            return True
        return False

    def _compare(self, day: Day, part: Part, archived: Hashes, report: Report) -> None:
        """Compares the rows of a part with those that ClickHouse still has."""
        source = Source(self.clickhouse, BY_NAME[day.table])
        span = day_span(date.fromisoformat(day.day), seconds(part.ingested[0]), seconds(part.ingested[1]))
        counts = source.minutes(span)
        if not counts:
            report.counts["rows that ClickHouse no longer has"] += part.rows
            return
        for minute in sorted({iso(each) for each in counts} ^ archived.keys()):
            stored = counts.get(seconds(minute), 0)
            if not (day.replaces and stored == 0):
                self._differs(day, minute, len(archived.get(minute, [])), stored, report)
        for slice_ in divided(span, counts, self.slice_rows):
            if slice_.piece == 0:
                for minute, hashes in self._live(source, slice_, part).items():
                    self._compare_minute(day, minute, archived.get(minute, []), hashes, report)

    def _compare_minute(
        self, day: Day, minute: str, archived: list[bytes], stored: list[bytes], report: Report
    ) -> None:
        extra, lost = Counter(stored) - Counter(archived), Counter(archived) - Counter(stored)
        if extra or (lost and not day.replaces):
            self._differs(day, minute, len(archived), len(stored), report)
        else:
            report.counts["rows equal in ClickHouse"] += len(stored)

    def _differs(self, day: Day, minute: str, archived: int, stored: int, report: Report) -> None:
        message = (
            f"the archive has {counted(archived, 'row')}, ClickHouse has {stored}; they are not the same"
        )
        report.tampered(LIVE, message, table=day.table, minute=minute)

    def _live(self, source: Source, slice_: Slice, part: Part) -> dict[str, list[bytes]]:
        found: dict[str, list[bytes]] = defaultdict(list)
        for minute, hash_ in source.hashes(slice_.span, part.columns):
            found[iso(minute)].append(hash_)
        return found

    def _check_iceberg(self, day: Day, report: Report) -> None:
        """Compares the files and statistics that engines see with those of the day."""
        place = {"table": day.table, "day": day.day}
        try:
            known = self.warehouse.files(day.table)
            table = self.warehouse.table(day.table)
        except (WarehouseError, OSError, ValueError) as error:
            report.tampered(ICEBERG, f"the metadata of {day.table} cannot be read: {error}"[:300], **place)
            return
        for file in (each for part in day.parts for each in part.files):
            if file.path not in known:
                report.tampered(ICEBERG, "the Iceberg table does not have the file", file=file.path, **place)
                continue
            try:
                expected = self.warehouse.data_file(table, file.path)
                self._check_columns(table.schema(), file.path, place, report)
            except (OSError, ValueError):
                continue  # the file itself is already reported
            if differing := list(_differing(known[file.path], expected)):
                message = f"its statistics in Iceberg differ from its rows: {', '.join(differing)}"
                report.tampered(ICEBERG, message, file=file.path, **place)

    def _check_columns(self, schema: Schema, path: str, place: Mapping[str, str], report: Report) -> None:
        """Engines find a column by its number, so its name must have the same number in Iceberg."""
        known = {field.name: field.field_id for field in schema.fields}
        with self.location.open(path) as stream:
            own = archive_rows.numbers(stream)
        if wrong := sorted(name for name, number in own.items() if known.get(name) != number):
            report.tampered(ICEBERG, f"engines read other columns as {', '.join(wrong)}", file=path, **place)

    def find_extra(self, table: str, report: Report) -> None:
        """Reports files that engines read and no document lists: they add rows, or hide them."""
        try:
            documents = [
                days.read(self.location, name, day)
                for name, day in days.listed(self.location)
                if name == table
            ]
            known = self.warehouse.files(table)
        except (days.DamagedDocumentError, WarehouseError, OSError, ValueError):
            return  # already reported
        listed = {file.path for each in documents for part in each.parts for file in part.files}
        for path in sorted(known.keys() - listed):
            message = "the Iceberg table has a file that no document lists"
            if self.location.names(PENDING):
                message = f"{message}: repeat `tailrace archive run`, which was interrupted"
                report.undetermined(ICEBERG, message, file=path, table=table)
            else:
                report.tampered(ICEBERG, message, file=path, table=table)


def verify_all(
    verifier: ArchiveVerifier,
    report: Report,
    first: str = "",
    end: str = "9999",
    tables: Sequence[ArchivedTable] = TABLES,
) -> Iterator[tuple[str, str, bool]]:
    """Verifies the days in [first, end) and yields table, day and whether it is verified. Days that
    ClickHouse has recorded and the archive no longer lists are incomplete, unless somebody deleted them."""
    names = {table.name for table in tables}
    found = [each for each in days.listed(verifier.location, first, end) if each[0] in names]
    deleted = {
        each: deletion
        for each in days.deleted(verifier.location, first, end)
        if each[0] in names and (deletion := _deletion(verifier.location, *each, report))
    }
    recorded = record.archive_deletions(verifier.clickhouse)
    for place, deletion in deleted.items():
        _check_recorded(deletion, recorded.get(place, []), report)
    interrupted = {each for each in found if each in deleted and _is_of_day(verifier.location, deleted[each])}
    listed = {*found} - interrupted
    for (table, day), state in days.states(verifier.clickhouse, verifier.location).items():
        is_chosen = table in names and first <= day < end and state["rows"]
        if is_chosen and (table, day) not in listed:
            deletion, known = deleted.get((table, day)), recorded.get((table, day), [])
            _check_unlisted((table, day), state, deletion, known, report)
    for table, day in found:
        if (table, day) in interrupted:
            message = "its deletion was interrupted: repeat tailrace archive delete"
            report.add(NOTED, CHECK, message, table=table, day=day)
        else:
            yield table, day, verifier.verify(table, day, report)
    for name in sorted(names):
        verifier.find_extra(name, report)


def _deletion(location: Location, table: str, day: str, report: Report) -> Deletion | None:
    try:
        return days.read_deletion(location, table, day)
    except days.DamagedDocumentError as error:
        report.tampered(CHECK, str(error), table=table, day=day)
        return None


def _is_of_day(location: Location, deletion: Deletion) -> bool:
    """Whether the document of the day is that of the deleted rows."""
    content = location.read(archive_days.file_name(deletion.table, deletion.day))
    return content is not None and hashlib.sha256(content).hexdigest() == deletion.document


def _check_recorded(deletion: Deletion, known: Sequence[Recorded], report: Report) -> None:
    """A document of a deletion counts only with the record of ClickHouse, which is in the log."""
    place = {"table": deletion.table, "day": deletion.day}
    if found := days.recorded(deletion, known):
        report.add(
            NOTED, CHECK, f"{counted(deletion.rows, 'row was', 'rows were')} deleted {found.text()}", **place
        )
    else:
        rows = counted(deletion.rows, "row is", "rows are")
        message = f"{rows} said to be {deletion.text()}, but nobody recorded this deletion"
        report.tampered(CHECK, message, **place)


def _check_unlisted(
    place: tuple[str, str],
    state: days.State,
    deletion: Deletion | None,
    known: Sequence[Recorded],
    report: Report,
) -> None:
    """Reports archived rows that are missing. `_check_recorded` has noted those that `deletion` names."""
    table, day = place
    if state["state"] == days.DELETED and known:
        if not deletion:
            message = f"{counted(state['rows'], 'row was', 'rows were')} deleted {known[-1].text()}"
            report.add(NOTED, CHECK, message, table=table, day=day)
    elif not (deletion and days.is_of(state, days.recorded(deletion, known))):
        report.incomplete(
            CHECK,
            f"{counted(state['rows'], 'archived row is', 'archived rows are')} missing",
            table=table,
            day=day,
        )


def _check_marks(
    first: int, hashes: list[bytes], marks: bytes | None, file: ArchivedFile, report: Report
) -> None:
    """Names the first row that differs. The marks prove nothing: the digests do."""
    if marks is None:
        return
    start = (first - 1) * MARK_BYTES
    for number, hash_ in enumerate(hashes):
        at = start + number * MARK_BYTES
        if hash_[:MARK_BYTES] != marks[at : at + MARK_BYTES]:
            report.tampered(CHECK, f"row {first + number} was changed", file=file.path, row=first + number)
            return


def _differing(known: object, expected: object) -> Iterator[str]:
    for name in (
        "record_count",
        "file_size_in_bytes",
        "lower_bounds",
        "upper_bounds",
        "null_value_counts",
        "value_counts",
    ):
        if getattr(known, name) != getattr(expected, name):
            yield name
