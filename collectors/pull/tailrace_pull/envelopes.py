"""Decodes log entries of managed servers from the JSON that their clouds export: pure functions.

Sources: Google Cloud Logging, LogEntry (API v2) of the resource `cloudsql_database`; Azure Monitor, resource
logs MySqlSlowLogs and MySqlAuditLogs of Azure Database for MySQL; Amazon CloudWatch Logs, messages of
subscriptions (Firehose) and objects of export tasks.
"""

import base64
import functools
import json
import re
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from tailrace_pull import json_text

MALFORMED = (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
"""What reading a record raises that has another form than the published one. Objects are no trusted input."""


class EnvelopeError(ValueError):
    """A record has not the published form; the message contains what was expected."""


class Decoded(msgspec.Struct, gc=False):
    """One entry of a log."""

    log: tuple[str, ...]
    """Cloud, project, server and name of the log, such as google, shop, db-1, mysql-slow.log."""
    at: datetime
    """Time of the record, in UTC."""
    id: str
    """The id that the cloud gave the record; empty if it gives none."""
    entry: bytes
    """The bytes of the entry in the format of a server's log; ends with a line feed."""


def records(document: str) -> Iterator[dict[str, Any]]:
    """Yields the records of an exported file: JSON lines or other JSON values one after the other, lists,
    `records` of an Event Hub, `logEvents` of a subscription of CloudWatch Logs.

    Raises EnvelopeError.
    """
    for line, value in _values(document):
        yield from _contained(line, value)


CONTAINERS = {"records", "message", "logEvents"}
"""Keys of values that contain records."""


def records_of_line(line: bytes) -> list[dict[str, Any]]:
    """Returns the records of one line, as `records` does. Raises EnvelopeError, or UnicodeDecodeError if the
    line is not UTF-8."""
    try:
        value = json_text.loads(line)
    except (ValueError, RecursionError):
        return list(records(line.decode()))
    is_plain = isinstance(value, dict) and CONTAINERS.isdisjoint(value)
    return [value] if is_plain else list(_contained(1, value))


def _contained(line: int, value: Any) -> Iterator[dict[str, Any]]:
    found = value.get("records", [value]) if isinstance(value, dict) else value
    for record in found if isinstance(found, list) else [found]:
        if not isinstance(record, dict):
            raise EnvelopeError(f"line {line}: expected a JSON object, found {type(record).__name__}")
        try:
            contained = list(_of_subscription(_of_pubsub(record)))
        except MALFORMED as error:
            raise EnvelopeError(f"line {line}: expected a published record: {_what(error)}") from error
        yield from contained


def decode(record: Mapping[str, Any]) -> Decoded | None:
    """Returns the entry of a record; None if it is of another resource or kind. Raises EnvelopeError."""
    try:
        if "logName" in record:
            return _google(record)
        if "logGroup" in record:
            return _amazon(record)
        return _azure({key.lower(): value for key, value in record.items()})
    except MALFORMED as error:
        raise EnvelopeError(f"expected a published record: {_what(error)}") from error


def _what(error: Exception) -> str:
    """Returns what is wrong without a value of the record, which may be personal data: for a log file."""
    return repr(error) if isinstance(error, KeyError) else type(error).__name__


def _values(document: str) -> Iterator[tuple[int, Any]]:
    """Yields JSON values with the number of the line on which each begins."""
    decoder, at, line = json.JSONDecoder(), 0, 1
    while found := NOT_SPACE.search(document, at):
        line += document.count("\n", at, found.start())
        try:
            value, end = decoder.raw_decode(document, found.start())
        except (ValueError, RecursionError) as error:
            raise EnvelopeError(f"line {line}: expected JSON: {error}") from error
        yield line, value
        line, at = line + document.count("\n", found.start(), end), end


NOT_SPACE = re.compile(r"\S")


def _of_subscription(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the events of a message of CloudWatch Logs; other records as they are."""
    if not isinstance(record.get("logEvents"), list):
        yield record
        return
    if record.get("messageType") == "DATA_MESSAGE":
        for event in record["logEvents"]:
            yield {"logGroup": record["logGroup"], "logStream": record["logStream"], **event}


def _amazon(record: Mapping[str, Any]) -> Decoded:
    at = datetime.fromtimestamp(record["timestamp"] / 1000, UTC)
    log = ("aws", str(record["logGroup"]), str(record["logStream"]), "events.log")
    return Decoded(log, at, record["id"], _line(record["message"]))


EVENT = rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) "
"""What begins an event in an object of an export task. A time in a log has another number of digits."""
FIRST_EVENT = re.compile(EVENT)
NEXT_EVENT = re.compile(rb"\n(?=" + EVENT + rb")")


def exported_events(document: bytes, stream: str) -> Iterator[Decoded]:
    """Yields the events of an object that an export task of CloudWatch Logs wrote; none of other documents.
    A message of several lines continues until the next event. A line with an impossible time begins none.

    `document` is UTF-8."""
    log = ("aws", stream, "events.log")
    first = FIRST_EVENT.match(document)
    if first is None or not is_time(first[1].decode()):
        return
    at, begin = time_of(first[1].decode()), first.end()
    for found in NEXT_EVENT.finditer(document, begin):
        try:
            following = time_of(found[1].decode())
        except ValueError:
            continue
        yield Decoded(log, at, "", document[begin : found.end()])
        at, begin = following, found.end() + len(found[1]) + 1
    last = document[begin:]
    yield Decoded(log, at, "", last if last.endswith(b"\n") else last + b"\n")


def _of_pubsub(record: dict[str, Any]) -> dict[str, Any]:
    """Returns the record in a message of Pub/Sub."""
    message = record.get("message")
    if isinstance(message, dict) and isinstance(message.get("data"), str):
        return json.loads(base64.b64decode(message["data"]))
    return record


GOOGLE_LOGS = ("mysql-slow.log", "mysql.err", "mysql-general.log")


class _Labels(msgspec.Struct, gc=False):
    database_id: str


class _Resource(msgspec.Struct, gc=False):
    type: str
    labels: _Labels


class _LogEntry(msgspec.Struct, rename="camel", gc=False):
    """LogEntry of Cloud Logging with a text. One with a key of `CONTAINERS` is none."""

    log_name: str
    resource: _Resource
    text_payload: str
    timestamp: str
    insert_id: str = ""
    records: msgspec.UnsetType = msgspec.UNSET
    message: msgspec.UnsetType = msgspec.UNSET
    log_events: msgspec.UnsetType = msgspec.UNSET


LOG_ENTRIES = msgspec.json.Decoder(_LogEntry)


def google_entries(lines: bytes) -> list[Decoded] | None:
    """Returns the entries of JSON lines from Cloud Logging; None if a line is anything else. This takes a
    fraction of the time of `decode`, and returns the same."""
    if (found := json_text.lines(lines, LOG_ENTRIES)) is None:
        return None
    entries = []
    try:
        for each in found:
            log = _google_log(each.log_name, each.resource.type, each.resource.labels.database_id)
            if log is not None:
                text = _line(each.text_payload)
                entries.append(Decoded(log, time_of(each.timestamp), each.insert_id, text))
    except MALFORMED:
        return None
    return entries


def _google(record: Mapping[str, Any]) -> Decoded | None:
    resource = record["resource"]
    log = _google_log(record["logName"], resource["type"], resource["labels"].get("database_id"))
    if log is None:
        return None
    text = record["textPayload"] if "textPayload" in record else record["jsonPayload"]["message"]
    return Decoded(log, time_of(record["timestamp"]), record.get("insertId", ""), _line(text))


@functools.lru_cache
def _google_log(path: str, resource: str, database: str | None) -> tuple[str, ...] | None:
    """Returns the log of `Decoded`; None if it is no log of a MySQL server. `path` is the name of the log in
    LogEntry; `resource` is the type of its resource, and `database` the id in its labels. Raises KeyError."""
    name = urllib.parse.unquote(path).rpartition("/")[2]
    if resource != "cloudsql_database" or name not in GOOGLE_LOGS:
        return None
    if database is None:
        raise KeyError("database_id")
    project, _, server = database.rpartition(":")
    return "google", project, server, name


def _azure(record: Mapping[str, Any]) -> Decoded | None:
    """Keys of the envelope differ in case between blobs and Event Hubs."""
    write = AZURE_LOGS.get(record.get("category", ""))
    if write is None:
        return None
    name, entry_of = write
    resource = record["resourceid"].strip("/").split("/")
    properties = record["properties"]
    fields = _without_types(json.loads(properties) if isinstance(properties, str) else properties)
    entry = entry_of(fields, time_of(record["time"]))
    log = ("azure", resource[1].lower(), resource[-1].lower(), name)
    return entry and Decoded(log, time_of(record["time"]), "", entry)


def _without_types(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Log Analytics appends the type to the names of properties: `_s`, `_d`, `_t`."""
    return {key[:-2] if key[-2:] in ("_s", "_d", "_t") else key: value for key, value in properties.items()}


def _slow_entry(fields: Mapping[str, Any], at: datetime) -> bytes:
    """Writes an entry as MySQL 8.0 does, with Percona Server's `Schema` if there is no database."""
    start = time_of(fields["start_time"]) if fields.get("start_time") else at
    seconds = _seconds(fields["query_time"])
    end = (start + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    times = f"# Query_time: {seconds:.6f}  Lock_time: {_seconds(fields.get('lock_time', 0)):.6f}"
    rows = (
        f"Rows_sent: {int(fields.get('rows_sent', 0))}  Rows_examined: {int(fields.get('rows_examined', 0))}"
    )
    database = f"use {_word(fields['db'])};\n" if fields.get("db") else ""
    schema = "" if database else "# Schema: \n"  # without it the database of the entry before would apply
    return (
        f"# Time: {end}\n"
        f"# User@Host: {_word(fields['user_host'])}  Id: {_word(fields.get('thread_id', 0))}\n"
        f"{schema}{times} {rows}\n"
        f"{database}SET timestamp={int(start.timestamp())};\n"
        f"{str(fields['sql_text']).rstrip().removesuffix(';')};\n"
    ).encode()


COMMANDS = {"CONNECT": "Connect", "DISCONNECT": "Quit", "CHANGE USER": "Change user"}


def _audit_entry(fields: Mapping[str, Any], at: datetime) -> bytes | None:
    """Writes a record as the audit log of Percona Server does, in JSON. Records of `table_access_log` are
    left out, because they repeat statements."""
    time = time_of(fields["event_time"]) if fields.get("event_time") else at
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S UTC")
    user, host, ip = (str(fields.get(key) or "") for key in ("user", "host", "ip"))
    who = {"host": host, "ip": ip, "db": str(fields.get("db") or "")}
    connection = str(fields.get("connection_id", fields.get("thread_id", "")))
    known = [int(fields[key]) for key in ("status", "error_code") if fields.get(key) is not None]
    status = {"status": known[0]} if known else {}
    subclass = str(fields.get("event_subclass", ""))
    if fields.get("event_class") == "connection_log":
        name, more = COMMANDS[subclass], {"user": user, "priv_user": user, "os_login": "", "proxy_user": ""}
    elif fields.get("event_class") == "general_log":
        name, more = "Query", {"sqltext": str(fields["sql_text"]), "user": f"{user}[{user}] @ {host} [{ip}]"}
    else:
        return None
    record = {"name": name, "timestamp": stamp, "connection_id": connection, **status, **more, **who}
    return json.dumps({"audit_record": record}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


AZURE_LOGS: Mapping[str, tuple[str, Callable[[Mapping[str, Any], datetime], bytes | None]]] = {
    "MySqlSlowLogs": ("slow.log", _slow_entry),
    "MySqlAuditLogs": ("audit.log", _audit_entry),
}


def time_of(text: str) -> datetime:
    """Reads RFC 3339 with up to nine digits of a second; without a zone it is UTC."""
    read = datetime.fromisoformat(text.strip())
    if read.tzinfo is UTC:
        return read
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)


def is_time(text: str) -> bool:
    """Returns whether `time_of` reads a text: a statement may contain 0000-00-00T00:00:00.000Z."""
    try:
        time_of(text)
    except ValueError:
        return False
    return True


def _seconds(value: object) -> float:
    """Reads seconds, also as HH:MM:SS."""
    total = 0.0
    for part in str(value).split(":"):
        total = total * 60 + float(part)
    return total


def _word(value: object) -> str:
    """Returns a text that cannot end the line of a header."""
    return " ".join(str(value).splitlines())


def _line(text: str) -> bytes:
    return text.removesuffix("\n").encode() + b"\n"
