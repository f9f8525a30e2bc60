"""Writes rows of `mysql.slow_log` and `mysql.general_log` as the text that the server writes to its files.

docs/PULL.md lists differences from the files of MySQL 5.7, 8.0 and MariaDB 10.11. Times are UTC.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tailrace_capture.product import Product

Row = Mapping[str, object]
"""Values by lower-case name of the column; a TIMESTAMP is a datetime without zone, in UTC."""

COMMANDS = frozenset(
    {
        *(
            "Sleep",
            "Quit",
            "Init DB",
            "Field List",
            "Create DB",
            "Drop DB",
            "Refresh",
            "Shutdown",
            "Statistics",
        ),
        *("Processlist", "Connect", "Kill", "Debug", "Ping", "Time", "Delayed insert", "Change user"),
        *(
            "Binlog Dump",
            "Table Dump",
            "Connect Out",
            "Register Slave",
            "Register Replica",
            "Prepare",
            "Execute",
        ),
        *("Long Data", "Close stmt", "Reset stmt", "Set option", "Fetch", "Daemon", "Binlog Dump GTID"),
        *("Reset Connection", "clone", "Group Replication Data Stream subscription"),
    }
)
"""Names of commands (MySQL: sql/sql_parse.cc, command_name). MySQL writes only the name into `sql_text`; none
is a complete statement."""


@dataclass(frozen=True)
class SlowRows:
    """The rows of a slow log. MariaDB's `start_time` is the start of the statement, MySQL's is its end."""

    product: Product
    time_column = "start_time"
    columns = frozenset({"start_time", "user_host", "query_time", "lock_time", "rows_sent", "sql_text", "db"})

    def text(self, row: Row) -> bytes:
        """Returns one entry with its last line feed."""
        end = self._end(row)
        header = _mariadb_header(row) if self.product.is_mariadb else _mysql_header(row)
        lines = (
            b"# Time: " + _iso(end),
            header,
            *self._use(row),
            _set_timestamp(row, self._timestamp(end, row)),
        )
        return b"\n".join(lines) + b"\n" + _statement(row["sql_text"]) + b";\n"

    def account(self, row: Row) -> bytes:
        return _user(row)

    def statement(self, row: Row) -> bytes:
        return _bytes(row["sql_text"])

    def _end(self, row: Row) -> datetime:
        return row["start_time"] + row["query_time"] if self.product.is_mariadb else row["start_time"]

    def _timestamp(self, end: datetime, row: Row) -> int:
        """Returns the seconds of SET timestamp. MySQL 5.7 states the end of the statement."""
        states_end = not self.product.is_mariadb and not self.product.since(8)
        start = end if states_end else end - row["query_time"]
        return int(start.replace(tzinfo=UTC).timestamp())

    def _use(self, row: Row) -> list[bytes]:
        """Returns the line that names the database. Each row has it; the file has it after changes only.

        A row without a database has an empty `Schema` in its header.
        """
        name = _bytes(row["db"])
        if not name:
            return []
        return [
            b"use `" + name.replace(b"`", b"``") + b"`;" if self.product.is_mariadb else b"use " + name + b";"
        ]


@dataclass(frozen=True)
class GeneralRows:
    """The rows of a general log."""

    product: Product
    time_column = "event_time"
    columns = frozenset({"event_time", "user_host", "thread_id", "command_type", "argument"})

    def text(self, row: Row) -> bytes:
        command = _bytes(row["command_type"])
        return b"%s\t%5d %s\t%s\n" % (
            _iso(row["event_time"]),
            row["thread_id"],
            command,
            _bytes(row["argument"]),
        )

    def account(self, row: Row) -> bytes:
        return _user(row)

    def statement(self, row: Row) -> bytes:
        return _bytes(row["argument"]) if row["command_type"] == "Query" else b""


def _mysql_header(row: Row) -> bytes:
    # Percona Server's line, not MySQL's: without it the database of the entry before would apply.
    schema = b"" if row["db"] else b"# Schema: \n"
    form = b"# User@Host: %s  Id: %5d\n%s# Query_time: %s  Lock_time: %s Rows_sent: %d  Rows_examined: %d"
    return form % (
        _bytes(row["user_host"]),
        row.get("thread_id", 0),
        schema,
        *(_seconds(row[name]) for name in ("query_time", "lock_time")),
        *(row[name] for name in ("rows_sent", "rows_examined")),
    )


def _mariadb_header(row: Row) -> bytes:
    lines = [
        b"# User@Host: " + _bytes(row["user_host"]),
        b"# Thread_id: %d  Schema: %s" % (row.get("thread_id", 0), _bytes(row["db"])),
        b"# Query_time: %s  Lock_time: %s  Rows_sent: %d  Rows_examined: %d"
        % (
            *(_seconds(row[name]) for name in ("query_time", "lock_time")),
            *(row[name] for name in ("rows_sent", "rows_examined")),
        ),
    ]
    if "rows_affected" in row:
        lines.append(b"# Rows_affected: %d" % row["rows_affected"])
    return b"\n".join(lines)


def _set_timestamp(row: Row, seconds: int) -> bytes:
    numbers = b"".join(
        b"%s=%d," % (name.encode(), row[name]) for name in ("last_insert_id", "insert_id") if row.get(name)
    )
    return b"SET %stimestamp=%d;" % (numbers, seconds)


def _statement(text: object) -> bytes:
    statement = _bytes(text)
    is_command = len(statement) <= max(map(len, COMMANDS)) and statement.decode(errors="replace") in COMMANDS
    return b"# administrator command: " + statement if is_command else statement


def _user(row: Row) -> bytes:
    """Returns the name of the account in `user[account] @ host [address]`."""
    return _bytes(row["user_host"]).partition(b"[")[2].partition(b"]")[0]


def _iso(at: datetime) -> bytes:
    return at.isoformat(timespec="microseconds").encode() + b"Z"


def _seconds(duration: timedelta) -> bytes:
    micros = duration // timedelta(microseconds=1)
    return b"%d.%06d" % divmod(micros, 1_000_000)


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
