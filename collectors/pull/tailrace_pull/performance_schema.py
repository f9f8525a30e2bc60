"""Decodes what an OpenTelemetry Collector and Grafana Alloy read from Performance Schema: pure functions.

Sources, read in November 2026: receiver/mysqlreceiver of opentelemetry-collector-contrib (its templates,
scraper and expected records, between August 2025 and September 2026), and the component
database_observability.mysql of Grafana Alloy 1.18.0.

Each selected record becomes one line of JSON, so that offsets account for every record. A line has `tool`,
`kind` (the tool's name of the record), `at` (seconds since 1970 UTC) and, if the record is not used,
`ignored` with the reason. All values are texts. A value that the record does not have is left out.
"""

import base64
import json
import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from google.protobuf.message import Message

from tailrace_pull import alloy_fields
from tailrace_pull.envelopes import Decoded
from tailrace_pull.object_records import Undecodable
from tailrace_pull.otlp_logs import NANOS, Attributes, Record, message_of, records_of
from tailrace_pull.topic_reading import Content

PERFORMANCE_SCHEMA = "performance_schema"
"""The source of such a log in the list."""
RECEIVER, ALLOY, OTHER = "mysqlreceiver", "alloy", "other"
TOP_QUERY, QUERY_SAMPLE, QUERY_PLAN = "top_query", "query_sample", "query_plan"
ASSOCIATION, PLAN_OUTPUT = "query_association", "explain_plan_output"
EVENTS = "db.server."
EVENT_NAME = "event.name"
"""Attribute of senders of before the field of that name."""
FIRST_NANOS, LAST_NANOS = 946_684_800 * NANOS, 4_102_444_800 * NANOS
"""2000 and 2100: ClickHouse would refuse a block with other times."""
MAX_TEXT = 200
"""Characters of a name. Longer ones are no names of MySQL."""
MAX_DIGEST_TEXT = 1 << 20
"""Characters of the text of a digest: the largest performance_schema_max_digest_length in bytes."""
COUNT_DIGITS = 19
"""Decimal digits of the largest count. Python converts no text of more than 4,300 digits."""
MAX_ERROR_CODE = 2**32 - 1
COMPLETE_SAMPLE_BYTES = 1000
"""The server cuts statements at performance_schema_max_sql_text_length, by default 1024 bytes."""
IGNORED = {
    QUERY_PLAN: "a plan without the query id of its statement",
    PLAN_OUTPUT: "a plan without the query id of its statement",
    "wait_event": "a wait of a statement",
    "wait_event_v2": "a wait of a statement",
    "query_parsed_table_name": "a table of a digest",
    "query_data_locks": "a lock between two digests",
    "table_detection": "a table",
    "create_statement": "a definition of a table",
    "health_status": "a check of the tool's own settings",
}
"""Kinds of records that are only counted, with their description."""
UNREADABLE = "unreadable: "
"""What the reasons of records begin with that have not the published form."""
UNKNOWN_KIND = "an unknown kind of record"
GAP = "gap"
"""The kind of a gap in a log. A record that a sender names so has no kind."""
SUMMARY, CURRENT = "mysql.events_statements_summary_by_digest.", "mysql.events_statements_current."
JSON_ID_BYTES = 24
TRACE_ID = re.compile("[0-9a-f]{32}")
Fields = dict[str, str]


class UnreadableError(ValueError):
    """A record that has not the published form; the message contains none of its values."""


def contents(wanted: Attributes, value: bytes) -> Content:
    """Returns the lines of the selected records of a message; one Undecodable for a message in no encoding.

    Times in nanoseconds and ids of executions make a message unique, so an equal one is a repetition.
    """
    try:
        message = message_of(value)
    except ValueError as error:
        return Content([Undecodable(len(value), str(error))])
    records = [each for each in records_of(message) if wanted.match(each.attributes)]
    return Content([line(each) for each in records], any(_is_unique(each) for each in records))


def line(record: Record) -> Decoded:
    """Returns a record as a line of JSON, with its keys in order."""
    fields = fields_of(record)
    content = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    at = datetime.fromtimestamp(float(fields["at"]), UTC)
    return Decoded(("otlp",), at, "", content.encode(errors="replace") + b"\n")


