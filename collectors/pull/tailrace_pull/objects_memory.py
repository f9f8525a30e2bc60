"""Remembers which objects of a log were read, how far, and the ids of the last records."""

import base64
import hashlib
import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, field
from typing import Protocol

DAY_MILLIS = 86_400_000
KEPT_MILLIS = 7 * DAY_MILLIS
"""How long all is remembered of an object after its last write. Later, only its mark is."""
MAX_OBJECTS = 2000
"""If there are more, only marks are remembered of those that were written before the last day."""
MAX_MARKS = 1000
"""Marks that are remembered, those of the objects that were written last. Every visit writes the whole state
to Kafka: they take about 50 kB of it, and cannot be compressed."""
MAX_IDS = 5000
"""Ids of records that are remembered: Firehose may deliver a record twice."""
ID_BYTES = 8
"""Bytes of a hash of an id."""


class Listed(Protocol):
    """An object as a store lists it (`objects.StoredObject`)."""

    name: str
    size: int
    modified: int
    tag: str


@dataclass
class KnownObject:
    """What is known of an object. Times are milliseconds since 1970 UTC."""

    size: int
    """Bytes in the last listing."""
    modified: int
    listed_tag: str
    position: int = 0
    """Bytes that were read; of a compressed object, unpacked ones."""
    tag: str = ""
    """The tag when it was read last."""
    size_then: int = 0
    """Its bytes, unpacked, when it was read last."""
    tail: str = ""
    """Length and digest of bytes before the position."""
    is_packed: bool = False
    is_read: bool = False
    """Whether it was read to the end that it had then. An incomplete last record is left."""

    @property
    def is_untouched(self) -> bool:
        """Returns whether nothing of it was stored, and no gap was left in place of it."""
        return not (self.position or (self.is_packed and self.is_read))

    def is_replaced(self, can_grow: bool) -> bool:
        """Returns whether the object was read and then replaced by one of which nothing was read yet.
        `can_grow` states that a larger one may contain what was read."""
        is_unread = bool(self.position) and not self.is_read and self.tag != self.listed_tag
        return is_unread and not (can_grow and self.size >= self.position)

    def unread_bytes(self, can_grow: bool) -> int:
        """Returns how many bytes are left; of a compressed object, all unless it was read."""
        if self.is_replaced(can_grow):
            return self.size
        if self.is_packed:
            return 0 if self.is_read else self.size
        return max(0, self.size - self.position)


MARK = struct.Struct("<8s8sQH8s?")


@dataclass(frozen=True)
class Mark:
    """What is remembered of an object that was read and is still listed: enough to recognize it if it was
    copied or has grown."""

    tag: bytes
    """Digest of its tag when it was read."""
    position: int
    tail_length: int
    tail_digest: bytes
    is_packed: bool

    @classmethod
    def of(cls, known: KnownObject) -> "Mark":
        length, _, digest = known.tail.partition(":")
        tail = bytes.fromhex(digest).ljust(8, b"\0")
        return cls(digest_of(known.tag), known.position, int(length or 0), tail, known.is_packed)

    def object(self, listed: "Listed") -> KnownObject:
        """Returns what is known of the object, which was written again."""
        if not self.position:
            return KnownObject(listed.size, listed.modified, listed.tag)
        tail = f"{self.tail_length}:{self.tail_digest.hex()}" if self.tail_length else ""
        is_same = self.tag == digest_of(listed.tag)
        tag = listed.tag if is_same else UNKNOWN_TAG
        return KnownObject(
            listed.size,
            listed.modified,
            listed.tag,
            self.position,
            tag,
            self.position,
            tail,
            self.is_packed,
            is_read=is_same,
        )


UNKNOWN_TAG = "?"


def digest_of(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=ID_BYTES).digest()


