"""Publishes the registered keys to the normalize job: one record of the topic tailrace.host_keys."""

from confluent_kafka import Producer

from tailrace.kafka.client import KafkaClient
from tailrace.signing.registry import HostKeyError, parse

TOPIC = "tailrace.host_keys"
KEY = "keys"
TIMEOUT_SECONDS = 20


def publish(kafka: KafkaClient, text: str) -> None:
    """Writes the content of keys/hosts.json. Raises HostKeyError."""
    parse(text, "the list of host keys")
    failures: list[str] = []
    options = {"message.timeout.ms": TIMEOUT_SECONDS * 1000, "enable.idempotence": True, "log_level": 0}
    producer = Producer(kafka.settings({**options, "error_cb": _ignore}))
    producer.produce(
        TOPIC, text.encode(), KEY, on_delivery=lambda error, _: error and failures.append(error.str())
    )
    if producer.flush(TIMEOUT_SECONDS + 5) or failures:
        raise HostKeyError(
            f"Kafka at {kafka.address} did not accept the keys: {failures[0] if failures else 'no answer'}"
        )


def _ignore(error: object) -> None:
    """Ignores the client's background errors, which the call itself raises again."""
