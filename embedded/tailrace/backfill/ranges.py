"""The byte ranges that are missing, by the ledger and the census, and the files that may still hold them."""

import gzip
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import BinaryIO

import msgpack
from confluent_kafka import Consumer, KafkaException, TopicPartition

from tailrace.clickhouse.client import ClickHouse
from tailrace.errors import ReportedError
from tailrace.kafka.client import KafkaClient
from tailrace.ledger import balance as ledger_balance
from tailrace.ledger.records import Gap, LogFile
from tailrace.sources import log_files
from tailrace.sources.sources_file import Source

CENSUS_TOPIC = "tailrace.files"

MAX_LINE_BYTES = 16_000_000
"""What a collector ships and the job accepts; a longer line stays a gap of kind oversize."""

CONSUMER = {
    "group.id": "tailrace-backfill",
    "enable.auto.commit": False,
    "auto.offset.reset": "earliest",
    "log_level": 0,
}

TIMEOUT_SECONDS = 30

EDGES = """
SELECT instance, source, log, generation, entry_offset AS start, entry_offset + entry_bytes AS end
FROM tailrace.dead_letters FINAL
WHERE stage = 'FRAMER' AND NOT superseded
"""

UNREAD = """
WITH
    looks AS (
        SELECT instance, source, log, generation, at, ledger.size AS bytes,
               argMax(ledger.size, at) OVER (PARTITION BY instance, source, log, generation) AS last_bytes
        FROM tailrace.ledger
        WHERE kind = 'CENSUS' AND generation > 0
    ),
    files AS (
        SELECT instance, source, log, generation, any(last_bytes) AS end,
               dateDiff('second', minIf(at, bytes = last_bytes), max(at)) AS quiet_seconds
        FROM looks
        GROUP BY instance, source, log, generation
    ),
    read AS (
        SELECT instance, source, log, generation, max(to_offset) AS start
        FROM tailrace.ledger
        WHERE kind = 'FRONTIER'
        GROUP BY instance, source, log, generation
    )
SELECT instance, source, log, generation, start, end
FROM files INNER JOIN read USING (instance, source, log, generation)
WHERE end > start AND quiet_seconds >= {quiet_seconds:UInt32}
"""

FILES = """
SELECT instance, source, inode, max(generation) > 0 AS read
FROM tailrace.ledger
WHERE kind IN ('CENSUS', 'FRONTIER') AND ledger.inode > 0
GROUP BY instance, source, inode
"""

NO_CENSUS = "no census has told of it, so nobody knows whether it was read: see `tailrace doctor`"

NO_LINE = (
    "nothing of it has come yet; a renamed file is a gap two minutes after its first census, once its log's "
    "own file is there: run this again then"
)

QUIET_SECONDS = 60
"""A collector that works has sent every line long before."""

INODES = """
SELECT instance, source, log, generation, argMax(inode, at) AS inode
FROM tailrace.ledger
WHERE kind IN ('CENSUS', 'FRONTIER') AND ledger.inode > 0
GROUP BY instance, source, log, generation
"""


class BackfillError(ReportedError):
    """A range cannot be shipped; the message says why and what would help."""


@dataclass(frozen=True, order=True)
class ByteRange:
    """Bytes [start, end) of a file that have to be shipped together."""

    file: LogFile
    start: int
    end: int
    missing: int = 0
    """Bytes of it that lie in open gaps, or after all that was read."""

    may_grow: bool = False
    """The file is still written to: its last line may be incomplete."""

    def touches(self, other: "ByteRange") -> bool:
        return self.file == other.file and self.start <= other.end and other.start <= self.end

    def overlaps(self, other: "ByteRange") -> bool:
        return self.file == other.file and self.start < other.end and other.start < self.end

    def joined(self, other: "ByteRange") -> "ByteRange":
        return ByteRange(
            self.file,
            min(self.start, other.start),
            max(self.end, other.end),
            self.missing + other.missing,
            self.may_grow or other.may_grow,
        )


@dataclass(frozen=True)
class FileCandidate:
    """What the census last saw of a file; the fields are those of schemas/census.schema.json."""

    cluster: str
    path: str
    inode: int
    head_length: int
    head_hash: str

    def is_of(self, content: BinaryIO) -> bool:
        """Whether a file begins with the bytes that the census saw."""
        head = content.read(self.head_length)
        return hashlib.md5(head, usedforsecurity=False).hexdigest() == self.head_hash


CANDIDATE = tuple(field.name for field in fields(FileCandidate))


def missing_ranges(clickhouse: ClickHouse) -> list[ByteRange]:
    """What to ship: the open gaps, each with the framer's dead letters at its edges, and unread ends."""
    ledger_balance.await_postings(clickhouse)
    edges = [ByteRange(LogFile.of(row), row["start"], row["end"]) for row in clickhouse.rows(EDGES)]
    gaps = map(range_of_gap, ledger_balance.gaps(clickhouse))
    return with_edges([*gaps, *unread(clickhouse, QUIET_SECONDS)], edges)


def unread(clickhouse: ClickHouse, quiet_seconds: int) -> list[ByteRange]:
    """What follows after all that was read of files that have not grown for so long."""
    return [
        ByteRange(LogFile.of(row), row["start"], row["end"], row["end"] - row["start"], may_grow=True)
        for row in clickhouse.rows(UNREAD, {"quiet_seconds": str(quiet_seconds)})
    ]


