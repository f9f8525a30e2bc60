"""Audit logs, record by record as the plugins write them. They have times in seconds."""

import csv
import io
import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from xml.sax.saxutils import escape

from tailrace.demo.shop.events import Event, Execution, Login
from tailrace.demo.shop.log import Entry

_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_COMMANDS = {
    "select": "select",
    "insert": "insert",
    "update": "update",
    "delete": "delete",
    "alter": "alter_table",
    "set": "set_option",
    "show": "show_tables",
}

AuditFormat = Callable[[str, Iterable[Event]], tuple[Entry, ...]]


def server_audit(instance: str, events: Iterable[Event]) -> tuple[Entry, ...]:
    """MariaDB's server_audit with server_audit_events=CONNECT,QUERY."""
    return tuple(
        Entry(int(event.at), f"{_line(instance, number, event)}\n".encode())
        for number, event in enumerate(events, 30_000)
    )


def _line(instance: str, number: int, event: Event) -> str:
    session = event.session
    time = f"{datetime.fromtimestamp(int(event.at), UTC):%Y%m%d %H:%M:%S}"
    start = f"{time},{instance},{session.user},{session.address},{session.connection}"
    if isinstance(event, Execution):
        sql = event.sql.translate(_ESCAPES)
        return f"{start},{number},QUERY,{session.database},'{sql}',{event.error}"
    if isinstance(event, Login):
        command = "FAILED_CONNECT" if event.error else "CONNECT"
        return f"{start},0,{command},{'' if event.error else session.database},,{event.error}"
    return f"{start},0,DISCONNECT,{session.database},,0"


def filter_json(instance: str, events: Iterable[Event]) -> tuple[Entry, ...]:
    """Audit log filter in JSON, as MySQL 8.0 and Percona Server 8.0 write it: an array, one record per
    line."""
    return tuple(
        Entry(int(event.at), f"{json.dumps(_record(number, event))},\n".encode())
        for number, event in enumerate(events)
    )


def _record(number: int, event: Event) -> dict[str, object]:
    session = event.session
    record: dict[str, object] = {
        "timestamp": f"{datetime.fromtimestamp(int(event.at), UTC):%Y-%m-%d %H:%M:%S}",
        "id": number,
        "class": "general" if isinstance(event, Execution) else "connection",
        "event": _event(event),
        "connection_id": session.connection,
        "account": {"user": session.user, "host": session.address},
        "login": {"user": session.user, "os": "", "ip": session.address, "proxy": ""},
    }
    if isinstance(event, Execution):
        command = _COMMANDS.get(event.verb, event.verb)
        record["general_data"] = {
            "command": "Query",
            "sql_command": command,
            "query": event.sql,
            "status": event.error,
        }
    else:
        record["connection_data"] = _connection(event)
    return record


def _event(event: Event) -> str:
    if isinstance(event, Execution):
        return "status"
    return "connect" if isinstance(event, Login) else "disconnect"


def _connection(event: Event) -> dict[str, object]:
    session = event.session
    status = event.error if isinstance(event, Login) else 0
    data: dict[str, object] = {"connection_type": "ssl", "status": status, "db": session.database}
    if isinstance(event, Login):
        data["connection_attributes"] = {"_client_name": "libmysql", "program_name": session.program}
    return data


def percona_csv(instance: str, events: Iterable[Event]) -> tuple[Entry, ...]:
    """Percona's audit_log with audit_log_format=CSV."""
    return tuple(Entry(int(event.at), _csv(_values(number, event))) for number, event in enumerate(events, 2))


def percona_xml(instance: str, events: Iterable[Event]) -> tuple[Entry, ...]:
    """Percona's audit_log with audit_log_format=NEW."""
    return tuple(
        Entry(int(event.at), _xml(event, _values(number, event)).encode())
        for number, event in enumerate(events, 2)
    )


_QUERY = (
    *("NAME", "RECORD", "TIMESTAMP", "COMMAND_CLASS", "CONNECTION_ID", "STATUS", "SQLTEXT", "USER", "HOST"),
    *("OS_USER", "IP", "DB"),
)
_CONNECT = (
    *("NAME", "RECORD", "TIMESTAMP", "CONNECTION_ID", "STATUS", "USER", "PRIV_USER", "OS_LOGIN"),
    *("PROXY_USER", "HOST", "IP", "DB"),
)


def _values(number: int, event: Event) -> tuple[str | int, ...]:
    """Returns the values of _QUERY or _CONNECT. The number of a record ends with the time of the server's
    start, which is the same in all records."""
    session = event.session
    moment = f"{datetime.fromtimestamp(int(event.at), UTC):%Y-%m-%dT%H:%M:%S} UTC"
    record, connection = f"{number}_2026-11-02T04:00:11", str(session.connection)
    where = ("", "", session.address, session.database)
    if isinstance(event, Execution):
        user = f"{session.user}[{session.user}] @  [{session.address}]"
        command = _COMMANDS.get(event.verb, event.verb)
        return ("Query", record, moment, command, connection, event.error, event.sql, user, *where)
    name, error = ("Connect", event.error) if isinstance(event, Login) else ("Quit", 0)
    return (name, record, moment, connection, error, session.user, session.user, "", "", *where[1:])


def _csv(values: tuple[str | int, ...]) -> bytes:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerow(values)
    return line.getvalue().encode()


def _xml(event: Event, values: tuple[str | int, ...]) -> str:
    names = _QUERY if isinstance(event, Execution) else _CONNECT
    lines = (f"  <{name}>{_text(value)}</{name}>\n" for name, value in zip(names, values, strict=True))
    return f"<AUDIT_RECORD>\n{''.join(lines)}</AUDIT_RECORD>\n"


def _text(value: str | int) -> str:
    return escape(str(value), {'"': "&quot;"})


XML_BANNER = b'<?xml version="1.0" encoding="UTF-8"?>\n<AUDIT>\n'
JSON_BANNER = b"[\n"
