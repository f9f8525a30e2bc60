"""Tests the queries of the page Evidence: minutes without audit, and the pages of every result."""

from datetime import UTC, datetime, timedelta

import pytest

from tailrace.clickhouse.query_files import QUERIES
from tailrace.evidence import framework
from tailrace.evidence.parameters import parameters
from tailrace.evidence.period import Period
from tailrace_pages import queries
from tailrace_pages.evidence import rows

MINUTES = 180
FIRST = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=3)
PERIOD = Period(FIRST, FIRST + timedelta(minutes=MINUTES))
WATCHED_SINCE = 60
UNSEEN = range(100, 110)
LOST = 120
LINE = 100
"""Growth of the log per minute in bytes."""


def at(minute: float) -> str:
    return f"{FIRST + timedelta(minutes=minute):%Y-%m-%d %H:%M:%S.%f}"


def ledger(instance: str, source: str) -> list[dict]:
    """Returns the postings of a log that grows every minute since it is watched."""
    file = {"cluster": "shop", "instance": instance, "source": source, "log": "/a.log", "generation": 1}
    end = LINE * (MINUTES + 5)
    lost = {"from_offset": LINE * (LOST + 2), "to_offset": LINE * (LOST + 3), "bytes": LINE, "count": 1}
    return [
        *(
            {**file, "kind": "CENSUS", "inode": 7, "size": LINE * (minute + 3), "at": at(minute + 0.5)}
            for minute in range(WATCHED_SINCE, MINUTES + 2)
            if minute not in UNSEEN
        ),
        {**file, "kind": "FRONTIER", "inode": 7, "from_offset": end, "to_offset": end, "at": at(MINUTES)},
        {**file, "kind": "GAP", "detail": "lost", **lost, "at": at(LOST + 1)},
    ]


def test_minutes_without_audit_are_those_of_the_evidence(stored, user):
    stored("ledger", *ledger("db1", "audit"), *ledger("db2", "slowlog"))
    auditor = user("reader_compliance")
    (found,) = auditor.rows(queries.text_of("page_evidence_coverage"), PERIOD.parameters())
    assert found == {
        "cluster": "shop",
        "instance": "db1",
        "source": "audit",
        "log": "/a.log",
        "missing": 1,
        "behind": 0,
        "unknown": WATCHED_SINCE + len(UNSEEN),
        "watched": MINUTES - WATCHED_SINCE - len(UNSEEN),
        "minutes": MINUTES,
    }
    minutes: dict[str, int] = {}
    for row in auditor.rows(framework.result("coverage").statement(), PERIOD.parameters()):
        if row["instance"] == "db1":
            minutes[row["state"]] = minutes.get(row["state"], 0) + row["minutes"]
    assert (minutes["missing"], minutes["unknown"]) == (found["missing"], found["unknown"])
    assert sum(minutes.values()) == found["minutes"]


def test_a_log_that_was_read_after_the_period_is_known_and_all_its_minutes_are_unknown(stored, user):
    later = Period(FIRST - timedelta(days=1), FIRST - timedelta(days=1) + timedelta(minutes=MINUTES))
    stored("ledger", *ledger("db1", "audit"), *ledger("db2", "audit"))
    stored("audit_events", {**refused(0, "ann"), "event_time": f"{later.first:%Y-%m-%d %H:%M:%S}"})
    expected = [("db1", MINUTES, 0)]
    for reader in ("reader_compliance", "reader_security"):
        found = user(reader).rows(queries.text_of("page_evidence_coverage"), later.parameters())
        assert [(row["instance"], row["unknown"], row["watched"]) for row in found] == expected
    intervals = user("auditor").rows(framework.result("coverage").statement(), later.parameters())
    (interval,) = intervals
    assert [interval[name] for name in ("instance", "state", "minutes")] == ["db1", "unknown", MINUTES]
    servers = user("auditor").rows(framework.result("servers").statement(), later.parameters())
    (server,) = servers
    read_at = server["records_read_at"][:16]
    assert read_at[:10] >= f"{FIRST:%Y-%m-%d}"
    state = f"audit log read later, on {read_at} UTC: records of {later.first:%Y-%m-%d}"
    assert (server["instance"], server["state"]) == ("db1", state)


def test_a_period_without_any_log_has_no_row(admin, user):
    assert user("reader_security").rows(queries.text_of("page_evidence_coverage"), PERIOD.parameters()) == []


def refused(minute: int, name: str) -> dict:
    row = {"cluster": "shop", "instance": "db1", "source": "audit", "event_time": at(minute), "user": name}
    return {**row, "event_class": "connection", "command": "FAILED_CONNECT", "status": 1045}


def test_pages_of_a_result_are_in_its_order(stored, user):
    # By the sorting key of the table user1 is the first: its minute is the last.
    stored("audit_events", *(refused(minute, f"user{6 - minute}") for minute in (5, 3, 1, 4, 2)))
    result = framework.result("refused_access")
    given = parameters(framework.load("pci"), PERIOD)
    pages = [
        [row["user"] for row in user("reader_security").rows(rows.page_of(result), {**given, **page})]
        for page in ({"limit": 2, "offset": 0}, {"limit": 2, "offset": 2}, {"limit": 2, "offset": 4})
    ]
    assert pages == [["user5", "user4"], ["user3", "user2"], ["user1"]]
    (counted,) = user("reader_security").rows(rows.count_of(result), given)
    assert counted == {"counted": 5}


@pytest.mark.parametrize("name", ["pci", "gdpr"])  # together they have every result
def test_the_audiences_can_read_every_result(name, admin, user):
    known = framework.load(name)
    given = {**parameters(known, PERIOD), "limit": 1, "offset": 0}
    for result in known.results.values():
        found = user("reader_compliance").rows(rows.page_of(result), given)
        (counted,) = user("reader_security").rows(rows.count_of(result), given)
        assert (counted["counted"] > 0) == bool(found), result.name


def test_two_frameworks_have_every_result():
    files = {result.file for name in ("pci", "gdpr") for result in framework.load(name).results.values()}
    assert files == set(QUERIES.glob("evidence_*.sql"))
