"""`reconcile` repairs what a view lost without a quorum; an upgrade makes a new rollup count blocks once."""

from datetime import timedelta

import pytest
from replica_servers import Replicas, wait_until
from test_new_rollup import BEFORE, LAST, NOW, block
from test_replica_inserts import ROWS, await_each_row_once, insert, insert_without_quorum
from test_tables import events

from tailrace.cli.exit_codes import Exit
from tailrace.deployment import __main__ as deployment
from tailrace.migrations.rewind import Order, rewind
from tailrace.migrations.rollups import ROLLUPS

pytestmark = [pytest.mark.replicas, pytest.mark.timeout(900)]


@pytest.fixture
def replicas(three_replicas: Replicas) -> Replicas:
    three_replicas.empty_tables()
    return three_replicas


def reconcile(replicas: Replicas, *more: str) -> Exit:
    secrets = str(replicas.servers[0].home.secrets)
    servers = [word for each in replicas.running() for word in ("--clickhouse", each.user("admin").url)]
    return deployment.main(["reconcile", "--secrets", secrets, *servers, "--settle", "2", *more])


def lose_the_rows_of_a_view(replicas: Replicas, table: str, block: list[dict]) -> None:
    """Inserts a block without a quorum; its server dies before the others have this table's rows of it."""
    first, *survivors = replicas.servers
    for each in survivors:
        each.user("admin").execute(f"SYSTEM STOP FETCHES tailrace.{table}")
    insert_without_quorum(first, block)
    have_the_rest = (
        "SELECT countIf(table = {table:String} AND queue_size > 0) = 1 "
        "AND countIf(table != {table:String} AND queue_size > 0) = 0 "
        "AND countIf(log_max_index > 0 AND log_pointer <= log_max_index) = 0 FROM system.replicas"
    )
    for each in survivors:
        wait_until(lambda each=each: each.number(have_the_rest, table=table), "the other tables have rows")
    first.kill()
    for each in survivors:
        each.user("admin").execute(f"SYSTEM START FETCHES tailrace.{table}")


def test_equal_servers_have_no_differences(replicas, capsys):
    insert_without_quorum(replicas.servers[0], events(ROWS))
    replicas.await_calm()

    assert reconcile(replicas) == Exit.OK
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("table", ["query_load_1m", "query_classes_1h", "query_classes_1d", "receipts"])
def test_rows_of_a_view_that_died_with_their_server_are_found_and_made_again(replicas, capsys, table):
    insert_without_quorum(replicas.servers[0], events(ROWS))
    replicas.await_calm()
    lose_the_rows_of_a_view(replicas, table, events(ROWS))

    assert reconcile(replicas) == Exit.FAILED
    found = capsys.readouterr().out.splitlines()
    assert all(f"{table} counts" in line for line in found), found
    survivors = {each.user("admin").url for each in replicas.running()}
    assert {line.partition(": ")[0] for line in found} == survivors
    assert reconcile(replicas, "--repair") == Exit.FAILED, "writers may be running"
    assert reconcile(replicas, "--repair", "--writers-stopped") == Exit.OK
    replicas.revive()
    await_each_row_once(replicas, ROWS * 2)
    assert reconcile(replicas) == Exit.OK


def test_a_rewind_deletes_rows_on_every_server(replicas):
    for checkpoint in (4, 5):
        block = [{**event, "after_checkpoint": checkpoint} for event in events(ROWS)]
        insert(replicas.servers[checkpoint % 3].user("writer"), block)
    replicas.await_calm()

    by_ines = Order(replicas.servers[0].user("auditor"), "ines", "a test")
    assert len(rewind(replicas.servers[0].user("admin"), 5, by_ines)) == 1
    await_each_row_once(replicas, ROWS)


def test_a_rollup_that_an_upgrade_adds_counts_repeated_blocks_once_on_every_server(replicas):
    for server in replicas.servers:
        server.forget()
    replicas.migrate(migrations=BEFORE)
    old = block("old", LAST - 4, days_ago=40, ingested=NOW - timedelta(hours=5))
    last, never = block("last", LAST - 1), block("never", LAST - 1)
    for rows in (old, last):
        insert(replicas.servers[0].user("writer"), rows)
    replicas.await_calm()

    replicas.migrate(writers_stopped=True)
    for server, rows in zip(replicas.servers, (last, last, never), strict=True):
        insert(server.user("writer"), rows)
    replicas.await_calm()

    assert replicas.on_each("SELECT count() FROM tailrace.query_events") == [150] * 3
    for rollup in ROLLUPS:
        counted = f"SELECT sum(count) FROM tailrace.{rollup.table} WHERE {rollup.own} AND {rollup.once}"
        assert replicas.on_each(counted) == [150 if rollup.events == "query_events" else 0] * 3, rollup
