"""Tests what the ledger, evidence and the page of an alert show of a lost byte range, open and filled."""

import re
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from entity_rows import Store
from ledger_fixture import LedgerRows, minutes_ago

from tailrace.clickhouse.query_files import text_of
from tailrace.evidence import framework
from tailrace_pages.alerts import gaps

LOST_AT, FILLED_AT = minutes_ago(90), minutes_ago(80)
BEGAN = LOST_AT - timedelta(hours=20)
"""The time of the first record: the log was read hours after it was written."""


def file() -> LedgerRows:
    """Entries 0 to 299 and 500 to 699 of a file, a minute each, and a gap between them."""
    rows = LedgerRows(at=LOST_AT).read(3).post("GAP", 300, 500, detail="lost").read(2, begin=500)
    return with_times(rows)


def with_times(rows: LedgerRows) -> LedgerRows:
    for event in rows.events:
        minute = BEGAN.replace(second=0) + timedelta(minutes=event["entry_offset"] // 100)
        event["event_time"] = f"{minute:%Y-%m-%d %H:%M:%S.%f}"
    return rows


def filled(rows: LedgerRows, end: int) -> LedgerRows:
    """Fills the gap until `end`, as the framer posts it: it takes the gap back, and posts the rest."""
    rows.at = FILLED_AT
    rows.post("GAP", 300, 500, count=-1, amount=-200, detail="lost")
    if end < 500:
        rows.post("GAP", end, 500, detail="lost")
    return with_times(rows.read((end - 300) // 100, begin=300))


def minute(number: int) -> str:
    return f"{BEGAN.replace(second=0) + timedelta(minutes=number):%Y-%m-%d %H:%M:%S}"


RANGE = ((LOST_AT - timedelta(days=1)).isoformat(), LOST_AT.isoformat())
STATES = {
    "missing": (300, 200, minute(2), minute(6), None),
    "repaired in part": (400, 100, minute(2), minute(6), f"{FILLED_AT:%Y-%m-%d %H:%M:%S}"),
    "repaired": (500, 0, minute(3), minute(5), f"{FILLED_AT:%Y-%m-%d %H:%M:%S}"),
}
"""State → filled until, missing bytes, first and last minute of the log, time of the backfill."""


@pytest.mark.parametrize("state", STATES)
def test_a_gap_is_one_row_with_its_minutes_and_its_repair(admin, user, rendered, state):
    end, missing, first, last, repaired = STATES[state]
    (file() if end == 300 else filled(file(), end)).store(admin)

    period = {"from": f"{LOST_AT - timedelta(minutes=1):%Y-%m-%d %H:%M:%S}"}
    (found,) = user("auditor").rows(framework.result("gaps").statement(), period)
    assert (found["what"], found["state"]) == ("lost", state)
    assert (found["length_bytes"], found["missing_bytes"]) == (200, missing)
    assert (found["log_from"], found["log_to"], found["repaired_at"]) == (first, last, repaired)
    period["to"] = f"{FILLED_AT + timedelta(minutes=1):%Y-%m-%d %H:%M:%S}"
    (bytes_of_log,) = user("auditor").rows(framework.result("log_integrity").statement(), period)
    assert (bytes_of_log["bytes_lost"], bytes_of_log["bytes_filled_again"]) == (200, 200 - missing)
    (shown,) = user("reader_developer").rows(rendered("gaps", *RANGE))
    assert (shown["state"], shown["missing_bytes"], shown["repaired_at"]) == (state, missing, repaired)


def test_a_dashboard_shows_a_loss_at_the_times_of_its_lines_its_recording_and_its_backfill(
    admin, user, rendered
):
    filled(file(), 500).store(admin)

    def shown(since: datetime, until: datetime) -> list[dict]:
        """Returns what Superset shows: it filters `at` by the range."""
        ends = since.isoformat(), until.isoformat()
        within = f"at >= '{since:%Y-%m-%d %H:%M:%S}' AND at < '{until:%Y-%m-%d %H:%M:%S}'"
        return user("reader_compliance").rows(
            f"SELECT * FROM ({rendered('coverage_gaps', *ends)}) WHERE {within}"
        )

    hour = timedelta(hours=1)
    lines, recorded = BEGAN + timedelta(minutes=3), LOST_AT
    assert len(shown(lines - hour, lines + hour)) == 1, "the lost lines"
    assert len(shown(recorded - timedelta(minutes=5), recorded + timedelta(minutes=5))) == 1, "the recording"
    assert len(shown(FILLED_AT - timedelta(minutes=5), FILLED_AT + timedelta(minutes=5))) == 1, "the backfill"
    assert shown(lines + hour, lines + 2 * hour) == [], "none of them"
    assert shown(lines - 3 * hour, lines - 2 * hour) == []


def test_bytes_that_a_log_lost_before_it_moved_to_another_cluster_count_once(admin, user):
    """The new name sorts before the old one: the greatest name is not the last one."""
    rows = file()
    rows.cluster = "archive"
    filled(rows, 400).store(admin)

    period = {"from": f"{LOST_AT - timedelta(minutes=1):%Y-%m-%d %H:%M:%S}"}
    (gap,) = user("auditor").rows(framework.result("gaps").statement(), period)
    period["to"] = f"{FILLED_AT + timedelta(minutes=1):%Y-%m-%d %H:%M:%S}"
    (of_log,) = user("auditor").rows(framework.result("log_integrity").statement(), period)
    assert (of_log["cluster"], gap["cluster"]) == ("archive", "archive")
    assert (of_log["entries"], of_log["bytes_lost"], of_log["bytes_filled_again"]) == (6, 200, 100)


def test_a_repair_in_the_period_of_an_earlier_loss_is_evidence(admin, user):
    filled(file(), 500).store(admin)
    for since, rows in ((LOST_AT + timedelta(minutes=1), 1), (FILLED_AT + timedelta(minutes=1), 0)):
        period = {"from": f"{since:%Y-%m-%d %H:%M:%S}"}
        assert len(user("auditor").rows(framework.result("gaps").statement(), period)) == rows


@pytest.fixture
def shown(user):
    """Returns the sentence of the page of the alert about the gap."""

    class Rows(Store):
        def row(self, query: str, **parameters):
            return next(iter(self.rows(query, **parameters)), None)

    known = {"source": "slowlog", "log": "/log/slow.log", "generation": "1"}
    known |= {"from_offset": "300", "to_offset": "500"}
    alert = {"instance": "db1", "facts": known, "window_from": LOST_AT, "event_time": LOST_AT}
    return lambda: gaps.read(Rows(user("reader_security")), alert, has_evidence=True)


def test_the_page_of_the_alert_says_that_the_gap_was_repaired(admin, shown):
    assert shown() is None, "the ledger has no such range"
    file().store(admin)
    assert shown().text.startswith("200 lost bytes are still missing.") and not shown().is_repaired
    filled(LedgerRows(at=LOST_AT), 500).store(admin)
    assert shown().is_repaired
    assert shown().text == (
        f"200 lost bytes were shipped again, the last of them at {FILLED_AT:%Y-%m-%d %H:%M:%S} UTC. "
        f"No byte is missing any more. They are of the minutes {minute(3)[:16]} to {minute(5)[:16]} UTC "
        "of the log."
    )
    assert set(shown().addresses) == {"Gaps by file", "Evidence of lost bytes"}


def test_the_page_of_the_alert_reads_its_file_and_not_the_whole_ledger(admin):
    for rows in (file(), LedgerRows("db2", at=LOST_AT).post("GAP", 300, 500, detail="lost")):
        rows.store(admin)
    (ranges,) = re.findall(r"WITH\n    \(\n(.*?)\n    \) AS range_rows", text_of("page_alert_gap"), re.DOTALL)
    given = {"instance": "db1", "source": "slowlog", "log": "/log/slow.log"}
    given |= {"generation": 1, "from_offset": 300, "to_offset": 500}
    plan = "\n".join(row["explain"] for row in admin.rows(f"EXPLAIN indexes = 1 {ranges}", given))
    assert "(instance, source, log, generation) in 1-element set" in plan


def test_other_alerts_have_no_range():
    alert = {"instance": "db1", "facts": {"log": "/log/slow.log"}}
    assert gaps.read(SimpleNamespace(), alert, has_evidence=False) is None
