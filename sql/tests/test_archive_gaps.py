"""Days that somebody deleted from an archive together with their proofs are missing."""

import shutil
import time as time_of_day
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest
from archive_rows import DAY, NEXT_DAY, insert_query_events
from test_archive import KEY, ORIGIN, ROWS, TRUST, at, home, run

from tailrace.archive.location import Location
from tailrace.transparency.collector import Collector
from tailrace.transparency.log import TransparencyLog
from tailrace.verification import live
from tailrace_verify import archive
from tailrace_verify.check import Scope
from tailrace_verify.findings import Report, Status

__all__ = ["at", "home"]
EARLIER = [DAY - timedelta(days=each) for each in (2, 1, 0)]


def start(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


@pytest.fixture
def archived(admin, at, home, user) -> Callable[[Sequence[date]], None]:
    """Archives days; the log records afterwards that they were archived."""
    log = TransparencyLog(home / "transparency", ORIGIN, KEY)
    (home / "transparency" / "log.vkey").write_text(TRUST.log.vkey())

    def append(until: datetime, *tables: str) -> None:
        collector = Collector(user("auditor"), log.store, home / "hosts.json", tables)
        collector.until = lambda: int(until.timestamp())
        log.append(collector.collect())
        log.publish(log.signed())

    def archive_days(days: Sequence[date]) -> None:
        for day in days:
            insert_query_events(admin, ROWS, day)
        append(start(days[-1]) + timedelta(days=1, minutes=5), "query_events")
        run(admin, at, home)
        recorded = datetime.now(UTC) + timedelta(seconds=1)
        append(recorded)
        while datetime.now(UTC).replace(microsecond=0) < recorded:
            time_of_day.sleep(0.05)  # rows of the same second would be behind the position of the log

    return archive_days


def delete(at: Location, *days: date) -> None:
    root = Path(at.root)
    for day in days:
        (root / "days" / "query_events" / f"{day}.json").unlink()
        shutil.rmtree(root / "proofs" / str(day))
        shutil.rmtree(root / "tables" / "query_events" / "data" / f"event_time_day={day}")


def offline(at: Location, end: date | None = None, *seen: bytes) -> Report:
    scope = Scope(None, start(end)) if end else None
    return archive.verify(Path(at.root), replace(TRUST, seen=seen), scope)


def incomplete(report: Report) -> list[tuple[object, str]]:
    assert report.verdict is Status.INCOMPLETE
    return [(each.place.get("day"), each.message) for each in report.findings]


def test_days_between_others(archived, at):
    archived(EARLIER)
    assert (offline(at).verdict, offline(at).findings) == (Status.PROVEN, [])
    delete(at, EARLIER[1])
    located = [message for _, message in incomplete(offline(at)) if "days between" in message]
    assert len(located) == 1
    assert f"between {EARLIER[0]} and {EARLIER[2]} were deleted" in located[0]


def test_the_oldest_days_are_missing_by_the_record_of_the_log(archived, at, admin, user, home):
    archived(EARLIER)
    archived([NEXT_DAY])
    assert offline(at).findings == []
    delete(at, *EARLIER[:2])
    gap, *records = incomplete(offline(at))
    assert f"days before {EARLIER[2]} were deleted" in gap[1]
    missing = f"{ROWS} archived rows that the log records are missing"
    assert records == [(str(day), missing) for day in EARLIER[:2]]

    admin.execute(f"ALTER TABLE tailrace.archived_days DELETE WHERE day = '{DAY}'", mutations_sync=2)
    found, *others = live.verify(user("auditor"), home, TRUST, None, {}).findings
    assert others == []
    assert (found.status, found.message) == (Status.TAMPERED, f"the row query_events/{DAY} was deleted")


def test_the_newest_days_are_missing_from_a_period_and_for_a_later_checkpoint(archived, at, home):
    archived(EARLIER)
    archived([NEXT_DAY])
    newest = next(Path(at.root, "proofs", str(NEXT_DAY)).rglob("checkpoint")).read_bytes()
    after = NEXT_DAY + timedelta(days=1)
    assert offline(at, after, newest).findings == []
    delete(at, NEXT_DAY)
    assert offline(at).findings == [], "this is the archive of the day before"
    assert offline(at, NEXT_DAY).findings == []
    (coverage,) = incomplete(offline(at, after))
    assert coverage[0] == str(NEXT_DAY)
    (older,) = offline(at, None, newest).findings
    assert (older.status, older.place["day"]) == (Status.UNDETERMINED, str(NEXT_DAY))
    assert "leaves after its newest proofs" in older.message
