"""Resets job and tables to an older checkpoint or savepoint: everything after it is read again from Kafka.

Without an id it lists checkpoints and savepoints. With one it stops the job, deletes the rows that were
written after that checkpoint, rebuilds the rollups of the affected days, and starts the job from the
checkpoint. Your name, the reason and the deleted rows are recorded, so that `tailrace verify` can tell them
from manipulated ones. If it is interrupted, run it again. Take a savepoint first (`tailrace savepoint`), for
example before an upgrade: only the last few checkpoints are retained.
"""

import argparse
import getpass
import time

from tailrace import console
from tailrace.cli import output
from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit
from tailrace.console import Steps
from tailrace.migrations.rewind import Order, rewind
from tailrace.retention import record
from tailrace_local import checkpoints
from tailrace_local.checkpoints import Checkpoint
from tailrace_local.components.flink import Flink
from tailrace_local.stack import start as stack_start
from tailrace_local.supervisor import control

HELP = "reset to an older checkpoint and read again from there"
EXIT_CODES = {3: "the stack is not running"}
SEE_ALSO = ("tailrace savepoint", "docs/STATE.md")
KEYS = {
    "": {
        "id": "id of the checkpoint or savepoint",
        "completed": "when it was completed, in seconds since 1970 UTC",
        "path": "its directory",
    }
}
EXAMPLES = (
    "tailrace rewind          # list checkpoints and savepoints",
    'tailrace rewind 4711 --reason "a faulty parser"',
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", type=int, help="id of a checkpoint or savepoint")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; recorded, and never deleted")
    parser.add_argument("--actor", default="", metavar="NAME", help="your name (default: your login name)")
    output.add_option(parser)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    flink = Flink(context.settings, context.home)
    if arguments.id is None:
        _list(checkpoints.completed(flink.checkpoint_directory()), arguments.output)
    else:
        _rewind(arguments, flink, context)
    return Exit.OK


def _rewind(arguments: argparse.Namespace, flink: Flink, context: Context) -> None:
    steps, wanted = Steps(), arguments.id
    reason = arguments.reason or f"no reason was given for checkpoint {wanted}"
    order = Order(context.clickhouse(record.ACCOUNT), arguments.actor or getpass.getuser(), reason)
    _chosen(wanted, flink)  # before anything is stopped
    steps.show(flink.name, "stopping the job")
    control.stop_component(context.home, flink.name)
    try:
        checkpoint = _chosen(wanted, flink)  # a running job removes its older checkpoints
        clickhouse = context.clickhouse("admin")
        rewind(clickhouse, checkpoint.id, order, lambda doing: steps.show("clickhouse", doing))
        checkpoints.remove_later(flink.checkpoint_directory(), checkpoint)
    finally:
        control.start_component(context.home, flink.name)
    stack_start.await_health(context.home, steps.show)
    steps.show(flink.name, f"reads again from checkpoint {checkpoint.id}")


def _chosen(wanted: int, flink: Flink) -> Checkpoint:
    for checkpoint in checkpoints.completed(flink.checkpoint_directory()):
        if checkpoint.id == wanted:
            return checkpoint
    raise CommandError(f"there is no checkpoint {wanted}; `tailrace rewind` lists the existing ones")


def _list(found: list[Checkpoint], form: str) -> None:
    rows = [{name: getattr(each, name) for name in KEYS[""]} for each in found]
    if form == output.JSON:
        output.write_json(rows)
    elif form == output.CSV:
        output.write_csv(KEYS[""], rows)
    else:
        _show(found)


def _show(found: list[Checkpoint]) -> None:
    rows = [
        (checkpoint.id, f"{console.duration(time.time() - checkpoint.completed)} ago", checkpoint.path)
        for checkpoint in found
    ]
    console.table(("id", "completed", "where"), rows, right=("id",))
