"""Shows what became of every byte of every log file, and says where the accounts disagree.

Three accounts are held against each other: what the framer posted for each byte range, what the parser made
of each entry, and what ClickHouse counted as inserted. A recorded gap balances, because the books know that
it is missing; `tailrace backfill` fills it. Exits with 0 when the books balance, else with 1.
"""

import argparse
import json

from tailrace import accounts, books, console
from tailrace.books import Account, Books
from tailrace.commands import Context
from tailrace.exits import Exit

HELP = "show what became of every byte of every log; exits 1 if they do not balance"
EXAMPLES = (
    "tailrace books",
    "tailrace books --minutes 60                # and which minutes were seen",
    "tailrace books --wait 30 --json            # first wait until all that is written has been read",
)
FILES = (
    "instance",
    "log",
    "gen",
    "bytes",
    "entries",
    "dead letters",
    "framing",
    "gaps",
    "pending",
    "behind",
    "again",
)
NUMBERS = ("gen", *FILES[3:])
SHOWN_IMBALANCES = 20


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--instance", default="", help="only the logs of this server")
    parser.add_argument(
        "--minutes", type=int, default=0, metavar="N", help="show the last N minutes' coverage"
    )
    parser.add_argument(
        "--wait", type=float, default=0, metavar="S", help="wait up to S seconds for the balance"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    clickhouse = accounts.connect(context.settings, context.home, "reader_developer")
    if arguments.wait:
        found = books.balance(clickhouse, arguments.wait, arguments.instance, arguments.minutes)
    else:
        found = books.read(clickhouse, arguments.instance, arguments.minutes)
    if arguments.json:
        print(json.dumps(found.to_json(), indent=2))
    else:
        show(found)
    return Exit.OK if found.balances else Exit.FAILED


def show(found: Books) -> None:
    """Prints the books for people."""
    show_files(found)
    _show_details(found)
    _show_minutes(found)
    show_balance(found)


def show_files(found: Books) -> None:
    console.heading("Log files")
    console.table(FILES, map(_file, found.accounts), right=NUMBERS)
    for unread in found.unread:
        print(f"  {unread.instance} {unread.path}: {console.count(unread.size)} bytes, none of them read yet")


def show_balance(found: Books) -> None:
    """Prints the verdict, and every place where two accounts differ."""
    if found.balances:
        print(console.styled("\nThe books balance.", console.GREEN))
        return
    print(console.styled(f"\nThe books do not balance, in {len(found.imbalances)} places:", console.RED))
    for imbalance in found.imbalances[:SHOWN_IMBALANCES]:
        print(f"  {imbalance}")
    if len(found.imbalances) > SHOWN_IMBALANCES:
        print(f"  … and {len(found.imbalances) - SHOWN_IMBALANCES} more; --json shows all")


def _file(account: Account) -> tuple[object, ...]:
    return (
        account.file.instance,
        account.file.log,
        account.file.generation,
        *map(console.count, (account.size, account.entries, account.dead_letters, account.framing_bytes)),
        *map(console.count, (account.gap_bytes, account.pending, account.behind, account.duplicates)),
    )


def _show_details(found: Books) -> None:
    dead_letters = [detail for detail in found.details if detail.kind == "DEAD_LETTER"]
    if dead_letters:
        console.heading("Dead letters")
        rows = [
            (d.file.instance, d.file.log, d.file.generation, d.stage, d.detail, d.count, d.bytes)
            for d in dead_letters
        ]
        console.table(
            ("instance", "log", "gen", "stage", "code", "count", "bytes"), rows, ("gen", "count", "bytes")
        )
    if found.gaps:
        console.heading("Gaps")
        rows = [
            (g.file.instance, g.file.log, g.file.generation, g.kind, g.from_offset, g.bytes)
            for g in found.gaps
        ]
        console.table(("instance", "log", "gen", "kind", "from", "bytes"), rows, ("gen", "from", "bytes"))


def _show_minutes(found: Books) -> None:
    if found.minutes:
        console.heading("Minutes")
        rows = [(m.instance, m.log, f"{m.first:%Y-%m-%d %H:%M}", m.minutes, m.state) for m in found.minutes]
        console.table(("instance", "log", "from (UTC)", "minutes", "state"), rows, ("minutes",))
