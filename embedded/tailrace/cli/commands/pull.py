"""Downloads the logs of managed servers in sources.yaml into a directory, without a stack. Or, with --from,
writes log files from files that AWS, Google Cloud or Azure exported, or that a container runtime wrote.

Rotated files and tables that still exist are downloaded, too. `tailrace digest`, `parse` and `detect` read
the files. The component pull of a running stack reads the same logs continuously.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit
from tailrace.programs import pull
from tailrace.sources import sources_file
from tailrace.sources.sources_file import PulledSource

HELP = "download the logs of managed servers, or convert exported ones"
EXAMPLES = (
    "tailrace pull --once shop-db-2 -o /tmp/logs",
    "tailrace digest '/tmp/logs/shop-db-2/rds/*/*/slowquery/*'",
    "tailrace digest '/tmp/logs/shop-db-3/table/shop-db-3/mysql/slow_log*'",
    "tailrace pull --from exported/ -o /tmp/logs",
)
EXIT_CODES = {0: "all files were written", 1: "a log or a record could not be read; the message states why"}
SEE_ALSO = ("tailrace digest", "docs/PULL.md")


def configure(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--once", metavar="INSTANCE", help="the server, as in sources.yaml")
    what.add_argument(
        "--from",
        dest="exported",
        type=Path,
        metavar="EXPORTED",
        help="directory with exported files, also compressed ones: docs/PULL.md lists the recognized files",
    )
    parser.add_argument(
        "-o", "--directory", type=Path, required=True, help="directory for the files; made if it is missing"
    )


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    if arguments.exported:
        return _import(arguments)
    logs = _logs(arguments.once, context)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as listed:
        listed.write(pull.listed(logs))
        listed.flush()
        done = _run("once", "--logs", listed.name, "--directory", arguments.directory)
    if done is not Exit.OK:
        print(f"see: tailrace doctor --source {shlex.quote(arguments.once)}", file=sys.stderr)
    for file in sorted(arguments.directory.rglob("*")):
        if file.is_file():
            print(file)
    return done


def _import(arguments: argparse.Namespace) -> Exit:
    if not arguments.exported.is_dir():
        raise CommandError(f"{arguments.exported} is no directory")
    return _run("import", "--from", arguments.exported, "--directory", arguments.directory)


def _run(*words: str | Path) -> Exit:
    done = subprocess.run(
        [sys.executable, "-m", "tailrace_pull", *words],
        env={**os.environ, "PYTHONPATH": pull.PROGRAMS},
        check=False,
    )
    return Exit.OK if done.returncode == 0 else Exit.FAILED


def _logs(instance: str, context: Context) -> list[PulledSource]:
    pulled = sources_file.read(context.settings.sources).pulled
    if found := [log for log in pulled if log.instance == instance]:
        return found
    known = ", ".join(sorted({log.instance for log in pulled})) or "none"
    raise CommandError(
        f"{context.settings.sources} has no pulled log of {json.dumps(instance)} (an entry with `kind`);"
        f" pulled servers: {known}"
    )
