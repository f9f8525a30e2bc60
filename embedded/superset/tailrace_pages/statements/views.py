"""The routes of the pages of statements. Everything they do is in the other modules of this package."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from flask import Blueprint, redirect, request, url_for

from tailrace_pages import dashboard_links, earlier_period, links, rendering
from tailrace_pages.page import Page
from tailrace_pages.page_errors import BadAddressError, ForbiddenError, NotFoundError
from tailrace_pages.statements import (
    deadlocks,
    fingerprinting,
    formatting,
    listing,
    lock_waits,
    plans,
    searching,
    tables,
    trend,
)
from tailrace_pages.statements.fingerprinting import Pasted
from tailrace_pages.statements.reading import Statement
from tailrace_pages.store import store
from tailrace_pages.time_range import TimeRange
from tailrace_pages.viewer import page, sees_dashboard, viewer

PAGE = Page("Queries", "/tailrace/queries/")
blueprint = Blueprint("tailrace_queries", __name__)

_HOUR = timedelta(hours=1)
_QUERY_ID = re.compile(r"[0-9A-Fa-f]{16}")
MOST_IN_ADDRESS = 3000
"""Characters of a search text in an address, percent-encoded: Superset's server rejects lines above 4,094."""
MOST_CALLERS = 10
"""Callers, DDL, deadlocks and waits that the page shows, unless `?all=` names the table; the CSV file has all
rows of the query."""
CUT = ("callers", "ddl", "deadlocks", "lock_waits")
"""Tables that the page cuts after MOST_CALLERS rows."""
SAMPLES = "samples"
"""The dashboard of unmasked samples, which needs a role of its own."""
ENTITIES = {"user": links.user, "client": links.client, "table": links.table}
"""Kinds with a page of their own, with its address."""
RAW = {"Query detail": "query-detail", "Slow queries": "slow-queries", "Plans": "plans", "Traces": "traces"}
"""Dashboards with a filter for the query id."""


@blueprint.get("/tailrace/queries/")
@page("queries")
def search() -> Any:
    """The heaviest statements, or those that `?q=` finds. A complete query id leads to its page."""
    span, text = rendering.menu_range(), request.args.get("q", "").strip()
    if text:
        return _found(text, span)
    order = request.args.get("order") or "time"
    if order not in listing.ORDERS:
        raise BadAddressError(f"order={order} is not an order; there are {', '.join(listing.ORDERS)}.")
    number = rendering.page_number()
    columns, obstacles = listing.COLUMNS, None
    if order == "slower":
        columns = listing.SLOWER_COLUMNS
        listed, obstacles = listing.slower(store().rows, span, _servers(), number)
    else:
        listed = listing.heaviest(store().rows, span, _servers(), order, number)
    rows = _linked(listed.rows, span)
    if rendering.wants_csv():
        return rendering.csv_answer("queries", columns, rows)
    groups = (
        [(f"{listed.caption(order)}. Changes are against {earlier_period.title(span)}", rows)] if rows else []
    )
    known = {} if obstacles is None else {"obstacles": obstacles}
    return _search_page(
        text, span, groups, order=order, number=number, more=listed.has_more, columns=columns, **known
    )


@blueprint.post("/tailrace/queries/")
@page("queries")
def submitted() -> Any:
    """Searches for the text of the form. A short text becomes a part of the address, with the time range, so
    that it is a link.

    Addresses are logged: of a statement they contain the fingerprint, which has no literals.
    """
    text = _checked(request.form.get("q", "").strip())
    pasted = fingerprinting.pasted(text) if fingerprinting.is_statement(text) else None
    link = text if pasted is None else pasted.link
    span = rendering.menu_range()
    if (link or not text) and len(quote(link)) <= MOST_IN_ADDRESS:
        return redirect(rendering.changed(q=link or None, **span.arguments()), 303)
    return _found(text, span, pasted)


def _checked(text: str) -> str:
    if len(text) > searching.MOST_TEXT:
        most = f"{searching.MOST_TEXT:,}"
        raise BadAddressError(f"The search text is longer than {most} characters; paste its beginning.")
    return text


def _found(text: str, span: TimeRange, pasted: Pasted | None = None) -> Any:
    meaning = searching.meaning_of(_checked(text))
    if meaning.is_statement:
        pasted = pasted or fingerprinting.pasted(text)
        groups = searching.found_pasted(store().rows, pasted)
    else:
        groups = searching.found(store().rows, meaning, span)
    if meaning.whole_id is not None and "id" in groups:
        return redirect(_address(meaning.whole_id, span))
    shown = [_group(name, rows, span) for name, rows in groups.items()]
    if rendering.wants_csv():
        return rendering.csv_answer("queries", listing.COLUMNS, [row for _, rows in shown for row in rows])
    its = pasted.fingerprint if pasted else None
    known = {
        "not_stored": searching.not_stored(groups) if its else "",
        "its_tables": [(name, _table(name, span)) for name in searching.tables_of(its)] if its else [],
    }
    return _search_page(text, span, shown, pasted=pasted, has_digest=bool(meaning.digest), **known)


