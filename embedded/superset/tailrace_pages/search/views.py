"""The routes of the page Search. Everything they do is in the other modules of this package."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from flask import request, url_for

from tailrace.search import (
    DeniedError,
    Request,
    SearchError,
    SearchQuery,
    aggregated,
    listing,
    notes,
    parse,
    text_of,
)
from tailrace.search.compiler import searched_logs
from tailrace.search.fields import LOGS
from tailrace.search.model import Count, Timeline, Top
from tailrace.search.paging import cursor
from tailrace_pages import analyst, csv_table, formats, rendering
from tailrace_pages.page_errors import PageError, UnavailableError
from tailrace_pages.read_bars import ReadBars
from tailrace_pages.search import asking, charts, known_logs, saved_views
from tailrace_pages.search import listing as shown
from tailrace_pages.search.blueprint import PAGE, blueprint
from tailrace_pages.store import store
from tailrace_pages.time_range import TimeRange
from tailrace_pages.viewer import page, viewer

__all__ = ["PAGE", "blueprint", "saved_views"]
"""Their import adds the routes of saved searches."""

COVERAGE = {True: "page_entity_coverage", False: "page_query_coverage"}
"""The query for the times of read logs, by whether the role reads audit logs."""
COUNT_SECONDS = 3
"""The longest time to count the events of a list."""


@blueprint.get("/tailrace/search/")
@page("search")
def search() -> Any:
    """The events or the numbers of `?q=`, or the form with examples."""
    text, span = request.args.get("q", "").strip(), rendering.menu_range()
    if not text:
        return _page("", span)
    try:
        query = parse(text)
        asked = asking.request_of(asking.within(query, span), viewer().audience, rendering.now(), _rows)
        return _found(text, query, asked, None if asking.has_time(query) else span)
    except SearchError as error:
        answer = _page(text, span, error=str(error))
        answer.status_code = 403 if isinstance(error, DeniedError) else 400
        return answer


def _rows(sql: str, parameters: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return store().rows(sql, **parameters)


def _found(text: str, query: SearchQuery, asked: Request, span: TimeRange | None) -> Any:
    linking = shown.Linking(asking.span_of(asked), rendering.has_page, _address)
    if query.pipe is None:
        return _events(text, asked, span, linking)
    rows = aggregated(_rows, asked)
    if isinstance(query.pipe, Timeline):
        drawn = charts.bars(rows, linking.span, query.pipe.seconds, _is_read(asked, linking.span))
        busy = [row for row in drawn if row["events"]]
        chart, bar = charts.timeline(drawn, query.pipe.seconds), formats.duration(query.pipe.seconds)
        found = {"chart": chart, "rows": busy, "bar": bar}
        return _answer(text, query, asked, span, found, drawn)
    if isinstance(query.pipe, Top):
        listed = shown.number_of_all(rows, query.pipe)
        found = shown.top(rows, query, linking, _number(asked) if listed is None else listed)
        return _answer(text, query, asked, span, {"bars": charts.top(rows), "rows": found}, found)
    found = shown.counted(rows, query, linking)
    return _answer(text, query, asked, span, {"rows": found}, found)


def _answer(
    text: str,
    query: SearchQuery,
    asked: Request,
    span: TimeRange | None,
    found: dict[str, Any],
    all_rows: Any,
) -> Any:
    """The numbers of a pipe."""
    columns = shown.pipe_columns(query.pipe)
    if rendering.wants_csv():
        return rendering.csv_answer("search", columns, all_rows)
    return _page(text, span, asked=asked, columns=columns, **found)


def _events(text: str, asked: Request, span: TimeRange | None, linking: shown.Linking) -> Any:
    if rendering.wants_csv():
        return rendering.csv_answer("search", shown.CSV_COLUMNS, shown.events(_all(asked), linking))
    place = request.args.get("before", "")
    found = listing(_rows, asked, shown.PAGE_SIZE, cursor(place) if place else None)
    following, rows = found.following, shown.events(found.events, linking)
    total = _total(asked) if place or following else len(rows)
    known = {} if rows or place else {"of_instances": _of_instances(parse(text), asked)}
    return _page(
        text,
        span,
        asked=asked,
        columns=shown.shown_columns(rows),
        rows=rows,
        caption=shown.caption(len(rows), total),
        count_all=_address(replace(parse(text), pipe=Count())) if total is None else "",
        first=rendering.changed(before=None) if place else "",
        following=rendering.changed(before=following.text()) if following else "",
        **known,
    )


def _of_instances(query: SearchQuery, asked: Request) -> list[tuple[str, str]]:
    """Returns texts and addresses of searches in which a word is the name of a server with events, with the
    other words and without them; for a search that found nothing."""
    words = asking.words(query)
    if not words:
        return []
    try:
        found = aggregated(_rows_soon, replace(asked, query=asking.of_instances(asked.query, words)))
    except UnavailableError:
        return []
    names = [row["value"] for row in found if row["value"] in words]
    searches = [each for name in names for each in asking.with_instance(query, name)]
    return [(text_of(each), _address(each)) for each in searches]


def _total(asked: Request) -> int | None:
    """Returns the number of events; None if counting takes too long, or for a long time range: these are
    counted only on request."""
    since, until = asked.span
    return None if until - since > shown.LONGEST_COUNTED else _number(asked)


def _number(asked: Request) -> int | None:
    counted = replace(asked, query=replace(asked.query, pipe=Count()))
    try:
        return sum(row["events"] for row in aggregated(_rows_soon, counted))
    except UnavailableError:
        return None


def _rows_soon(sql: str, parameters: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return _rows(f"{sql}\nSETTINGS max_execution_time = {COUNT_SECONDS}", parameters)


def _all(asked: Request) -> list[Mapping[str, Any]]:
    """Returns the events for a CSV file, at most one more than csv_table.LIMIT."""
    found: list[Mapping[str, Any]] = []
    place = None
    while True:
        page = listing(_rows, asked, shown.ROWS_AT_ONCE, place)
        found += page.events
        place = page.following
        if place is None or len(found) > csv_table.LIMIT:
            return found[: csv_table.LIMIT + 1]


def _is_read(asked: Request, span: TimeRange) -> Any:
    """Returns whether a log that the search can find was read in a bar; alerts come from any log."""
    logs = searched_logs(asked)
    sources = [source for log, source in known_logs.SOURCES.items() if log in logs or logs == {"alert"}]
    of_servers = {**asking.servers(asked.query), "sources": sources}
    given = {**of_servers, "width": asking.bar_seconds(asked.query), **span.parameters()}
    known = ReadBars(store().rows(COVERAGE["audit_events" in asked.role.tables], **given))
    return lambda start, end: known.is_read(start, end, sources)


def _known(asked: Request) -> known_logs.KnownLogs:
    """Returns what limits the answer; a search that answers does not fail because this is not read."""
    span = asking.span_of(asked)
    try:
        rows = store().rows(known_logs.QUERY, **asking.servers(asked.query), **span.parameters())
    except UnavailableError:
        return known_logs.KnownLogs(known_logs.UNREAD, begin_later=False)
    return known_logs.of(rows, searched_logs(asked), span)


def _address(query: SearchQuery) -> str:
    kept = {} if asking.has_time(query) else rendering.shown_range().arguments()
    return url_for("tailrace_search.search", q=text_of(query), **kept)


def _page(text: str, span: TimeRange | None, asked: Request | None = None, **found: Any) -> Any:
    defaults: dict[str, Any] = {
        "error": "",
        "rows": [],
        "columns": (),
        "chart": None,
        "bars": None,
        "bar": "",
        "caption": "",
        "count_all": "",
        "of_instances": [],
    }
    defaults |= {"first": "", "following": "", **found}
    role = asking.ROLES[viewer().audience]
    logs = set().union(*(source.columns["log"].values or () for source in role.sources))
    return rendering.render(
        "search/search.html",
        PAGE.title,
        span,
        text=text,
        asked=asked,
        hidden=[LOGS[log] for log in LOGS if log not in logs],
        role=role.name,
        pipe=asked.query.pipe if asked else None,
        own_time=asking.span_of(asked) if asked and span is None else None,
        notes=notes(asked.query) if asked else [],
        known=_known(asked) if asked else None,
        meant=[(text_of(each), _address(each)) for each in asking.meant(parse(text))] if asked else [],
        other_words=_with_other_words(parse(text)) if asked else None,
        fields=shown.fields(role.name),
        field_columns=shown.FIELDS,
        saved=[] if text else _saved(),
        can_save=analyst.is_there(),
        examples=[
            (example, _of_text(example), what)
            for example, what in asking.examples(viewer().audience, rendering.now())
        ],
        back=request.script_root + request.full_path.rstrip("?"),
        **defaults,
    )


def _with_other_words(query: SearchQuery) -> tuple[str, str] | None:
    other = asking.with_other_words(query)
    return (text_of(other), _address(other)) if other else None


def _saved() -> list[tuple[str, str]]:
    """Returns names and addresses of the saved searches that the viewer sees; the form works without them."""
    try:
        found = saved_views.seen() if analyst.is_there() else []
    except PageError:
        return []
    return [(each.name, _of_text(each.search)) for each in found]


def _of_text(text: str) -> str:
    """Returns the address of a search in the time range of the page, which applies unless it has its own."""
    return url_for("tailrace_search.search", q=text, **rendering.shown_range().arguments())
