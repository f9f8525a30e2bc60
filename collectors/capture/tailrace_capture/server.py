"""A restricted connection to a server of the MySQL family: read-only, with a timeout for every statement."""

import contextlib
import ssl
from collections.abc import Iterator, Sequence
from typing import Any

import pymysql
from pymysql.constants import CLIENT, CR
from pymysql.cursors import DictCursor, SSDictCursor

from tailrace_capture.dsn import INSISTING, VERIFYING, Dsn, Password
from tailrace_capture.product import product_of

CONNECT_SECONDS = 5
SOCKET_GRACE_SECONDS = 5
"""The additional time of the client's timeout: some statements ignore the server's limit."""
LOCK_SECONDS = 2
CLEAR_PASSWORD = frozenset({b"mysql_clear_password", b"dialog"})
"""Authentication methods that send the password in clear text."""

MARK = "/* tailrace */ "
"""The prefix of our statements, which distinguishes them in logs from statements of applications."""

# Error codes: MySQL's errmsg / MariaDB's errmsg-utf8.txt. schemas/contracts/refusal_code.json explains those
# of DENIED; capture is installed alone, so it has its own list.
DENIED = {1044, 1045, 1142, 1143, 1227, 1345, 1356, 1370, 1698, 1820, 1862, 3118, 3955, 4151}
# 1969: MariaDB's max_statement_time; 3024: MySQL's max_execution_time; 1205: lock wait; 1317: killed.
TIMED_OUT = {1205, 1317, 1969, 3024}
# 2002, 2003: no connection; 2006, 2013: lost; 1040, 1203: too many; 1053: shutting down; 1927: killed.
GONE = {1040, 1053, 1203, 1927, 2002, 2003, 2006, 2013}
# Objects that this version lacks: database, column, table, variable, syntax, information_schema table.
ABSENT = {1049, 1054, 1064, 1109, 1146, 1193}


class ServerError(RuntimeError):
    """A query failed. `status` is one of denied, timeout, gone, absent and failed."""

    def __init__(
        self, status: str, code: int, message: str, problem: str = "", fix: tuple[str, ...] = ()
    ) -> None:
        """`problem` is the message without the fix; `fix` are the lines of `doctor.finding.Finding`."""
        super().__init__(message)
        self.status = status
        self.code = code
        self.problem = problem or message
        self.fix = fix


class Server:
    """An open connection. Every method raises ServerError."""

    def __init__(self, connection: pymysql.Connection, statement_seconds: float) -> None:
        self._connection = connection
        self._statement_seconds = statement_seconds
        self._variables: dict[str, str] | None = None
        self.memory: dict[str, Any] = {}
        """What kinds of facts leave for other kinds and later polls; the service keeps that of a server."""
        (row,) = self.rows("SELECT @@version AS version, @@version_comment AS comment")
        self.product = product_of(str(row["version"]), str(row["comment"]))
        self.connection_id: int = connection.thread_id()
        self.limits: tuple[str, ...] = tuple(self._limit())
        """The statements that limit this session and were accepted by the server."""

    def _limit(self) -> Iterator[str]:
        seconds = self._statement_seconds
        limit = (
            f"SET SESSION max_statement_time = {seconds:g}"
            if self.product.is_mariadb
            else f"SET SESSION max_execution_time = {int(seconds * 1000)}"
        )
        for statement in (
            limit,
            f"SET SESSION lock_wait_timeout = {LOCK_SECONDS}",
            "SET SESSION TRANSACTION READ ONLY",
            "SET SESSION time_zone = '+00:00'",
        ):
            with contextlib.suppress(
                ServerError
            ):  # the server lacks this limit: the socket's timeout remains
                self.execute(statement)
                yield statement

    def rows(self, statement: str, arguments: Sequence[object] = ()) -> list[dict[str, object]]:
        """Runs one statement; bytes become text, in which invalid UTF-8 is escaped."""
        with _translated(), self._connection.cursor(DictCursor) as cursor:
            cursor.execute(MARK + statement, arguments or None)
            return [{name: _text(value) for name, value in row.items()} for row in cursor.fetchall()]

    def stream(self, statement: str, arguments: Sequence[object] = ()) -> Iterator[dict[str, object]]:
        """Yields the rows of one statement as they arrive; bytes stay bytes. Only one may be open."""
        with _translated(), self._connection.cursor(SSDictCursor) as cursor:
            cursor.execute(MARK + statement, arguments or None)
            yield from cursor

    def execute(self, statement: str) -> None:
        """Runs one statement for its effect on this session."""
        with _translated(), self._connection.cursor() as cursor:
            cursor.execute(MARK + statement)

    def variables(self) -> dict[str, str]:
        """Returns global variables by lower-case name, cached at the first call."""
        if self._variables is None:
            rows = self.rows("SHOW GLOBAL VARIABLES")
            self._variables = {str(row["Variable_name"]).lower(): str(row["Value"]) for row in rows}
        return dict(self._variables)

    def status_value(self, name: str) -> str:
        """Returns one global status value, empty if there is none; `name` is no pattern."""
        rows = self.rows("SHOW GLOBAL STATUS WHERE Variable_name = %s", (name,))
        return str(rows[0]["Value"]) if rows else ""

    def columns(self, schema: str, table: str) -> dict[str, str]:
        """Returns the columns of a table that this account may read, lower-case name → name.

        Servers list only columns for which the account has a privilege, so other columns are not read. Empty
        if there is no such table or no privilege.
        """
        rows = self.rows(
            "SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS "
            "WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s",
            (schema, table),
        )
        return {str(row["name"]).lower(): str(row["name"]) for row in rows}

    def close(self) -> None:
        with contextlib.suppress(pymysql.err.Error, OSError):
            self._connection.close()


