"""Converts the request of a tool to actions on alerts.

Each converter takes the source and the body, and returns an Event. It raises MalformedError for a body that
is not in the format of the tool. A change that is no action on an alert is an event without actions.
"""

import hashlib
import json
import re
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tailrace.alerts.callbacks.config import WORDS, Source

MAX_NAME, MAX_REASON = 100, 2000
"""Characters of names and reasons that are stored."""
UNKNOWN_USER = "(unknown)"
_ID = re.compile(r"[0-9a-f]{32}")
_LABEL = re.compile(r"tailrace-([0-9a-f]{32})")


class MalformedError(Exception):
    """The body is not in the format of the tool; the message states what is missing."""


@dataclass(frozen=True)
class Requested:
    """An action that a user of a tool requests."""

    alert_id: str
    """32 hexadecimal digits."""
    action: str
    """ack, assign, close, reopen or comment."""
    reason: str
    assignee: str = ""
    verdict: str = ""


@dataclass(frozen=True)
class Event:
    """A verified request. Without actions, `ignored` states the reason."""

    key: str
    """The same for each repetition of the request by the tool."""
    user: str
    at: float | None = None
    """The time of the change in seconds since 1970, if the body has one."""
    actions: list[Requested] = field(default_factory=list)
    ignored: str = ""


def read(source: Source, body: bytes) -> Event:
    """Converts a body. Raises MalformedError."""
    try:
        return CONVERTERS[source.kind](source, body)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise MalformedError(f"not in the format of {source.kind}: {type(error).__name__}") from None


def _pagerduty(_: Source, body: bytes) -> Event:
    """Webhooks v3: https://developer.pagerduty.com/docs/webhooks-overview."""
    event = json.loads(body)["event"]
    key, at = event["id"], datetime.fromisoformat(event["occurred_at"]).timestamp()
    agent, data = event.get("agent") or {}, event["data"]
    if agent.get("type") != "user_reference":
        return Event(key, "", at, ignored="not by a user")
    user = name(agent.get("summary"))
    action = PAGERDUTY.get(event["event_type"])
    if not action or not _ID.fullmatch(str(data.get("incident_key"))):
        return Event(key, user, at, ignored="no action on an alert")
    where = f"in PagerDuty, incident {data.get('number', '')} {data.get('html_url', '')}".strip()
    assignee = name(data["assignees"][0]["summary"]) if action == "assign" else ""
    return Event(key, user, at, [Requested(data["incident_key"], action, where, assignee)])


PAGERDUTY = {
    "incident.acknowledged": "ack",
    "incident.resolved": "close",
    "incident.reopened": "reopen",
    "incident.reassigned": "assign",
}


def _opsgenie(_: Source, body: bytes) -> Event:
    """Webhook integration: https://support.atlassian.com/opsgenie/docs/integrate-opsgenie-with-webhook/."""
    content = json.loads(body)
    alert, doing = content["alert"], content["action"]
    user = name(alert.get("username"))
    updated = alert.get("updatedAt")
    key = f"{alert['alertId']}-{doing}-{updated or _hash(body)}"
    at = _opsgenie_seconds(updated)
    action, id_ = OPSGENIE.get(doing), str(alert.get("alias"))
    if not action or not _ID.fullmatch(id_):
        return Event(key, user, at, ignored="no action on an alert")
    assignee = name(alert.get("owner") or user) if action == "assign" else ""
    note = reason(alert.get("note"))
    return Event(key, user, at, [Requested(id_, action, note or "in Opsgenie", assignee)])


OPSGENIE = {
    "Acknowledge": "ack",
    "Close": "close",
    "AssignOwnership": "assign",
    "TakeOwnership": "assign",
    "AddNote": "comment",
}
NANOSECONDS_FROM = 1e15


def _opsgenie_seconds(updated: int | None) -> float | None:
    """`updatedAt` is in milliseconds in some versions and in nanoseconds in others."""
    if updated is None:
        return None
    return int(updated) / (1e9 if int(updated) > NANOSECONDS_FROM else 1e3)


