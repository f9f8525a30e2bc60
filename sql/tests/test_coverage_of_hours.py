"""Compares minutes counted by hours and logs found by days with the views of single postings."""

import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tailrace.clickhouse.query_files import QUERIES

END = datetime.now(UTC).replace(hour=7, minute=23, second=0, microsecond=0) - timedelta(days=1)
MIGRATIONS = QUERIES.parent / "migrations"
PERIODS = [
    (END - timedelta(hours=5, minutes=17), END),
    (END - timedelta(days=3), END + timedelta(minutes=1)),
    (END - timedelta(minutes=40), END - timedelta(minutes=35)),
    (END - timedelta(days=30), END - timedelta(days=20)),
]
COUNTED = """
    SELECT instance, log, state, day_shown AS day, toInt64(minutes) AS minutes FROM ({days})
    WHERE state != 'unknown' ORDER BY ALL
"""
SINGLE = """
    SELECT instance, log, ['covered', 'behind', 'missing'][severity] AS state,
        toString(toDate(toDateTime(second, 'UTC'))) AS day, toInt64(count()) AS minutes
    FROM tailrace.coverage_1m(first_minute = {first:DateTime('UTC')}, end_minute = {end:DateTime('UTC')},
        server = '', kinds = []) AS coverage
    INNER JOIN (SELECT DISTINCT instance, source, log FROM tailrace.ledger) AS logs
        ON coverage.log_id = cityHash64(logs.instance, logs.source, logs.log)
    GROUP BY instance, log, state, day ORDER BY ALL
"""


def postings(seed: int) -> list[dict]:
    """Censuses, read positions, gaps and repairs of the files of some logs."""
    chance = random.Random(seed)
    rows = []
    for number in range(8):
        log = {"instance": f"db{number % 4}", "source": chance.choice(["audit", "slowlog"])}
        log |= {"log": f"/log/{number}", "stage": "FRAMER"}
        begin = END - timedelta(minutes=chance.choice([30, 400, 6000, 14 * 1440]))
        moved_at = begin + timedelta(minutes=chance.choice([20, 60, 1000]))
        of_log = []
        for generation in range(1, chance.randint(2, 4)):
            minutes = chance.choice([5, 90, 200])
            of_log += a_file(chance, log, generation, begin, minutes)
            begin += timedelta(minutes=minutes - chance.choice([-700, -3, 0, 2]))
        rows += [row | {"cluster": "crm" if row["at"] >= f"{moved_at:%F %T}" else "shop"} for row in of_log]
    return rows


def a_file(chance: random.Random, log: dict, generation: int, begin: datetime, minutes: int) -> list[dict]:
    inode = chance.choice([7, 8])
    length, rows = 0, []

    def post(kind: str, minute: int, **more: int) -> None:
        at = begin + timedelta(minutes=minute, seconds=chance.randrange(60))
        row = {**log, "generation": generation, "inode": inode, "kind": kind}
        rows.append({**row, "at": f"{at:%F %T}", **more})

    for minute in range(minutes):
        length += chance.choice([0, 0, 10, 100])
        named = generation if minute > 3 or chance.random() < 0.3 else 0
        for _ in range(chance.choice([0, 1, 1, 1, 2])):
            post("CENSUS", minute, size=length, generation=named)
    read = chance.choice([0, length, length, max(0, length - 150)])
    if chance.random() < 0.8:
        post("FRONTIER", chance.randrange(minutes + 600), to_offset=read)
        post("ENTRY", chance.randrange(minutes), to_offset=read, bytes=read)
    for _ in range(chance.choice([0, 0, 1, 2])):
        first = chance.randrange(length + 1)
        gap = {"from_offset": first, "to_offset": first + chance.choice([1, 50, 300])}
        post("GAP", minutes, **gap, bytes=chance.choice([40, 40, -40]))
    return rows


def single_postings() -> str:
    """The query of logs_of_period before days were read (0279)."""
    text = Path(MIGRATIONS / "0279_logs_of_period_by_projection.sql").read_text()
    return re.search(r"INVOKER AS\n(.*)\nCOMMENT", text, re.DOTALL)[1]


@pytest.mark.parametrize("seed", range(4))
def test_minutes_by_hour_and_logs_by_day_are_those_of_single_postings(admin, rendered, seed):
    rows = postings(seed)
    admin.insert("tailrace.ledger", rows)
    kinds = set()
    for first, end in PERIODS:
        period = {"first": f"{first:%F %T}", "end": f"{end:%F %T}"}
        counted = admin.rows(
            COUNTED.format(days=rendered("coverage_days", first.isoformat(), end.isoformat()))
        )
        assert counted == admin.rows(SINGLE, period)
        kinds |= {row["state"] for row in counted}
        given = {"period_from": period["first"], "period_to": period["end"]}
        found = admin.rows(
            "SELECT * FROM tailrace.logs_of_period(period_from = {period_from:DateTime('UTC')}, "
            "period_to = {period_to:DateTime('UTC')}) ORDER BY ALL",
            given,
        )
        assert found == admin.rows(f"SELECT * FROM ({single_postings()}) ORDER BY ALL", given)
    assert kinds == {"covered", "behind", "missing"}
