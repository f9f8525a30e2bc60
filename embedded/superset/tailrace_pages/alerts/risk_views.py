"""The routes of risk scores. They belong to the blueprint of views.py."""

from typing import Any

from flask import request

from tailrace.alerts import risk as risk_scores
from tailrace_pages import formats, rendering
from tailrace_pages.alerts import risk
from tailrace_pages.alerts.blueprint import blueprint
from tailrace_pages.store import store
from tailrace_pages.viewer import page


@blueprint.get("/tailrace/alerts/risk/")
@page("read_alerts")
def risk_list() -> Any:
    """The users, clients and instances with the highest risk scores, or the explanation of one score."""
    kind, name = request.args.get("kind", ""), request.args.get("name", "")
    if kind or name:
        return _risk_of(kind, name)
    found = risk.entities(store(), rendering.now(), rendering.has_page("Users and clients"))
    if rendering.wants_csv():
        return rendering.csv_answer("risk", risk.ENTITIES_CSV, found)
    title = "Riskiest users, clients and instances"
    tables = risk.tables(found)
    return rendering.render("alerts/risk.html", title, columns=risk.ENTITIES, tables=tables, **_decay())


def _risk_of(kind: str, name: str) -> Any:
    rows = risk.contributions(store(), kind, name, rendering.now())
    if rendering.wants_csv():
        return rendering.csv_answer("risk", risk.CONTRIBUTIONS_CSV, rows)
    latest = {"last_time": max(row["event_time"] for row in rows)} if rows else None
    span = risk.until_latest(latest) if latest else None
    entity = f"{kind} {formats.visible(name)}"
    return rendering.render(
        "alerts/risk_entity.html",
        f"Risk score of {entity}",
        rows=rows,
        columns=risk.CONTRIBUTIONS,
        score=risk_scores.score(rows),
        entity_title=entity.capitalize() if kind != "instance" else f"Alerts of {entity}",
        address=risk.entity_address(kind, name, span) if rendering.has_page("Users and clients") else "",
        **_decay(),
    )


def _decay() -> dict[str, int]:
    days = risk.half_life_days()
    return {"half_life": days, "horizon": 10 * days}
