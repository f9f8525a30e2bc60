"""Reads the log of one server from objects that a cloud exports, as one file of decoded entries.

The file contains the entries in the order in which they were read. What could not be read of an object is a
gap: an object that was deleted before, a record that cannot be decoded.
"""

import gzip
import hashlib
import io
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from tailrace_pull.entries_file import EntriesFile
from tailrace_pull.envelopes import Decoded
from tailrace_pull.matching import Numbers
from tailrace_pull.object_records import Wanted, entries_of, whole_records
from tailrace_pull.objects_memory import KnownObject, Memory
from tailrace_pull.reading import Round
from tailrace_pull.remote import FileGoneError, RemoteError
from tailrace_pull.state import LogState, PulledFile

CHUNK_BYTES = 8 << 20
MAX_RECORD_BYTES = 64 << 20
"""The longest record that is read. A longer one is a gap."""
MAX_UNPACKED_BYTES = 160 << 20
"""The largest object that is unpacked, in memory. A larger one is a gap. Firehose: at most 128 MiB."""
MAX_READ_OBJECTS = 250
"""The most objects that a visit reads. What it read is stored after it, and a puller that stores nothing for
minutes is restarted: small objects take a time that their bytes do not show."""
GZIP = b"\x1f\x8b"
TAIL_BYTES = 4096
"""Bytes by which an object is recognized that has grown: at least a record, with its time."""
DAY_MILLIS = 86_400_000
MILLIS = 1000


@dataclass(frozen=True)
class StoredObject:
    """An object as the store lists it."""

    name: str
    size: int
    """Bytes, compressed ones if it is compressed."""
    modified: int
    """Time of the last write, in milliseconds since 1970 UTC."""
    tag: str
    """Changes with each write (ETag)."""


class ChangedError(Exception):
    """The object was written after it was listed."""


class _DamagedError(Exception):
    """A compressed object cannot be read."""


class Store(Protocol):
    """Where objects are."""

    @property
    def can_grow(self) -> bool:
        """Whether a cloud appends to objects. If not, one that changed was replaced."""

    def objects(self) -> Iterator[StoredObject]:
        """Yields all objects. Raises RemoteError."""

    def read(self, listed: StoredObject, start: int, end: int) -> bytes:
        """Reads bytes of the object as it was listed. Raises ChangedError, FileGoneError, RemoteError."""


class UnpackedObject:
    """The compressed object of which a visit read a part: the next visit does not unpack it again.
    Thread-safe."""

    def __init__(self) -> None:
        self._kept: tuple[object, bytes] = None, b""

    def content(self, listed: StoredObject, store: Store) -> bytes:
        """Raises _DamagedError, and what the store raises."""
        key, kept = (listed, store), self._kept
        if kept[0] != key or not listed.tag:
            kept = self._kept = key, _unpack(store.read(listed, 0, listed.size))
        return kept[1]

    def forget(self) -> None:
        self._kept = None, b""


@dataclass(frozen=True)
class LogOfObjects:
    """The log of one server below a prefix (`reading.VisitedLog`)."""

    store: Store
    wanted: Wanted
    since: int = 0
    """Objects written before are not read, in milliseconds since 1970 UTC; 0 for a day before the first
    visit."""
    unpacked: UnpackedObject = field(default_factory=UnpackedObject)
    """Several logs share one, because it may take `MAX_UNPACKED_BYTES`."""

    def visit(self, state: LogState, new_number: Numbers, at: float, max_bytes: int) -> Round:
        """Reads objects that are new or have grown, at most about `max_bytes`. Raises RemoteError.

        An error after the first entries leaves these: the next visit continues behind them.
        """
        memory = Memory.from_text(state.memory)
        listed = {each.name: each for each in self.store.objects() if not _is_folder(each)}
        memory.begin(self.since or int(at * MILLIS) - DAY_MILLIS)
        done = Round(at, state.copy())
        if not done.state.files:
            done.state.files.append(PulledFile(new_number(), self.wanted.server))
        visit = _Visit(self, done, memory, max_bytes, max_bytes)
        visit.note_deleted(listed)
        visit.note_listed(listed)
        visit.give_up_old()
        visit.read_all(listed)
        memory.forget(int(at * MILLIS))
        done.state.memory = memory.to_text()
        return done


def _is_folder(listed: StoredObject) -> bool:
    """Returns whether it is no log: a name of a console's folder, or what an export task writes as a test."""
    return listed.name.endswith(("/", "aws-logs-write-test"))