def _group(name: str, rows: list[dict[str, Any]], span: TimeRange) -> tuple[str, list[dict[str, Any]]]:
    """Returns the caption and the rows of a group of searching.TITLES."""
    by_likeness = name in searching.BY_LIKENESS
    order = "most words in common first" if by_likeness else "most total time first"
    measured = listing.measured(store().rows, rows, span, _servers(), keeps_order=by_likeness)
    return f"{searching.TITLES[name]}, {order}", _linked(measured, span)


def _table(name: str, span: TimeRange) -> str:
    """Returns the address of a table that a fingerprint names, which has `?` in place of digits: then no page
    has its name, and the search for its statements is the address."""
    if "?" in name:
        return url_for("tailrace_queries.search", q=name, **span.arguments())
    return _entity(span)("table", name)


def _search_page(text: str, span: TimeRange, groups: list, **found: Any) -> Any:
    known: dict[str, Any] = {
        "pasted": None,
        "has_digest": False,
        "not_stored": "",
        "its_tables": [],
        "order": "",
        "number": 1,
        "more": False,
        "columns": listing.COLUMNS,
        "orders": listing.ORDERS,
        **found,
    }
    if "obstacles" not in known:
        known["obstacles"] = listing.obstacles(store().rows, span, _servers()) if groups else []
    return rendering.render(
        "queries/search.html",
        "Queries",
        span,
        text=text,
        groups=groups,
        shown_id=listing.shown_id,
        **known,
    )


@blueprint.get("/tailrace/queries/<query_id>/")
@page("queries")
def statement(query_id: str) -> Any:
    """One statement."""
    span = rendering.page_range()
    if not _QUERY_ID.fullmatch(query_id):
        raise BadAddressError(f"{query_id[:40]} is not a query id, which has 16 hexadecimal digits.")
    its_store = store()
    row = its_store.row("page_query_statement", query_id=int(query_id, 16))
    if row is None:
        raise NotFoundError(
            f"No statement with the query id {query_id.upper()} is stored; search for its text."
        )
    its = Statement(its_store.rows, row, span, _servers())
    if rendering.wants_csv():
        return _csv(its)
    with its_store.at_once() as start:
        its.read_all(start)
    return rendering.render("queries/statement.html", _title(row), span, **_context(its))


@blueprint.get("/tailrace/queries/<query_id>/samples/")
@page("queries")
def samples(query_id: str) -> Any:
    """Leads to the unmasked samples of a statement, or says which role shows them."""
    span = rendering.page_range()
    if not _QUERY_ID.fullmatch(query_id):
        raise BadAddressError(f"{query_id[:40]} is not a query id, which has 16 hexadecimal digits.")
    if not sees_dashboard(SAMPLES):
        raise ForbiddenError(
            "Unmasked samples are statements with their literals. The role Tailrace unmasked samples shows "
            "them, in addition to yours; the administrator assigns it, and every access is recorded."
        )
    filters = {"query-id": ("query_id", query_id.upper())}
    return redirect(request.script_root + dashboard_links.address(SAMPLES, span, filters))


def _context(its: Statement) -> dict[str, Any]:
    shown = its.buckets
    marks = trend.marks(its.plan_changes, its.versions, its.ddl_of_range)
    return {
        "query_id": listing.shown_id(its.row["id"]),
        "row": its.row,
        "text": formatting.formatted(its.row["query"]),
        "has_entries": bool(its.overview["server"]),
        "around_last_seen": _around(its),
        "limits": its.logging.limits(),
        "numbers": its.periods.numbers(),
        "obstacles": [*its.periods.obstacles(), *trend.obstacles(shown)],
        "begin": its.begin,
        "load": trend.load_chart(shown, marks),
        "latency": trend.latency_chart(shown, marks),
        "marks": marks,
        "times_of_marks": [datetime.fromtimestamp(mark["time"], UTC) for mark in marks],
        "heat": trend.heat_map(shown),
        "trees": plans.trees(its.plans, its.plan_changes),
        "constant": plans.constant(its.plans),
        "versions": trend.versions(its.versions),
        "advice": plans.advice(its.plans, its.row["query"], its.ddl),
        "shown_rows": _shown_rows(its),
        "whole": request.args.get("all", ""),
        "shown_parts": _parts(its),
        "setup": f"{request.script_root}{links.address('setup')}" if rendering.has_page("Setup") else "",
        "plans_known": its.plans_known,
        "detail_span": its.detail_span if its.detail_span is not its.span else None,
        "rows": {
            "buckets": trend.known(shown),
            **{name: _rows(its, name) for name in tables.COLUMNS if name != "buckets"},
        },
        "columns": tables.COLUMNS,
        "dashboards": [(title, _dashboard(slug, its)) for title, slug in RAW.items()],
        "others": [(listing.shown_id(each), _address(each, its.span)) for each in its.row["others"]],
    }


