"""Incidents on pages: their list, one of them, and actions on all of their alerts."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tailrace.alerts.incidents import Incident, Incidents
from tailrace.alerts.triage import CLOSED, uuid_of
from tailrace_pages import formats, links
from tailrace_pages.alerts import handling, listing
from tailrace_pages.columns import Column
from tailrace_pages.page_errors import NotFoundError
from tailrace_pages.time_range import TimeRange

if TYPE_CHECKING:
    from tailrace_pages.store import Store

STATES = ("active", "any")
RANGE = "7d"
HOUR = timedelta(hours=1)
NAMED = 2
"""Rules and users of an incident that the list names."""
SHOWN = 10
"""Values of a fact that are shown before the others are opened."""

COLUMNS = (
    Column("level", "Level", 14, "severity", note="The highest one of its alerts"),
    Column("first_rules", "Rules", 0, link="address", note="The highest level first"),
    Column("ended", "Latest event (UTC)", 18, "time", link="address"),
    Column("seconds", "Lasts", 10, "duration", note="From the begin of the first alert to the latest event"),
    Column("alerts", "Alerts", 6, "count"),
    Column("first_users", "Users", 12, link="user_address", note="The page of the incident has all"),
    Column("clients", "Clients", 14, link="client_address"),
    Column("instances", "Instances", 10),
    Column("tactics", "Tactics in order", 20),
    Column("handled", "State, assigned to", 14, note="To whom its alerts are assigned"),
)
CSV_COLUMNS = (
    COLUMNS[0],
    Column("began", "First alert begins (UTC)", 20, "time"),
    COLUMNS[2],
    COLUMNS[4],
    Column("users", "Users"),
    *COLUMNS[6:-1],
    Column("state", "State"),
    Column("assigned", "Assigned to"),
    Column("rules", "Rules"),
    Column("incident", "Id"),
)
ALERTS = (
    Column("level", "Level", 14, "severity"),
    Column("began", "Begin (UTC)", 20, "time"),
    Column("rule_title", "Rule", 0, link="address"),
    Column("entity_key", "Entity", 28, "entity"),
    Column("instance", "Instance", 12),
    Column("shown_state", "State", 14),
    Column("assignee", "Assignee", 12),
    Column("alert_count", "Count", 6, "count"),
    Column("id", "Id", 14, "id"),
)
CSV_ALERTS = (*ALERTS[:2], Column("event_time", "Event (UTC)", 20, "time"), *ALERTS[2:])
HISTORY = (
    Column("at", "Time (UTC)", 20, "time"),
    Column("actor", "By", 20),
    Column("what", "Action", 28),
    Column("detail", "Reason", 0),
    Column("of", "Alerts", 20, link="address", note="On how many of its alerts, or on which one"),
)
CSV_HISTORY = (*HISTORY[:-1], Column("alerts", "Alerts", 8, "count"))
ACTIONS = 500
"""Actions that the page shows, the latest ones."""


def listed(
    store: "Store", span: TimeRange, state: str, assignee: str | None = None, has_entities: bool = False
) -> tuple[list[dict[str, Any]], bool]:
    """Returns the rows of the incidents in a range, and whether some alerts were not read.

    `assignee` is that of `is_assigned`, or None for all incidents.
    """
    found, is_cut = Incidents(store.rows).within(span.since, span.until)
    shown = [each for each in found if state == "any" or each.state != CLOSED]
    wanted = [each for each in shown if assignee is None or is_assigned(each, assignee)]
    return [row(each, has_entities) for each in wanted], is_cut


def is_assigned(incident: Incident, assignee: str) -> bool:
    """Whether one of its alerts is assigned to this person or, if the name is empty, none to anybody."""
    names = incident.values("assignee")
    return assignee in names if assignee else not names


def row(incident: Incident, has_entities: bool = False) -> dict[str, Any]:
    """Returns the row of an incident. `id` is the value of its checkbox: the ids of its alerts.

    Its only user and its only client lead to their pages, with the time of `around`, if `has_entities`.
    """
    users, clients = incident.values("account"), incident.values("client")
    span = around(incident)
    return {
        "id": ",".join(incident.ids),
        "incident": incident.id,
        "level": incident.level,
        "began": incident.began,
        "ended": incident.ended,
        "seconds": (incident.ended - incident.began).total_seconds(),
        "alerts": len(incident.alerts),
        "users": ", ".join(users),
        "first_users": _first_of(users),
        "user_address": links.user(users[0], span) if has_entities and len(users) == 1 else "",
        "clients": ", ".join(clients),
        "client_address": links.client(clients[0], span) if has_entities and len(clients) == 1 else "",
        "instances": ", ".join(incident.values("instance")),
        "tactics": ", ".join(incident.tactics),
        "rules": ", ".join(incident.rules),
        "first_rules": _first_of(incident.worst_rules),
        "state": incident.state,
        "assigned": assigned(incident),
        "handled": f"{incident.state}, {assigned(incident)}",
        "address": links.address("alerts", "incidents", incident.id),
    }


def _first_of(names: Sequence[str]) -> str:
    """Names the first rules or users of an incident, and how many more there are."""
    further = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {further} more" if further > 0 else "")


def assigned(incident: Incident) -> str:
    """To whom the alerts of an incident are assigned: `ann`, `ann, ben (3 of 5 alerts)`, or `nobody`."""
    names, number = incident.values("assignee"), len(incident.alerts)
    part = sum(alert["assignee"] != "" for alert in incident.alerts)
    if not names:
        return "nobody"
    return ", ".join(names) + (f" ({part} of {number} alerts)" if part < number else "")


def history(store: "Store", incident: Incident) -> list[dict[str, Any]]:
    """Returns the actions of people on the alerts of an incident, oldest first, at most ACTIONS."""
    rows = store.rows("page_incident_history", ids=list(map(uuid_of, incident.ids)), limit=ACTIONS)
    return [{**row, **_alerts_of_action(row, len(incident.alerts))} for row in rows]


def _alerts_of_action(row: Mapping[str, Any], number: int) -> dict[str, str]:
    """On which alerts of an incident somebody acted: a link to it if it was one."""
    if row["alerts"] == 1:
        (id_,) = row["its_alerts"]
        return {"of": formats.short_id(id_), "address": links.alert(id_)}
    of = f"all {number}" if row["alerts"] == number else f"{row['alerts']} of {number}"
    return {"of": of, "address": ""}


def users_of_events(store: "Store", incident: Incident) -> tuple[list[str], bool]:
    """Returns the users of the events that the alerts name, in order, and whether there may be more: an
    alert names at most 100 events."""
    span = around(incident)
    rows = store.rows("page_incident_users", ids=list(map(uuid_of, incident.ids)), **span.parameters())
    return [row["name"] for row in rows], any(row["is_cut"] for row in rows)


def around(incident: Incident) -> TimeRange:
    """The time of the incident, and an hour before and after it."""
    ends = (end.replace(microsecond=0) for end in (incident.began, incident.ended))
    return TimeRange(*ends).around(HOUR)


def facts(
    incident: Incident,
    has_entities: bool,
    of_events: tuple[Sequence[str], bool] = ((), False),
    tried: Collection[str] = (),
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Returns name and values of what is known about an incident; a value without a link has no address.

    `of_events` is what `users_of_events` returns. The page names the accounts `tried` elsewhere. Links to
    users and clients have the time of `around`.
    """
    span = around(incident)
    user, client = (links.user, links.client) if has_entities else (_no_link, _no_link)
    began, ended = formats.time(incident.began), formats.time(incident.ended)
    in_events, is_cut = of_events
    others = [name for name in in_events if name not in tried]
    return [
        ("Time (UTC)", [(began if began == ended else f"{began} to {ended}", "")]),
        ("Users", [(name, user(name, span)) for name in incident.values("account")]),
        (_number_of_users(others, is_cut, bool(tried)), [(name, user(name, span)) for name in others]),
        ("Clients", [(name, client(name, span)) for name in incident.values("client")]),
        ("Instances", [(name, "") for name in incident.values("instance")]),
        ("Tactics in order", [(name, "") for name in incident.tactics]),
        ("Assigned to", [(assigned(incident), "")]),
    ]


