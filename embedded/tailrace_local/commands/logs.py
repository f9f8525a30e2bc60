"""Shows the end of the parts' logs, and with -f what is added to them.

`supervisor` is a log too: it tells every start, crash and restart.
"""

import argparse
import os

from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit

HELP = "show the parts' logs"
EXAMPLES = ("tailrace logs", "tailrace logs flink -n 200", "tailrace logs supervisor kafka -f")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("parts", nargs="*", metavar="PART", help="default: all")
    parser.add_argument(
        "-n", "--lines", type=int, default=20, metavar="N", help="lines of each (default: 20)"
    )
    parser.add_argument("-f", "--follow", action="store_true", help="go on with what is added")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    directory = context.home.log("any").parent
    known = sorted(path.stem for path in directory.glob("*.log"))
    if unknown := sorted(set(arguments.parts) - set(known)):
        raise CommandError(f"there is no log of {unknown[0]}; there are {', '.join(known) or 'none'}")
    files = [str(directory / f"{component}.log") for component in arguments.parts or known]
    # -F goes on with the new file after a rotation.
    follow = ["-F"] if arguments.follow else []
    os.execvp("tail", ["tail", "-n", str(arguments.lines), *follow, *files])
