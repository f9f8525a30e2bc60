"""Stops every component in order, then the supervisor. Data stays; `make clean-data` removes it.

With names it stops only these components, until `tailrace up COMPONENT`.
"""

import argparse

from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.errors import NotRunningError
from tailrace_local.supervisor import control

HELP = "stop the stack; data stays"
EXIT_CODES = {0: "the stack is stopped, also if it did not run", 3: "with names: the stack is not running"}
SEE_ALSO = ("tailrace up", "tailrace restart", "tailrace status")
EXAMPLES = ("tailrace down", "tailrace down clickhouse   # to simulate an outage")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("parts", nargs="*", metavar="COMPONENT", help="stop only these components")


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
    print("stopped; every component has ended")
    return Exit.OK
