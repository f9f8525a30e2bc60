"""Reads `performance_schema.error_log`, in which MySQL keeps its last error messages since 8.0.22.

The table is a ring of 5 MiB in memory. Each row has a unique time, and a later row has a later one (MySQL,
sql/server_component/log_sink_perfschema.cc), so the time is the position. At its start the server fills the
table from the error log file.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from tailrace_capture.dsn import Dsn, Password
from tailrace_pull.log_rows import Row
from tailrace_pull.matching import Numbers
from tailrace_pull.reading import Gap, LineRun, Round
from tailrace_pull.remote import FileGoneError
from tailrace_pull.sql_log import SettingError, SqlLog, TableName
from tailrace_pull.state import LogState, PulledFile

ERROR_LOG = TableName("performance_schema", "error_log")
ROWS_AT_ONCE = 20_000
READING = (
    "SELECT LOGGED AS logged, THREAD_ID AS thread_id, PRIO AS prio, ERROR_CODE AS error_code,"
    " SUBSYSTEM AS subsystem, DATA AS data FROM `{}`.`{}` WHERE LOGGED >= '{}' ORDER BY LOGGED LIMIT {}"
)
IS_ON = "SELECT @@performance_schema AS is_on"
TURN_ON = "SET PERSIST_ONLY performance_schema = ON; RESTART;"
BEGIN = "1970-01-01 00:00:01.000000"
LOST = "the server dropped messages before they were read, or did not keep those before its start"


class ErrorLogTable(SqlLog):
    """Visits the error log of one server (`reading.VisitedLog`)."""

    def __init__(self, address: Callable[[], tuple[Dsn, Password]], table: TableName = ERROR_LOG) -> None:
        super().__init__(address, table)

    def visit(self, state: LogState, new_number: Numbers, at: float, max_bytes: int) -> Round:
        """Reads the rows behind the last one, at most about `max_bytes`. Raises RemoteError."""
        done = Round(at, state.copy())
        if not done.state.files:
            done.state.files.append(PulledFile(new_number(), str(self.live), written_at=at))
        (file,) = done.state.files
        rows = self._rows_from(file.position or BEGIN)
        is_end = len(rows) < ROWS_AT_ONCE + 1
        if file.position:
            is_known = bool(rows) and _position(rows[0]) == file.position
            if rows and not is_known and not self._has_older(file.position):
                _leave_gap(done, file)
            rows = rows[1:] if is_known else rows
        done.is_complete = _append(done, file, rows, max_bytes) and is_end
        if not rows and not file.position:
            self._require_on()
        return done

    def _rows_from(self, position: str) -> list[dict[str, object]]:
        try:
            return self._rows(READING.format(self.live.schema, self.live.name, position, ROWS_AT_ONCE + 1))
        except FileGoneError as error:
            raise FileGoneError(
                f"{self._where}: there is no {self.live}: MySQL has it since 8.0.22, MariaDB does not have it"
            ) from error

    def _has_older(self, position: str) -> bool:
        """Returns whether the table has a row of before: then only the last one has got another time, as at a
        restart."""
        older = f"SELECT 1 FROM `{self.live.schema}`.`{self.live.name}` WHERE LOGGED < '{position}' LIMIT 1"
        return bool(self._rows(older))

    def _require_on(self) -> None:
        (row,) = self._rows(IS_ON)
        if not row["is_on"]:
            raise SettingError("performance_schema is OFF", TURN_ON)


def _append(done: Round, file: PulledFile, rows: list[dict[str, object]], max_bytes: int) -> bool:
    """Appends the text of rows; returns whether there was room for all of them."""
    parts: list[bytes] = []
    size = 0
    for row in rows:
        if size >= max_bytes:
            break
        parts.append(text(row))
        size += len(parts[-1])
        file.position = _position(row)
    if lines := b"".join(parts):
        done.runs.append(LineRun(file, file.offset, lines))
        file.extend_head(lines)
        file.written_at = _time(rows[len(parts) - 1]).timestamp()
        _end_at(file, file.offset + len(lines))
    return len(parts) == len(rows)


def _leave_gap(done: Round, file: PulledFile) -> None:
    """How many bytes are lost is unknown: a gap of one byte."""
    done.gaps.append(Gap(file.offset, 1, LOST))
    done.notes.append(f"{LOST}: a gap of 1 byte, because the true size is unknown")
    _end_at(file, file.offset + 1)


def _end_at(file: PulledFile, offset: int) -> None:
    file.offset = file.size = file.read_size = offset


def text(row: Row) -> bytes:
    """Returns the line of a message as the server writes it to its file, with a line feed. With the JSON sink
    the table has the whole object."""
    data = _bytes(row["data"])
    if data.startswith(b"{"):
        return data + b"\n"
    return b"%sZ %d [%s] [%s] [%s] %s\n" % (
        _time(row).replace(tzinfo=None).isoformat(timespec="microseconds").encode(),
        row["thread_id"],
        *(_bytes(row[name]) for name in ("prio", "error_code", "subsystem")),
        data,
    )


def _time(row: Row) -> datetime:
    return row["logged"].replace(tzinfo=UTC)


def _position(row: Row) -> str:
    return f"{_time(row):%Y-%m-%d %H:%M:%S.%f}"


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
