"""Stores events that a receiver refuses for good, in the topic tailrace.events.refused."""

from collections.abc import Callable, Sequence

from confluent_kafka import KafkaException, Message, Producer

from tailrace.plural import counted

TOPIC = "tailrace.events.refused"
FLUSH_SECONDS = 60


class RefusedEvents:
    """Writes messages as they were in the topic of events; headers state the channel and the reason."""

    def __init__(self, channel: str, settings: Callable[[dict[str, object]], dict[str, object]]) -> None:
        self._channel = channel
        self._producer = Producer(settings({"enable.idempotence": True}))

    def store(self, refused: Sequence[tuple[Message, str, str]]) -> None:
        """Returns when Kafka has stored the messages, each with its id and the reason. Raises
        KafkaException."""
        failures: list[object] = []
        for message, id_, reason in refused:
            self._producer.produce(
                TOPIC,
                message.value(),
                key=id_,
                headers={"channel": self._channel, "reason": reason},
                on_delivery=lambda error, _: error and failures.append(error),
            )
            self._producer.poll(0)
        left = self._producer.flush(FLUSH_SECONDS)
        if failures:
            raise KafkaException(failures[0])
        if left:
            raise TimeoutError(
                f"Kafka has not stored {counted(left, 'refused event')} within {FLUSH_SECONDS} s"
            )
