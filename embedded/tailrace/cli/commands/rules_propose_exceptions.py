"""Proposes exceptions of rules from alerts that were closed as benign or as false positive.

Each proposal is YAML for a file of rules/exceptions, without owner and date of expiry unless they are given.
It was evaluated on all stored alerts of its rule and covers none that is open or was a true positive.
"""

import argparse
import sys
from datetime import UTC, date, datetime, timedelta

from tailrace.alerts import exception_proposals, proposal_formatting, suppressions
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.cli.spans import seconds
from tailrace.clickhouse.query_files import text_of

HELP = "propose exceptions from closed alerts"
EXAMPLES = (
    "tailrace rules propose-exceptions --since 90d",
    'tailrace rules propose-exceptions "Cards exported" --owner ann --expires 2027-03-31',
)
EXIT_CODES = {3: "the stack is not running"}
SEE_ALSO = ("tailrace alerts", "tailrace rules push", "docs/DETECTION.md")
KEYS = {
    "": {
        "rule_id": "id of the rule",
        "rule_title": "title of the rule",
        "proposed": "false if it would, or may, also have suppressed an open alert or a true positive",
        "selection": "fields with their values, an object",
        "left_out": "fields that the selection leaves out, with their numbers of distinct values, an object",
        "suppressed": "number of stored alerts that it would have suppressed, by outcome, an object",
        "unknown": "number of stored alerts that lack one of the fields, by outcome, an object",
        "stored": "number of stored alerts of the rule",
        "matches": "number of matches of the alerts that it would have suppressed",
        "alert_ids": "ids of these alerts, at most 200 per entity, a list",
        "blocking_ids": "ids of alerts that prevent the proposal, a list",
    }
}
ACCOUNT = "analyst"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "rule",
        nargs="?",
        default="",
        metavar="RULE",
        help="a rule's id, or a part of its title (default: all)",
    )
    parser.add_argument(
        "--since", type=seconds, default=90 * 86_400, metavar="SPAN",
        help="use alerts that were closed in the last 30d, 90d … (default: 90d)",
    )  # fmt: skip
    parser.add_argument(
        "--min-alerts", type=_number, default=exception_proposals.MIN_ALERTS, metavar="N",
        help="closed alerts that justify a proposal (default: 3)",
    )  # fmt: skip
    parser.add_argument("--owner", default="", metavar="NAME", help="who answers for the exceptions")
    parser.add_argument(
        "--expires", type=_date, metavar="DATE", help="the first day without effect: 2027-03-31"
    )
    output.add_option(parser)


def _number(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100_000:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 100000, found {text!r}")
    return int(text)


def _date(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a date such as 2027-03-31, found {text!r}") from None


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    clickhouse = context.clickhouse(ACCOUNT)
    rule = suppressions.rule_id(clickhouse, arguments.rule) if arguments.rule else ""
    since = datetime.now(UTC) - timedelta(seconds=arguments.since)
    given = {"rule": rule, "since": f"{since:%Y-%m-%d %H:%M:%S}"}
    rules = exception_proposals.rules_of(clickhouse.rows(text_of(exception_proposals.QUERY), given))
    results = [exception_proposals.proposed(each, arguments.min_alerts) for each in rules]
    accepted = [proposal for found, _ in results for proposal in found]
    refused = [proposal for _, found in results for proposal in found]
    _print(arguments, accepted, refused)
    return Exit.OK


def _print(arguments: argparse.Namespace, accepted: list, refused: list) -> None:
    rows = [proposal_formatting.row(each) for each in (*accepted, *refused)]
    if arguments.output == output.JSON:
        output.write_json(rows)
    elif arguments.output == output.CSV:
        output.write_csv(KEYS[""], rows)
    else:
        texts = [
            proposal_formatting.document(each, arguments.owner, arguments.expires or "") for each in accepted
        ]
        print("---\n".join(texts) or "# no exception is justified by the closed alerts\n", end="")
        for each in refused:
            print(
                f"tailrace: {proposal_formatting.ascii_only(proposal_formatting.refusal(each))}",
                file=sys.stderr,
            )