@dataclass(frozen=True)
class UnreadFile:
    """A file of a log of which nothing has come, and why it cannot be shipped yet."""

    instance: str
    source: str
    log: str
    path: Path
    size: int
    why: str


def unread_files(clickhouse: ClickHouse, watched: Iterable[Source], now: float) -> Iterator[UnreadFile]:
    """Of the watched logs, the files with a whole line that have not changed for QUIET_SECONDS and of which
    the books have no line."""
    known = {(row["instance"], row["source"], row["inode"]): row["read"] for row in clickhouse.rows(FILES)}
    for log in watched:
        for path, status in log_files.inodes(log):
            is_read = known.get((log.instance, log.source, status.st_ino))
            if is_read or now - status.st_mtime < QUIET_SECONDS or not _has_whole_line(path):
                continue
            why = NO_CENSUS if is_read is None else NO_LINE
            yield UnreadFile(log.instance, log.source, str(log.path), path, status.st_size, why)


def _has_whole_line(path: Path) -> bool:
    try:
        with path.open("rb") as content:
            return content.readline(MAX_LINE_BYTES).endswith(b"\n")
    except OSError:  # gone, or not to be read by us: then it is named
        return path.exists()


def with_edges(gaps: Iterable[ByteRange], edges: Iterable[ByteRange]) -> list[ByteRange]:
    """Joins what touches: a gap, the dead letters beside it, the gap behind those."""
    joined: list[ByteRange] = []
    for byte_range in sorted({*gaps, *edges}):
        if joined and joined[-1].touches(byte_range):
            joined[-1] = joined[-1].joined(byte_range)
        else:
            joined.append(byte_range)
    return [byte_range for byte_range in joined if byte_range.missing]


def inodes(clickhouse: ClickHouse) -> dict[LogFile, int]:
    """The inode under which the census last saw each file; a frontier holds it before the next census."""
    return {LogFile.of(row): row["inode"] for row in clickhouse.rows(INODES)}


def candidates(kafka: KafkaClient, wanted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], FileCandidate]:
    """The last census of each wanted (instance, inode), read from Kafka. Raises BackfillError."""
    keys = set(wanted)
    found: dict[tuple[str, int], FileCandidate] = {}
    for record in _census_records(kafka):
        key = (record["instance"], record["inode"])
        if key in keys:
            found[key] = FileCandidate(**{name: record[name] for name in CANDIDATE})
    return found


def locate(candidate: FileCandidate) -> Path:
    """The file that the census saw, by its inode at its path or beside it. Raises BackfillError."""
    last = Path(candidate.path)
    beside = sorted(last.parent.glob("*")) if last.parent.is_dir() else []
    for file in (last, *beside):
        if file.is_file() and file.stat().st_ino == candidate.inode:
            check(file, candidate)
            return file
    raise BackfillError(
        f"{last} (inode {candidate.inode}) is not on this machine any more; give a copy with --file"
    )


def check(file: Path, candidate: FileCandidate) -> None:
    """Raises BackfillError if the file does not begin as the one that the census saw."""
    with opened(file) as content:
        if not candidate.is_of(content):
            raise BackfillError(
                f"{file} is another file: its first {candidate.head_length} bytes are not those that the "
                f"census saw in {candidate.path}"
            )


def opened(file: Path) -> BinaryIO:
    """The log's bytes, unpacked if the file is compressed."""
    return gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb")  # type: ignore[return-value]


def _census_records(kafka: KafkaClient) -> Iterator[dict]:
    """Every census in Kafka, oldest first within a partition; the job has dead letters of what is none."""
    consumer = Consumer(kafka.settings(CONSUMER))
    try:
        ends = _ends(consumer)
        consumer.assign([TopicPartition(CENSUS_TOPIC, partition, 0) for partition in ends])
        while ends:
            message = consumer.poll(TIMEOUT_SECONDS)
            if message is None or message.error():
                raise BackfillError(f"cannot read the census from Kafka: {message and message.error()}")
            if record := census_record(message.value()):
                yield record
            if message.offset() + 1 >= ends[message.partition()]:
                del ends[message.partition()]
    except KafkaException as error:
        raise BackfillError(f"cannot read the census from Kafka: {error.args[0].str()}") from None
    finally:
        consumer.close()


def _ends(consumer: Consumer) -> dict[int, int]:
    """The end offset of each partition that holds messages."""
    topic = consumer.list_topics(CENSUS_TOPIC, timeout=TIMEOUT_SECONDS).topics[CENSUS_TOPIC]
    ends = {}
    for number in topic.partitions:
        partition = TopicPartition(CENSUS_TOPIC, number)
        low, high = consumer.get_watermark_offsets(partition, timeout=TIMEOUT_SECONDS)
        if high > low:
            ends[number] = high
    return ends


def census_record(message: bytes) -> dict | None:
    """The census in a message; any string may come as bytes and hold any of them.

    None if it is no census: a census that a full disk cut in half comes as a line without fields.
    """
    try:
        unpacked = msgpack.unpackb(message, raw=True, strict_map_key=False)
    except ValueError:
        return None
    if not isinstance(unpacked, dict):
        return None
    record = {_text(key): _text(value) for key, value in unpacked.items()}
    return record if record.keys() >= {"instance", *CANDIDATE} else None


def _text(value: object) -> object:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def range_of_gap(gap: Gap) -> ByteRange:
    return ByteRange(gap.file, gap.from_offset, gap.to_offset, gap.bytes)