def fields_of(record: Record) -> Fields:
    """Returns names and texts of a line."""
    nanos = record.record.time_unix_nano or record.record.observed_time_unix_nano
    has_time = FIRST_NANOS <= nanos < LAST_NANOS
    tool, kind = kind_of(record)
    fields: Fields = {"tool": tool, "kind": kind, "at": _seconds(nanos if has_time else FIRST_NANOS)}
    try:
        if not has_time:
            raise UnreadableError("its time is missing or not valid")
        return fields | _fields(record, tool, kind)
    except UnreadableError as error:
        return fields | {"ignored": f"{UNREADABLE}{error}"}


def kind_of(record: Record) -> tuple[str, str]:
    """Returns the tool and its name of the record, of at most 64 characters."""
    if record.is_of_alloy:
        return ALLOY, _kind(record.attributes.get("op", ""))
    event = record.record.event_name or record.attributes.get(EVENT_NAME, "")
    if event.startswith(EVENTS):
        return RECEIVER, _kind(event.removeprefix(EVENTS))
    return OTHER, ""


def _kind(name: str) -> str:
    return "" if name == GAP else name[:64]


def is_used(record: Record) -> bool:
    return kind_of(record) in READERS


def _is_unique(record: Record) -> bool:
    """A time in whole milliseconds may be that of other equal records, unless it is of an execution."""
    return record.has_read_time or (is_used(record) and record.record.time_unix_nano % 1_000_000 > 0)


def _fields(record: Record, tool: str, kind: str) -> Fields:
    if tool == OTHER:
        return {"ignored": "neither of mysqlreceiver nor of Grafana Alloy"}
    reader = READERS.get((tool, kind))
    return reader(record) if reader else {"ignored": IGNORED.get(kind, UNKNOWN_KIND)}


def _top_query(record: Record) -> Fields:
    """Counters since an earlier poll of the receiver.

    The receiver sends the difference from its previous reading. The first record of a digest has no previous
    reading, and the receiver sends 0. Its count and its rows are therefore unknown.
    """
    given = record.attributes
    statements = _count(given, f"{SUMMARY}count_star")
    found = {
        **_statement(given, f"{SUMMARY}digest", "db.namespace"),
        "digest_text": _digest_text(given, "db.query.text"),
        "seconds": _number(given, f"{SUMMARY}sum_timer_wait"),
    }
    if statements not in ("", "0"):
        found["statements"] = statements
        found["rows_examined"] = _count(given, f"{SUMMARY}examined_rows")
        found["rows_sent"] = _count(given, f"{SUMMARY}returned_rows")
    return _known(found)


def _running(record: Record) -> Fields:
    """A statement that ran at the time of a poll. Its text is left out: early versions sent it with its
    literals, and later ones in the receiver's own form, which is no statement with the same query id."""
    given = record.attributes
    found = {
        **_statement(given, f"{CURRENT}digest", "db.namespace"),
        "state": "running",
        "thread_id": _count(given, "mysql.threads.thread_id"),
        "thread_event_id": _count(given, "mysql.event_id"),
        "seconds": _positive(given, f"{CURRENT}timer_wait"),
        "command": _name(given, "mysql.threads.processlist_command"),
        "stage": _name(given, "mysql.threads.processlist_state"),
        "wait": _name(given, "mysql.wait_type"),
        "wait_seconds": _positive(given, "mysql.events_waits_current.timer_wait"),
        "trace_id": _trace_id(record.record),
    }
    return _known(found)


def _finished(record: Record) -> Fields:
    """An execution that Performance Schema's history had at the time of a poll of Alloy. Times are
    milliseconds. A time on a CPU of 0 is unknown: servers before 8.0.28 do not measure it."""
    given = _of_alloy(record)
    text = given.get("sql_text", "")
    found = {
        **_statement(given, "digest", "schema"),
        "state": "finished",
        "thread_id": _count(given, "thread_id"),
        "thread_event_id": _count(given, "event_id"),
        "seconds": _millis(given, "elapsed_time"),
        "cpu_seconds": _without_zero(_millis(given, "cpu_time")),
        **{name: _count(given, name) for name in ("rows_examined", "rows_sent", "rows_affected", "errors")},
        "error_code": _without_zero(_count(given, "mysql_errno", MAX_ERROR_CODE)),
        "trace_id": alloy_fields.trace_id(given.get("traceparent", "")),
        "sample": text if _is_complete(text) else "",
    }
    return _known(found)


