"""Starts the stack in the background and waits until every component is healthy.

Missing components are installed first. If the machine lacks something (a program, a free port, disk space,
memory), a message says so, and nothing is started. sources.yaml lists the logs to watch: a running stack
applies changes of the list, and the state of each log is printed. With names it starts components that
`tailrace down COMPONENT` has stopped.
"""

import argparse
import shlex
import time
from collections.abc import Iterator

from tailrace import console
from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit
from tailrace.console import Steps
from tailrace.credentials.certificates import Certificates
from tailrace.errors import NotRunningError
from tailrace.rules import push as rule_push
from tailrace.sources import active_sources, sources_file
from tailrace.sources.log_files import LogState
from tailrace.sources.sources_file import SourcesError
from tailrace_local.commands import status
from tailrace_local.stack import daemon
from tailrace_local.stack import start as stack_start
from tailrace_local.supervisor import control
from tailrace_local.supervisor.supervisor import is_locked

HELP = "start the stack"
EXAMPLES = (
    "tailrace up",
    "TAILRACE_COMPONENTS=kafka,clickhouse,flink,census,fluentbit tailrace up   # without dashboards",
    "tailrace up --secure            # TLS, passwords and permissions: docs/SECURITY.md",
    "tailrace up --foreground        # for a service manager; SIGTERM stops it in order",
)

EXIT_CODES = {
    0: "every component is healthy",
    1: "the machine lacks something, or a component did not become healthy",
    2: "unknown option, or an invalid setting or list of logs",
}
SEE_ALSO = ("tailrace status", "tailrace down", "tailrace doctor", "docs/CONFIGURATION.md")

NEWS_SECONDS = 3600
"""The time for which a log counts as newly listed."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "parts", nargs="*", metavar="COMPONENT", help="start only these components, of a running stack"
    )
    parser.add_argument(
        "--foreground", action="store_true", help="stay in the foreground; SIGTERM or Ctrl-C stops the stack"
    )
    parser.add_argument(
        "--secure",
        action="store_true",
        help="TLS, passwords and permissions at every listener (docs/SECURITY.md); permanent",
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
    if any(component.name == "detect" for component in running.components):
        show_other_rules(context)
    return Exit.OK


def show_other_rules(context: Context) -> None:
    """Prints the next step if the detect job runs other rules than those of this version.

    It does so after an upgrade. Nothing is pushed: a site may maintain its own rules.
    """
    try:
        pushed = rule_push.newest_files(context.kafka("rules"))
    except rule_push.RulesError as error:
        console.heading("Rules")
        print(f"  whether the detect job runs the rules of this version is unknown: {error}")
        return
    if pushed and pushed != rule_push.files(rule_push.OWN):
        console.heading("Rules")
        print(
            "  the detect job runs other rules than those of this version; unless you maintain your own: "
            f"`tailrace rules push {shlex.quote(str(rule_push.OWN))}`"
        )


def _take_list(context: Context, steps: Steps) -> None:
    """Applies the list to a running stack. Reports an invalid list before anything is started."""
    sources_file.make_empty(context.settings.sources)
    try:
        restarted, problem = control.take_list(context.home)
    except NotRunningError:
        sources_file.read(context.settings.sources)
        return
    if problem:
        raise SourcesError(f"{problem}\nThe running stack keeps the previous list.")
    for component in restarted:
        steps.show(component, f"restarted: {context.settings.sources.name} has changed")


def show_logs(context: Context) -> None:
    """Prints a line for each log of the list: whether it is watched, or the problem.

    The puller has only begun to read logs of a service; the doctor shows their state.
    """
    logs = control.logs(context.home)
    active = active_sources.active(context.home)
    since, pulled = active.since, active.listed.pulled
    console.heading("Logs")
    for log in logs:
        print(console.styled(f"  {_line(log)}", console.GREEN if log.ok else console.RED))
        for more in files_beside(log, since.get((log.instance, log.source, log.path), 0.0)):
            print(console.styled(f"    {more}", console.YELLOW))
    for log in pulled:
        print(f"  {log.instance}  {log.source}  {log.kind}  is read by pull: tailrace doctor")
    if not logs and not pulled:
        print(f"  no log is watched; list yours in {context.settings.sources}")


def _line(log: LogState) -> str:
    return f"{log.instance}  {log.source}  {console.plain(log.path)}  {log.description}"


def files_beside(log: LogState, since: float) -> Iterator[str]:
    """Yields instructions for files that are older than the listing of their log, while it is new."""
    if time.time() - since > NEWS_SECONDS:
        return
    if log.rotated:
        yield (
            f"{console.number(log.rotated, 'rotated file')} next to it: unread bytes are recorded as missing "
            "within two minutes, then the component repair ships them; without it: "
            f"`tailrace backfill --instance {shlex.quote(log.instance)}`"
        )
    if log.packed:
        yield (
            f"{console.number(log.packed, 'compressed file')} next to it, neither read nor counted; "
            "uncompress those that you need"
        )


def _secure(context: Context) -> None:
    """Creates certificates, whose existence marks the stack as secured. Raises CommandError."""
    certificates = Certificates(context.home)
    if certificates.exist():
        return
    if is_locked(context.home):
        raise CommandError("the stack runs unsecured; stop it first: tailrace down")
    certificates.make()
