"""`tailrace digest --server DSN`: reads the counters of a server, or its log tables, and reports them.

The puller reads, because only it knows tables; the JVM reports, as for files.
"""

import os
import re
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

OPTIONS = ("--server", "--password-file", "--via", "--for")
WAYS = ("performance_schema", "log_tables")
COUNTERS, INPUT_NAME = "counters.jsonl", "input-name"
"""The files that the puller writes: the counters of a server, or the name of a downloaded log."""
EMPTY = (
    "tailrace: the log table contains no row: no statement took long_query_time since the last rotation, or"
    " the server began to log to it only now (docs/PULL.md#log-tables)"
)


def run(words: Sequence[str], context: Context) -> Exit:
    """Reads into a directory that is removed afterwards. Raises UsageError."""
    values, rest = _split(words)
    _require_known(values)
    with tempfile.TemporaryDirectory(prefix="tailrace-") as directory:
        if not _download(values, directory):
            return Exit.FAILED
        found = _inputs(Path(directory))
        if not found:
            print(EMPTY, file=sys.stderr)
            return Exit.FAILED
        return Exit(java_command_line.call(context.java_command_line(), [*rest, *found]))


def _inputs(directory: Path) -> list[str]:
    """Returns the words that name the input for the JVM; none if the log contains nothing."""
    if (directory / COUNTERS).exists():
        return ["--counters", str(directory / COUNTERS)]
    name = (directory / INPUT_NAME).read_text()
    files = sorted(file for file in directory.rglob("*") if file.is_file() and file.name != INPUT_NAME)
    return ["--input-name", name, *map(str, files)] if files else []


def _require_known(values: dict[str, str]) -> None:
    """Raises UsageError."""
    via, seconds = values.get("--via"), values.get("--for")
    if via is not None and via not in WAYS:
        raise UsageError(f"--via expects {' or '.join(WAYS)}, found {via!r}")
    if seconds is not None and not re.fullmatch(r"0*[1-9][0-9]*[smh]", seconds):
        raise UsageError(f"--for expects a duration such as 30s, 5m or 1h, found {seconds!r}")


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
