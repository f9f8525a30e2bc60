"""Rows move to the shard that stores them after shards were added or removed, also after interruptions."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from clickhouse_servers import Shards, running
from compared_rows import INSTANCES, insert_same_rows
from memory_directory import in_memory
from test_tables import EXACTLY_ONCE, events

from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.deployment import __main__ as deployment
from tailrace.migrations import rebalancing
from tailrace.migrations.rebalancing import Rebalancing, RebalancingError

TABLES = (
    "SELECT name, if(engine = 'MergeTree', '', 'FINAL') AS final FROM system.tables "
    "WHERE database = 'tailrace_shard' AND engine LIKE '%MergeTree' AND name != 'schema_migrations'"
)
FEW = ("query_events", "query_load_1m", "alerts")
"""One table of each kind: with partitions by time, with states of aggregate functions, replacing rows."""
Rows = dict[str, Counter[str]]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shards]:
    """Two shards with rows in every table, to which a third one was added."""
    with in_memory(tmp_path_factory.mktemp("shards")) as home:
        shards = Shards(home)
        shards.copy_schema()
        with running(shards):
            insert_same_rows(shards)
            shards.add_servers(1)
            shards.join((1, 1, 1))
            shards.migrate()
            yield shards


def rows_of(cluster: Shards, only: Sequence[str] = ()) -> Rows:
    """Returns the rows of every table, as all shards together have them."""
    admin = cluster.user("admin")
    return {
        table["name"]: Counter(
            admin.execute(
                f"SELECT toString(tuple(*)) FROM tailrace.{table['name']} {table['final']}"
            ).splitlines()
        )
        for table in admin.rows(TABLES)
        if table["name"] in only or not only
    }


def count(cluster: Shards, instance: str, **settings: object) -> int:
    sql = "SELECT count() FROM tailrace.query_events WHERE instance = {i:String}"
    return int(cluster.user("admin").execute(sql, {"i": instance}, **settings))


def assert_queries_find_all_rows_on_one_shard(cluster: Shards) -> None:
    """ClickHouse itself chooses the shard of an instance."""
    for instance in INSTANCES:
        on_its_shard = count(
            cluster, instance, optimize_skip_unused_shards=1, force_optimize_skip_unused_shards=2
        )
        assert on_its_shard == count(cluster, instance), instance


def test_rows_of_few_tables_move_although_runs_are_interrupted(cluster, monkeypatch):
    monkeypatch.setattr(rebalancing, "BATCH_ROWS", 60)  # some partitions together, some alone
    before = rows_of(cluster, FEW)
    assert all(each.total() > 50 for each in before.values())
    interruptions = move(cluster, FEW, random.Random(3))

    assert interruptions > 5
    assert rows_of(cluster, FEW) == before
    assert_queries_find_all_rows_on_one_shard(cluster)
    assert leftovers(cluster) == 0


def test_a_run_with_other_servers_or_weights_is_refused_until_the_first_is_abandoned(cluster, capsys):
    """After the third server has left the cluster, a run of two would not see its rows of the partition."""
    before = rows_of(cluster, FEW)
    cluster.join((1, 3, 2))
    interrupt_while_replacing(cluster)
    abandon_all = command(cluster, "--abandon", "--writers-stopped")
    third = cluster.servers()[2]
    cluster.join((2, 3))
    third.start()
    copied = leftovers(cluster)
    try:
        text = refusal(capsys, *command(cluster, "--writers-stopped"))
        assert "shard 1 had the weight 1, and has 2 now" in text
        assert f"shard 3, {third.user('admin').url}, is missing" in text
        assert text.count("--clickhouse") == 3
        assert third.user("admin").url in refusal(capsys, *command(cluster, "--abandon", "--writers-stopped"))
        assert deployment.main(command(cluster, "--dry-run")) == 0
        assert "a run is open since" in capsys.readouterr().out
        with pytest.raises(RebalancingError, match="before you change the schema"):
            cluster.migrate()
        with pytest.raises(ClickHouseError, match="refuses new ones until it has ended"):
            insert_events(cluster, "while open")
        assert leftovers(cluster) == copied

        assert deployment.main(abandon_all) == 0
        assert "no run of rebalance is open" in refusal(capsys, *abandon_all)
    finally:
        third.stop()
    cluster.join((1, 3, 2))
    assert leftovers(cluster) == 0
    assert rows_of(cluster, FEW) == before


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Returns the message of a command that fails."""
    capsys.readouterr()
    assert deployment.main(words) != 0
    return capsys.readouterr().err


def interrupt_while_replacing(cluster: Shards) -> None:
    """Leaves a run that has replaced a partition of query_events on the first server only."""
    servers = [
        Interrupted(each.url, each.user, each.password, "", Rest(int(number == 0), "REPLACE PARTITION"))
        for number, each in enumerate(cluster.each("admin"))
    ]
    with pytest.raises(KilledError):
        Rebalancing(Shards.CLUSTER, servers, FEW[:1]).run()


