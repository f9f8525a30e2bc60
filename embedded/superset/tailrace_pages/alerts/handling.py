"""Actions of the inbox's forms, with the code and the audit trail of `tailrace alerts` (tailrace.alerts).

The actor is the viewer's user name. Rows are appended by ClickHouse's user `analyst`, which can neither
change nor delete them. Before an action, the viewer's own account must see each alert, so row policies hold.

    SUPERSET_KAFKA                                          Kafka's `host:port,…`, for suppressions
    SUPERSET_KAFKA_PROPERTIES                               optional: librdkafka's properties as a JSON object
    SUPERSET_KAFKA_PASSWORD_FILE                            optional: the password of sasl.username
"""

import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from tailrace.alerts import triage
from tailrace.alerts.triage import Action, AlertError, UnconfirmedError
from tailrace.errors import ReportedError
from tailrace.kafka.client import KafkaClient
from tailrace_pages import analyst, formats
from tailrace_pages.alerts import active_suppressions, details, restrictions
from tailrace_pages.page_errors import BadAddressError, NotFoundError, UnavailableError

if TYPE_CHECKING:
    from tailrace_pages.store import Store

TAKE = "take"
"""Two actions in one: the viewer acknowledges the alerts and is their assignee."""
ACTIONS = {
    TAKE: ("Take", "acknowledged and assigned"),
    "ack": ("Acknowledge", "acknowledged"),
    "assign": ("Assign", "assigned"),
    "comment": ("Comment", "commented"),
    "close": ("Close", "closed"),
    "reopen": ("Reopen", "reopened"),
}
"""The label of each action, and its past participle for the message."""
WITHOUT_REASON = {
    TAKE: "taken in the alert inbox",
    "ack": "acknowledged in the alert inbox",
    "assign": "assigned in the alert inbox",
}
"""The reason that is recorded if none is given; other actions need one."""
AT_MOST = 200
"""Alerts of one action."""
TEXT_LENGTH = 2000
SPANS = {"1 hour": 1, "8 hours": 8, "1 day": 24, "7 days": 168, "30 days": 720}
"""Durations of suppressions, in hours."""
SCOPES = {
    "both": "this rule for this entity",
    "entity": "every rule for this entity",
    "rule": "this rule for every entity",
}

