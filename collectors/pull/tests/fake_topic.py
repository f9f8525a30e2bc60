"""A topic of Kafka (`tailrace_pull.topic_reading.Topic`) that fails and deletes messages."""

import itertools
from collections.abc import Iterator, Mapping

from tailrace_pull.remote import RemoteError
from tailrace_pull.topic_reading import Bounds, Fetched, Offsets

NOW = 1_795_000_000


class FakeTopic:
    """A topic whose messages a retention deletes. What happens between two messages is `between`."""

    def __init__(self, partitions: int = 2) -> None:
        self.messages: dict[int, list[tuple[int, bytes]]] = {number: [] for number in range(partitions)}
        """Arrival in milliseconds and value, by offset."""
        self.first = dict.fromkeys(self.messages, 0)
        self.now = NOW * 1000
        self.between = lambda: None
        self.retention: int | None = 7 * 86_400_000
        self.id = ""

    def put(self, partition: int, value: bytes) -> None:
        self.messages[partition].append((self.now, value))

    def delete(self, partition: int, end: int) -> None:
        """Deletes messages up to an offset."""
        self.first[partition] = max(self.first[partition], end)

    def make_again(self, identity: str) -> None:
        """Replaces the topic by an empty one of the same name."""
        self.id = identity
        for number in self.messages:
            self.messages[number], self.first[number] = [], 0

    def identity(self) -> str:
        return self.id

    def bounds(self) -> Mapping[int, Bounds]:
        self.between()
        return {
            number: Bounds(self.first[number], len(messages)) for number, messages in self.messages.items()
        }

    def offsets_at(self, millis: int) -> Offsets:
        found = {}
        for number, messages in self.messages.items():
            kept = range(self.first[number], len(messages))
            found[number] = next((each for each in kept if messages[each][0] >= millis), len(messages))
        return found

    def read(self, positions: Offsets, ends: Offsets) -> Iterator[Fetched]:
        for number in itertools.cycle(sorted(positions)):
            if all(positions[each] >= ends[each] for each in positions):
                return
            self.between()
            if positions[number] < self.first[number]:
                raise RemoteError("offset out of range")
            if positions[number] < ends[number]:
                if positions[number] >= len(self.messages[number]):
                    raise RemoteError("offset out of range")
                value = self.messages[number][positions[number]][1]
                positions[number] += 1
                yield Fetched(number, positions[number], value)

    def retention_millis(self) -> int | None:
        return self.retention
