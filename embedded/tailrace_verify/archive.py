"""Verifies an archive offline: its files, its rows with the transparency log, and what it does not list.

The rows of each table and minute must give the digest of their leaf. Tables that the log does not cover are
compared with the digests of the archive itself; a note says so.
"""

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tailrace_verify import (
    archive_days,
    archive_ends,
    archive_lists,
    archive_spans,
    check,
    files,
    log,
)
from tailrace_verify.archive_day import CHECK, EVER, DayCheck
from tailrace_verify.archive_days import (
    DAYS,
    DELETED,
    DELETED_NAME,
    NAME,
    TABLES,
    Day,
    Deletion,
    DocumentError,
)
from tailrace_verify.check import Scope, moment
from tailrace_verify.files import Files
from tailrace_verify.findings import NOTED, Report
from tailrace_verify.leaves import RowsLeaf, VersionsLeaf
from tailrace_verify.plural import counted
from tailrace_verify.proven_days import ProvenDays
from tailrace_verify.trust import Trust

COVERED = ("query_events", "audit_events", "error_events")
"""Tables whose rows are in the transparency log."""


def is_archive(path: Path) -> bool:
    return (path / DAYS).is_dir() and (path / TABLES).is_dir()


def verify(root: Path, trust: Trust, scope: Scope | None = None, proven: ProvenDays | None = None) -> Report:
    """Verifies the days of an archive, by default all; `proven` are those that the auditor has proven before.

    Raises OSError.
    """
    report, proven = Report(), proven or ProvenDays()
    if importlib.util.find_spec("pyarrow") is None:
        report.undetermined(CHECK, "rows cannot be read without the package pyarrow; install it")
        return report
    with files.opened(root) as content:
        deleted = _deletions(content, scope, report)
        found = [day for day in _days(content, scope, report) if not _is_deleted(day, deleted)]
        proofs = _Proofs(content, replace(trust, seen=()), report)
        for day in found:
            until = deleted[day.table, day.day].until if (day.table, day.day) in deleted else EVER
            DayCheck(root, content, day, proofs.leaves(day), report, until, proven).run()
        days = {day for _, day in deleted}
        for folder in archive_spans.find_gaps(content, set(proofs.known), days, scope is None, report):
            proofs.examine(folder)
        proofs.compare(trust.seen)
        archive_ends.find_missing(proofs.versions.values(), found, deleted, scope or Scope(), report)
        archive_ends.check_coverage(proofs.newest, scope or Scope(), report)
        _find_unlisted(content, found, report)
        archive_lists.find_missing(found, deleted, proofs.known, COVERED, report)
        archive_lists.check_columns(root, content, found, report)
    report.about.update(
        {"archive": str(root), "days": len(found), "tables": sorted({d.table for d in found})}
    )
    _note_uncovered(found, report)
    _note_limits(proofs.newest, bool(trust.seen or (scope and scope.end)), report)
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
    versions: dict[int, VersionsLeaf] = field(default_factory=dict)
    """By the number of the leaf."""
    newest: archive_ends.Newest | None = None

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
        self.versions |= {leaf.index: leaf for leaf in held.versions}
        newest = archive_ends.newest(folder, found.about, held.rows.values())
        if self.newest is None or newest.leaves >= self.newest.leaves:
            self.newest = newest
            self.report.about = {**self.report.about, **found.about}
        return list(held.rows.values())

    def compare(self, seen: Sequence[bytes]) -> None:
        """Compares the newest proofs with the checkpoints that the auditor has."""
        if self.newest is None or not seen:
            return
        own = [self.content.read(f"{folder}/{log.CHECKPOINT}") or b"" for folder in self.known]
        rest = [each for each in seen if not archive_ends.is_one_of(each, own)]
        later = [each for each in rest if archive_ends.is_later(each, self.newest)]
        trust = replace(self.trust, seen=tuple(each for each in rest if each not in later))
        found, _ = check.examine(self.content.under(f"{self.newest.folder}/"), trust)
        for each in found.findings:
            if each.check in (log.CHECK, log.CONSISTENCY):
                self.report.add(each.status, each.check, each.message, **each.place)
        for each in later:
            archive_ends.compare_later(each, self.newest, self.trust, self.report)


def _find_unlisted(content: Files, found: Sequence[Day], report: Report) -> None:
    """An older document lists fewer files than there are."""
    listed = {file.path for day in found for part in day.parts for file in part.files}
    days = {(day.table, day.day) for day in found}
    for name in content.below(TABLES):
        parts = name.split("/")
        if name.endswith(".parquet") and name not in listed and (parts[1], parts[3][-10:]) in days:
            report.incomplete(CHECK, "the document of the day does not list this file", file=name)


def _note_limits(newest: archive_ends.Newest | None, is_limited: bool, report: Report) -> None:
    """Notes what was not compared: newer days, and the rows of days that the auditor has proven.

    `is_limited`: the auditor has a checkpoint or the end of a period."""
    if newest and not is_limited:
        how = "state a period or a checkpoint to find newer days that are gone"
        report.notes.append(f"the proofs end at {newest.reached}: {how}")
    if rows := report.counts["rows that you have proven before"]:
        which = counted(rows, "row is of a day", "rows are of days")
        report.notes.append(f"{which} that you have proven before: only the bytes of files were compared")


def _note_uncovered(found: Sequence[Day], report: Report) -> None:
    for table in sorted({day.table for day in found} - set(COVERED)):
        rows = sum(day.rows for day in found if day.table == table)
        report.notes.append(
            f"{table}: {counted(rows, 'row is', 'rows are')} compared with the digests of the archive"
            " only, because the transparency log does not cover this table"
        )
