"""Measures the delay from a slow log to queryable rows, and the resources of each component: `make
bench-e2e`.

    file → row     a log of 131 MB is created; time until its last entry can be queried
    Kafka → row    the same lines are in Kafka while the job is stopped; time from its start. Repeated several
                   times, because the JVM compiles during the first run
    line → row     single entries at low load: p50 and p99 of the time until each can be queried

With --alerts [MINUTES] it measures the delay of alerts instead (`e2e.bench_alerts`).

Counts are checked before a time is printed. The log is the corpora's sysbench run (TAILRACE_CORPORA).
"""

import gzip
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Event, Thread

from e2e import bench_alerts
from e2e.comparison import Stored, incomplete
from e2e.stack import Stack, wait_until
from e2e.topics import await_bytes
from e2e.workload import statements
from e2e.workload.manifest import LogManifest
from e2e.workload.shapes import MySql8
from e2e.workload.writer import LogWriter
from tailrace.config.resources import REPOSITORY
from tailrace.sources.sources_file import Source
from tailrace_local.supervisor import control

FIRST_PORT = int(os.environ.get("BENCH_FIRST_PORT", "21190"))
CORPORA = Path(os.environ.get("TAILRACE_CORPORA", REPOSITORY / ".." / "shared" / "corpora"))
TOPIC = "tailrace.slowlog.lines"
LOG = CORPORA / "ours" / "large" / "mariadb-10.11.19-sysbench.slow.log.gz"
HEADERS = 199_307
"""Entry headers in the log, one of them within a statement; a few entries have times out of range."""
POLL_SECONDS = 0.05
PRODUCT = {"jvm_options_flink": "", "checkpoint_interval": "1000"}
"""Settings that users have, in place of those of tests."""
KAFKA_ROUNDS = 3
LATENCY_ENTRIES = 300
LATENCY_RATE = 10


def main() -> int:
    if sys.argv[1:2] == ["--alerts"]:
        bench_alerts.measure(float(*sys.argv[2:] or [1]))
        return 0
    if not LOG.exists():
        print(f"skipped: there is no {LOG}; set TAILRACE_CORPORA")
        return 0
    directory = Path(tempfile.mkdtemp(prefix="tailrace-bench-"))
    stack = Stack(directory / "home", FIRST_PORT, few_rows=False, **PRODUCT)
    try:
        stack.up()
        unpacked = unpack(directory / "sysbench.slow.log")
        _measure_latency(stack, directory)
        _measure_file_to_row(stack, unpacked, "file-cold")
        _measure_file_to_row(stack, unpacked, "file-warm")
        for number in range(1, KAFKA_ROUNDS + 1):
            _measure_kafka_to_row(stack, unpacked, number)
    finally:
        stack.down()
        shutil.rmtree(directory)
    return 0


def unpack(target: Path) -> Path:
    """Unpacks the log; returns `target`."""
    with gzip.open(LOG) as packed, target.open("wb") as plain:
        shutil.copyfileobj(packed, plain)
    return target


def _measure_file_to_row(stack: Stack, unpacked: Path, instance: str) -> None:
    log = watch(stack, unpacked, instance)
    with Usage(stack) as usage:
        started = time.monotonic()
        link(unpacked, log)
        await_all_rows(stack, log)
        seconds = time.monotonic() - started
    _print_rate("file → row" if instance.endswith("warm") else "file → row, cold JVM", seconds)
    usage.print()


def _measure_kafka_to_row(stack: Stack, unpacked: Path, number: int) -> None:
    log = watch(stack, unpacked, f"kafka-{number}")
    with _standing_still(stack, "flink"):
        link(unpacked, log)
        await_bytes(stack.settings, TOPIC, log.instance, unpacked.stat().st_size)
    with Usage(stack) as usage:
        started = time.monotonic()
        await_all_rows(stack, log)
        seconds = time.monotonic() - started
    _print_rate(f"Kafka → row, {number} of {KAFKA_ROUNDS}", seconds)
    usage.print()


