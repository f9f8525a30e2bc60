"""Builds the Java command line if its sources have changed, and runs it.

Its commands parse their own arguments, including `--help`. They own standard output: events, a report.
"""

import sys
from collections.abc import Sequence

from tailrace.cli import backtest, java_command_line, server_digest
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.console import Steps
from tailrace_local import java_build, preflight
from tailrace_local.preflight import PreflightError
from tailrace_local.supervisor.install import LoggedProgress


def execute(words: Sequence[str], context: Context) -> Exit:
    """Replaces this process by the JVM, except for `digest --server`."""
    if not java_build.are_built(context.settings):
        _build(context)
    if not java_command_line.reads_server(words):
        java_command_line.start(context.java_command_line(), backtest.completed(words, context))
    return server_digest.run(words, context)


def _build(context: Context) -> None:
    if missing := preflight.absent_tools(("java", "mvn")):
        raise PreflightError("\n".join(missing))
    steps = Steps(sys.stderr)
    java_build.build(context.settings, LoggedProgress("jobs", context.home.log("install-jobs"), steps.show))
