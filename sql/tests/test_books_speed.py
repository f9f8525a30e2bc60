"""The books of a million postings are read in seconds: people ask, and `demo` twice a second."""

import time

import pytest

from tailrace import books

FILES = 40
OF_A_FILE = (
    "concat('db', toString(file % 20)) AS instance, 'slowlog' AS source, "
    "concat('/log/', toString(file)) AS log"
)
MOST_SECONDS = 30
"""On a loaded machine; two idle cores take about one."""


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
