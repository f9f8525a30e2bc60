"""How far reading was behind writing: each minute of a short time, the most of each stretch of a long one."""

from datetime import UTC, datetime, timedelta

import pytest

NOW = datetime.now(UTC).replace(second=30, microsecond=0)
MINUTE = timedelta(minutes=1)
LOG = {
    "cluster": "shop",
    "instance": "db1",
    "source": "slowlog",
    "log": "/log/slow.log",
    "generation": 7,
    "inode": 1,
}


@pytest.fixture
def told(admin, rendered):
    """Bytes behind by time, once a file was looked at in these minutes before now: (size, read) each."""

    def ask(minutes: dict[int, tuple[int, int]]) -> dict[str, int]:
        postings = []
        for ago, (size, read) in minutes.items():
            at = (NOW - ago * MINUTE).strftime("%Y-%m-%d %H:%M:%S")
            postings.append(LOG | {"kind": "CENSUS", "size": size, "at": at})
            postings.append(LOG | {"kind": "FRONTIER", "to_offset": read, "at": at})
        admin.insert("tailrace.ledger", postings)
        shown = ((NOW - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%S"), NOW.strftime("%Y-%m-%dT%H:%M:%S"))
        rows = admin.rows(f"SELECT * FROM ({rendered('bytes_behind', *shown)}) ORDER BY time")
        assert {row["file"] for row in rows} == {"db1 · slow.log"}
        return {row["time"]: int(row["bytes_behind"]) for row in rows}

    return ask


def test_a_log_that_is_watched_for_minutes_is_told_by_the_minute_whatever_is_shown(told):
    behind = told({3: (1000, 400), 2: (1200, 1200), 1: (1500, 1450)})
    times = [(NOW - ago * MINUTE).strftime("%Y-%m-%d %H:%M:00") for ago in (3, 2, 1)]
    assert behind == dict(zip(times, (600, 0, 50), strict=True))


def test_of_a_day_the_most_of_each_stretch_is_told(told):
    minutes = {ago: (10_000 - ago, 10_000 - ago) for ago in range(1, 1430)}
    behind = told(minutes | {700: (9_300, 9_000)})
    assert 280 < len(behind) < 300
    assert [bytes_behind for bytes_behind in behind.values() if bytes_behind] == [9_300 - 9_299]
