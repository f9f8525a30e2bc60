"""Stops every part in order, then the supervisor. Data stays; `make clean-data` removes it.

With names it stops only these parts, and they stay so until `tailrace up PART`.
"""

import argparse

from tailrace.cli.context import Context, NotRunningError
from tailrace.cli.exit_codes import Exit
from tailrace_local.supervisor import control

HELP = "stop the stack; data stays"
EXAMPLES = ("tailrace down", "tailrace down clickhouse   # to see what an outage does")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("parts", nargs="*", metavar="PART", help="stop only these")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    for component in arguments.parts:
        control.stop_component(context.home, component)
    return Exit.OK if arguments.parts else _stop_all(context)


def _stop_all(context: Context) -> Exit:
    try:
        control.stop(context.home)
    except NotRunningError:
        print("not running")
        return Exit.OK
    print("stopped; every part has ended")
    return Exit.OK
