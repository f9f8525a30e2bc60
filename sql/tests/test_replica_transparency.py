"""The transparency log over replicas: no row is passed over while a replica lags."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from replica_servers import Replicas, delay, wait_until
from test_tables import events
from test_transparency_replaced import STORED, Log, alert

from tailrace.cli import remote
from tailrace.clickhouse import replica_progress
from tailrace.clickhouse.client import ClickHouse
from tailrace.transparency.collector import Collector
from tailrace.transparency.log import TransparencyLog

pytestmark = [pytest.mark.replicas, pytest.mark.timeout(900)]

ROWS = 50
EVENTS, ALERTS = "tailrace.query_events", "tailrace.alerts"
BEHIND = "SELECT max(absolute_delay) FROM system.replicas WHERE table = 'alerts'"
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


def test_alerts_that_a_lagging_replica_lacks_are_not_said_to_be_deleted(
    replicas, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(replica_progress, "PASS_SECONDS", 1)
    first, _, third = replicas.servers
    url = third.user("auditor").url
    (tmp_path / "clickhouse-auditor").write_text(third.user("auditor").password)
    monkeypatch.setenv("TAILRACE_HOME", str(tmp_path))

    def verified(*servers: ClickHouse) -> str:
        """Returns what `tailrace verify --live` answers about the third replica."""
        words = [word for server in servers for word in ("--server", server.url)]
        remote.run(["verify", "--live", *words], url, tmp_path)
        shown = capsys.readouterr()
        return shown.out + shown.err

    log = Log(first.user("auditor"), tmp_path)
    first.user("writer").insert(ALERTS, [alert(1, 1), alert(2, 1)])
    wait_until(lambda: third.number(f"SELECT count() FROM {ALERTS}") == 2, "the third replica has the alerts")
    third.user("admin").execute(f"SYSTEM STOP FETCHES {ALERTS}")
    try:
        first.user("writer").insert(ALERTS, [alert(1, 2), alert(3, 1)])
        log.append(STORED + timedelta(seconds=3))
        wait_until(lambda: third.number(BEHIND) > 1, "the third replica lags")
        for servers in ((), replicas.each("auditor")):
            assert f"{url}: a replica lags by " in verified(*servers)
    finally:
        third.user("admin").execute(f"SYSTEM START FETCHES {ALERTS}")
    wait_until(lambda: third.number(f"SELECT count() FROM {ALERTS}") == 4, "the third replica has all alerts")
    wait_until(lambda: third.number(BEHIND) == 0, "no replica lags")
    assert "tampered" not in verified(*replicas.each("auditor"))
    log.clickhouse = third.user("auditor")
    assert log.verified().counts["versions of rows that are stored"] == 3
