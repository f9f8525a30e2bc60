"""A whole shard is killed while rows are inserted through the layer: no row is lost on either shard."""

from collections.abc import Iterator

import pytest
from clickhouse_servers import Quiet
from compared_rows import INSTANCES
from replica_load import (
    assert_every_replica_has,
    block,
    running_load,
    shard_of,
)
from replica_servers import Replica, Replicas, running

from tailrace.clickhouse.client import ClickHouseError

pytestmark = [pytest.mark.replicas, pytest.mark.timeout(900)]

ALL_CONNECTION_TRIES_FAILED = 279


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replicas]:
    """Two shards: one of three replicas, one of two."""
    with running(Replicas(tmp_path_factory.mktemp("shards"), (3, 2)), Quiet()) as shards:
        shards.migrate()
        yield shards


@pytest.mark.parametrize("lost", [1, 2], ids=["three replicas", "two replicas"])
def test_no_row_is_lost_although_all_servers_of_a_shard_are_killed_at_once(cluster, lost):
    cluster.empty_tables()
    with running_load(cluster.running) as load:
        load.await_stored(3, "before the kill")
        kill([each for each in cluster.servers if each.shard == lost])
        load.await_refusals(6)
        before = load.stored
        assert_the_other_shard_works(cluster, load)
        load.await_refusals(6)
        assert load.stored == before + 1, "only the block of the other shard is stored"

        cluster.revive()
        load.await_stored(3, "after the return")
        load.finish()
    assert_every_replica_has(cluster, load.rows)


def kill(servers: list[Replica]) -> None:
    for each in servers:
        each.kill()


def assert_the_other_shard_works(cluster: Replicas, load) -> None:
    """Rows of the living shard are stored and read; a question about all rows fails."""
    living = cluster.running()
    own = [each for each in INSTANCES if shard_of(living[0], each, cluster) == living[0].shard]
    load.store(block(own))
    for each in living:
        assert each.number("SELECT count() FROM tailrace_shard.query_events") > 0
        with pytest.raises(ClickHouseError) as error:
            each.number("SELECT count() FROM tailrace.query_events")
        assert error.value.code == ALL_CONNECTION_TRIES_FAILED
