"""Verifies an archive offline: its files, its rows with the transparency log, and what it does not list.

The rows of each table and minute must give the digest of their leaf. Tables that the log does not cover are
compared with the digests of the archive itself; a note says so.
"""

import hashlib
import importlib.util
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tailrace_verify import archive_days, archive_lists, archive_spans, check, files, merkle
from tailrace_verify import rows as canonical_rows
from tailrace_verify.archive_days import (
    DAYS,
    DELETED,
    DELETED_NAME,
    MINUTE_UNIT,
    NAME,
    TABLES,
    ArchivedFile,
    Day,
    Deletion,
    DocumentError,
    Part,
)
from tailrace_verify.check import FORM, Scope, moment
from tailrace_verify.files import Files
from tailrace_verify.findings import NOTED, Report
from tailrace_verify.leaves import RowsLeaf
from tailrace_verify.plural import counted
from tailrace_verify.trust import Trust

CHECK = "archive"
COVERED = ("query_events", "audit_events", "error_events")
"""Tables whose rows are in the transparency log."""
MARK_BYTES = 4
CHUNK = 1 << 20
ALWAYS = 1 << 62
EVER, NEVER = "1970-01-01T00:00:00Z", "9999-01-01T00:00:00Z"


def is_archive(path: Path) -> bool:
    return (path / DAYS).is_dir() and (path / TABLES).is_dir()


def verify(root: Path, trust: Trust, scope: Scope | None = None) -> Report:
    """Verifies the days of an archive, by default all. Raises OSError."""
    report = Report()
    if importlib.util.find_spec("pyarrow") is None:
        report.undetermined(CHECK, "rows cannot be read without the package pyarrow; install it")
        return report
    with files.opened(root) as content:
        deleted = _deletions(content, scope, report)
        found = [day for day in _days(content, scope, report) if not _is_deleted(day, deleted)]
        proofs = _Proofs(content, trust, report)
        for day in found:
            until = deleted[day.table, day.day].until if (day.table, day.day) in deleted else EVER
            _DayCheck(root, content, day, proofs.leaves(day), report, until).run()
        if scope is None:
            days = {day for _, day in deleted}
            for folder in archive_spans.find_gaps(content, set(proofs.known), days, report):
                proofs.examine(folder)
        _find_unlisted(content, found, report)
        archive_lists.find_missing(found, deleted, proofs.known, COVERED, report)
        archive_lists.check_columns(root, content, found, report)
    report.about.update(
        {"archive": str(root), "days": len(found), "tables": sorted({d.table for d in found})}
    )
    _note_uncovered(found, report)
    return report


def _deletions(content: Files, scope: Scope | None, report: Report) -> dict[tuple[str, str], Deletion]:
    """Returns the deletions by table and day, and notes each: only ClickHouse's record proves them."""
    found = {}
    for name in content.below(DELETED):
        try:
            match = DELETED_NAME.fullmatch(name)
            each = archive_days.parse_deletion(content.read(name) or b"")
            if not match or (each.table, each.day) != match.groups():
                raise DocumentError(f"it is the document of {each.table}, {each.day}")
            moment(each.until)
        except (DocumentError, check.ScopeError) as error:
            report.tampered(CHECK, f"no document of a deleted day: {error}", file=name)
            continue
        if check.is_inside(f"{each.day}T00:00:00Z", scope or Scope()):
            found[each.table, each.day] = each
            place = {"file": name, "table": each.table, "day": each.day}
            report.add(NOTED, CHECK, f"{counted(each.rows, 'row was', 'rows were')} {each.text()}", **place)
    if found:
        report.notes.append(
            "the archive does not prove who deleted days; `tailrace archive verify` compares the record"
        )
    return found


def _is_deleted(day: Day, deleted: Mapping[tuple[str, str], Deletion]) -> bool:
    """Whether the deletion of the day was interrupted."""
    deletion = deleted.get((day.table, day.day))
    return deletion is not None and deletion.covers(day)


def _days(content: Files, scope: Scope | None, report: Report) -> Iterator[Day]:
    for name in content.below(DAYS):
        try:
            match = NAME.fullmatch(name)
            day = archive_days.parse(content.read(name) or b"")
            if not match or (day.table, day.day) != match.groups():
                raise DocumentError(f"it is the document of {day.table}, {day.day}")
        except DocumentError as error:
            report.tampered(CHECK, f"no document of a day: {error}", file=name)
            continue
        if check.is_inside(f"{day.day}T00:00:00Z", scope or Scope()):
            report.counts["days"] += 1
            yield day


