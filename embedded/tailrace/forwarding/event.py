"""An event in the form that Tailrace forwards: its kind, and the fields that its log recorded.

The names are those of schemas/avro. Unknown values are absent: an empty text or list, and a number that is
0 if it is unknown. Zeros that were counted remain."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from tailrace.forwarding.decoder import Decoded
from tailrace.outputs.event_channels import DATA_ACCESS, ERROR, LOGIN, QUERY, SERVER

SUCCESS, FAILURE, UNKNOWN = "success", "failure", "unknown"

EPOCH = datetime(1970, 1, 1)
COUNTED = frozenset(
    (
        "query_time",
        "lock_time",
        "rows_sent",
        "rows_examined",
        "rows_affected",
        "bytes_sent",
        "status",
        "error_code",
    )
)
"""Numbers whose 0 is a value."""
INTERNAL = frozenset(("event_id", "event_time", "generation", "entry_bytes", "rule_set", "explain", "weight"))
"""Fields that are not forwarded as they are."""
LOGINS = frozenset(("connect", "failed_connect", "failed login", "change user", "change_user", "changeuser"))
LOGIN_NAMES = frozenset(("", "connect", "change_user"))
LOGOUTS = frozenset(("disconnect", "quit"))


@dataclass(frozen=True, slots=True)
class Event:
    """An event to forward."""

    id: str
    """32 hexadecimal digits."""
    kind: str
    micros: int
    """Event time in microseconds since 1970."""
    outcome: str
    """success, failure or unknown."""
    is_login: bool
    """False for the end of a connection, which is of the kind login too."""
    fields: Mapping[str, object]

    @property
    def millis(self) -> int:
        return self.micros // 1000

    @property
    def instance(self) -> str:
        return str(self.fields.get("instance", ""))

    def time(self) -> str:
        """Returns the event time in RFC 3339, in microseconds."""
        return f"{(EPOCH + timedelta(microseconds=self.micros)).isoformat(timespec='microseconds')}Z"


def event_of(decoded: Decoded, kinds: Collection[str]) -> Event | None:
    """Returns the event, None if its kind is not among the kinds."""
    raw = decoded.fields
    kind, outcome, is_login = _CLASSIFIERS[decoded.type](raw)
    if kind not in kinds:
        return None
    fields = {
        name: value
        for name, value in raw.items()
        if (value or (value == 0 and name in COUNTED)) and name not in INTERNAL
    }
    if "query_id" in fields:
        fields["query_id"] = f"{fields['query_id'] & 0xFFFF_FFFF_FFFF_FFFF:016X}"
    if outcome == UNKNOWN:
        fields.pop("status", None)
    return Event(raw["event_id"].hex(), kind, raw["event_time"], outcome, is_login, fields)


def _query(raw: Mapping) -> tuple[str, str, bool]:
    code = raw["error_code"]
    outcome = UNKNOWN if code is None else FAILURE if code else SUCCESS
    return (DATA_ACCESS if raw.get("tables_read") or raw.get("tables_written") else QUERY), outcome, False


def _audit(raw: Mapping) -> tuple[str, str, bool]:
    """A version that has no lists of tables names one table in `object`."""
    status, flags = raw["status"], raw["flags"]
    outcome = FAILURE if status else UNKNOWN if "status_unknown" in flags else SUCCESS
    if "logged_in" in flags:
        return LOGIN, SUCCESS, True
    if raw["event_class"] == "connection":
        command = raw["command"].lower()
        is_login = command in LOGINS and raw.get("event_name", "").lower() in LOGIN_NAMES
        return LOGIN, FAILURE if command.startswith("failed") else outcome, is_login
    if raw["event_class"] == "server":
        return SERVER, outcome, False
    has_tables = raw.get("tables_read") or raw.get("tables_written") or raw["object"]
    return (DATA_ACCESS if has_tables else QUERY), outcome, False


def _error(raw: Mapping) -> tuple[str, str, bool]:
    if raw["kind"] == "access_denied":
        return LOGIN, FAILURE, True
    return ERROR, UNKNOWN, False


_CLASSIFIERS = {"QueryEvent": _query, "AuditEvent": _audit, "ErrorEvent": _error}


def json_document(event: Event) -> dict[str, object]:
    """Returns the event with the names of schemas/avro."""
    return {
        "event_id": event.id,
        "event_kind": event.kind,
        "event_time": event.time(),
        **({"outcome": event.outcome} if event.outcome != UNKNOWN else {}),
        **event.fields,
    }