_ID = re.compile(r"[0-9a-f]{32}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def can_act() -> bool:
    """Whether this Superset has the account for actions."""
    return analyst.is_there()


def can_suppress() -> bool:
    """Whether this Superset also reaches Kafka, through which the detect job reads suppressions."""
    return can_act() and "SUPERSET_KAFKA" in os.environ


@dataclass(frozen=True)
class Wanted:
    """A checked form: the action and the alerts."""

    name: str
    """One of ACTIONS."""
    action: Action
    ids: Sequence[str]

    @property
    def actions(self) -> Sequence[Action]:
        """What is recorded for each alert."""
        if self.name == TAKE:
            return [self.action, replace(self.action, action="ack", assignee="")]
        return [self.action]


def wanted(form: Mapping[str, str], ids: Sequence[str], actor: str) -> Wanted:
    """Returns what a form asks for. Raises BadAddressError, NotFoundError for something that is not an id."""
    name = form.get("action", "")
    if name not in ACTIONS:
        raise BadAddressError(f"There is no action {name!r}; there are {', '.join(ACTIONS)}.")
    if len(ids) > AT_MOST:
        raise BadAddressError(f"{len(ids)} alerts are selected; an action takes at most {AT_MOST}.")
    verdict = form.get("verdict", "") if name == "close" else ""
    if verdict and verdict not in triage.VERDICTS:
        raise BadAddressError(f"There is no verdict {verdict!r}; there are {', '.join(triage.VERDICTS)}.")
    assignee = {"assign": _text(form, "assignee") or actor, TAKE: actor}.get(name, "")
    reason = _text(form, "reason") or WITHOUT_REASON.get(name, "")
    action = Action("assign" if name == TAKE else name, actor, reason, assignee, verdict)
    return Wanted(name, action, [checked_id(id_) for id_ in ids])


def checked_id(id_: str) -> str:
    """Returns an id of 32 hexadecimal digits. Raises NotFoundError."""
    if not _ID.fullmatch(id_):
        raise NotFoundError(f"{id_!r} is not the id of an alert.")
    return id_


def act(store: "Store", form: Wanted) -> str:
    """Records the action for all of the alerts or for none; returns a sentence about it.

    Raises AlertError if the state of an alert does not allow it or a reason is missing, NotFoundError if the
    viewer does not see one of them, UnavailableError.
    """
    _require_complete(store, form)
    try:
        done = triage.record_actions(analyst.clickhouse(), form.ids, form.actions)
    except OSError as error:
        raise UnavailableError("ClickHouse did not answer; nothing was recorded.") from error
    number = f"{formats.count(len(done))} alert{'s' if len(done) > 1 else ''}"
    to = f" to {form.action.assignee}" if form.action.assignee else ""
    verdict = f" as {form.action.verdict}" if form.action.verdict else ""
    return f"{number} {ACTIONS[form.name][1]}{to}{verdict}."


def act_where_possible(store: "Store", form: Wanted) -> str:
    """As `act`, for those of the alerts whose state allows the action: an incident has several states."""
    _require_complete(store, form)
    try:
        ids = triage.possible(analyst.clickhouse(), form.ids, form.action.action, form.action.verdict)
    except OSError as error:
        raise UnavailableError("ClickHouse did not answer; nothing was recorded.") from error
    if not ids:
        raise AlertError("The state of no selected alert allows this action.")
    return act(store, Wanted(form.name, form.action, ids))


def _require_complete(store: "Store", form: Wanted) -> None:
    if not form.ids:
        raise AlertError("No alert is selected.")
    if not form.action.reason:
        raise AlertError(f"{ACTIONS[form.name][0]} needs a reason.")
    if form.action.action == "close" and not form.action.verdict:
        raise AlertError(f"Close needs a verdict: {', '.join(triage.VERDICTS)}.")
    _require_visible(store, form.ids)


def suppress(
    store: "Store", id_: str, form: Mapping[str, str], actor: str, restricted: Collection[str]
) -> str:
    """Suppresses the rule, the entity or both of an alert; returns a sentence about it.

    `restricted`: the columns by which the viewer's audience is restricted (restrictions.columns_of).
    Raises AlertError, BadAddressError, NotFoundError, UnavailableError.
    """
    scope = form.get("scope", "")
    hours, reason = _suppression(form, scope)
    alert = details.read(store, checked_id(id_))
    if scope != "rule" and not alert["entity"]:
        raise AlertError("The alert has no entity: only its rule can be suppressed.")
    restrictions.require_within(alert, scope, restricted)
    return suppress_alert(alert, scope, hours, reason, actor)


def suppress_rule(rule: str, form: Mapping[str, str], actor: str, restricted: Collection[str]) -> str:
    """Suppresses a rule for every entity; returns a sentence about it. `restricted` as for `suppress`.

    Raises AlertError, BadAddressError, UnavailableError.
    """
    hours, reason = _suppression(form, "rule")
    restrictions.require_within({}, "rule", restricted)
    return suppress_alert({"rule_id": rule}, "rule", hours, reason, actor)


def _suppression(form: Mapping[str, str], scope: str) -> tuple[int, str]:
    """Returns the hours and the reason of a form."""
    span, reason = form.get("span", ""), _text(form, "reason")
    if scope not in SCOPES or span not in SPANS:
        raise BadAddressError(f"Choose what to suppress ({', '.join(SCOPES)}) and for how long.")
    if not reason:
        raise AlertError("Suppress needs a reason.")
    return SPANS[span], reason


def suppress_alert(alert: Mapping, scope: str, hours: int, reason: str, actor: str) -> str:
    """Suppresses a key of SCOPES from now on; returns a sentence. Raises AlertError, UnavailableError."""
    from tailrace.alerts import suppressions  # it needs librdkafka, and reading alerts does not

    until = datetime.now(UTC) + timedelta(hours=hours)
    silence = suppressions.Silence(
        rule=alert["rule_id"] if scope != "entity" else "",
        entity=dict(alert["entity"]) if scope != "rule" else {},
        until=until,
        actor=actor,
        reason=reason,
    )
    try:
        id_ = suppressions.suppress(analyst.clickhouse(), suppressions.producer(_kafka()), silence)
    except OSError as error:
        raise UnavailableError("ClickHouse did not answer; nothing was recorded.") from error
    return f"Suppressed {SCOPES[scope]} until {formats.time(until)} UTC; suppression {formats.short_id(id_)}."


def end_suppression(store: "Store", id_: str, form: Mapping[str, str], actor: str) -> str:
    """Ends an active suppression early, if the viewer's account sees it; returns a sentence about it.

    Raises AlertError, BadAddressError, NotFoundError, UnavailableError.
    """
    if not _UUID.fullmatch(id_):
        raise NotFoundError(f"{id_!r} is not the id of a suppression.")
    reason = _text(form, "reason")
    if not reason:
        raise AlertError("End needs a reason.")
    if id_ not in active_suppressions.ids(store):
        raise AlertError(f"Suppression {formats.short_id(id_)} is not active, or your role does not see it.")
    from tailrace.alerts import suppressions

    try:
        ended = suppressions.lift(analyst.clickhouse(), suppressions.producer(_kafka()), id_, actor, reason)
    except OSError as error:
        raise UnavailableError("ClickHouse did not answer; the suppression may have ended.") from error
    return f"Suppression {formats.short_id(ended)} ended."


def failure(error: ReportedError) -> str:
    """The message of an action that was refused, without commands of the command line."""
    if isinstance(error, UnconfirmedError):
        return f"{error}."
    return str(error).split(";")[0].split(": tailrace ")[0].rstrip(".") + ". Nothing was changed."


def _require_visible(store: "Store", ids: Sequence[str]) -> None:
    """Raises NotFoundError unless the viewer's account reads each of the alerts."""
    rows = store.rows(
        "SELECT DISTINCT lower(replaceAll(toString(alert_id), '-', '')) AS id FROM tailrace.alerts "
        "WHERE has({ids:Array(UUID)}, alert_id)",
        ids=[triage.uuid_of(id_) for id_ in ids],
    )
    if missing := set(ids) - {row["id"] for row in rows}:
        raise NotFoundError(f"There is no alert {min(missing)}, or your role does not see its server.")


def _text(form: Mapping[str, str], name: str) -> str:
    text = form.get(name, "").strip()
    if len(text) > TEXT_LENGTH:
        raise BadAddressError(f"The {name} has {len(text)} characters; at most {TEXT_LENGTH} are stored.")
    return text


def _kafka() -> KafkaClient:
    if not can_suppress():
        raise UnavailableError("This Superset has no connection to Kafka; use `tailrace alerts suppress`.")
    properties = json.loads(os.environ.get("SUPERSET_KAFKA_PROPERTIES", "{}"))
    if file := os.environ.get("SUPERSET_KAFKA_PASSWORD_FILE"):
        properties["sasl.password"] = Path(file).read_text().strip()
    return KafkaClient(os.environ["SUPERSET_KAFKA"], properties)
