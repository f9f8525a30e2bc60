"""Converts an event to Google SecOps' Unified Data Model. Other values are under `additional`."""

from collections.abc import Mapping

from tailrace.forwarding.event import LOGOUTS, Event
from tailrace.forwarding.event_rules import FAILURE, SUCCESS
from tailrace.outputs.event_channels import DATA_ACCESS, LOGIN

MAPPED = frozenset(
    (
        "instance",
        "message",
        "user",
        "ip",
        "host",
        "port",
        "program_name",
        "connection_id",
        "database",
        "fingerprint",
    )
)
ACTIONS = {SUCCESS: "ALLOW", FAILURE: "FAIL"}


def document(event: Event) -> dict[str, object]:
    """Returns an object for JSON; unknown values are omitted."""
    fields = event.fields
    found: dict[str, object] = {
        "metadata": _metadata(event),
        "principal": _principal(event),
        "target": _target(event),
        "additional": {name: value for name, value in fields.items() if name not in MAPPED},
    }
    if "connection_id" in fields:
        found["network"] = {"session_id": str(fields["connection_id"])}
    if event.outcome in ACTIONS:
        found["security_result"] = [{"action": [ACTIONS[event.outcome]]}]
    if event.kind == LOGIN:
        found["extensions"] = {"auth": {"type": "MACHINE"}}
    return found


def _metadata(event: Event) -> dict[str, object]:
    text = event.fields.get("message") or event.fields.get("fingerprint")
    return {
        "event_timestamp": event.time(),
        "event_type": _type(event),
        "vendor_name": "Tailrace",
        "product_name": "Tailrace",
        "product_event_type": event.kind,
        "product_log_id": event.id,
        **({"description": text} if text else {}),
    }


def _type(event: Event) -> str:
    """The types of logins and accesses need a user."""
    if "user" not in event.fields:
        return "GENERIC_EVENT"
    if event.kind == LOGIN:
        if event.is_login:
            return "USER_LOGIN"
        return "USER_LOGOUT" if str(event.fields.get("command", "")).lower() in LOGOUTS else "GENERIC_EVENT"
    return "USER_RESOURCE_ACCESS" if event.kind == DATA_ACCESS else "GENERIC_EVENT"


def _principal(event: Event) -> dict[str, object]:
    """The client; the instance where no client is known, because the model requires a principal."""
    fields = event.fields
    found: dict[str, object] = {}
    if "ip" in fields:
        found["ip"] = [fields["ip"]]
    for own, other in (("host", "hostname"), ("port", "port"), ("program_name", "application")):
        if own in fields:
            found[other] = fields[own]
    if not found.get("ip") and not found.get("hostname"):
        found["hostname"] = event.instance or "unknown"
    if event.kind != LOGIN and "user" in fields:
        found["user"] = {"userid": fields["user"]}
    return found


def _target(event: Event) -> dict[str, object]:
    fields = event.fields
    found: dict[str, object] = {"hostname": event.instance or "unknown", "application": "MySQL"}
    if event.kind == LOGIN and "user" in fields:
        found["user"] = {"userid": fields["user"]}
    if event.kind == DATA_ACCESS:
        found["resource"] = {"resource_type": "TABLE", "name": ", ".join(_tables(fields))}
    elif "database" in fields:
        found["resource"] = {"resource_type": "DATABASE", "name": fields["database"]}
    return found


def _tables(fields: Mapping) -> list[str]:
    """Returns the tables, with their database if it is known."""
    names = dict.fromkeys((*fields.get("tables_read", ()), *fields.get("tables_written", ())))
    database = fields.get("database", "")
    found = [name if "." in name or not database else f"{database}.{name}" for name in names]
    return found or [fields["object"]]
