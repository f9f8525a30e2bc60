"""Generates three months of events of a dozen servers in ClickHouse, the same ones for a count and an end.

The distribution resembles that of real servers: more events by day than by night, few statements with most of
the time, each with its own latency. The rows pass the materialized views like those of the pipeline.
"""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import jinja2

from tailrace.clickhouse.client import ClickHouse

DAYS = 90
STATEMENTS = 400
ROWS = Path(__file__).parent / "rows"
INSERT = {
    "max_insert_threads": 1,
    "max_execution_time": 0,
    "max_memory_usage": 4_000_000_000,
    "async_insert": 0,
    "max_insert_block_size": 250_000,
    "min_insert_block_size_rows": 250_000,
    "max_partitions_per_insert_block": 200,
}
INSERT_SECONDS = 1800

SHARES = {
    "query_events": 0.6,
    "audit_events": 0.2,
    "data_access": 0.1,
    "error_events": 0.05,
    "otel_traces": 0.0498,
    "alerts": 0.0002,
}
"""Share of the events by table. The files in rows/ define the rows of the other tables."""


def fill(admin: ClickHouse, events: int, end: datetime, say: Callable[[str], None], days: int = DAYS) -> None:
    """Inserts `events` events of the `days` before `end`, and the rows that refer to them.

    The ledger has 69,120 rows a day, whatever the number of events.
    """
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(ROWS), undefined=jinja2.StrictUndefined)
    for file in sorted(ROWS.glob("*.sql")):
        table = file.name.split(".")[0]
        if table == "parts":
            continue
        rows = round(events * SHARES.get(table, 0))
        say(f"{file.stem}: {rows or 'its'} rows")
        select = environment.get_template(file.name).render(
            end=int(end.timestamp()), days=days, statements=STATEMENTS, rows=rows
        )
        statement = f"INSERT INTO tailrace.{table} ({_columns(admin, select)}) {select}"
        admin.execute(statement, timeout=INSERT_SECONDS, **INSERT)


def _columns(admin: ClickHouse, select: str) -> str:
    """Returns the column names of a SELECT for the INSERT. Other columns get their defaults."""
    return ", ".join(row["name"] for row in admin.rows(f"DESCRIBE ({select})"))
