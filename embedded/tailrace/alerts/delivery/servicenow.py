"""An incident or an event of ServiceNow per alert, by its Table API.

The alert id is the `correlation_id` of an incident, and the `message_key` of an event. The count that was
reported last is in `correlation_display`: one request updates it together with the work note, so a repeated
attempt changes nothing.
"""

import json
from datetime import datetime

from tailrace.alerts.delivery import ecs, services
from tailrace.alerts.delivery.delivery_log import DELIVERED, Due, Outcome
from tailrace.alerts.delivery.http_sender import shown
from tailrace.alerts.delivery.rest import Rest, attempt
from tailrace.alerts.delivery.tickets import ServiceNow
from tailrace.alerts.triage import LEVELS
from tailrace.clickhouse.client import Row
from tailrace.plural import counted

API = "/api/now/table"
SOURCE = "Tailrace"
IMPACT = dict(zip(LEVELS, ("3", "3", "2", "2", "1"), strict=True))
URGENCY = dict(zip(LEVELS, ("3", "2", "2", "1", "1"), strict=True))
"""With the default lookup of priorities: 5, 4, 3, 2 and 1."""
SEVERITY = dict(zip(LEVELS, ("5", "4", "3", "2", "1"), strict=True))
"""5 informational, 4 warning, 3 minor, 2 major, 1 critical."""
CLEAR = "0"
IN_PROGRESS, RESOLVED, CLOSED, CANCELLED = "2", "6", "7", "8"
"""States of an incident in the base system."""
MAX_SHORT = 160
MAX_FIELD = 100
"""Characters of `correlation_display`, `node` and `resource`."""


class ServiceNowSender:
    """Makes one attempt at a time."""

    def __init__(self, servicenow: ServiceNow, dashboards: str) -> None:
        self._servicenow = servicenow
        self._dashboards = dashboards
        self._path = f"{API}/{servicenow.table}"

    def send(self, due: Due) -> Outcome:
        """Creates, updates or resolves the row of the alert; raises nothing."""
        to = self._servicenow
        rest = Rest(to.url, to.user, to.secret_file, to.timeout, to.ca_file)
        deliver = self._event if to.table == "em_event" else self._incident
        return attempt(lambda: deliver(rest, due))

    def preview(self, due: Due) -> str:
        """Returns address and body of the request that creates the row."""
        return shown(f"{self._servicenow.url}{self._path}", self._new(due))

    def _new(self, due: Due) -> dict[str, object]:
        new = event if self._servicenow.table == "em_event" else incident
        return {**self._servicenow.fields, **new(due, self._dashboards)}

    def _event(self, rest: Rest, due: Due) -> Outcome:
        """Event Management itself combines events with the same key."""
        rest.call("POST", self._path, self._new(due))
        return Outcome(DELIVERED, "stored the event that clears it" if due.is_closed else "stored the event")

    def _incident(self, rest: Rest, due: Due) -> Outcome:
        found = self._find(rest, due)
        if due.is_closed:
            return self._resolve(rest, found)
        if found is None:
            made = rest.call("POST", self._path, self._new(due))["result"]
            return Outcome(DELIVERED, f"created {made['number']}")
        return self._update(rest, found, due)

    def _find(self, rest: Rest, due: Due) -> dict | None:
        """Returns the oldest incident of the alert that is neither closed nor cancelled."""
        query = f"correlation_id={due.id}^stateNOT IN{CLOSED},{CANCELLED}^ORDERBYsys_created_on"
        fields = "sys_id,number,state,correlation_display"
        rows = rest.get(self._path, sysparm_query=query, sysparm_fields=fields, sysparm_limit="1")["result"]
        return next(iter(rows), None)

    def _resolve(self, rest: Rest, found: dict | None) -> Outcome:
        if found is None or found["state"] == RESOLVED:
            return Outcome(DELIVERED, "there is no open incident")
        change = {
            "state": RESOLVED,
            "close_code": self._servicenow.close_code,
            "close_notes": "Closed in Tailrace.",
        }
        rest.call("PATCH", f"{self._path}/{found['sys_id']}", change)
        return Outcome(DELIVERED, f"resolved {found['number']}")

    def _update(self, rest: Rest, found: dict, due: Due) -> Outcome:
        change: dict[str, object] = {}
        if found["state"] == RESOLVED:
            change |= {"state": IN_PROGRESS, "work_notes": "The alert is open in Tailrace."}
        if int(due.alert["count"]) > reported_count(found):
            note = f"The alert represents {counted(int(due.alert['count']), 'match', 'matches')} now."
            change |= {"work_notes": note, "correlation_display": _counted(due.alert)}
        if not change:
            return Outcome(DELIVERED, f"{found['number']} exists")
        rest.call("PATCH", f"{self._path}/{found['sys_id']}", change)
        return Outcome(DELIVERED, f"updated {found['number']}")


def incident(due: Due, dashboards: str) -> dict[str, object]:
    """Returns the fields of a new incident."""
    alert = due.alert
    level = str(alert["level"])
    return {
        "short_description": _line(ecs.message(alert))[:MAX_SHORT],
        "description": _description(alert, dashboards),
        "impact": IMPACT.get(level, "2"),
        "urgency": URGENCY.get(level, "2"),
        "correlation_id": due.id,
        "correlation_display": _counted(alert),
    }


def event(due: Due, dashboards: str) -> dict[str, object]:
    """Returns the fields of an event of Event Management; for a closed alert the one that clears it."""
    alert = due.alert
    severity = CLEAR if due.is_closed else SEVERITY.get(str(alert["level"]), "3")
    more = {**_known(alert), "alert_id": due.id, "count": alert["count"], "link": ecs.link(alert, dashboards)}
    return {
        "source": SOURCE,
        "node": str(alert["instance"] or alert["cluster"])[:MAX_FIELD],
        "type": _line(str(alert["rule_title"]))[:MAX_FIELD],
        "resource": _line(str(alert["entity_key"]))[:MAX_FIELD],
        "message_key": due.id,
        "severity": severity,
        "resolution_state": "Closing" if due.is_closed else "New",
        "time_of_event": f"{datetime.fromisoformat(str(alert['event_time'])):%Y-%m-%d %H:%M:%S}",
        "description": ecs.message(alert),
        "additional_info": json.dumps(ecs.known(more), ensure_ascii=False),
    }


def reported_count(row: dict) -> int:
    """Returns the count in `correlation_display`; 0 if somebody has changed the field."""
    source, _, count = str(row.get("correlation_display", "")).partition(" ")
    return int(count) if source == SOURCE and count.isdecimal() else 0


def _counted(alert: Row) -> str:
    return f"{SOURCE} {alert['count']}"


def _line(text: str) -> str:
    return " ".join(text.split())


def _known(alert: Row) -> dict[str, str]:
    facts = {**services.facts(alert), "Database": alert["database"], "Program": alert["program"]}
    return {name: str(value) for name, value in (facts | alert["facts"]).items() if value}


def _description(alert: Row, dashboards: str) -> str:
    """Returns plain text: a description of an incident has no markup."""
    link = ecs.link(alert, dashboards)
    parts = [
        [ecs.message(alert)],
        [f"{name}: {_line(value)}" for name, value in _known(alert).items() if name != "Next step"],
        ["Statement (literals masked):", *alert["statements"][:1]] if alert["statements"] else [],
        ["Next steps:", *alert["next_steps"]] if alert["next_steps"] else [],
        [link] if link else [],
    ]
    return "\n\n".join("\n".join(map(str, part)) for part in parts if part)
