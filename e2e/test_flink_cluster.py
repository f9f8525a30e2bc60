"""The normalize job on two JobManagers and two TaskManagers, with checkpoints in S3: every row once.

Processes, ZooKeeper and the object store are killed while logs grow. The configuration is the chart's.
"""

import dataclasses
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.flink_cluster import BUCKET, SESSION_MILLIS, FlinkCluster, await_time, prepared
from e2e.limits import LIMIT_SECONDS
from e2e.stack import PORTS as STACK_PORTS
from e2e.stack import Stack, wait_until
from e2e.wait_for_idle import assert_exact, settle, tailrace
from e2e.workload import statements
from e2e.workload.writer import Workload
from tailrace.health import rules
from tailrace.health.metrics import job_metrics

FIRST_PORT = int(os.environ.get("FLINK_FIRST_PORT", "23400"))
CLUSTER_PORT = FIRST_PORT + len(STACK_PORTS)
PARTS = ("kafka", "clickhouse", "census", "fluentbit")
RATE = 40
GAP_MILLIS = 60_000
"""Above the longest interruption: lines that wait are no gap."""
CONFIG = {"parallelism": 2, "checkpoint.interval.ms": 2000, "gap.timeout.ms": GAP_MILLIS}
OUTAGE_SECONDS = 60
ALERT_SECONDS = 20
"""Instead of two minutes without a checkpoint."""
LOST = b"Connection to ZooKeeper lost"
KEY_GROUPS = 128
"""Flink's default up to 85 subtasks. So many subtasks, at most, can share the state of a savepoint."""

pytestmark = [pytest.mark.flink_cluster, pytest.mark.timeout(2400)]


@pytest.fixture(scope="module")
def stack(tmp_path_factory) -> Iterator[Stack]:
    """All components but the job."""
    made = Stack(tmp_path_factory.mktemp("flink") / "home", FIRST_PORT, PARTS)
    made.up()
    yield made
    made.down()


@pytest.fixture(scope="module")
def cluster(stack: Stack, tmp_path_factory) -> Iterator[FlinkCluster]:
    """The running job."""
    with prepared(stack, tmp_path_factory.mktemp("cluster"), CLUSTER_PORT) as made:
        made.configure("normalize", CONFIG)
        made.start()
        yield made


@pytest.fixture
def watched(stack: Stack, cluster: FlinkCluster, tmp_path: Path, request) -> Iterator[Workload]:
    """Logs of servers that are named after the test; at the end all processes run."""
    name = request.node.name.removeprefix("test_").replace("[", "_").rstrip("]")
    workload = Workload(tmp_path / "logs", 1, name)
    stack.watch(workload.logs)
    yield workload
    cluster.start_ended()  # those of a failed test
    cluster.await_running()
    stack.unwatch(workload.logs)


def await_more(workload: Workload, entries: int = 200) -> None:
    before = workload.entries
    wait_until(lambda: workload.entries >= before + entries, "more entries")


def await_rows(stack: Stack, workload: Workload) -> None:
    """Returns when the first entries of the workload are stored."""
    query = "SELECT count() AS rows FROM tailrace.query_events WHERE instance = {instance:String}"
    instance = {"instance": workload.manifests[0].instance}
    wait_until(lambda: stack.clickhouse().rows(query, instance)[0]["rows"] > 0, "the first rows")


def assert_complete(stack: Stack, workload: Workload) -> None:
    """Every row equals the manifest, no bytes were lost on the way, and the strict ledger balances."""
    assert settle(stack, workload.manifests, LIMIT_SECONDS) == {}
    assert_exact(stack, workload.manifests, LIMIT_SECONDS)
    for instance in sorted({log.instance for log in workload.manifests}):
        tailrace(stack, "ledger", "--instance", instance, "--strict", "--wait", str(LIMIT_SECONDS))


def stands(cluster: FlinkCluster) -> bool:
    """Whether the alert TailraceCheckpoints fires for the job, with a shorter time."""
    (rule,) = (each for each in rules.load() if each.name == "TailraceCheckpoints")
    soon = dataclasses.replace(rule, limit=ALERT_SECONDS)
    return bool(rules.firing([soon], job_metrics({"normalize": cluster.ask})))


