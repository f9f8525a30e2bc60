"""Tests that ledger queries need about twice the CPU time for twice the minutes."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tailrace.clickhouse.query_files import text_of
from tailrace.ledger import balance as ledger_balance

FILES = 40
OF_A_FILE = (
    "concat('db', toString(file % 20)) AS instance, 'slowlog' AS source, "
    "concat('/log/', toString(file)) AS log"
)
MAX_GROWTH = 2.8
"""Limit of the CPU time ratio for twice the rows: the geometric mean of linear (2) and quadratic (4)."""
NOISE_SECONDS = 1.0
"""Allowance for other work of the server. A quadratic window makes one query take 3 and then 12 seconds."""


DAYS = 20
GENERATIONS = 4
"""All with one inode, so that bytes before the first generation are searched in all of its minutes."""
MINUTE_BY_MINUTE = (
    "INSERT INTO tailrace.ledger (cluster, instance, source, log, generation, stage, kind, from_offset, "
    "to_offset, size, inode, at) "
    "SELECT 'shop', 'db0', 'audit', '/log/audit', 1 + number % {generations}, 'FRAMER', '{kind}', 0, {read}, "
    "{size}, 7, now64(6) - INTERVAL 2 * {days} DAY + toIntervalMinute(intDiv(number, {generations})) "
    "FROM numbers({begin}, {generations} * {days} * 1440)"
)


@pytest.fixture
def cpu_seconds(server) -> Callable[[Callable[[], object]], float]:
    """Of the server, while something is done."""

    def so_far() -> float:
        fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def measure(action: Callable[[], object]) -> float:
        before = so_far()
        action()
        return so_far() - before

    return measure


def test_minutes_of_months_cost_no_more_than_their_number(admin, rendered, cpu_seconds):
    """Inserts the minutes of some weeks, and then of as many weeks before them."""
    costs: dict[str, list[float]] = {}
    for times in (1, 2):
        for kind, read, size in (("CENSUS", 0, "number"), ("FRONTIER", "number", 0)):
            begin = (2 - times) * GENERATIONS * DAYS * 1440
            admin.execute(
                MINUTE_BY_MINUTE.format(
                    generations=GENERATIONS, days=DAYS, begin=begin, kind=kind, read=read, size=size
                )
            )
        for name, query, parameters in _questions(rendered, times * DAYS + 1):
            ask = lambda query=query, parameters=parameters: admin.execute(  # noqa: E731
                f"SELECT count() FROM ({query})", parameters
            )
            measured = costs.setdefault(name, [])
            measured.append(cpu_seconds(ask))
            if times == 1 or measured[1] > limit(measured[0]):
                measured[-1] = min(measured[-1], cpu_seconds(ask))
    for name, (one, two) in costs.items():
        assert two <= limit(one), f"{name}: {one:.2f} s of CPU, then {two:.2f} s"


def limit(seconds: float) -> float:
    """Returns the limit of the CPU time for twice the rows."""
    return MAX_GROWTH * seconds + NOISE_SECONDS


def _questions(rendered, days: int) -> list[tuple[str, str, dict[str, str]]]:
    """Queries that read all minutes of the last days: name, query, parameters."""
    now = datetime.now(UTC).replace(tzinfo=None, second=0, microsecond=0)
    shown = ((now - timedelta(days=days)).isoformat(), now.isoformat())
    period = {"from": shown[0].replace("T", " "), "to": shown[1].replace("T", " ")}
    return [
        ("coverage", rendered("coverage", *shown), {}),
        ("bytes_behind", rendered("bytes_behind", *shown), {}),
        (
            "ledger_minutes",
            text_of("ledger_minutes"),
            period | {"instance": ""},
        ),
        ("evidence_coverage", text_of("evidence_coverage"), period),
        ("audit_coverage_gaps", "SELECT * FROM tailrace.audit_coverage_gaps", {}),
    ]


@pytest.mark.long
def test_a_million_postings_balance(admin):
    post(admin, "ENTRY", "FRAMER", 10_000, "i * 1000, i * 1000 + 1000, 10, 1000, 0")
    post(admin, "EVENT", "PARSER", 10_000, "i * 1000, i * 1000 + 1000, 10, 1000, 0")
    post(admin, "FRONTIER", "FRAMER", 2_500, "i * 4000 + 4000, i * 4000 + 4000, 0, 0, 0")
    post(admin, "CENSUS", "FRAMER", 2_500, "0, 0, 0, 0, i * 4000 + 4000")
    admin.execute(
        "INSERT INTO tailrace.receipts (instance, source, log, generation, kind, stage, day, "
        "after_checkpoint, rows, bytes) "
        f"SELECT {OF_A_FILE}, 1, 'EVENT', 'PARSER', today(), i, 10, 1000 {_numbers(10_000)}"
    )
    found = ledger_balance.read(admin, minutes=60)
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
