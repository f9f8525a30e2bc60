"""The routes of the page Setup. Everything they do is in the other modules of this package."""

from typing import Any

from flask import Blueprint, request, url_for

from tailrace_pages import rendering
from tailrace_pages.page import Page
from tailrace_pages.page_errors import NotFoundError
from tailrace_pages.setup import listing, reading, rules, servers
from tailrace_pages.store import store
from tailrace_pages.viewer import page, viewer

PAGE = Page("Setup", "/tailrace/setup/")
blueprint = Blueprint("tailrace_setup", __name__)


@blueprint.get("/tailrace/setup/")
@page("setup")
def index() -> Any:
    """All servers, or one server with its problems and the rules that cannot fire there."""
    instance = request.args.get("instance", "")
    sees_all = viewer().audience != reading.DEVELOPERS
    found = reading.found(store(), rendering.now(), instance, sees_all)
    if instance:
        return _one(instance, found)
    known = servers.servers(found)
    text = request.args.get("q", "").strip()
    listed = listing.of_name(known, text)
    if rendering.wants_csv():
        return rendering.csv_answer("setup", listing.CSV_SOURCES, listing.csv_rows(listed))
    number = rendering.page_number(listing.pages(listed))
    shown = listing.page(listed, number)
    return rendering.render(
        "setup/index.html",
        "Setup",
        text=text,
        number=number,
        more=number < listing.pages(listed),
        is_paged=len(known) > listing.PAGE_SIZE,
        numbers=listing.headline(
            known, reading.traces(store(), rendering.now()), reading.pull_costs(store(), rendering.now())
        ),
        columns=(*listing.SERVERS, listing.RULES) if sees_all else listing.SERVERS,
        rows=listing.server_rows(shown, _address),
    )


def _one(instance: str, found: servers.Found) -> Any:
    known = [each for each in servers.servers(found) if each.instance == instance]
    if not known:
        raise NotFoundError("There is no data of this server; Setup without a filter lists the known ones.")
    (server,) = known
    coverage = reading.rules(store(), instance) if found.sees_all else []
    groups = rules.groups(coverage, server.watched(), server.product.name if server.product else "")
    if rendering.wants_csv() and request.args.get("table") == "rules":
        return rendering.csv_answer("rules", listing.CSV_RULES, listing.rule_rows(groups))
    costs = listing.cost_rows(reading.pull_costs(store(), rendering.now(), instance))
    if rendering.wants_csv() and request.args.get("table") == "costs":
        return rendering.csv_answer("costs", listing.COSTS, costs)
    if rendering.wants_csv():
        return rendering.csv_answer("setup", listing.CSV_SOURCES, listing.csv_rows(known))
    return rendering.render(
        "setup/server.html",
        f"Setup of {instance}",
        server=server,
        product=listing.product_text(server),
        columns=listing.SOURCES,
        rows=listing.source_rows(server),
        cost_columns=listing.COSTS,
        costs=costs,
        groups=groups,
        rules_text=listing.rules_text(server),
        sees_all=found.sees_all,
    )


def _address(instance: str) -> str:
    return url_for("tailrace_setup.index", instance=instance)
