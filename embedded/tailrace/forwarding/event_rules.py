"""Which events are logins, and the outcome of an event: schemas/contracts/login.json and outcome.json.

Java has the same rules in LoginClassifier and StatusOutcome, ClickHouse in the columns of migrations 0250 to
0252 and 0265 to 0266. Fields have the names of schemas/avro; a field that an event lacks has its default.
"""

from collections.abc import Mapping

SUCCESS, FAILURE, UNKNOWN = "success", "failure", "unknown"

_COMMANDS = frozenset(
    ("connect", "failed_connect", "failed login", "change user", "change_user", "changeuser")
)
_NAMES = frozenset(("", "connect", "change_user"))
_BEFORE_THE_RESULT = frozenset(
    (
        *("command_start", "log", "postparse", "pre_authenticate", "preparse"),
        *("query_nested_start", "query_start"),
    )
)
"""Records that are written before the server decides; their status of 0 has no meaning."""
_WARNINGS = frozenset(
    (
        *(1003, 1285, 1287, 1544, 1592, 1612, 1618, 1620, 1681),
        *(1759, 1760, 1831, 1867, 1868, 3090, 3135, 3719, 3778),
    )
)
"""Percona Server logs the last condition of a statement, which may be a note or a warning: it did
not fail. These codes are never errors."""


def outcome_of_entry(fields: Mapping) -> str:
    """Returns the outcome of an entry of a slow log."""
    code = fields.get("error_code")
    if code is None:
        return UNKNOWN
    return FAILURE if code and code not in _WARNINGS else SUCCESS


def outcome_of_audit(fields: Mapping) -> str:
    """Returns the outcome of an event of an audit or general log."""
    of_class, command = fields.get("event_class"), str(fields.get("command", "")).lower()
    if fields.get("status") or (of_class == "connection" and command.startswith("failed")):
        return FAILURE
    step = (str(fields.get("event_name", "")).lower() or command).replace(" ", "_")
    is_unknown = (
        "status_unknown" in fields.get("flags", ()) or of_class == "table" or step in _BEFORE_THE_RESULT
    )
    return UNKNOWN if is_unknown else SUCCESS


def outcome_of_message(fields: Mapping) -> str:
    """Returns the outcome of a message of an error log, which is known of refused logins only."""
    return FAILURE if fields.get("kind") == "access_denied" else UNKNOWN


def login_of(fields: Mapping) -> str:
    """Returns the result of the login that an event of an audit or general log records; empty if none."""
    if "logged_in" in fields.get("flags", ()):
        return SUCCESS
    is_login = (
        fields.get("event_class") == "connection"
        and str(fields.get("command", "")).lower() in _COMMANDS
        and str(fields.get("event_name", "")).lower() in _NAMES
    )
    return outcome_of_audit(fields) if is_login else ""
