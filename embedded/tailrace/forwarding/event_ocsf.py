"""Converts an event to the Open Cybersecurity Schema Framework 1.3.0; messages of error logs to 1.4.0.

| kind | class |
|---|---|
| login | Authentication (3002) |
| query, data_access | Datastore Activity (6005) |
| error | Application Error (6008), which 1.4.0 introduced |
| server | Application Lifecycle (6002) |

What the class has no attribute for is under `unmapped`, as the framework requires.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache

from tailrace import __version__
from tailrace.forwarding.event import LOGOUTS, Event
from tailrace.forwarding.event_rules import FAILURE, SUCCESS
from tailrace.outputs.event_channels import DATA_ACCESS, ERROR, LOGIN, QUERY, SERVER

VERSION, VERSION_OF_ERRORS = "1.3.0", "1.4.0"
PRODUCT = {"name": "Tailrace", "vendor_name": "Tailrace", "version": __version__}
SERVICE = {"name": "MySQL"}
STATUS = {SUCCESS: (1, "Success"), FAILURE: (2, "Failure")}
SEVERITIES = {"Error": (4, "High"), "Warning": (3, "Medium")}
INFORMATIONAL, LOW = (1, "Informational"), (2, "Low")
OTHER, NONE = 99, 0
CAPTIONS = {1: "Read", 2: "Update", 3: "Connect", 4: "Query", 5: "Write", 6: "Create", 7: "Delete", 8: "List"}
"""Activities of Datastore Activity."""
ACTIVITIES = {
    **dict.fromkeys(("SELECT", "TABLE", "VALUES", "WITH"), 4),
    **dict.fromkeys(("SHOW", "DESCRIBE", "EXPLAIN"), 8),
    **dict.fromkeys(("INSERT", "REPLACE", "LOAD"), 5),
    **dict.fromkeys(("UPDATE", "ALTER", "RENAME"), 2),
    **dict.fromkeys(("DELETE", "TRUNCATE", "DROP"), 7),
    "CREATE": 6,
}
"""The activity of a statement by the first word of its verb."""
_OF_CLIENT = frozenset(("user", "ip", "host", "port", "connection_id", "thread_id", "instance"))
_OF_STATEMENT = frozenset(("program_name", "fingerprint", "query_id", "database", "bytes_sent"))
_OF_ALL = frozenset(("format", "source", "status"))
MAPPED: Mapping[str, frozenset[str]] = {
    LOGIN: _OF_ALL | _OF_CLIENT | {"message"},
    QUERY: _OF_ALL | _OF_CLIENT | _OF_STATEMENT,
    DATA_ACCESS: _OF_ALL | _OF_CLIENT | _OF_STATEMENT,
    ERROR: _OF_ALL | {"message"},
    SERVER: _OF_ALL | {"server_version"},
}
"""Fields for which the class of a kind has attributes."""
RELATIONAL, TABLE, DATABASE = 1, 3, 1
STATEMENT = (6005, "Datastore Activity", 6, "Application Activity")


def document(event: Event) -> dict[str, object]:
    """Returns an object for JSON; unknown values are omitted."""
    found = _BUILDERS[event.kind](event)
    mapped = MAPPED[event.kind]
    found["unmapped"] = {name: value for name, value in event.fields.items() if name not in mapped}
    return found


def _base(
    event: Event, class_: tuple[int, str, int, str], activity: tuple[int, str], severity: tuple[int, str]
) -> dict[str, object]:
    """Returns the attributes of all classes. `class_`: number and name of class and category."""
    fields = event.fields
    found = _constants(class_, activity, severity, event.outcome).copy()
    found["time"] = event.micros // 1000
    found["metadata"] = {
        "version": VERSION_OF_ERRORS if event.kind == ERROR else VERSION,
        "uid": event.id,
        "product": PRODUCT,
        "log_name": fields["format"],
        "log_provider": fields["source"],
    }
    if fields.get("status"):
        found["status_code"] = str(fields["status"])
    if "query_time" in fields:
        found["duration"] = round(fields["query_time"] * 1000)
    return found


@lru_cache(4096)
def _constants(
    class_: tuple[int, str, int, str], activity: tuple[int, str], severity: tuple[int, str], outcome: str
) -> dict[str, object]:
    """Returns the attributes of all events of a class with the same activity, severity and outcome, and
    the places of those that differ. The result must be copied."""
    class_uid, class_name, category_uid, category_name = class_
    status_id, status = STATUS.get(outcome, (0, "Unknown"))
    return {
        "activity_id": activity[0],
        "activity_name": activity[1],
        "category_uid": category_uid,
        "category_name": category_name,
        "class_uid": class_uid,
        "class_name": class_name,
        "type_uid": 100 * class_uid + activity[0],
        "time": 0,
        "severity_id": severity[0],
        "severity": severity[1],
        "metadata": {},
        "status_id": status_id,
        "status": status,
    }


def _login(event: Event) -> dict[str, object]:
    fields = event.fields
    command = str(fields.get("command", ""))
    if event.is_login:
        activity = (1, "Logon")
    else:
        activity = (2, "Logoff") if command.lower() in LOGOUTS else (OTHER, command or "Other")
    severity = LOW if event.outcome == FAILURE else INFORMATIONAL
    found = _base(event, (3002, "Authentication", 3, "Identity & Access Management"), activity, severity)
    found["user"] = _user(fields)
    found["service"] = SERVICE
    found["dst_endpoint"] = _destination(event)
    if source := _source(fields):
        found["src_endpoint"] = source
    if session := _session(fields):
        found["session"] = session
    if "message" in fields:
        found["message"] = fields["message"]
    return found


def _statement(event: Event) -> dict[str, object]:
    fields = event.fields
    activity = _activity(str(fields.get("verb") or fields.get("command") or ""))
    found = _base(event, STATEMENT, activity, INFORMATIONAL)
    found["actor"] = _actor(fields)
    found["src_endpoint"] = _source(fields) or {"name": "Unknown"}
    found["dst_endpoint"] = _destination(event)
    found["database"] = _database(event)
    tables = _tables(fields)
    found["type_id"], found["type"] = (TABLE, "Table") if tables else (DATABASE, "Database")
    if len(tables) == 1:
        found["table"] = {"name": tables[0]}
    if "fingerprint" in fields:
        found["query_info"] = _query_info(fields)
    return found


@lru_cache(4096)
def _activity(verb: str) -> tuple[int, str]:
    number = ACTIVITIES.get(verb.partition(" ")[0].upper(), OTHER if verb else NONE)
    return number, CAPTIONS.get(number) or verb or "Unknown"


def _error(event: Event) -> dict[str, object]:
    severity = SEVERITIES.get(str(event.fields.get("level")), INFORMATIONAL)
    activity = (1, "General Error") if severity != INFORMATIONAL else (OTHER, "Message")
    found = _base(event, (6008, "Application Error", 6, "Application Activity"), activity, severity)
    found["message"] = event.fields["message"]
    return found


def _server(event: Event) -> dict[str, object]:
    activity = OTHER, str(event.fields.get("command") or "Other")
    found = _base(event, (6002, "Application Lifecycle", 6, "Application Activity"), activity, INFORMATIONAL)
    version = event.fields.get("server_version")
    app = {"name": "MySQL audit log", "vendor_name": "Unknown", **({"version": version} if version else {})}
    return {**found, "app": app}


_BUILDERS: Mapping[str, Callable[[Event], dict[str, object]]] = {
    LOGIN: _login,
    QUERY: _statement,
    DATA_ACCESS: _statement,
    ERROR: _error,
    SERVER: _server,
}


def _user(fields: Mapping[str, object]) -> dict[str, object]:
    """The user is required: an unknown one is named so."""
    return (
        {"name": fields["user"]} if "user" in fields else {"name": "Unknown", "type_id": 0, "type": "Unknown"}
    )


def _actor(fields: Mapping[str, object]) -> dict[str, object]:
    found: dict[str, object] = {"user": _user(fields)}
    if "program_name" in fields:
        found["app_name"] = fields["program_name"]
    if session := _session(fields):
        found["session"] = session
    return found


def _session(fields: Mapping[str, object]) -> dict[str, object]:
    number = fields.get("connection_id") or fields.get("thread_id")
    return {"uid": str(number)} if number else {}


def _source(fields: Mapping[str, object]) -> dict[str, object]:
    found: dict[str, object] = {}
    if "ip" in fields:
        found["ip"] = fields["ip"]
    if "host" in fields and fields["host"] != found.get("ip"):
        found["hostname"] = fields["host"]
    if "port" in fields:
        found["port"] = fields["port"]
    return found


def _destination(event: Event) -> dict[str, object]:
    return {"hostname": event.instance or "Unknown", "svc_name": "mysql"}


def _database(event: Event) -> dict[str, object]:
    """Without a default database only the server is known."""
    name = event.fields.get("database")
    known = {"name": name} if name else {"uid": event.instance or "Unknown"}
    return {**known, "type_id": RELATIONAL, "type": "Relational"}


def _tables(fields: Mapping) -> list[str]:
    read, written = fields.get("tables_read", ()), fields.get("tables_written", ())
    if len(read) + len(written) > 1:
        return [*dict.fromkeys((*read, *written))]
    return read or written or ([fields["object"]] if "object" in fields else [])


def _query_info(fields: Mapping[str, object]) -> dict[str, object]:
    found = {"query_string": fields["fingerprint"]}
    if "query_id" in fields:
        found["uid"] = fields["query_id"]
    if "bytes_sent" in fields:
        found["bytes"] = fields["bytes_sent"]
    return found
