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
from tailrace_capture.server import MARK, Server, ServerError, connect
from tailrace_pull import costs
from tailrace_pull.log_rows import GeneralRows, Row, SlowRows
from tailrace_pull.option_file import OptionFileError
from tailrace_pull.remote import FileGoneError, PermissionMissingError, RemoteError

STATEMENT_SECONDS = 120
SCHEMA = "mysql"
LIVE_TABLES = {"slowlog": "slow_log", "general": "general_log"}
ROWS = {"slowlog": SlowRows, "general": GeneralRows}
SWITCHES = {"slowlog": "slow_query_log", "general": "general_log"}

QUIET = (
    "SET SESSION long_query_time = 1000000",
    "SET SESSION min_examined_row_limit = 4294967295",
)
"""Keep the puller's own statements out of the slow log, also with log_queries_not_using_indexes."""

LISTING = (
    "SELECT TABLE_NAME AS name FROM information_schema.TABLES"
    " WHERE TABLE_SCHEMA = '{}' AND TABLE_NAME LIKE '{}'"
)
ACCOUNT = "SELECT CURRENT_USER() AS account"
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
class TableName:
    schema: str
    name: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"


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


class SettingError(RemoteError):
    """A setting of the server prevents that it logs. `right` is the statement that changes it."""

    kind = "setting"

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.right = fix


class SqlTables:
    """The tables on a server. The connection is opened when it is needed, and again after an error."""

    def __init__(
        self, address: Callable[[], tuple[Dsn, Password]], source: str, archive: str = SCHEMA
    ) -> None:
        """`address` reads address and password for each connection, and may raise OptionFileError. `archive`
        is the schema to which a rotation moves tables."""
        self._address = address
        self._where = "the server"
        self._source, self._archive = source, archive
        self.live = TableName(SCHEMA, LIVE_TABLES[source])
        self._server: Server | None = None
        self._account = ""
        """`user@host` as the server knows it; empty before the first connection."""

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

    def _rows(self, statement: str) -> list[dict[str, object]]:
        try:
            connected = self._connected()
            costs.count(requests=1)
            return list(connected.stream(statement))
        except ServerError as error:
            raise self._translated(error, self.live) from error

    def _connected(self) -> Server:
        if self._server is None:
            try:
                dsn, password = self._address()
            except OptionFileError as error:
                raise PermissionMissingError(str(error)) from error
            self._where = dsn.where
            self._server = connect(dsn, password, STATEMENT_SECONDS, "tailrace-pull")
            for statement in QUIET:
                self._server.execute(statement)
            (row,) = self._server.stream(ACCOUNT)
            self._account = str(row["account"])
        return self._server

    def _translated(self, error: ServerError, table: TableName) -> RemoteError:
        """Also drops the connection, whose state is unknown."""
        if self._server is not None:
            self._server.close()
            self._server = None
        where = f"{self._where}: {table}"
        if error.code in MISSING_GRANT:
            user, _, host = self._account.rpartition("@")
            right = f"GRANT SELECT ON {table} TO '{user}'@'{host}';"
            return PermissionMissingError(f"{where}: the account {self._account} may not read it", right)
        if error.status == "denied":
            return PermissionMissingError(f"{self._where}: {error}")
        return (
            FileGoneError(f"{where}: {error}")
            if error.status == "absent"
            else RemoteError(f"{where}: {error}")
        )


MISSING_GRANT = {1142, 1143, 1044}
"""Access denied to a table, a column or a database: MySQL's errmsg."""


def _digest(row: Row) -> str:
    """Returns a hash of all values of a row. Rows have a thread and microseconds, so few are equal."""
    content = repr(sorted(row.items())).encode(errors="backslashreplace")
    return hashlib.blake2b(content, digest_size=12).hexdigest()
