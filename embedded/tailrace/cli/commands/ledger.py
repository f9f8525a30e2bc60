"""Shows the balance of the ledger for each log file, and where its accounts disagree.

Three accounts are compared: the framer's postings for each byte range, the parser's postings for each entry,
and the rows that ClickHouse counted on insert. A recorded gap balances; `tailrace backfill` fills it. A log
without a census is unknown: its completeness cannot be verified. If hosts sign their logs, the signed ranges
are listed, too, and so are the records of logs from Performance Schema. With --output csv, the rows are the
files; --output json also contains gaps, dead letters, framing, imbalances, unknown logs, minutes,
signed_ranges and statement_records.
"""

import argparse
from collections.abc import Sequence

from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.ledger import balance as ledger_balance
from tailrace.ledger import formatting as ledger_formatting
from tailrace.ledger import signed_ranges, statement_records
from tailrace.ledger.balance import LedgerBalance
from tailrace.ledger.statement_records import RecordsFile
from tailrace.sources import active_sources

HELP = "show the balance of the ledger for each log; exits 1 if it does not balance"
EXAMPLES = (
    "tailrace ledger",
    "tailrace ledger --minutes 60               # also the coverage of the last 60 minutes",
    "tailrace ledger --wait 30 --json           # first wait until all written bytes have been read",
    "tailrace ledger --strict --output csv > ledger.csv",
)
EXIT_CODES = {
    0: "the ledger balances; with --strict: and nothing is missing, behind or unknown",
    1: "it does not balance, or the server of --instance has no postings",
    3: "the stack is not running",
}
SEE_ALSO = ("tailrace backfill", "tailrace doctor", "docs/LEDGER.md")
KEYS = {
    "": {
        "instance": "the server",
        "cluster": "its cluster",
        "source": "slowlog, audit, errorlog or general",
        "log": "canonical path of the log",
        "generation": "number of the file among the files with this name, from 1",
        "path": "path in the newest census",
        "census_at": "time of the newest census, in ISO 8601 UTC; null if there is none",
        "size": "size in the newest census, in bytes",
        "frontier": "byte offset up to which the file was read, gaps included",
        "accounted": "accounted offset, in bytes",
        "pending": "bytes that were read and belong to an incomplete entry",
        "behind": "bytes that have not been read",
        "entries": "number of entries",
        "entry_bytes": "bytes of the entries",
        "events": "number of events",
        "event_bytes": "bytes of the events",
        "dead_letters": "number of dead letters",
        "dead_letter_bytes": "bytes of the dead letters",
        "framing_bytes": "bytes of framing",
        "gap_bytes": "bytes that are missing",
        "duplicates": "number of duplicate lines",
        "duplicate_bytes": "bytes of the duplicate lines",
        "aged": "true if retention has deleted the oldest postings, so that the account cannot be verified",
    }
}


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
    output.add_option(parser)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    clickhouse = context.clickhouse("reader_compliance")
    listed = active_sources.active(context.home).since
    if arguments.wait:
        found = ledger_balance.balance(
            clickhouse, arguments.wait, arguments.instance, arguments.minutes, listed=listed
        )
    else:
        found = ledger_balance.read(clickhouse, arguments.instance, arguments.minutes, listed=listed)
    signed = signed_ranges.read(clickhouse, arguments.instance)
    records = statement_records.read(clickhouse, arguments.instance)
    if arguments.output == output.JSON:
        more = {"signed_ranges": signed_ranges.to_json(signed)}
        more["statement_records"] = statement_records.to_json(records)
        output.write_json({**found.to_json(), **more})
    elif arguments.output == output.CSV:
        output.write_csv(KEYS[""], found.to_json()["files"])
    else:
        ledger_formatting.show(found)
        signed_ranges.show(signed, found.at.timestamp())
        statement_records.show(records)
    return Exit.OK if is_good(found, records, arguments.instance, arguments.strict) else Exit.FAILED


def is_good(found: LedgerBalance, records: Sequence[RecordsFile], instance: str, strict: bool) -> bool:
    """Returns whether the exit code is 0; false for a requested server without postings and records."""
    if instance and not found.hold_anything and not records:
        return False
    if strict:
        return found.is_complete and all(file.is_complete for file in records)
    return found.balances and all(file.missing_bytes == 0 for file in records)