def test_the_leading_manager_is_killed(stack: Stack, cluster: FlinkCluster, watched: Workload):
    with watched.writing(RATE):
        await_rows(stack, watched)
        before, old = cluster.await_completed(), cluster.leader()
        old.kill()
        assert cluster.leader() is not old
        restored = cluster.await_restored(before)
        assert restored["external_path"].startswith(f"s3://{BUCKET}/flink/tailrace/normalize/checkpoints/")
        await_more(watched)
        cluster.start_ended()
        cluster.await_completed(restored["id"])
    assert_complete(stack, watched)


@pytest.mark.parametrize("count", [1, 2])
def test_task_managers_are_killed(stack: Stack, cluster: FlinkCluster, watched: Workload, count: int):
    """One can run the job alone. Without both, the job stands, and an alert names it."""
    with watched.writing(RATE):
        await_rows(stack, watched)
        before = cluster.await_completed()
        for worker in cluster.busy_first()[:count]:
            worker.kill()
        await_more(watched)
        if count == len(cluster.workers):
            wait_until(lambda: stands(cluster), "the alert of a job without checkpoints")
            cluster.start_ended()
        cluster.await_restored(before)
        cluster.start_ended()
        wait_until(lambda: not stands(cluster), "the alert to clear")
    assert_complete(stack, watched)


def test_zookeeper_stops_and_returns(stack: Stack, cluster: FlinkCluster, watched: Workload):
    """Without it nobody leads, and the job stands. It returns before the sessions of the JobManagers end."""
    with watched.writing(RATE):
        await_rows(stack, watched)
        before = cluster.await_completed()
        cluster.zookeeper.stop()
        wait_until(lambda: not any(each.leads() for each in cluster.managers), "the leader to resign")
        cluster.zookeeper.start()
        cluster.await_restored(before)
    assert_complete(stack, watched)


def test_zookeeper_is_away_for_longer_than_the_sessions(
    stack: Stack, cluster: FlinkCluster, watched: Workload
):
    """A JobManager ends, or gets a new session. Its former session lives on in ZooKeeper for a while."""
    with watched.writing(RATE):
        await_rows(stack, watched)
        before = cluster.await_completed()
        cluster.zookeeper.stop()
        wait_until(
            lambda: all(LOST in each.log for each in cluster.managers if each.is_running),
            "all sessions to end",
        )
        cluster.zookeeper.start()
        cluster.start_ended()
        cluster.await_restored(before)
        await_time(SESSION_MILLIS / 1000)
        assert sum(each.leads() for each in cluster.managers) == 1
        await_more(watched)
    assert_complete(stack, watched)


def test_the_object_store_is_away_for_a_minute(stack: Stack, cluster: FlinkCluster, watched: Workload):
    """No checkpoint completes, and the job continues. Rows are stored after the next checkpoint."""
    with watched.writing(RATE):
        await_rows(stack, watched)
        before = cluster.await_completed()
        cluster.store.pause()
        await_time(OUTAGE_SECONDS)
        assert cluster.completed() <= before + 1  # one may have been nearly complete
        cluster.store.resume()
        cluster.await_completed(before + 1)
    assert_complete(stack, watched)


def test_savepoints_are_read_with_another_parallelism(stack: Stack, cluster: FlinkCluster, watched: Workload):
    """The state of the framer has a part of an entry of each slow log while the job stands."""
    with watched.writing(RATE):
        await_rows(stack, watched)
    for parallelism in (4, 1):
        leave_open(watched)
        wait_until(lambda: stack.has_queued(watched.logs), "all lines to be read")
        cluster.await_completed(cluster.await_completed(cluster.completed()))
        savepoint = cluster.stop_with_savepoint()
        assert savepoint.startswith(f"s3://{BUCKET}/flink/tailrace/normalize/savepoints/")
        with watched.writing(RATE):
            await_more(watched, 40)
            cluster.configure("normalize", {**CONFIG, "parallelism": parallelism})
            cluster.start(savepoint)
            await_more(watched)
        assert cluster.subtasks("framer") == (parallelism, KEY_GROUPS)
        assert_complete(stack, watched)


def leave_open(workload: Workload) -> None:
    """Writes all lines but the last of an entry of each log whose entries have several."""
    for log in workload.logs:
        log.finish_torn()
        entry = log.shape.entry(statements.ordinary(workload.random), time.time())
        if length := entry.content.rfind(b"\n", 0, -1) + 1:
            log.begin(entry, length)
