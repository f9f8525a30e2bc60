"""Shows the transparency log: size, last checkpoint, witnesses, and rows that it does not contain.

The log contains signed ranges of log files and a digest of the rows of each table and minute. Each checkpoint
is cosigned by witnesses, so that a change of the past is detected. Minutes of the last two days whose number
of rows is not that of the log are listed as different: `tailrace verify --live` states what differs.
"""

import argparse
import getpass
from datetime import UTC, datetime

from tailrace import console
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.plural import counted
from tailrace.transparency import keys, status
from tailrace.transparency.leaves import iso
from tailrace.transparency.status import LogStatus

HELP = "show the transparency log, its last checkpoint and missing rows"
EXAMPLES = (
    "tailrace transparency status",
    'tailrace transparency acknowledge --reason "restored from the backup of Monday, ticket 4711"',
)
EXIT_CODES = {
    0: "the last checkpoint is recent, and nothing differs",
    1: "no checkpoint was published for ten minutes, an incident is open, or minutes differ from the log",
    3: "the stack is not running",
}
SEE_ALSO = ("tailrace witness", "tailrace ledger", "docs/TRANSPARENCY.md")
KEYS = {
    "status": {
        "origin": "name of the log",
        "size": "number of leaves",
        "published_size": "leaves of the last published checkpoint; null if there is none",
        "published_at": "time of the last published checkpoint, in ISO 8601 UTC; null if there is none",
        "age_seconds": "seconds since then; null if there is none",
        "witnesses": "object: leaves that each witness has cosigned last",
        "waiting": "object by table: rows and minutes that are not in the log yet",
        "differing": "object by table: minutes of the last two days with another number of rows",
        "incidents": "open incidents: time and text",
    }
}
LONGEST_AGE_SECONDS = 600
SHOWN = 5


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="doing", metavar="SUBCOMMAND", required=True)
    output.add_option(commands.add_parser("status", help="show size, checkpoint, witnesses and missing rows"))
    done = commands.add_parser("acknowledge", help="record that you have examined the open incidents")
    done.add_argument("--reason", required=True, metavar="TEXT", help="what you found")
    done.add_argument("--actor", default="", metavar="NAME", help="your name (default: your login name)")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    directory = keys.directory(context.home)
    if arguments.doing == "acknowledge":
        count = status.acknowledge(directory, arguments.reason, arguments.actor or getpass.getuser())
        print(f"acknowledged incidents: {count}")
        return Exit.OK
    found = status.read(directory, context.clickhouse("auditor"))
    if arguments.output == output.JSON:
        output.write_json(as_json(found))
    elif arguments.output == output.CSV:
        output.write_csv(KEYS["status"], [as_json(found)])
    else:
        _show(found)
    return Exit.OK if is_good(found) else Exit.FAILED


def is_good(found: LogStatus) -> bool:
    age = found.age()
    is_recent = age is not None and age <= LONGEST_AGE_SECONDS
    return is_recent and not found.open_incidents() and not any((found.differing or {}).values())


def as_json(found: LogStatus) -> dict[str, object]:
    return {
        "origin": found.origin,
        "size": found.size,
        "published_size": found.published_size,
        "published_at": None if found.published_at is None else iso(int(found.published_at)),
        "age_seconds": found.age(),
        "witnesses": found.witnesses,
        "waiting": {table: vars(each) for table, each in (found.waiting or {}).items()},
        "differing": {table: list(map(iso, each)) for table, each in (found.differing or {}).items()},
        "incidents": [{"at": iso(int(each.at)), "text": each.text} for each in found.open_incidents()],
    }


def _show(found: LogStatus) -> None:
    print(f"{found.origin}: {found.size:,} leaves")
    if found.published_at is None:
        print("no checkpoint was published yet")
    else:
        at = datetime.fromtimestamp(found.published_at, UTC)
        print(
            f"last checkpoint: {counted(found.published_size, 'leaf', 'leaves')}, {at:%Y-%m-%d %H:%M:%S} UTC"
            f" ({found.age():.0f} s ago)"
        )
    for name, size in found.witnesses.items():
        print(f"witness {name}: {counted(size, 'leaf', 'leaves')}")
    for table, waiting in (found.waiting or {}).items():
        print(
            f"{table}: not in the log yet: {counted(waiting.rows, 'row')} "
            f"of {counted(waiting.minutes, 'minute')}"
        )
    for table, minutes in (found.differing or {}).items():
        _show_differing(table, minutes)
    for incident in found.open_incidents():
        print(console.styled(f"incident at {iso(int(incident.at))}: {incident.text}", console.RED))


def _show_differing(table: str, minutes: list[int]) -> None:
    if minutes:
        named = ", ".join(iso(minute) for minute in minutes[:SHOWN]) + (" …" if minutes[SHOWN:] else "")
        differ = counted(len(minutes), "minute differs", "minutes differ")
        text = f"{table}: in the last two days {differ} from the log: {named}"
        print(console.styled(text, console.RED))
