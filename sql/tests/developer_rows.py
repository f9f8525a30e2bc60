"""Executions and messages as the normalize job writes them, for the tests of developers' queries."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tailrace.clickhouse.client import ClickHouse

NOW = datetime.now(UTC).replace(microsecond=0)
HOUR = timedelta(hours=1)
RANGE = ((NOW - HOUR).isoformat(), NOW.isoformat())
SLOWER, STEADY, NOISY, NEW, OFTEN, RARE = 0xFFFF_0000_0000_0001, 2, 3, 4, 5, 6


def executions(query_id: int, ago: timedelta, seconds: list[float], **columns) -> list[dict]:
    """Inserts one entry for each of `seconds`, one second apart, from `ago` on."""
    return [
        {
            "cluster": "shop",
            "instance": "db1",
            "event_time": f"{NOW - ago + timedelta(seconds=number):%Y-%m-%d %H:%M:%S}",
            "query_id": query_id,
            "rule_set": "tailrace-1",
            "query_time": taken,
            "weight": 1,
            **columns,
        }
        for number, taken in enumerate(seconds)
    ]


BEFORE, DURING = timedelta(minutes=118), timedelta(minutes=50)


def insert_executions(writer: ClickHouse) -> None:
    """Stores statements, some of them slower, new or more frequent in the last hour than before."""
    usual = [0.1 + number / 1000 for number in range(40)]
    events = [
        *executions(STEADY, 2.5 * HOUR, usual),  # the log has been read for longer than both ranges
        *(row for ago in (BEFORE, DURING) for row in executions(STEADY, ago, usual)),
        *executions(SLOWER, BEFORE, usual),
        *executions(SLOWER, DURING, [3 * seconds for seconds in usual]),
        *executions(NOISY, BEFORE, [0.1] * 38 + [0.2, 0.9]),
        *executions(NOISY, DURING, [0.1] * 36 + [0.2, 0.8, 0.8, 0.9]),
        *executions(NEW, DURING, [0.5, 0.25], tags={"application": "shop", "route": "/cart"}),
        *executions(OFTEN, BEFORE, usual[:20]),
        *executions(OFTEN, DURING, usual + usual[:20]),
        *executions(RARE, BEFORE, [0.1]),
        *executions(RARE, DURING, [9, 9, 9]),
    ]
    writer.insert("tailrace.query_events", events)
    first_seen = {NEW: DURING}
    writer.insert(
        "tailrace.fingerprints",
        [
            {
                "query_id": query_id,
                "rule_set": "tailrace-1",
                "fingerprint": f"select {query_id}",
                "seen_at": f"{NOW:%Y-%m-%d %H:%M:%S}",
                "first_seen_at": f"{NOW - first_seen.get(query_id, 3 * HOUR):%Y-%m-%d %H:%M:%S}",
            }
            for query_id in (SLOWER, STEADY, NOISY, NEW, OFTEN, RARE)
        ],
    )


def asking(user: Callable[[str], ClickHouse], rendered: Callable[..., str]) -> Callable[..., list[dict]]:
    """Returns a function that returns the rows of a query for the role of developers."""

    def run(name: str, time_range: tuple[str | None, str | None] = RANGE, **asked) -> list[dict]:
        return user("reader_developer").rows(rendered(name, *time_range, **asked))

    return run


def message(kind: str, minutes_ago: int, **columns) -> dict:
    at = NOW - timedelta(minutes=minutes_ago)
    said = {
        "cluster": "shop",
        "instance": "db1",
        "level": "Note",
        "kind": kind,
        "message": f"something of {kind}",
    }
    return {**said, "event_time": f"{at:%Y-%m-%d %H:%M:%S}", **columns}
