"""Tests the queries of the page of a statement about what changed around it: deploys, DDL, and deadlocks."""

from datetime import timedelta

import pytest
from query_page_rows import HOUR, IT, OTHER, START, asking, execution, fingerprint, insert_statements, sql

FIRST_ROWS = {"ask": insert_statements}


@pytest.fixture
def ask(admin, user):
    """Asks with the rows of insert_statements (FIRST_ROWS)."""
    return asking(user)


def test_a_version_began_with_the_first_statement_of_its_application(ask, stored):
    """A deploy has one time on the pages of all statements, also of one that did not run since."""
    tags = {"application": "web", "version": "2"}
    stored(
        "query_events",
        execution(START + timedelta(minutes=40), 1, query_id=OTHER, tags=tags),
        execution(START + timedelta(minutes=90), 1, query_id=OTHER, tags={**tags, "version": "3"}),
        execution(START + timedelta(minutes=50), 1, query_id=OTHER, tags={**tags, "application": "job"}),
    )
    found = [(row["version"], row["first_seen"], row["ran_it"]) for row in ask("versions")]
    assert found == [
        ("1", sql(START + timedelta(minutes=1)), 1),
        ("2", sql(START + timedelta(minutes=40)), 1),
        ("3", sql(START + timedelta(minutes=90)), 0),
    ]


def test_ddl_is_that_on_the_tables_of_the_statement_in_its_clusters(ask, stored):
    alter, create, other = 11, 12, 13
    stored(
        "fingerprints",
        fingerprint(alter, "alter table orders drop index a", verb="ALTER", tables_written=["orders"]),
        fingerprint(
            create, "create index a on shop.orders (a)", verb="CREATE", tables_written=["Shop.`Orders`"]
        ),
        fingerprint(other, "alter table log add b int", verb="ALTER", tables_written=["log"]),
    )
    on_orders = {"verb": "ALTER", "tables_written": ["orders"], "database": "shop", "instance": "db9"}
    stored(
        "query_events",
        execution(START + timedelta(minutes=30), 9, query_id=alter, **on_orders),
        execution(START + timedelta(minutes=31), 9, query_id=alter, **{**on_orders, "database": "crm"}),
        execution(START + timedelta(minutes=32), 9, query_id=alter, **{**on_orders, "cluster": "else"}),
        execution(START + timedelta(minutes=33), 9, query_id=alter, **on_orders, error_code=1091),
        execution(START + timedelta(minutes=34), 9, query_id=other, verb="ALTER", tables_written=["log"]),
        execution(
            START - 5 * HOUR, 9, query_id=create, verb="CREATE", tables_written=["Shop.`Orders`"], user="ann"
        ),
    )
    found = ask("ddl", names=["shop.orders"])
    assert [(row["text"], row["at"], row["server"], row["user"]) for row in found] == [
        ("alter table orders drop index a", sql(START + timedelta(minutes=30)), "db9", "app"),
        ("create index a on shop.orders (a)", sql(START - 5 * HOUR), "db1", "ann"),
    ]
    (log,) = ask("ddl", names=["log"])
    assert log["text"] == "alter table log add b int", "both ran without a default database"


def test_deadlocks_are_those_of_the_statement_with_both_users(ask, stored):
    def report(minutes: int, first: int, second: int, **columns) -> dict:
        its = {"1_query_id": f"{first:016X}", "2_query_id": f"{second:016X}", "2_user": "app", "1_host": "h"}
        details = {f"transaction_{name}": value for name, value in its.items()} | {"rolled_back": "2"}
        at = {"event_time": sql(START + timedelta(minutes=minutes)), "kind": "deadlock", "instance": "db1"}
        return {**at, "details": details, **columns}

    captured = report(5, IT, OTHER, kind="innodb_monitor")
    captured["details"] = {f"deadlock_{name}": value for name, value in captured["details"].items()}
    stored("error_events", report(4, OTHER, IT), captured, report(6, OTHER, OTHER), report(-9, IT, IT))

    second, first = ask("deadlocks")
    assert (first["at"], first["is_first"], first["other_id"]) == (
        sql(START + timedelta(minutes=4)),
        0,
        OTHER,
    )
    assert (second["is_first"], second["other_id"], second["rolled_back"]) == (1, OTHER, "2")
    assert (first["first_client"], second["second_user"]) == ("h", "app")
