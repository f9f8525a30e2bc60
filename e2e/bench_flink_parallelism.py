"""Measures the normalize job at parallelism 1, 2 and 4 on a Flink cluster: `make bench-flink-parallelism`.

The slow logs of eight servers are written to Kafka twice. The JVMs compile during the first time, and the
second one is measured. The rows are counted before figures are printed.
"""

import os
import shutil
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from random import Random

import msgpack
from confluent_kafka import Producer

from e2e.bench_flink_state import LIMIT_SECONDS, TOPIC, await_read, kafka
from e2e.flink_cluster import FlinkCluster, prepared
from e2e.stack import PORTS, Stack, wait_until
from e2e.workload import statements
from e2e.workload.shapes import MySql8

FIRST_PORT = int(os.environ.get("BENCH_FIRST_PORT", "23430"))
PARALLELISM = (1, 2, 4)
SERVERS = 8
ENTRIES = 50_000
"""Of each server."""
MESSAGE_ENTRIES = 100
MILLION = 10**6


def main() -> int:
    directory = Path(tempfile.mkdtemp(prefix="tailrace-bench-parallelism-"))
    try:
        with ExitStack() as started:
            stack = Stack(directory / "home", FIRST_PORT, ("kafka", "clickhouse"), few_rows=False)
            started.callback(stack.down)
            stack.up()
            cluster = started.enter_context(prepared(stack, directory, FIRST_PORT + len(PORTS)))
            blocks = _blocks()
            for parallelism in PARALLELISM:
                _measure(stack, cluster, blocks, parallelism)
    finally:
        shutil.rmtree(directory)
    return 0


def _blocks() -> list[bytes]:
    """Returns the log of a server in the pieces that its messages contain."""
    random = Random(1)
    shape, now = MySql8(random), time.time()
    entries = [shape.entry(statements.ordinary(random), now).content for _ in range(ENTRIES)]
    return [b"".join(entries[at : at + MESSAGE_ENTRIES]) for at in range(0, ENTRIES, MESSAGE_ENTRIES)]


def _measure(stack: Stack, cluster: FlinkCluster, blocks: list[bytes], parallelism: int) -> None:
    """Starts the job without state, and measures it. It begins behind the messages of the run before."""
    cluster.configure("normalize", {"parallelism": parallelism, "checkpoint.interval.ms": 10_000})
    cluster.start()
    _write(stack, f"warm-{parallelism}", blocks)
    await_read(stack)
    before, began = _cpu_seconds(cluster), time.monotonic()
    _write(stack, f"measured-{parallelism}", blocks)
    await_read(stack)
    seconds, used = time.monotonic() - began, _cpu_seconds(cluster) - before
    wait_until(lambda: _rows(stack, f"measured-{parallelism}") >= SERVERS * (ENTRIES - 1), "the rows")
    cluster.stop()
    total = SERVERS * ENTRIES
    print(
        f"parallelism {parallelism}: {total:,} entries in {seconds:.1f} s, {total / seconds:,.0f}/s; "
        f"{used * MILLION / total:.1f} CPU-seconds of Flink's processes for a million entries",
        flush=True,
    )


def _write(stack: Stack, name: str, blocks: list[bytes]) -> None:
    """Writes the log of each server to Kafka."""
    producer = Producer({**kafka(stack), "linger.ms": 20})
    offset = 0
    for block in blocks:
        for number in range(SERVERS):
            instance = f"{name}-{number}"
            message = {
                "origin": "slowlog|mysql-slow|UTC|shop",
                "instance": instance,
                "path": "/var/log/mysql/slow.log",
                "offset": offset,
                "@timestamp": time.time(),
                "log": block,
            }
            producer.produce(TOPIC, msgpack.packb(message), key=instance)
        offset += len(block)
        producer.poll(0)
    assert producer.flush(LIMIT_SECONDS) == 0


def _rows(stack: Stack, name: str) -> int:
    query = "SELECT count() AS rows FROM tailrace.query_events WHERE startsWith(instance, {name:String})"
    return stack.clickhouse().rows(query, {"name": f"{name}-"})[0]["rows"]


def _cpu_seconds(cluster: FlinkCluster) -> float:
    return sum(process.cpu_seconds() for process in (*cluster.workers, *cluster.managers))


if __name__ == "__main__":
    raise SystemExit(main())
