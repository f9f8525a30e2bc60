"""Signs reviews of the logs of a period, and lists them (PCI DSS 10.4.1).

A review is appended with a time and an account that ClickHouse fills in; it cannot be changed or deleted. A
wrong review is corrected by another one with --corrects ID. A date without a time means its start for --from
and its end for --to; times are UTC.

A day counts as reviewed if reviews cover it from 00:00 to 24:00 UTC on all servers. Without --server, a
review counts for all servers; with --server NAME for those servers only.
"""

import argparse
import getpass
import sys
from datetime import UTC, datetime

from tailrace import console
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.evidence import reviews
from tailrace.evidence.period import Period, PeriodError
from tailrace.evidence.reviews import Review

HELP = "sign a review of the logs of a period, or list the reviews"
EXAMPLES = (
    'tailrace review sign --from 2026-11-20 --to 2026-11-20 --finding "2 refused logins, ticket 4711"',
    'tailrace review sign --from 2026-11-20 --to 2026-11-20 --server db1 --finding "no alert"',
    "tailrace review list --from 2026-10-01 --to 2026-10-31",
    "tailrace review list --output csv > reviews.csv",
)
EXIT_CODES = {3: "the stack is not running"}
SEE_ALSO = ("tailrace evidence", "docs/COMPLIANCE.md")
KEYS = {
    "list": {
        "id": "id of the review, 32 hexadecimal digits",
        "at": "time of the signature, UTC",
        "actor": "who has signed",
        "period_from": "start of the reviewed period, UTC",
        "period_to": "end of the reviewed period, UTC",
        "scope": "what was reviewed, in words",
        "finding": "the findings",
        "corrects": "id of the wrong review that this one corrects; null if it corrects none",
        "account": "the account of ClickHouse",
        "covers": "all servers or named servers; null for an older review, which counts for no day",
        "servers": "the named servers for which the review counts, separated by commas",
    }
}
SHORT_ID = 8


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="doing", metavar="SUBCOMMAND", required=True)
    sign = commands.add_parser("sign", help="sign that you have reviewed a period, with your findings")
    _add_period(sign, required=True)
    sign.add_argument(
        "--finding", required=True, type=_text, metavar="TEXT", help="the findings; never deleted"
    )
    sign.add_argument(
        "--server",
        dest="servers",
        action="append",
        default=[],
        type=_text,
        metavar="NAME",
        help="a server for which the review counts; may be repeated (default: all servers)",
    )
    sign.add_argument("--all-servers", action="store_true", help="state with --scope that all are meant")
    sign.add_argument(
        "--scope",
        type=_text,
        metavar="TEXT",
        help="a description of what you have reviewed; requires --server or --all-servers",
    )
    sign.add_argument(
        "--corrects", default="", metavar="ID", help="id of the wrong review, or a prefix of it"
    )
    sign.add_argument("--actor", type=_text, metavar="NAME", help="your name (default: your login name)")
    past = commands.add_parser("list", help="list reviews in the order of their signatures")
    _add_period(past, required=False)
    output.add_option(past)


def _add_period(parser: argparse.ArgumentParser, required: bool) -> None:
    parser.add_argument("--from", dest="first", required=required, metavar="TIME", help="a date or time, UTC")
    parser.add_argument("--to", dest="end", required=required, metavar="TIME", help="a date, time or `now`")


def _text(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("expected text, found none")
    return text.strip()


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    try:
        period = _period(arguments)
    except PeriodError as error:
        print(f"tailrace: {error}", file=sys.stderr)
        return Exit.USAGE
    if arguments.doing == "sign" and (problem := _wrong_servers(arguments)):
        print(f"tailrace: {problem}", file=sys.stderr)
        return Exit.USAGE
    return (_sign if arguments.doing == "sign" else _list)(arguments, period, context)


def _wrong_servers(arguments: argparse.Namespace) -> str:
    """Returns what is wrong: a text decides nothing, so that it never widens or narrows what counts."""
    if arguments.all_servers and arguments.servers:
        return "give either --all-servers or --server, not both"
    if arguments.scope and not (arguments.all_servers or arguments.servers):
        return "--scope is only a description: add --server NAME or --all-servers"
    return ""


def _period(arguments: argparse.Namespace) -> Period | None:
    if not arguments.first and not arguments.end:
        return None
    if not (arguments.first and arguments.end):
        raise PeriodError("give both --from and --to, or neither")
    return Period.parse(arguments.first, arguments.end, datetime.now(UTC))


def _sign(arguments: argparse.Namespace, period: Period, context: Context) -> Exit:
    review = Review(
        arguments.actor or getpass.getuser(),
        period,
        arguments.finding,
        arguments.scope or "",
        arguments.corrects,
        tuple(arguments.servers),
    )
    id_ = reviews.sign(context.clickhouse(reviews.ACCOUNT), review)
    servers = ", ".join(review.servers) or review.covers
    print(console.plain(f"{id_[:SHORT_ID]}  {review.actor} reviewed {servers}, {period}: {review.finding}"))
    return Exit.OK


def _list(arguments: argparse.Namespace, period: Period | None, context: Context) -> Exit:
    rows = reviews.signed(context.clickhouse(reviews.ACCOUNT), period)
    plain = [
        {
            **row,
            "corrects": output.known(row["corrects"]),
            "covers": output.known(row["covers"]),
            "servers": ", ".join(row["servers"]),
        }
        for row in rows
    ]
    if arguments.output == output.JSON:
        output.write_json(plain)
    elif arguments.output == output.CSV:
        output.write_csv(KEYS["list"], plain)
    elif rows:
        columns = ["id", "signed at (UTC)", "by", "from", "to", "servers", "scope", "finding", "corrects"]
        console.table(columns, [_cells(row) for row in rows])
    else:
        print("no review was signed" + (f" for {period}" if period else ""))
    return Exit.OK


def _cells(row: dict[str, object]) -> list[str]:
    names = ("at", "actor", "period_from", "period_to", "scope", "finding")
    at, actor, begin, end, scope, finding = (console.plain(row[name]) for name in names)
    corrects = str(row["corrects"])[:SHORT_ID]
    servers = console.plain(reviews.servers_text(row))
    id_ = str(row["id"])[:SHORT_ID]
    return [id_, at[:16], actor, begin[:16], end[:16], servers, scope, finding, corrects]
