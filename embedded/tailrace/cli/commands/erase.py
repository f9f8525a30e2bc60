"""Erases the name of a user or client, of which rows contain a pseudonym, from the vault of names.

Rows, rollups and archives keep the pseudonym and stay unchanged. Nobody can read the name any more, except
where it is stored in clear: the command counts these rows, and lists the places that it cannot count
(docs/ERASURE.md). A legal hold that selects rows of the subject suspends the erasure. Each erasure is
recorded with its case, reason and person, never with the name. With replicas, name each with --server.
"""

import argparse
import getpass
import sys
from typing import TYPE_CHECKING

from tailrace import console
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse import replica_progress
from tailrace.errors import UsageError

if TYPE_CHECKING:
    from tailrace.retention.record import Recorded

HELP = "erase the name behind a pseudonym, or list erasures and reveals"
EXAMPLES = (
    'tailrace erase --subject user:etl --case 2026-17 --reason "request of 3 November" --dry-run',
    'tailrace erase --subject user:etl --case 2026-17 --reason "request of 3 November"',
    "tailrace erase --list",
)
EXIT_CODES = {
    1: "the subject is unknown, or a legal hold suspends the erasure",
    3: "the stack is not running",
}
SEE_ALSO = ("tailrace reveal", "tailrace hold", "docs/ERASURE.md")
KEYS = {
    "": {
        "at": "time of the action, UTC",
        "action": "erase or reveal",
        "pseudonym": "pseudonym of the subject",
        "case": "case of an erasure; empty for a reveal",
        "actor": "who did it",
        "reason": "why",
    }
}
SUBJECT = "user:NAME, client:ADDRESS, or a pseudonym"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--subject", default="", metavar="SUBJECT", help=f"{SUBJECT} of which rows remain")
    parser.add_argument("--case", default="", metavar="NAME", help="the case that demands the erasure")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; never deleted")
    parser.add_argument("--actor", default="", metavar="NAME", help="your name (default: your login name)")
    parser.add_argument(
        "--dry-run", action="store_true", help="list what remains after an erasure, without erasing"
    )
    parser.add_argument("--list", action="store_true", help="list all erasures and reveals")
    replica_progress.add_argument(parser)
    output.add_option(parser)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    from tailrace.erasure import erasing, vault
    from tailrace.erasure.pseudonyms import subject
    from tailrace.retention import holds

    if arguments.list:
        _warn_of_unfinished(erasing.unfinished(context.clickhouse("admin")))
        return _list(arguments, erasing.recorded(context.clickhouse(holds.ACCOUNT)))
    if not (arguments.subject and arguments.case.strip() and arguments.reason.strip()):
        raise UsageError("an erasure needs --subject, --case and --reason")
    pseudonyms = vault.pseudonyms(context.secrets)
    wanted = subject(arguments.subject, pseudonyms)
    admin = context.clickhouse("admin")
    servers = replica_progress.servers_of(admin, arguments.server)
    if arguments.dry_run:
        erasing.require_erasable(servers, pseudonyms, wanted)
        print(f"{arguments.subject} can be erased")
        _print_remains(erasing.clear_rows(admin, wanted) if wanted.name else None)
        return Exit.OK
    order = erasing.Order(arguments.actor or getpass.getuser(), arguments.reason, arguments.case)
    done = erasing.erase(servers, context.clickhouse(holds.ACCOUNT), pseudonyms, wanted, order)
    print(f"{wanted.pseudonym} is erased: the vault has no name for it, and accepts none again")
    if not done.files_removed:
        print("ClickHouse has not removed the old files of the vault yet; it does so later")
    _print_remains(done.in_clear if wanted.name else None)
    return Exit.OK


def _warn_of_unfinished(pseudonyms: list[str]) -> None:
    """An erasure is recorded before the name is deleted."""
    for each in pseudonyms:
        print(f"Warning: the vault still has the name of {each}: repeat its erasure", file=sys.stderr)


def _print_remains(in_clear: dict[str, int] | None) -> None:
    """Prints where the name remains; None: the command does not know the name."""
    from tailrace.erasure import columns

    if in_clear is None:
        print("Rows with the name in clear were not counted, because only the pseudonym was given.")
    elif in_clear:
        print("Rows that contain the name in clear, and so may show whose pseudonym it was:")
        console.table(("table", "rows"), [(table, str(rows)) for table, rows in in_clear.items()])
    else:
        print("No counted row contains the name in clear.")
    print("Names may also remain in these places, which were not searched:")
    for place in columns.UNSEARCHED:
        print(f"  {place.name}: {place.why}")


def _list(arguments: argparse.Namespace, found: "list[Recorded]") -> Exit:
    rows = [
        {
            "at": each.at,
            "action": each.action,
            "pseudonym": each.details["pseudonym"],
            "case": each.case_name,
            "actor": each.actor,
            "reason": each.reason,
        }
        for each in found
    ]
    if arguments.output == output.JSON:
        output.write_json(rows)
    elif arguments.output == output.CSV:
        output.write_csv(KEYS[""], rows)
    elif rows:
        console.table(
            ("at (UTC)", "action", "pseudonym", "case", "by", "reason"),
            [[console.plain(str(cell)) for cell in row.values()] for row in rows],
        )
    else:
        print("nothing was erased or revealed")
    return Exit.OK
