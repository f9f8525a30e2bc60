"""Tests which bars of a chart over time are known (read_bars.py)."""

from datetime import UTC, datetime

from tailrace_pages.read_bars import ReadBars

HOUR = 3600
AUDIT, SLOW = {"audit"}, {"slowlog"}
NOTHING = {"first_second": 0, "census_second": 0, "last_second": 0, "step": HOUR, "slots": []}


def rows(source: str, **columns) -> ReadBars:
    return ReadBars([{"source": source, **NOTHING, **columns}])


def test_a_log_without_a_census_is_read_from_its_first_to_its_last_record():
    read = rows("slowlog", first_second=10 * HOUR + 5, last_second=12 * HOUR + 5)
    known = [read.is_read(hour * HOUR, (hour + 1) * HOUR, SLOW) for hour in range(9, 15)]
    assert known == [False, True, True, True, False, False]
    assert not read.is_read(11 * HOUR, 12 * HOUR, AUDIT), "another log"
    assert read.begin(SLOW) == datetime(1970, 1, 1, 10, 0, 5, tzinfo=UTC) and read.begin(AUDIT) is None


def test_from_the_first_census_on_the_census_decides():
    slots = [11 * HOUR, 13 * HOUR]
    read = rows("audit", first_second=HOUR, census_second=10 * HOUR, last_second=14 * HOUR, slots=slots)
    known = [read.is_read(hour * HOUR, (hour + 1) * HOUR, AUDIT) for hour in range(9, 16)]
    assert known == [True, False, True, False, True, False, False]


def test_a_bar_is_read_if_its_day_is_or_all_of_its_days():
    day = 24 * HOUR
    read = rows("audit", census_second=1, last_second=9 * day, step=day, slots=[3 * day, 4 * day])
    assert read.is_read(3 * day + 5 * HOUR, 3 * day + 6 * HOUR, AUDIT)
    assert not read.is_read(5 * day + 5 * HOUR, 5 * day + 6 * HOUR, AUDIT)
    assert read.is_read(3 * day, 5 * day, AUDIT)
    assert not read.is_read(2 * day, 4 * day, AUDIT), "nothing is known of its first day"


def test_a_bar_of_seconds_in_two_minutes_is_read_if_both_are():
    read = rows("audit", census_second=1, last_second=HOUR, step=60, slots=[60, 120])
    known = [read.is_read(start, start + 45, AUDIT) for start in range(45, 225, 45)]
    assert known == [False, True, True, False]


def test_the_log_of_one_server_does_not_stand_for_those_of_others():
    known = {**NOTHING, "source": "slowlog", "census_second": 1, "last_second": 9 * HOUR}
    one = {**known, "instance": "db1", "slots": [2 * HOUR, 3 * HOUR]}
    read = ReadBars([one, {**known, "instance": "db2", "slots": [2 * HOUR]}])
    assert read.is_read_on({"db1", "db2"}, 2 * HOUR, 3 * HOUR, SLOW)
    assert not read.is_read_on({"db1", "db2"}, 3 * HOUR, 4 * HOUR, SLOW)
    assert read.is_read_on({"db1"}, 3 * HOUR, 4 * HOUR, SLOW) and read.is_read(3 * HOUR, 4 * HOUR, SLOW)
    assert not read.is_read_on({"db1", "db3"}, 2 * HOUR, 3 * HOUR, SLOW), "db3 has no log"
    assert not read.is_read_on(set(), 2 * HOUR, 3 * HOUR, SLOW)
    assert not read.is_read_on({"db1"}, 2 * HOUR, 3 * HOUR, AUDIT)


def test_nothing_is_known_without_logs():
    assert not ReadBars([]).is_read(0, HOUR, AUDIT) and ReadBars([]).begin(AUDIT) is None
