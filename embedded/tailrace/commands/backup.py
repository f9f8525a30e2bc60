"""Copies all data, secrets and configuration files to a new directory, for `tailrace restore`.

Parts that run are stopped for the time of the copy, and started again. Logs are not read meanwhile and lose
nothing by it. The copy holds secrets, and log bytes that nothing has masked: keep it as you keep those.
"""

import argparse
from pathlib import Path

from tailrace import backup, console
from tailrace.commands import Context
from tailrace.console import Steps
from tailrace.exits import Exit
from tailrace.stack import bringup, control

HELP = "copy all data, secrets and configuration to a directory"
EXAMPLES = ("tailrace backup /mnt/backups/tailrace-2026-11-22",)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, help="new, or empty")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    steps = Steps()
    runs = _stop(context, steps)
    try:
        steps.show("backup", f"copying to {arguments.directory}")
        made = backup.make(context.home, arguments.directory.resolve())
    finally:
        if runs:
            bringup.bring_up(context.settings, context.home, steps.show)
    steps.show("backup", f"{made.files} files, {console.size(made.bytes)}, in {arguments.directory}")
    return Exit.OK


def _stop(context: Context, steps: Steps) -> bool:
    """Stops the parts; whether they ran."""
    try:
        control.status(context.home)
    except control.NotRunningError:
        return False
    steps.show("supervisor", "stopping all parts")
    control.stop(context.home)
    return True
