"""The routes of the pages of entities and sessions. The other modules of this package say what they show."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from flask import Blueprint, g, request

from tailrace.alerts import risk as risk_scores
from tailrace.rules import data_classes
from tailrace_pages import earlier_period, formats, rendering, time_range
from tailrace_pages.alerts import restrictions, risk
from tailrace_pages.entities import addresses, kinds, listing, overview, records, usual
from tailrace_pages.entities.kinds import SESSION, Entity
from tailrace_pages.entities.reading import SIDE_DAYS, Reading
from tailrace_pages.page import Page
from tailrace_pages.page_errors import BadAddressError, NotFoundError
from tailrace_pages.store import Store, store
from tailrace_pages.time_range import SQL_TIME, TimeRange
from tailrace_pages.viewer import page, viewer

PAGE = Page("Users and clients", "/tailrace/entities/")
blueprint = Blueprint("tailrace_entities", __name__)

FILTERS = ("cluster", "instance")
RISK_ROWS = 5
"""Alerts below the risk score."""
ALERTS = 20
"""Alerts about an entity, unless all of them are wanted."""
WIDE = "30d"
"""The time range to which a page without an alert leads: alerts wait for days."""
SIDES = ("clients", "users", "programs", "tables", "classes", "alerts", "sessions", "patterns", "usual")


@blueprint.get("/tailrace/entities/")
@page("entities")
def search() -> Any:
    """Users, clients, tables and data classes by a part of their name."""
    span, text, filters = rendering.menu_range(), request.args.get("q", "").strip(), _filters()
    since = max(span.since, span.until - timedelta(days=SIDE_DAYS))
    given = {"cluster": "", "instance": "", **filters, **span.parameters()}
    rows = store().rows("page_entity_search", text=text, classes_from=f"{since:{SQL_TIME}}", **given)
    tables = listing.found(rows, text, _links(span, filters), request.args.get("all", ""))
    if rendering.wants_csv():
        found = [{**row, "address": ""} for row in rows]
        return rendering.csv_answer("entities", listing.SEARCH_CSV_COLUMNS, found)
    return rendering.render(
        "entities/search.html", "Users and clients", span, text=text, tables=tables, filters=filters,
        cut=since > span.since, days=SIDE_DAYS, more=listing.FOUND_WITHOUT_TEXT,
        first_day=span.since.date(), last_day=(span.until - timedelta(microseconds=1)).date(),
    )  # fmt: skip


@blueprint.get("/tailrace/entities/<kind>/<path:name>/")
@page("entities")
def entity(kind: str, name: str) -> Any:
    """One user, client, table or data class."""
    if kind not in kinds.KINDS:
        raise BadAddressError(f"{kind} is not a kind of entity; there are {', '.join(kinds.KINDS)}.")
    filters = _filters()
    return _answer(Entity(kind, addresses.decode(name), filters=filters, **filters))


@blueprint.get("/tailrace/sessions/<cluster>/<instance>/<connection>/")
@page("entities")
def session(cluster: str, instance: str, connection: str) -> Any:
    """The sessions of one connection id on one server."""
    if not connection.isdecimal() or int(connection) > addresses.MAX_CONNECTION:
        raise BadAddressError(f"{connection} is not a connection id, which is a whole number.")
    cluster = "" if cluster == addresses.NO_CLUSTER else addresses.decode(cluster)
    server = {"cluster": cluster, "instance": addresses.decode(instance)}
    return _answer(Entity(SESSION, "", connection=int(connection), **server))


def _answer(about: Entity) -> Any:
    its_store = store()
    oldest = records.oldest_first(request.args.get("order", records.ORDERS[0]))
    reading = Reading(its_store, about, rendering.page_range(), oldest)
    links = _links(reading.span, dict(about.filters))
    kind = records.kind(request.args.get("kind", ""))
    before = records.position(request.args.get("before", ""))
    if rendering.wants_csv() or request.args.get("compare") == "only":
        return _part(reading, links, kind)
    with its_store.at_once() as start:
        scored = start(lambda: _scored(about, its_store))
        rows, following = reading.first_view(start, kind, before)
        shown, contributions = reading.shown(rows, links), scored()
    patterns, unknown = _patterns_or_reason(reading)
    has_patterns = bool(unknown or (patterns and patterns.rows))
    latest = None if rows or before else _latest(reading, has_patterns)
    return rendering.render(
        "entities/entity.html", formats.visible(about.title), reading.span,
        **_head(reading),
        entity=about,
        of_data=about.is_data,
        columns=records.columns(about),
        rows=shown,
        kind=kind,
        kinds=_kinds(),
        **_places(oldest, before, following),
        latest=latest,
        latest_address=_day_of(latest) if latest else "",
        **_sides(reading, links, request.args.get("all", "")),
        risk=_risk(about, contributions),
        **_comparison(reading, links),
        pseudonyms=_pseudonyms(reading, links),
        patterns=patterns,
        patterns_unknown=unknown,
        patterns_limited=about.kind == "class" and _is_restricted(),
        sessions=_sessions(reading),
        sides_since=reading.sides_since if reading.sides_since > reading.span.since else None,
        csv_of=_csv_of,
    )  # fmt: skip


def _sides(reading: Reading, links: dict[str, str], whole: str) -> dict[str, Any]:
    """The tables beside the records; the one with the key `whole` has all rows."""
    sides = [*_others(reading, links), *(_side(name, reading, links) for name in ("tables", "classes"))]
    is_wide = reading.span.until - reading.span.since >= time_range.RANGES[WIDE]
    return {
        "sides": [listing.limited(table, whole=whole) for table in sides],
        "alerts": listing.limited(listing.alerts(reading.alerts_of_range), ALERTS, whole),
        "earlier_period": str(reading.span.before()),
        "earlier_day": earlier_period.day(reading.span),
        "earlier_alerts": len(reading.alerts) - len(reading.alerts_of_range),
        "wider": ""
        if is_wide or reading.entity.kind == SESSION
        else rendering.changed(range=WIDE, **dict.fromkeys(("from", "to", "before"))),
        "whole": whole,
    }


def _comparison(reading: Reading, links: dict[str, str]) -> dict[str, Any]:
    """What is new for a user or a client, or where that is: reading it takes longer than the page."""
    if reading.entity.kind not in usual.KINDS:
        return {"usual": None, "comparison": None}
    if request.args.get("compare") == "yes":
        return {**_section(reading, links), "comparison": None}
    kept = {"before": None, "kind": None}
    addresses_of = {
        "page": rendering.changed(**kept, compare="yes"),
        "section": rendering.changed(**kept, compare="only"),
    }
    return {"usual": None, "comparison": addresses_of}


def _compared(reading: Reading, links: dict[str, str]) -> Any:
    """The part of the page of a user or a client that says what is new."""
    if reading.entity.kind not in usual.KINDS:
        raise BadAddressError("Only users and clients are compared with earlier days.")
    title = formats.visible(reading.entity.title)
    return rendering.render(
        "entities/usual.html",
        title,
        **_section(reading, links),
        whole=request.args.get("all", ""),
        csv_of=_csv_of,
    )


def _section(reading: Reading, links: dict[str, str]) -> dict[str, Any]:
    found = _usual(reading, links)
    if found is None:
        return {"usual": None}
    return {
        "usual": found,
        "usual_table": listing.limited(found.table(), whole=request.args.get("all", "")),
    }


def _csv_of(table: str) -> str:
    return rendering.changed(format="csv", table=table, before=None, compare=None)


def _usual(reading: Reading, links: dict[str, str]) -> usual.Usual | None:
    if reading.entity.kind not in usual.KINDS:
        return None
    return usual.Usual(reading.entity, reading.earlier_days, reading.usual_names, links)


def _places(oldest: bool, before: Any, following: Any) -> dict[str, Any]:
    """The order of the records, and the addresses of the other order, the first and the following records."""
    return {
        "oldest": oldest,
        "other_order": rendering.changed(order=None if oldest else records.ORDERS[1], before=None),
        "first": rendering.changed(before=None) if before else "",
        "following": rendering.changed(before=following.argument()) if following else "",
    }


def _pseudonyms(reading: Reading, links: Any) -> list[dict[str, Any]]:
    """The pseudonyms of the entity's name, with the addresses of their pages."""
    rows = reading.pseudonyms()
    return [{**row, "address": addresses.entity(row["kind"], row["pseudonym"], links)} for row in rows]


