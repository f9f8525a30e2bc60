"""The routes of the page Retention."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, request

from tailrace.evidence.parameters import retention
from tailrace.migrations import expiry
from tailrace.migrations.retention import waiting_tables
from tailrace.retention import archive, demands, holds, overview, record
from tailrace.retention.overview import Policy
from tailrace_pages import rendering
from tailrace_pages.page import Page
from tailrace_pages.page_errors import NotFoundError
from tailrace_pages.retention import listing
from tailrace_pages.store import store
from tailrace_pages.viewer import page

PAGE = Page("Retention", "/tailrace/retention/")
blueprint = Blueprint("tailrace_retention", __name__)


class Reading:
    """The viewer's access to ClickHouse, in the form that tailrace.retention reads."""

    def rows(self, statement: str, parameters: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
        return store().rows(statement, **(parameters or {}))


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
        holds=listing.hold_rows(held),
        deletion_columns=listing.DELETIONS,
        deletions=deleted,
    )


def _policy() -> Policy:
    days = retention()
    return Policy(days, expiry.times(days), waiting_tables(archive.tables(Reading())))
