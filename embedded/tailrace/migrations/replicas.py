"""A new replica: the tables and views of another server. Its rows follow by replication."""

import re
from graphlib import TopologicalSorter

from tailrace.clickhouse.client import ClickHouse

_UUID = re.compile(r"/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/")


def stores_alone(server: ClickHouse, database: str) -> bool:
    """Returns whether the database was created on one server: its tables are not replicated."""
    found = server.rows(
        "SELECT engine FROM system.tables WHERE database = {database:String} AND name = 'schema_migrations'",
        {"database": database},
    )
    return bool(found) and not str(found[0]["engine"]).startswith("Replicated")


def created_on_cluster(server: ClickHouse, database: str) -> bool:
    """Returns whether the tables of the database were created ON CLUSTER: their path in Keeper contains a
    UUID, which only this makes equal on all replicas."""
    found = server.rows(
        "SELECT zookeeper_path AS path FROM system.replicas WHERE database = {database:String} "
        "AND table = 'schema_migrations'",
        {"database": database},
    )
    return bool(found) and _UUID.search(str(found[0]["path"])) is not None


def copy_schema(source: ClickHouse, target: ClickHouse, database: str) -> None:
    """Creates the tables and views of a database that `target` lacks, as they are on `source`.

    Statements contain the macros of the servers, not their values.
    """
    target.execute(f"CREATE DATABASE IF NOT EXISTS {database}")
    for statement in _statements(source, database):
        target.execute(statement)


def _statements(source: ClickHouse, database: str) -> list[str]:
    """Returns statements in an order in which each object follows those that it reads or fills."""
    rows = source.rows(
        "SELECT name, create_table_query AS text FROM system.tables WHERE database = {database:String}",
        {"database": database},
    )
    texts = {str(row["name"]): str(row["text"]) for row in rows}
    used = {name: _used(name, text, database) & texts.keys() for name, text in texts.items()}
    order = TopologicalSorter(used).static_order()
    return [
        re.sub(r"^CREATE (\w+ VIEW|VIEW|TABLE) ", r"CREATE \1 IF NOT EXISTS ", texts[name]) for name in order
    ]


def _used(name: str, text: str, database: str) -> set[str]:
    return {*re.findall(rf"\b{database}\.(\w+)", text)} - {name}
