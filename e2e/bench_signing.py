"""Measures what signed logs and the transparency log cost: `make bench-signing`.

Two stacks after each other, without and with signatures and leaves, read the same slow log of 131 MB twice.
The second reading is measured, until all rows are there and PERIOD_SECONDS have passed, in which the log
records them: both measurements contain the same time without load.
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from e2e import bench
from e2e.stack import PARTS, Stack, wait_until
from tailrace.transparency import keys
from tailrace.transparency.log import STORE
from tailrace.transparency.store import Store

PERIOD_SECONDS = 150
LOG_PARTS = ("witness", "transparency")
BYTES = """
SELECT table, sum(bytes_on_disk) AS bytes, sum(rows) AS rows FROM system.parts
WHERE active AND database = 'tailrace' AND table IN ('query_events', 'signed_ranges')
GROUP BY table ORDER BY table
"""


def main() -> int:
    if not bench.LOG.exists():
        print(f"skipped: there is no {bench.LOG}; set TAILRACE_CORPORA")
        return 0
    directory = Path(tempfile.mkdtemp(prefix="tailrace-bench-signing-"))
    try:
        unpacked = bench.unpack(directory / "sysbench.slow.log")
        for is_signed in (False, True):
            _measure(directory / f"home-{int(is_signed)}", unpacked, is_signed)
    finally:
        shutil.rmtree(directory)
    return 0


def _measure(home: Path, unpacked: Path, is_signed: bool) -> None:
    parts = (*PARTS, *LOG_PARTS) if is_signed else PARTS
    more = {"sign_logs": str(int(is_signed)), "port_witness": str(bench.FIRST_PORT + 6)}
    stack = Stack(home, bench.FIRST_PORT, parts, few_rows=False, **bench.PRODUCT, **more)
    try:
        stack.up()
        for number in (1, 2):
            log = bench.watch(stack, unpacked, f"signed-{int(is_signed)}-{number}")
            with bench.Usage(stack) as usage:
                started = time.monotonic()
                bench.link(unpacked, log)
                bench.await_all_rows(stack, log)
                if is_signed:
                    wait_until(lambda: _recorded(stack) >= _rows(stack), "all rows to be in the log")
                wait_until(lambda: time.monotonic() - started > PERIOD_SECONDS, "the end of the period")  # noqa: B023
        print(f"\n{'with' if is_signed else 'without'} signatures and leaves")
        usage.print()
        _print_storage(stack)
    finally:
        stack.down()


def _recorded(stack: Stack) -> int:
    store = Store(keys.directory(stack.home) / STORE, is_reader=True)
    try:
        return sum(store.anchored("query_events", 0).values())
    finally:
        store.close()


def _rows(stack: Stack) -> int:
    return int(stack.clickhouse().execute("SELECT count() FROM tailrace.query_events"))


def _print_storage(stack: Stack) -> None:
    for row in stack.clickhouse().rows(BYTES):
        print(f"    {row['table']:14} {int(row['rows']):10,} rows {int(row['bytes']):12,} bytes")
    directory = keys.directory(stack.home)
    if directory.exists():
        print(f"    transparency log {_bytes(directory.rglob('*')):,} bytes")


def _bytes(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths if path.is_file())


if __name__ == "__main__":
    sys.exit(main())
