"""Builds the Java command line if its sources have changed, and runs it.

Its commands parse their own arguments, `--help` too. Standard output is theirs: events, a report.
"""

import sys
from collections.abc import Sequence

from tailrace import jobs, jvm, preflight
from tailrace.commands import Context
from tailrace.console import Steps
from tailrace.exits import Exit
from tailrace.preflight import PreflightError
from tailrace.stack.install import LoggedProgress

COMMANDS = jvm.COMMANDS


def execute(words: Sequence[str], context: Context) -> Exit:
    """Replaces this process by the JVM."""
    if not jobs.are_built(context.settings):
        _build(context)
    jvm.start(jobs.jar(context.settings, "cli.jar"), words)


def _build(context: Context) -> None:
    if missing := preflight.absent_tools(("java", "mvn")):
        raise PreflightError("\n".join(missing))
    steps = Steps(sys.stderr)
    jobs.build(context.settings, LoggedProgress("jobs", context.home.log("install-jobs"), steps.show))
