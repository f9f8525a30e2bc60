"""Draft tables: filled beside a table, then moved into it by ALTER TABLE … REPLACE PARTITION."""

import contextlib
import re
from collections.abc import Iterator

from tailrace.clickhouse.client import ClickHouse

_REPLICATED = re.compile(r"^Replicated(\w+)\('[^']*', '[^']*'(?:, )?")


@contextlib.contextmanager
def draft(clickhouse: ClickHouse, database: str, table: str) -> Iterator[str]:
    """Creates an empty table with the structure of another and yields its name; drops it at the end.

    It is never replicated: the partition reaches the replicas when it is moved.
    """
    name = f"{database}.{table}_draft"
    clickhouse.execute(f"DROP TABLE IF EXISTS {name} SYNC")
    clickhouse.execute(
        f"CREATE TABLE {name} AS {database}.{table} ENGINE = {_engine(clickhouse, database, table)}"
    )
    yield name
    clickhouse.execute(f"DROP TABLE {name} SYNC")


def _engine(clickhouse: ClickHouse, database: str, table: str) -> str:
    (row,) = clickhouse.rows(
        "SELECT engine_full AS engine FROM system.tables "
        "WHERE database = {database:String} AND name = {table:String}",
        {"database": database, "table": table},
    )
    return _REPLICATED.sub(r"\1(", str(row["engine"]))
