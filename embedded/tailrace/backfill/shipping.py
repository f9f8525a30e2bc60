"""Ships lost byte ranges of a log again, from the file that still holds them.

The books say what is missing: open gaps, and the dead letters of the framer at their edges (the halves of the
entries that a gap cut). Each stretch of gaps and such dead letters is shipped whole, as whole lines, to the
topic tailrace.backfill.lines; the job reads it in place of what it had posted.

What a collector has lost of the end of a file is no gap yet: only the next line shows it. If the file has not
grown for a minute and is longer than what was read, its whole lines are shipped too. Should the collector
send them after all, they are duplicates.

A file of which no line arrived has no generation to be shipped under. If a census saw it, it becomes a gap.
If no census saw it, nothing can be proven about it. `backfill` names both.

A file is the right one if the census has seen it under the generation's inode, and if its first bytes still
have the hash that the census found.
"""

import time
from collections.abc import Iterator, Sequence
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
    opened,
    range_of_gap,
    unread,
)
from tailrace.clickhouse.client import ClickHouse
from tailrace.kafka.client import KafkaClient
from tailrace.ledger import balance as ledger_balance

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
    """The stretch without what is no whole line, if its file may grow; it may then have no bytes."""
    if not byte_range.may_grow:
        return byte_range
    with opened(file) as content:
        content.seek(max(0, byte_range.start - 1))
        before = content.read(min(1, byte_range.start))
        unread_bytes = content.read(byte_range.end - byte_range.start)
    # a collector ships no carriage return: the line feed after it was not read
    start = byte_range.start + (before == b"\r" and unread_bytes.startswith(b"\n"))
    end = byte_range.start + unread_bytes.rfind(b"\n") + 1
    return replace(byte_range, start=start, end=max(start, end))


def blocks(
    content: BinaryIO, start: int, end: int, maximum: int = BLOCK_BYTES
) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of whole lines of [start, end), at most `most` bytes together unless one line is
    longer.

    `start` must be the start of a line; a last line without its end is given as it is. Raises BackfillError
    if the file ends before `end`.
    """
    content.seek(start)
    offset = start
    block = bytearray()
    while offset + len(block) < end:
        line = content.readline(end - offset - len(block))
        if not line:
            raise BackfillError(f"the file ends at {offset + len(block)}, before offset {end}")
        if block and len(block) + len(line) > maximum:
            yield offset, bytes(block)
            offset += len(block)
            block.clear()
        block += line
    if block:
        yield offset, bytes(block)


@dataclass(frozen=True)
class Shipment:
    """A stretch, the file that holds it, and what its lines are to say about themselves."""

    byte_range: ByteRange
    file: Path
    cluster: str
    format: str = "auto"
    tz: str = "UTC"

    def message(self, offset: int, block: bytes) -> dict:
        """The message of one block (schemas/lines.schema.json)."""
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


def ship(kafka: KafkaClient, shipment: Shipment) -> int:
    """Sends a stretch and returns its bytes, once Kafka has them all. Raises BackfillError.

    Lines that are longer than a collector ships are left out: their gap stays.
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
    if producer.flush(TIMEOUT_SECONDS) or refused:
        raise BackfillError(f"Kafka did not take the lines: {refused[0] if refused else 'no answer'}")
    return sent


def await_filled(clickhouse: ClickHouse, shipped: Sequence[ByteRange], seconds: float) -> list[ByteRange]:
    """Waits until no byte of the shipped stretches is missing; returns the gaps that stay open."""
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
