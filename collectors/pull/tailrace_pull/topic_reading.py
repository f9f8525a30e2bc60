"""Reads the log of one server from the messages of a topic, as one file of decoded entries.

The position is the next offset of each partition. It is part of the state, and not committed to a consumer
group: so it is stored in the transaction of the lines.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tailrace_pull.entries_file import EntriesFile, Selection
from tailrace_pull.envelopes import Decoded
from tailrace_pull.matching import Numbers
from tailrace_pull.object_records import Undecodable
from tailrace_pull.plural import counted
from tailrace_pull.reading import Round
from tailrace_pull.remote import RemoteError
from tailrace_pull.state import LogState, PulledFile

MILLIS = 1000
DAY_MILLIS = 86_400_000
MAX_DIGESTS = 1000
"""Messages that are remembered, because a sender may send one again. Every visit writes their digests to
Kafka, in about 11 kB."""
DIGEST_BYTES = 8
Offsets = dict[int, int]
"""An offset for each partition."""


@dataclass(frozen=True)
class Bounds:
    """What a partition has."""

    first: int
    """Offset of the first message that was not deleted."""
    end: int
    """Offset of the next message."""


@dataclass(frozen=True)
class Fetched:
    """A message, or the end of a partition."""

    partition: int
    next: int
    """Offset behind it."""
    value: bytes
    """Empty at the end of a partition."""


class Topic(Protocol):
    """The partitions of one topic."""

    def identity(self) -> str:
        """Returns what another topic of the same name does not have; empty if it is not known. Raises
        RemoteError."""

    def bounds(self) -> Mapping[int, Bounds]:
        """Returns what each partition has. Raises RemoteError."""

    def offsets_at(self, millis: int) -> Offsets:
        """Returns the offset of the first message that arrived at a time or later, in milliseconds since
        1970 UTC, or of the next one. Raises RemoteError."""

    def read(self, positions: Offsets, ends: Offsets) -> Iterator[Fetched]:
        """Yields messages from the positions, until each partition was read to its end. Raises
        RemoteError."""


@dataclass(frozen=True)
class Content:
    """What a message contains."""

    entries: Iterable[Decoded | Undecodable]
    """Of all servers and logs, or of the selected one."""
    is_unique: bool = False
    """Whether the sender never makes an equal message of other entries: then an equal one is a repetition."""


@dataclass
class Memory:
    """What is remembered between two visits. As JSON it is an object with the offset of each partition, and
    `topic` and `digests` if they are known."""

    offsets: Offsets = field(default_factory=dict)
    topic: str = ""
    digests: dict[bytes, None] = field(default_factory=dict)
    """Of the last unique messages that had entries, oldest first."""

    @classmethod
    def of(cls, text: str) -> "Memory":
        values = json.loads(text) if text else {}
        topic, packed = values.pop("topic", ""), base64.b64decode(values.pop("digests", ""))
        digests = [packed[at : at + DIGEST_BYTES] for at in range(0, len(packed), DIGEST_BYTES)]
        return cls({int(each): offset for each, offset in values.items()}, topic, dict.fromkeys(digests))

    def to_json(self) -> str:
        values: dict[str, object] = {str(partition): each for partition, each in self.offsets.items()}
        packed = base64.b64encode(b"".join(list(self.digests)[-MAX_DIGESTS:])).decode()
        return json.dumps(values | _known("topic", self.topic) | _known("digests", packed))

    def is_repeated(self, value: bytes) -> bool:
        """Notes a message; returns whether it was noted before."""
        digest = hashlib.blake2b(value, digest_size=DIGEST_BYTES).digest()
        is_known = digest in self.digests
        self.digests[digest] = None
        return is_known


def _known(name: str, value: str) -> dict[str, object]:
    return {name: value} if value else {}


@dataclass(frozen=True)
class LogOfTopic:
    """The log of one server in a topic (`reading.VisitedLog`)."""

    topic: Topic
    name: str
    """Name of the file."""
    wanted: Selection
    contents: Callable[[bytes], Content]
    """Decodes a message."""
    since: int = 0
    """Messages that arrived before are not read, in milliseconds since 1970 UTC; 0 for a day before the first
    visit."""

    def visit(self, state: LogState, new_number: Numbers, at: float, max_bytes: int) -> Round:
        """Reads messages that are new, at most about `max_bytes`. Raises RemoteError.

        An error after the first messages leaves these: the next visit continues behind them.
        """
        done = Round(at, state.copy())
        if not done.state.files:
            done.state.files.append(PulledFile(new_number(), self.name))
        entries = EntriesFile(done, self.wanted, lambda _: False)
        identity, bounds = self.topic.identity(), self.topic.bounds()
        memory = Memory.of(state.memory)
        is_new = _differ(memory.topic, identity)
        memory.offsets = self._positions(memory, is_new, bounds, at)
        memory.topic = identity or memory.topic
        if is_new:
            entries.leave_gap(1, "the topic is another one: messages of the earlier one may be missing")
        _leave_gaps(entries, memory.offsets, bounds)
        has_read = self._read(entries, memory, bounds, max_bytes)
        if has_read and _differ(self.topic.identity(), identity):
            return Round(
                at, state.copy(), is_complete=False
            )  # made again meanwhile: the messages may be of either
        done.is_complete = all(memory.offsets[partition] >= each.end for partition, each in bounds.items())
        done.state.memory = memory.to_json()
        return done

    def _positions(self, memory: Memory, is_new: bool, bounds: Mapping[int, Bounds], at: float) -> Offsets:
        """Returns where to read. A partition that was added later is read from offset 0, so that messages
        which retention deleted in it leave a gap."""
        if is_new:
            return {partition: each.first for partition, each in bounds.items()}
        if memory.offsets:
            return {partition: memory.offsets.get(partition, 0) for partition in bounds}
        known = self.topic.offsets_at(self.since or int(at * MILLIS) - DAY_MILLIS)
        return {  # the answer may count messages that arrived after `bounds` were asked for
            partition: min(known.get(partition, each.first), each.end) for partition, each in bounds.items()
        }

    def _read(
        self, entries: EntriesFile, memory: Memory, bounds: Mapping[int, Bounds], max_bytes: int
    ) -> bool:
        """Moves the offsets in the memory. Returns whether there were messages."""
        begin = dict(memory.offsets)
        positions, left, repeated = memory.offsets, max_bytes, 0
        ends = {partition: each.end for partition, each in bounds.items()}
        try:
            for fetched in self.topic.read(dict(positions), ends):
                place = f"partition {fetched.partition}, offset {positions[fetched.partition]}"
                content = self.contents(fetched.value)
                found = [each for each in content.entries if self._is_wanted(each)]
                if found and content.is_unique and memory.is_repeated(fetched.value):
                    repeated += 1
                else:
                    entries.add(found, place)
                positions[fetched.partition] = fetched.next
                left -= len(fetched.value)
                if left <= 0:
                    break
        except RemoteError:
            if left == max_bytes:
                raise
        if repeated:
            entries.done.notes.append(
                f"left out: {counted(repeated, 'message that was', 'messages that were')} sent again"
            )
        return positions != begin

    def _is_wanted(self, found: Decoded | Undecodable) -> bool:
        return isinstance(found, Undecodable) or self.wanted.includes(found.log)


def _differ(one: str, other: str) -> bool:
    """Returns whether both are known and not the same."""
    return bool(one and other) and one != other


def _leave_gaps(entries: EntriesFile, positions: Offsets, bounds: Mapping[int, Bounds]) -> None:
    """Leaves a gap for messages that were deleted before they were read, and moves the positions behind
    them. Their bytes are not known: each counts as one."""
    for partition, each in bounds.items():
        position = positions[partition]
        if position < each.first:
            lost = f"{counted(each.first - position, 'message')} from offset {position}"
            reason = (
                f"partition {partition}: retention deleted {lost} before they were read (a byte for each)"
            )
            entries.leave_gap(each.first - position, reason)
        elif position > each.end:
            reason = (
                f"partition {partition} ends at offset {each.end}, before the position {position}: it is new"
            )
            entries.leave_gap(1, f"{reason}, and messages of the earlier one may be missing")
        else:
            continue
        positions[partition] = each.first
