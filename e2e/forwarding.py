"""The forwarding service as a separate process, which may be killed, and messages for it in Kafka."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from confluent_kafka import Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack, wait_until
from tailrace.config.resources import REPOSITORY
from tailrace.forwarding import refused
from tailrace.forwarding.forwarder import GROUP_PREFIX, TOPIC

SECRET = "the secret key"


class ForwardingService:
    """One channel of one service."""

    def __init__(self, stack: Stack, directory: Path, channel: str) -> None:
        self._address = f"127.0.0.1:{stack.settings.port_kafka}"
        self._directory = directory
        self.channel = channel
        self._process: subprocess.Popen | None = None
        (directory / "secret").write_text(SECRET)

    def configure(self, channel: dict, **events) -> None:
        """Writes alerts.yaml. The file also names the port, so the receiver must exist."""
        content = {
            "channels": [{"name": self.channel, "alerts": False, **channel}],
            "events": [{"channel": self.channel, "retry_initial": "1s", "retry_max": "2s", **events}],
        }
        (self._directory / "alerts.yaml").write_text(json.dumps(content))

    def start(self) -> None:
        """Returns when the channel reads the topic."""
        status = self._status_file()
        status.unlink(missing_ok=True)
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tailrace.forwarding", "--kafka", self._address),
                *("--config", self._directory / "alerts.yaml", "--status-directory", self._directory),
                *("--channel", self.channel),
            ],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY / "embedded")},
        )
        wait_until(self._is_assigned, f"{self.channel} to read the topic")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                assert self._process.wait(LIMIT_SECONDS) == 0
            finally:
                self._process.kill()  # or it would disturb the next test

    def send(self, messages: Iterable[bytes]) -> None:
        """Writes messages to the topic of events; returns when Kafka has stored them."""
        producer = Producer({"bootstrap.servers": self._address})
        for number, message in enumerate(messages):
            producer.produce(TOPIC, message, key=str(number))
            producer.poll(0)
        assert producer.flush(LIMIT_SECONDS) == 0

    def status(self) -> dict:
        return json.loads(self._status_file().read_text())

    def has_caught_up(self) -> bool:
        """Returns whether every message of the topic is committed."""
        consumer = Consumer(self._group())
        try:
            places = self._committed(consumer)
            ends = [consumer.get_watermark_offsets(place, timeout=LIMIT_SECONDS)[1] for place in places]
            return all(place.offset == end for place, end in zip(places, ends, strict=True))
        finally:
            consumer.close()

    def refused(self) -> list[Message]:
        """Returns the refused events of this channel."""
        consumer = Consumer(
            {**self._group(), "group.id": f"test-{self.channel}", "auto.offset.reset": "earliest"}
        )
        consumer.subscribe([refused.TOPIC])
        found: list[Message] = []

        def is_there() -> bool:
            found.extend(each for each in consumer.consume(1000, timeout=1) if not each.error())
            return any(dict(message.headers())["channel"].decode() == self.channel for message in found)

        try:
            wait_until(is_there, "a refused event")
        finally:
            consumer.close()
        return [each for each in found if dict(each.headers())["channel"].decode() == self.channel]

    def messages(self, topic: str) -> list[Message]:
        """Returns all messages of a topic with one partition."""
        consumer = Consumer(self._group())
        try:
            end = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=LIMIT_SECONDS)[1]
            consumer.assign([TopicPartition(topic, 0, 0)])
            found: list[Message] = []

            def are_all_read() -> bool:
                found.extend(each for each in consumer.consume(end, timeout=1) if not each.error())
                return len(found) >= end

            wait_until(are_all_read, f"{end} messages of {topic}")
            return found
        finally:
            consumer.close()

    def _is_assigned(self) -> bool:
        assert self._process.poll() is None, f"the service ended with {self._process.returncode}"
        consumer = Consumer(self._group())
        try:
            return self._status_file().exists() and all(
                each.offset >= 0 for each in self._committed(consumer)
            )
        finally:
            consumer.close()

    def _committed(self, consumer: Consumer) -> list:
        topic = (
            AdminClient({"bootstrap.servers": self._address})
            .list_topics(TOPIC, timeout=LIMIT_SECONDS)
            .topics[TOPIC]
        )
        return consumer.committed(
            [TopicPartition(TOPIC, number) for number in topic.partitions], timeout=LIMIT_SECONDS
        )

    def _group(self) -> dict[str, object]:
        return {"bootstrap.servers": self._address, "group.id": f"{GROUP_PREFIX}{self.channel}"}

    def _status_file(self) -> Path:
        return self._directory / f"{self.channel}.0.json"
