"""Feeds the two days of a shop into the stack on this machine, loses lines of an audit log, and repairs the
gap with `tailrace backfill`."""

import argparse
import contextlib
import io
import sqlite3
import time
from collections.abc import Callable
from typing import Any

from tailrace import console
from tailrace.cli.commands import backfill
from tailrace.cli.context import CommandError, Context
from tailrace.clickhouse.client import ClickHouse
from tailrace.console import Steps
from tailrace.demo import feed as demo_feed
from tailrace.demo.shop import censuses, files, story
from tailrace.demo.shop.story import Story
from tailrace.ledger import balance as ledger_balance
from tailrace.plural import counted
from tailrace.programs import fluentbit
from tailrace.sources.sources_file import Source
from tailrace_local import kafka as local_kafka
from tailrace_local.stack import start as stack_start
from tailrace_local.supervisor import control

COLLECTOR = "fluentbit"
NEEDED = ("kafka", "clickhouse", "flink", "census", COLLECTOR)
"""The components that read logs. Superset takes longest to start, so the demo does not wait for it."""
POLL_SECONDS = 0.5

POSITION = "UPDATE in_tail_files SET offset = ? WHERE inode = ?"
"""The table in which Fluent Bit's input `tail` keeps the position of each file."""

READ = """
SELECT max(to_offset) AS bytes FROM tailrace.ledger
WHERE kind = 'FRONTIER' AND instance = {instance:String} AND source = {source:String} AND log = {log:String}
"""

CENSUSES = """
SELECT uniqExact(instance, source, log) AS logs FROM tailrace.ledger
WHERE kind = 'CENSUS' AND at = toDateTime64({at:UInt32}, 6, 'UTC')
"""
"""A census of this machine is never at a whole second."""


def write(context: Context, steps: Steps) -> Story:
    """Writes logs and snapshots, and lists the logs. The stack may run or not.

    Raises CommandError if an earlier call has written logs and did not end.
    """
    written = story.write(time.time())
    if any(files.watched(context.home, log).path.exists() for log in written.logs):
        raise CommandError("an earlier demo did not end: run `make clean-data` to remove its data first")
    size = files.write_logs(context.home, written)
    files.write_snapshots(context.home, written)
    files.watch(context.settings, context.home, written)
    steps.show("demo", f"{console.size(size)} of logs of five servers written to {context.home.watch}")
    return written


def feed(context: Context, written: Story, seconds: float, steps: Steps) -> dict[str, Any]:
    """Sends the spans, loses and repairs four minutes of an audit log; returns the manifest.

    Waits at most `seconds` for each of these steps. Raises CommandError if one does not happen.
    """
    kafka = local_kafka.connect(context.settings, context.home, "traces")
    if unsent := demo_feed.send(kafka, written.spans):
        raise CommandError(f"Kafka did not confirm {counted(unsent, 'message')} with spans")
    steps.show("demo", f"{console.count(written.manifest['spans'])} spans of an application sent")
    _lose(context, written, seconds, steps)
    _repair(context, written, seconds, steps)
    _add_censuses(context, written, seconds)
    files.save_manifest(context.home, written.manifest)
    return written.manifest


def _lose(context: Context, written: Story, seconds: float, steps: Steps) -> None:
    """Has the collector continue behind the gap, as after a crash in which read lines were lost."""
    gap = written.manifest["stories"]["gap"]
    log = files.watched(context.home, files.log_with_gap(written))
    clickhouse = context.clickhouse("admin")
    _await(lambda: _bytes_read(clickhouse, log) >= gap["from_offset"], seconds, f"{log.path} to be read")
    control.stop_component(context.home, COLLECTOR)
    _move_position(context, log, gap["to_offset"])
    files.write_rest(context.home, written)
    control.start_component(context.home, COLLECTOR)
    stack_start.await_health(context.home, steps.show, (COLLECTOR,))
    steps.show("demo", f"{gap['entries']} entries of {log.instance}'s audit log lost, from {gap['from']} on")


def _repair(context: Context, written: Story, seconds: float, steps: Steps) -> None:
    gap = written.manifest["stories"]["gap"]
    clickhouse = context.clickhouse("admin")
    log = files.watched(context.home, files.log_with_gap(written))
    size = log.path.stat().st_size

    def is_recorded() -> bool:
        # While the frontier is at the gap, a backfill would ship all lines behind it, too.
        return bool(ledger_balance.gaps(clickhouse, log.instance)) and _bytes_read(clickhouse, log) >= size

    _await(is_recorded, seconds, "the gap to be recorded")
    steps.show("ledger", "the gap is recorded")
    parser = argparse.ArgumentParser()
    backfill.configure(parser)
    arguments = parser.parse_args(["--instance", gap["instance"], "--wait", str(seconds)])
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        failed = backfill.run(arguments, context)
    if failed:
        raise CommandError(f"tailrace backfill did not repair the gap:\n{shown.getvalue()}")
    steps.show("ledger", f"tailrace backfill shipped the {gap['entries']} lost entries again")


def _add_censuses(context: Context, written: Story, seconds: float) -> None:
    """Writes the census of the two days, and waits until all of it is in the ledger."""
    files.write_censuses(context.home, written)
    clickhouse = context.clickhouse("admin")
    parameters = {"at": str(censuses.times_of(written.times)[-1])}
    logs = len(written.logs)
    _await(
        lambda: clickhouse.rows(CENSUSES, parameters)[0]["logs"] == logs,
        seconds,
        "the census of the two days to be read",
    )


def _bytes_read(clickhouse: ClickHouse, log: Source) -> int:
    parameters = {"instance": log.instance, "source": log.source, "log": str(log.path)}
    return int(clickhouse.rows(READ, parameters)[0]["bytes"])


def _move_position(context: Context, log: Source, offset: int) -> None:
    positions = context.home.data(COLLECTOR) / f"{fluentbit.input_name(log)}.db"
    with contextlib.closing(sqlite3.connect(positions)) as database, database:
        if database.execute(POSITION, (offset, log.path.stat().st_ino)).rowcount != 1:
            raise CommandError(f"{positions} has no position of {log.path}")


def _await(condition: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            again = f"`make clean-data`, then `tailrace demo --wait {2 * seconds:.0f}`"
            raise CommandError(
                f"waited {seconds:.0f} s for {what}: see `tailrace status`; on a slow machine {again}"
            )
        time.sleep(POLL_SECONDS)
