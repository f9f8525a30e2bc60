"""Copies all data, secrets and configuration files to a new directory, for `tailrace restore`.

Running components are stopped during the copy, and started again. Logs are not read meanwhile; no line is
lost. The copy contains secrets and unmasked log bytes: protect it like those. It does not contain the vault
of names. Kafka's topics, checkpoints and some tables in it contain names in clear (docs/ERASURE.md).
"""

import argparse
from pathlib import Path

from tailrace import console
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.console import Steps
from tailrace.errors import NotRunningError
from tailrace_local import backup
from tailrace_local.stack import start as stack_start
from tailrace_local.supervisor import control

HELP = "copy all data, secrets and configuration to a directory"
SEE_ALSO = ("tailrace restore", "docs/BACKUP.md")
EXAMPLES = ("tailrace backup /mnt/backups/tailrace-2026-11-22",)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, help="a new or empty directory")
    parser.add_argument(
        "--with-names",
        action="store_true",
        help="copy the vault of names, too: delete this copy when a name is erased",
    )


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    steps = Steps()
    runs = _stop(context, steps)
    try:
        steps.show("backup", f"copying to {arguments.directory}")
        made = backup.make(context.home, arguments.directory.resolve(), arguments.with_names)
    finally:
        if runs:
            stack_start.start_stack(context.settings, context.home, steps.show)
    steps.show("backup", f"{made.files} files, {console.size(made.bytes)}, in {arguments.directory}")
    return Exit.OK


def _stop(context: Context, steps: Steps) -> bool:
    """Stops the components; returns whether they ran."""
    try:
        control.status(context.home)
    except NotRunningError:
        return False
    steps.show("supervisor", "stopping all components")
    control.stop(context.home)
    return True
