"""Reports rules that need attention, from stored alerts, their verdicts and the rule coverage.

A rule is reported if it cannot fire on any server for lack of fields or classes of events, never fired
although it could, raises a large share of all alerts, or had many false positives among its closed alerts.
"""

import argparse

from tailrace import console
from tailrace.cli import output, spans
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse.client import Row
from tailrace.rules import health
from tailrace.rules.health import Thresholds

HELP = "report rules that never fire, fire often, raise false positives or cannot fire"
EXAMPLES = (
    "tailrace rules health",
    "tailrace rules health --since 90d --all --output csv",
)
EXIT_CODES = {3: "the stack is not running"}
SEE_ALSO = ("tailrace rules", "tailrace alerts", "docs/DETECTION.md")

ACCOUNT = "reader_security"
GIVEN = Thresholds()
_RULE = {
    "rule": "id of the rule",
    "rule_title": "title of the rule",
    "level": "informational, low, medium, high or critical",
    "findings": "cannot fire, never fired, fires often, false positives, a list",
    "is_canary": "true if it has the tag tailrace.canary",
    "alert_count": "number of alerts in the period, without suppressed ones",
    "canary_count": "number of alerts while it was a canary rule",
    "share": "share of all alerts, 0 to 1; null if there are none",
    "judged_count": "number of its alerts that were closed with a verdict",
    "false_count": "number of those that were false positives",
    "benign_count": "number of those that were benign",
    "false_share": "share of false positives, 0 to 1; null if no alert has a verdict",
    "server_count": "number of servers for which the detect job reported its coverage",
    "able_count": "number of servers on which it can fire",
    "missing": "fields and classes of events that the others lack, a list",
    "active_since": "time since when it can fire on a server, UTC; null if it cannot",
    "last_alert_at": "time of its last alert, also before the period, UTC; null if it has none",
}
KEYS = {"": _RULE}
HEADER = ("rule", "level", "findings", "alerts", "share", "false", "servers", "last alert (UTC)", "lacks")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--since",
        type=spans.seconds,
        default=GIVEN.period,
        metavar="SPAN",
        help="the period that ends now (default: 30d)",
    )
    parser.add_argument("--rule", default="", help="the rule's id, or a part of its title")
    parser.add_argument("--all", action="store_true", help="also list rules without a finding")
    parser.add_argument(
        "--share",
        type=spans.percent,
        default=GIVEN.share,
        metavar="PERCENT",
        help="share of all alerts from which a rule fires often (default: 20)",
    )
    parser.add_argument(
        "--false-positives",
        type=spans.percent,
        default=GIVEN.false_share,
        metavar="PERCENT",
        help="share of false positives from which a rule is reported (default: 50)",
    )
    output.add_option(parser)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    given = Thresholds(arguments.since, arguments.share, false_share=arguments.false_positives)
    known = health.rules(context.clickhouse(ACCOUNT), given)
    rows = health.selected(known, arguments.rule, arguments.all)
    if arguments.output == output.JSON:
        output.write_json({"rules": len(known), "shown": len(rows), "health": [_json(row) for row in rows]})
    elif arguments.output == output.CSV:
        output.write_csv(_RULE, [_json(row) for row in rows])
    else:
        _print(rows, known)
    return Exit.OK


def _json(row: Row) -> Row:
    return {key: bool(row[key]) if key == "is_canary" else row[key] for key in _RULE}


def _print(rows: list[Row], known: list[Row]) -> None:
    if rows:
        console.table(HEADER, [_line(row) for row in rows], right=("alerts", "share", "false", "servers"))
        found = {finding for row in rows for finding in row["findings"]}
        for finding, meaning in health.FINDINGS.items():
            if finding in found:
                print(f"{finding}: {meaning}")
    if not known:
        print("no rule is known: the detect job has reported no rule coverage and no alert")
        return
    with_findings = sum(bool(row["findings"]) for row in known)
    print(f"shown {len(rows)} of {len(known)} rules; {with_findings} with findings")


def _line(row: Row) -> tuple[object, ...]:
    mark = " (canary)" if row["is_canary"] else ""
    return (
        console.plain(str(row["rule_title"]))[:60] + mark,
        row["level"],
        ", ".join(row["findings"]) or "-",
        row["canary_count"] if row["is_canary"] else row["alert_count"],
        _percent(row["share"]),
        _percent(row["false_share"]),
        f"{row['able_count']}/{row['server_count']}" if int(row["server_count"]) else "?",
        row["last_alert_at"] or "-",
        console.plain(", ".join(row["missing"]))[:60] or "-",
    )


def _percent(share: object) -> str:
    """An unknown share is a question mark."""
    return "?" if share is None else f"{100 * float(str(share)):.0f} %"
