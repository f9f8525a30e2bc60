"""Verifies the rows of one archived day with the leaves of the log, or with the digests of the archive.

The rows of a day that the auditor has proven before, with the same leaves, document and bytes of files, are
not read again.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tailrace_verify import merkle
from tailrace_verify import rows as canonical_rows
from tailrace_verify.archive_days import MINUTE_UNIT, ArchivedFile, Day, Part
from tailrace_verify.check import FORM, moment
from tailrace_verify.files import Files
from tailrace_verify.findings import Report
from tailrace_verify.leaves import RowsLeaf
from tailrace_verify.plural import counted
from tailrace_verify.proven_days import ProvenDays

CHECK = "archive"
MARK_BYTES = 4
CHUNK = 1 << 20
ALWAYS = 1 << 62
EVER, NEVER = "1970-01-01T00:00:00Z", "9999-01-01T00:00:00Z"


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
class DayCheck:
    """Verifies one table and day."""

    root: Path
    content: Files
    day: Day
    leaves: Sequence[RowsLeaf] | None
    report: Report
    deleted_until: str
    """Rows that were stored before this time were deleted."""
    proven: ProvenDays
    is_damaged: bool = False
    """Whether a file is reported: minutes without all rows are then its consequence."""
    minutes: dict[int, list[_Minute]] = field(default_factory=lambda: defaultdict(list))

    def run(self) -> None:
        self._expect_leaves()
        before = sum(self.report.found.values())
        digest = self._digest() if self.proven.are_kept else ""
        if digest in self.proven:
            self._count_proven()
            return
        self._verify()
        if sum(self.report.found.values()) == before:
            self.proven.add(digest)

    def _digest(self) -> str:
        """Returns the digest of the day with the SHA-256 of each file, as it is now."""
        paths = [self.root / file.path for part in self.day.parts for file in part.files]
        sums = [_sha256(path) if path.is_file() else "" for path in paths]
        return self.proven.digest(self.day, self.leaves, self.deleted_until, sums)

    def _count_proven(self) -> None:
        parts = self.day.parts
        minutes = [each for some in self.minutes.values() for each in some if each.rows]
        rows = self.day.rows if self.leaves is None else sum(each.rows for each in minutes)
        self.report.counts["rows"] += rows
        self.report.counts["minutes"] += len(minutes) or sum(len(part.minutes) for part in parts)
        self.report.counts["files"] += sum(len(part.files) for part in parts)
        self.report.counts["rows that you have proven before"] += rows

    def _verify(self) -> None:
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


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _iso(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime(FORM)
