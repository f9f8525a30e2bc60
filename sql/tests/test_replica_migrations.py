"""Migrations of three replicas, on each server in order, without ON CLUSTER."""

import contextlib
import shutil
from collections.abc import Iterator
from uuid import uuid4

import pytest
from replica_servers import Replicas, wait_until
from test_tables import events

from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse import shards
from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.deployment import __main__ as deployment
from tailrace.migrations import lock, migration_files
from tailrace.migrations import runner as migration_runner
from tailrace.migrations.lock import LockedError
from tailrace.migrations.migration_files import Migration, MigrationError

pytestmark = [pytest.mark.replicas, pytest.mark.timeout(900)]

FILES = migration_files.load_migrations()
NEXT = FILES[-1].number + 1
ADDED = {
    "table": "CREATE TABLE IF NOT EXISTS tailrace.small {on_cluster} (a UInt8) "
    "ENGINE = {engine:MergeTree} ORDER BY a",
    "column": "ALTER TABLE tailrace.small {on_cluster} ADD COLUMN b UInt8",
    "setting": "ALTER TABLE tailrace.small {on_cluster} MODIFY SETTING merge_max_block_size = 4096",
    "rows": "INSERT INTO tailrace.small (a) SELECT rand() % 200 FROM numbers(5)",
    "view": "CREATE OR REPLACE VIEW tailrace.small_view {on_cluster} AS SELECT a, b FROM tailrace.small",
}
MORE = [Migration(NEXT + n, name, f"-- why\n{text}") for n, (name, text) in enumerate(ADDED.items())]
SCHEMA = (
    "SELECT name, engine, replaceRegexpAll(create_table_query, 'UUID .*? ', '') AS text FROM system.tables "
    "WHERE database = 'tailrace' ORDER BY name"
)


@pytest.fixture
def replicas(three_replicas: Replicas) -> Iterator[Replicas]:
    """The cluster; what tests add to the schema is removed."""
    three_replicas.revive()
    three_replicas.await_calm()
    yield three_replicas
    three_replicas.revive()
    for admin in three_replicas.each("admin"):
        admin.execute("DROP VIEW IF EXISTS tailrace.small_view SYNC")
        admin.execute("DROP TABLE IF EXISTS tailrace.small SYNC")
    forget = f"ALTER TABLE tailrace.schema_migrations DELETE WHERE number >= {NEXT}"
    three_replicas.servers[0].user("admin").execute(forget, mutations_sync=2)


def test_every_server_has_the_whole_schema_and_the_record_of_it(replicas):
    first, *others = (admin.rows(SCHEMA) for admin in replicas.each("admin"))
    assert all(other == first for other in others)
    assert {row["engine"] for row in first if "MergeTree" in row["engine"]} == {
        row["engine"] for row in first if row["engine"].startswith("Replicated")
    }
    assert replicas.on_each("SELECT count() FROM tailrace.schema_migrations FINAL") == [len(FILES)] * 3
    assert replicas.on_each("SELECT max(is_readonly) FROM system.replicas") == [0] * 3
    assert replicas.on_each("SELECT min(active_replicas) FROM system.replicas") == [3] * 3


def test_a_second_run_does_nothing(replicas):
    assert replicas.migrate() == []


def test_each_kind_of_statement_reaches_every_server_once(replicas):
    assert replicas.migrate(migrations=[*FILES, *MORE]) == [each.title for each in MORE]
    await_five_rows(replicas)
    with_setting = (
        "SELECT engine_full LIKE '%merge_max_block_size = 4096%' FROM system.tables WHERE name = 'small'"
    )
    assert replicas.on_each(with_setting) == [1] * 3


def await_five_rows(replicas: Replicas) -> None:
    """One of the servers inserted them, and the others got them."""
    replicas.await_calm()
    assert replicas.on_each("SELECT count(b) FROM tailrace.small_view") == [5] * 3


def test_a_run_that_was_interrupted_between_servers_is_completed_by_the_next(replicas):
    """The table is on one server only, and the migration is not recorded."""
    table = migration_files.Dialect({}, in_turn=True).render(MORE[0])
    replicas.servers[1].user("admin").execute(table)

    assert replicas.migrate(migrations=[*FILES, *MORE]) == [each.title for each in MORE]
    await_five_rows(replicas)


