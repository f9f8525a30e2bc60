"""Tests the query of the page of a statement about the counters of servers, on samples with known results."""

from datetime import timedelta

import pytest
from query_page_rows import END, IT, OTHER, START, asking, sql

from tailrace.snapshots.rows import COUNTERS

DIGEST = "ab" * 32
LONG_AGO = START - timedelta(days=9)


@pytest.fixture
def ask(admin, user):
    return asking(user)


@pytest.fixture
def read(user):
    """Inserts readings like the loader: of counters, or of a histogram."""

    def insert(minute: float, began=LONG_AGO, digest=DIGEST, query_id=IT, instance="db1", **of) -> None:
        its = {"cluster": "shop", "instance": instance, "database": "shop", "digest": digest}
        its |= {"at": sql(START + timedelta(minutes=minute)), "first_seen": sql(began)}
        if "buckets" in of:
            row = {**its, "buckets": {str(bucket): count for bucket, count in of["buckets"].items()}}
            user("facts").insert("tailrace.digest_histograms", [row, row])
        else:
            row = {**its, **dict.fromkeys(COUNTERS, 0), "query_id": query_id, "timer_ps": 0, **of}
            user("facts").insert("tailrace.digest_samples", [row, row])

    return insert


def test_counters_and_percentiles_are_those_of_the_range(read, ask):
    for minute, count in ((-30, 100), (-2, 110), (1, 115), (60, 215), (119, 315), (121, 999)):
        times = {"timer_ps": count * 2 * 10**12, "lock_ps": count * 10**12}
        read(minute, statements=count, rows_examined=10 * count, no_index_used=count // 2, **times)
    for minute, slow in ((-30, 5), (30, 5), (119, 10)):  # an hour apart, and a little more
        read(minute, buckets={0: 1, 100: slow + 90 * (minute > 0), 200: slow})
    read(60, digest="cd" * 32, query_id=OTHER, statements=7)
    (row,) = ask("counters")
    assert (row["server"], row["database"], row["digest"]) == ("db1", "shop", DIGEST)
    assert (row["statements"], row["total_seconds"], row["lock_share"]) == (205, 410, 0.5)
    assert (row["rows_examined"], row["no_index_share"]) == (10, pytest.approx(0.5, abs=0.01))
    assert row["histogram_statements"] == 100, "5 and 90, and 5 slow ones"
    assert row["p50"] == row["p95"] == pytest.approx(10 ** (99.5 / 50 - 5))
    assert row["p99"] == pytest.approx(10 ** (199.5 / 50 - 5))


def test_a_digest_that_is_new_or_begins_anew_counts_from_zero(read, ask):
    read(20, statements=8, timer_ps=10**12, began=START + timedelta(minutes=10))
    read(20, buckets={449: 8}, began=START + timedelta(minutes=10))
    read(30, statements=2, timer_ps=10**12, began=START + timedelta(minutes=25))
    read(30, buckets={0: 2}, began=START + timedelta(minutes=25))
    read(40, instance="db2", statements=1000)  # its first reading
    (row,) = ask("counters")
    assert (row["statements"], row["histogram_statements"], row["mean"]) == (10, 10, 0.2)
    assert row["p99"] == pytest.approx(9120.108) and row["lock_share"] == 0


def test_a_server_without_histograms_has_unknown_percentiles(read, ask):
    for minute, count in ((0, 1), (10, 3)):
        read(minute, statements=count, timer_ps=count * 10**12)
    (row,) = ask("counters")
    assert (row["statements"], row["p50"], row["p95"], row["histogram_statements"]) == (2, None, None, 0)
    assert ask("counters", span=(END, END + timedelta(hours=1))) == []
    assert ask("counters", instance="db2") == []
