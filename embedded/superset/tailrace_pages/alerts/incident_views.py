"""The routes of incidents. They belong to the blueprint of views.py."""

from typing import Any

from flask import request

from tailrace_pages import rendering
from tailrace_pages.alerts import filters, forms, incidents, tried_accounts
from tailrace_pages.alerts.blueprint import blueprint
from tailrace_pages.page_errors import BadAddressError
from tailrace_pages.store import store
from tailrace_pages.viewer import page, viewer


@blueprint.get("/tailrace/alerts/incidents/")
@page("read_alerts")
def incident_list() -> Any:
    """The incidents of a time range."""
    span, state = rendering.page_range(incidents.RANGE), request.args.get("state", incidents.STATES[0])
    if state not in incidents.STATES:
        raise BadAddressError(f"state={state} does not exist; there are {', '.join(incidents.STATES)}.")
    given = request.args.get("assignee", "").strip()
    assignee = filters.assignee_of(given, viewer().name) if given else None
    has_entities = rendering.has_page("Users and clients")
    found, is_cut = incidents.listed(store(), span, state, assignee, has_entities)
    if rendering.wants_csv():
        return rendering.csv_answer("incidents", incidents.CSV_COLUMNS, found)
    number, size = rendering.page_number(), rendering.PAGE_SIZE
    return rendering.render(
        "alerts/incidents.html",
        "Incidents",
        span,
        columns=incidents.COLUMNS,
        rows=found[(number - 1) * size : number * size],
        total=len(found),
        more=len(found) > number * size,
        number=number,
        state=state,
        assignee=given,
        assignees=((filters.ME, "Mine"), (filters.NOBODY, "Unassigned")),
        is_cut=is_cut,
        **forms.choices(),
    )


@blueprint.get("/tailrace/alerts/incidents/<id_>/")
@page("read_alerts")
def incident(id_: str) -> Any:
    """The incident of an alert."""
    found = incidents.read(store(), id_)
    rows, row = incidents.alerts(found), incidents.row(found)
    done = incidents.history(store(), found)
    if rendering.wants_csv():
        return _csv_of(rows, done)
    has_entities = rendering.has_page("Users and clients")
    clients = found.values("client")
    tried = tried_accounts.of_clients(store(), clients, incidents.around(found), has_entities)
    of_events = incidents.users_of_events(store(), found)
    return rendering.render(
        "alerts/incident.html",
        f"Incident with {len(rows)} alert{'s' if len(rows) > 1 else ''}",
        incident=row,
        facts=incidents.facts(found, has_entities, of_events, tried_accounts.names(tried)),
        tried=tried,
        shown=incidents.SHOWN,
        columns=incidents.ALERTS,
        rows=rows,
        history=done,
        history_columns=incidents.HISTORY,
        **forms.choices(),
    )


def _csv_of(alerts: list[dict[str, Any]], done: list[dict[str, Any]]) -> Any:
    """One of the tables of an incident."""
    name = request.args.get("table", "alerts")
    if name == "alerts":
        return rendering.csv_answer("incident", incidents.CSV_ALERTS, alerts)
    if name == "history":
        return rendering.csv_answer("incident-history", incidents.CSV_HISTORY, done)
    raise BadAddressError(f"table={name} does not exist; there are alerts and history.")


@blueprint.post("/tailrace/alerts/incidents/actions/")
@page("handle_alerts")
def act_on_incidents() -> Any:
    """Records an action on the alerts of the selected incidents."""
    values = request.form.getlist("ids")
    return forms.done(lambda: incidents.act(store(), request.form, values, viewer().name))
