"""Days are deleted from the archive by a named person after their retention, and by nobody else unnoticed."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from archive_rows import DAY, NEXT_DAY, hostile_rows, insert_other_tables, insert_query_events
from pyiceberg.io.pyarrow import PyArrowFile
from test_archive import KEY, ORIGIN, TRUST, KilledError, offline, verified

from tailrace.archive import days, location, service, tables
from tailrace.archive.deletion import Deleter, Order, Rules
from tailrace.archive.location import Location
from tailrace.archive.source import seconds as seconds_of
from tailrace.archive.warehouse import Warehouse
from tailrace.clickhouse.client import ClickHouse
from tailrace.migrations.lock import LockLostError
from tailrace.migrations.retention import load_retention
from tailrace.retention import archive, holds, overview, record, selectors
from tailrace.retention.overview import Policy
from tailrace.transparency.collector import Collector
from tailrace.transparency.log import TransparencyLog
from tailrace_pages.retention import listing
from tailrace_verify.findings import Report, Status

ROWS = 200
OVER = NEXT_DAY + timedelta(days=3)
"""A day on which the retention of the tests is over for DAY."""
ONLINE = {table.name: 2 for table in tables.TABLES}
QUERY, AUDIT, LEDGER = (tables.BY_NAME[name] for name in ("query_events", "audit_events", "ledger"))
WITH_ROWS = {"query_events", "audit_events", "ledger"}
ORDER = Order("7" * 32, "ines", "retention is over")


@pytest.fixture
def at(admin: ClickHouse, user, tmp_path: Path) -> Iterator[Location]:
    """An archive with one day of three tables, and with proofs."""
    insert_query_events(admin, ROWS)
    insert_other_tables(admin)
    log = TransparencyLog(tmp_path / "transparency", ORIGIN, KEY)
    (tmp_path / "transparency" / "log.vkey").write_text(TRUST.log.vkey())
    log.append(Collector(user("auditor"), log.store, tmp_path / "hosts.json").collect())
    log.publish(log.signed())
    found = location.opened(str(tmp_path / "archive"))
    assert archived(admin, found, tmp_path) == WITH_ROWS
    yield found
    admin.execute("TRUNCATE TABLE tailrace.legal_hold_actions SYNC")
    admin.execute("TRUNCATE TABLE tailrace.archived_days SYNC")


def archived(admin: ClickHouse, at: Location, home: Path) -> set[str]:
    """Archives the closed days of three tables; returns the tables with new rows, which are verified."""
    task = service.Task(admin, at, home, lambda _: None)
    days_ = list(task.run(NEXT_DAY + timedelta(days=1), (QUERY, AUDIT, LEDGER)))
    assert all(is_good for _, is_good in days_)
    return {day.table for day, _ in days_}


@pytest.fixture
def deleter(user, at) -> Callable[..., Deleter]:
    """Makes a deleter; by default the retention of DAY is over."""

    def make(today: date = OVER, frameworks: tuple[str, ...] = (), **more) -> Deleter:
        return Deleter(user("admin"), user("auditor"), at, Rules(ONLINE, frameworks, today), **more)

    return make


def delete(deleter: Deleter, *chosen: tables.ArchivedTable) -> list[str]:
    """Deletes the day; returns the tables of which it was deleted."""
    deleter.finish()
    found = deleter.candidates(DAY, NEXT_DAY, chosen or tables.TABLES)
    return [each.table for each in deleter.delete(found, ORDER)]


def notes(report: Report) -> list[str]:
    assert report.verdict is Status.PROVEN, report.findings
    return [f"{each.place.get('table')} {each.message}" for each in report.findings]


def test_a_day_stays_as_long_as_its_table_and_each_framework_demand():
    """The last row of a day expires a day later than the first one."""
    day = date(2025, 1, 1)
    for table, frameworks, kept, reason in (
        ("audit_events", ("gdpr",), 1 + 2, "ClickHouse keeps its rows until 2025-01-04"),
        ("audit_events", ("pci", "gdpr"), 1 + 365, "kept until 2026-01-02: PCI DSS 4.0.1, 10.5.1"),
        ("audit_events", ("pci", "hipaa"), 1 + 2192, "kept until 2031-01-03: HIPAA Security Rule"),
        ("query_events", ("pci", "hipaa", "gdpr"), 1 + 2, "ClickHouse keeps its rows"),
    ):
        before, after = day + timedelta(days=kept - 1), day + timedelta(days=kept)
        assert reason in list(Rules(ONLINE, frameworks, before).reasons(table, day))[-1]
        assert list(Rules(ONLINE, frameworks, after).reasons(table, day)) == []


def test_a_deleted_day_is_deleted_by_a_person_and_the_other_tables_stay_provable(
    deleter, at, admin, user, tmp_path
):
    (candidate,) = deleter(NEXT_DAY).candidates(DAY, NEXT_DAY, [QUERY])
    assert (candidate.rows, list(candidate.reasons)) == (
        ROWS,
        [f"ClickHouse keeps its rows until {DAY + timedelta(days=3)}"],
    )
    assert delete(deleter(NEXT_DAY)) == [], "the retention is not over"
    assert delete(deleter(), QUERY) == ["query_events"]

    said = f"{ROWS} rows were deleted by ines on "
    assert [said in note for note in notes(verified(admin, at))] == [True]
    assert [said in note for note in notes(offline(at))] == [True]
    assert offline(at).counts["rows"] == 2, "the other tables of the day share its proofs"
    assert not [name for name in at.names("tables/query_events") if name.endswith((".parquet", ".marks"))]
    assert Warehouse(at).files("query_events") == {}
    assert days.states(admin, at)["query_events", str(DAY)]["state"] == days.DELETED

    assert archived(admin, at, tmp_path) == set(), "rows that ClickHouse still has are not archived again"
    times = {"query_events": "toDateTime(event_time)"}
    assert archive.caps(admin, times, OVER) == {"query_events": OVER}, "no row waits for a deleted day"

    assert {*delete(deleter())} == WITH_ROWS - {"query_events"}
    assert (at.names("proofs"), at.names("days")) == ([], [])
    assert len(notes(offline(at))) == len(notes(verified(admin, at))) == len(WITH_ROWS)
    recorded = record.summaries(record.listed(user("reader_compliance")))
    assert {(each.table, each.recorded.actor) for each in recorded} == {(name, "ines") for name in WITH_ROWS}
    shown = listing.deletion_rows(record.listed(user("reader_compliance")))
    assert {(row["what"], row["first"], row["last"], row["by"]) for row in shown} == {
        ("Deletion from the archive", str(DAY), str(DAY), "ines")
    }
    lines = overview.lines(user("reader_compliance"), Policy(load_retention(), times, tuple(times)), [])
    (text,) = (line.archive for line in lines if line.table == "query_events")
    assert "1 day deleted, the last by ines on " in text


def test_rows_that_come_after_the_deletion_are_archived_and_only_these(
    deleter, at, admin, user, tmp_path, monkeypatch
):
    chosen = [QUERY]
    earlier = at.read(days.archive_days.file_name("query_events", str(DAY)))
    delete(deleter(), QUERY)
    until = seconds_of(DAY)
    stored = f"{NEXT_DAY} 20:00:00"
    deletion = days.read_deletion(at, "query_events", str(DAY))
    name = days.archive_days.file_name("query_events", str(DAY), days.archive_days.DELETED)
    at.write(name, replace(deletion, until=f"{NEXT_DAY}T10:00:00Z").encoded())
    monkeypatch.setattr(service.Archiver, "_until", lambda *_: until + 60 * 3600)
    admin.insert("tailrace.query_events", [{**hostile_rows()[0], "ingested_at": stored}])
    task = service.Task(admin, at, tmp_path, lambda _: None)
    assert [(day.rows, is_good) for day, is_good in task.run(NEXT_DAY, chosen)] == [(1, True)]
    assert len(notes(verified(admin, at))) == 1
    listed = days.archive_days.file_name("query_events", str(DAY))
    later = at.read(listed)
    for lost in (lambda: at.delete(listed), lambda: at.write(listed, earlier)):
        lost()
        report = verified(admin, at)
        missing = [each.message for each in report.findings if each.status is Status.INCOMPLETE]
        assert missing == ["1 archived row is missing"], "the deletion was that of other rows"
        assert ["that were archived after it" in each.reason for each in deleter().finish()] == [True]
        assert days.states(admin, at)["query_events", str(DAY)]["state"] == days.VERIFIED
    at.write(listed, later)
    details = {"table": "query_events", "day": str(DAY), "rows": 1, "document": "0" * 64}
    record.append(user("auditor"), record.DELETE_ARCHIVE, "ines", "over", [details], "8" * 32)
    assert len(notes(verified(admin, at))) == 1, "a second deletion ended before it wrote its document"
    assert delete(deleter(), QUERY) == ["query_events"]
    assert len(notes(verified(admin, at))) == 1


def test_neither_held_nor_unreadable_days_are_deleted(deleter, at, user):
    holds.place(user("auditor"), "case 7", selectors.parse(f"instance:db-1 to:{DAY}"), "ines", "a letter")
    held = {each.table for each in deleter().candidates(DAY, NEXT_DAY) if each.reasons}
    assert {"query_events", "audit_events", "ledger"} <= held
    found = [replace(each, reasons=()) for each in deleter().candidates(DAY, NEXT_DAY)]
    assert not {each.table for each in deleter().delete(found, ORDER)} & held, "a hold that came meanwhile"
    (hold,) = holds.listed(user("auditor"))
    for actor in ("ines", "omar"):
        holds.release(user("auditor"), hold.id, actor, "closed")

    name = days.archive_days.file_name("audit_events", str(DAY))
    at.write(name, b"{}")
    reasons = {each.table: each.reasons for each in deleter().candidates(DAY, NEXT_DAY)}
    assert reasons["query_events"] == [f"{name} cannot be read: its rows may need the proofs of the day"]


def test_an_interrupted_deletion_neither_breaks_a_hold_nor_outlives_its_lock_nor_trusts_its_document(
    deleter, at, admin, user, monkeypatch
):
    with monkeypatch.context() as patched, pytest.raises(KilledError):
        patched.setattr(Warehouse, "remove", killed)
        delete(deleter(), QUERY)
    before, auditor = at.names(""), user("auditor")
    id_ = holds.place(auditor, "case 8", selectors.parse(f"instance:db-1 to:{DAY}"), "ines", "a letter")
    (left,) = deleter().finish()
    assert (at.names(""), left.table, left.day) == (before, "query_events", str(DAY))
    assert "a legal hold" in left.reason
    for actor in ("ines", "omar"):
        holds.release(auditor, id_, actor, "closed")
    with pytest.raises(LockLostError):
        deleter(require_lock=lock_lost).finish()
    assert at.names("") == before

    name = days.archive_days.file_name("query_events", str(DAY), days.archive_days.DELETED)
    genuine = days.read_deletion(at, "query_events", str(DAY))
    for forged, reason in forgeries(genuine, [path for path in before if "/audit_events/data/" in path]):
        at.write(name, forged)
        (left,) = deleter().finish()
        assert (reason in left.reason, at.names("")) == (True, before), forged
    other = days.archive_days.file_name("audit_events", str(DAY), days.archive_days.DELETED)
    at.write(other, replace(genuine, table="audit_events").encoded())
    at.write(name, genuine.encoded())
    assert days.states(admin, at)["query_events", str(DAY)]["state"] == days.VERIFIED
    found = {each.table: each.reason for each in deleter().finish()}
    assert ("nobody recorded it" in found["audit_events"], found["query_events"]) == (True, "")
    assert days.states(admin, at)["query_events", str(DAY)]["state"] == days.DELETED
    assert days.states(admin, at)["audit_events", str(DAY)]["state"] == days.VERIFIED


def killed(*_: object) -> None:
    raise KilledError


def lock_lost() -> None:
    raise LockLostError("the lock ended")


def forgeries(genuine: days.Deletion, others: list[str]) -> Iterator[tuple[bytes, str]]:
    """Yields documents that must delete nothing; `others` are files of another table."""
    for changes in (
        {"id": "8" * 32},
        {"document": "0" * 64},
        {"files": others},
        {"files": [f"{genuine.files[0]}/../../audit_events/data"]},
        {"table": "audit_events"},
    ):
        yield replace(genuine, **changes).encoded(), "nobody recorded it"
    yield b"{}", "malformed"


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.long), 4])
def test_a_deletion_is_repeated_after_a_kill_at_any_write(deleter, at, admin, monkeypatch, step):
    number, kills = 1, 0
    chosen = (QUERY, AUDIT)
    while True:
        left = [number]

        def count(function: Callable, left: list[int] = left) -> Callable:
            def counted(*arguments, **more):
                left[0] -= 1
                if left[0] == 0:
                    raise KilledError
                return function(*arguments, **more)

            return counted

        with monkeypatch.context() as patched:
            for owner, name in (
                (Location, "written"),
                (Location, "delete"),
                (PyArrowFile, "create"),
                (days, "record_deleted"),
                (record, "append"),
            ):
                patched.setattr(owner, name, count(getattr(owner, name)))
            try:
                delete(deleter(), *chosen)
                break
            except KilledError:
                kills += 1
        for report in (verified(admin, at), offline(at)):
            assert report.verdict is Status.PROVEN, (number, report.findings)
        number += step
    assert kills > 1
    listed = {path for table in tables.TABLES for path in Warehouse(at).files(table.name)}
    assert {name for name in at.names("tables") if name.endswith(".parquet")} == listed
    assert not [path for path in listed if "query_events" in path or "audit_events" in path]
    assert days.states(admin, at)["query_events", str(DAY)]["state"] == days.DELETED


def test_a_deletion_that_nobody_recorded_is_no_deletion(deleter, at, admin):
    delete(deleter(), QUERY)
    name = days.archive_days.file_name("query_events", str(DAY), days.archive_days.DELETED)
    document = at.read(name)
    at.delete(name)
    assert "were deleted by ines" in notes(verified(admin, at))[0], "the record is that of ClickHouse"
    at.write(name, document.replace(b"ines", b"omar").replace(b"777", b"888"))
    report = verified(admin, at)
    assert (report.verdict, "nobody recorded" in report.findings[0].message) == (Status.TAMPERED, True)
    at.delete(name)
    admin.execute("TRUNCATE TABLE tailrace.legal_hold_actions SYNC")
    report = verified(admin, at)
    assert (report.verdict, report.findings[0].message) == (
        Status.INCOMPLETE,
        f"{ROWS} archived rows are missing",
    )
