"""Messages of services with their own format: Slack, Microsoft Teams, PagerDuty and Opsgenie.

Each builder returns the request of one alert. Its id is the deduplication key wherever the service has one,
so a repeated attempt changes nothing, and a growing count updates the same incident.
"""

import json
import re
import urllib.request
from collections.abc import Callable, Mapping
from urllib.parse import quote

from tailrace.alerts import mitre_attack
from tailrace.alerts.delivery import ecs
from tailrace.alerts.delivery.config import HttpService
from tailrace.alerts.delivery.delivery_log import Due
from tailrace.alerts.delivery.http_sender import AGENT, HttpSender, secret, shown
from tailrace.alerts.triage import LEVELS
from tailrace.clickhouse.client import Row

MAX_TEXT = 2900
"""Slack: 3,000 characters in a section."""
MAX_SUMMARY = 1024
"""PagerDuty's payload.summary."""
MAX_MESSAGE = 130
"""Opsgenie's message."""
PAGERDUTY_SEVERITY = dict(zip(LEVELS, ("info", "info", "warning", "error", "critical"), strict=True))
OPSGENIE_PRIORITY = dict(zip(LEVELS, ("P5", "P4", "P3", "P2", "P1"), strict=True))
TEAMS_COLOURS = dict(zip(LEVELS, ("Default", "Default", "Warning", "Attention", "Attention"), strict=True))
_MARKDOWN = re.compile(r"([\\`*_\[\]()#~])")


class ServiceSender(HttpSender):
    """Makes one attempt at a time, for every service of BUILDERS."""

    def __init__(self, service: HttpService, dashboards: str) -> None:
        super().__init__(service.timeout, service.ca_file)
        self._service = service
        self._dashboards = dashboards

    def request(self, due: Due) -> urllib.request.Request:
        url, headers, body = self._built(due, secret(self._service.secret_file).decode())
        given = {"Content-Type": "application/json", "User-Agent": AGENT, **headers}
        return urllib.request.Request(
            url, json.dumps(body, ensure_ascii=False).encode(), given, method="POST"
        )

    def preview(self, due: Due) -> str:
        url, _, body = self._built(due, f"(content of {self._service.secret_file.name})")
        return shown(url, body)

    def _built(self, due: Due, key: str) -> "Built":
        return BUILDERS[self._service.kind](due, self._dashboards, self._service, key)


Built = tuple[str, Mapping[str, str], object]
"""URL, additional headers, and the body for JSON."""
Builder = Callable[[Due, str, HttpService, str], Built]


def slack(due: Due, dashboards: str, _: HttpService, key: str) -> Built:
    """An incoming webhook: its address is the secret."""
    alert = due.alert
    link = ecs.link(alert, dashboards)
    title = f"*{_slack(alert['rule_title'])}*"
    blocks = [
        _slack_section(f"<{link}|{title}>" if link else title),
        _slack_section("\n".join(f"*{name}:* {_slack(value)}" for name, value in _facts(alert).items())),
        *(_slack_section(f"```{_slack(text)}```") for text in alert["statements"][:1]),
    ]
    return key, {}, {"text": _slack(ecs.message(alert)), "blocks": blocks}


def _slack_section(text: str) -> dict[str, object]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text[:MAX_TEXT]}}


def _slack(text: object) -> str:
    """Escapes the control characters of Slack's markup, and the marks that would format a name."""
    plain = str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(f"\u200b{sign}" if sign in "*_~`" else sign for sign in plain)


