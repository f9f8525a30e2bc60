"""The messages of a topic, from any service with the protocol of Kafka. The puller joins no consumer group
and commits nothing."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource

from tailrace_pull import costs
from tailrace_pull.remote import FileGoneError, PermissionMissingError, RemoteError
from tailrace_pull.topic_reading import Bounds, Fetched, Offsets

TIMEOUT_SECONDS = 20
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


@dataclass(frozen=True)
class Terms:
    """How the service names things, for messages."""

    topic: str
    """The topic, such as `hub mysql of shop`."""
    login: str
    """What identifies the puller, such as `connection string`."""
    holder: str
    """What has rights, such as `policy`."""
    right: str
    """The right to read."""


class KafkaTopic:
    """A topic with one connection, which is made at the first request, and again after an error."""

    def __init__(self, topic: str, address: str, terms: Terms) -> None:
        """`address` is HOST:PORT, or several, with commas."""
        self._topic, self._address, self._terms = topic, address, terms
        self._made: Consumer | None = None
        self._admin: AdminClient | None = None
        self._refused = False
        self._identity = ""
        self._assigned: Offsets = {}
        """Where the consumer continues."""

    def security(self) -> dict[str, object]:
        """Returns protocol and login as properties of librdkafka. Raises RemoteError."""
        raise NotImplementedError

    def identity(self) -> str:
        """Returns the id of the topic; empty if the service does not say it. Raises RemoteError."""
        with self._errors():
            asked = TopicCollection([self._topic])
            (answer,) = (
                self._administration().describe_topics(asked, request_timeout=TIMEOUT_SECONDS).values()
            )
            found = answer.result().topic_id
            is_known = found is not None and (
                found.get_most_significant_bits() or found.get_least_significant_bits()
            )
            identity = str(found) if is_known else ""
        if identity != self._identity:  # fetched messages may be of the earlier topic
            self._close()
        self._identity = identity
        return identity

    def bounds(self) -> Mapping[int, Bounds]:
        """Returns what each partition has. Raises RemoteError."""
        with self._errors():
            return {
                number: Bounds(
                    *self._consumer().get_watermark_offsets(
                        TopicPartition(self._topic, number), timeout=TIMEOUT_SECONDS, cached=False
                    )
                )
                for number in self._partitions()
            }

    def offsets_at(self, millis: int) -> Offsets:
        """Returns the offset of the first message from a time on, in milliseconds since 1970 UTC. Raises
        RemoteError."""
        with self._errors():
            asked = [TopicPartition(self._topic, number, millis) for number in self._partitions()]
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
                    [TopicPartition(self._topic, number, offset) for number, offset in wanted.items()]
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
        """Returns how long the topic keeps messages; None if the service does not say. Raises RemoteError."""
        with self._errors():
            asked = ConfigResource(ConfigResource.Type.TOPIC, self._topic)
            admin = self._administration()
            (answer,) = admin.describe_configs([asked], request_timeout=TIMEOUT_SECONDS).values()
            found = answer.result().get("retention.ms")
            return int(found.value) if found is not None and found.value is not None else None

    def _next(self) -> Fetched:
        message = self._consumer().poll(TIMEOUT_SECONDS)
        if message is None:
            raise RemoteError(f"{self._where}: no message for {TIMEOUT_SECONDS} s")
        error, number, offset = message.error(), message.partition(), message.offset()
        if error is None:
            costs.count(received=len(message))
            return Fetched(number, offset + 1, message.value() or b"")
        if error.code() != KafkaError._PARTITION_EOF:
            raise KafkaException(error)
        return Fetched(number, offset, b"")

    def _partitions(self) -> list[int]:
        topic = self._consumer().list_topics(self._topic, TIMEOUT_SECONDS).topics[self._topic]
        if topic.error is not None:
            raise KafkaException(topic.error)
        return sorted(topic.partitions)

    def _consumer(self) -> Consumer:
        if self._made is None:
            self._made = Consumer({**self._properties(), **CONSUMER, "error_cb": self._note})
        return self._made

    def _administration(self) -> AdminClient:
        if self._admin is None:
            self._admin = AdminClient({**self._properties(), "error_cb": self._note})
        return self._admin

    def _close(self) -> None:
        if self._made is not None:
            self._made.close()
        self._made, self._assigned = None, {}

    def _properties(self) -> dict[str, object]:
        return {**self.security(), "bootstrap.servers": self._address, "log_level": 0}

    def _note(self, error: KafkaError) -> None:
        """Notes that the service refuses the connection: a request only fails after its time."""
        self._refused |= error.code() in REFUSED

    @property
    def _where(self) -> str:
        return self._terms.topic

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Translates errors, and closes the connections after one: the login may change."""
        try:
            yield
        except (KafkaException, RemoteError) as error:
            for client in (self._made, self._admin):
                if client is not None:
                    client.poll(0)
            self._close()
            self._admin, self._refused, refused = None, False, self._refused
            if isinstance(error, RemoteError):
                raise
            raise self._classified(error.args[0], refused) from error

    def _classified(self, error: KafkaError, refused: bool) -> RemoteError:
        if refused or error.code() in REFUSED:
            return PermissionMissingError(f"{self._where}: the {self._terms.login} is refused")
        if error.code() in DENIED:
            right = self._terms.right
            return PermissionMissingError(f"{self._where}: the {self._terms.holder} lacks {right}", right)
        if error.code() in MISSING:
            return FileGoneError(f"there is no {self._where}")
        return RemoteError(f"{self._where}: {error.str()}")
