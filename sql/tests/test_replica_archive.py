"""The archive over replicas: no row is passed over while a replica lags."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from archive_rows import DAY, NEXT_DAY
from replica_servers import Replicas, delay, wait_until
from test_tables import events

from tailrace.archive import location, service
from tailrace.clickhouse import replica_progress
from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.replica_progress import ReplicaError, ReplicaProgress

pytestmark = [pytest.mark.replicas, pytest.mark.timeout(900)]

EVENTS = "tailrace.query_events"
STORED = f"SELECT count() FROM {EVENTS}"


@pytest.fixture
def replicas(three_replicas: Replicas) -> Replicas:
    three_replicas.revive()
    three_replicas.empty_tables()
    return three_replicas


def of_day(count: int, offset: int) -> list[dict]:
    """Returns events of a closed day, which are stored now."""
    return [
        {**event, "event_time": f"{DAY} 10:00:{offset:02}", "entry_offset": offset * 1000 + number}
        for number, event in enumerate(events(count))
    ]


def archived(clickhouse: ClickHouse, servers: Sequence[ClickHouse], home: Path) -> Callable[[], int]:
    """Returns a run of an archive that reads one server; a run returns all rows that are archived."""
    at = location.opened(str(home / "archive"))
    task = service.Task(clickhouse, at, home, lambda _: None, servers=servers)
    rows: dict[str, int] = {}

    def run() -> int:
        rows.update({day.day: day.rows for day, _ in task.run(NEXT_DAY + timedelta(days=1))})
        return sum(rows.values())

    return run


def test_rows_that_a_lagging_replica_does_not_show_are_archived_later(replicas, tmp_path, monkeypatch):
    monkeypatch.setattr(replica_progress, "PASS_SECONDS", 1)
    monkeypatch.setattr(replica_progress, "MARGIN_SECONDS", 0)
    first, _, third = replicas.servers
    of_third, servers = third.user("admin"), replicas.each("admin")
    run, alone = archived(of_third, servers, tmp_path / "all"), archived(of_third, [], tmp_path / "alone")
    progress = ReplicaProgress(servers, ("query_events",))
    of_third.execute(f"SYSTEM STOP FETCHES {EVENTS}")
    try:
        first.user("writer").insert(EVENTS, of_day(50, 1))
        third.user("writer").insert(EVENTS, of_day(3, 2))
        stored = datetime.now(UTC)
        wait_until(
            lambda: datetime.now(UTC) > stored + timedelta(seconds=1), "the second of the inserts is over"
        )
        wait_until(lambda: delay(of_third) > 1, "the third replica lags")
        assert [run(), alone()] == [0, 3]
        with pytest.raises(ReplicaError, match="a replica lags by"):
            progress.require_no_delay()
    finally:
        of_third.execute(f"SYSTEM START FETCHES {EVENTS}")
    wait_until(lambda: third.number(STORED) == 53, "the third replica has the rows")

    wait_until(lambda: run() == 53, "the rows are archived")
    assert alone() == 3, "a run that asks one replica has passed the rows"
    progress.require_no_delay()
