"""The health of detection rules, and the alerts of canary rules, from what ClickHouse stores."""

from collections.abc import Sequence
from dataclasses import dataclass

from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.clickhouse.query_files import text_of

FINDINGS = {
    "cannot fire": "the logs of no server contain the necessary fields and events",
    "never fired": "it could fire during the whole period and did not",
    "fires often": "it raises a large share of all alerts",
    "false positives": "many of its closed alerts were false positives",
}
"""Findings of sql/queries/rule_health.sql and their meaning."""


@dataclass(frozen=True)
class Thresholds:
    """When a rule is reported."""

    period: int = 30 * 86_400
    """Seconds before now."""
    share: float = 0.2
    """Share of all alerts, 0 to 1."""
    at_least: int = 20
    """Alerts from which the share counts."""
    false_share: float = 0.5
    """Share of false positives among the alerts that were closed with a verdict, 0 to 1."""
    judged: int = 5
    """Closed alerts with a verdict from which this share counts."""


def rules(clickhouse: ClickHouse, thresholds: Thresholds) -> list[Row]:
    """Returns a row for each rule, those with findings first. Raises OSError, ClickHouseError."""
    return clickhouse.rows(text_of("rule_health"), vars(thresholds))


def selected(rows: Sequence[Row], rule: str, with_all: bool) -> list[Row]:
    """Returns the rows with findings, or all of them, of rules with this id or part of a title."""
    wanted = rule.casefold()
    return [
        row
        for row in rows
        if (with_all or row["findings"])
        and (wanted in str(row["rule_title"]).casefold() or wanted == str(row["rule"]).casefold())
    ]


def canary(clickhouse: ClickHouse, period: int) -> list[Row]:
    """Returns a row per canary rule and day with alerts. `period` in seconds."""
    return clickhouse.rows(text_of("canary_rules"), {"period": period})


def is_coverage_known(clickhouse: ClickHouse) -> bool:
    """Returns whether the detect job has reported which rules are active on a server."""
    (row,) = clickhouse.rows("SELECT count() AS n FROM tailrace.rule_coverage")
    return int(row["n"]) > 0


def canary_rules(clickhouse: ClickHouse) -> list[Row]:
    """Returns the active canary rules, also those without alerts."""
    return clickhouse.rows(
        "SELECT rule_id AS rule, any(rule_title) AS rule_title, any(level) AS level, max(can_fire) AS able "
        "FROM tailrace.rule_coverage FINAL WHERE active AND source = '' AND has(tags, 'tailrace.canary') "
        "GROUP BY rule_id ORDER BY rule_title, rule_id"
    )
