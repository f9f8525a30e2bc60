"""Which tables the archive contains, and how a row belongs to a day."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.shards import DATABASE, SHARD_DATABASE
from tailrace.errors import ReportedError

COLUMNS = """
SELECT name, type FROM system.columns
WHERE database = 'tailrace' AND table = {table:String} AND default_kind IN ('', 'DEFAULT')
ORDER BY name
"""
SORTING_KEY = """
SELECT sorting_key FROM system.tables
WHERE database IN {databases:Array(String)} AND name = {table:String} AND sorting_key != ''
"""


class UnknownTableError(ReportedError):
    """The archive does not contain this table; the message lists those that it contains."""


@dataclass(frozen=True)
class ArchivedTable:
    """`time` is the column whose day, in UTC, is that of the row."""

    name: str
    time: str = "event_time"
    replaces: bool = False
    """Whether ClickHouse deletes earlier rows of a key. The archive keeps every row that it has read."""


TABLES: Sequence[ArchivedTable] = (
    ArchivedTable("query_events"),
    ArchivedTable("audit_events"),
    ArchivedTable("error_events"),
    ArchivedTable("alerts", replaces=True),
    ArchivedTable("data_access", replaces=True),
    ArchivedTable("ledger", time="at"),
    ArchivedTable("signed_ranges", time="signed_at", replaces=True),
)
"""Without `receipts`: ClickHouse adds its rows up at any time, and the views count restored rows again."""
BY_NAME: Mapping[str, ArchivedTable] = {table.name: table for table in TABLES}


def chosen(names: Sequence[str]) -> Sequence[ArchivedTable]:
    """Returns the tables with these names, all if there are none. Raises UnknownTableError."""
    if unknown := [name for name in names if name not in BY_NAME]:
        raise UnknownTableError(f"{unknown[0]} is not archived; the archive has {', '.join(BY_NAME)}")
    return [table for table in TABLES if table.name in names or not names]


def columns_of(clickhouse: ClickHouse, table: ArchivedTable) -> dict[str, str]:
    """Returns the types of the stored columns by name, without columns that are computed from others."""
    return {row["name"]: row["type"] for row in clickhouse.rows(COLUMNS, {"table": table.name})}


def order_of(clickhouse: ClickHouse, table: ArchivedTable) -> str:
    """Returns the columns by which rows are sorted: those of the table, then the time."""
    places = {"databases": [DATABASE, SHARD_DATABASE], "table": table.name}
    key = clickhouse.rows(SORTING_KEY, places)[0]["sorting_key"]
    names = [name.strip() for name in key.split(",")]
    return ", ".join(names if table.time in names else [*names, table.time])
