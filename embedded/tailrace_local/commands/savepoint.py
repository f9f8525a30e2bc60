"""Makes a job write a savepoint: a checkpoint that is never deleted automatically, for `tailrace rewind`."""

import argparse

from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit
from tailrace.console import Steps
from tailrace_local import checkpoints
from tailrace_local.components.detect import Detect
from tailrace_local.components.flink import Flink
from tailrace_local.supervisor import control

HELP = "save a job's current state, for `tailrace rewind`"
EXIT_CODES = {3: "the stack is not running"}
SEE_ALSO = ("tailrace rewind", "docs/UPGRADING.md")
EXAMPLES = ("tailrace savepoint   # before an upgrade", "tailrace savepoint detect")


JOBS = {job.name: job for job in (Flink, Detect)}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "component", nargs="?", choices=JOBS, default=Flink.name, help="component of the job (default: flink)"
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
