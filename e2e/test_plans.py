"""An index is dropped under load: the plan change, its verdict and its alert follow within a minute."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from e2e.attack_day.mariadb import Installation, Server
from e2e.orders_workload import CUSTOMERS, Workload, connection
from e2e.stack import Stack, wait_until
from tailrace.sources.sources_file import Source

DATABASE_PORT = 22730
INSTANCE = "plans-db-1"
ROWS = 20_000
EXECUTIONS = 60
EVIDENCE_SECONDS = 600
"""Seconds from the decisive execution to its alert. The product promises 60. At a load of 20 on two cores a
process gets a tenth of its time, so ten minutes are a minute there."""

SLOWER = "Plan regression"


@pytest.fixture(scope="module")
def database(tmp_path_factory) -> Iterator[Server]:
    """A MariaDB from Debian's packages that logs plans in its slow log."""
    if os.geteuid() != 0:
        pytest.skip("Debian's packages are unpacked by root")
    settings_cache = Path(os.environ.get("TAILRACE_CACHE") or Path.home() / ".cache" / "tailrace")
    directory = tmp_path_factory.mktemp("mariadb")
    server = Server(
        Installation.install(settings_cache),
        directory,
        datetime.now(UTC),
        port=DATABASE_PORT,
        bind="127.0.0.1",
    )
    server.create()
    server.start()
    try:
        fill(server)
        yield server
    finally:
        server.stop()


def fill(server: Server) -> None:
    """Creates the orders of the customers, with an index."""
    with connection(server, "") as session, session.cursor() as cursor:
        cursor.execute("SET GLOBAL log_slow_verbosity = 'query_plan,explain'")
        cursor.execute("CREATE DATABASE shop")
        cursor.execute("USE shop")
        cursor.execute(
            "CREATE TABLE orders (id INT PRIMARY KEY, customer INT, note VARCHAR(99), "
            "KEY by_customer (customer))"
        )
        cursor.execute(
            f"INSERT INTO orders SELECT seq, seq % {CUSTOMERS}, REPEAT('x', 50) FROM seq_1_to_{ROWS}"
        )
        cursor.execute("ANALYZE TABLE orders")


@pytest.fixture(scope="module")
def stack(detecting: Stack, database: Server) -> Stack:
    """All components from the slow log to the alerts."""
    detecting.watch_sources([Source(INSTANCE, "slowlog", database.logs / "slow.log", "shop", "UTC")])
    return detecting


def changes(stack: Stack) -> list[dict]:
    return stack.clickhouse().rows(
        "SELECT query_id, old_plan, new_plan, verdict, ratio, rows_examined_before, rows_examined_after, "
        "changed_at, verdict_at FROM tailrace.plan_changes FINAL WHERE instance = {instance:String}",
        {"instance": INSTANCE},
    )


def test_a_dropped_index_is_a_change_of_plan_and_slower(stack: Stack, database: Server):
    with Workload(database, pause=0.01) as workload:
        workload.more(EXECUTIONS)
        with connection(database) as session, session.cursor() as cursor:
            cursor.execute("ALTER TABLE orders DROP INDEX by_customer")
        workload.more(EXECUTIONS)

    wait_until(lambda: [row["verdict"] for row in changes(stack)] == ["slower"], "the verdict")
    (change,) = changes(stack)
    assert change["ratio"] > 2
    assert change["rows_examined_before"] == ROWS / CUSTOMERS
    assert change["rows_examined_after"] == ROWS

    # Another job writes the plans than the changes.
    wait_until(lambda: len(steps_of(stack, change["query_id"])) >= 2, "both plans")
    assert steps_of(stack, change["query_id"]) == {
        change["old_plan"]: [("orders", "ref", "by_customer")],
        change["new_plan"]: [("orders", "ALL", "")],
    }


def steps_of(stack: Stack, query_id: int) -> dict[str, list[tuple[str, str, str]]]:
    """Returns table, access type and index of each step of the statement's plans, by plan."""
    plans = stack.clickhouse().rows(
        "SELECT plan_hash, tables, access_types, indexes FROM tailrace.plans FINAL "
        "WHERE instance = {instance:String} AND query_id = {query_id:UInt64}",
        {"instance": INSTANCE, "query_id": str(query_id)},
    )
    return {
        row["plan_hash"]: list(zip(row["tables"], row["access_types"], row["indexes"], strict=True))
        for row in plans
    }


def test_its_alert_comes_within_a_minute_of_the_evidence(stack: Stack):
    def alert() -> list[dict]:
        return stack.clickhouse().rows(
            "SELECT entity, facts, dateDiff('second', event_time, detected_at) AS seconds "
            "FROM tailrace.alerts FINAL WHERE rule_title = {title:String} AND instance = {instance:String}",
            {"title": SLOWER, "instance": INSTANCE},
        )

    wait_until(alert, "the alert")
    (raised,) = alert()
    (change,) = changes(stack)
    assert raised["entity"]["instance"] == INSTANCE
    assert raised["facts"]["new_plan"] == change["new_plan"]
    assert raised["seconds"] <= EVIDENCE_SECONDS


def test_every_execution_names_its_plan(stack: Stack):
    (change,) = changes(stack)

    def executions() -> dict[str, int]:
        rows = stack.clickhouse().rows(
            "SELECT plan_hash, count() AS executions FROM tailrace.query_events "
            "WHERE instance = {instance:String} AND query_id = {query_id:UInt64} GROUP BY plan_hash",
            {"instance": INSTANCE, "query_id": str(change["query_id"])},
        )
        return {row["plan_hash"]: int(row["executions"]) for row in rows}

    plans = {change["old_plan"], change["new_plan"]}
    wait_until(
        lambda: all(executions().get(plan, 0) >= EXECUTIONS for plan in plans),
        "the events of all executions",
    )
    assert executions().keys() == plans