def _measure_latency(stack: Stack, directory: Path) -> None:
    """Writes one entry every 100 ms; the k-th is queryable when the count first reaches k."""
    random = Random(1)
    writer = LogWriter(MySql8(random), "latency", "bench", directory / "latency" / "slow.log", random)
    stack.watch([writer])
    stored = Stored(stack.clickhouse(), writer.manifest)
    written: list[float] = []
    seen: list[float] = []
    stopped = Event()
    writing = Thread(target=_write_slowly, args=(writer, written, stopped))
    writing.start()
    try:
        while len(seen) < LATENCY_ENTRIES:
            visible, now = stored.event_count(), time.monotonic()
            seen += [now] * (visible - len(seen))
            time.sleep(POLL_SECONDS)
    finally:
        stopped.set()
        writing.join()
    waited = sorted(row - line for line, row in zip(written, seen, strict=False))
    p50, p99 = _quantile(waited, 0.5), _quantile(waited, 0.99)
    print(f"line → row at {LATENCY_RATE}/s: p50 {p50:.2f} s, p99 {p99:.2f} s")


def _write_slowly(writer: LogWriter, written: list[float], stopped: Event) -> None:
    random = Random(2)
    while len(written) < LATENCY_ENTRIES and not stopped.wait(1 / LATENCY_RATE):
        written.append(time.monotonic())
        writer.write(statements.ordinary(random))


def _quantile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def watch(stack: Stack, unpacked: Path, instance: str) -> LogManifest:
    """Lets the stack watch a log of an instance, which `link` creates."""
    path = unpacked.parent / instance / "slow.log"
    path.parent.mkdir()
    stack.watch_sources([Source(instance, "slowlog", path.resolve(), "bench")])
    log = LogManifest(instance, "slowlog", "mariadb-10.11", str(path.resolve()))
    log.new_file(unpacked.stat().st_ino).bytes = unpacked.stat().st_size
    return log


def link(unpacked: Path, log: LogManifest) -> None:
    """Creates the log at once."""
    os.link(unpacked, log.path)


def await_all_rows(stack: Stack, log: LogManifest) -> None:
    """Waits until every byte is accounted for and every entry is a row, with the expected number of rows."""
    clickhouse, stored = stack.clickhouse(), Stored(stack.clickhouse(), log)
    wait_until(lambda: not incomplete(clickhouse, [log]), "all entries to be rows")
    found = stored.event_count() + stored.parser_rejections()
    assert HEADERS - 1 <= found <= HEADERS, f"expected {HEADERS} entries, found {found}"
    assert not stored.gap_kinds()


def _print_rate(what: str, seconds: float) -> None:
    print(f"\n{what}: {HEADERS:,} entries in {seconds:.1f} s = {HEADERS / seconds:,.0f} entries/s")


@contextmanager
def _standing_still(stack: Stack, component: str) -> Iterator[None]:
    pid = stack.status(component).pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


class Usage:
    """CPU seconds and peak memory of each component within the block."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._most: dict[str, int] = {}
        self._most_together = 0
        self._stopped = Event()

    def __enter__(self) -> "Usage":
        self._before = self._sample()
        self._thread = Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()
        self._after = self._sample()

    def print(self) -> None:
        print(f"    {'part':12} {'CPU s':>7} {'RSS MiB':>8}")
        for name, spent in self._after.items():
            print(f"    {name:12} {spent - self._before[name]:7.1f} {self._most[name] / 2**20:8.0f}")
        spent = sum(self._after.values()) - sum(self._before.values())
        print(f"    {'together':12} {spent:7.1f} {self._most_together / 2**20:8.0f}")

    def _watch(self) -> None:
        while not self._stopped.wait(0.5):
            self._sample()

    def _sample(self) -> dict[str, float]:
        components = control.status(self._stack.home).components
        for component in components:
            self._most[component.name] = max(self._most.get(component.name, 0), component.rss_bytes)
        self._most_together = max(self._most_together, sum(component.rss_bytes for component in components))
        return {component.name: component.cpu_seconds for component in components}


if __name__ == "__main__":
    sys.exit(main())
