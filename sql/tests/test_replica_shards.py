"""Two shards with replicas: rows through the layer over all shards, while servers are killed."""

import threading
from collections.abc import Iterator

import pytest
from clickhouse_servers import Quiet
from compared_rows import INSTANCES
from replica_servers import Replicas, running, wait_until
from test_replica_inserts import COUNTED, insert
from test_tables import events

from tailrace.clickhouse.client import ClickHouseError
from tailrace.migrations import reconciliation

pytestmark = [pytest.mark.replicas, pytest.mark.timeout(900)]

BLOCKS = 15
ROWS = 400
PATIENCE_SECONDS = 300


@pytest.fixture(scope="module", params=[(3, 3), (2, 2)], ids=["three replicas each", "two replicas each"])
def shards(request, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replicas]:
    cluster = Replicas(tmp_path_factory.mktemp("shards"), request.param)
    with running(cluster, Quiet()):
        cluster.migrate()
        yield cluster


def block() -> list[dict]:
    """A block with rows for each shard."""
    return [
        {**event, "instance": INSTANCES[number % len(INSTANCES)]} for number, event in enumerate(events(ROWS))
    ]


class Writer(threading.Thread):
    """Inserts blocks through any server that runs, always with the same token, as the committer does."""

    def __init__(self, shards: Replicas) -> None:
        super().__init__(daemon=True)
        self._shards = shards
        self.stored = 0

    def run(self) -> None:
        for _ in range(BLOCKS):
            rows = block()
            if not self._insert(rows):
                wait_until(lambda rows=rows: self._insert_again(rows), "a block is stored", PATIENCE_SECONDS)
            self.stored += 1

    def _insert_again(self, rows: list[dict]) -> bool:
        return self._insert(rows) and self._insert(rows)

    def _insert(self, rows: list[dict]) -> bool:
        servers = self._shards.running()
        try:
            insert(servers[self.stored % len(servers)].user("writer"), rows, insert_quorum_timeout=10_000)
        except (ClickHouseError, OSError):
            return False
        return True


def test_each_row_counts_once_although_a_server_of_each_shard_is_killed(shards):
    writer = Writer(shards)
    writer.start()
    wait_until(lambda: writer.stored > 1, "blocks are stored", PATIENCE_SECONDS)
    for shard in (1, 2):
        next(each for each in shards.servers if each.shard == shard).kill()
    if len(shards.running()) == 4:
        before = writer.stored
        wait_until(lambda: writer.stored > before + 2, "two of three are enough", PATIENCE_SECONDS)
    shards.revive()
    writer.join(PATIENCE_SECONDS)
    assert writer.stored == BLOCKS
    shards.await_calm()

    own = {name: shards.on_each(sql.format("tailrace_shard")) for name, sql in COUNTED.items()}
    assert all(numbers == own["events"] for numbers in own.values()), own
    of_shard = {each.shard: number for each, number in zip(shards.servers, own["events"], strict=True)}
    assert own["events"] == [of_shard[each.shard] for each in shards.servers], "replicas of a shard differ"
    assert min(of_shard.values()) > 0
    for name, sql in COUNTED.items():
        assert shards.on_each(sql.format("tailrace")) == [BLOCKS * ROWS] * len(shards.servers), name
    assert reconciliation.compare(shards.each("admin"), days=7, settle_seconds=0) == []


def test_every_server_has_the_same_layer(shards):
    tables = "SELECT name, engine FROM system.tables WHERE database = {d:String} ORDER BY name"
    for database in ("tailrace", "tailrace_shard"):
        first, *others = (admin.rows(tables, {"d": database}) for admin in shards.each("admin"))
        assert first
        assert all(other == first for other in others)
