"""The records of many servers with little traffic each, as Fluent Bit and the census write them to Kafka.

Each server has a slow log and an audit log. No file exists: 10,000 hosts have their own.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import msgpack
from confluent_kafka import Producer

from e2e.limits import LIMIT_SECONDS
from e2e.workload import statements
from e2e.workload.manifest import LogManifest
from e2e.workload.shapes import MySql8, PerconaAudit, Shape
from e2e.workload.statements import Statement
from e2e.workload.writer import LogWriter

HEAD_BYTES = 4096
HOUR = 3600
CENSUS_TOPIC = "tailrace.files"
SERVERS_OF_CLUSTER = 10


@dataclass(frozen=True)
class Record:
    """A message for Kafka."""

    topic: str
    key: str
    value: bytes


class RecordedLog(LogWriter):
    """A log whose new bytes become line records. `at` is the time of the next entry, in seconds since
    1970."""

    def __init__(self, shape: Shape, instance: str, cluster: str, path: Path, inode: int, at: float) -> None:
        self.at = at
        self._inode = inode
        self._head = b""
        self._unsent = b""
        super().__init__(shape, instance, cluster, path, shape.random, self._time)

    @property
    def topic(self) -> str:
        return f"tailrace.{self.shape.source}.lines"

    def lines(self) -> Record:
        """Returns the record of all lines since the last one."""
        content = {
            "@timestamp": self.at,
            "origin": f"{self.shape.source}|auto|{self.shape.tz}|{self.cluster}",
            "instance": self.instance,
            "path": str(self.path),
            "offset": self.current.bytes - len(self._unsent),
            "log": self._unsent.removesuffix(b"\n"),
        }
        self._unsent = b""
        return Record(self.topic, self.instance, msgpack.packb(content))

    def census(self, at: float) -> Iterator[Record]:
        """Yields the same record for both topics."""
        head = self._head[: self._head.rfind(b"\n") + 1]
        content = msgpack.packb(
            {
                "at": at,
                "cluster": self.cluster,
                "instance": self.instance,
                "source": self.shape.source,
                "path": str(self.path),
                "inode": self._inode,
                "size": self.current.bytes,
                "head_length": len(head),
                "head_hash": hashlib.md5(head, usedforsecurity=False).hexdigest(),
                "mtime": self.at,
            }
        )
        for topic in (self.topic, CENSUS_TOPIC):
            yield Record(topic, self.instance, content)

    def _time(self) -> float:
        return self.at

    def _create(self) -> int:
        return self._inode

    def _append(self, content: bytes) -> None:
        self._unsent += content
        self._head += content[: HEAD_BYTES - len(self._head)]
        self.current.bytes += len(content)


class Fleet:
    """`count` servers that together write `entries` entries, evenly over `hours` before `end`.

    One entry is one record, as of a log that seldom grows. The same arguments give the same records.
    """

    def __init__(self, count: int, entries: int, hours: int, end: float) -> None:
        self._random = Random(count)
        self._begin = end - hours * HOUR
        self.hours = hours
        self.per_hour = max(1, entries // (2 * count * hours))
        """Entries of a log in an hour."""
        self.logs: Sequence[RecordedLog] = [log for number in range(count) for log in self._logs_of(number)]

    @property
    def manifests(self) -> list[LogManifest]:
        return [log.manifest for log in self.logs]

    @property
    def entries(self) -> int:
        return sum(manifest.entries for manifest in self.manifests)

    def hour(self, number: int) -> Iterator[Record]:
        """Yields the records of an hour in the order of their times, and at its end a census of each log."""
        begin = self._begin + number * HOUR
        pause = HOUR / self.per_hour
        for entry in range(self.per_hour):
            for place, log in enumerate(self.logs):
                log.at = begin + (entry + place / len(self.logs)) * pause
                log.write(self._statement())
                yield log.lines()
        yield from self.census(begin + HOUR)

    def census(self, at: float) -> Iterator[Record]:
        for log in self.logs:
            yield from log.census(at)

    def _logs_of(self, number: int) -> Iterator[RecordedLog]:
        instance, cluster = f"db-{number:05}", f"cluster-{number // SERVERS_OF_CLUSTER:04}"
        for place, (shape, name) in enumerate(((MySql8, "slow.log"), (PerconaAudit, "audit.log"))):
            path = Path("/var/log/mysql") / name
            yield RecordedLog(
                shape(self._random), instance, cluster, path, 2 * number + place + 1, self._begin
            )

    def _statement(self) -> Statement:
        return statements.ordinary(self._random)


def send(producer: Producer, records: Iterable[Record]) -> int:
    """Returns the number of records, when Kafka has acknowledged all of them."""
    failed: list[str] = []

    def note(error: object, _: object) -> None:
        if error is not None:
            failed.append(str(error))

    count = 0
    for record in records:
        _produce(producer, record, note)
        count += 1
    left = producer.flush(LIMIT_SECONDS)
    assert not left and not failed, f"{left} records are not acknowledged; {failed[:1]}"
    return count


def _produce(producer: Producer, record: Record, note) -> None:
    while True:
        try:
            producer.produce(record.topic, record.value, record.key, on_delivery=note)
            producer.poll(0)
            return
        except BufferError:
            producer.poll(1)
