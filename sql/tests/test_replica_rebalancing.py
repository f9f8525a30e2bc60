"""Rows move to the shard that stores them, on every replica of both shards."""

import json
from collections.abc import Iterator

import pytest
from clickhouse_servers import Quiet
from compared_rows import INSTANCES
from replica_load import assert_every_replica_has, block, rows_of, shard_of
from replica_servers import Replica, Replicas, running
from test_tables import EXACTLY_ONCE

from tailrace.migrations.rebalancing import Rebalancing

pytestmark = [pytest.mark.replicas, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replicas]:
    """Two shards: one of three replicas, one of two."""
    with running(Replicas(tmp_path_factory.mktemp("shards"), (3, 2)), Quiet()) as shards:
        shards.migrate()
        yield shards


def test_rows_of_the_other_shard_move_on_every_replica(cluster):
    one_of_each: list[Replica] = [cluster.servers[0], cluster.servers[-1]]
    stored = []
    for server in one_of_each:
        of_the_other = [each for each in INSTANCES if shard_of(server, each, cluster) != server.shard]
        rows = block(of_the_other)
        lines = "\n".join(map(json.dumps, rows))
        server.user("writer").execute(
            f"INSERT INTO tailrace_shard.query_events FORMAT JSONEachRow\n{lines}",
            insert_deduplication_token=f"on {server.name}",
            **EXACTLY_ONCE,
        )
        stored.append(rows)
    rebalancing = Rebalancing("tailrace", [server.user("admin") for server in one_of_each])
    assert {moved.table for moved in rebalancing.misplaced()} >= {"query_events", "query_load_1m", "receipts"}
    rebalancing.run()

    assert rebalancing.misplaced() == []
    assert_every_replica_has(cluster, rows_of(*stored))
