"""Writes what a visit found to Kafka: lines, census, signed ranges and state in one transaction.

Kafka confirms all of it or nothing. So a puller that is killed at any instruction continues after the lines
that Kafka confirmed: it neither sends them again nor skips others. A second puller of the same name ends
the first one.
"""

import time
from collections.abc import Callable, Iterator, Mapping

import msgpack
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from tailrace_pull import snapshots
from tailrace_pull.costs import Cost
from tailrace_pull.log import FILES_TOPIC, PulledLog
from tailrace_pull.performance_schema import PERFORMANCE_SCHEMA
from tailrace_pull.reading import Round
from tailrace_pull.signing import STATE_KEY, RoundSigner
from tailrace_pull.state import LogState

STATE_TOPIC = "tailrace.pull.state"
SIGNED_TOPIC = "tailrace.signed_ranges"
BLOCK_BYTES = 512 << 10
"""Lines of one message. The job takes any number of lines in one."""

TIMEOUT_SECONDS = 60

PRODUCER = {
    "acks": "all",
    "enable.idempotence": True,
    "compression.type": "lz4",
    "message.max.bytes": 20_000_000,
    "linger.ms": 20,
}
CONSUMER = {
    "group.id": "tailrace-pull",
    "enable.auto.commit": False,
    "isolation.level": "read_committed",
    "auto.offset.reset": "earliest",
    "enable.partition.eof": True,
}


class ShippingError(Exception):
    """Kafka did not accept the records; nothing of the transaction was stored."""


class FencedError(Exception):
    """Another puller of this name runs. This one must end."""


class UnknownOutcomeError(Exception):
    """It is unknown whether Kafka stored a transaction. This puller must end; the next one reads the stored
    state."""


class Shipper:
    """A transactional producer. Not thread-safe."""

    def __init__(self, kafka: Mapping[str, object], name: str, signer: RoundSigner | None = None) -> None:
        """`kafka` are properties of librdkafka, `name` is that of the puller. Raises ShippingError."""
        self._kafka = dict(kafka)
        self._signer = signer
        self._stored: dict[str, LogState] = {}
        """The states that Kafka confirmed, by key. The state of a quiet log is not stored again: it has the
        heads of all files, and a log has many."""
        self._producer = Producer({**self._kafka, **PRODUCER, "transactional.id": f"tailrace-pull-{name}"})
        self._call(self._producer.init_transactions, TIMEOUT_SECONDS)

    def states(self) -> dict[str, LogState]:
        """Reads the last confirmed state of each log, by its key, and that of the signer. Raises
        ShippingError, StateError."""
        consumer = Consumer({**self._kafka, **CONSUMER})
        try:
            stored = _latest(consumer)
            if self._signer and self._signer.state_key in stored:
                self._signer.restore(stored[self._signer.state_key])
            logs = {key: value for key, value in stored.items() if not key.startswith(STATE_KEY.format(""))}
            return {key: LogState.from_json(value) for key, value in logs.items()}
        except KafkaException as error:
            raise ShippingError(f"cannot read {STATE_TOPIC}: {error}") from error
        finally:
            consumer.close()

    def ship(
        self, rounds: Mapping[PulledLog, Round], its_costs: Mapping[PulledLog, Cost] | None = None
    ) -> None:
        """Writes the rounds, and what logs cost, in one transaction.

        Raises ShippingError, after which none of them is stored, or UnknownOutcomeError.
        """
        self._call(self._producer.begin_transaction)
        try:
            for log, done in rounds.items():
                for topic, value in records(log, done):
                    self._produce(topic, log.instance, value)
            self._sign(rounds)
            changed = {log: done for log, done in rounds.items() if self._stored.get(log.key) != done.state}
            for log, done in changed.items():
                self._produce(STATE_TOPIC, log.key, done.state.to_json())
            for log, cost in (its_costs or {}).items():
                self._produce(snapshots.TOPIC, log.instance, snapshots.of_cost(log, cost))
        except ShippingError:
            self._end(self._producer.abort_transaction)
            if self._signer:
                self._signer.abort()
            raise
        self._end(self._producer.commit_transaction)
        self._stored |= {log.key: done.state for log, done in changed.items()}
        if self._signer:
            self._signer.confirm()

    def _sign(self, rounds: Mapping[PulledLog, Round]) -> None:
        """Writes the signed ranges, and notes the open ones in the states of the logs."""
        if not self._signer:
            return
        of_lines = {log: done for log, done in rounds.items() if log.source != PERFORMANCE_SCHEMA}
        for record in self._signer.sign(of_lines):
            self._produce(SIGNED_TOPIC, self._signer.host, msgpack.packb(record))
        self._produce(STATE_TOPIC, self._signer.state_key, self._signer.state())

    def _end(self, method: Callable[[float], None]) -> None:
        """Commits or aborts. After a failure the producer cannot begin another transaction."""
        try:
            self._call(method, TIMEOUT_SECONDS)
        except ShippingError as error:
            raise UnknownOutcomeError(str(error)) from error

    def _produce(self, topic: str, key: str, value: bytes) -> None:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while True:
            try:
                self._producer.produce(topic, value, key=key)
                self._producer.poll(0)
                return
            except BufferError as error:
                if time.monotonic() > deadline:
                    raise ShippingError(f"{topic}: Kafka took no record for {TIMEOUT_SECONDS} s") from error
                self._producer.poll(1)
            except KafkaException as error:  # such as a record that is too large
                raise ShippingError(f"{topic}: {error}") from error

    def _call(self, method: Callable[..., object], *arguments: object) -> None:
        try:
            method(*arguments)
        except KafkaException as error:
            if error.args[0].code() in (KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH):
                raise FencedError(str(error)) from error
            raise ShippingError(f"{method.__name__}: {error}") from error


