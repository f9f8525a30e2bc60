"""`tailrace digest --server DSN`: downloads the slow log of a server from its log tables, and reports it.

The puller downloads, because only it knows tables; the JVM reports, as for files.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tailrace.cli import java_command_line
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.errors import UsageError
from tailrace.programs import pull

OPTIONS = ("--server", "--password-file")
EMPTY = (
    "tailrace: the log table contains no row: no statement took long_query_time since the last rotation, or"
    " the server began to log to it only now (docs/PULL.md#log-tables)"
)


def run(words: Sequence[str], context: Context) -> Exit:
    """Downloads into a directory that is removed afterwards. Raises UsageError."""
    values, rest = _split(words)
    with tempfile.TemporaryDirectory(prefix="tailrace-") as directory:
        if not _download(values, directory):
            return Exit.FAILED
        files = sorted(str(file) for file in Path(directory).rglob("*") if file.is_file())
        if not files:
            print(EMPTY, file=sys.stderr)
            return Exit.FAILED
        return Exit(java_command_line.call(context.java_command_line(), [*rest, *files]))


def _download(values: dict[str, str], directory: str) -> bool:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tailrace_pull", "once", "--directory", directory),
            *(word for option, value in values.items() for word in (option, value)),
        ],
        env={**os.environ, "PYTHONPATH": pull.PROGRAMS},
        check=False,
    )
    return done.returncode == 0


def _split(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Returns the values of our options, and the other words."""
    values: dict[str, str] = {}
    rest: list[str] = []
    left = list(words)
    while left:
        option, equals, value = left.pop(0).partition("=")
        if option not in OPTIONS:
            rest.append(option + equals + value)
        elif equals or left:
            values[option] = value if equals else left.pop(0)
        else:
            raise UsageError(f"{option} needs a value")
    return values, rest
