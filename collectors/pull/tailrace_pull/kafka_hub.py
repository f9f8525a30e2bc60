"""A hub of Azure Event Hubs through its Kafka endpoint.

Source: Azure Event Hubs for Apache Kafka: SASL/PLAIN with the user `$ConnectionString`, port 9093. The
puller joins no consumer group and commits nothing.
"""

import os
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource

from tailrace_pull.event_hubs import Bounds, Fetched, Offsets
from tailrace_pull.remote import FileGoneError, PermissionMissingError, RemoteError

SCHEME = "eventhubs"
VARIABLE = "AZURE_EVENT_HUBS_CONNECTION_STRING"
PROTOCOLS = ("sasl_ssl", "sasl_plaintext", "plaintext")
TIMEOUT_SECONDS = 20
RIGHT = "Listen"
"""The right that the policy of the connection string needs."""
CONSUMER = {
    "group.id": "tailrace-pull",
    "enable.auto.commit": False,
    "auto.offset.reset": "error",
    "enable.partition.eof": True,
    "allow.auto.create.topics": False,
    "queued.max.messages.kbytes": 16_384,
    "fetch.wait.max.ms": 100,
    "socket.keepalive.enable": True,
}
REFUSED = (KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED)
DENIED = (
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
)
MISSING = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION)


class KafkaHub:
    """A hub with one connection, which is made at the first request, and again after an error."""

    def __init__(self, url: str, endpoint: str = "", connection_file: Path | None = None) -> None:
        """`url` is eventhubs://NAMESPACE/HUB; `endpoint` is PROTOCOL://HOST:PORT instead of the public
        address. The connection string is in the file, or in the environment. Raises ValueError."""
        parts = urllib.parse.urlsplit(url)
        self._namespace, self._hub = parts.netloc, parts.path.strip("/")
        if parts.scheme != SCHEME or not self._namespace or not self._hub or "/" in self._hub:
            raise ValueError(f"url must be {SCHEME}://NAMESPACE/HUB, not {url!r}")
        at = endpoint or f"sasl_ssl://{self._namespace}.servicebus.windows.net:9093"
        self._protocol, _, self._address = at.partition("://")
        if self._protocol not in PROTOCOLS or not self._address:
            raise ValueError(f"endpoint must begin with {', '.join(PROTOCOLS)} and ://, not {endpoint!r}")
        self._file = connection_file
        self._made: Consumer | None = None
        self._refused = ""
        self._assigned: Offsets = {}
        """Where the consumer continues."""

    def bounds(self) -> Mapping[int, Bounds]:
        """Returns what each partition has. Raises RemoteError."""
        with self._errors():
            return {
                number: Bounds(
                    *self._consumer().get_watermark_offsets(
                        TopicPartition(self._hub, number), timeout=TIMEOUT_SECONDS, cached=False
                    )
                )
                for number in self._partitions()
            }

    def offsets_at(self, millis: int) -> Offsets:
        """Returns the offset of the first message from a time on, in milliseconds since 1970 UTC. Raises
        RemoteError."""
        with self._errors():
            asked = [TopicPartition(self._hub, number, millis) for number in self._partitions()]
            found = self._consumer().offsets_for_times(asked, timeout=TIMEOUT_SECONDS)
            ends = self.bounds() if any(each.offset < 0 for each in found) else {}
            return {
                each.partition: each.offset if each.offset >= 0 else ends[each.partition].end
                for each in found
            }

    def read(self, positions: Offsets, ends: Offsets) -> Iterator[Fetched]:
        """Yields messages until each partition was read to its end. Raises RemoteError."""
        left = {number for number, position in positions.items() if position < ends[number]}
        if not left:
            return
        wanted = {number: positions[number] for number in left}
        if wanted != self._assigned:
            self._assigned = wanted
            with self._errors():
                self._consumer().assign(
                    [TopicPartition(self._hub, number, offset) for number, offset in wanted.items()]
                )
        while left:
            with self._errors():
                fetched = self._next()
            self._assigned[fetched.partition] = fetched.next
            if fetched.next >= ends[fetched.partition]:
                left.discard(fetched.partition)
            if not left:  # requests wait behind one for messages that do not exist yet
                self._consumer().unassign()
                self._assigned = {}
            yield fetched

    def retention_millis(self) -> int | None:
        """Returns how long the hub keeps messages; None if it does not say. Raises RemoteError."""
        with self._errors():
            asked = ConfigResource(ConfigResource.Type.TOPIC, self._hub)
            admin = AdminClient(self._properties())
            (answer,) = admin.describe_configs([asked], request_timeout=TIMEOUT_SECONDS).values()
            found = answer.result().get("retention.ms")
            return int(found.value) if found is not None and found.value is not None else None

    def _next(self) -> Fetched:
        message = self._consumer().poll(TIMEOUT_SECONDS)
        if message is None:
            raise RemoteError(f"{self._where}: no message for {TIMEOUT_SECONDS} s")
        error, number, offset = message.error(), message.partition(), message.offset()
        if error is None:
            return Fetched(number, offset + 1, message.value() or b"")
        if error.code() != KafkaError._PARTITION_EOF:
            raise KafkaException(error)
        return Fetched(number, offset, b"")

    def _partitions(self) -> list[int]:
        topic = self._consumer().list_topics(self._hub, TIMEOUT_SECONDS).topics[self._hub]
        if topic.error is not None:
            raise KafkaException(topic.error)
        return sorted(topic.partitions)

    def _consumer(self) -> Consumer:
        if self._made is None:
            self._made = Consumer({**self._properties(), **CONSUMER, "error_cb": self._note})
        return self._made

    def _properties(self) -> dict[str, object]:
        properties: dict[str, object] = {
            "bootstrap.servers": self._address,
            "security.protocol": self._protocol,
            "log_level": 0,
        }
        if self._protocol != "plaintext":
            login = {"sasl.mechanism": "PLAIN", "sasl.username": "$ConnectionString"}
            properties |= {**login, "sasl.password": self._connection()}
        return properties

    def _connection(self) -> str:
        try:
            text = self._file.read_text() if self._file else os.environ.get(VARIABLE, "")
        except OSError as error:
            raise PermissionMissingError(f"{self._where}: {error.strerror}: {self._file}") from error
        if not text.strip():
            place = self._file or f"the variable {VARIABLE}"
            raise PermissionMissingError(f"{self._where}: {place} has no connection string")
        return text.strip()

    def _note(self, error: KafkaError) -> None:
        """Notes why the endpoint refuses the connection: a request only fails after its time."""
        if error.code() in REFUSED:
            self._refused = "the connection string is refused"

    @property
    def _where(self) -> str:
        return f"hub {self._hub} of {self._namespace}"

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Translates errors, and closes the connection after one: the connection string may change."""
        try:
            yield
        except (KafkaException, RemoteError) as error:
            if self._made is not None:
                self._made.poll(0)
                self._made.close()
            self._made, self._assigned, refused = None, {}, self._refused
            self._refused = ""
            if isinstance(error, RemoteError):
                raise
            raise self._classified(error.args[0], refused) from error

    def _classified(self, error: KafkaError, refused: str) -> RemoteError:
        if refused or error.code() in REFUSED:
            return PermissionMissingError(f"{self._where}: the connection string is refused")
        if error.code() in DENIED:
            return PermissionMissingError(f"{self._where}: the policy lacks {RIGHT}", RIGHT)
        if error.code() in MISSING:
            return FileGoneError(f"there is no {self._where}")
        return RemoteError(f"{self._where}: {error.str()}")
