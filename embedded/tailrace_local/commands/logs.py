"""Shows the end of the components' logs, and with -f new lines.

The log `supervisor` contains every start, crash and restart.
"""

import argparse
import os

from tailrace.cli import suggestions
from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit

HELP = "show the components' logs"
EXIT_CODES = {1: "there is no such log"}
SEE_ALSO = ("tailrace status", "tailrace health")
EXAMPLES = ("tailrace logs", "tailrace logs flink -n 200", "tailrace logs supervisor kafka -f")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("parts", nargs="*", metavar="COMPONENT", help="names of components (default: all)")
    parser.add_argument(
        "-n", "--lines", type=int, default=20, metavar="N", help="number of lines of each log (default: 20)"
    )
    parser.add_argument("-f", "--follow", action="store_true", help="keep printing new lines")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    directory = context.home.log("any").parent
    known = sorted(path.stem for path in directory.glob("*.log"))
    if unknown := sorted(set(arguments.parts) - set(known)):
        hint = suggestions.suggestion(unknown[0], known)
        raise CommandError(f"there is no log of {unknown[0]}; there are {', '.join(known) or 'none'}{hint}")
    files = [str(directory / f"{component}.log") for component in arguments.parts or known]
    # -F continues with the new file after a rotation.
    follow = ["-F"] if arguments.follow else []
    os.execvp("tail", ["tail", "-n", str(arguments.lines), *follow, *files])