def _association(record: Record) -> Fields:
    given = _of_alloy(record)
    return _known(
        {**_statement(given, "digest", "schema"), "digest_text": _digest_text(given, "digest_text")}
    )


READERS: Mapping[tuple[str, str], Callable[[Record], Fields]] = {
    (RECEIVER, TOP_QUERY): _top_query,
    (RECEIVER, QUERY_SAMPLE): _running,
    (ALLOY, QUERY_SAMPLE): _finished,
    (ALLOY, ASSOCIATION): _association,
}
"""The records that are used."""


def _of_alloy(record: Record) -> Mapping[str, str]:
    if record.record.body.WhichOneof("value") != "string_value":
        raise UnreadableError("its body is not text")
    try:
        return alloy_fields.parse(record.record.body.string_value.decode(errors="replace"))
    except ValueError as error:
        raise UnreadableError(str(error)) from error


def _statement(given: Mapping[str, str], digest: str, database: str) -> Fields:
    found = _name(given, digest).lower()
    if not found:
        raise UnreadableError("it has no digest")
    return {"digest": found, "database": _name(given, database)}


def _is_complete(text: str) -> bool:
    """The server marks a statement that it cut with dots."""
    return not text.endswith("...") and len(text.encode(errors="replace")) < COMPLETE_SAMPLE_BYTES


def _known(fields: Fields) -> Fields:
    return {name: value for name, value in fields.items() if value}


def _name(given: Mapping[str, str], name: str) -> str:
    value = given.get(name, "")
    if len(value) > MAX_TEXT:
        raise UnreadableError(f"{_short(name)} has more than {MAX_TEXT} characters")
    return value


def _digest_text(given: Mapping[str, str], name: str) -> str:
    value = given.get(name, "")
    if len(value) > MAX_DIGEST_TEXT:
        raise UnreadableError("the text of its digest is longer than any server writes it")
    return value


def _count(given: Mapping[str, str], name: str, greatest: int = 2**63 - 1) -> str:
    value = given.get(name, "")
    is_count = value.isascii() and value.isdigit() and len(value) <= COUNT_DIGITS
    if value and not (is_count and int(value) <= greatest):
        raise UnreadableError(f"{_short(name)} is no count")
    return value


def _number(given: Mapping[str, str], name: str) -> str:
    value = given.get(name, "")
    try:
        if value and not 0 <= float(value) < math.inf:
            raise ValueError
    except ValueError:
        raise UnreadableError(f"{_short(name)} is no number of seconds") from None
    return value


def _short(name: str) -> str:
    """Returns the last part of the name of an attribute, so that reasons fit into a line."""
    return name.rpartition(".")[2]


def _positive(given: Mapping[str, str], name: str) -> str:
    """The receiver writes 0 in place of a time that the server does not know."""
    value = _number(given, name)
    return value if value and float(value) > 0 else ""


def _millis(given: Mapping[str, str], name: str) -> str:
    value = _number({name: given.get(name, "").removesuffix("ms")}, name)
    return repr(float(value) / 1000) if value else ""


def _without_zero(value: str) -> str:
    return value if value and float(value) > 0 else ""


def _seconds(nanos: int) -> str:
    return f"{nanos // NANOS}.{nanos % NANOS // 1000:06}"


def _trace_id(record: Message) -> str:
    """Returns hexadecimal digits. From JSON the id is what these digits mean as base 64 (`message_of`)."""
    found = bytes(record.trace_id)
    digits = base64.b64encode(found).decode() if len(found) == JSON_ID_BYTES else found.hex()
    return digits.lower() if TRACE_ID.fullmatch(digits.lower()) and digits.strip("0") else ""
