"""The books of a million postings are read in seconds: people ask, and `demo` twice a second."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from tailrace import books, dashboards

FILES = 40
OF_A_FILE = (
    "concat('db', toString(file % 20)) AS instance, 'slowlog' AS source, "
    "concat('/log/', toString(file)) AS log"
)
MOST_SECONDS = 30
"""On a loaded machine; two idle cores take about one."""


DAYS = 60
GENERATIONS = 4
"""Of one inode, so that what was written before a generation was known is sought in all of its minutes."""
MINUTE_BY_MINUTE = (
    "INSERT INTO tailrace.ledger (cluster, instance, source, log, generation, stage, kind, from_offset, "
    "to_offset, size, inode, at) "
    "SELECT 'shop', 'db0', 'audit', '/log/audit', 1 + number % {generations}, 'FRAMER', '{kind}', 0, {read}, "
    "{size}, 7, now64(6) - INTERVAL {days} DAY + toIntervalMinute(intDiv(number, {generations})) "
    "FROM numbers({generations} * {days} * 1440)"
)


def test_minutes_of_months_cost_no_more_than_their_number(admin, rendered):
    for kind, read, size in (("CENSUS", 0, "number"), ("FRONTIER", "number", 0)):
        statement = MINUTE_BY_MINUTE.format(
            generations=GENERATIONS, days=DAYS, kind=kind, read=read, size=size
        )
        admin.execute(statement)
    now = datetime.now(UTC).replace(tzinfo=None, second=0, microsecond=0)
    shown = ((now - timedelta(days=DAYS + 1)).isoformat(), now.isoformat())
    period = {"from": shown[0].replace("T", " "), "to": shown[1].replace("T", " ")}
    for query, parameters in (
        (rendered("coverage", *shown), {}),
        (rendered("bytes_behind", *shown), {}),
        ((dashboards.QUERIES / "books_minutes.sql").read_text(), period | {"instance": ""}),
        ((dashboards.QUERIES / "evidence_coverage.sql").read_text(), period),
        ("SELECT * FROM tailrace.minutes_without_audit", {}),
    ):
        begin = time.monotonic()
        admin.execute(f"SELECT count() FROM ({query})", parameters)
        assert time.monotonic() - begin < MOST_SECONDS, query


@pytest.mark.long
def test_a_million_postings(admin):
    post(admin, "ENTRY", "FRAMER", 10_000, "i * 1000, i * 1000 + 1000, 10, 1000, 0")
    post(admin, "EVENT", "PARSER", 10_000, "i * 1000, i * 1000 + 1000, 10, 1000, 0")
    post(admin, "FRONTIER", "FRAMER", 2_500, "i * 4000 + 4000, i * 4000 + 4000, 0, 0, 0")
    post(admin, "CENSUS", "FRAMER", 2_500, "0, 0, 0, 0, i * 4000 + 4000")
    admin.execute(
        "INSERT INTO tailrace.receipts (instance, source, log, generation, kind, stage, day, "
        "after_checkpoint, rows, bytes) "
        f"SELECT {OF_A_FILE}, 1, 'EVENT', 'PARSER', today(), i, 10, 1000 {_numbers(10_000)}"
    )
    begin = time.monotonic()
    found = books.read(admin, minutes=60)

    assert time.monotonic() - begin < MOST_SECONDS
    assert found.balances
    assert [account.events for account in found.accounts] == [100_000] * FILES


def post(clickhouse, kind: str, stage: str, number: int, amounts: str) -> None:
    clickhouse.execute(
        "INSERT INTO tailrace.ledger (instance, source, log, generation, stage, kind, from_offset, "
        "to_offset, count, bytes, size, inode, at) "
        f"SELECT {OF_A_FILE}, 1, '{stage}', '{kind}', {amounts}, file, "
        f"now64(6) - INTERVAL 1 DAY + toIntervalSecond(i * 86400 / {number}) {_numbers(number)}"
    )


def _numbers(number: int) -> str:
    return (
        f"FROM (SELECT number % {FILES} AS file, intDiv(number, {FILES}) AS i FROM numbers({FILES * number}))"
    )
