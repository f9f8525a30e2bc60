"""Tests when work pages know that logs were read: by cluster and server, and for bars of any width."""

from datetime import UTC, datetime, timedelta

import pytest
from entity_rows import Store

from tailrace_pages.entities.kinds import Entity
from tailrace_pages.entities.reading import Reading
from tailrace_pages.read_bars import ReadBars
from tailrace_pages.statements import slow_logs
from tailrace_pages.time_range import TimeRange

HOURS = 6
UNTIL = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=3)
SPAN = TimeRange(UNTIL - timedelta(hours=HOURS), UNTIL)
MINUTES = range(60 * HOURS + 1)
MINUTE = timedelta(minutes=1)


def census(cluster: str, instance: str, source: str = "slowlog", without=()) -> list[dict]:
    """Returns a census of an empty log for each minute of the range, but for some of them."""
    log = {"cluster": cluster, "instance": instance, "source": source, "log": "/a.log", "inode": 7}
    times = (SPAN.since + minute * MINUTE for minute in MINUTES if minute not in without)
    return [{**log, "kind": "CENSUS", "at": f"{at:%Y-%m-%d %H:%M:%S}"} for at in times]


@pytest.fixture
def store(user) -> Store:
    return Store(user("reader_compliance"))


@pytest.fixture
def two_clusters(stored) -> None:
    """Cluster `read` whose logs were always read, and `unread` whose logs were not for two hours."""
    for source in ("slowlog", "audit"):
        unread = census("unread", "db2", source, without=range(60, 180))
        stored("ledger", *census("read", "db1", source), *unread)


def read_hours(read: ReadBars, source: str) -> list[bool]:
    begin = int(SPAN.since.timestamp())
    bars = range(begin, begin + HOURS * 3600, 3600)
    return [read.is_read(start, start + 3600, [source]) for start in bars]


def test_the_filter_cluster_changes_the_coverage_of_each_page(two_clusters, store):
    expected = {"read": [True] * HOURS, "unread": [True, False, False, True, True, True]}
    for cluster, known in expected.items():
        page = Reading(store, Entity("user", "ann", cluster=cluster), SPAN)
        assert read_hours(page.read, "audit") == known
        given = {"clusters": [cluster], "servers": [], "sources": ["slowlog"], "width": 3600}
        rows = store.rows("page_query_coverage", **given, **SPAN.parameters())
        assert read_hours(ReadBars(rows), "slowlog") == known
    assert slow_logs.were_read(store.rows, SPAN, {"cluster": "read"})
    assert not slow_logs.were_read(store.rows, SPAN, {"cluster": "unread"})
    assert not slow_logs.were_read(store.rows, SPAN, {"cluster": "other"})


def test_the_log_of_one_server_does_not_stand_for_those_of_others(two_clusters, store):
    assert not slow_logs.were_read(store.rows, SPAN, {}), "the log of db1 says nothing about db2"
    assert slow_logs.were_read(store.rows, SPAN, {"cluster": "", "instance": "db1"})
    assert not slow_logs.were_read(store.rows, SPAN, {"cluster": "", "instance": "db2"})
    assert not slow_logs.were_read(store.rows, SPAN, {"instance": "db9"})
    later = TimeRange(SPAN.since + timedelta(hours=3), UNTIL)
    assert slow_logs.were_read(store.rows, later, {})


def test_a_bar_of_a_statement_is_read_if_the_logs_of_all_its_servers_were(two_clusters, store):
    begin = int(SPAN.since.timestamp())
    read = slow_logs.read(store.rows, TimeRange(SPAN.since, UNTIL), "", ["db1", "db2"])
    bars = range(begin, begin + HOURS * 3600, 3600)
    known = [read.is_read_on({"db1", "db2"}, start, start + 3600, slow_logs.SOURCES) for start in bars]
    assert known == [True, False, False, True, True, True]
    assert all(read.is_read_on({"db1"}, start, start + 3600, slow_logs.SOURCES) for start in bars)


def test_a_listed_slow_log_that_never_arrived_makes_executions_unknown(admin, stored, store):
    stored("ledger", *census("read", "db1"))
    assert slow_logs.were_read(store.rows, SPAN, {})
    entry = {"cluster": "read", "instance": "db3", "source": "slowlog", "log": "/s.log", "host": "box"}
    admin.insert("tailrace.listed_logs", [{**entry, "action": "listed", "at": f"{SPAN.since:%F %T}"}])
    assert not slow_logs.were_read(store.rows, SPAN, {})
    assert slow_logs.were_read(store.rows, SPAN, {"instance": "db1"})


def test_the_last_two_minutes_before_now_are_not_expected(stored, store):
    now = datetime.now(UTC).replace(microsecond=0)
    span = TimeRange(now - timedelta(minutes=15), now)
    log = {"cluster": "read", "instance": "db1", "source": "slowlog", "log": "/a.log", "inode": 7}
    times = [now - ago * MINUTE for ago in range(2, 17)]
    rows = [{**log, "kind": "CENSUS", "at": f"{at:%Y-%m-%d %H:%M:%S}"} for at in times]
    stored("ledger", *rows)
    assert slow_logs.were_read(store.rows, span, {})


@pytest.mark.parametrize("missing", [5, 6])
def test_the_last_two_minutes_do_not_replace_earlier_ones(stored, store, missing):
    """A census that arrives at once covers the minutes that are not expected yet."""
    now = datetime.now(UTC).replace(microsecond=0)
    span = TimeRange(now - timedelta(minutes=15), now)
    log = {"cluster": "read", "instance": "db1", "source": "slowlog", "log": "/a.log", "inode": 7}
    times = [now - ago * MINUTE for ago in range(17) if ago != missing]
    rows = [{**log, "kind": "CENSUS", "at": f"{at:%Y-%m-%d %H:%M:%S}"} for at in times]
    stored("ledger", *rows)
    assert not slow_logs.were_read(store.rows, span, {})
    decade = 3650 * 86400  # one slot, also when the range contains midnight
    given = {"clusters": [], "servers": [], "sources": ["slowlog"], "width": decade}
    (row,) = [
        row
        for row in store.rows("page_query_coverage", **given, **span.parameters())
        if row["source"] == "slowlog"
    ]
    assert not row["slots"]


@pytest.mark.parametrize("width", [20, 45, 60, 75, 90, 100, 150, 3600, 3650])
def test_a_bar_of_any_width_is_read_if_all_minutes_that_it_touches_are(stored, store, width):
    unread = (7, 100, 101, 250)
    stored("ledger", *census("read", "db1", without=unread))
    given = {"clusters": [], "servers": [], "sources": ["slowlog"], "width": width}
    read = ReadBars(store.rows("page_query_coverage", **given, **SPAN.parameters()))
    begin, end = (int(time.timestamp()) for time in (SPAN.since, SPAN.until))
    for start in range(begin // width * width, end, width):
        first, last = max(start, begin), min(start + width, end)
        touched = range((first - begin) // 60, (last - begin + 59) // 60)
        expected = not any(minute in unread for minute in touched)
        assert read.is_read(first, last, ["slowlog"]) == expected, (start - begin) / 60
