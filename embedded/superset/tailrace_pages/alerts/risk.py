"""Risk scores on pages: the riskiest users, clients and instances, and the explanation of one score.

SUPERSET_RISK_HALF_LIFE    days after which an alert contributes half of its points (default: 7)
"""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from tailrace.alerts import risk
from tailrace_pages import links
from tailrace_pages.columns import Column
from tailrace_pages.page_errors import BadAddressError
from tailrace_pages.time_range import TimeRange

if TYPE_CHECKING:
    from tailrace_pages.store import Store

VARIABLE = "SUPERSET_RISK_HALF_LIFE"
AT_MOST = 20
"""Entities of each kind on the page."""
TITLES = {"user": "Users", "client": "Clients", "instance": "Instances"}

ENTITIES = (
    Column("name", "Name", 40, link="address"),
    Column("score", "Risk score (points)", 20, "number", link="why_address"),
    Column("alerts", "Alerts", 8, "count"),
    Column("top_rule", "Alert with most points", 0, link="top_address"),
    Column("top_points", "Its points", 12, "number"),
    Column("last_time", "Latest alert (UTC)", 20, "time"),
)
CONTRIBUTIONS = (
    Column("event_time", "Event (UTC)", 20, "time", link="address"),
    Column("level", "Level", 16, "severity"),
    Column("rule_title", "Rule", 0),
    Column("outcome", "State", 16),
    Column("points", "Points", 10, "number"),
    Column("why", "Calculation", 48),
)
ENTITIES_CSV = (Column("kind", "Kind"), *ENTITIES)
CONTRIBUTIONS_CSV = (*CONTRIBUTIONS, Column("instance", "Instance"), Column("id", "Id"))


def half_life_days() -> int:
    return int(os.environ.get(VARIABLE, risk.HALF_LIFE_DAYS))


def entities(store: "Store", now: datetime, has_entities: bool) -> list[dict[str, Any]]:
    """Returns the entities with the highest scores, of each kind."""
    found = risk.Risk(store.rows, half_life_days(), now).entities(limit=AT_MOST)
    return [{**row, **_addresses(row, has_entities)} for row in found]


def _addresses(row: Mapping[str, Any], has_entities: bool) -> dict[str, str]:
    return {
        "address": entity_address(row["kind"], row["name"], until_latest(row)) if has_entities else "",
        "why_address": why_address(row["kind"], row["name"]),
        "top_address": links.alert(row["top_id"]),
    }


def until_latest(row: Mapping[str, Any]) -> TimeRange:
    """Returns the day before the latest alert of an entity, and the hour after it."""
    latest = row["last_time"].replace(microsecond=0)
    return TimeRange(latest - timedelta(days=1), latest + timedelta(hours=1))


def entity_address(kind: str, name: str, span: TimeRange | None) -> str:
    """Returns the page of an entity; of an instance its alerts of any time range."""
    made = {"user": links.user, "client": links.client}
    return made[kind](name, span) if kind in made else links.alerts(instance=name, state="any")


def why_address(kind: str, name: str) -> str:
    """Returns the page that explains a score."""
    return links.address("alerts", "risk", arguments={"kind": kind, "name": name})


def contributions(store: "Store", kind: str, name: str, now: datetime) -> list[dict[str, Any]]:
    """Returns the alerts that contribute to the score of an entity. Raises BadAddressError."""
    if kind not in risk.KINDS:
        raise BadAddressError(f"kind={kind} does not exist; there are {', '.join(risk.KINDS)}.")
    found = risk.Risk(store.rows, half_life_days(), now).contributions(kind, name)
    return [{**row, "why": risk.why(row), "address": links.alert(row["id"])} for row in found]


def tables(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns a table for each kind that has a row."""
    found = [
        {"kind": kind, "title": title, "rows": [row for row in rows if row["kind"] == kind]}
        for kind, title in TITLES.items()
    ]
    return [table for table in found if table["rows"]]
