"""The routes of the pages of rules."""

from datetime import timedelta
from typing import Any

from flask import Blueprint, request

from tailrace.alerts import exception_proposals
from tailrace.rules import catalog
from tailrace.rules.catalog import RuleText
from tailrace_pages import links, rendering
from tailrace_pages.alerts import active_suppressions, forms, handling
from tailrace_pages.page import Page
from tailrace_pages.page_errors import BadAddressError, NotFoundError
from tailrace_pages.read_bars import ReadBars
from tailrace_pages.rules import backtests, listing
from tailrace_pages.store import store
from tailrace_pages.time_range import SQL_TIME, TimeRange
from tailrace_pages.viewer import page, viewer

PAGE = Page("Rules", "/tailrace/rules/")
blueprint = Blueprint("tailrace_rules", __name__)

RANGE = "30d"
ENTITIES = 20
PROPOSAL_DAYS = 90
TABLES = ("days", "entities", "servers", "backtest")


@blueprint.get("/tailrace/rules/")
@page("rules")
def rules() -> Any:
    """All rules with their alerts."""
    span, text = rendering.page_range(RANGE), request.args.get("q", "").strip()
    found = listing.rules(
        catalog.load(),
        store().rows("page_rules", rule="", by_day=0, **span.parameters()),
        store().rows("page_rule_servers", rule=""),
    )
    order, reach = _choice("order", listing.ORDERS), _choice("show", listing.REACHES)
    named = [row for row in found if text.lower() in f"{row['title']} {row['file']} {row['rule_id']}".lower()]
    shown = listing.in_order(listing.with_reach(named, reach), order)
    if rendering.wants_csv():
        return rendering.csv_answer("rules", listing.RULES_CSV, shown)
    return rendering.render(
        "rules/rules.html",
        PAGE.title,
        span,
        text=text,
        columns=listing.RULES,
        rows=shown,
        caption=listing.caption(shown, len(found), order),
        orders=_choices("order", listing.ORDERS, order),
        reaches=_choices("show", listing.REACHES, reach),
    )


def _choice(name: str, values: dict[str, str]) -> str:
    """Returns the value of an argument; the first of `values` without it. Raises BadAddressError."""
    default = next(iter(values))
    given = request.args.get(name, default)
    if given not in values:
        raise BadAddressError(f"{name}={given} does not exist; there are {', '.join(filter(None, values))}.")
    return given


def _choices(name: str, values: dict[str, str], current: str) -> list[tuple[str, str, bool]]:
    """Returns title, address and whether it is the current one, for each value of an argument."""
    default = next(iter(values))
    return [
        (title, rendering.changed(**{name: None if value == default else value}), value == current)
        for value, title in values.items()
    ]


@blueprint.get("/tailrace/rules/<path:key>/")
@page("rules")
def rule(key: str) -> Any:
    """One rule."""
    key, span = links.decode(key), rendering.page_range(RANGE)
    text = catalog.load().get(key)
    given = {"rule": key, **span.parameters()}
    days = listing.days(store().rows("page_rules", by_day=1, **given), span, _read(span))
    servers = store().rows("page_rule_servers", rule=key)
    counted = _counted(key, span)
    if text is None and not servers and counted is None:
        raise NotFoundError(f"There is no rule {key}, or it has no alert that you may see.")
    entities = listing.entities(store().rows("page_rule_entities", limit=ENTITIES, **given), key, span)
    unable, backtest = listing.unable(servers), backtests.latest(key, viewer().audience)
    if rendering.wants_csv():
        return _csv(days, entities, unable, backtest)
    return rendering.render(
        "rules/rule.html",
        _title(key, text, counted, servers),
        span,
        key=key,
        rule=text,
        level=text.level if text else counted["latest_level"] if counted else servers[0]["level"],
        attack=listing.attack(text.tags) if text else "",
        numbers=listing.numbers(days),
        chart=listing.chart(days),
        chart_columns=listing.DAYS,
        chart_rows=[row for row in days if any(row[name] for name in listing.OUTCOMES)],
        entity_columns=listing.ENTITIES,
        entities=entities,
        server_columns=listing.SERVERS,
        unable=unable,
        servers=len(servers),
        proposals=_proposals(key),
        proposal_days=PROPOSAL_DAYS,
        **_of_backtests(backtest),
        alerts=links.alerts(span, rule=key, state="any"),
        suppressions=active_suppressions.of_rule(active_suppressions.read(store()), key),
        restricted=forms.restricted(),
        **forms.choices(),
        csv_of=lambda table: rendering.changed(format="csv", table=table),
    )


@blueprint.post("/tailrace/rules/<path:key>/suppressions/")
@page("handle_alerts")
def suppress_rule(key: str) -> Any:
    """Suppresses a rule of the files, or one that had alerts, for every entity."""
    key = links.decode(key)
    if key not in catalog.load() and _counted(key, rendering.page_range(RANGE)) is None:
        raise NotFoundError(f"There is no rule {key}, or it has no alert that you may see.")
    given = (key, request.form, viewer().name, forms.restricted())
    return forms.done(lambda: handling.suppress_rule(*given), str)


@blueprint.post("/tailrace/rules/<path:key>/backtests/")
@page("test_rules")
def start_backtest(key: str) -> Any:
    """Starts a backtest of a rule of the files."""
    key = links.decode(key)
    if key not in catalog.load():
        raise NotFoundError(f"The rule files of this installation have no rule {key}.")
    message, kind = backtests.start(key, request.form.get("days", ""), viewer().name)
    return rendering.back_with(message, request.script_root + links.rule(key) + "#backtest", kind)


def _of_backtests(latest: dict[str, Any]) -> dict[str, Any]:
    """Returns the names of the template's part about backtests."""
    return {
        "backtest": latest,
        "backtest_columns": backtests.RESULT,
        "days": backtests.DAYS,
        "may_test": viewer().may("test_rules"),
    }


def _read(span: TimeRange) -> ReadBars:
    """Returns on which days logs were read."""
    given = {"clusters": [], "servers": [], "sources": sorted(listing.SOURCES), "width": listing.DAY}
    return ReadBars(store().rows("page_entity_coverage", **given, **span.parameters()))


def _counted(key: str, span: TimeRange) -> dict[str, Any] | None:
    """Returns the numbers of a rule, also if it had alerts at another time only."""
    always = {"from": "2000-01-01 00:00:00", "to": f"{span.until + timedelta(days=366):{SQL_TIME}}"}
    return store().row("page_rules", rule=key, by_day=0, **always)


def _title(key: str, text: RuleText | None, counted: dict | None, servers: list[dict]) -> str:
    return text.title if text else counted["title"] if counted else servers[0]["title"] or key


def _proposals(key: str) -> list[dict[str, Any]]:
    since = rendering.now() - timedelta(days=PROPOSAL_DAYS)
    found = store().rows(exception_proposals.QUERY, rule=key, since=f"{since:{SQL_TIME}}")
    results = [exception_proposals.proposed(each) for each in exception_proposals.rules_of(found)]
    return [row for accepted, refused in results for row in listing.proposals(accepted, refused)]


def _csv(days: list, entities: list, unable: list, backtest: dict[str, Any]) -> Any:
    name = request.args.get("table", "days")
    tables = {
        "days": (listing.DAYS, days),
        "entities": (listing.ENTITIES, entities),
        "servers": (listing.SERVERS, unable),
        "backtest": (backtests.RESULT, backtest["latest"]["rows"] if backtest["latest"] else []),
    }
    if name not in tables:
        raise BadAddressError(f"table={name} does not exist; there are {', '.join(TABLES)}.")
    return rendering.csv_answer(name, *tables[name])
