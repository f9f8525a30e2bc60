"""Replaces this installation's data, secrets and configuration files by a backup of `tailrace backup`.

The stack must be stopped. The present content is moved to before-restore-… in the home directory; remove it
when you no longer need it. After `tailrace up`, logs are read on from the positions in the backup.
"""

import argparse
from pathlib import Path

from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit
from tailrace.console import Steps
from tailrace_local import backup
from tailrace_local.supervisor.supervisor import is_locked

HELP = "restore a backup; logs are read again from its positions"
EXAMPLES = ("tailrace down", "tailrace restore /mnt/backups/tailrace-2026-11-22", "tailrace up")
SEE_ALSO = ("tailrace backup", "docs/BACKUP.md")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, help="directory of a backup")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    if is_locked(context.home):
        raise CommandError("the stack is running; stop it first: tailrace down")
    steps = Steps()
    made, aside = backup.restore(context.home, arguments.directory.resolve())
    if aside:
        steps.show("restore", f"the old content is in {aside}")
    steps.show("restore", f"{made.files} files of version {made.version} restored; start with: tailrace up")
    return Exit.OK
