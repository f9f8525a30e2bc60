"""Places legal holds, which keep rows of ClickHouse beyond their retention, and releases them.

A hold keeps the rows that its selector selects, in every table that has its keys (docs/RETENTION.md).
`place` returns after none of them can be deleted any more. To release a hold, one person requests it, and
another person confirms it with the same command. Each action is recorded and never deleted.
"""

import argparse
import getpass
import sys

from tailrace import console
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.retention import holds, selectors
from tailrace.retention.holds import Hold
from tailrace.retention.selectors import Selector

HELP = "place, list and release legal holds"
EXAMPLES = (
    'tailrace hold place --case 2026-17 --selector "instance:shop-db-1 user:etl from:2026-10-01" '
    '--reason "letter of 3 November"',
    "tailrace hold list",
    'tailrace hold release 3fa9 --reason "the case is closed"',
)
EXIT_CODES = {
    1: "the hold was refused, or the TTLs could not be changed: repeat with `tailrace retention apply`",
    3: "the stack is not running",
}
SEE_ALSO = ("tailrace retention", "docs/RETENTION.md")
KEYS = {
    "list": {
        "id": "id of the hold, 32 hexadecimal digits",
        "case": "the case, as it was given",
        "selector": "the selected rows, as KEY:VALUE words",
        "state": "active, release requested or released",
        "placed_at": "time of the placement, UTC",
        "placed_by": "who placed it",
        "reason": "why it was placed",
        "requested_at": "time of the request to release it, UTC; null without one",
        "requested_by": "who requested the release; empty without one",
        "released_at": "time of the confirmation, UTC; null if it is in force",
        "released_by": "who confirmed the release; empty if it is in force",
    }
}
SHORT_ID = 8


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="doing", metavar="SUBCOMMAND", required=True)
    place = commands.add_parser("place", help="keep rows until the hold is released")
    place.add_argument("--case", required=True, metavar="NAME", help="the case that needs the rows")
    place.add_argument(
        "--selector",
        required=True,
        type=_selector,
        metavar="TEXT",
        help=f"KEY:VALUE words; keys: {', '.join((*selectors.NAMES, selectors.FIRST, selectors.END))}",
    )
    _add_reason_and_actor(place)
    output.add_option(commands.add_parser("list", help="list all holds, also released ones"))
    release = commands.add_parser("release", help="request the release of a hold, or confirm the request")
    release.add_argument("id", metavar="ID", help="id of the hold, or a prefix of it")
    _add_reason_and_actor(release)


def _add_reason_and_actor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why; never deleted")
    parser.add_argument("--actor", default="", metavar="NAME", help="your name (default: your login name)")
    parser.add_argument(
        "--record-only",
        action="store_true",
        help="do not change TTLs: `retention` of tailrace.deployment does it, on all servers of a cluster",
    )


def _selector(text: str) -> Selector:
    try:
        return selectors.parse(text)
    except selectors.SelectorError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    return {"place": _place, "list": _list, "release": _release}[arguments.doing](arguments, context)


def _place(arguments: argparse.Namespace, context: Context) -> Exit:
    _warn_of_names(arguments.selector, context)
    auditor, actor = context.clickhouse(holds.ACCOUNT), arguments.actor or getpass.getuser()
    id_ = holds.place(auditor, arguments.case, arguments.selector, actor, arguments.reason)
    if arguments.record_only:
        print(f"{id_[:SHORT_ID]} is recorded, and in force after the next run of `retention`")
        return Exit.OK
    print(f"{id_[:SHORT_ID]} is recorded; changing the TTLs of its tables")
    _apply(context)
    print(console.plain(f"{id_[:SHORT_ID]} is in force: {arguments.selector.text()}"))
    return Exit.OK


def _warn_of_names(selector: Selector, context: Context) -> None:
    """Prints a warning if rows contain pseudonyms: a selector with a name does not select them."""
    from tailrace.erasure import vault
    from tailrace.erasure.pseudonyms import KINDS, is_pseudonym

    names = [
        f"{kind}:{name}" for kind in KINDS for name in selector.values.get(kind, ()) if not is_pseudonym(name)
    ]
    if names and vault.is_used(context.secrets):
        print(
            f"Warning: this hold does not select rows with the pseudonym of {', '.join(names)} "
            "(docs/ERASURE.md); `tailrace reveal` shows it",
            file=sys.stderr,
        )


def _release(arguments: argparse.Namespace, context: Context) -> Exit:
    actor = arguments.actor or getpass.getuser()
    hold = holds.release(context.clickhouse(holds.ACCOUNT), arguments.id, actor, arguments.reason)
    id_ = hold.id[:SHORT_ID]
    if hold.is_in_force:
        print(console.plain(f"{id_}: {actor} has requested the release; another person must confirm it:"))
        print(f'  tailrace hold release {id_} --reason "…"')
        return Exit.OK
    if not arguments.record_only:
        _apply(context)
    print(console.plain(f"{id_} is released by {actor}; ClickHouse deletes what is older than its retention"))
    return Exit.OK


def _apply(context: Context) -> None:
    from tailrace.migrations import runner

    runner.apply_retention(context.clickhouse("admin"), report=lambda line: print(f"  {line}"))


def _list(arguments: argparse.Namespace, context: Context) -> Exit:
    found = holds.listed(context.clickhouse(holds.ACCOUNT))
    rows = [_row(hold) for hold in found]
    if arguments.output == output.JSON:
        output.write_json(rows)
    elif arguments.output == output.CSV:
        output.write_csv(KEYS["list"], rows)
    elif rows:
        columns = (
            "id",
            "case",
            "selector",
            "state",
            "placed (UTC)",
            "by",
            "release requested by",
            "released by",
        )
        console.table(columns, [_cells(hold) for hold in found])
    else:
        print("there is no legal hold")
    return Exit.OK


def _row(hold: Hold) -> dict[str, object]:
    return {
        "id": hold.id,
        "case": hold.case_name,
        "selector": hold.selector.text(),
        "state": hold.state,
        "placed_at": hold.placed_at,
        "placed_by": hold.placed_by,
        "reason": hold.placed_because,
        "requested_at": hold.requested_at,
        "requested_by": hold.requested_by,
        "released_at": hold.released_at,
        "released_by": hold.released_by,
    }


def _cells(hold: Hold) -> list[str]:
    cells = [hold.case_name, hold.selector.text(), hold.state, hold.placed_at[:16], hold.placed_by]
    return [hold.id[:SHORT_ID], *map(console.plain, [*cells, hold.requested_by, hold.released_by])]