@dataclass
class _Visit:
    """One visit, which changes its round and memory."""

    log: LogOfObjects
    done: Round
    memory: Memory
    max_bytes: int
    left: int
    """Bytes that may still be read."""

    def __post_init__(self) -> None:
        self._entries = EntriesFile(self.done, self.log.wanted, self._is_repeated)

    def note_deleted(self, listed: dict[str, StoredObject]) -> None:
        """Leaves a gap for each object that was deleted before it was read to its end."""
        for name, known in list(self.memory.objects.items()):
            if name not in listed:
                self._gone(name, known)

    def note_listed(self, listed: dict[str, StoredObject]) -> None:
        """Leaves a gap for each object that was replaced before anything of it was read."""
        for name, size in self.memory.note(listed.values(), self.log.store.can_grow):
            self._entries.leave_gap(size, f"{name} was replaced before it was read")

    def give_up_old(self) -> None:
        """Leaves a gap for a last record that was never completed."""
        for name, known in self.memory.objects.items():
            left = known.unread_bytes(self.log.store.can_grow) if known.is_read else 0
            if left and self.memory.is_old(known, int(self.done.at * MILLIS)):
                self._entries.leave_gap(left, f"{name}: its last record is incomplete")
                known.position = known.size

    def read_all(self, listed: dict[str, StoredObject]) -> None:
        for number, (name, known) in enumerate(self.memory.unread()):
            if self.left <= 0 or number == MAX_READ_OBJECTS:
                self.done.is_complete = False
                return
            try:
                self._read(listed[name], known)
            except FileGoneError:
                self._gone(name, known)
            except ChangedError:
                self.done.is_complete = False
            except _DamagedError as error:
                self._entries.leave_gap(max(1, known.size), f"{name}: {error}")
                known.is_packed = known.is_read = True
            except RemoteError:
                if self.left == self.max_bytes:
                    raise
                self.done.is_complete = False
                return

    def _gone(self, name: str, known: KnownObject) -> None:
        if left := known.unread_bytes(self.log.store.can_grow):
            self._entries.leave_gap(left, f"{name} was deleted before it was read to its end")
        del self.memory.objects[name]

    def _read(self, listed: StoredObject, known: KnownObject) -> None:
        """Reads an object to its end, or until enough was read."""
        content = self._content(listed, known)
        if known.position and known.tag != listed.tag and not _has_grown(content, known):
            self._note_replaced(listed.name, known)
            content = self._content(listed, known)
        known.tag, known.is_packed, known.size_then = listed.tag, content.is_packed, content.size
        while self.left > 0 and not known.is_read:
            known.is_read = self._step(listed.name, content, known)
        if content.is_packed and known.is_read:
            self.log.unpacked.forget()
        self.done.is_complete &= known.is_read

    def _note_replaced(self, name: str, known: KnownObject) -> None:
        if known.size_then > known.position:
            left = known.size_then - known.position
            self._entries.leave_gap(left, f"{name} was replaced before it was read to its end")
        self.done.notes.append(f"{name} was replaced: it is read from its start")
        known.position, known.tail, known.tag = 0, "", ""

    def _content(self, listed: StoredObject, known: KnownObject) -> "Content":
        """Raises _DamagedError."""
        is_packed = known.is_packed
        if not known.tag or (known.is_packed and known.tag != listed.tag):
            is_packed = self.log.store.read(listed, 0, min(len(GZIP), listed.size)) == GZIP
        if not is_packed:
            return Content(listed.size, lambda start, end: self.log.store.read(listed, start, end))
        if listed.size > MAX_UNPACKED_BYTES:
            raise _DamagedError(f"it has more than {MAX_UNPACKED_BYTES} bytes")
        unpacked = self.log.unpacked.content(listed, self.log.store)
        return Content(len(unpacked), lambda start, end: unpacked[start:end], is_packed=True)

    def _step(self, name: str, content: "Content", known: KnownObject) -> bool:
        """Reads records behind the position; returns whether there are no others now."""
        data, taken = _records(content, known.position)
        is_end = known.position + len(data) == content.size
        if not taken and (not is_end or content.is_packed) and data:
            self._entries.leave_gap(len(data), f"{name}: no record ends in the bytes from {known.position}")
            taken = len(data)
        else:
            self._entries.add(entries_of(data[:taken], name), name)
        self.left -= taken
        known.position += taken
        known.tail = _tail(data[:taken]) if taken else known.tail
        return is_end and (taken == len(data) or not content.is_packed)

    def _is_repeated(self, found: Decoded) -> bool:
        return bool(found.id) and self.memory.is_repeated(f"{found.at.isoformat()} {found.id}")


@dataclass(frozen=True)
class Content:
    """The bytes of an object, unpacked."""

    size: int
    read: Callable[[int, int], bytes]
    is_packed: bool = False


def _records(content: Content, position: int) -> tuple[bytes, int]:
    """Returns bytes behind the position, and how many of them are complete records."""
    length = CHUNK_BYTES
    while True:
        end = min(content.size, position + length)
        data = content.read(position, end)
        taken = whole_records(data, is_end=end == content.size)
        if taken or end == content.size or length >= MAX_RECORD_BYTES:
            return data, taken
        length *= 2


def _unpack(packed: bytes) -> bytes:
    """Raises _DamagedError."""
    try:
        with gzip.open(io.BytesIO(packed)) as file:
            unpacked = file.read(MAX_UNPACKED_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise _DamagedError(f"it cannot be unpacked: {error}") from error
    if len(unpacked) > MAX_UNPACKED_BYTES:
        raise _DamagedError(f"it has more than {MAX_UNPACKED_BYTES} bytes")
    return unpacked


def _tail(data: bytes) -> str:
    end = data[-TAIL_BYTES:]
    return f"{len(end)}:{hashlib.blake2b(end, digest_size=8).hexdigest()}"


def _has_grown(content: Content, known: KnownObject) -> bool:
    """Returns whether the bytes that were read are still before the position."""
    length = int(known.tail.partition(":")[0] or 0)
    if not length or content.size < known.position:
        return False
    return _tail(content.read(known.position - length, known.position)) == known.tail
