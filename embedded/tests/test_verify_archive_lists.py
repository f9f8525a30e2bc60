"""An archive that lists fewer tables or days than its proofs is incomplete."""

from tailrace_verify import archive_lists
from tailrace_verify.archive_days import Day, Part
from tailrace_verify.findings import NOTED, Report, Status
from tailrace_verify.leaves import RowsLeaf

FOLDER = "proofs/2026-11-28/aa"
COVERED = ("query_events", "audit_events")


def day(table: str, name: str = "2026-11-28", folder: str = FOLDER) -> Day:
    part = Part("aa", (f"{name}T00:00:00Z", f"{name}T23:00:00Z"), 1, {}, [], [], proofs=folder)
    return Day(table, name, "event_time", False, [part])


def leaf(table: str, hour: int, minute_of: str = "2026-11-28") -> RowsLeaf:
    times = [f"2026-11-28T{hour:02}:01:00Z", f"2026-11-28T{hour:02}:02:00Z"]
    return RowsLeaf(0, table, f"{minute_of}T{min(hour, 22):02}:00:00Z", 1, 5, b"", (), times)


def found(days: list[Day], deleted: set[tuple[str, str]], *leaves: RowsLeaf) -> list[tuple[Status, str]]:
    report = Report()
    archive_lists.find_missing(days, deleted, {FOLDER: leaves}, COVERED, report)
    return [(each.status, each.message) for each in report.findings]


def test_a_table_of_a_day_is_missing():
    days = [day("query_events"), day("audit_events", "2026-11-27", "proofs/2026-11-27/aa")]
    leaves = (leaf("audit_events", 9), leaf("audit_events", 10), leaf("query_events", 9))
    assert found(days, set(), *leaves) == [(Status.INCOMPLETE, "10 recorded rows are not in the archive")]


def test_deleted_days_later_rows_and_other_days_are_not_missing():
    days = [day("query_events"), day("audit_events", "2026-11-27", "proofs/2026-11-27/aa")]
    assert found(days, {("audit_events", "2026-11-28")}, leaf("audit_events", 9)) == []
    assert found(days, set(), leaf("audit_events", 23), leaf("audit_events", 9, "2026-11-29")) == []


def test_a_table_that_is_never_archived_is_noted():
    ((status, message),) = found([day("query_events")], set(), leaf("audit_events", 9))
    assert (status, message) == (NOTED, "5 recorded rows are not in the archive, as no other of its table")


def test_an_archive_without_days_is_incomplete():
    assert found([], set()) == [(Status.INCOMPLETE, "the archive lists no day of the period")]
    assert found([], {("query_events", "2026-11-28")}) == []
