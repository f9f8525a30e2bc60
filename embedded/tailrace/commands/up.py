"""Starts the stack in the background and waits until every part is healthy.

What is missing is installed first. A machine that lacks something (a program, a free port, disk, memory) is
told so in one sentence, and nothing is started. Which logs are watched is listed in sources.yaml.
"""

import argparse

from tailrace import sources
from tailrace.commands import Context, status
from tailrace.console import Steps
from tailrace.exits import Exit
from tailrace.stack import bringup, daemon

HELP = "start the stack"
EXAMPLES = (
    "tailrace up",
    "TAILRACE_PARTS=kafka,clickhouse,flink,census,fluentbit tailrace up   # without dashboards",
    "tailrace up --foreground        # for a service manager; SIGTERM stops it in order",
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--foreground", action="store_true", help="stay, and stop the stack on SIGTERM or Ctrl-C"
    )


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    steps = Steps()
    sources.make_empty(context.settings.sources)
    if arguments.foreground:
        bringup.install(context.settings, context.home, steps.show)
        daemon.run(context.settings, context.home)
        return Exit.OK
    running = bringup.bring_up(context.settings, context.home, steps.show)
    status.show(running)
    return Exit.OK
