"""The routes of the page Evidence. Everything they do is in the other modules of this package."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from flask import Blueprint, Response, jsonify, request, url_for

from tailrace.evidence import framework as frameworks
from tailrace.evidence.framework import Framework, Result
from tailrace.evidence.parameters import parameters
from tailrace.evidence.service.client import MAX_UPLOAD_BYTES, ServiceError
from tailrace_pages import csv_table, dashboard_links, formats, links, rendering
from tailrace_pages.evidence import actions, bundles, gaps, periods, reviewing, rows
from tailrace_pages.page import Page
from tailrace_pages.page_errors import BadAddressError, NotFoundError
from tailrace_pages.store import Store, store
from tailrace_pages.time_range import TimeRange
from tailrace_pages.viewer import page, viewer

PAGE = Page("Evidence", "/tailrace/evidence/")
blueprint = Blueprint("tailrace_evidence", __name__)

DEFAULT_FRAMEWORK, DEFAULT_RANGE = "pci", "30d"
COVERAGE = "page_evidence_coverage"
INTERVALS = "coverage"
"""The result whose intervals `?covered=no` reads."""
NOT_COVERED_TITLE = "Intervals that are not covered, audit logs first"
"""A file of sql/queries."""
AUDITED = "evidence_servers"
"""A file of sql/queries: the result `servers`."""
DAYS, REVIEWS = "days_without_review", "reviews"
"""Results that the first page shows."""
MAX_SHARED = 10_000
SHOWN_SERVERS, SHOWN_REVIEWS, SHOWN_EXPORTS = 20, 10, 5
CHUNK_BYTES = 1 << 20

_ID = re.compile(r"[0-9a-f]{32}")


@blueprint.get("/tailrace/evidence/")
@page("evidence")
def index() -> Any:
    """Gaps first, then the requirements of a framework, and the forms."""
    known, span = _framework(request.args.get("framework") or DEFAULT_FRAMEWORK), _span()
    its_store = store()
    with its_store.at_once() as start:
        coverage = start(lambda: its_store.rows(COVERAGE, **span.parameters()))
        days_read = start(lambda: _shared(its_store, known, span, DAYS))
        reviews_read = start(lambda: _shared(its_store, known, span, REVIEWS))
        audited = its_store.rows(AUDITED, **span.parameters())
        servers = gaps.by_server(audited, coverage())
    if rendering.wants_csv():
        return rendering.csv_answer("evidence-gaps", gaps.COLUMNS, servers)
    days, reviews = days_read(), reviews_read()
    service = actions.state()
    return rendering.render(
        "evidence/index.html",
        "Evidence",
        span,
        known=known,
        frameworks=[(name, frameworks.load(name).title) for name in frameworks.names()],
        calendar=[
            (title, _address(known.name, each)) for title, each in periods.calendar(rendering.now()).items()
        ],
        numbers=gaps.headline(servers, days, {name: _link(known, span, name) for name in known.results}),
        gap_columns=gaps.COLUMNS,
        servers=servers[:SHOWN_SERVERS],
        more_servers=max(0, len(servers) - SHOWN_SERVERS),
        requirements=[
            (each, [_entry(known, span, name) for name in each.results]) for each in known.requirements
        ],
        **_of_reviews(known, span, servers, reviews, days),
        data_class=_data_class(known, span),
        service={**service, "exports": service["exports"][:SHOWN_EXPORTS]},
        period=periods.texts(span),
        upload_limit=formats.size(MAX_UPLOAD_BYTES),
        links={name: _link(known, span, name) for name in known.results},
        not_covered=_link(known, span, INTERVALS, covered="no"),
    )


def _of_reviews(
    known: Framework, span: TimeRange, servers: list, reviews: list, days: list
) -> dict[str, Any]:
    """The list of signed reviews, and the form that signs one."""
    names, corrects = [row["instance"] for row in servers], request.args.get("corrects", "")
    first_day = days[0]["day_without_review"] if days else None
    return {
        "reviews": reviewing.listed(reviews[:SHOWN_REVIEWS], lambda id_: _correcting(known, span, id_)),
        "review_columns": reviewing.COLUMNS,
        "review_form": reviewing.form(span, names, reviews, corrects, rendering.now(), first_day),
        "unseen": gaps.unseen(servers),
    }


@blueprint.get("/tailrace/evidence/<framework>/<result>/")
@page("evidence")
def result_rows(framework: str, result: str) -> Any:
    """The rows of one result."""
    known, span = _framework(framework), _span()
    wanted, number = _result(known, result), _page_number()
    if rendering.wants_csv():
        found = _rows(known, span, result, csv_table.LIMIT + 1)
        return rendering.csv_answer(f"{framework}-{result}", rows.complete(found, wanted), found)
    found = _rows(known, span, result, rendering.PAGE_SIZE + 1, (number - 1) * rendering.PAGE_SIZE)
    shown = found[: rendering.PAGE_SIZE]
    return rendering.render(
        "evidence/rows.html",
        NOT_COVERED_TITLE if _without_covered(result) else wanted.title,
        span,
        known=known,
        result=wanted,
        columns=rows.shown(wanted, shown),
        rows=shown,
        more=len(found) > len(shown),
        number=number,
        back=_address(known.name, span),
        served=[each for each in known.requirements if result in each.results],
        dashboard=_dashboard(result, span),
    )


@blueprint.get("/tailrace/evidence/<framework>/<result>/count")
@page("evidence")
def result_count(framework: str, result: str) -> Any:
    """The number of rows of one result, as JSON: the first page loads these numbers one after the other."""
    known, span = _framework(framework), _span()
    found = store().row(rows.count_of(_result(known, result)), **_parameters(known, span))
    return jsonify(rows=found["counted"])


@blueprint.post("/tailrace/evidence/exports/")
@page("evidence")
def start_export() -> Any:
    """Starts an export, and leads to its progress."""
    known = _framework(request.form.get("framework", ""))
    first, end = request.form.get("from", ""), request.form.get("to", "")
    seen_by = viewer()
    try:
        number = actions.start(known.name, first, end, seen_by.name, seen_by.audience)
    except ServiceError as error:
        return rendering.back_with(f"Not exported: {error}.", _form_address(), "failed")
    return rendering.back_with("The export was started.", url_for("tailrace_evidence.export", number=number))


@blueprint.get("/tailrace/evidence/exports/<number>/")
@page("evidence")
def export(number: str) -> Any:
    """The progress of an export, and its bundle."""
    state = actions.export(_id(number))
    return rendering.render(
        "evidence/export.html", "Export of evidence", state=state, known=_framework(state["framework"])
    )


@blueprint.get("/tailrace/evidence/exports/<number>/bundle")
@page("evidence")
def bundle(number: str) -> Any:
    """The bundle of a successful export, for viewers who see all servers."""
    database = viewer().audience
    state = _with_bundle(number, database)
    answer = Response(_chunks(number, database), mimetype="application/zip")
    answer.headers["Content-Length"] = str(state["bytes"])
    answer.headers["Content-Disposition"] = f'attachment; filename="{state["file"]}"'
    answer.headers["Cache-Control"] = "no-store"
    return answer


@blueprint.post("/tailrace/evidence/exports/<number>/verification")
@page("evidence")
def verify_export(number: str) -> Any:
    """Verifies the stored bundle of an export, and leads to the result."""
    database = viewer().audience
    state = _with_bundle(number, database)
    try:
        with actions.bundle(number, database) as (answer, size):
            checked = actions.verify(answer, size)
    except ServiceError as error:
        return rendering.back_with(
            f"Not verified: {error}.", url_for("tailrace_evidence.export", number=number), "failed"
        )
    return rendering.back_with(
        f"Checked: {state['file']}", url_for("tailrace_evidence.verification", number=checked)
    )


@blueprint.post("/tailrace/evidence/verifications/")
@page("evidence")
def start_verification() -> Any:
    """Verifies an uploaded bundle, and leads to the result."""
    uploaded = request.files.get("bundle")
    if uploaded is None or not uploaded.filename:
        return rendering.back_with("Not verified: choose a bundle first.", _form_address(), "failed")
    size = uploaded.stream.seek(0, 2)
    uploaded.stream.seek(0)
    try:
        number = actions.verify(uploaded.stream, size)
    except ServiceError as error:
        return rendering.back_with(f"Not verified: {error}.", _form_address(), "failed")
    return rendering.back_with(
        f"Checked: {uploaded.filename}", url_for("tailrace_evidence.verification", number=number)
    )


@blueprint.get("/tailrace/evidence/verifications/<number>/")
@page("evidence")
def verification(number: str) -> Any:
    """The checks of a verified bundle."""
    found = actions.verification(_id(number))
    its_facts = bundles.stated(found["about"])
    return rendering.render(
        "evidence/verification.html", "Verification of a bundle", found=found, stated=its_facts
    )


@blueprint.post("/tailrace/evidence/reviews/")
@page("evidence")
def sign_review() -> Any:
    """Signs a review under the viewer's name."""
    seen_by = viewer()
    given = reviewing.signed(request.form, request.form.getlist("servers"))
    try:
        actions.sign({**given, "actor": seen_by.name}, seen_by.audience)
    except ServiceError as error:
        return rendering.back_with(f"Not signed: {error}.", _form_address(), "failed")
    return rendering.back_with(f"{seen_by.name} signed {reviewing.in_words(given)}.", _form_address())


