"""Measures `rebalance` with many events: two shards get a third one, which is then removed.

Prints elapsed time, rows and CPU-seconds of the servers, and the most disk that all servers needed at once.
Every row is compared before and after by number and hash.
"""

import argparse
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from dashboards.bench.fill import DAYS, fill
from sql.tests import clickhouse_servers
from sql.tests.clickhouse_servers import Server, Shards, running
from tailrace.migrations.rebalancing import Moved, Rebalancing

TICKS = os.sysconf("SC_CLK_TCK")
SAMPLE_SECONDS = 5
PROGRESS_SECONDS = 20
EVENTS = ("query_events", "audit_events")


class Disk:
    """The most bytes that directories had at once."""

    def __init__(self, servers: list[Server]) -> None:
        self._directories = [server.store for server in servers]
        self.start = self.most = self._bytes()
        self._ended = threading.Event()
        self._sampling = threading.Thread(target=self._sample, daemon=True)
        self._sampling.start()

    def end(self) -> None:
        self._ended.set()
        self._sampling.join()

    def _sample(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            self.most = max(self.most, self._bytes())

    def _bytes(self) -> int:
        """Returns the size of all files; hard links of one file, as of a replaced partition, count once."""
        return sum({(each.st_dev, each.st_ino): each.st_blocks for each in self._files()}.values()) * 512

    def _files(self) -> Iterator[os.stat_result]:
        for directory in self._directories:
            for root, _, names in os.walk(directory):  # passes over directories that end meanwhile
                for name in names:
                    with suppress(FileNotFoundError):
                        yield os.lstat(os.path.join(root, name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--events", type=int, default=10_000_000, help="events of all days (default: 10 million)"
    )
    parser.add_argument("--days", type=int, default=DAYS, help=f"days of the events (default: {DAYS})")
    parser.add_argument("--home", type=Path, help="directory for the servers; by default a temporary one")
    arguments = parser.parse_args()
    clickhouse_servers.FOR_FEW_ROWS.clear()
    with tempfile.TemporaryDirectory(dir=arguments.home) as home:
        shards = Shards(Path(home))
        shards.copy_schema()
        with running(shards):
            started = time.monotonic()
            say = partial(print, flush=True)
            fill(shards.user("admin"), arguments.events, datetime.now(UTC), say, arguments.days)
            print(f"filled in {time.monotonic() - started:.0f} s", flush=True)
            shards.add_servers(1)
            for weights in ((1, 1, 1), (1, 1, 0)):
                shards.join(weights)
                shards.migrate()
                measure(shards)


class Progress:
    """Sums what a run reports, and prints it every PROGRESS_SECONDS."""

    def __init__(self) -> None:
        self.rows = self.copied = self.partitions = 0
        self.seconds: dict[str, float] = {}
        self._started = self._last = self._printed = time.monotonic()

    def __call__(self, moved: Moved) -> None:
        now = time.monotonic()
        self.seconds[moved.table] = self.seconds.get(moved.table, 0) + now - self._last
        self._last = now
        self.partitions += 1
        self.rows += moved.rows
        self.copied += moved.stored
        if now - self._printed > PROGRESS_SECONDS:
            self._printed = now
            print(f"  {now - self._started:.0f} s: {moved.table}; {self}", flush=True)

    def __str__(self) -> str:
        return f"{self.partitions} partitions, {self.copied:,} rows copied, of which {self.rows:,} moved"


def measure(shards: Shards) -> None:
    """Moves all rows and prints what that took. Fails if a row is missing or on another shard."""
    before = contents(shards)
    rebalancing = Rebalancing(Shards.CLUSTER, shards.each("admin"))
    progress = Progress()
    with measured(shards) as took:
        rebalancing.run(progress)
    assert contents(shards) == before
    assert not rebalancing.misplaced()
    print(f"weights {shards.weights}: {progress}, {took['text']}")
    for table, seconds in sorted(progress.seconds.items(), key=lambda each: -each[1]):
        print(f"  {table}: {seconds:.1f} s", flush=True)


@contextmanager
def measured(shards: Shards) -> Iterator[dict[str, str]]:
    """Gives the elapsed time, the CPU time and the disk of the block as text."""
    took: dict[str, str] = {}
    disk, cpu, started = Disk(shards.servers()), cpu_seconds(shards), time.monotonic()
    yield took
    elapsed = time.monotonic() - started
    disk.end()
    took["text"] = (
        f"{elapsed:.0f} s, {cpu_seconds(shards) - cpu:.0f} CPU-seconds of the servers, "
        f"disk {disk.start / 1e6:.0f} MB, at most {disk.most / 1e6:.0f} MB"
    )


def cpu_seconds(shards: Shards) -> float:
    stats = [Path(f"/proc/{server.pid}/stat").read_text() for server in shards.servers()]
    fields = [text.rpartition(")")[2].split() for text in stats]
    return sum(int(each[11]) + int(each[12]) for each in fields) / TICKS


def contents(shards: Shards) -> list[str]:
    """Returns the number and a hash of the events, and sums of a rollup, as all shards together have them.

    `rebalance` itself compares every column of every row.
    """
    admin = shards.user("admin")
    sql = "SELECT count(), sum(cityHash64(event_id)) FROM tailrace.{}"
    totals = [admin.execute(sql.format(table), timeout=1800) for table in EVENTS]
    load = "SELECT sum(count), round(sum(query_time)) FROM tailrace.query_load_1m"
    return [*totals, admin.execute(load, timeout=1800)]


if __name__ == "__main__":
    main()