class Connection(pymysql.connections.Connection):
    """The driver's connection, which continues without TLS if the server, or an attacker in between, offers
    none."""

    def __init__(self, insists_on_tls: bool, **settings: object) -> None:
        self._insists_on_tls = insists_on_tls
        super().__init__(**settings)

    def _request_authentication(self) -> None:
        if not self.server_capabilities & CLIENT.SSL:
            if self._insists_on_tls:
                raise pymysql.err.OperationalError(CR.CR_SSL_CONNECTION_ERROR, "the server offers no TLS")
            # MySQL 5.7 without a certificate treats an unrequested TLS offer as a bad handshake.
            self.client_flag &= ~CLIENT.SSL
        super()._request_authentication()

    def _process_auth(self, plugin_name: bytes, auth_packet: object) -> object:
        if plugin_name in CLEAR_PASSWORD:
            text = f"the server asks for the password in clear ({plugin_name.decode()})"
            raise pymysql.err.OperationalError(CR.CR_AUTH_PLUGIN_ERR, text)
        return super()._process_auth(plugin_name, auth_packet)


def connect(dsn: Dsn, password: Password, statement_seconds: float, program: str) -> Server:
    """Opens the connection. `program` appears in the server's process list if it supports that. Raises
    ServerError."""
    transport = _transport(dsn)
    with _translated():
        connection = Connection(
            insists_on_tls=not dsn.socket and dsn.tls in INSISTING,
            user=dsn.user,
            password=password.text.encode(),  # the driver would encode text as latin1
            connect_timeout=CONNECT_SECONDS,
            read_timeout=statement_seconds + SOCKET_GRACE_SECONDS,
            write_timeout=CONNECT_SECONDS,
            charset="utf8mb4",
            autocommit=True,
            local_infile=False,
            program_name=program,
            **transport,
        )
    try:
        return Server(connection, statement_seconds)
    except ServerError:
        connection.close()
        raise


def _transport(dsn: Dsn) -> dict[str, object]:
    if dsn.socket:
        return {"unix_socket": dsn.socket}
    where = {"host": dsn.host, "port": dsn.port}
    if dsn.tls == "off":
        return {**where, "ssl_disabled": True}
    try:
        context = ssl.create_default_context(cafile=dsn.ca or None)
    except (OSError, ssl.SSLError) as error:
        raise ServerError("failed", 0, f"the authorities in {dsn.ca} cannot be read: {error}") from None
    context.check_hostname = dsn.tls == "verify"
    if dsn.tls not in VERIFYING:
        context.verify_mode = ssl.CERT_NONE
    return {**where, "ssl": context}


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Converts the driver's errors to ServerError."""
    try:
        yield
    except pymysql.err.Error as error:
        code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
        message = str(error.args[1]) if len(error.args) > 1 else str(error)
        raise ServerError(_status(code), code, message) from None
    except (OSError, RuntimeError) as error:  # RuntimeError: an authentication method that the driver lacks
        status = "gone" if isinstance(error, OSError) else "denied"
        raise ServerError(status, 0, str(error)) from None


def _status(code: int) -> str:
    for status, codes in (("denied", DENIED), ("timeout", TIMED_OUT), ("gone", GONE), ("absent", ABSENT)):
        if code in codes:
            return status
    return "gone" if code == 0 else "failed"


def _text(value: object) -> object:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes | bytearray) else value
