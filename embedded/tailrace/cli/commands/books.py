"""Shows what became of every byte of every log file, and says where the accounts disagree.

Three accounts are held against each other: what the framer posted for each byte range, what the parser made
of each entry, and what ClickHouse counted as inserted. A recorded gap balances, because the books know that
it is missing; `tailrace backfill` fills it. A log without a census is unknown: what did not come of it,
nobody knows. Exits with 0 when the books balance, else with 1, as for a server of which they hold nothing;
with --strict only when nothing is missing, behind or unknown either.
"""

import argparse
import json

from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.ledger import balance as ledger_balance
from tailrace.ledger import formatting as ledger_formatting
from tailrace.ledger.balance import LedgerBalance
from tailrace.sources import active_sources

HELP = "show what became of every byte of every log; exits 1 if they do not balance"
EXAMPLES = (
    "tailrace books",
    "tailrace books --minutes 60                # and which minutes were seen",
    "tailrace books --wait 30 --json            # first wait until all that is written has been read",
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--instance", default="", help="only the logs of this server")
    parser.add_argument(
        "--minutes", type=int, default=0, metavar="N", help="show the last N minutes' coverage"
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
    """Whether they say what was asked for: of a server of which they hold nothing they say nothing."""
    if arguments.instance and not found.hold_anything:
        return False
    return found.is_complete if arguments.strict else found.balances