@dataclass
class Memory:
    """The objects of one log."""

    floor: int = 0
    """Objects that were written at this time or before, and are not remembered, are not read."""
    objects: dict[str, KnownObject] = field(default_factory=dict)
    ids: dict[bytes, None] = field(default_factory=dict)
    """Hashes of ids, the oldest first."""
    marks: dict[bytes, Mark] = field(default_factory=dict)
    """Of objects that are not in `objects`, by the digest of their name, the one written first at first."""

    def begin(self, since: int) -> None:
        self.floor = self.floor or since

    def note(self, listed: Iterable[Listed], can_grow: bool) -> Iterator[tuple[str, int]]:
        """Adds objects that are new, and notes which ones have grown or were replaced. Yields the names and
        sizes of those that were replaced before anything of them was read. `can_grow` states that a changed
        object may contain what it contained before."""
        names = set()
        for each in listed:
            names.add(key := digest_of(each.name))
            known = self.objects.get(each.name)
            if known is None and each.modified > self.floor:
                mark = self.marks.pop(key, None)
                new = KnownObject(each.size, each.modified, each.tag)
                self.objects[each.name] = mark.object(each) if mark else new
            elif known is not None and (known.size, known.listed_tag) != (each.size, each.tag):
                may_contain = can_grow and each.size >= known.size
                if known.size and (known.is_replaced(can_grow) or (known.is_untouched and not may_contain)):
                    yield each.name, known.size
                elif known.position and not known.is_packed:
                    known.size_then = max(known.size_then, known.size)
                known.size, known.modified, known.listed_tag = each.size, each.modified, each.tag
                known.is_read = False
        self.marks = {key: mark for key, mark in self.marks.items() if key in names}

    def unread(self) -> Iterator[tuple[str, KnownObject]]:
        """Yields the objects that were not read to their end, in the order in which they were written."""
        left = [(name, each) for name, each in self.objects.items() if not each.is_read]
        yield from sorted(left, key=lambda pair: (pair[1].modified, pair[0]))

    def is_repeated(self, record_id: str) -> bool:
        """Notes the id of a record; returns whether it was known."""
        known, key = len(self.ids), digest_of(record_id)
        self.ids[key] = None
        return len(self.ids) == known

    def is_old(self, known: KnownObject, at: int) -> bool:
        age = at - known.modified
        return age > KEPT_MILLIS or (age > DAY_MILLIS and len(self.objects) > MAX_OBJECTS)

    def forget(self, at: int) -> None:
        """Forgets what is old. Objects that were not read are remembered."""
        old = [name for name, known in self.objects.items() if known.is_read and self.is_old(known, at)]
        for name in sorted(old, key=lambda each: self.objects[each].modified):
            known = self.objects.pop(name)
            self.floor = max(self.floor, known.modified)
            self.marks[digest_of(name)] = Mark.of(known)
        for mark in list(self.marks)[: max(0, len(self.marks) - MAX_MARKS)]:
            del self.marks[mark]
        for key in list(self.ids)[: max(0, len(self.ids) - MAX_IDS)]:
            del self.ids[key]

    def to_text(self) -> str:
        objects = {name: astuple(known) for name, known in self.objects.items()}
        marks = b"".join(MARK.pack(key, *astuple(mark)) for key, mark in self.marks.items())
        packed = base64.b64encode(marks).decode()
        content = json.dumps([self.floor, objects, b"".join(self.ids).hex(), packed]).encode()
        return base64.b64encode(zlib.compress(content)).decode()

    @classmethod
    def from_text(cls, text: str) -> "Memory":
        """Reads the text of `to_text`; an empty one is that of a log of which nothing was read."""
        if not text:
            return cls()
        floor, objects, ids, *packed = json.loads(zlib.decompress(base64.b64decode(text)))
        known = {name: KnownObject(*values) for name, values in objects.items()}
        unpacked = MARK.iter_unpack(base64.b64decode(packed[0])) if packed else ()
        marks = {key: Mark(*values) for key, *values in unpacked}
        hashes = bytes.fromhex(ids)
        kept = {hashes[at : at + ID_BYTES]: None for at in range(0, len(hashes), ID_BYTES)}
        return cls(floor, known, kept, marks)
