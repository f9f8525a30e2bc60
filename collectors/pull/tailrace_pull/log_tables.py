"""Reads the tables of a log over SQL: the live one, and those to which it was renamed.

A log table has no primary key. The server only appends to it, and a scan returns its rows in the order in
which they were written. Times are not in this order: MariaDB stores the start of a statement. So the position
is the number of rows before, and the row before proves that the table is still the same.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from tailrace_capture.dsn import Dsn, Password
from tailrace_capture.server import MARK, ServerError
from tailrace_pull import costs
from tailrace_pull.log_rows import GeneralRows, Row, SlowRows
from tailrace_pull.sql_log import SettingError, SqlLog, TableName

SCHEMA = "mysql"
LIVE_TABLES = {"slowlog": "slow_log", "general": "general_log"}
ROWS = {"slowlog": SlowRows, "general": GeneralRows}
SWITCHES = {"slowlog": "slow_query_log", "general": "general_log"}

LISTING = (
    "SELECT TABLE_NAME AS name FROM information_schema.TABLES"
    " WHERE TABLE_SCHEMA = '{}' AND TABLE_NAME LIKE '{}'"
)
SETTINGS = "SELECT @@GLOBAL.log_output AS output, @@GLOBAL.{} AS is_on"
FIRST = "SELECT * FROM `{}`.`{}` LIMIT 1"
READING = "SELECT * FROM `{}`.`{}` LIMIT {}, {}"

OWN = re.compile(
    rb"SET NAMES utf8mb4|SET AUTOCOMMIT = 1|"
    + re.escape(MARK).encode()
    + rb"(?:SET SESSION (?:max_statement_time|max_execution_time|lock_wait_timeout|long_query_time"
    rb"|min_examined_row_limit) = [0-9]+|SET SESSION TRANSACTION READ ONLY|SET SESSION time_zone = '\+00:00'"
    rb"|SELECT @@version AS version, @@version_comment AS comment|SELECT CURRENT_USER\(\) AS account"
    rb"|SELECT @@GLOBAL\.log_output AS output, @@GLOBAL\.(?:slow_query_log|general_log) AS is_on"
    rb"|SELECT TABLE_NAME AS name FROM information_schema\.TABLES WHERE TABLE_SCHEMA = '[^']*'"
    rb" AND TABLE_NAME LIKE '(?:slow|general)\\_log%'"
    rb"|SELECT \* FROM `[^`]+`\.`(?:slow|general)_log[^`]*` LIMIT [0-9]+(?:, [0-9]+)?)"
)
"""The statements of the puller. Nothing else is excluded, so an account that is misused cannot hide."""


@dataclass(frozen=True)
class Entry:
    """One row: its text, empty for a statement of the puller, and a hash that identifies it."""

    text: bytes
    digest: str


class Tables(Protocol):
    """The tables of one log of one server. Every method raises RemoteError."""

    live: TableName
    """The table to which the server writes."""

    def names(self) -> list[TableName]:
        """Lists the tables that exist and may be read, the live one last."""

    def first(self, table: TableName) -> str:
        """Returns the digest of the first row; empty if there is none."""

    def entries(self, table: TableName, skip: int, limit: int) -> Iterator[Entry]:
        """Yields rows in the order in which they were written."""

    def require_logging(self) -> None:
        """Raises SettingError if the server does not write to the table."""


class SqlTables(SqlLog):
    """The tables of a log that the server writes to `mysql.slow_log` or `mysql.general_log`."""

    def __init__(
        self, address: Callable[[], tuple[Dsn, Password]], source: str, archive: str = SCHEMA
    ) -> None:
        """`archive` is the schema to which a rotation moves tables."""
        super().__init__(address, TableName(SCHEMA, LIVE_TABLES[source]))
        self._source, self._archive = source, archive

    def names(self) -> list[TableName]:
        pattern = self.live.name.replace("_", r"\_") + "%"
        found = [
            TableName(schema, str(row["name"]))
            for schema in sorted({SCHEMA, self._archive})
            for row in self._rows(LISTING.format(schema, pattern))
        ]
        return sorted(found, key=lambda table: (table == self.live, str(table)))

    def first(self, table: TableName) -> str:
        return next((_digest(row) for row in self._rows(FIRST.format(table.schema, table.name))), "")

    def entries(self, table: TableName, skip: int, limit: int) -> Iterator[Entry]:
        statement = READING.format(table.schema, table.name, skip, limit)
        try:
            server = self._connected()
            rows = ROWS[self._source](server.product)
            costs.count(requests=1)
            for row in server.stream(statement):
                text = rows.text(row)
                costs.count(received=len(text))
                yield Entry(b"" if self._is_own(rows, row) else text, _digest(row))
        except ServerError as error:
            raise self._translated(error, table) from error

    def require_logging(self) -> None:
        (row,) = self._rows(SETTINGS.format(SWITCHES[self._source]))
        if "TABLE" not in str(row["output"]).upper():
            raise SettingError(
                f"log_output is {row['output']}, so the server writes no {self.live}",
                "SET GLOBAL log_output = 'TABLE';",
            )
        if not row["is_on"]:
            switch = SWITCHES[self._source]
            raise SettingError(f"{switch} is OFF", f"SET GLOBAL {switch} = ON;")

    def _is_own(self, rows: SlowRows | GeneralRows, row: Row) -> bool:
        is_account = rows.account(row) == self._account.rpartition("@")[0].encode()
        return is_account and OWN.fullmatch(rows.statement(row)) is not None


def _digest(row: Row) -> str:
    """Returns a hash of all values of a row. Rows have a thread and microseconds, so few are equal."""
    content = repr(sorted(row.items())).encode(errors="backslashreplace")
    return hashlib.blake2b(content, digest_size=12).hexdigest()
