"""Ships lost byte ranges of a log again, from the file that still contains them.

The ledger contains the missing ranges: open gaps, and the framer's dead letters at their edges (the halves of
the entries that a gap cut). Each contiguous range of gaps and such dead letters is shipped together, as
complete lines, to the topic tailrace.backfill.lines. The job reads it in place of what it had posted.

Lines that were lost at the end of a file are no gap yet: only the next line reveals one. If the file has not
grown for a minute and is longer than its frontier, its complete lines are shipped too. If the collector
sends them later, they are duplicates.

A file of which no line arrived has no generation under which it could be shipped. If the census recorded the
file, it becomes a gap; otherwise its completeness is unknown. `backfill` lists both.

A file is the right one if the census has recorded it under the generation's inode, and if its first bytes
still have the recorded hash.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import msgpack
from confluent_kafka import Producer

from tailrace.backfill.ranges import (
    MAX_LINE_BYTES,
    TIMEOUT_SECONDS,
    BackfillError,
    ByteRange,
    FileCandidate,
    FileLostError,
    locate,
    opened,
    range_of_gap,
    unread,
)
from tailrace.clickhouse.client import ClickHouse
from tailrace.kafka.client import KafkaClient
from tailrace.ledger import balance as ledger_balance
from tailrace.sources.sources_file import Source

TOPIC = "tailrace.backfill.lines"

BLOCK_BYTES = 1 << 20

PRODUCER = {
    "enable.idempotence": True,
    "message.max.bytes": 20_000_000,
    "compression.type": "lz4",
    "log_level": 0,
}

POLL_SECONDS = 0.5


def whole_lines(byte_range: ByteRange, file: Path) -> ByteRange:
    """Returns the range without a trailing incomplete line if its file may grow; it may then be empty."""
    if not byte_range.may_grow:
        return byte_range
    with opened(file) as content:
        content.seek(max(0, byte_range.start - 1))
        before = content.read(min(1, byte_range.start))
        unread_bytes = content.read(byte_range.end - byte_range.start)
    # Collectors ship no carriage return: the line feed after it was not read.
    start = byte_range.start + (before == b"\r" and unread_bytes.startswith(b"\n"))
    end = byte_range.start + unread_bytes.rfind(b"\n") + 1
    return replace(byte_range, start=start, end=max(start, end))


def blocks(
    content: BinaryIO, start: int, end: int, maximum: int = BLOCK_BYTES
) -> Iterator[tuple[int, bytes]]:
    """Yields offset and bytes of complete lines of [start, end), at most `most` bytes together unless one
    line is longer.

    `start` must be the start of a line. A last line without line feed is returned unchanged. Raises
    FileLostError if the file ends before `end`.
    """
    content.seek(start)
    offset = start
    block = bytearray()
    while offset + len(block) < end:
        line = content.readline(end - offset - len(block))
        if not line:
            raise FileLostError(f"the file ends at {offset + len(block)}, before offset {end}")
        if block and len(block) + len(line) > maximum:
            yield offset, bytes(block)
            offset += len(block)
            block.clear()
        block += line
    if block:
        yield offset, bytes(block)


@dataclass(frozen=True)
class Shipment:
    """A byte range, the file that contains it, and the metadata of its messages."""

    byte_range: ByteRange
    file: Path
    cluster: str
    format: str = "auto"
    tz: str = "UTC"

    def message(self, offset: int, block: bytes) -> dict:
        """Returns the message of one block (schemas/lines.schema.json)."""
        return {
            "@timestamp": time.time(),
            "cluster": self.cluster,
            "instance": self.byte_range.file.instance,
            "source": self.byte_range.file.source,
            "format": self.format,
            "tz": self.tz,
            "path": str(self.file),
            "offset": offset,
            "log": block,
            "backfill": True,
            "generation": self.byte_range.file.generation,
        }


def shipment(
    lost: ByteRange, candidate: FileCandidate | None, log: Source | None, file: Path | None = None
) -> Shipment:
    """Returns the complete lines of a range and the file that contains them.

    `log`: the entry of sources.yaml, if the log is watched. `file`: where it is, if not where the census
    recorded it; the caller has checked it. Raises FileLostError, OSError.
    """
    if candidate is None:
        raise FileLostError(f"no census has recorded {lost.file}: the file cannot be identified")
    file = file or locate(candidate)
    byte_range = whole_lines(lost, file)
    if log is None:
        return Shipment(byte_range, file, candidate.cluster)
    return Shipment(byte_range, file, candidate.cluster, log.format, log.tz)


def ship(kafka: KafkaClient, shipment: Shipment, throttle: Callable[[int], None] = lambda _: None) -> int:
    """Sends a range and returns its size in bytes, after Kafka has confirmed it. Raises BackfillError.

    Lines that are too long for a collector are omitted: their gap stays. `throttle` is called with the size
    of each block after it was sent.
    """
    producer = Producer(kafka.settings(PRODUCER))
    byte_range = shipment.byte_range
    refused: list[str] = []
    sent = 0
    with opened(shipment.file) as content:
        for offset, block in blocks(content, byte_range.start, byte_range.end):
            if len(block) <= MAX_LINE_BYTES:
                message = msgpack.packb(shipment.message(offset, block))
                _produce(producer, byte_range.file.instance, message, refused)
                sent += len(block)
                throttle(len(block))
    if producer.flush(TIMEOUT_SECONDS) or refused:
        raise BackfillError(f"Kafka did not accept the lines: {refused[0] if refused else 'no answer'}")
    return sent


def await_filled(clickhouse: ClickHouse, shipped: Sequence[ByteRange], seconds: float) -> list[ByteRange]:
    """Waits until no byte of the shipped ranges is missing; returns the gaps that stay open."""
    deadline = time.monotonic() + seconds
    while True:
        missing = [*map(range_of_gap, ledger_balance.gaps(clickhouse)), *unread(clickhouse, 0)]
        left = [gap for gap in missing if any(gap.overlaps(byte_range) for byte_range in shipped)]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(POLL_SECONDS)


def _produce(producer: Producer, key: str, message: bytes, refused: list[str]) -> None:
    def delivered(error: object, _: object) -> None:
        if error is not None:
            refused.append(str(error))

    while True:
        try:
            producer.produce(TOPIC, message, key=key, on_delivery=delivered)
            producer.poll(0)
            return
        except BufferError:
            producer.poll(1)
