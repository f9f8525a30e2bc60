"""The pipeline with three replicas of ClickHouse that are killed: each byte once on each replica."""

import os
from collections.abc import Iterator

import pytest

from e2e.stack import Stack, wait_until
from e2e.wait_for_idle import assert_exact
from e2e.workload.writer import Workload
from sql.tests.clickhouse_servers import Quiet
from sql.tests.replica_servers import Replicas, running

PARTS = ("kafka", "flink", "census", "fluentbit")
FIRST_PORT = int(os.environ.get("REPLICATED_FIRST_PORT", "23160"))
COUNTED = {
    "events": "SELECT count() FROM tailrace.query_events",
    "load": "SELECT sum(count) FROM tailrace.query_load_1m",
    "classes": "SELECT sum(count) FROM tailrace.query_classes_1h",
    "receipts": "SELECT sum(rows) FROM tailrace.receipts WHERE kind = 'EVENT'",
}

pytestmark = [pytest.mark.replicas, pytest.mark.timeout(1500)]


@pytest.fixture(scope="module")
def replicas(tmp_path_factory) -> Iterator[Replicas]:
    with running(Replicas(tmp_path_factory.mktemp("replicas")), Quiet()) as cluster:
        cluster.migrate()
        yield cluster


@pytest.fixture(scope="module")
def stack(replicas: Replicas) -> Iterator[Stack]:
    """All components but ClickHouse, whose first server the jobs use; in its home, for its passwords."""
    first = replicas.servers[0]
    port = str(first.settings.port_clickhouse)
    running_stack = Stack(first.home.root, FIRST_PORT, PARTS, port_clickhouse=port)
    running_stack.up()
    yield running_stack
    running_stack.down()


def test_each_byte_once_on_each_replica_although_servers_are_killed(replicas, stack, tmp_path):
    workload = Workload(tmp_path / "logs", 7, "replicated-7")
    first, second, third = replicas.servers
    events = "SELECT count() FROM tailrace.query_events"
    stack.watch(workload.logs)
    workload.write(300)
    wait_until(lambda: min(replicas.on_each(events)) > 0, "events on each replica")
    second.kill()
    workload.write(300)
    before = first.number(events)
    wait_until(lambda: first.number(events) > before, "inserts with two servers")
    first.kill()
    workload.write(300)
    second.start()
    first.start()
    third.kill()
    workload.write(300)
    third.start()
    workload.finish()
    stack.await_healthy()
    assert_exact(stack, workload.manifests)

    replicas.await_calm()
    found = {name: replicas.on_each(sql) for name, sql in COUNTED.items()}
    assert found["load"] == found["classes"] == found["events"]
    assert all(len(set(numbers)) == 1 for numbers in found.values()), found
