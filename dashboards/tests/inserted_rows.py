"""Rows of one server in the shared stack, which the module that inserts them deletes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from e2e.stack import Stack


@contextmanager
def rows_of(stack: Stack, instance: str, rows: Mapping[str, Sequence[dict]]) -> Iterator[None]:
    """Inserts rows by table, and deletes all rows of the instance from these tables at the end."""
    admin = stack.clickhouse()
    try:
        for table, planted in rows.items():
            admin.insert(f"tailrace.{table}", planted)
        yield
    finally:
        for table in rows:
            admin.execute(
                f"ALTER TABLE tailrace.{table} DELETE WHERE instance = {{instance:String}}",
                {"instance": instance},
                mutations_sync=1,
            )
