"""Reads the collectors' messages from Kafka."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgpack
from confluent_kafka import Consumer, KafkaError, Message, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from e2e.limits import LIMIT_SECONDS, warn_if_long
from tailrace.config.settings import Settings

LARGEST_MESSAGE = 30_000_000


@dataclass(frozen=True)
class Line:
    """A line record; the log's text may be any bytes."""

    key: bytes
    path: str
    offset: int
    log: bytes
    fields: dict[str, object]


def read_lines(
    settings: Settings, topic: str, instance: str, enough: Callable[[list[Line]], bool]
) -> list[Line]:
    """Returns the instance's lines from the topic's beginning, without the census, when there are enough.

    Raises AssertionError after LIMIT_SECONDS.
    """
    consumer = _consumer(settings, topic)
    found: list[Line] = []
    began = time.monotonic()
    try:
        while not enough(found):
            waited = time.monotonic() - began
            assert waited < LIMIT_SECONDS, f"{len(found)} lines of {instance} after {waited:.0f} s"
            for message in consumer.consume(1000, timeout=0.2):
                assert message.error() is None, message.error()
                fields = _fields(message.value()) if message.key() == instance.encode() else {}
                if "log" in fields:
                    found += _lines(message.key(), fields)
    finally:
        consumer.close()
    warn_if_long(time.monotonic() - began, f"{len(found)} lines of {instance}")
    return found


def committed(settings: Settings, topic: str, key: str) -> list[dict[str, object]]:
    """Returns the records of a key that belong to no aborted transaction, up to the topic's end."""
    options = {"isolation.level": "read_committed", "enable.partition.eof": True}
    consumer = _consumer(settings, topic, options)
    left = {place.partition for place in consumer.assignment()}
    found = []
    try:
        while left:
            message = consumer.poll(LIMIT_SECONDS)
            assert message is not None, f"no answer; partitions {left} of {topic} are not read"
            if message.error():
                assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                left.discard(message.partition())
            elif message.key() == key.encode():
                found.append(msgpack.unpackb(message.value()))
    finally:
        consumer.close()
    return found


def all_records(settings: Settings, topic: str) -> list[Message]:
    """Returns all records of a topic, partition by partition, up to its end."""
    consumer = _consumer(settings, topic)
    found: list[Message] = []
    try:
        for place in consumer.assignment():
            _, end = consumer.get_watermark_offsets(place, timeout=LIMIT_SECONDS)
            consumer.assign([TopicPartition(topic, place.partition, 0)])
            while end and (
                not found or (found[-1].partition(), found[-1].offset()) != (place.partition, end - 1)
            ):
                record = consumer.poll(LIMIT_SECONDS)
                assert record is not None, f"{topic} ends before offset {end} of {place.partition}"
                assert record.error() is None, record.error()
                found.append(record)
    finally:
        consumer.close()
    return found


def make_topic(settings: Settings, topic: str) -> None:
    """Creates a topic with one partition."""
    admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{settings.port_kafka}"})
    for made in admin.create_topics([NewTopic(topic, num_partitions=1, replication_factor=1)]).values():
        made.result()


def texts(settings: Settings, topic: str) -> list[bytes]:
    """Returns the texts of all lines of a topic with one partition, in its order."""
    consumer = _consumer(settings, topic)
    found: list[bytes] = []
    try:
        (place,) = consumer.assignment()
        _, end = consumer.get_watermark_offsets(place, timeout=LIMIT_SECONDS)
        while consumer.position([place])[0].offset < end:
            for message in consumer.consume(1000, timeout=0.2):
                assert message.error() is None, message.error()
                found.append(_fields(message.value())["log"])
    finally:
        consumer.close()
    return found


def _consumer(settings: Settings, topic: str, options: Mapping[str, object] | None = None) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": f"127.0.0.1:{settings.port_kafka}",
            "group.id": "e2e",
            "enable.auto.commit": False,
            "fetch.message.max.bytes": LARGEST_MESSAGE,
            "receive.message.max.bytes": 4 * LARGEST_MESSAGE,
            **(options or {}),
        }
    )
    partitions = consumer.list_topics(topic, timeout=LIMIT_SECONDS).topics[topic].partitions
    consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
    return consumer


def _fields(value: bytes) -> dict[str, object]:
    return {name.decode(): content for name, content in msgpack.unpackb(value, raw=True).items()}


def _lines(key: bytes, fields: dict[str, object]) -> list[Line]:
    """Returns the lines of a message, which may be several."""
    path, offset, log = fields.pop("path"), fields.pop("offset"), fields.pop("log")
    lines = []
    for text in log.split(b"\n"):
        lines.append(Line(key, path.decode(), offset, text, fields))
        offset += len(text) + 1
    return lines


def await_bytes(settings: Settings, topic: str, instance: str, size: int) -> None:
    """Returns when the message with the last line of a file of this size, in bytes, is in the topic."""
    consumer = _consumer(settings, topic)
    began, end = time.monotonic(), 0
    try:
        while end < size:
            assert time.monotonic() - began < LIMIT_SECONDS, f"{end} of {size} bytes of {instance}"
            for message in consumer.consume(1000, timeout=0.2):
                fields = _fields(message.value()) if message.key() == instance.encode() else {}
                if "log" in fields:
                    end = max(end, fields["offset"] + len(fields["log"]) + 1)
    finally:
        consumer.close()
