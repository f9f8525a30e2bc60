"""The transparency log over replicas: no row is passed over while a replica lags."""

from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from replica_servers import Replicas, delay, wait_until
from test_tables import events

from tailrace.clickhouse import replica_progress
from tailrace.clickhouse.client import ClickHouse
from tailrace.transparency.collector import Collector
from tailrace.transparency.log import TransparencyLog

pytestmark = [pytest.mark.replicas, pytest.mark.timeout(900)]

ROWS = 50
EVENTS = "tailrace.query_events"
FETCHED = "SELECT count() FROM tailrace.query_events"


@pytest.fixture
def replicas(three_replicas: Replicas) -> Replicas:
    three_replicas.revive()
    three_replicas.empty_tables()
    return three_replicas


def logged(clickhouse: ClickHouse, servers: list[ClickHouse], directory: Path) -> Callable[[], int]:
    """Returns a step of a log that reads one server: it returns how many events are in leaves."""
    log = TransparencyLog(directory, "tailrace/test", Ed25519PrivateKey.from_private_bytes(bytes(32)))
    collector = Collector(clickhouse, log.store, directory / "hosts.json", ("query_events",), servers)

    def step() -> int:
        log.append(collector.collect())
        return sum(log.store.anchored("query_events", 0).values())

    return step


def test_rows_that_a_lagging_replica_does_not_show_are_not_passed_over(replicas, tmp_path, monkeypatch):
    monkeypatch.setattr(replica_progress, "PASS_SECONDS", 1)
    monkeypatch.setattr(replica_progress, "MARGIN_SECONDS", 0)
    first, _, third = replicas.servers
    of_third = third.user("auditor")
    step = logged(of_third, replicas.each("auditor"), tmp_path / "log")
    alone = logged(of_third, [], tmp_path / "alone")
    third.user("admin").execute(f"SYSTEM STOP FETCHES {EVENTS}")
    try:
        first.user("writer").insert(EVENTS, events(ROWS))
        wait_until(lambda: delay(of_third) > 1, "the third replica lags")
        assert [step(), alone()] == [0, 0]
    finally:
        third.user("admin").execute(f"SYSTEM START FETCHES {EVENTS}")
    wait_until(lambda: third.number(FETCHED) == ROWS, "the third replica has the rows")

    wait_until(lambda: step() == ROWS, "the rows are in the log")
    assert alone() == 0, "the position of a log that reads one replica has passed the rows"
