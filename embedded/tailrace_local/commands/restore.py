"""Puts a backup of `tailrace backup` in place of this installation's data, secrets and configuration files.

Nothing may run. What is there now is moved aside, into the home directory's before-restore-…, and yours to
remove. After `tailrace up` the logs are read on from where the backup had read them.
"""

import argparse
from pathlib import Path

from tailrace.cli.console import Steps
from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit
from tailrace_local import backup
from tailrace_local.supervisor.supervisor import is_locked

HELP = "go back to a backup; logs are read again from there"
EXAMPLES = ("tailrace down", "tailrace restore /mnt/backups/tailrace-2026-11-22", "tailrace up")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, help="of a backup")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    if is_locked(context.home):
        raise CommandError("the stack is running; stop it first: tailrace down")
    steps = Steps()
    made, aside = backup.restore(context.home, arguments.directory.resolve())
    if aside:
        steps.show("restore", f"what was there is in {aside}")
    steps.show("restore", f"{made.files} files as version {made.version} left them; start with: tailrace up")
    return Exit.OK
