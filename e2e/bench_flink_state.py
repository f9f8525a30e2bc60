"""Measures the normalize job with gigabytes of RocksDB state: `make bench-flink-state`.

Each of many slow logs ends within a statement of 100 KB, whose bytes stay in the state of the framer until
its semicolon is read. The job runs on two TaskManagers with the options of the chart, and its checkpoints
are in an object store, or with --files in a directory.
"""

import argparse
import base64
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import msgpack
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from e2e.flink_cluster import BUCKET, FlinkCluster, prepared
from e2e.stack import PORTS, Stack, wait_until

FIRST_PORT = int(os.environ.get("BENCH_FIRST_PORT", "23430"))
TOPIC = "tailrace.slowlog.lines"
GROUP = "tailrace-normalize"
STATEMENT_BYTES = 100_000
LOGS_AT_ONCE = 10_000
"""Of so many logs the messages are in Kafka at the same time."""
CHANGED = 100
"""One of so many logs gets another line before the incremental checkpoint."""
CONFIG = {
    "parallelism": 2,
    "checkpoint.interval.ms": 10_000,
    "checkpoint.idle.interval.ms": 3_600_000,
    "state.backend": "rocksdb",
}
MEMORY = "4g"
LIMIT_SECONDS = 3600
HEADER = (
    "# Time: 2026-11-21T02:49:19.811511Z\n# User@Host: app[app] @ web-1 [10.1.20.17]  Id:    41\n"
    "# Query_time: 2.013251  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 90211\n"
    "SET timestamp=1795229359;\n"
)
GIGABYTE = 10**9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[1.0, 2.0, 4.0], help="of statements")
    parser.add_argument("--parallelism", type=int, default=CONFIG["parallelism"])
    parser.add_argument(
        "--files", action="store_true", help="checkpoints are files: moto's server keeps objects in memory"
    )
    given = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="tailrace-bench-state-"))
    try:
        with ExitStack() as started:
            measured = _start(started, directory, given)
            for gigabytes in given.gigabytes:
                measured.grow(int(gigabytes * GIGABYTE) // STATEMENT_BYTES)
                measured.checkpoints()
                measured.restore()
            measured.savepoint()
    finally:
        shutil.rmtree(directory)
    return 0


def _start(started: ExitStack, directory: Path, given: argparse.Namespace) -> "Measured":
    stack = Stack(directory / "home", FIRST_PORT, ("kafka", "clickhouse"))
    started.callback(stack.down)
    stack.up()
    cluster = started.enter_context(prepared(stack, directory, FIRST_PORT + len(PORTS)))
    if given.files:
        cluster.storage = f"file://{directory}/flink"
    config = {**CONFIG, "parallelism": given.parallelism}
    cluster.configure("normalize", config, taskManager={"cpu": 2, "memory": MEMORY})
    cluster.start()
    return Measured(stack, cluster)


class Measured:
    """The running job, with the state of `logs` logs."""

    def __init__(self, stack: Stack, cluster: FlinkCluster) -> None:
        self.logs = 0
        self._cluster = cluster
        self._stack = stack

    def grow(self, logs: int) -> None:
        """Adds logs until there are so many. Kafka keeps no message that a checkpoint contains."""
        began = time.monotonic()
        while self.logs < logs:
            end = min(logs, self.logs + LOGS_AT_ONCE)
            self._write(range(self.logs, end), lambda: (0, HEADER.encode() + _random_line()))
            delete_messages(self._stack, await_read(self._stack))
            self.logs = end
        _print(f"state of {logs:,} logs made", time.monotonic() - began)

    def _write(self, logs: range, content: Callable[[], tuple[int, bytes]]) -> None:
        """Writes a message per log with an offset in its file, and complete lines."""
        producer = Producer({**kafka(self._stack), "linger.ms": 20, "message.max.bytes": 2 * STATEMENT_BYTES})
        for number in logs:
            offset, lines = content()
            message = {
                "origin": "slowlog|mysql-slow|UTC|shop",
                "instance": f"db-{number}",
                "path": "/var/log/mysql/slow.log",
                "offset": offset,
                "@timestamp": time.time(),
                "log": lines.removesuffix(b"\n"),
            }
            while True:
                try:
                    producer.produce(TOPIC, msgpack.packb(message), key=f"db-{number}")
                    break
                except BufferError:
                    producer.poll(1)
        assert producer.flush(LIMIT_SECONDS) == 0

    def checkpoints(self) -> None:
        """Measures a checkpoint of all state, and one after a hundredth of the logs has changed."""
        self._report("full checkpoint", self._cluster.checkpoint("FULL"))
        offset, line = len(HEADER) + len(_random_line()), b"(2, '" + b"a" * 60 + b"'),\n"
        self._write(range(0, self.logs, CHANGED), lambda: (offset, line))
        await_read(self._stack)
        self._report("incremental checkpoint", self._cluster.checkpoint("CONFIGURED"))

    def restore(self) -> None:
        """Measures from the kill of a TaskManager, which starts again at once, until all tasks run again."""
        before = self._cluster.await_completed()
        peaks = ", ".join(f"{each.peak_bytes() / GIGABYTE:.2f} GB" for each in self._cluster.workers)
        _print(f"peak of the TaskManagers' memory: {peaks}")
        worker = self._cluster.busy_first()[0]
        began = time.monotonic()
        worker.kill()
        worker.start()
        self._cluster.await_restored(before)
        _print("restored after the kill of a TaskManager", time.monotonic() - began)
        self._report("next checkpoint", self._cluster.checkpoint("CONFIGURED"))

    def savepoint(self) -> None:
        """Measures a stop with a savepoint, and a start from it."""
        began = time.monotonic()
        path = self._cluster.stop_with_savepoint()
        _print(f"savepoint of {self._bytes_of(path) / GIGABYTE:.2f} GB", time.monotonic() - began)
        began = time.monotonic()
        self._cluster.start(path)
        _print("started from the savepoint", time.monotonic() - began)

    def _bytes_of(self, path: str) -> int:
        """Returns the size of a directory of checkpoints or of a savepoint."""
        if path.startswith("file:"):
            files = Path(path.removeprefix("file:")).rglob("*")
            return sum(each.stat().st_size for each in files if each.is_file())
        return sum(self._cluster.store.sizes(BUCKET, path.removeprefix(f"s3://{BUCKET}/")).values())

    def _report(self, what: str, checkpoint: dict) -> None:
        state, uploaded = checkpoint["state_size"] / GIGABYTE, checkpoint["checkpointed_size"] / GIGABYTE
        seconds = checkpoint["end_to_end_duration"] / 1000
        _print(f"{what}: {state:.2f} GB of state, {uploaded:.2f} GB written", seconds)


def kafka(stack: Stack) -> dict[str, str | int]:
    """Returns the options of a client."""
    return {"bootstrap.servers": f"127.0.0.1:{stack.settings.port_kafka}"}


def await_read(stack: Stack) -> dict[int, int]:
    """Waits until a checkpoint contains all messages; returns the end of each partition."""
    consumer = Consumer({**kafka(stack), "group.id": GROUP})
    try:
        numbers = consumer.list_topics(TOPIC).topics[TOPIC].partitions
        partitions = [TopicPartition(TOPIC, number) for number in numbers]
        ends = {each.partition: consumer.get_watermark_offsets(each)[1] for each in partitions}

        def is_read() -> bool:
            committed = {each.partition: each.offset for each in consumer.committed(partitions)}
            return all(committed[number] >= end for number, end in ends.items() if end)

        wait_until(is_read, "all messages to be read", seconds=LIMIT_SECONDS)
        return ends
    finally:
        consumer.close()


def delete_messages(stack: Stack, ends: dict[int, int]) -> None:
    """Deletes the messages before the end of each partition."""
    partitions = [TopicPartition(TOPIC, number, end) for number, end in ends.items()]
    admin = AdminClient(kafka(stack))
    for deleted in admin.delete_records(partitions).values():
        deleted.result()


def _random_line() -> bytes:
    """The first line of a statement, which cannot be compressed much."""
    return (
        b"INSERT INTO documents VALUES (1, '"
        + base64.b64encode(os.urandom(STATEMENT_BYTES * 3 // 4))
        + b"'),\n"
    )


def _print(what: str, seconds: float | None = None) -> None:
    duration = "" if seconds is None else f"{seconds:8.1f} s"
    load = os.getloadavg()[0]
    print(f"{what:80} {duration:>10}  load {load:.0f}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