@dataclass
class _Proofs:
    """The leaves of the log by directory of proofs, each verified once."""

    content: Files
    trust: Trust
    report: Report
    known: dict[str, list[RowsLeaf]] = field(default_factory=dict)

    def leaves(self, day: Day) -> list[RowsLeaf] | None:
        """Returns the leaves of a day; None if the log does not cover its table, or has no proofs of it."""
        if day.table not in COVERED:
            return None
        folder = next((part.proofs for part in reversed(day.parts) if part.proofs), "")
        if not folder:
            name = archive_days.file_name(day.table, day.day)
            self.report.undetermined(CHECK, "the archive has no proofs of its rows", file=name)
            return None
        self.examine(folder)
        first = f"{day.day}T00:00:00Z"
        return [
            leaf for leaf in self.known[folder] if leaf.table == day.table and leaf.minute[:10] == first[:10]
        ]

    def examine(self, folder: str) -> None:
        """Verifies the proofs of a directory, unless that was done."""
        if folder not in self.known:
            self.known[folder] = self._examined(folder)

    def _examined(self, folder: str) -> list[RowsLeaf]:
        found, held = check.examine(self.content.under(f"{folder}/"), self.trust)
        for each in found.findings:
            place = dict(each.place)
            if "file" in place:
                place["file"] = f"{folder}/{place['file']}"
            self.report.add(each.status, each.check, each.message, **place)
        for name in ("checkpoints", "leaves", "tiles"):
            self.report.counts[name] += found.counts[name]
        self.report.about = {**found.about, **self.report.about}
        return list(held.rows.values())


@dataclass
class _Minute:
    """The rows of one leaf, or of one minute of a part: which hashes arrived."""

    rows: int
    root: bytes
    first: int
    end: int
    place: Mapping[str, object]
    hashes: list[bytes] = field(default_factory=list)
    is_done: bool = False


