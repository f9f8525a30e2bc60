"""Converts an event to fields of the Elastic Common Schema 8.17; other fields are under `tailrace`."""

from collections.abc import Mapping

from tailrace.forwarding.event import LOGOUTS, Event
from tailrace.forwarding.event_rules import UNKNOWN
from tailrace.outputs.event_channels import DATA_ACCESS, ERROR, LOGIN, QUERY, SERVER

VERSION = "8.17.0"
ECS = {"version": VERSION}
CATEGORIES: Mapping[str, list[str]] = {
    LOGIN: ["authentication"],
    QUERY: ["database"],
    DATA_ACCESS: ["database"],
    ERROR: ["database"],
    SERVER: ["database"],
}
ELSEWHERE = frozenset(
    (
        *(
            "instance",
            "message",
            "user",
            "priv_user",
            "ip",
            "host",
            "port",
            "program_name",
            "trace_id",
            "span_id",
        ),
        *("level", "code", "server_version"),
    )
)
"""Fields that have a name in the schema; `tailrace` contains the others."""
NANOS = 1_000_000_000
MODULE = "tailrace"


def document(event: Event) -> dict[str, object]:
    """Returns an object for JSON; unknown values are omitted."""
    fields = event.fields
    found: dict[str, object] = {
        "@timestamp": event.time(),
        "ecs": ECS,
        "event": _event(event),
        "service": _named(fields, name="type", values=(("server_version", "version"),)),
        "tailrace": {name: value for name, value in fields.items() if name not in ELSEWHERE},
    }
    found["tailrace"]["event_kind"] = event.kind
    _add(found, "host", _named(fields, values=(("instance", "name"),)))
    _add(found, "user", _user(fields))
    _add(found, "source", _named(fields, values=(("ip", "ip"), ("host", "domain"), ("port", "port"))))
    _add(found, "user_agent", _named(fields, values=(("program_name", "name"),)))
    _add(found, "trace", _named(fields, values=(("trace_id", "id"),)))
    _add(found, "span", _named(fields, values=(("span_id", "id"),)))
    _add(found, "log", _named(fields, values=(("level", "level"),)))
    _add(found, "error", _named(fields, values=(("code", "code"),)))
    _add(found, "message", fields.get("message") or fields.get("fingerprint"))
    return found


def _event(event: Event) -> dict[str, object]:
    fields = event.fields
    found: dict[str, object] = {
        "kind": "event",
        "module": MODULE,
        "dataset": f"tailrace.{event.kind}",
        "id": event.id,
        "category": CATEGORIES[event.kind],
        "type": [_type(event)],
        "provider": fields["format"],
    }
    if event.outcome != UNKNOWN or event.kind != ERROR:
        found["outcome"] = event.outcome
    _add(found, "action", fields.get("command") or fields.get("verb") or fields.get("kind"))
    if "query_time" in fields:
        found["duration"] = round(fields["query_time"] * NANOS)
    if "status" in fields:
        found["code"] = str(fields["status"])
    return found


def _type(event: Event) -> str:
    if event.kind == LOGIN:
        if event.is_login:
            return "start"
        return "end" if str(event.fields.get("command", "")).lower() in LOGOUTS else "info"
    if event.kind == DATA_ACCESS:
        return "change" if event.fields.get("tables_written") else "access"
    if event.kind == ERROR:
        return "error" if event.fields.get("level") == "Error" else "info"
    return "info"


def _user(fields: Mapping[str, object]) -> dict[str, object]:
    user = _named(fields, values=(("user", "name"),))
    if fields.get("priv_user") and fields["priv_user"] != fields.get("user"):
        user["effective"] = {"name": fields["priv_user"]}
    return user


def _named(
    fields: Mapping[str, object], values: tuple[tuple[str, str], ...], name: str = ""
) -> dict[str, object]:
    """Returns the known fields under other names. `name`: a key that gets `mysql`."""
    found: dict[str, object] = {name: "mysql"} if name else {}
    for own, other in values:
        if own in fields:
            found[other] = fields[own]
    return found


def _add(document: dict[str, object], name: str, value: object) -> None:
    if value:
        document[name] = value