def _head(reading: Reading) -> dict[str, Any]:
    """The numbers and the chart."""
    measures, about = reading.entity.measures, reading.alerts_about
    shown = overview.bars(measures, reading.timeline, about, reading.logs, reading.span, reading.read)
    return {
        "numbers": overview.numbers(
            measures,
            reading.timeline,
            about,
            reading.logs,
            reading.span,
            reading.read,
            compares=reading.entity.kind != kinds.SESSION,
        ),
        "measures": measures,
        "begin": overview.begin(measures, reading.read, reading.span),
        "chart": overview.chart(measures, shown, reading.logs),
        "chart_columns": overview.chart_columns(measures),
        "chart_rows": overview.busy(measures, shown),
        "chart_all": shown,
        "unit": overview.UNITS[overview.width_of(reading.span)],
    }


def _scored(about: Entity, store: Store) -> list[dict[str, Any]] | None:
    """Returns the alerts that contribute to the risk score of a user or a client; None for other entities.

    The score of a pseudonym is not known: alerts have the name.
    """
    if about.kind not in risk_scores.KINDS or about.filters or about.is_pseudonym:
        return None
    return risk.contributions(store, about.kind, about.name, rendering.now())


def _risk(about: Entity, rows: list[dict[str, Any]] | None) -> dict[str, Any] | None:
    """Returns the risk score, with the alerts that contribute most."""
    if rows is None:
        return None
    return {
        "score": risk_scores.score(rows),
        "rows": rows[:RISK_ROWS],
        "columns": risk.CONTRIBUTIONS,
        "alerts": len(rows),
        "address": risk.why_address(about.kind, about.name),
    }