def teams(due: Due, dashboards: str, _: HttpService, key: str) -> Built:
    """A webhook of Power Automate's Workflows, which posts an adaptive card: its address is the secret."""
    alert = due.alert
    link = ecs.link(alert, dashboards)
    facts = [{"title": name, "value": _markdown(value)} for name, value in _facts(alert).items()]
    statements = [
        {"type": "TextBlock", "text": _markdown(text)[:MAX_TEXT], "fontType": "Monospace", "wrap": True}
        for text in alert["statements"][:1]
    ]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [
            {
                "type": "TextBlock",
                "text": _markdown(alert["rule_title"]),
                "weight": "Bolder",
                "size": "Medium",
                "color": TEAMS_COLOURS.get(str(alert["level"]), "Default"),
                "wrap": True,
            },
            {"type": "FactSet", "facts": facts},
            *statements,
        ],
        "actions": [{"type": "Action.OpenUrl", "title": "Open in Tailrace", "url": link}] if link else [],
    }
    kind = "application/vnd.microsoft.card.adaptive"
    return key, {}, {"type": "message", "attachments": [{"contentType": kind, "content": card}]}


def _markdown(text: object) -> str:
    return _MARKDOWN.sub(r"\\\1", str(text))


def pagerduty(due: Due, dashboards: str, service: HttpService, key: str) -> Built:
    """Events API v2: triggers an incident, and resolves it when the alert is closed."""
    alert = due.alert
    named = {"routing_key": key, "dedup_key": due.id}
    if due.is_closed:
        return service.url, {}, {**named, "event_action": "resolve"}
    payload = {
        "summary": ecs.message(alert)[:MAX_SUMMARY],
        "source": alert["instance"] or alert["cluster"] or "tailrace",
        "severity": PAGERDUTY_SEVERITY.get(str(alert["level"]), "warning"),
        "timestamp": ecs.time_of(alert["event_time"]),
        "group": alert["cluster"],
        "class": alert["rule_title"],
        "custom_details": _details(alert),
    }
    link = ecs.link(alert, dashboards)
    links = [{"href": link, "text": "Open in Tailrace"}] if link else []
    event = {**named, "event_action": "trigger", "client": "Tailrace", "links": links, "payload": payload}
    return service.url, {}, ecs.known(event)


def opsgenie(due: Due, dashboards: str, service: HttpService, key: str) -> Built:
    """Alert API v2: creates an alert, and closes it when the alert is closed."""
    alert = due.alert
    headers = {"Authorization": f"GenieKey {key}"}
    if due.is_closed:
        url = f"{service.url}/{quote(due.id)}/close?identifierType=alias"
        return url, headers, {"source": "Tailrace", "note": "closed in Tailrace"}
    details = {**_details(alert), "link": ecs.link(alert, dashboards)}
    body = {
        "message": ecs.message(alert)[:MAX_MESSAGE],
        "alias": due.id,
        "description": "\n".join([ecs.message(alert), *alert["next_steps"]]),
        "priority": OPSGENIE_PRIORITY.get(str(alert["level"]), "P3"),
        "source": "Tailrace",
        "entity": alert["entity_key"],
        "tags": alert["tags"],
        "details": {name: str(value) for name, value in details.items() if value},
    }
    return service.url, headers, ecs.known(body)


BUILDERS: Mapping[str, Builder] = {
    "slack": slack,
    "teams": teams,
    "pagerduty": pagerduty,
    "opsgenie": opsgenie,
}


def _facts(alert: Row) -> dict[str, object]:
    """Returns what a person reads first, by name; unknown values are omitted."""
    tactics = [name for _, name in mitre_attack.tactics(alert["tags"])]
    facts = {
        "Level": alert["level"],
        "About": alert["entity_key"],
        "Server": alert["instance"],
        "When": f"{ecs.time_of(alert['window_from'])} to {ecs.time_of(alert['event_time'])}",
        "Alerts": alert["count"] if int(alert["count"]) > 1 else "",
        "ATT&CK": ", ".join([*tactics, *mitre_attack.techniques(alert["tags"])]),
        "Next step": next(iter(alert["next_steps"]), ""),
    }
    return {name: value for name, value in facts.items() if value}


def _details(alert: Row) -> dict[str, object]:
    return {
        **_facts(alert),
        "Database": alert["database"],
        "Program": alert["program"],
        "Statements (literals masked)": "\n".join(alert["statements"]),
        **alert["facts"],
    }