def command(cluster: Shards, *more: str) -> list[str]:
    servers = [word for each in cluster.each("admin") for word in ("--clickhouse", each.url)]
    secrets = ["--secrets", str(cluster.home.secrets)]
    tables = [word for name in FEW for word in ("--table", name)]
    return ["rebalance", "--cluster", Shards.CLUSTER, *servers, *secrets, *tables, *more]


def test_a_shard_of_weight_zero_is_emptied(cluster):
    before = rows_of(cluster, FEW)
    cluster.join((1, 1, 0))
    Rebalancing(Shards.CLUSTER, cluster.each("admin"), FEW).run()

    assert rows_of(cluster, FEW) == before
    third = cluster.servers()[2].user("admin")
    for table in FEW:
        assert third.execute(f"SELECT count() FROM tailrace_shard.{table}") == "0\n"


def move(cluster: Shards, tables: Sequence[str], choice: random.Random) -> int:
    """Runs until all rows are moved. Each run is killed after some statements; returns how many were."""
    for interruptions in range(200):
        rest = Rest(choice.randrange(4, 32), is_lost=choice.random() < 0.5)
        admins = cluster.each("admin")
        servers = [Interrupted(each.url, each.user, each.password, "", rest) for each in admins]
        try:
            Rebalancing(Shards.CLUSTER, servers, tables).run()
        except KilledError:
            continue
        return interruptions
    pytest.fail("the rows are never moved")


class KilledError(Exception):
    """The process was killed."""


@dataclass
class Rest:
    """How many statements a process executes before it is killed, before or after the last one."""

    statements: int
    of: str = ""
    """If given, only statements with this text count, and it is killed before the next one."""
    is_lost: bool = False
    """Whether it is killed before its last statement instead of after it."""


@dataclass(frozen=True)
class Interrupted(ClickHouse):
    rest: Rest = None

    def execute(self, *words, **more) -> str:
        if self.rest.of:
            self.rest.statements -= self.rest.of in words[0]
            if self.rest.statements < 0:
                raise KilledError
            return super().execute(*words, **more)
        self.rest.statements -= 1
        if self.rest.statements == 0 and self.rest.is_lost:
            raise KilledError
        answer = super().execute(*words, **more)
        if self.rest.statements <= 0:
            raise KilledError
        return answer


def leftovers(cluster: Shards) -> int:
    sql = (
        "SELECT count() FROM system.tables WHERE name LIKE 'rebalanc%' "
        "OR create_table_query LIKE '%CONSTRAINT rows_are_moving%'"
    )
    return sum(int(each.execute(sql)) for each in cluster.each("admin"))


@pytest.mark.long
def test_rows_of_all_tables_move_to_a_new_shard_and_back(cluster, capsys):
    """`rebalance` as a user runs it. A shard with weight 0 stores nothing and can be removed."""
    before = rows_of(cluster)
    words = ["rebalance", "--cluster", Shards.CLUSTER, "--secrets", str(cluster.home.secrets)]
    for each in cluster.each("admin"):
        words += ["--clickhouse", each.url]
    for weights in ((1, 1, 1), (3, 1, 2), (1, 1, 0)):
        cluster.join(weights)
        assert deployment.main([*words, "--dry-run"]) == 0
        listed = capsys.readouterr().out.splitlines()
        assert listed
        assert deployment.main([*words, "--writers-stopped"]) == 0
        moved = capsys.readouterr().out.splitlines()
        assert [line.replace(" moved", " to move") for line in moved] == listed
        assert rows_of(cluster) == before
        assert_queries_find_all_rows_on_one_shard(cluster)
    cluster.join((1, 1))
    assert rows_of(cluster) == before
    cluster.join((1, 1, 1))


def test_a_block_counts_once_after_rows_were_moved(cluster):
    Rebalancing(Shards.CLUSTER, cluster.each("admin"), FEW).run()
    before = rows_of(cluster, ("query_events",))["query_events"].total()
    for _ in range(2):
        insert_events(cluster, "after")

    assert rows_of(cluster, ("query_events",))["query_events"].total() == before + 30
    assert_queries_find_all_rows_on_one_shard(cluster)


def insert_events(cluster: Shards, token: str) -> None:
    rows = [{**row, "instance": INSTANCES[number % len(INSTANCES)]} for number, row in enumerate(events(30))]
    cluster.user("writer").insert(
        "tailrace.query_events", rows, insert_deduplication_token=token, **EXACTLY_ONCE
    )


def test_what_cannot_be_moved_is_refused(cluster, capsys):
    first, *_ = servers = cluster.each("admin")
    with pytest.raises(RebalancingError, match="no server of shard 2, 3"):
        Rebalancing(Shards.CLUSTER, [first])
    with pytest.raises(RebalancingError, match="no cluster of these servers"):
        Rebalancing("other", servers)
    with pytest.raises(RebalancingError, match="no table of several shards: nothing"):
        Rebalancing(Shards.CLUSTER, servers, ("nothing",))
    words = ["rebalance", "--cluster", Shards.CLUSTER, "--clickhouse", first.url]
    assert deployment.main([*words, "--secrets", str(cluster.home.secrets)]) != 0
    assert "--writers-stopped" in capsys.readouterr().err