def _number_of_users(names: Sequence[str], is_cut: bool, has_tried: bool) -> str:
    users = "Other users" if has_tried else "Users"
    least = "at least " if is_cut else ""
    return f"{users} in the events that its alerts store: {least}{formats.count(len(names))}"


def _no_link(name: str, span: TimeRange) -> str:
    return ""


def read(store: "Store", id_: str) -> Incident:
    """Returns the incident of an alert. Raises NotFoundError."""
    found = Incidents(store.rows).of(handling.checked_id(id_))
    if found is None:
        raise NotFoundError(f"There is no incident {id_}, or your role may not see it, or it is suppressed.")
    return found


def alerts(incident: Incident) -> list[dict[str, Any]]:
    return [
        {
            **alert,
            "shown_state": listing.shown_state({**alert, "silenced": False}),
            "address": links.alert(alert["id"]),
        }
        for alert in incident.alerts
    ]


def act(store: "Store", form: Mapping[str, str], values: Sequence[str], actor: str) -> str:
    """Records an action for the alerts of incidents whose state allows it; returns a sentence.

    `values` are those of the checkboxes, so the action never concerns an alert that the page did not count.
    Raises AlertError, BadAddressError, NotFoundError, UnavailableError.
    """
    ids = [id_ for value in values for id_ in value.split(",") if id_]
    wanted = handling.wanted(form, list(dict.fromkeys(ids)), actor)
    return handling.act_where_possible(store, wanted)
