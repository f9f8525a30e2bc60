"""The routes of the alert inbox. Everything they do is in the other modules of this package."""

from typing import Any

from flask import Blueprint, request, url_for

from tailrace_pages import rendering
from tailrace_pages.alerts import filters, listing
from tailrace_pages.page import Page
from tailrace_pages.page_errors import BadAddressError
from tailrace_pages.store import store
from tailrace_pages.viewer import page, viewer

PAGE = Page("Alert inbox", "/tailrace/alerts/")
blueprint = Blueprint("tailrace_alerts", __name__)


@blueprint.get("/tailrace/alerts/")
@page("read_alerts")
def inbox() -> Any:
    """The list of alerts."""
    wanted, span, seen_by = filters.parse(request.args), rendering.page_range(filters.RANGE), viewer().name
    if rendering.wants_csv():
        return rendering.csv_answer(
            "alerts", listing.CSV_COLUMNS, listing.all_of(store(), wanted, span, seen_by)
        )
    number = _page_number()
    rows, more = listing.page_of(store(), wanted, span, seen_by, number, rendering.PAGE_SIZE)
    counted = listing.counts(store(), wanted.with_level(""), span, seen_by)
    return rendering.render(
        "alerts/inbox.html",
        "Alert inbox",
        span,
        columns=listing.COLUMNS,
        rows=rows,
        more=more,
        number=number,
        counted=counted,
        levels=listing.headline(counted["levels"], _level_addresses()),
        filters=wanted,
        choices=filters.CHOICES,
        presets=[(name, _address(given, span)) for name, given in filters.PRESETS.items()],
    )


def _address(arguments: dict[str, str], span: Any) -> str:
    return url_for("tailrace_alerts.inbox", **arguments, **span.arguments())


def _level_addresses() -> dict[str, str]:
    levels = filters.CHOICES["level"]
    return {level: rendering.changed(level=level, page=None) for level in levels if level}


def _page_number() -> int:
    text = request.args.get("page", "1")
    if not text.isdigit() or not 1 <= int(text) <= 10_000:
        raise BadAddressError(f"page={text} is not the number of a page, which begins with 1.")
    return int(text)
