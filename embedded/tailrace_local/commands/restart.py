"""Restarts components, and waits until all are healthy again.

Configuration is written again, and changed sources are installed first: after a change of stream-jobs/,
`tailrace restart flink` runs the new job.
"""

import argparse

from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.console import Steps
from tailrace_local.stack import start as stack_start
from tailrace_local.supervisor import control

HELP = "restart components"
EXIT_CODES = {3: "the stack is not running"}
SEE_ALSO = ("tailrace status", "tailrace logs")
EXAMPLES = ("tailrace restart flink", "tailrace restart fluentbit census")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "parts", nargs="+", metavar="COMPONENT", help="name of a component, as in `tailrace status`"
    )


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    steps = Steps()
    stack_start.install_again(arguments.parts, context.settings, context.home, steps.show)
    for component in arguments.parts:
        steps.show(component, "restarting")
        control.restart(context.home, component)
    stack_start.await_health(context.home, steps.show)
    steps.show("all", "healthy")
    return Exit.OK
