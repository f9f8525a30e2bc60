"""The routes of the alert inbox. Everything they do is in the other modules of this package."""

from collections.abc import Mapping
from typing import Any

from flask import jsonify, request, url_for
from flask_login import current_user

from tailrace.alerts import triage
from tailrace_pages import formats, links, rendering, saved_filters
from tailrace_pages.alerts import (
    active_suppressions,
    details,
    filters,
    forms,
    gaps,
    handling,
    incident_views,
    listing,
    restrictions,
    risk_views,
)
from tailrace_pages.alerts.blueprint import PAGE, blueprint
from tailrace_pages.page_errors import BadAddressError
from tailrace_pages.store import store
from tailrace_pages.time_range import TimeRange
from tailrace_pages.viewer import page, viewer

MICROS = 1_000_000
__all__ = ["PAGE", "blueprint", "incident_views", "risk_views"]
"""Their import adds the routes of incidents and risk scores."""


@blueprint.get("/tailrace/alerts/")
@page("read_alerts")
def inbox() -> Any:
    """The list of alerts."""
    wanted, span, seen_by = filters.parse(request.args), rendering.page_range(filters.RANGE), viewer().name
    if rendering.wants_csv():
        rows = listing.all_of(store(), wanted, span, seen_by)
        return rendering.csv_answer("alerts", listing.CSV_COLUMNS, rows)
    number, size = rendering.page_number(listing.PAGES), rendering.PAGE_SIZE
    found = listing.overview(store(), wanted, span, seen_by, number * size + 1)
    ids = found.ids(wanted.levels, number, size)
    return rendering.render(
        "alerts/inbox.html",
        PAGE.title,
        span,
        columns=listing.COLUMNS,
        rows=listing.rows_of(store(), ids[:size]),
        more=len(ids) > size and number < listing.PAGES,
        is_cut=len(ids) > size and number == listing.PAGES,
        number=number,
        older_alerts=found.older,
        levels=listing.headline(found.levels, _level_addresses()),
        filters=wanted,
        is_filtered=bool(wanted.arguments()),
        all_times=rendering.changed(
            **{"range": None, "from": "2000-01-01T00:00:00Z", "to": None, "page": None}
        ),
        presets=_links(filters.PRESETS, span, wanted),
        saved=_links(saved_filters.load(current_user.id), span, wanted),
        suppressions=active_suppressions.read(store()),
        since=int(rendering.now().timestamp() * MICROS),
        **forms.choices(),
    )


@blueprint.get("/tailrace/alerts/newest/")
@page("read_alerts")
def newest() -> Any:
    """How many alerts were detected since a time, for live_alerts.js; JSON."""
    text = request.args.get("since", "")
    if not (text.isdigit() and len(text) <= 17):
        raise BadAddressError("`since` is a time in microseconds since 1970.")
    return jsonify(store().row(listing.NEWEST, since=int(text)))


@blueprint.get("/tailrace/alerts/<id_>/")
@page("read_alerts")
def alert(id_: str) -> Any:
    """One alert."""
    found = details.read(store(), handling.checked_id(id_))
    if rendering.wants_csv():
        return _csv_of(id_, found)
    restricted = forms.restricted()
    return rendering.render(
        "alerts/alert.html",
        found["rule_title"],
        alert=found,
        sentence=details.sentence(found),
        history_columns=details.HISTORY,
        earlier_columns=details.EARLIER_COLUMNS,
        same_rule=links.alerts(rule=found["rule_id"], state="any"),
        rule_page=links.rule(found["rule_id"]) if rendering.has_page("Rules") else "",
        permitted=restrictions.permitted(found, handling.SCOPES, restricted),
        restricted=restricted,
        incident=links.address("alerts", "incidents", id_) if not found["silenced"] else "",
        evidence=links.address("evidence") if rendering.has_page("Evidence") else "",
        **_readings(id_, found),
        **{**forms.choices(), "allowed": triage.actions_in(found["state"], found["verdict"])},
    )


def _readings(id_: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what the page shows about an alert besides its own row, by the template's names."""
    pages = ("Users and clients", "Queries", "Evidence")
    has_entities, has_queries, has_evidence = map(rendering.has_page, pages)
    its_store = store()
    with its_store.at_once() as start:
        earlier = start(lambda: details.earlier(its_store, found))
        tried = start(lambda: details.tried(its_store, found))
        gap = start(lambda: gaps.read(its_store, found, has_evidence))
        history = start(lambda: details.history(its_store, id_))
        sessions = start(lambda: details.sessions(its_store, found) if has_entities else [])
        active = start(lambda: active_suppressions.read(its_store))
        queries = details.queries(its_store, found)
        in_events = details.pseudonyms(its_store, found) if has_entities else []
    before, total = earlier()
    return {
        "tried": tried(),
        "facts": details.facts(found, has_entities, in_events, queries, has_queries),
        "queries": queries if has_queries else [],
        "gap": gap(),
        "sessions": sessions(),
        "history": history(),
        "earlier": before,
        "earlier_total": total,
        "suppressions": active_suppressions.of_alert(active(), found),
    }


def _csv_of(id_: str, found: Mapping[str, Any]) -> Any:
    """One of the tables of an alert."""
    name = request.args.get("table", "history")
    if name == "history":
        return rendering.csv_answer(name, details.HISTORY, details.history(store(), id_))
    if name == "earlier":
        return rendering.csv_answer(name, details.EARLIER_COLUMNS, details.earlier(store(), found)[0])
    raise BadAddressError(f"table={name} does not exist; there are history and earlier.")


@blueprint.post("/tailrace/alerts/actions/")
@page("handle_alerts")
def act() -> Any:
    """Records an action on the selected alerts."""
    form = handling.wanted(request.form, request.form.getlist("ids"), viewer().name)
    return forms.done(lambda: handling.act(store(), form))


@blueprint.post("/tailrace/alerts/<id_>/suppressions/")
@page("handle_alerts")
def suppress(id_: str) -> Any:
    """Suppresses the rule or the entity of an alert."""
    given = (request.form, viewer().name, forms.restricted())
    return forms.done(lambda: handling.suppress(store(), id_, *given), str)


@blueprint.post("/tailrace/alerts/suppressions/<id_>/end/")
@page("handle_alerts")
def end_suppression(id_: str) -> Any:
    """Ends a suppression early."""
    return forms.done(lambda: handling.end_suppression(store(), id_, request.form, viewer().name))


@blueprint.post("/tailrace/alerts/filters/")
@page("read_alerts")
def save_filter() -> Any:
    """Saves the filters of the list under a name, or removes a saved one."""
    saved, name = saved_filters.load(current_user.id), request.form.get("name", "")
    if request.form.get("action") == "remove":
        saved_filters.store(current_user.id, {key: saved[key] for key in saved if key != name})
        return rendering.back_with(f"Filter {name} removed.", forms.back())
    arguments = filters.parse(request.form).arguments()
    saved_filters.store(current_user.id, saved_filters.with_one(saved, name, arguments))
    return rendering.back_with(f"Filter {name} saved.", forms.back())


def _links(
    named: dict[str, dict[str, str]], span: TimeRange, shown: filters.Filters
) -> list[tuple[str, str, bool]]:
    """Returns the name, the address and whether it is what the page shows, for each set of filters."""
    return [
        (name, url_for("tailrace_alerts.inbox", **{**given, **span.arguments()}), given == shown.arguments())
        for name, given in named.items()
    ]


def _level_addresses() -> dict[str, str]:
    return {level: rendering.changed(level=level, page=None) for level in formats.LEVELS}
