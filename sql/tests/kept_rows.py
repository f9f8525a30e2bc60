"""Rows with which several tests begin: inserted once, and again after a test that changed a table.

A module names them by the fixture that expects them: FIRST_ROWS = {"ask": insert_statements}. The function
gets the value of the fixture `user`. Of several fixtures of a test, the first in FIRST_ROWS counts.
"""

from collections.abc import Callable, Mapping, Sequence

from clickhouse_servers import DATABASES, Server

from tailrace.clickhouse.client import ClickHouse

Insert = Callable[[Callable[[str], ClickHouse]], None]

STATE = """
SELECT database, table, partition_id,
    max(max_block_number) AS block, max(data_version) AS version, sum(rows) AS stored
FROM system.parts WHERE active AND rows > 0 AND database IN {databases:Array(String)}
GROUP BY ALL ORDER BY ALL
"""
"""Differs after each insert, deletion, mutation, and merge that changed the number of rows."""

State = list[list[dict]]


class KeptRows:
    """What one server contained after the last insert of first rows."""

    def __init__(self) -> None:
        self._insert: Insert | None = None
        self._state: State = []

    def are_in(self, server: Server, insert: Insert) -> bool:
        """Whether the tables contain what this function inserted, and nothing else."""
        return self._insert is insert and self._state == state(server)

    def put(self, server: Server, insert: Insert) -> None:
        """Inserts the rows into empty tables."""
        insert(server.user)
        self._insert, self._state = insert, state(server)


def state(server: Server) -> State:
    """Returns the tables with rows of each server, each with what an insert or a deletion changes."""
    return [admin.rows(STATE, {"databases": list(DATABASES)}) for admin in server.each("admin")]


def chosen(first_rows: Mapping[str, Insert], fixtures: Sequence[str]) -> Insert | None:
    """Returns the function of the first fixture that a test uses, by the names of all its fixtures."""
    return next((insert for fixture, insert in first_rows.items() if fixture in fixtures), None)
