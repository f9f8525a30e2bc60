"""Has a job write a savepoint: a checkpoint that stays until somebody removes it, to `tailrace rewind`
to."""

import argparse

from tailrace.cli.console import Steps
from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit
from tailrace_local import checkpoints
from tailrace_local.components.detect import Detect
from tailrace_local.components.flink import Flink
from tailrace_local.supervisor import control

HELP = "keep a job's state of now, to go back to"
EXAMPLES = ("tailrace savepoint   # before an upgrade", "tailrace savepoint detect")


JOBS = {job.name: job for job in (Flink, Detect)}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "component", nargs="?", choices=JOBS, default=Flink.name, help="whose job (default: flink)"
    )


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    flink = JOBS[arguments.component](context.settings, context.home)
    component = control.status(context.home).component(flink.name)
    if component is None or not component.is_healthy:
        raise CommandError("the job is not running, or not healthy; see: tailrace status")
    path = flink.take_savepoint()
    steps = Steps()
    (taken,) = [found for found in checkpoints.completed(flink.checkpoint_directory()) if found.path == path]
    steps.show(flink.name, f"savepoint {taken.id} in {taken.path}")
    return Exit.OK
