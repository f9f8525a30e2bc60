"""The connection to a server whose logs are read over SQL, and what its errors mean."""

from collections.abc import Callable
from dataclasses import dataclass

from tailrace_capture.dsn import Dsn, Password
from tailrace_capture.server import Server, ServerError, connect
from tailrace_pull import costs
from tailrace_pull.option_file import OptionFileError
from tailrace_pull.remote import FileGoneError, PermissionMissingError, RemoteError

STATEMENT_SECONDS = 120
QUIET = (
    "SET SESSION long_query_time = 1000000",
    "SET SESSION min_examined_row_limit = 4294967295",
)
"""Keep the puller's own statements out of the slow log, also with log_queries_not_using_indexes."""
ACCOUNT = "SELECT CURRENT_USER() AS account"
MISSING_GRANT = {1142, 1143, 1044}
"""Access denied to a table, a column or a database: MySQL's errmsg."""


@dataclass(frozen=True)
class TableName:
    schema: str
    name: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"


class SettingError(RemoteError):
    """A setting of the server prevents that it logs. `right` is the statement that changes it."""

    kind = "setting"

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.right = fix


class SqlLog:
    """A log of a server, in tables. The connection is opened when it is needed, and again after an error."""

    def __init__(self, address: Callable[[], tuple[Dsn, Password]], live: TableName) -> None:
        """`address` reads address and password for each connection, and may raise OptionFileError. `live` is
        the table to which the server writes."""
        self._address = address
        self._where = "the server"
        self.live = live
        self._server: Server | None = None
        self._account = ""
        """`user@host` as the server knows it; empty before the first connection."""

    def _rows(self, statement: str) -> list[dict[str, object]]:
        """Runs one statement; bytes stay bytes. Raises RemoteError."""
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
