"""The routes of the page Retention."""

from typing import Any

from flask import request, url_for

from tailrace.evidence.parameters import retention
from tailrace.migrations import expiry
from tailrace.migrations.retention import waiting_tables
from tailrace.retention import archive, demands, holds, overview, record
from tailrace.retention.overview import Policy
from tailrace_pages import rendering
from tailrace_pages.page_errors import NotFoundError
from tailrace_pages.retention import hold_views, listing
from tailrace_pages.retention.blueprint import PAGE, blueprint
from tailrace_pages.retention.reading import Reading
from tailrace_pages.viewer import page, viewer

__all__ = ["PAGE", "blueprint", "hold_views"]
"""The import of hold_views adds the routes of legal holds."""


@blueprint.get("/tailrace/retention/")
@page("retention")
def index() -> Any:
    """All tables with their retention, for all frameworks or one, the legal holds and recorded deletions."""
    wanted = request.args.get("framework", "")
    known = demands.frameworks()
    if wanted and wanted not in known:
        raise NotFoundError(f"There is no framework {wanted}; there are {', '.join(known)}.")
    held = holds.listed(Reading())
    lines = overview.lines(Reading(), _policy(), [wanted] if wanted else list(known))
    if rendering.wants_csv() and request.args.get("table") == "holds":
        return rendering.csv_answer("holds", listing.HOLDS, listing.hold_rows(held))
    deleted = listing.deletion_rows(record.listed(Reading()))
    if rendering.wants_csv() and request.args.get("table") == "deletions":
        return rendering.csv_answer("deletions", listing.DELETIONS, deleted)
    if rendering.wants_csv():
        return rendering.csv_answer("retention", listing.CSV_TABLES, listing.rows(lines))
    return rendering.render(
        "retention/index.html",
        "Retention",
        numbers=listing.headline(lines, held),
        frameworks=known,
        wanted=wanted,
        columns=listing.TABLES,
        rows=listing.rows(lines),
        clauses=list(dict.fromkeys((each.text, each.asks) for line in lines for each in line.demands)),
        hold_columns=listing.HOLDS,
        holds=listing.hold_rows(held, lambda id_: url_for("tailrace_retention.hold", id_=id_)),
        may_hold=viewer().may("place_holds"),
        deletion_columns=listing.DELETIONS,
        deletions=deleted,
    )


def _policy() -> Policy:
    days = retention()
    return Policy(days, expiry.times(days), waiting_tables(archive.tables(Reading())))
