"""The loop: records from Kafka, rows to ClickHouse, then offsets; what is not stored is not committed."""

import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import msgpack
from confluent_kafka import Consumer, KafkaException, Message

from tailrace.clickhouse import ClickHouse, ClickHouseError, Row
from tailrace.facts.rows import RecordError, rows_of

TOPIC = "tailrace.snapshots"
GROUP = "tailrace-facts"
BATCH = 200
WAIT_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30

Say = Callable[[str], None]


class Loader:
    """One consumer. Several of one group share the partitions."""

    def __init__(self, consumer: Consumer, clickhouse: ClickHouse, beat: Path, say: Say) -> None:
        self._consumer = consumer
        self._clickhouse = clickhouse
        self._beat = beat
        self._say = say
        self._stop = threading.Event()

    def stop(self) -> None:
        """Ends `run` after the batch in hand."""
        self._stop.set()

    def run(self) -> None:
        """Returns when stopped. Raises KafkaException for what librdkafka does not mend by itself."""
        self._consumer.subscribe([TOPIC])
        while not self._stop.is_set():
            messages = [each for each in self._consumer.consume(BATCH, WAIT_SECONDS) if self._is_record(each)]
            if messages and not self._stored(self._rows(messages)):
                return
            if messages:
                self._consumer.commit(asynchronous=False)
            self._write_beat("")

    def _is_record(self, message: Message) -> bool:
        if message.error() is None:
            return True
        if not message.error().retriable() and message.error().fatal():
            raise KafkaException(message.error())
        self._say(f"Kafka: {message.error().str()}")
        return False

    def _rows(self, messages: Sequence[Message]) -> dict[str, list[Row]]:
        """The rows of each table. A record that nobody can read is named in the log; the topic still has
        it."""
        rows: dict[str, list[Row]] = defaultdict(list)
        for message in messages:
            try:
                for table, row in rows_of(unpacked(message.value())):
                    rows[table].append(row)
            except RecordError as error:
                self._say(f"{TOPIC} partition {message.partition()} offset {message.offset()}: {error}")
        return rows

    def _stored(self, rows: dict[str, list[Row]]) -> bool:
        """Whether all is in ClickHouse; tries until it is, or until stopped."""
        pause = 1.0
        while True:
            try:
                for table, content in rows.items():
                    self._clickhouse.insert(f"tailrace.{table}", content, async_insert=0)
                return True
            except (OSError, ClickHouseError) as error:
                self._say(f"ClickHouse did not take the rows: {error}")
                self._write_beat(str(error))
            if self._stop.wait(pause):
                return False
            pause = min(LONGEST_PAUSE_SECONDS, 2 * pause)

    def _write_beat(self, problem: str) -> None:
        draft = self._beat.with_suffix(".draft")
        draft.write_text(json.dumps({"at": time.time(), "problem": problem}))
        draft.replace(self._beat)


def unpacked(value: bytes) -> object:
    """A msgpack document. Bytes that are no UTF-8 come escaped. Raises RecordError."""
    try:
        return msgpack.unpackb(value, raw=False, unicode_errors="backslashreplace", strict_map_key=False)
    except (ValueError, msgpack.exceptions.UnpackException) as error:
        raise RecordError(f"not msgpack: {error}") from error
