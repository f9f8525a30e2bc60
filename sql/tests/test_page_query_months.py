"""Tests that pages of statements show the same numbers of a long range from rollups as from the events."""

import itertools
import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta

import pytest

from tailrace.reading.time_range import TimeRange
from tailrace_pages import queries

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
FIRST = TODAY - timedelta(days=40)
IDS, OTHER = [11, 12], 13
DAY = timedelta(days=1)
SUMS = ("entries", "executions", "total_seconds", "lock_seconds", "examined", "sent")


def _random_event(generator: random.Random) -> dict:
    """Returns an execution at any second of 34 days; some are at a full hour or at midnight."""
    unit = generator.choice([1, 1, 1, 3600, 86_400])
    second = generator.randrange(34 * 86_400) // unit * unit
    return {
        "at": FIRST + timedelta(seconds=second),
        "query_id": generator.choice([*IDS, OTHER]),
        "instance": generator.choice(["db1", "db2", "db3"]),
        "database": generator.choice(["shop", "crm"]),
        "query_time": generator.choice([0.0, generator.lognormvariate(-3, 2)]),
        "lock_time": generator.choice([0.0, 0.25]),
        "rows_examined": generator.randrange(1000),
        "rows_sent": generator.randrange(10),
        "weight": generator.choice([1, 1, 7]),
    }


def _range(generator: random.Random) -> tuple[datetime, datetime]:
    """Returns a range longer than two days whose ends are at any second, hour or day."""
    unit = generator.choice([1, 60, 3600, 86_400])
    seconds = generator.randrange(2 * 86_400 + unit, 16 * 86_400) // unit * unit
    end = FIRST + timedelta(seconds=generator.randrange(20 * 86_400, 35 * 86_400) // unit * unit)
    return end - timedelta(seconds=max(seconds, 2 * 86_400 + unit)), end


GENERATOR = random.Random(19)
EVENTS = [_random_event(GENERATOR) for _ in range(4000)]
SINCE_MIDNIGHT = (FIRST + 25 * DAY, FIRST + 28 * DAY + timedelta(hours=9, minutes=44))
"""Compared with the same hours of the four days before."""
RANGES = [_range(GENERATOR) for _ in range(8)]
RANGES.insert(2, SINCE_MIDNIGHT)
WIDTHS = (3600, 8 * 3600, 86_400, 2 * 86_400)


def insert_events(user) -> None:
    rows = [
        {**{name: value for name, value in each.items() if name != "at"}, "event_time": f"{each['at']:%F %T}"}
        for each in EVENTS
    ]
    user("writer").insert("tailrace.query_events", rows)


FIRST_ROWS = {"ask": insert_events}


@pytest.fixture
def ask(admin, user):
    """Asks with the rows of insert_events (FIRST_ROWS)."""

    def run(name: str, span: tuple[datetime, datetime], **more) -> list[dict]:
        given = {"from": f"{span[0]:%F %T}", "to": f"{span[1]:%F %T}", "cluster": "", "instance": "", **more}
        return user("reader_developer").rows(queries.text_of(f"page_query_{name}"), given)

    return run


def _sums(events: list[dict]) -> dict[str, float]:
    found = dict.fromkeys(SUMS, 0.0)
    for each in events:
        weight = each["weight"]
        found["entries"] += 1
        found["executions"] += weight
        found["total_seconds"] += weight * each["query_time"]
        found["lock_seconds"] += weight * each["lock_time"]
        found["examined"] += weight * each["rows_examined"]
        found["sent"] += weight * each["rows_sent"]
    return found


def _p95(events: list[dict]) -> float:
    """Returns the exact percentile of ClickHouse: the least duration that 95 % of the executions reach."""
    ordered = sorted((each["query_time"], each["weight"]) for each in events)
    wanted, passed = 0.95 * sum(weight for _, weight in ordered), 0
    for seconds, weight in ordered:
        passed += weight
        if passed >= wanted:
            return seconds
    raise AssertionError("no execution")


def _between(start: datetime, end: datetime, ids=tuple(IDS)) -> list[dict]:
    return [each for each in EVENTS if start <= each["at"] < end and each["query_id"] in ids]


def _expected(span: tuple[datetime, datetime], width: int) -> dict[tuple[str, str], list[dict]]:
    """Returns the events of each group of page_query_overview.sql, by its kind and name."""
    start, end = span
    groups: dict[tuple[str, str], list[dict]] = defaultdict(list)
    before = TimeRange(start, end).before()
    groups["period", "before"] = _between(before.since, before.until)
    for each in _between(start, end):
        slot = int(each["at"].timestamp()) // width * width
        for group in (("period", "now"), ("server", each["instance"]), ("bucket", str(slot))):
            groups[group].append(each)
    return {group: events for group, events in groups.items() if events}


def test_the_overview_is_that_of_the_events(ask):
    for span, width in zip(RANGES, itertools.cycle(WIDTHS)):
        expected = _expected(span, width)
        found = {(row["kind"], row["name"]): row for row in ask("overview", span, query_ids=IDS, width=width)}
        assert found.keys() == expected.keys(), span
        for group, events in expected.items():
            row = found[group]
            assert {name: row[name] for name in SUMS} == pytest.approx(_sums(events)), (span, group)
            assert row["p95"] == pytest.approx(_p95(events), rel=0.0101), (span, group)
            assert sum(row["latency_executions"]) == row["executions"], (span, group)


def test_the_latencies_are_those_of_the_events(ask):
    for start, end in RANGES[:3]:
        rows = ask("latencies", (start, end), query_ids=[*IDS, OTHER])
        found = {(row["id"], row["period"]): row for row in rows}
        for number in (*IDS, OTHER):
            before = TimeRange(start, end).before()
            spans = {"now": (start, end), "before": (before.since, before.until)}
            for period, (since, until) in spans.items():
                events = _between(since, until, (number,))
                row = found[number, period]
                assert row["executions"] == _sums(events)["executions"], (start, end, number, period)
                assert row["p95"] == pytest.approx(_p95(events), rel=0.0101)


def test_the_list_is_that_of_the_events(ask):
    for span in RANGES[:3]:
        for row in ask("list", span, query_ids=[], most=9):
            sums = _sums(_between(*span, (row["id"],)))
            assert row["executions"] == sums["executions"], span
            assert row["total_seconds"] == pytest.approx(sums["total_seconds"]), span