def _framework(name: str) -> Framework:
    if name not in frameworks.names():
        raise BadAddressError(f"There is no framework {name}; there are {', '.join(frameworks.names())}.")
    return frameworks.load(name)


def _result(known: Framework, name: str) -> Result:
    if name not in known.results:
        raise NotFoundError(f"{known.title} has no result {name}.")
    return known.results[name]


def _span() -> TimeRange:
    return periods.in_minutes(rendering.page_range(DEFAULT_RANGE))


def _parameters(known: Framework, span: TimeRange) -> dict[str, Any]:
    return parameters(known, periods.period_of(span))


def _rows(known: Framework, span: TimeRange, name: str, limit: int, offset: int = 0) -> list[dict[str, Any]]:
    given = {**_parameters(known, span), "limit": limit, "offset": offset}
    query = rows.not_covered if _without_covered(name) else rows.page_of
    return store().rows(query(_result(known, name)), **given)


def _without_covered(result: str) -> bool:
    return result == INTERVALS and request.args.get("covered") == "no"


def _shared(its_store: Store, known: Framework, span: TimeRange, name: str) -> list[dict[str, Any]]:
    """Returns the rows of a result that the first page shows with every framework."""
    given = {**_parameters(known, span), "limit": MAX_SHARED, "offset": 0}
    return its_store.rows(rows.page_of(frameworks.result(name)), **given)


