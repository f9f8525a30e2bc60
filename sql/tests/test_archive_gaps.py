"""A day that somebody deleted from an archive together with its proofs leaves a gap in the log's leaves."""

import shutil
from datetime import timedelta
from pathlib import Path

from archive_rows import DAY, insert_query_events
from test_archive import KEY, ORIGIN, ROWS, TRUST, at, home, offline, run

from tailrace.transparency.collector import Collector
from tailrace.transparency.log import TransparencyLog
from tailrace_verify.findings import Status

__all__ = ["at", "home"]


def test_a_day_that_was_deleted_with_its_proofs_is_missing(admin, at, home, user):
    days_ = [DAY - timedelta(days=each) for each in (2, 1, 0)]
    for day in days_:
        insert_query_events(admin, ROWS, day)
    log = TransparencyLog(home / "transparency", ORIGIN, KEY)
    (home / "transparency" / "log.vkey").write_text(TRUST.log.vkey())
    log.append(Collector(user("auditor"), log.store, home / "hosts.json").collect())
    log.publish(log.signed())
    run(admin, at, home)
    assert (offline(at).verdict, offline(at).findings) == (Status.PROVEN, [])
    root = Path(at.root)
    (root / "days" / "query_events" / f"{days_[1]}.json").unlink()
    shutil.rmtree(root / "proofs" / str(days_[1]))
    shutil.rmtree(root / "tables" / "query_events" / "data" / f"event_time_day={days_[1]}")
    report = offline(at)
    located = [each for each in report.findings if "days between" in each.message]
    assert (report.verdict, len(located)) == (Status.INCOMPLETE, 1)
    assert f"between {days_[0]} and {days_[2]} were deleted" in located[0].message
