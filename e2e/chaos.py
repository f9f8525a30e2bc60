"""Kills random components while logs grow and are renamed, then compares every table with what was written.

`make chaos MINUTES=10`. The component `repair` fills the gaps; nobody runs a backfill. Prints a table; exit
code 0 if everything is exact in the end, else 1. The stack is separate, in a temporary directory, which is
retained on failure. TAILRACE_FLUENT_BIT chooses the collector.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from e2e.comparison import Stored
from e2e.stack import PARTS, Stack
from e2e.wait_for_idle import await_exact
from e2e.workload.writer import Workload
from tailrace.backfill import repair

FIRST_PORT = 21180
COMPONENTS = (*PARTS, "repair")
ACTIONS = (*COMPONENTS, "rename", "rename while fluentbit is down")
QUIET_SECONDS = (3.0, 20.0)
REPAIR_SECONDS = 600
"""A gap is recorded after its timeout, shipped once it is calm, and tried again after longer pauses."""


def main() -> int:
    options = _options()
    directory = Path(tempfile.mkdtemp(prefix="tailrace-chaos-"))
    stack = Stack(directory / "home", FIRST_PORT, COMPONENTS)
    try:
        stack.up()
        trouble = _run(stack, Workload(directory / "logs", options.seed, "chaos"), options)
    finally:
        stack.down()
    if trouble:
        print(f"NOT EXACT (seed {options.seed}, kept in {directory}):\n{trouble}")
        return 1
    shutil.rmtree(directory)
    print(f"exact (seed {options.seed})")
    return 0


def _run(stack: Stack, workload: Workload, options: argparse.Namespace) -> str:
    """Returns the remaining differences; empty if everything is exact."""
    stack.watch(workload.logs)
    with workload.writing(options.rate):
        done = _make_trouble(stack, workload, options)
    trouble = ""
    try:
        await_exact(stack, workload.manifests, REPAIR_SECONDS)
    except AssertionError as error:
        trouble = str(error)
    _print_table(stack, workload, done)
    return trouble


def _make_trouble(stack: Stack, workload: Workload, options: argparse.Namespace) -> Counter:
    random = Random(options.seed)
    done: Counter = Counter()
    end = time.monotonic() + options.minutes * 60
    while time.monotonic() < end:
        time.sleep(random.uniform(*QUIET_SECONDS))  # the load between two faults is part of the experiment
        action = random.choice(ACTIONS)
        print(f"{time.strftime('%H:%M:%S')} {workload.entries:9,} entries  {action}", flush=True)
        _act(stack, workload, action)
        done[action] += 1
    stack.await_healthy()
    return done


def _act(stack: Stack, workload: Workload, action: str) -> None:
    if action == "rename":
        workload.rotate(late=5)
    elif action.startswith("rename while"):
        with stack.without("fluentbit"):
            workload.rotate(late=5)
    elif stack.status(action).pid:
        stack.kill(action)


def _print_table(stack: Stack, workload: Workload, done: Counter) -> None:
    print(f"\nFluent Bit {stack.status('fluentbit').version}")
    print(f"\n{'what was done':40} {'times':>6}")
    for action, times in sorted(done.items()):
        print(f"{action if 'rename' in action else f'kill -9 {action}':40} {times:6}")
    print("\nresults of the automatic repair:")
    for row in _repairs(stack):
        print(f"    {row['state']}: {row['ranges']} ranges, {row['bytes']:,} bytes {row['reason']}")
    print(
        f"\n{'log':34} {'files':>5} {'bytes':>13} {'written':>9} {'stored':>9} {'dead':>5} {'gap bytes':>9}"
    )
    for log in workload.manifests:
        stored = Stored(stack.clickhouse(), log)
        name = f"{log.instance} {Path(log.path).name}"
        dead, gaps = sum(stored.dead_letter_codes().values()), sum(stored.gap_kinds().values())
        counts = f"{len(log.files):5} {log.bytes:13,} {log.entries:9,} {stored.event_count():9,}"
        print(f"{name:34} {counts} {dead:5} {gaps:9,}")


def _repairs(stack: Stack) -> list[dict]:
    return stack.clickhouse().rows(
        "SELECT state, toUInt32(count()) AS ranges, toUInt32(sum(bytes)) AS bytes, reason "
        f"FROM {repair.TABLE} GROUP BY state, reason ORDER BY state, ranges DESC"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="chaos", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rate", type=float, default=300, help="entries per second (default: 300)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: the time")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
