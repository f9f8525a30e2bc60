"""Copies records from Kafka to ClickHouse, and commits offsets after their rows are stored."""

import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgpack
from confluent_kafka import Consumer, KafkaException, Message

from tailrace import replaced_file
from tailrace.clickhouse.client import ClickHouse, ClickHouseError, Row
from tailrace.plural import counted
from tailrace.retry_pause import doubled
from tailrace.snapshots.alert import ALERTS, alert_of
from tailrace.snapshots.errant_transactions import Comparison
from tailrace.snapshots.query_ids import QueryIds
from tailrace.snapshots.records import RECORDS
from tailrace.snapshots.rows import (
    CHANGES,
    DIGEST_SAMPLES,
    FACTS,
    HISTOGRAMS,
    LOCK_WAITS,
    PULL_COSTS,
    SAMPLE,
    SNAPSHOTS,
    TABLE_SIZES,
    RecordError,
    rows_of,
    rows_of_verdict,
)

TOPIC = "tailrace.snapshots"
GROUP = "tailrace-facts"
BATCH = 200
WAIT_SECONDS = 1.0
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 30.0

KNOWN = (
    "SELECT cluster, instance, kind, key, attributes, toFloat64(since) AS since, "
    "toFloat64(last_seen) AS last_seen FROM tailrace.server_facts_current "
    "WHERE kind IN ('gtid', 'replication', 'errant')"
)

IN_ORDER = (
    *(ALERTS, CHANGES, TABLE_SIZES, DIGEST_SAMPLES, HISTOGRAMS, RECORDS, PULL_COSTS, LOCK_WAITS),
    *(FACTS, SNAPSHOTS),
)
"""The order of tables: a snapshot's row follows the rows of the facts that it counts."""

Report = Callable[[str], None]


class Loader:
    """One consumer. Several consumers of one group share the partitions."""

    def __init__(
        self,
        consumer: Consumer,
        clickhouse: ClickHouse,
        beat: Path,
        report: Report,
        query_ids: QueryIds | None = None,
    ) -> None:
        self._consumer = consumer
        self._clickhouse = clickhouse
        self._heartbeat = beat
        self._report = report
        self._query_ids = query_ids or QueryIds(None)
        self._stop = threading.Event()
        self._comparison: Comparison | None = None

    def stop(self) -> None:
        """Ends `run` after the current batch."""
        self._stop.set()

    def run(self) -> None:
        """Returns when stopped. Raises KafkaException for errors from which librdkafka does not recover."""
        self._consumer.subscribe([TOPIC])
        while not self._stop.is_set():
            messages = [each for each in self._consumer.consume(BATCH, WAIT_SECONDS) if self._is_record(each)]
            if messages and not self._stored(messages):
                return
            if messages:
                self._consumer.commit(asynchronous=False)
            self._write_beat("")

    def _is_record(self, message: Message) -> bool:
        if message.error() is None:
            return True
        if not message.error().retriable() and message.error().fatal():
            raise KafkaException(message.error())
        self._report(f"Kafka: {message.error().str()}")
        return False

    def _rows(self, messages: Sequence[Message]) -> dict[str, list[Row]]:
        """Returns the rows of each table. Unreadable records are logged and skipped; they stay in the
        topic."""
        rows: dict[str, list[Row]] = defaultdict(list)
        for message in messages:
            try:
                record = unpacked(message.value())
                for table, row in [*rows_of(record), *self._errant(record)]:
                    rows[table].append(self._with_id(row) if SAMPLE in row else row)
            except (RecordError, AttributeError, KeyError, TypeError, ValueError) as error:
                # Capture writes no such record; another writer must not stop the loader.
                self._report(f"{TOPIC} partition {message.partition()} offset {message.offset()}: {error!r}")
        return rows

    def _with_id(self, row: Row) -> Row:
        instance, digest = str(row["instance"]), str(row["digest"])
        return {
            **{k: v for k, v in row.items() if k != SAMPLE},
            "query_id": self._query_ids.of(instance, digest, row[SAMPLE]),
        }

    def _errant(self, record: Mapping) -> Iterator[tuple[str, Row]]:
        for verdict in self._comparison.take(record):
            yield from rows_of_verdict(verdict)
            if verdict.is_new:
                yield ALERTS, alert_of(verdict)

    def _stored(self, messages: Sequence[Message]) -> bool:
        """Stores all rows, retrying until it succeeds or is stopped; returns whether it succeeded."""
        rows: dict[str, list[Row]] | None = None
        failures = 0
        while True:
            try:
                if self._comparison is None:
                    self._comparison = self._restored()
                rows = self._rows(messages) if rows is None else rows
                for table in filter(rows.get, IN_ORDER):
                    self._clickhouse.insert(f"tailrace.{table}", rows[table], async_insert=0)
                self._report(
                    f"{counted(len(messages), 'record')}, "
                    f"{counted(sum(map(len, rows.values())), 'row')} stored"
                )
                return True
            except (OSError, ClickHouseError) as error:
                self._report(f"ClickHouse did not accept the rows: {error}")
                self._write_beat(str(error))
                failures += 1
            if self._stop.wait(doubled(FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS, failures)):
                return False

    def _restored(self) -> Comparison:
        """Returns the state of the servers that an earlier process stored."""
        comparison = Comparison()
        comparison.restore(self._clickhouse.rows(KNOWN))
        return comparison

    def _write_beat(self, problem: str) -> None:
        replaced_file.write(self._heartbeat, json.dumps({"at": time.time(), "problem": problem}))


def unpacked(value: bytes) -> object:
    """Decodes a msgpack document; escapes bytes that are not UTF-8. Raises RecordError."""
    try:
        return msgpack.unpackb(value, raw=False, unicode_errors="backslashreplace", strict_map_key=False)
    except (TypeError, ValueError, msgpack.exceptions.UnpackException) as error:
        raise RecordError(f"not msgpack: {error}") from error
