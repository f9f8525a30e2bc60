"""A shard is added and removed while logs grow: the jobs pause, rows move, and each byte is stored once."""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack, wait_until
from e2e.wait_for_idle import assert_exact, tailrace
from e2e.workload.writer import Workload
from sql.tests.clickhouse_servers import Shards, running
from tailrace.deployment import __main__ as deployment
from tailrace.migrations.rebalancing import Rebalancing
from tailrace_local import checkpoints
from tailrace_local.components.detect import Detect
from tailrace_local.components.flink import Flink, FlinkJob
from tailrace_local.supervisor import control

COLLECTORS = ("census", "fluentbit")
JOBS = {job.name: job for job in (Flink, Detect)}
FIRST_PORT = int(os.environ.get("SHARDS_FIRST_PORT", "23150"))
RATE = 10
"""Entries a second of each workload."""
PAUSE_CHECKPOINTS = 2
SERVERS = 3
WAITING = re.compile(
    r"^flink_taskmanager_job_task_operator_(?:clickhouse_)?pending\w+\{.*\} (\S+)$", re.MULTILINE
)
"""Blocks, bytes and records that a job has not finished."""

pytestmark = [pytest.mark.long, pytest.mark.timeout(2400)]


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> Iterator[Shards]:
    with running(Shards(tmp_path_factory.mktemp("shards"))) as servers:
        servers.migrate()
        yield servers


@pytest.fixture(scope="module")
def stack(shards: Shards) -> Iterator[Stack]:
    """All components but ClickHouse, which are the servers; in the home of the first, for its passwords."""
    running_stack = Stack(
        shards.home.root,
        FIRST_PORT,
        ("kafka", *JOBS, *COLLECTORS),
        port_clickhouse=str(shards.settings.port_clickhouse),
        port_detect=str(FIRST_PORT + 6),
    )
    running_stack.up()
    yield running_stack
    running_stack.down()


def test_each_byte_once_although_a_shard_is_added_and_removed_while_logs_grow(shards, stack, tmp_path):
    """Lines also arrive while both jobs are stopped."""
    workloads = [Workload(tmp_path / f"logs-{seed}", seed, f"moved-{seed}") for seed in range(SERVERS)]
    logs = [log for workload in workloads for log in workload.manifests]
    stack.watch(log for workload in workloads for log in workload.logs)
    with writing(workloads):
        wait_until(lambda: min(events(shards)) > 0, "events on both shards")
        pause(stack)
        shards.add_servers(1)
        shards.join((1, 1, 1))
        shards.migrate()
        assert rebalanced(shards) == 0
        added = events(shards)[2]
        assert added > 0
        resume(stack)
        wait_until(lambda: events(shards)[2] > added, "new events on the third shard")
    assert_exact(stack, logs)
    tailrace(stack, "ledger", "--strict", "--wait", str(LIMIT_SECONDS))

    with writing(workloads):
        pause(stack)
        shards.join((1, 1, 0))
        assert rebalanced(shards) == 0
        assert events(shards)[2] == 0
        shards.join((1, 1))
        resume(stack)
        stored = sum(events(shards))
        wait_until(lambda: sum(events(shards)) > stored, "new events on two shards")
    assert_exact(stack, logs)
    tailrace(stack, "ledger", "--strict", "--wait", str(LIMIT_SECONDS))


@contextmanager
def writing(workloads: list[Workload]) -> Iterator[None]:
    """Writes to all logs in the block, and finishes every entry at its end."""
    with ExitStack() as written:
        for workload in workloads:
            written.enter_context(workload.writing(RATE))
        yield


def pause(stack: Stack) -> None:
    """Stops both jobs with a savepoint that contains no blocks. Afterwards collectors run without them.

    A block in a savepoint is inserted again by the next start. Its token stays on the shard on which it was
    stored, so that another shard would store it a second time.
    """
    for name in COLLECTORS:
        control.stop_component(stack.home, name)
    for job in (kind(stack.settings, stack.home) for kind in JOBS.values()):
        await_nothing_waits(job)
        job.take_savepoint()
        control.stop_component(stack.home, job.name)
    for name in COLLECTORS:
        control.start_component(stack.home, name)


def await_nothing_waits(job: FlinkJob) -> None:
    """Waits for checkpoints before and after each of which nothing waited."""
    since = newest(job)

    def is_idle() -> bool:
        nonlocal since
        found = [float(value) for value in WAITING.findall(job.metrics())]
        assert found, job.metrics()
        if any(found):
            since = newest(job)
        return newest(job) >= since + PAUSE_CHECKPOINTS

    wait_until(is_idle, f"{job.name} to have stored everything")


def newest(job: FlinkJob) -> int:
    found = checkpoints.newest(job.checkpoint_directory())
    return found.id if found else 0


def resume(stack: Stack) -> None:
    for name in JOBS:
        control.start_component(stack.home, name)
    stack.await_healthy()


def rebalanced(shards: Shards) -> int:
    """Moves rows with the command of users; returns how many partitions have rows to move afterwards."""
    words = ["rebalance", "--cluster", Shards.CLUSTER, "--secrets", str(shards.home.secrets)]
    for each in shards.each("admin"):
        words += ["--clickhouse", each.url]
    assert deployment.main([*words, "--writers-stopped"]) == 0
    return len(Rebalancing(Shards.CLUSTER, shards.each("admin")).misplaced())


def events(shards: Shards) -> list[int]:
    """Returns the number of rows that each shard stores."""
    question = "SELECT count() FROM tailrace_shard.query_events"
    return [int(admin.execute(question)) for admin in shards.each("admin")]
