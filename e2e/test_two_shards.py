"""The pipeline with a ClickHouse of two shards, while job and shard are killed: each byte is stored once."""

import os
from collections.abc import Iterator

import pytest

from e2e.stack import Stack, wait_until
from e2e.wait_for_idle import assert_exact
from e2e.workload.writer import Workload
from sql.tests.clickhouse_servers import Shards, running

PARTS = ("kafka", "flink", "census", "fluentbit")
FIRST_PORT = int(os.environ.get("SHARDS_FIRST_PORT", "23150"))
SERVERS = 4

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> Iterator[Shards]:
    with running(Shards(tmp_path_factory.mktemp("shards"))) as server:
        server.migrate()
        yield server


@pytest.fixture(scope="module")
def stack(shards: Shards) -> Iterator[Stack]:
    """All components but ClickHouse, which are the two servers; in the home of the first one, for its
    passwords."""
    asked = shards.settings
    running_stack = Stack(shards.home.root, FIRST_PORT, PARTS, port_clickhouse=str(asked.port_clickhouse))
    running_stack.up()
    yield running_stack
    running_stack.down()


def test_each_byte_once_on_two_shards_although_job_and_shard_are_killed(shards, stack, tmp_path):
    workloads = [Workload(tmp_path / f"logs-{seed}", seed, f"shards-{seed}") for seed in range(1, SERVERS)]
    stack.watch(log for workload in workloads for log in workload.logs)
    for workload in workloads:
        workload.write(400)
    wait_until(lambda: min(_events(shards)) > 0, "events on both shards")
    stack.kill("flink")
    shards.second.kill()
    for workload in workloads:
        workload.write(400)
    shards.second.start()
    for workload in workloads:
        workload.write(200)
        workload.finish()
    stack.await_healthy()
    assert_exact(stack, [log for workload in workloads for log in workload.manifests])
    assert min(_events(shards)) > 0


def _events(shards: Shards) -> list[int]:
    """Returns the number of rows that each shard stores."""
    question = "SELECT count() FROM tailrace_shard.query_events"
    return [int(admin.execute(question)) for admin in shards.each("admin")]
