"""Stores events that a receiver refuses for good, in the topic tailrace.events.refused."""

from collections.abc import Callable, Sequence

from confluent_kafka import KafkaException, Producer

from tailrace.forwarding.batch import Batch

TOPIC = "tailrace.events.refused"
FLUSH_SECONDS = 60


class RefusedEvents:
    """Writes messages as they were in the topic of events; headers state the channel and the reason."""

    def __init__(self, channel: str, settings: Callable[[dict[str, object]], dict[str, object]]) -> None:
        self._channel = channel
        self._producer = Producer(settings({"enable.idempotence": True}))

    def store(self, batch: Batch, details: Sequence[str]) -> None:
        """Returns when Kafka has stored the events. Raises KafkaException."""
        failures: list[object] = []
        for record, message, detail in zip(batch.records, batch.messages, details, strict=True):
            self._producer.produce(
                TOPIC,
                message.value(),
                key=record.id,
                headers={"channel": self._channel, "reason": detail},
                on_delivery=lambda error, _: error and failures.append(error),
            )
            self._producer.poll(0)
        left = self._producer.flush(FLUSH_SECONDS)
        if failures:
            raise KafkaException(failures[0])
        if left:
            raise TimeoutError(f"Kafka has not stored {left} refused events within {FLUSH_SECONDS} s")
