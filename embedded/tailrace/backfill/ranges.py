"""Finds missing byte ranges in the ledger and the census, and the files that may still contain them."""

import gzip
import hashlib
import zlib
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

MIN_HEAD_BYTES = 1024
"""A compressed file is recognized by a head of at least this length: it then contains times of entries."""

MAX_LINE_BYTES = 16_000_000
"""The longest line that a collector ships and the job accepts; a longer line stays a gap of kind oversize."""

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
WHERE stage = 'FRAMER' AND NOT superseded AND ({instance:String} = '' OR instance = {instance:String})
"""

UNREAD = """
WITH
    censuses AS (
        SELECT instance, source, log, generation, at, ledger.size AS bytes,
               argMax(ledger.size, at) OVER (PARTITION BY instance, source, log, generation) AS last_bytes
        FROM tailrace.ledger
        WHERE kind = 'CENSUS' AND generation > 0 AND ({instance:String} = '' OR instance = {instance:String})
    ),
    files AS (
        SELECT instance, source, log, generation, any(last_bytes) AS end,
               dateDiff('second', minIf(at, bytes = last_bytes), max(at)) AS quiet_seconds
        FROM censuses
        GROUP BY instance, source, log, generation
    ),
    read AS (
        SELECT instance, source, log, generation, max(to_offset) AS start
        FROM tailrace.ledger
        WHERE kind = 'FRONTIER' AND ({instance:String} = '' OR instance = {instance:String})
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

NO_CENSUS = "no census has recorded it, so it is unknown whether it was read: see `tailrace doctor`"

NO_LINE = (
    "no line of it has arrived yet; a renamed file becomes a gap two minutes after its first census, once "
    "the log has a new file: run this again then"
)

QUIET_SECONDS = 60
"""A working collector has sent every line within this time."""

INODES = """
SELECT instance, source, log, generation, argMax(inode, at) AS inode
FROM tailrace.ledger
WHERE kind IN ('CENSUS', 'FRONTIER') AND ledger.inode > 0
GROUP BY instance, source, log, generation
"""


class BackfillError(ReportedError):
    """A range cannot be shipped; the message states the reason and a remedy."""


class FileLostError(BackfillError):
    """The bytes of a range are not on this machine, or not in the file that had them."""


@dataclass(frozen=True, order=True)
class ByteRange:
    """Bytes [start, end) of a file that must be shipped together."""

    file: LogFile
    start: int
    end: int
    missing: int = 0
    """Those of its bytes that are in open gaps, or beyond the frontier."""

    may_grow: bool = False
    """The file is still being written: its last line may be incomplete."""

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
    """The last census record of a file; the fields are those of schemas/census.schema.json."""

    cluster: str
    path: str
    inode: int
    head_length: int
    head_hash: str

    def is_of(self, content: BinaryIO) -> bool:
        """Returns whether a file begins with the bytes that the census hashed."""
        head = content.read(self.head_length)
        return hashlib.md5(head, usedforsecurity=False).hexdigest() == self.head_hash


CANDIDATE = tuple(field.name for field in fields(FileCandidate))


def missing_ranges(clickhouse: ClickHouse, instance: str = "") -> list[ByteRange]:
    """Returns the ranges to ship, of one server or of all: open gaps with the framer's dead letters at their
    edges, and unread ends."""
    ledger_balance.await_postings(clickhouse)
    rows = clickhouse.rows(EDGES, {"instance": instance})
    edges = [ByteRange(LogFile.of(row), row["start"], row["end"]) for row in rows]
    gaps = map(range_of_gap, ledger_balance.gaps(clickhouse, instance))
    return with_edges([*gaps, *unread(clickhouse, QUIET_SECONDS, instance)], edges)


def unread(clickhouse: ClickHouse, quiet_seconds: int, instance: str = "") -> list[ByteRange]:
    """Returns the bytes beyond the frontier of files that have not grown for this many seconds."""
    parameters = {"quiet_seconds": str(quiet_seconds), "instance": instance}
    return [
        ByteRange(LogFile.of(row), row["start"], row["end"], row["end"] - row["start"], may_grow=True)
        for row in clickhouse.rows(UNREAD, parameters)
    ]


@dataclass(frozen=True)
class UnreadFile:
    """A file of a log of which no line has arrived, and the reason why it cannot be shipped yet."""

    instance: str
    source: str
    log: str
    path: Path
    size: int
    why: str


def unread_files(clickhouse: ClickHouse, watched: Iterable[Source], now: float) -> Iterator[UnreadFile]:
    """Yields files of the watched logs that contain a complete line, have not changed for QUIET_SECONDS, and
    have no line in the ledger."""
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
    except OSError:  # deleted or unreadable: it is listed
        return path.exists()


def with_edges(gaps: Iterable[ByteRange], edges: Iterable[ByteRange]) -> list[ByteRange]:
    """Joins ranges that touch: a gap, the dead letters next to it, the gap behind those."""
    joined: list[ByteRange] = []
    for byte_range in sorted({*gaps, *edges}):
        if joined and joined[-1].touches(byte_range):
            joined[-1] = joined[-1].joined(byte_range)
        else:
            joined.append(byte_range)
    return [byte_range for byte_range in joined if byte_range.missing]


def inodes(clickhouse: ClickHouse) -> dict[LogFile, int]:
    """Returns the last known inode of each file. A frontier contains it before the next census arrives."""
    return {LogFile.of(row): row["inode"] for row in clickhouse.rows(INODES)}


def candidates(kafka: KafkaClient, wanted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], FileCandidate]:
    """Reads the last census of each wanted (instance, inode) from Kafka. Raises BackfillError."""
    keys = set(wanted)
    found: dict[tuple[str, int], FileCandidate] = {}
    for record in _census_records(kafka):
        key = (record["instance"], record["inode"])
        if key in keys:
            found[key] = FileCandidate(**{name: record[name] for name in CANDIDATE})
    return found


