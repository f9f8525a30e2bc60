"""What a server counted in the histograms of its digests: percentiles, resets, repetitions."""

import math
from collections import Counter
from datetime import UTC, datetime
from random import Random

import pytest
from test_server_facts import AT, record

from tailrace.snapshots.rows import rows_of

DIGEST = "ab" * 32
SECONDS_OF_BUCKET_0 = 1e-5
PRECISION = 10 ** (1 / 100) - 1
"""The largest relative difference between a value and the geometric middle of its bucket: 2.33 %."""


def bucket(seconds: float) -> int:
    return 0 if seconds < SECONDS_OF_BUCKET_0 else min(449, math.floor(50 * math.log10(seconds * 1e5)) + 1)


def reading(minute: int, counts: dict[int, int], digest: str = DIGEST, began: float = AT - 3600) -> dict:
    buckets = " ".join(f"{number}:{count}" for number, count in sorted(counts.items()))
    times = {"server_at": f"{AT + 60 * minute:.6f}", "first_seen": f"{began:.6f}"}
    attributes = {"db": "shop", "digest": digest, "buckets": buckets, **times}
    return {"key": f"shop.{digest}", "since": AT, "attributes": attributes}


@pytest.fixture
def latency(user):
    """Stores the readings of a server twice, as the loader may, and returns the rows of the view."""

    def rows(instance: str, *readings: dict) -> list[dict]:
        of_server = record(AT, kind="digest_histograms", instance=instance, facts=list(readings))
        for table, row in 2 * rows_of(of_server):
            user("facts").insert(f"tailrace.{table}", [row])
        return user("reader_developer").rows(
            "SELECT * FROM tailrace.digest_latency WHERE instance = {instance:String} ORDER BY at, digest",
            {"instance": instance},
        )

    return rows


def test_percentiles_are_those_of_the_statements_between_two_readings(latency):
    generator = Random(1)
    earlier = [10 ** generator.uniform(-6, 1) for _ in range(500)]
    later = sorted(10 ** generator.uniform(-4, 0) for _ in range(999))
    first = Counter(map(bucket, earlier))
    (row,) = latency("plain", reading(0, first), reading(1, first + Counter(map(bucket, later))))
    assert int(row["statements"]) == 999 and not row["is_reset"]
    for name, share in {"p50": 0.5, "p95": 0.95, "p99": 0.99}.items():
        exact = later[math.ceil(share * len(later)) - 1]
        assert row[name] == pytest.approx(exact, rel=PRECISION + 1e-9), name
    assert sum(map(int, row["buckets"].values())) == 999


def test_the_ends_of_a_histogram(latency):
    (fast, slow) = latency(
        "ends", reading(0, {7: 1}), reading(1, {0: 3, 7: 1}), reading(2, {0: 3, 7: 1, 449: 9})
    )
    assert fast["p99"] == 5e-6, "below 10 µs"
    assert slow["p99"] == pytest.approx(9120.108, rel=1e-6), "at least"


def test_counters_that_begin_anew_count_from_zero(latency):
    first, again = AT - 3600, AT + 90
    rows = latency(
        "reset",
        reading(0, {10: 5}, began=first),
        reading(1, {10: 4}, began=first),  # TRUNCATE of the histograms only
        reading(2, {10: 9, 20: 1}, began=again),  # a restart, although no bucket has fewer
        reading(3, {10: 9, 20: 1}, began=again),  # none executed
        reading(5, {10: 10, 20: 1}, began=again),
    )
    assert [(int(row["statements"]), bool(row["is_reset"])) for row in rows] == [
        (4, True),
        (10, True),
        (1, False),
    ]
    assert rows[-1]["since"] == f"{datetime.fromtimestamp(AT + 180, UTC):%F %T}.000"


def test_a_digest_that_appears_later_counts_from_its_first_statement(latency):
    new, old = {"digest": "cd" * 32, "began": AT + 61}, {"digest": "ef" * 32}
    (row,) = latency("new", reading(0, {1: 1}), reading(2, {1: 5}, **new), reading(2, {1: 5}, **old))
    assert (row["digest"], int(row["statements"])) == ("cd" * 32, 5)
