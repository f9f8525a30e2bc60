"""Starts the stack in the background and waits until every part is healthy.

What is missing is installed first. A machine that lacks something (a program, a free port, disk, memory) is
told so in one sentence, and nothing is started. Which logs are watched is listed in sources.yaml: a stack
that runs takes over what has been changed there, and the logs are shown as the collectors see them. With
names it starts parts that `tailrace down PART` has stopped.
"""

import argparse
import time
from collections.abc import Iterator

from tailrace.cli import console
from tailrace.cli.console import Steps
from tailrace.cli.context import CommandError, Context, NotRunningError
from tailrace.cli.exit_codes import Exit
from tailrace.credentials.certificates import Certificates
from tailrace.sources import active_sources, sources_file
from tailrace.sources.log_files import LogState
from tailrace.sources.sources_file import SourcesError
from tailrace_local.commands import status
from tailrace_local.supervisor import control, daemon
from tailrace_local.supervisor import start as stack_start
from tailrace_local.supervisor.supervisor import is_locked

HELP = "start the stack"
EXAMPLES = (
    "tailrace up",
    "TAILRACE_PARTS=kafka,clickhouse,flink,census,fluentbit tailrace up   # without dashboards",
    "tailrace up --secure            # TLS, passwords and rights: docs/SECURITY.md",
    "tailrace up --foreground        # for a service manager; SIGTERM stops it in order",
)

NEWS_SECONDS = 3600
"""How long a log counts as newly listed."""


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
    for component in arguments.parts:
        control.start_component(context.home, component)
    _take_list(context, steps)
    if arguments.foreground:
        stack_start.install(context.settings, context.home, steps.show)
        daemon.run(context.settings, context.home)
        return Exit.OK
    running = stack_start.start_stack(context.settings, context.home, steps.show)
    status.show(running)
    status.show_logins(running, context)
    show_logs(context)
    return Exit.OK


def _take_list(context: Context, steps: Steps) -> None:
    """Applies the list to a running stack. Reports a mistake in it before anything is started."""
    sources_file.make_empty(context.settings.sources)
    try:
        restarted, problem = control.take_list(context.home)
    except NotRunningError:
        sources_file.read(context.settings.sources)
        return
    if problem:
        raise SourcesError(f"{problem}\nThe running stack goes on with the list that it had before.")
    for component in restarted:
        steps.show(component, f"restarted: {context.settings.sources.name} has changed")


def show_logs(context: Context) -> None:
    """Prints a line for each log of the list: whether it is watched, and if not, why."""
    logs = control.logs(context.home)
    since = active_sources.active(context.home).since
    console.heading("Logs")
    for log in logs:
        print(console.styled(f"  {_line(log)}", console.GREEN if log.ok else console.RED))
        for more in _files_beside(log, since.get((log.instance, log.source, log.path), 0.0)):
            print(console.styled(f"    {more}", console.YELLOW))
    if not logs:
        print(f"  none is watched; list yours in {context.settings.sources}")


def _line(log: LogState) -> str:
    return f"{log.instance}  {log.source}  {console.plain(log.path)}  {log.description}"


def _files_beside(log: LogState, since: float) -> Iterator[str]:
    """What is to be done about files that were there before the log was listed, while that is news."""
    if time.time() - since > NEWS_SECONDS:
        return
    if log.rotated:
        yield (
            f"{console.number(log.rotated, 'rotated file')} beside it: what is not read of them is missing "
            f"in the books within two minutes; then `tailrace backfill --instance {log.instance}` reads it"
        )
    if log.packed:
        yield (
            f"{console.number(log.packed, 'compressed file')} beside it, which nobody reads or counts; "
            "unpack those that are to be read"
        )


def _secure(context: Context) -> None:
    """Makes certificates, which is what says that the stack is secured. Raises CommandError."""
    certificates = Certificates(context.home)
    if certificates.exist():
        return
    if is_locked(context.home):
        raise CommandError("the stack runs unsecured; stop it first: tailrace down")
    certificates.make()
