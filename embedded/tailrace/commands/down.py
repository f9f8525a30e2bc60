"""Stops every part in order, then the supervisor. Data stays; `make clean-data` removes it."""

import argparse

from tailrace.commands import Context
from tailrace.exits import Exit
from tailrace.stack import control

HELP = "stop the stack; data stays"
EXAMPLES = ("tailrace down",)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    try:
        control.stop(context.home)
    except control.NotRunningError:
        print("not running")
        return Exit.OK
    print("stopped; every part has ended")
    return Exit.OK
