"""Refuses rows of all writers while a run of `rebalance` is open, also after an interruption.

A row that arrived between the copy of a partition and its replacement would be lost. A constraint of each
table refuses it with an error that the jobs count as one of the server: their blocks wait.
"""

import re
from collections.abc import Mapping

from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.shards import SHARD_DATABASE

NAME = "rows_are_moving"
MESSAGE = "tailrace: rebalance moves the rows of this database, and refuses new ones until it has ended"

_DEFINED = re.compile(rf",?\s*CONSTRAINT {NAME} CHECK throwIf\(NOT ignore\(`?\w+`?\), '[^']*'\)")


def close(server: ClickHouse, columns: Mapping[str, str]) -> None:
    """Refuses rows of tables; `columns` has a column of each."""
    for table in sorted(columns.keys() - _closed(server)):
        server.execute(
            f"ALTER TABLE {SHARD_DATABASE}.{table} ADD CONSTRAINT IF NOT EXISTS {NAME} "
            f"CHECK throwIf(NOT ignore({columns[table]}), '{MESSAGE}')",
            alter_sync=2,
        )


def open_again(server: ClickHouse) -> None:
    """Accepts rows of all tables."""
    for table in sorted(_closed(server)):
        server.execute(f"ALTER TABLE {SHARD_DATABASE}.{table} DROP CONSTRAINT IF EXISTS {NAME}", alter_sync=2)


def _closed(server: ClickHouse) -> set[str]:
    rows = server.rows(
        "SELECT name FROM system.tables WHERE database = {shard:String} "
        "AND position(create_table_query, {constraint:String}) > 0",
        {"shard": SHARD_DATABASE, "constraint": f"CONSTRAINT {NAME} CHECK"},
    )
    return {str(row["name"]) for row in rows}


def without(definition: str) -> str:
    """Returns a CREATE statement without the constraint."""
    return _DEFINED.sub("", definition)
