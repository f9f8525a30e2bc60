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
RULES = 2
"""Rules of an incident that the list names."""
SHOWN = 10
"""Values of a fact that are shown before the others are opened."""

COLUMNS = (
    Column("level", "Highest severity", 16, "severity"),
    Column("first_rules", "Rules", 0, link="address", note="In the order of their first alert"),
    Column("began", "First alert begins (UTC)", 20, "time"),
    Column("ended", "Latest event (UTC)", 20, "time"),
    Column("alerts", "Alerts", 8, "count"),
    Column("users", "Users", 16),
    Column("clients", "Clients", 16),
    Column("instances", "Instances", 16),
    Column("tactics", "Tactics in order", 0),
    Column("state", "State", 14),
)
CSV_COLUMNS = (
    *(column for column in COLUMNS if column.key != "first_rules"),
    Column("rules", "Rules"),
    Column("incident", "Id"),
)
ALERTS = (
    Column("level", "Severity", 16, "severity"),
    Column("began", "Begin (UTC)", 20, "time"),
    Column("event_time", "Event (UTC)", 20, "time"),
    Column("rule_title", "Rule", 0, link="address"),
    Column("entity_key", "Entity", 28, "entity"),
    Column("instance", "Instance", 16),
    Column("shown_state", "State", 14),
    Column("alert_count", "Count", 8, "count"),
    Column("id", "Id", 16, "id"),
)


def listed(store: "Store", span: TimeRange, state: str) -> tuple[list[dict[str, Any]], bool]:
    """Returns the rows of the incidents in a range, and whether some alerts were not read."""
    found, is_cut = Incidents(store.rows).within(span.since, span.until)
    return [row(each) for each in found if state == "any" or each.state != CLOSED], is_cut


def row(incident: Incident) -> dict[str, Any]:
    """Returns the row of an incident. `id` is the value of its checkbox: the ids of its alerts."""
    return {
        "id": ",".join(incident.ids),
        "incident": incident.id,
        "level": incident.level,
        "began": incident.began,
        "ended": incident.ended,
        "alerts": len(incident.alerts),
        "users": ", ".join(incident.values("account")),
        "clients": ", ".join(incident.values("client")),
        "instances": ", ".join(incident.values("instance")),
        "tactics": ", ".join(incident.tactics),
        "rules": ", ".join(incident.rules),
        "first_rules": _first_of(incident.rules),
        "state": incident.state,
        "address": links.address("alerts", "incidents", incident.id),
    }


def _first_of(rules: Sequence[str]) -> str:
    """Names the first rules of an incident, and how many more there are."""
    further = len(rules) - RULES
    return ", ".join(rules[:RULES]) + (f" and {further} more" if further > 0 else "")


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
