"""Tests what "slower" means on the two days of the demo: the statements that changed, and no others."""

import re
from datetime import UTC, datetime, timedelta
from functools import cache
from zlib import crc32

import pytest

from tailrace.demo.shop import story
from tailrace.reading import statements
from tailrace_pages import queries
from tailrace_pages.time_range import TimeRange

DAY = timedelta(days=1)
STORY_DAY = (datetime.now(UTC) - DAY).replace(hour=0, minute=0, second=0, microsecond=0)
SERVERS = {"cluster": "", "instance": ""}
ENTRY = re.compile(
    r"# Query_time: (\S+) +Lock_time: (\S+) .*\n(?:#.*\n|use .*\n)*SET timestamp=(\d+);\n(.+);\n"
)
COMMENT = re.compile(r"\s*/\*.*?\*/")
MEASURE = re.compile(r"p95|p99|total\stime|lock\stime")
ORDERS, STOCK = "select id, created_at, status, total from orders", "update stock"
CHANGED = {
    ("shop-db-1", ORDERS): ("p95", "p99", "total time"),  # the story `dropped_index` of the manifest
    ("shop-db-1", STOCK): ("p99", "total time", "lock time"),  # its deadlocks
}
"""Statements of the demo that became slower on the day of its stories, with the measures that grew."""


@cache
def shop() -> story.Story:
    return story.write((STORY_DAY + DAY + timedelta(minutes=1)).timestamp())


def insert_slow_logs(user) -> None:
    """Inserts the slow logs of the demo; a statement without its numbers and strings is its fingerprint."""
    events, texts = [], {}
    for log in shop().logs:
        if log.source == "slowlog":
            for seconds, locked, at, text in ENTRY.findall(log.content.decode()):
                fingerprint = re.sub(r"'[^']*'|\b\d+\b", "?", COMMENT.sub("", text)).lower()
                texts[crc32(fingerprint.encode())] = fingerprint
                events.append(
                    {
                        "cluster": log.cluster,
                        "instance": log.instance,
                        "event_time": f"{datetime.fromtimestamp(int(at), UTC):%Y-%m-%d %H:%M:%S}",
                        "query_id": crc32(fingerprint.encode()),
                        "rule_set": "tailrace-2",
                        "query_time": float(seconds),
                        "lock_time": float(locked),
                        "weight": 1,
                    }
                )
    user("writer").insert("tailrace.query_events", events)
    long_ago = f"{STORY_DAY - 9 * DAY:%Y-%m-%d %H:%M:%S}"
    known = {"rule_set": "tailrace-2", "seen_at": long_ago, "first_seen_at": long_ago}
    rows = [{"query_id": query_id, "fingerprint": text, **known} for query_id, text in texts.items()]
    user("writer").insert("tailrace.fingerprints", rows)


FIRST_ROWS = {"ask": insert_slow_logs}


@pytest.fixture
def ask(admin, user, rendered):
    """Returns the rows with the verdict `slower` of the dashboard, and those of the work page."""

    def run(since: datetime, until: datetime) -> tuple[list[dict], list[dict]]:
        developer = user("reader_developer")
        chart = developer.rows(rendered("slow_compared", since.isoformat(), until.isoformat()))
        page = statements.slower(
            lambda query, **given: developer.rows(queries.text_of(query), given),
            TimeRange(since, until),
            SERVERS,
        )
        slower = [row for row in chart if row["verdict"] == "slower"]
        return slower, [row for row in page if not row["obstacle"]]

    return run


def by_statement(rows: list[dict], server: str) -> dict[tuple[str, str], tuple[str, ...]]:
    starts = (ORDERS, STOCK)
    return {
        (row[server], next((each for each in starts if row["query"].startswith(each)), row["query"])): tuple(
            MEASURE.match(each)[0].replace("\xa0", " ") for each in row["grew"].split("; ")
        )
        for row in rows
    }


def test_the_day_of_the_stories_has_the_statements_that_became_slower_and_what_grew(ask):
    chart, page = ask(STORY_DAY, STORY_DAY + DAY)

    assert by_statement(chart, "instance") == CHANGED
    assert by_statement(page, "server") == CHANGED
    stock = next(row for row in chart if row["query"].startswith(STOCK))
    assert re.search(r"p99\s\d\.\d+\sms\s→\s\d+\sms\s\(1\d\d\u00d7\)", stock["grew"])
    assert stock["lock_seconds_now"] > 50 * stock["lock_seconds_before"]


@pytest.mark.parametrize("hours", [(0, 9), (6, 9), (10, 12), (12, 14)])
def test_hours_without_a_story_have_no_slower_statement(ask, hours):
    """Also in the morning, when each hour has more executions than the one before."""
    since, until = (STORY_DAY + timedelta(hours=hour) for hour in hours)

    assert ask(since, until) == ([], [])


def test_a_day_until_now_is_compared_with_the_same_hours_of_the_day_before(ask):
    chart, page = ask(STORY_DAY, STORY_DAY + timedelta(hours=15))

    assert [row["query"].startswith(ORDERS) for row in chart] == [True]
    assert by_statement(chart, "instance") == by_statement(page, "server")
    same_hours = sum(
        float(seconds)
        for log in shop().logs
        if log.source == "slowlog" and log.instance == "shop-db-1"
        for seconds, _, at, text in ENTRY.findall(log.content.decode())
        if ORDERS in text.lower() and 0 <= int(at) - (STORY_DAY - DAY).timestamp() < 15 * 3600
    )
    assert [row["seconds_before"] for row in page] == [pytest.approx(same_hours)]


def test_a_long_range_reads_the_rollups_and_finds_the_same(ask):
    chart, page = ask(STORY_DAY - timedelta(hours=1), STORY_DAY + DAY)

    assert by_statement(chart, "instance") == by_statement(page, "server") == CHANGED
