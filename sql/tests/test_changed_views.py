"""A view that a migration changes recognizes the blocks that it had before the server's next restart."""

from datetime import UTC, datetime

import pytest
from clickhouse_servers import Server
from test_new_rollup import block, counted, insert

from tailrace.migrations import rollups
from tailrace.migrations.migration_files import Migration, load_migrations

VIEW = "query_load_1m_mv"


@pytest.fixture(scope="module")
def server(own_server: Server) -> Server:
    return own_server


def change(number: int) -> Migration:
    """A migration that gives the view the query that it has."""
    (created,) = [each for each in load_migrations() if f"EXISTS tailrace.{VIEW} " in each.statement]
    query = created.statement.split("\nAS ", 1)[1]
    return Migration(
        number, "changed_view", f"ALTER TABLE tailrace.{VIEW} {{on_cluster}} MODIFY QUERY {query}"
    )


def test_a_block_that_is_inserted_again_after_a_restart_counts_once(server):
    server.migrate(migrations=[*load_migrations(), change(9000)], writers_stopped=True)
    rows = block("repeated", 1, days_ago=0, ingested=datetime.now(UTC))
    insert(server.user("writer"), rows, rows)
    server.stop()
    server.start()
    insert(server.user("writer"), rows, block("new", 2))

    admin = server.user("admin")
    stored = counted(admin, "query_events", "count()")
    assert stored == {"repeated": (50, 100), "new": (50, 100)}
    for rollup in (each for each in rollups.ROLLUPS if each.events == "query_events"):
        condition = f"{rollup.own} AND {rollup.once}"
        assert counted(admin, rollup.table, condition=condition) == stored, rollup


def test_a_view_that_an_interrupted_migration_left_detached_is_loaded(server):
    for admin in server.each("admin"):
        database = admin.rows(
            "SELECT database FROM system.tables WHERE name = {view:String}", {"view": VIEW}
        )[0]["database"]
        admin.execute(f"DETACH TABLE {database}.{VIEW} SYNC")
    changes = [change(9000), change(9001)]
    server.migrate(migrations=[*load_migrations(), *changes], writers_stopped=True)
    before = counted(server.user("admin"), "query_load_1m")
    insert(server.user("writer"), block("after", 3))
    assert counted(server.user("admin"), "query_load_1m") == {**before, "after": (50, 100)}
