"""Tests the unread bytes: each minute of a short range, the maximum of each interval of a long one."""

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
def behind_of(admin, rendered):
    """Returns the unread bytes by time for a file with a census in these minutes before now: (size, read)."""

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


def test_a_log_that_is_watched_for_minutes_has_a_row_per_minute_in_any_time_range(behind_of):
    behind = behind_of({3: (1000, 400), 2: (1200, 1200), 1: (1500, 1450)})
    times = [(NOW - ago * MINUTE).strftime("%Y-%m-%d %H:%M:00") for ago in (3, 2, 1)]
    assert behind == dict(zip(times, (600, 0, 50), strict=True))


def test_a_day_has_the_maximum_of_each_interval(behind_of):
    minutes = {ago: (10_000 - ago, 10_000 - ago) for ago in range(1, 1430)}
    behind = behind_of(minutes | {700: (9_300, 9_000)})
    assert 280 < len(behind) < 300
    assert [bytes_behind for bytes_behind in behind.values() if bytes_behind] == [9_300 - 9_299]


def test_files_that_were_behind_in_turn_do_not_add_up(admin, rendered):
    """A log that is rotated every other minute; each of its files is behind once."""
    postings, now = [], datetime.now(UTC).replace(second=30)  # NOW may be hours ago
    for ago in range(1, 1430):
        at = (now - ago * MINUTE).strftime("%Y-%m-%d %H:%M:%S")
        file = LOG | {"generation": 1000 - ago // 2, "inode": ago // 2, "at": at}
        postings.append(file | {"kind": "CENSUS", "size": 1000})
        postings.append(file | {"kind": "FRONTIER", "to_offset": 900 if ago % 2 else 1000})
    admin.insert("tailrace.ledger", postings)
    query = rendered("bytes_behind", None, None)
    bars = admin.rows(f"SELECT sum(bytes_behind) AS behind FROM ({query}) GROUP BY time")
    assert 280 < len(bars) < 300
    assert max(int(bar["behind"]) for bar in bars) == 100


@pytest.fixture
def moved(admin):
    """A log whose server moved to another cluster ten minutes ago and has written nothing since."""
    postings = []
    for ago in range(1, 21):
        at = (NOW - ago * MINUTE).strftime("%Y-%m-%d %H:%M:%S")
        postings.append(
            LOG | {"kind": "CENSUS", "size": 1000, "at": at, "cluster": "new" if ago <= 10 else "old"}
        )
    read = {"kind": "FRONTIER", "to_offset": 1000, "at": postings[-1]["at"], "cluster": "old"}
    admin.insert("tailrace.ledger", [*postings, LOG | read])


def test_a_log_that_came_to_another_cluster_stays_read(admin, rendered, moved):
    rows = admin.rows(rendered("bytes_behind", None, None))
    assert {(row["cluster"], row["file"], int(row["bytes_behind"])) for row in rows} == {
        ("new", "db1 · slow.log", 0)
    }


def test_minutes_of_a_log_that_came_to_another_cluster_count_once(admin, rendered, moved):
    day = ((NOW - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%S"), NOW.strftime("%Y-%m-%dT%H:%M:%S"))
    rows = admin.rows(rendered("coverage", *day))
    assert [(row["cluster"], row["file"], row["state"], int(row["minutes"])) for row in rows] == [
        ("new", "db1 · slow.log", "unknown", 1440 - 20),
        ("new", "db1 · slow.log", "covered", 20),
    ]
