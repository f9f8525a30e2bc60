"""Runs the Java command line: the same pure code as in the Flink job, on a file, without any server.

Its commands parse their own arguments, `--help` too.
"""

import os
from collections.abc import Sequence

from tailrace import jobs, preflight
from tailrace.commands import Context
from tailrace.console import Steps
from tailrace.exits import Exit
from tailrace.preflight import PreflightError
from tailrace.stack.install import LoggedProgress

COMMANDS = {
    "digest": "report the heaviest statements of a log file; needs no server",
    "parse": "turn a log file into events, one JSON object a line; needs no server",
    "fingerprint": "show a statement's fingerprint and query_id; needs no server",
}


def execute(words: Sequence[str], context: Context) -> Exit:
    """Replaces this process by the JVM; builds the jar first if the sources have changed."""
    if not jobs.are_built(context.settings):
        _build(context)
    jar = str(jobs.jar(context.settings, "cli.jar"))
    os.execvp("java", ["java", "-XX:+UseSerialGC", "-jar", jar, *words])


def _build(context: Context) -> None:
    if missing := preflight.absent_tools(("java", "mvn")):
        raise PreflightError("\n".join(missing))
    steps = Steps()
    jobs.build(context.settings, LoggedProgress("jobs", context.home.log("install-jobs"), steps.show))
