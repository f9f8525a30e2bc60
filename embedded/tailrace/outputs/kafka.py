"""A Kafka topic of another system: JSON, keyed by the id of the record, written by an idempotent producer.

The producer itself writes no record twice. A record that a restarted process sends again has the same key, by
which a consumer or a compacted topic recognizes it."""

from collections.abc import Mapping, Sequence

from confluent_kafka import KafkaError, Message, Producer

from tailrace.outputs.config import Kafka
from tailrace.outputs.http import encode, secret, shown
from tailrace.outputs.record import DELIVERED, FAILED, REFUSED, Outcome, Receiver, Record, all_of

OF_RECORD = (KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_RECORD, KafkaError._INVALID_ARG)


class KafkaReceiver(Receiver):
    """Delivers to one topic."""

    def __init__(self, to: Kafka) -> None:
        self._to = to
        self._producer: Producer | None = None
        self._password = ""

    def send(self, records: Sequence[Record]) -> list[Outcome]:
        outcomes = all_of(
            records, Outcome(FAILED, f"no answer of {self._to.brokers} within {self._to.timeout} s")
        )
        try:
            producer = self._connected()
        except (OSError, ValueError) as error:
            return all_of(records, Outcome(FAILED, str(error)))
        for number, record in enumerate(records):
            try:
                self._produce(producer, record, number, outcomes)
            except BufferError:
                producer.flush(self._to.timeout)
                self._produce(producer, record, number, outcomes)
        if producer.flush(self._to.timeout):
            producer.purge()
            producer.flush(self._to.timeout)
        return outcomes

    def _produce(self, producer: Producer, record: Record, number: int, outcomes: list[Outcome]) -> None:
        def done(error: KafkaError | None, _: Message) -> None:
            outcomes[number] = self._outcome(error)

        headers = {"kind": record.kind, "format": record.format}
        producer.produce(
            self._to.topic,
            encode(record.document),
            key=record.id,
            timestamp=record.millis,
            headers=headers,
            on_delivery=done,
        )
        producer.poll(0)

    def _outcome(self, error: KafkaError | None) -> Outcome:
        if error is None:
            return Outcome(DELIVERED, f"stored in {self._to.topic}")
        return Outcome(REFUSED if error.code() in OF_RECORD else FAILED, error.str())

    def _connected(self) -> Producer:
        """Returns the producer; a new one if the password has changed."""
        password = secret(self._to.secret_file) if self._to.secret_file else ""
        if self._producer is None or password != self._password:
            self._producer = Producer(self._settings(password))
            self._password = password
        return self._producer

    def _settings(self, password: str) -> Mapping[str, object]:
        to = self._to
        settings: dict[str, object] = {
            "bootstrap.servers": to.brokers,
            "enable.idempotence": True,
            "compression.type": "lz4" if to.is_compressed else "none",
            "linger.ms": 5,
            "message.timeout.ms": to.timeout * 1000,
            "security.protocol": self._protocol(),
        }
        if to.ca_file:
            settings["ssl.ca.location"] = str(to.ca_file)
        if to.user:
            settings |= {"sasl.mechanism": to.mechanism, "sasl.username": to.user, "sasl.password": password}
        return settings

    def _protocol(self) -> str:
        encryption = "ssl" if self._to.security == "tls" else "plaintext"
        return f"sasl_{encryption}" if self._to.user else encryption

    def show(self, record: Record) -> str:
        where = f"kafka://{self._to.brokers}/{self._to.topic} key {record.id}"
        return shown(where, encode(record.document)).removeprefix("POST ")