def locate(candidate: FileCandidate) -> Path:
    """Finds the file of a census record: by its inode, at its path or in the same directory, or compressed
    there. Raises FileLostError."""
    last = Path(candidate.path)
    siblings = sorted(last.parent.glob("*")) if last.parent.is_dir() else []
    same = [file for file in (last, *siblings) if file.is_file() and file.stat().st_ino == candidate.inode]
    packed = [file for file in siblings if _is_compressed_copy(file, candidate)]
    if len(packed) == 1 and not any(_begins_as(file, candidate) for file in same):
        return packed[0]
    if not same:
        raise FileLostError(
            f"{last} (inode {candidate.inode}) is no longer on this machine; give a copy with --file"
        )
    check(same[0], candidate)
    return same[0]


def _is_compressed_copy(file: Path, candidate: FileCandidate) -> bool:
    """Returns whether a rotated file is this one, compressed. A shorter head could be that of another
    file."""
    if file.suffix != ".gz" or candidate.head_length < MIN_HEAD_BYTES:
        return False
    try:
        return _begins_as(file, candidate)
    except (OSError, EOFError, zlib.error):  # unreadable, or still being written
        return False


def _begins_as(file: Path, candidate: FileCandidate) -> bool:
    with opened(file) as content:
        return candidate.is_of(content)


def check(file: Path, candidate: FileCandidate) -> None:
    """Raises FileLostError if the beginning of the file differs from the one that the census hashed."""
    if not _begins_as(file, candidate):
        raise FileLostError(
            f"{file} is another file: its first {candidate.head_length} bytes differ from those that the "
            f"census recorded for {candidate.path}"
        )


def opened(file: Path) -> BinaryIO:
    """Opens a log for reading bytes; decompresses .gz files."""
    return gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb")  # type: ignore[return-value]


def _census_records(kafka: KafkaClient) -> Iterator[dict]:
    """Yields every census in Kafka, oldest first within a partition; skips invalid ones, which the job
    reports."""
    consumer = Consumer(kafka.settings(CONSUMER))
    try:
        ends = _ends(consumer)
        consumer.assign([TopicPartition(CENSUS_TOPIC, partition, 0) for partition in ends])
        while ends:
            message = consumer.poll(TIMEOUT_SECONDS)
            if message is None or message.error():
                raise BackfillError(f"cannot read the census from Kafka: {message and message.error()}")
            if message.partition() not in ends:  # newer than the end that was asked for
                continue
            if record := census_record(message.value()):
                yield record
            if message.offset() + 1 >= ends[message.partition()]:
                del ends[message.partition()]
    except KafkaException as error:
        raise BackfillError(f"cannot read the census from Kafka: {error.args[0].str()}") from None
    finally:
        consumer.close()


def _ends(consumer: Consumer) -> dict[int, int]:
    """Returns the end offset of each partition that contains messages."""
    topic = consumer.list_topics(CENSUS_TOPIC, timeout=TIMEOUT_SECONDS).topics[CENSUS_TOPIC]
    ends = {}
    for number in topic.partitions:
        partition = TopicPartition(CENSUS_TOPIC, number)
        low, high = consumer.get_watermark_offsets(partition, timeout=TIMEOUT_SECONDS)
        if high > low:
            ends[number] = high
    return ends


def census_record(message: bytes) -> dict | None:
    """Decodes the census in a message; strings may come as bytes, with any content.

    Returns None if it is no census: a full disk can truncate a census to a line without fields.
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