def _rows(its: Statement, name: str) -> list[dict[str, Any]]:
    """Returns the rows of a table of tables.COLUMNS."""
    entity = _entity(its.span)
    read: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "buckets": lambda: its.buckets,
        "servers": lambda: tables.servers(its.overview["server"], its.logging.rows),
        "counters": lambda: its.counters,
        "callers": lambda: tables.callers(
            its.callers, entity, sum(row["total_seconds"] for row in its.callers)
        ),
        "plans": lambda: tables.plans(its.plans, its.plan_load, its.plans_known),
        "changes": lambda: tables.changes(its.plan_changes),
        "requests": lambda: tables.requests(its.requests, lambda trace: _trace(trace, its.span)),
        "ddl": lambda: tables.ddl(its.ddl_of_range, entity),
        "deadlocks": lambda: deadlocks.table(
            its.deadlocks, its.callers, entity, lambda id_: _address(id_, its.span)
        ),
        "lock_waits": lambda: lock_waits.table(its.lock_waits, entity),
        "tables": lambda: tables.tables(
            its.tables["reads"], its.tables["writes"], its.sizes, entity, its.plans
        ),
    }
    return read[name]()


def _shown_rows(its: Statement) -> dict[str, int]:
    """Returns how many rows the page shows of each table of CUT."""
    known = {
        "callers": its.callers,
        "ddl": its.ddl_of_range,
        "deadlocks": its.deadlocks,
        "lock_waits": its.lock_waits,
    }
    whole = request.args.get("all", "")
    return {name: max(MOST_CALLERS, len(known[name])) if name == whole else MOST_CALLERS for name in CUT}


def _parts(its: Statement) -> dict[str, str]:
    """Returns how many of all rows the tables of CUT show."""
    most, callers = _shown_rows(its), its.callers[0]["groups"] if its.callers else 0
    found = {"callers": tables.part(most["callers"], len(its.callers), callers, "first")}
    for name, rows in (
        ("ddl", its.ddl_of_range),
        ("deadlocks", its.deadlocks),
        ("lock_waits", its.lock_waits),
    ):
        is_cut = len(its.ddl if name == "ddl" else rows) >= tables.MOST_EVENTS
        found[name] = tables.part(most[name], len(rows), 0 if is_cut else len(rows), "latest")
    return found


def _csv(its: Statement) -> Any:
    name = request.args.get("table", "callers")
    if name not in tables.COLUMNS:
        raise BadAddressError(f"table={name} does not exist; there are {', '.join(tables.COLUMNS)}.")
    return rendering.csv_answer(
        f"query-{listing.shown_id(its.row['id'])}-{name}", tables.COLUMNS[name], _rows(its, name)
    )


def _title(row: dict[str, Any]) -> str:
    """Returns the verb and the tables, such as `SELECT shop.orders`."""
    names = ", ".join([*row["writes"], *row["reads"]][:3])
    return f"{row['verb'] or 'Statement'} {names}".strip()


def _around(its: Statement) -> str:
    """Returns the address of this page for the day before the statement was last seen."""
    last = its.row["last_seen"]
    span = TimeRange(last.replace(minute=0, second=0) - 23 * _HOUR, last.replace(minute=0, second=0) + _HOUR)
    return _address(its.row["id"], span)


def _linked(rows: list[dict[str, Any]], span: TimeRange) -> list[dict[str, Any]]:
    return [{**row, "address": _address(int(row["query_id"], 16), span)} for row in rows]


def _address(number: int, span: TimeRange) -> str:
    kept = {name: value for name, value in _servers().items() if value}
    return url_for(
        "tailrace_queries.statement", query_id=listing.shown_id(number), **span.arguments(), **kept
    )


def _entity(span: TimeRange) -> tables.Entity:
    """Returns a function that returns the address of a user, client or table: its page, or for a role without
    that page the search for its events. Applications and endpoints have only a search."""

    def address(kind: str, name: str) -> str:
        if kind in ENTITIES and viewer().may("entities"):
            return request.script_root + ENTITIES[kind](name, span)
        return request.script_root + links.search(kind, name, span) if viewer().may("search") else ""

    return address


def _dashboard(slug: str, its: Statement) -> str:
    filters = {"query-id": ("query_id", listing.shown_id(its.row["id"]))}
    return request.script_root + dashboard_links.address(slug, its.span, filters)


def _trace(trace: str, span: TimeRange) -> str:
    filters = {"trace-id": ("trace_id", trace)}
    return request.script_root + dashboard_links.address("traces", span, filters, "TAB-traces-one-trace")


def _servers() -> dict[str, str]:
    """Returns the filters of this request's address."""
    return {name: request.args.get(name, "") for name in ("cluster", "instance")}
