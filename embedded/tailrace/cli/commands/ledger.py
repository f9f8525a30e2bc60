"""Shows the balance of the ledger for each log file, and where its accounts disagree.

Three accounts are compared: the framer's postings for each byte range, the parser's postings for each entry,
and the rows that ClickHouse counted on insert. A recorded gap balances; `tailrace backfill` fills it. A log
without a census is unknown: its completeness cannot be verified. Exits with 0 if the ledger balances, else
with 1, also if --instance names a server without postings. With --strict, exits with 0 only if also nothing
is missing, behind or unknown.
"""

import argparse
import json

from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.ledger import balance as ledger_balance
from tailrace.ledger import formatting as ledger_formatting
from tailrace.ledger.balance import LedgerBalance
from tailrace.sources import active_sources

HELP = "show the balance of the ledger for each log; exits 1 if it does not balance"
EXAMPLES = (
    "tailrace ledger",
    "tailrace ledger --minutes 60               # also the coverage of the last 60 minutes",
    "tailrace ledger --wait 30 --json           # first wait until all written bytes have been read",
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--instance", default="", help="only the logs of this server")
    parser.add_argument(
        "--minutes", type=int, default=0, metavar="N", help="show the coverage of the last N minutes"
    )
    parser.add_argument(
        "--wait", type=float, default=0, metavar="S", help="wait up to S seconds for the balance"
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="also exit 1 if bytes are missing or behind, or logs or minutes unknown",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    clickhouse = context.clickhouse("reader_compliance")
    listed = active_sources.active(context.home).since
    if arguments.wait:
        found = ledger_balance.balance(
            clickhouse, arguments.wait, arguments.instance, arguments.minutes, listed=listed
        )
    else:
        found = ledger_balance.read(clickhouse, arguments.instance, arguments.minutes, listed=listed)
    if arguments.json:
        print(json.dumps(found.to_json(), indent=2))
    else:
        ledger_formatting.show(found)
    return Exit.OK if _is_good(found, arguments) else Exit.FAILED


def _is_good(found: LedgerBalance, arguments: argparse.Namespace) -> bool:
    """Returns whether the exit code is 0; false for a requested server without postings."""
    if arguments.instance and not found.hold_anything:
        return False
    return found.is_complete if arguments.strict else found.balances
