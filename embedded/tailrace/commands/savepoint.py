"""Has the job write a savepoint: a checkpoint that stays until somebody removes it, to `tailrace rewind`
to."""

import argparse

from tailrace import checkpoints
from tailrace.commands import CommandError, Context
from tailrace.console import Steps
from tailrace.exits import Exit
from tailrace.parts.flink import Flink
from tailrace.stack import control

HELP = "keep the job's state of now, to go back to"
EXAMPLES = ("tailrace savepoint   # before an upgrade",)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    flink = Flink(context.settings, context.home)
    part = control.status(context.home).part(flink.name)
    if part is None or not part.is_healthy:
        raise CommandError("the job is not running, or not healthy; see: tailrace status")
    path = flink.take_savepoint()
    steps = Steps()
    (taken,) = [found for found in checkpoints.completed(flink.checkpoint_directory()) if found.path == path]
    steps.show(flink.name, f"savepoint {taken.id} in {taken.path}")
    return Exit.OK
