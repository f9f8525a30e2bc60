"""Restarts one part, or several, and waits until all are healthy again.

Configuration is written anew, and what has changed since it was installed is installed first: after a change
of stream-jobs/ `tailrace restart flink` runs the new job.
"""

import argparse

from tailrace.commands import Context
from tailrace.console import Steps
from tailrace.exits import Exit
from tailrace.stack import bringup, control

HELP = "restart a part"
EXAMPLES = ("tailrace restart flink", "tailrace restart fluentbit census")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("parts", nargs="+", metavar="PART", help="its name, as `tailrace status` shows it")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    steps = Steps()
    bringup.install_again(arguments.parts, context.settings, context.home, steps.show)
    for part in arguments.parts:
        steps.show(part, "restarting")
        control.restart(context.home, part)
    bringup.await_health(context.home, steps.show)
    steps.show("all", "healthy")
    return Exit.OK
