"""Tests that the transparency log and the archive read rows only when every server shows them."""

from collections.abc import Sequence

import pytest

from tailrace.clickhouse.replica_progress import (
    INSERT_SECONDS,
    MARGIN_SECONDS,
    PASS_SECONDS,
    ReplicaError,
    ReplicaProgress,
)

NOW = 1_790_000_000


class Server:
    """A server with a clock, running inserts and replicas, which records its requests."""

    def __init__(self, url: str, asked: list[str]) -> None:
        self.url, self._asked = url, asked
        self.now = NOW
        self.longest_insert = 0
        self.delay = 0
        self.is_cut_off = self.is_down = False

    def rows(self, statement: str, parameters: dict[str, object]) -> list[dict[str, object]]:
        if self.is_down:
            raise ConnectionRefusedError(self.url)
        if "system.processes" in statement:
            self._asked.append("inserts")
            return [{"until": self.now - parameters["margin"] - self.longest_insert}]
        self._asked.append("replicas")
        assert (
            parameters["databases"] == ["tailrace", "tailrace_shard"]
            and "query_events" in parameters["tables"]
        )
        return [
            {"table": "query_events", "is_cut_off": self.is_cut_off, "delay": str(self.delay)},
            {"table": "audit_events", "is_cut_off": False, "delay": "0"},
        ]


class Cluster:
    """Three servers, of which each step is a minute after the last one."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.servers = [Server(f"http://r{number}:8123", self.asked) for number in range(3)]
        self.passed = 0.0
        self._progress = ReplicaProgress(self.servers, ("query_events", "audit_events"), lambda: self.passed)

    def step(self, seconds: int = 60) -> int:
        self._pass(seconds)
        return self._progress.until()

    def wait(self) -> int:
        return self._progress.wait_until(self._pass)

    def require_no_delay(self) -> None:
        self._progress.require_no_delay(self._pass)

    def _pass(self, seconds: float) -> None:
        self.passed += seconds
        for server in self.servers:
            server.now += seconds


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def seconds(found: Sequence[int]) -> list[int]:
    return [each - NOW for each in found]


def test_a_second_is_complete_when_the_replicas_have_learnt_of_its_inserts(cluster):
    assert cluster.step() == 0
    assert seconds([cluster.step(), cluster.step()]) == [60 - MARGIN_SECONDS, 120 - MARGIN_SECONDS]


def test_steps_that_follow_at_once_wait_for_a_second_that_is_old_enough(cluster):
    half = PASS_SECONDS // 2
    found = [cluster.step(half) for _ in range(5)]
    assert found[:2] == [0, 0]
    assert seconds(found[2:]) == [half - MARGIN_SECONDS, 2 * half - MARGIN_SECONDS, 3 * half - MARGIN_SECONDS]


def test_an_insert_that_runs_on_any_server_holds_its_rows_back(cluster):
    cluster.servers[2].longest_insert = 40
    cluster.step()
    cluster.servers[2].longest_insert = 0
    assert seconds([cluster.step(), cluster.step()]) == [60 - MARGIN_SECONDS - 40, 120 - MARGIN_SECONDS]


def test_rows_that_one_replica_still_has_to_fetch_wait(cluster):
    cluster.step()
    cluster.servers[1].delay = 7
    assert seconds([cluster.step()]) == [60 - MARGIN_SECONDS - INSERT_SECONDS - 7]
    cluster.servers[1].delay = 0
    assert seconds([cluster.step()]) == [120 - MARGIN_SECONDS]


def test_inserts_are_read_before_replicas(cluster):
    """An insert that ends between the two is in the queue of a replica, or still ran."""
    cluster.step()
    assert cluster.asked == ["inserts"] * 3 + ["replicas"] * 3


def test_the_clock_that_is_behind_counts(cluster):
    cluster.servers[0].now -= 50
    cluster.step()
    assert seconds([cluster.step()]) == [60 - MARGIN_SECONDS - 50]


def test_nothing_is_read_while_a_server_may_have_other_rows(cluster):
    cluster.step()
    cluster.servers[1].is_cut_off = True
    with pytest.raises(ReplicaError, match="http://r1:8123: the replica of query_events"):
        cluster.step()
    cluster.servers[1].is_cut_off, cluster.servers[2].is_down = False, True
    with pytest.raises(OSError):
        cluster.step()


def test_a_caller_that_runs_once_waits_until_a_second_is_old_enough(cluster):
    cluster.servers[1].delay = 7
    assert seconds([cluster.wait()]) == [-MARGIN_SECONDS - INSERT_SECONDS - 7]
    assert cluster.passed == PASS_SECONDS
    cluster.wait()
    assert cluster.passed == PASS_SECONDS, "the next table needs no further wait"


def test_rows_are_not_compared_while_a_replica_lags(cluster):
    cluster.require_no_delay()
    cluster.servers[2].delay = 7
    with pytest.raises(ReplicaError, match="http://r2:8123: a replica lags by 7 s: repeat"):
        cluster.require_no_delay()


def test_one_server_has_no_replicas():
    server = Server("http://one:8123", [])
    assert ReplicaProgress([server], ("query_events",)).until() == NOW - MARGIN_SECONDS
    ReplicaProgress([server], ("query_events",)).require_no_delay(pytest.fail)
    server.delay = 7
    with pytest.raises(ReplicaError, match="http://one:8123: a replica lags by 7 s"):
        ReplicaProgress([server], ("query_events",)).require_no_delay(pytest.fail)
