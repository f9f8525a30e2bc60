"""Risk scores of users, clients and instances, computed from stored alerts when they are asked for.

sql/queries/alert_risk.sql defines what an alert contributes. A score is the sum of the contributions, in
points; an open alert of level medium contributes 10 points at its time and 5 points a half-life later.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tailrace.clickhouse.query_files import text_of

QUERY = "alert_risk"
KINDS = ("user", "client", "instance")
HALF_LIFE_DAYS = 7
"""The default of the setting."""

ENTITIES = """
SELECT
    kind, argMax(name, (event_time, id)) AS entity_name,
    sum(toUInt64(round(points * 1000000))) / 1000000 AS score,
    count() AS alerts,
    arrayElement(arraySort(each -> (-each.1, each.2), groupArray((points, id, rule_title))), 1) AS first,
    first.3 AS top_rule, first.2 AS top_id, first.1 AS top_points,
    max(alerts_of_entities.event_time) AS last_time
FROM ({contributions}) AS alerts_of_entities
GROUP BY kind, lowerUTF8(name)
ORDER BY indexOf(['user', 'client', 'instance'], kind), score DESC, entity_name
LIMIT {{limit:UInt32}} BY kind
"""

Rows = Callable[..., list[dict[str, Any]]]
"""Runs a query with named parameters, as store.Store.rows does."""


@dataclass(frozen=True)
class Risk:
    """Risk scores at one time. `rows` reads ClickHouse as an account that sees alerts and data access."""

    rows: Rows
    half_life_days: int
    now: datetime

    def entities(self, kind: str = "", limit: int = 10) -> list[dict[str, Any]]:
        """Returns the entities with the highest scores, at most `limit` of each kind: kind, name, score in
        points, number of alerts, and the alert that contributes most."""
        text = ENTITIES.format(contributions=text_of(QUERY))
        found = self.rows(text, limit=limit, **self._parameters(kind, ""))
        return [_entity(row) for row in found]

    def contributions(self, kind: str, name: str) -> list[dict[str, Any]]:
        """Returns what each alert contributes to the score of an entity, most first."""
        found = self.rows(text_of(QUERY), **self._parameters(kind, name))
        return [_contribution(row) for row in found]

    def _parameters(self, kind: str, name: str) -> dict[str, object]:
        now = f"{self.now.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
        return {"now": now, "half_life": self.half_life_days * 24, "kind": kind, "name": name}


def score(contributions: list[dict[str, Any]]) -> float:
    """Returns the sum of the contributions, in points, independent of their order."""
    return sum(round(each["points"] * 1e6) for each in contributions) / 1e6


def _entity(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": row["kind"],
        "name": row["entity_name"],
        "score": float(row["score"]),
        "alerts": int(row["alerts"]),
        "top_rule": row["top_rule"],
        "top_id": row["top_id"],
        "top_points": float(row["top_points"]),
        "last_time": row["last_time"],
    }


def _contribution(row: dict[str, Any]) -> dict[str, Any]:
    numbers = {name: int(row[name]) for name in ("level_points", "verdict_factor", "data_factor")}
    return {**row, **numbers, "decay": float(row["decay"]), "points": float(row["points"])}


def why(contribution: dict[str, Any]) -> str:
    """Returns the calculation of a contribution: `30 (high) * 2 (true positive) * 2 (pci) * 0.50 (age)`."""
    factors = [f"{contribution['level_points']} ({contribution['level']})"]
    if contribution["verdict_factor"] != 1:
        factors.append(f"{contribution['verdict_factor']} ({contribution['outcome']})")
    if contribution["data_factor"] != 1:
        factors.append(f"{contribution['data_factor']} ({', '.join(contribution['data_classes'])})")
    return " * ".join([*factors, f"{contribution['decay']:.3g} (age)"])
