"""Batches of messages, and the records that they become."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import Message

from tailrace.forwarding import event_ecs, event_ocsf, event_udm
from tailrace.forwarding.decoder import Decoder
from tailrace.forwarding.event import Event, event_of, json_document
from tailrace.outputs.event_channels import EventChannel
from tailrace.outputs.record import Outcome, Record

FORMATS: Mapping[str, Callable[[Event], dict[str, object]]] = {
    "ecs": event_ecs.document,
    "ocsf": event_ocsf.document,
    "json": json_document,
    "udm": event_udm.document,
}


@dataclass(frozen=True)
class Batch:
    """Records, and the messages that contained them, in the same order."""

    records: Sequence[Record]
    messages: Sequence[Message]
    ends: Mapping[int, int]
    """The offset after the last message that was read, by partition."""
    skipped: int = 0
    """Messages that are no event, or no event of the kinds of the channel."""
    missed: int = 0
    """Messages that the topic deleted before they were read."""

    def only(self, outcomes: Sequence[Outcome], outcome: str) -> "Batch":
        """Returns the records with an outcome."""
        chosen = [number for number, each in enumerate(outcomes) if each.outcome == outcome]
        return Batch(
            [self.records[number] for number in chosen],
            [self.messages[number] for number in chosen],
            self.ends,
        )


class Source:
    """Converts the messages of one channel."""

    def __init__(self, channel: EventChannel) -> None:
        self._kinds = frozenset(channel.kinds)
        self._format = channel.format
        self._document = FORMATS[channel.format]
        self._decoder = Decoder()
        self._next: dict[int, int] = {}
        """The offset that is expected next, by partition."""

    def begin(self, partition: int, offset: int) -> None:
        """Sets the offset of the first message that a partition will yield."""
        self._next[partition] = offset

    def offsets(self) -> Mapping[int, int]:
        """Returns the offset of the next message, by partition."""
        return self._next

    def batch(self, messages: Sequence[Message]) -> Batch:
        """Returns the records of the messages."""
        records: list[Record] = []
        kept: list[Message] = []
        missed = 0
        for message in messages:
            missed += self._missed_before(message)
            record = self.record(message.value())
            if record is not None:
                records.append(record)
                kept.append(message)
        ends = {message.partition(): message.offset() + 1 for message in messages}
        return Batch(records, kept, ends, len(messages) - len(records), missed)

    def _missed_before(self, message: Message) -> int:
        partition, offset = message.partition(), message.offset()
        missed = max(0, offset - self._next.get(partition, offset))
        self._next[partition] = offset + 1
        return missed

    def record(self, message: bytes) -> Record | None:
        """Returns the record of a message, None if it is no event of the channel."""
        try:
            decoded = self._decoder.decode(message)
        except ValueError:
            return None
        event = event_of(decoded, self._kinds) if decoded else None
        if event is None:
            return None
        return Record(event.id, event.millis, event.instance, event.kind, self._format, self._document(event))
