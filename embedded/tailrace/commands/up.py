"""Starts the stack in the background and waits until every part is healthy.

What is missing is installed first. A machine that lacks something (a program, a free port, disk, memory) is
told so in one sentence, and nothing is started. Which logs are watched is listed in sources.yaml. With names
it starts parts that `tailrace down PART` has stopped.
"""

import argparse

from tailrace import sources
from tailrace.certificates import Certificates
from tailrace.commands import CommandError, Context, status
from tailrace.console import Steps
from tailrace.exits import Exit
from tailrace.stack import bringup, control, daemon
from tailrace.stack.supervisor import is_locked

HELP = "start the stack"
EXAMPLES = (
    "tailrace up",
    "TAILRACE_PARTS=kafka,clickhouse,flink,census,fluentbit tailrace up   # without dashboards",
    "tailrace up --secure            # TLS, passwords and rights: docs/SECURITY.md",
    "tailrace up --foreground        # for a service manager; SIGTERM stops it in order",
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("parts", nargs="*", metavar="PART", help="start only these, of a running stack")
    parser.add_argument(
        "--foreground", action="store_true", help="stay, and stop the stack on SIGTERM or Ctrl-C"
    )
    parser.add_argument(
        "--secure",
        action="store_true",
        help="TLS, passwords and rights at every listener (docs/SECURITY.md); the stack stays so",
    )


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    steps = Steps()
    if arguments.secure:
        _secure(context)
    for part in arguments.parts:
        control.start_part(context.home, part)
    sources.make_empty(context.settings.sources)
    sources.load(context.settings.sources)  # a mistake in it is told before anything is started
    if arguments.foreground:
        bringup.install(context.settings, context.home, steps.show)
        daemon.run(context.settings, context.home)
        return Exit.OK
    running = bringup.bring_up(context.settings, context.home, steps.show)
    status.show(running)
    status.show_logins(running, context)
    return Exit.OK


def _secure(context: Context) -> None:
    """Makes certificates, which is what says that the stack is secured. Raises CommandError."""
    certificates = Certificates(context.home)
    if certificates.exist():
        return
    if is_locked(context.home):
        raise CommandError("the stack runs unsecured; stop it first: tailrace down")
    certificates.make()