def test_a_new_replica_gets_schema_and_rows(replicas):
    """The third server loses its disk and is forgotten; an empty one takes its place."""
    first, _, third = replicas.servers
    first.user("writer").insert("tailrace.query_events", events(100), insert_deduplication_token="rows")
    third.kill()
    shutil.rmtree(third.home.data("clickhouse") / "store")
    forget = "SYSTEM DROP REPLICA 'r3'"
    wait_until(lambda: succeeds(first.user("admin"), forget), "the session of the lost server has ended")
    third.start()
    said: list[str] = []
    replicas.migrate(report=said.append)

    assert said == [f"{third.user('admin').url}: creating the tables that {first.user('admin').url} has"]
    assert third.user("admin").rows(SCHEMA) == first.user("admin").rows(SCHEMA)
    replicas.await_calm()
    for table, counted in (
        ("query_events", "count()"),
        ("query_load_1m", "sum(count)"),
        ("receipts", "sum(rows)"),
    ):
        assert len({*replicas.on_each(f"SELECT {counted} FROM tailrace.{table}")}) == 1


def succeeds(admin: ClickHouse, statement: str) -> bool:
    with contextlib.suppress(ClickHouseError):
        admin.execute(statement)
        return True
    return False


def test_the_lock_holds_on_every_server(replicas):
    with lock.lock(replicas.servers[2].user("admin")), pytest.raises(LockedError, match="another migration"):
        replicas.migrate(migrations=[*FILES, *MORE])
    assert replicas.on_each("SELECT count() FROM system.tables WHERE name = 'small'") == [0] * 3


def test_nothing_is_changed_while_a_server_is_down(replicas):
    replicas.servers[2].kill()
    with pytest.raises(MigrationError, match="is unavailable, nothing was changed"):
        replicas.migrate(migrations=[*FILES, *MORE])
    assert replicas.on_each("SELECT count() FROM system.tables WHERE name = 'small'") == [0] * 2


def test_tables_that_were_created_on_cluster_are_refused(replicas, monkeypatch):
    """Their path is the server's default, with the UUID that ON CLUSTER gives to the table of each server."""
    first = replicas.servers[0].user("admin")
    first.execute("CREATE DATABASE on_cluster")
    first.execute(
        f"CREATE TABLE on_cluster.schema_migrations UUID '{uuid4()}' (a UInt8) "
        "ENGINE = ReplicatedMergeTree ORDER BY a"
    )
    try:
        monkeypatch.setattr(shards, "DATABASE", "on_cluster")
        with pytest.raises(MigrationError, match=r"created ON CLUSTER.*clickhouse\.onCluster: true"):
            replicas.migrate()
    finally:
        first.execute("DROP DATABASE on_cluster SYNC")


def test_a_change_of_retention_reaches_every_server(replicas):
    days = migration_runner.load_retention()
    said: list[str] = []
    try:
        replicas.migrate(retention_days={**days, "ledger": 123}, report=said.append)
        assert replicas.on_each(ttl_of_ledger(123)) == [1] * 3
        assert said == [f"retention of ledger: 123 days instead of {days['ledger']}"]
    finally:
        replicas.migrate()
    assert replicas.on_each(ttl_of_ledger(days["ledger"])) == [1] * 3


def ttl_of_ledger(days: int) -> str:
    return (
        f"SELECT create_table_query LIKE '%toIntervalDay({days})%' FROM system.tables "
        "WHERE database = 'tailrace' AND name = 'ledger'"
    )


def test_the_deployments_step_migrates_all_servers(replicas, capsys):
    servers: list[ClickHouse] = replicas.each("admin")
    words = [word for admin in servers for word in ("--clickhouse", admin.url)]
    secrets = str(replicas.servers[0].home.secrets)
    assert deployment.main(["migrations", "--secrets", secrets, "--replicated", *words]) == Exit.OK
    assert capsys.readouterr().out == ""
