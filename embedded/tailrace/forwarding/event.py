"""An event in the form that Tailrace forwards: its kind, and the fields that its log recorded.

The names are those of schemas/avro. Unknown values are absent: an empty text or list, and a number that is
0 if it is unknown. Zeros that were counted remain."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from tailrace.forwarding import event_rules
from tailrace.forwarding.decoder import Decoded
from tailrace.forwarding.event_rules import SUCCESS, UNKNOWN
from tailrace.outputs.event_channels import DATA_ACCESS, ERROR, LOGIN, QUERY, SERVER

EPOCH = datetime(1970, 1, 1)
LOGOUTS = frozenset(("disconnect", "quit"))


@dataclass(slots=True)  # to create a frozen one costs several times as much
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
    fields = decoded.fields
    kind, outcome, is_login = _CLASSIFIERS[decoded.type](fields)
    if kind not in kinds:
        return None
    if "query_id" in fields:
        fields["query_id"] = f"{fields['query_id'] & 0xFFFF_FFFF_FFFF_FFFF:016X}"
    if outcome != SUCCESS and not fields.get("status"):
        fields.pop("status", None)
    return Event(decoded.id.hex(), kind, decoded.micros, outcome, is_login, fields)


def _query(fields: Mapping) -> tuple[str, str, bool]:
    has_tables = "tables_read" in fields or "tables_written" in fields
    return (DATA_ACCESS if has_tables else QUERY), event_rules.outcome_of_entry(fields), False


def _audit(fields: Mapping) -> tuple[str, str, bool]:
    """A version that has no lists of tables names one table in `object`."""
    outcome = event_rules.outcome_of_audit(fields)
    login = event_rules.login_of(fields)
    of_class = fields.get("event_class")
    if login or of_class == "connection":
        return LOGIN, login or outcome, bool(login)
    if of_class == "server":
        return SERVER, outcome, False
    has_tables = "tables_read" in fields or "tables_written" in fields or "object" in fields
    return (DATA_ACCESS if has_tables else QUERY), outcome, False


def _error(fields: Mapping) -> tuple[str, str, bool]:
    outcome = event_rules.outcome_of_message(fields)
    is_login = outcome == event_rules.FAILURE
    return (LOGIN if is_login else ERROR), outcome, is_login


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
