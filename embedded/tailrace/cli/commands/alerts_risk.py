"""`tailrace alerts risk`: risk scores of users, clients and instances, and the explanation of one score."""

import argparse
from datetime import UTC, datetime
from typing import Any

from tailrace import console
from tailrace.alerts import risk
from tailrace.alerts.risk import Risk
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit

PURPOSE = "list the riskiest users, clients and instances, or explain one score"
ACCOUNT = "reader_security"
ENTITY_KEYS = ("kind", "name", "score", "alerts", "top_rule", "top_id", "top_points", "last_time")
ALERT_KEYS = (
    *("id", "event_time", "rule_id", "rule_title", "level", "outcome", "data_classes"),
    *("level_points", "verdict_factor", "data_factor", "decay", "points"),
)
SHORT_ID = 8


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--entity", type=_entity, default=("", ""), metavar="KIND=NAME",
        help="explain the score of user=etl, client=10.0.0.9 or instance=db-1",
    )  # fmt: skip
    parser.add_argument("--kind", choices=risk.KINDS, default="", help="only entities of this kind")
    parser.add_argument(
        "--limit", type=_limit, default=10, metavar="N", help="at most N of each kind (default: 10)"
    )
    output.add_option(parser)


def _entity(text: str) -> tuple[str, str]:
    kind, equals, name = text.partition("=")
    if kind not in risk.KINDS or not equals or not name:
        raise argparse.ArgumentTypeError(f"expected user=NAME, client=NAME or instance=NAME, found {text!r}")
    return kind, name


def _limit(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 10_000:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 10000, found {text!r}")
    return int(text)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    clickhouse = context.clickhouse(ACCOUNT)
    days = context.settings.risk_half_life
    found = Risk(lambda query, **given: clickhouse.rows(query, given), days, datetime.now(UTC))
    kind, name = arguments.entity
    if kind:
        rows = found.contributions(kind, name)
        _write(arguments, rows, ALERT_KEYS, _explanation)
    else:
        _write(arguments, found.entities(arguments.kind, arguments.limit), ENTITY_KEYS, _list)
    return Exit.OK


def _write(
    arguments: argparse.Namespace, rows: list[dict[str, Any]], keys: tuple[str, ...], table: Any
) -> None:
    if arguments.output == output.JSON:
        output.write_json([{key: row[key] for key in keys} for row in rows])
    elif arguments.output == output.CSV:
        output.write_csv(keys, rows)
    else:
        table(rows)


def _list(rows: list[dict[str, Any]]) -> None:
    header = ("kind", "name", "points", "alerts", "latest (UTC)", "alert with most points", "its points")
    lines = [
        (
            row["kind"], console.plain(row["name"]), f"{row['score']:.1f}", row["alerts"], row["last_time"],
            console.plain(f"{row['top_id'][:SHORT_ID]} {row['top_rule']}"), f"{row['top_points']:.1f}",
        )
        for row in rows
    ]  # fmt: skip
    if lines:
        console.table(header, lines, right=("points", "alerts", "its points"))
    else:
        print("no alert counts")


def _explanation(rows: list[dict[str, Any]]) -> None:
    header = ("id", "event (UTC)", "points", "rule", "state", "calculation")
    lines = [
        (
            row["id"][:SHORT_ID], row["event_time"], f"{row['points']:.2f}", console.plain(row["rule_title"]),
            row["outcome"], console.plain(risk.why(row)),
        )
        for row in rows
    ]  # fmt: skip
    if lines:
        console.table(header, lines, right=("points",))
    print(f"risk score: {risk.score(rows):.1f} points from {console.number(rows, 'alert')}")