@dataclass
class _DayCheck:
    """Verifies one table and day."""

    root: Path
    content: Files
    day: Day
    leaves: Sequence[RowsLeaf] | None
    report: Report
    deleted_until: str
    """Rows that were stored before this time were deleted."""
    is_damaged: bool = False
    """Whether a file is reported: minutes without all rows are then its consequence."""
    minutes: dict[int, list[_Minute]] = field(default_factory=lambda: defaultdict(list))

    def run(self) -> None:
        self._expect_leaves()
        for part in self.day.parts:
            if self.leaves is None:
                self.minutes.clear()
                self._expect_recorded(part)
            for file in part.files:
                self._file(part, file)
            if self.leaves is None:
                self._finish()
        if self.leaves is not None:
            self._finish()

    def _expect_leaves(self) -> None:
        until = max(moment(part.ingested[1]).timestamp() for part in self.day.parts)
        deleted_until = moment(self.deleted_until).timestamp()
        for leaf in self.leaves or ():
            first, end = (moment(text).timestamp() for text in leaf.ingested or (EVER, NEVER))
            if first >= until:
                self.report.counts["rows that are not archived yet"] += leaf.rows
            elif end > deleted_until:
                place = {"table": leaf.table, "minute": leaf.minute, "leaf": leaf.index}
                self._expect(leaf.minute, _Minute(leaf.rows, leaf.root, int(first), int(end), place))

    def _expect(self, minute: str, expected: _Minute) -> None:
        self.minutes[int(moment(minute).timestamp())].append(expected)

    def _expect_recorded(self, part: Part) -> None:
        for minute, rows, root in part.minutes:
            place = {"table": self.day.table, "minute": minute}
            self._expect(minute, _Minute(rows, bytes.fromhex(root), 0, ALWAYS, place))

    def _file(self, part: Part, file: ArchivedFile) -> None:
        from tailrace_verify import archive_rows

        path, place = self.root / file.path, {"file": file.path, "table": self.day.table}
        if not path.is_file():
            self.report.incomplete(
                CHECK, f"the file with {counted(file.rows, 'row')} is missing", row=1, **place
            )
            self.is_damaged = True
            return
        if _sha256(path) != file.sha256:
            self.report.tampered(CHECK, "its bytes are not those that were archived", **place)
        marks = self.content.read(file.marks)
        try:
            for group in archive_rows.groups(path, part.columns, self.day.time):
                if group.wrong_statistics:
                    names = ", ".join(group.wrong_statistics)
                    self.report.tampered(CHECK, f"wrong statistics of {names}", row=group.first, **place)
                self._group(group, file, marks)
        except archive_rows.ParquetError as error:
            self.report.tampered(CHECK, str(error), **place)
            self.is_damaged = True
        self.report.counts["files"] += 1

    def _group(self, group: "object", file: ArchivedFile, marks: bytes | None) -> None:
        hashes = canonical_rows.hashes(group.lines)
        if self._is_expected(group, hashes, marks):
            return
        is_named = False
        for at, (hash_, time) in enumerate(zip(hashes, group.times, strict=True)):
            minute, second = divmod(time, MINUTE_UNIT)
            row = group.first + at
            expected = self._expected(minute, second)
            mark = marks[(row - 1) * MARK_BYTES : row * MARK_BYTES] if marks else hash_[:MARK_BYTES]
            if not is_named and (expected is None or expected.is_done or mark != hash_[:MARK_BYTES]):
                is_named = True
                self.report.tampered(
                    CHECK,
                    f"row {row} was changed or added",
                    file=file.path,
                    row=row,
                    table=self.day.table,
                    minute=_iso(minute),
                )
            if expected and not expected.is_done:
                expected.hashes.append(hash_)
                self._complete(expected)

    def _is_expected(self, group: "object", hashes: Sequence[bytes], marks: bytes | None) -> bool:
        """Adds the rows of a group at once if each is expected and none differs from its mark; returns
        whether that is so. Otherwise nothing is added, and the rows must be examined one by one."""
        start = (group.first - 1) * MARK_BYTES
        own = memoryview(b"".join(hashes)).cast("I")[:: len(merkle.EMPTY) // MARK_BYTES].tobytes()
        if marks and marks[start : start + len(own)] != own:
            return False
        places: dict[int, list[bytes]] = defaultdict(list)
        for time, hash_ in zip(group.times, hashes, strict=True):
            places[time].append(hash_)
        some: dict[int, tuple[_Minute, list[bytes]]] = {}
        for time, found in places.items():
            if (expected := self._expected(*divmod(time, MINUTE_UNIT))) is None:
                return False
            some.setdefault(id(expected), (expected, []))[1].extend(found)
        if any(each.is_done or len(each.hashes) + len(found) > each.rows for each, found in some.values()):
            return False
        for each, found in some.values():
            each.hashes += found
            self._complete(each)
        return True

    def _expected(self, minute: int, second: int) -> _Minute | None:
        found = self.minutes.get(minute, ())
        return next((each for each in found if each.first <= second < each.end), None)

    def _complete(self, expected: _Minute) -> None:
        """Compares the digest as soon as all rows are there: they need no more memory then."""
        if len(expected.hashes) < expected.rows:
            return
        if merkle.root(sorted(expected.hashes)) == expected.root:
            self.report.counts["rows"] += expected.rows
            self.report.counts["minutes"] += 1
        else:
            message = f"its {expected.rows} archived rows do not give its digest"
            self.report.tampered(CHECK, message, **expected.place)
        expected.is_done = True
        expected.hashes = []

    def _finish(self) -> None:
        for expected in (each for some in self.minutes.values() for each in some):
            if not expected.is_done and expected.rows and not self.is_damaged:
                message = f"the archive has {len(expected.hashes)} of its {counted(expected.rows, 'row')}"
                self.report.incomplete(CHECK, message, **expected.place)


def _find_unlisted(content: Files, found: Sequence[Day], report: Report) -> None:
    """An older document lists fewer files than there are."""
    listed = {file.path for day in found for part in day.parts for file in part.files}
    days = {(day.table, day.day) for day in found}
    for name in content.below(TABLES):
        parts = name.split("/")
        if name.endswith(".parquet") and name not in listed and (parts[1], parts[3][-10:]) in days:
            report.incomplete(CHECK, "the document of the day does not list this file", file=name)


def _note_uncovered(found: Sequence[Day], report: Report) -> None:
    for table in sorted({day.table for day in found} - set(COVERED)):
        rows = sum(day.rows for day in found if day.table == table)
        report.notes.append(
            f"{table}: {counted(rows, 'row is', 'rows are')} compared with the digests of the archive"
            " only, because the transparency log does not cover this table"
        )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _iso(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime(FORM)
