"""Minutes without a census are unknown, not idle; a late census still proves its minutes."""

import json
import time
from datetime import datetime, timedelta

import pytest

from e2e.comparison import THIS_LOG, Stored
from e2e.stack import COLLECTORS, Stack, wait_until
from e2e.wait_for_idle import assert_exact, tailrace
from e2e.workload.manifest import LogManifest
from tailrace_local.supervisor import control

pytestmark = [pytest.mark.long, pytest.mark.timeout(1500)]

MINUTE = 60
LATE_CENSUS_SECONDS = 15


def test_minutes_without_collectors_are_unknown(stack: Stack, watched):
    workload = watched(seed=1)
    workload.write(300)
    workload.finish()
    assert_exact(stack, workload.manifests)
    for log in workload.logs:
        log.append_raw(b"# Time")  # collectors ship complete lines only
    _await_census(stack, workload.manifests)
    begun = max(_minute_of_census(stack, log) for log in workload.manifests)
    for part in COLLECTORS:
        control.stop_component(stack.home, part)
    unseen = _minute(time.time()) + MINUTE
    wait_until(lambda: time.time() > unseen + MINUTE + LATE_CENSUS_SECONDS, "a minute to pass")

    assert _states(stack, workload.manifests, begun) == {"behind"}
    assert _states(stack, workload.manifests, unseen) == {"unknown"}
    instance = workload.manifests[0].instance
    shown = tailrace(stack, "ledger", "--minutes", "5", "--instance", instance)
    assert "The ledger balances." in shown and "Unknown: " in shown
    tailrace(stack, "ledger", "--minutes", "5", "--instance", instance, "--strict", expected=1)

    for part in COLLECTORS:
        control.start_component(stack.home, part)
    wait_until(
        lambda: "unknown" not in _states(stack, workload.manifests, _minute(time.time()) - MINUTE),
        "a minute that was looked at again",
    )
    assert _states(stack, workload.manifests, unseen) == {"unknown"}


def test_minutes_with_only_a_census_are_evaluated_when_its_spool_arrives(stack: Stack, watched):
    workload = watched(seed=2)
    workload.write(300)
    workload.finish()
    assert_exact(stack, workload.manifests)
    with stack.without("fluentbit"):
        seen = _minute(time.time()) + MINUTE
        wait_until(lambda: time.time() > seen, "the next minute")
        workload.write(500)
        workload.finish()
        after = seen + MINUTE + LATE_CENSUS_SECONDS
        wait_until(lambda: time.time() > after, "a minute to pass")
        assert _states(stack, workload.manifests, seen) == {"unknown"}
    wait_until(
        lambda: _states(stack, workload.manifests, seen) == {"covered"},
        "the minute to be covered",
    )
    assert_exact(stack, workload.manifests)


def _minute(moment: float) -> int:
    return int(moment) // MINUTE * MINUTE


def _await_census(stack: Stack, logs: list[LogManifest]) -> None:
    wait_until(
        lambda: all(_size_in_census(stack, log) == log.bytes for log in logs), "a census of every byte"
    )


def _size_in_census(stack: Stack, log: LogManifest) -> int:
    newest = f"SELECT max(size) AS size FROM tailrace.ledger WHERE {THIS_LOG} AND kind = 'CENSUS'"
    return Stored(stack.clickhouse(), log).row(newest)["size"]


def _minute_of_census(stack: Stack, log: LogManifest) -> int:
    """Returns the minute of the first census of every byte."""
    first = (
        f"SELECT toUnixTimestamp(min(at)) AS at FROM tailrace.ledger WHERE {THIS_LOG} AND kind = 'CENSUS'"
        f" AND ledger.size = {log.bytes}"
    )
    return _minute(Stored(stack.clickhouse(), log).row(first)["at"])


def _states(stack: Stack, logs: list[LogManifest], minute: int) -> set[str]:
    """Returns the states of the minute, over these logs."""
    states = set()
    for instance in {log.instance for log in logs}:
        ledger = json.loads(tailrace(stack, "ledger", "--json", "--minutes", "10", "--instance", instance))
        states |= {interval["state"] for interval in ledger["minutes"] if _holds(interval, minute)}
    return states


def _holds(interval: dict, minute: int) -> bool:
    first = datetime.fromisoformat(interval["first"])
    end = first + timedelta(minutes=interval["minutes"])
    return first.timestamp() <= minute < end.timestamp()