def _entry(known: Framework, span: TimeRange, name: str) -> Mapping[str, str]:
    """Returns title, link and the address of the number of rows of a result."""
    given = {"framework": known.name, "result": name, **span.arguments()}
    return {
        "title": known.results[name].title,
        "link": _link(known, span, name),
        "count": url_for("tailrace_evidence.result_count", **given),
    }


def _data_class(known: Framework, span: TimeRange) -> dict[str, str] | None:
    """Returns the data class that a framework is about, with the address of its patterns."""
    name = known.parameters.get("class")
    if not name:
        return None
    page_of_class = links.address("entities", "class", name, arguments=span.arguments())
    return {"name": name, "address": f"{page_of_class}#patterns"}


def _link(known: Framework, span: TimeRange, name: str, **more: str) -> str:
    given = {"framework": known.name, "result": name, **span.arguments(), **more}
    return url_for("tailrace_evidence.result_rows", **given)


def _address(framework: str, span: TimeRange) -> str:
    return url_for("tailrace_evidence.index", framework=framework, **span.arguments())


def _dashboard(result: str, span: TimeRange) -> tuple[str, str] | None:
    """Returns title and address of the dashboard with totals of a result, None without one."""
    if result not in rows.DASHBOARDS:
        return None
    title, slug = rows.DASHBOARDS[result]
    return title, request.script_root + dashboard_links.address(slug, span, {})


def _correcting(known: Framework, span: TimeRange, review: str) -> str:
    """Returns the address of the form that corrects a review."""
    given = {"framework": known.name, "corrects": review, **span.arguments()}
    return url_for("tailrace_evidence.index", **given, _anchor="review")


def _form_address() -> str:
    """Returns the page with the framework and the period from which the form was posted, if valid."""
    given = {name: request.form.get(name, "") for name in ("framework", "from", "to")}
    given |= {name: shown for name in ("from", "to") if (shown := request.form.get(f"shown_{name}"))}
    try:
        span = periods.in_minutes(rendering.time_range.parse(given, rendering.now()))
        return _address(_framework(given["framework"] or DEFAULT_FRAMEWORK).name, span)
    except BadAddressError:
        return url_for("tailrace_evidence.index")


def _page_number() -> int:
    text = request.args.get("page", "1")
    if not text.isdecimal() or not 1 <= int(text) <= 10_000:
        raise BadAddressError(f"page={text} is not the number of a page, which begins with 1.")
    return int(text)


def _id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise NotFoundError("There is nothing with this id.")
    return text


def _with_bundle(number: str, database: str) -> dict[str, Any]:
    """Returns the state of a successful export that this viewer may read. Raises PageError."""
    state = actions.readable(_id(number), database)
    if state["state"] != "done":
        raise NotFoundError("This export has no bundle.")
    return state


def _chunks(number: str, database: str) -> Iterator[bytes]:
    with actions.bundle(number, database) as (answer, _):
        while chunk := answer.read(CHUNK_BYTES):
            yield chunk
