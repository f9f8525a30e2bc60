"""Shows the alerts of canary rules: their number per rule and day, and the entities that caused most of them.

A rule with the tag tailrace.canary is evaluated, but its alerts are neither listed nor delivered.
"""

import argparse

from tailrace import console
from tailrace.cli import output, spans
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse.client import ClickHouse
from tailrace.rules import health

HELP = "show the alerts of canary rules per day and their top entities"
EXAMPLES = ("tailrace rules canary", "tailrace rules canary --since 30d --output json")
EXIT_CODES = {3: "the stack is not running"}
SEE_ALSO = ("tailrace alerts list", "tailrace rules promote", "docs/DETECTION.md")

ACCOUNT = "reader_security"
_DAY = {
    "rule": "id of the rule",
    "rule_title": "title of the rule",
    "level": "informational, low, medium, high or critical",
    "day": "day of the events, UTC",
    "alert_count": "number of alerts",
    "match_count": "number of matches that they represent",
    "silenced_count": "number of alerts that a suppression covers",
    "entity_count": "number of different entities",
    "top_entities": "the entities with the most matches, a list of at most three",
}
KEYS = {"": _DAY}
WEEK = 7 * 86_400


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--since",
        type=spans.seconds,
        default=WEEK,
        metavar="SPAN",
        help="the period that ends now (default: 7d)",
    )
    output.add_option(parser)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    clickhouse = context.clickhouse(ACCOUNT)
    days, active = health.canary(clickhouse, arguments.since), health.canary_rules(clickhouse)
    if arguments.output == output.JSON:
        known = active if health.is_coverage_known(clickhouse) else None
        output.write_json({"active": known, "days": days})
    elif arguments.output == output.CSV:
        output.write_csv(_DAY, days)
    else:
        _print(days, active)
        print(_number(clickhouse, len(active)))
    return Exit.OK


def _print(days: list, active: list) -> None:
    if days:
        header = ("rule", "level", "day (UTC)", "alerts", "matches", "entities", "top entities")
        console.table(header, [_line(row) for row in days], right=("alerts", "matches", "entities"))
    silent = [rule for rule in active if rule["rule"] not in {row["rule"] for row in days}]
    for rule in silent:
        why = "no alert" if rule["able"] else "cannot fire: see tailrace rules health"
        print(f"{console.plain(str(rule['rule_title']))}: {why}")


def _number(clickhouse: ClickHouse, active: int) -> str:
    if health.is_coverage_known(clickhouse):
        return f"active canary rules: {active}"
    return "active canary rules: unknown, because the detect job has reported no rule coverage"


def _line(row: dict) -> tuple[object, ...]:
    return (
        console.plain(str(row["rule_title"]))[:60],
        row["level"],
        row["day"],
        row["alert_count"],
        row["match_count"],
        row["entity_count"],
        console.plain("; ".join(row["top_entities"]))[:80],
    )
