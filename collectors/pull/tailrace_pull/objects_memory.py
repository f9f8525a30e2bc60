"""Remembers which objects of a log were read, how far, and the ids of the last records."""

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, field
from typing import Protocol

DAY_MILLIS = 86_400_000
KEPT_MILLIS = 7 * DAY_MILLIS
"""How long an object is remembered after its last write. One that grows later is read from its start."""
MAX_OBJECTS = 2000
"""If there are more, only those of the last day are remembered."""
MAX_IDS = 5000
"""Ids of records that are remembered: Firehose may deliver a record twice."""


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

    def unread_bytes(self) -> int:
        """Returns how many bytes are left; of a compressed object, all unless it was read."""
        if self.is_packed:
            return 0 if self.is_read else self.size
        return max(0, self.size - self.position)


@dataclass
class Memory:
    """The objects of one log."""

    floor: int = 0
    """Objects that were written at this time or before, and are not remembered, are not read."""
    objects: dict[str, KnownObject] = field(default_factory=dict)
    ids: dict[str, None] = field(default_factory=dict)
    """Hashes of ids, the oldest first."""

    def begin(self, since: int) -> None:
        self.floor = self.floor or since

    def note(self, listed: Iterable[Listed]) -> None:
        """Adds objects that are new, and notes which ones have grown or were replaced."""
        for each in listed:
            known = self.objects.get(each.name)
            if known is None and each.modified > self.floor:
                self.objects[each.name] = KnownObject(each.size, each.modified, each.tag)
            elif known is not None and (known.size, known.listed_tag) != (each.size, each.tag):
                known.size, known.modified, known.listed_tag = each.size, each.modified, each.tag
                known.is_read = False

    def unread(self) -> Iterator[tuple[str, KnownObject]]:
        """Yields the objects that were not read to their end, in the order in which they were written."""
        left = [(name, each) for name, each in self.objects.items() if not each.is_read]
        yield from sorted(left, key=lambda pair: (pair[1].modified, pair[0]))

    def is_repeated(self, record_id: str) -> bool:
        """Notes the id of a record; returns whether it was known."""
        if not record_id:
            return False
        key = hashlib.blake2b(record_id.encode(), digest_size=8).hexdigest()
        is_known = key in self.ids
        self.ids[key] = None
        return is_known

    def is_old(self, known: KnownObject, at: int) -> bool:
        age = at - known.modified
        return age > KEPT_MILLIS or (age > DAY_MILLIS and len(self.objects) > MAX_OBJECTS)

    def forget(self, at: int) -> None:
        """Forgets what is old. Objects that were not read are remembered."""
        for name, known in list(self.objects.items()):
            if known.is_read and self.is_old(known, at):
                self.floor = max(self.floor, known.modified)
                del self.objects[name]
        for key in list(self.ids)[: max(0, len(self.ids) - MAX_IDS)]:
            del self.ids[key]

    def to_text(self) -> str:
        objects = {name: astuple(known) for name, known in self.objects.items()}
        content = json.dumps([self.floor, objects, "".join(self.ids)]).encode()
        return base64.b64encode(zlib.compress(content)).decode()

    @classmethod
    def from_text(cls, text: str) -> "Memory":
        """Reads the text of `to_text`; an empty one is that of a log of which nothing was read."""
        if not text:
            return cls()
        floor, objects, ids = json.loads(zlib.decompress(base64.b64decode(text)))
        known = {name: KnownObject(*values) for name, values in objects.items()}
        return cls(floor, known, {ids[at : at + 16]: None for at in range(0, len(ids), 16)})
