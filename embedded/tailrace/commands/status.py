"""Shows each part: state, address, version, restarts, memory and processor time.

Exits with 0 when every part is healthy, 1 when one is not, 3 when nothing runs.
"""

import argparse
import json
import time

from tailrace import console
from tailrace.commands import Context
from tailrace.exits import Exit
from tailrace.stack import control
from tailrace.stack.control import PartStatus, StackStatus

HELP = "show the parts: state, address, version, restarts, memory"
EXAMPLES = ("tailrace status", "tailrace status --json | jq -r '.parts[] | [.name, .pid] | @tsv'")

HEADER = ("part", "state", "address", "version", "pid", "for", "restarts", "memory", "cpu")
COLOURS = {"healthy": console.GREEN, "starting": console.YELLOW, "waiting": console.YELLOW}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    status = control.status(context.home)
    if arguments.json:
        print(json.dumps(status.to_json(), indent=2))
    else:
        show(status)
    return Exit.OK if status.is_healthy else Exit.FAILED


def show(status: StackStatus) -> None:
    """Prints the table, and a sentence for each part that is not healthy."""
    console.heading("Parts")
    console.table(HEADER, map(_row, status.parts), right=("pid", "restarts", "memory", "cpu"))
    for part in status.parts:
        if not part.is_healthy:
            colour = COLOURS.get(part.state, console.RED)
            print(console.styled(f"  {part.name}: {part.state}: {part.reason}", colour))


def _row(part: PartStatus) -> tuple[object, ...]:
    return (
        part.name,
        part.state,
        part.address,
        part.version or "-",
        part.pid or "-",
        console.duration(time.time() - part.since),
        part.restarts,
        console.size(part.rss_bytes),
        console.duration(part.cpu_seconds),
    )