def _jira(source: Source, body: bytes) -> Event:
    """Webhooks of issues: https://developer.atlassian.com/cloud/jira/platform/webhooks/."""
    content = json.loads(body)
    at, person = content["timestamp"] / 1000, content.get("user") or {}
    user = name(person.get("displayName"))
    changes = content.get("changelog") or {}
    key = f"change-{changes['id']}" if "id" in changes else _hash(body)
    fields = content["issue"]["fields"] if content["webhookEvent"] == "jira:issue_updated" else {}
    found = [_LABEL.fullmatch(str(each)) for each in fields.get("labels") or []]
    ids = [each[1] for each in found if each]
    if not ids or person.get("accountId") in source.ignore_users:
        return Event(key, user, at, ignored="no action on an alert")
    where = f"in Jira, issue {content['issue']['key']}"
    items = {item["field"]: item for item in changes.get("items", [])}
    actions = [each for each in (_jira_owner(items, ids[0], where), _jira_status(items, fields)) if each]
    named = [
        each
        if isinstance(each, Requested)
        else Requested(ids[0], each, where, verdict=_verdict(each, fields, source))
        for each in actions
    ]
    return Event(key, user, at, named, "" if named else "no action on an alert")


def _jira_owner(items: Mapping[str, dict], id_: str, where: str) -> Requested | None:
    owner = items.get("assignee", {}).get("toString")
    return Requested(id_, "assign", where, name(owner)) if owner else None


def _jira_status(items: Mapping[str, dict], fields: Mapping[str, Any]) -> str:
    return JIRA[fields["status"]["statusCategory"]["key"]] if "status" in items else ""


def _verdict(action: str, fields: Mapping[str, Any], source: Source) -> str:
    resolution = (fields.get("resolution") or {}).get("name", "")
    return source.verdicts.get(resolution, "") if action == "close" else ""


JIRA = {"new": "reopen", "indeterminate": "ack", "done": "close"}
"""By the category of the new status."""


def _slack(_: Source, body: bytes) -> Event:
    """Interactive messages: https://api.slack.com/reference/interaction-payloads/block-actions."""
    payload = json.loads(urllib.parse.parse_qs(body.decode())["payload"][0])
    user = name(payload["user"].get("username") or payload["user"].get("name"))
    key = str(payload.get("trigger_id") or _hash(body))
    if payload["type"] != "block_actions":
        return Event(key, user, ignored="no action on an alert")
    pressed = [each for each in payload["actions"] if each["action_id"] in SLACK]
    return Event(
        key,
        user,
        actions=[_slack_action(each, user) for each in pressed],
        ignored="" if pressed else "no action on an alert",
    )


def _slack_action(button: Mapping[str, str], user: str) -> Requested:
    action, verdict = SLACK[button["action_id"]]
    assignee = user if action == "assign" else ""
    return Requested(_whole_id(button["value"]), action, "in Slack", assignee, verdict)


SLACK = {
    "tailrace_ack": ("ack", ""),
    "tailrace_assign": ("assign", ""),
    **{f"tailrace_close_{word}": ("close", verdict) for word, verdict in WORDS.items()},
}
"""By the action_id of a button: action and verdict. `delivery.services` creates the buttons."""


def _own(_: Source, body: bytes) -> Event:
    """The format of docs/ALERTS.md, which ServiceNow's business rule and own programs send."""
    content = json.loads(body)
    if unknown := sorted(set(content) - OWN_KEYS):
        raise MalformedError(f"unknown key {unknown[0]!r}")
    action = OWN_ACTIONS[content["action"]]
    assignee = name(content["assignee"]) if action == "assign" else ""
    word = content.get("verdict", "") if action == "close" else ""
    verdict = WORDS[word] if word else ""
    requested = Requested(_whole_id(content["alert"]), action, reason(content["reason"]), assignee, verdict)
    if not requested.reason:
        raise MalformedError("the reason is empty")
    return Event(str(content["id"]), name(content["user"]), actions=[requested])


OWN_KEYS = {"id", "alert", "action", "user", "reason", "assignee", "verdict"}
OWN_ACTIONS = {
    "acknowledge": "ack",
    **{each: each for each in ("ack", "assign", "close", "reopen", "comment")},
}

CONVERTERS: Mapping[str, Callable[[Source, bytes], Event]] = {
    "pagerduty": _pagerduty,
    "opsgenie": _opsgenie,
    "jira": _jira,
    "slack": _slack,
    "servicenow": _own,
    "webhook": _own,
}


def name(value: object) -> str:
    """Returns the name of a user on one line of printable characters."""
    return _printable(value, MAX_NAME) or UNKNOWN_USER


def reason(value: object) -> str:
    """Returns a reason on one line; empty if there is none."""
    return _printable(value, MAX_REASON)


def _printable(value: object, length: int) -> str:
    if not isinstance(value, str):
        return ""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in value).split())[:length]


def _whole_id(value: object) -> str:
    id_ = str(value).replace("-", "").lower()
    if not _ID.fullmatch(id_):
        raise MalformedError("the id of an alert has 32 hexadecimal digits")
    return id_


def _hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