def records(log: PulledLog, done: Round) -> Iterator[tuple[str, bytes]]:
    """Yields topic and message: the lines, then the census of the files, also for the topic of all files.
    Records from Performance Schema are snapshots, because no server writes such lines to a file."""
    if log.source == PERFORMANCE_SCHEMA:
        yield from ((snapshots.TOPIC, value) for value in snapshots.envelopes(log, done))
        return
    for run in done.runs:
        for offset, lines in blocks(run.offset, run.lines):
            yield log.topic, msgpack.packb(log.lines(run.file, offset, lines, done.at))
    for file in done.state.files:
        if file.missing_since is None:
            census = msgpack.packb(log.census(file, done.at))
            yield log.topic, census
            yield FILES_TOPIC, census


def blocks(offset: int, lines: bytes, size: int = BLOCK_BYTES) -> Iterator[tuple[int, bytes]]:
    """Splits complete lines into blocks of complete lines, at most `size` bytes unless one line is longer."""
    start = 0
    while start < len(lines):
        end = lines.rfind(b"\n", start, start + size) + 1
        if end <= start:
            end = lines.find(b"\n", start) + 1
        yield offset + start, lines[start:end]
        start = end


def _latest(consumer: Consumer) -> dict[str, bytes]:
    """Returns the last value of each key of the state topic."""
    partitions = consumer.list_topics(STATE_TOPIC, TIMEOUT_SECONDS).topics[STATE_TOPIC].partitions
    consumer.assign([TopicPartition(STATE_TOPIC, number, 0) for number in partitions])
    left, found = set(partitions), {}
    while left:
        message = consumer.poll(TIMEOUT_SECONDS)
        if message is None:
            raise ShippingError(f"cannot read {STATE_TOPIC}: no answer for {TIMEOUT_SECONDS} s")
        if not message.error():
            found[message.key().decode()] = message.value()
        elif message.error().code() == KafkaError._PARTITION_EOF:
            left.discard(message.partition())
        else:
            raise KafkaException(message.error())
    return found