def _latest(reading: Reading, has_patterns: bool) -> Any:
    """Returns when an entity without records in the range had its latest one. Raises NotFoundError.

    `has_patterns`: a data class that the viewer sees without records."""
    latest = reading.latest()
    if latest is None and not reading.alerts and not has_patterns:
        raise NotFoundError(
            f"No record names {formats.visible(reading.entity.in_words)}, or your role may not see it."
        )
    return latest


def _patterns(reading: Reading) -> listing.Table | None:
    """Returns what belongs to a data class; None if it is unknown, or the viewer sees no such class."""
    table, _ = _patterns_or_reason(reading)
    return listing.patterns_to_save(table, reading.entity.kind == "class" and _is_restricted())


def _patterns_or_reason(reading: Reading) -> tuple[listing.Table | None, str]:
    """A restricted audience sees patterns for any database, and those of databases in its logs."""
    if reading.entity.kind != "class":
        return None, ""
    databases = reading.databases if _is_restricted() else None
    return listing.patterns_of(reading.entity.name, data_classes.FILE, databases)


def _is_restricted() -> bool:
    """Whether access.yaml restricts the viewer's audience; each request asks Superset's database once."""
    if "tailrace_is_restricted" not in g:
        g.tailrace_is_restricted = bool(restrictions.columns_of(viewer().audience))
    return g.tailrace_is_restricted


def _day_of(latest: Any) -> str:
    span = TimeRange(latest - timedelta(hours=12), latest + timedelta(hours=12))
    return rendering.changed(**{**span.arguments(), "range": None, "before": None, "kind": None})


def _sessions(reading: Reading) -> Any:
    if reading.entity.kind != SESSION:
        return None
    return listing.sessions(reading.entity, reading.logins, reading.span.until)


def _part(reading: Reading, links: dict[str, str], kind: str) -> Any:
    """A file, or the part of the page that says what is new."""
    return _csv(reading, links, kind) if rendering.wants_csv() else _compared(reading, links)


def _csv(reading: Reading, links: dict[str, str], kind: str) -> Any:
    name = request.args.get("table", "records")
    if name == "chart":
        head = _head(reading)
        return rendering.csv_answer(name, head["chart_columns"], head["chart_all"])
    if name == "records":
        return rendering.csv_answer("records", records.CSV_COLUMNS, reading.all(kind, links))
    if name not in SIDES:
        raise BadAddressError(f"table={name} does not exist; there are records, chart, {', '.join(SIDES)}.")
    table = _side(name, reading, links)
    return rendering.csv_answer(name, table.columns, table.rows)


def _side(name: str, reading: Reading, links: dict[str, str]) -> listing.Table:
    """Returns a side table by its key. Raises BadAddressError if this page does not have it."""
    made: dict[str, Callable[[], Any]] = {
        "tables": lambda: listing.tables(reading.others, links),
        "classes": lambda: listing.classes(reading.classes, links),
        "alerts": lambda: listing.alerts(reading.alerts_of_range),
        "sessions": lambda: _sessions(reading),
        "patterns": lambda: _patterns(reading),
        "usual": lambda: compared.table() if (compared := _usual(reading, links)) else None,
    }
    others = made.get(name) or (lambda: _other(name, reading, links))
    found = others()
    if found is None:
        raise BadAddressError(f"table={name} does not exist on this page.")
    return found


def _other(name: str, reading: Reading, links: dict[str, str]) -> listing.Table | None:
    return next((table for table in _others(reading, links) if table.key == name), None)


def _others(reading: Reading, links: dict[str, str]) -> list[listing.Table]:
    return listing.others(reading.entity, reading.others, reading.logs, links)


def _kinds() -> list[tuple[str, str, str]]:
    return [
        (value, title, rendering.changed(kind=value or None, before=None))
        for value, title in records.TITLES.items()
    ]


def _filters() -> dict[str, str]:
    return {name: request.args[name] for name in FILTERS if request.args.get(name)}


def _links(span: TimeRange, filters: dict[str, str]) -> dict[str, str]:
    """Returns the arguments that links to other pages keep."""
    return {**span.arguments(), **filters}
