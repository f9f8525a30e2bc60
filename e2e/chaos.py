"""Kills random components while logs grow and are renamed, then compares every table with what was written.

`make chaos MINUTES=10`. Prints a table; exit code 0 if everything is exact after a backfill of the missing
byte ranges, else 1. The stack is separate, in a temporary directory, which is retained on failure.
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
from e2e.stack import Stack
from e2e.wait_for_idle import await_exact, backfill, settle
from e2e.workload.writer import Workload

FIRST_PORT = 21180
ACTIONS = ("flink", "kafka", "clickhouse", "fluentbit", "census", "rename", "rename while fluentbit is down")
QUIET_SECONDS = (3.0, 20.0)
SETTLE_SECONDS = 180


def main() -> int:
    options = _options()
    directory = Path(tempfile.mkdtemp(prefix="tailrace-chaos-"))
    stack = Stack(directory / "home", FIRST_PORT)
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
    missing = settle(stack, workload.manifests, SETTLE_SECONDS)
    if missing:
        backfill(stack, workload.manifests)
    trouble = ""
    try:
        await_exact(stack, workload.manifests, SETTLE_SECONDS)
    except AssertionError as error:
        trouble = str(error)
    _print_table(stack, workload, done, missing)
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


def _print_table(stack: Stack, workload: Workload, done: Counter, missing: dict[str, int]) -> None:
    print(f"\n{'what was done':40} {'times':>6}")
    for action, times in sorted(done.items()):
        print(f"{action if 'rename' in action else f'kill -9 {action}':40} {times:6}")
    print(f"\nmissing before the backfill: {missing or 'nothing'}")
    print(
        f"\n{'log':34} {'files':>5} {'bytes':>13} {'written':>9} {'stored':>9} {'dead':>5} {'gap bytes':>9}"
    )
    for log in workload.manifests:
        stored = Stored(stack.clickhouse(), log)
        name = f"{log.instance} {Path(log.path).name}"
        dead, gaps = sum(stored.dead_letter_codes().values()), sum(stored.gap_kinds().values())
        figures = f"{len(log.files):5} {log.bytes:13,} {log.entries:9,} {stored.event_count():9,}"
        print(f"{name:34} {figures} {dead:5} {gaps:9,}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="chaos", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rate", type=float, default=300, help="entries per second (default: 300)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: the time")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
