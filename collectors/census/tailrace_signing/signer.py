"""Signs the ranges of the files of each census."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace_signing import keys
from tailrace_signing.chain import Chain
from tailrace_signing.journal import Journal, State, StateError
from tailrace_signing.keys import HostKey, KeyFileError
from tailrace_signing.ranges import Range, TruncatedError, divide, joined

STATE_FILE = "signing.json"
USED = ".used"
"""Suffix of a file beside a key, with the id of the key that has signed: it must not start again without its
state."""

QUIET_SECONDS = 60
"""A rotated file is complete if it was not changed for so long: a server writes to it until FLUSH LOGS."""

PASS_BYTES = 8 << 20
"""What one pass signs at most: the census must not wait."""

FORGOTTEN_SECONDS = 3600
"""When the state of a file is dropped that no census lists."""


@dataclass(frozen=True)
class SeenFile:
    """A file in a census."""

    record: Any
    """A Record of census.py."""
    is_live: bool
    seen: float
    """Monotonic seconds."""

    @property
    def identity(self) -> str:
        record = self.record
        return json.dumps([record.instance, record.source, os.path.dirname(record.path), record.inode])

    @property
    def has_ended(self) -> bool:
        return not self.is_live and abs(self.record.at - self.record.mtime) >= QUIET_SECONDS

    def work(self) -> "tuple[Any, ...]":
        """Returns a value that is the same as before if there is nothing to sign."""
        record = self.record
        return record.path, record.size, record.head_length, record.head_hash, self.has_ended


class RangeSigner:
    """Signs what is new in the files of the censuses. It reads no byte of a closed range again."""

    def __init__(self, host: str, key_file: Path, spool: Path, report: Callable[[str], None]) -> None:
        """Raises KeyFileError, OSError."""
        self._host = host
        self._key_file = key_file
        self._key = keys.read(key_file)
        self._spool = spool
        self._report = report
        self._reported = ""
        self._journal: Journal | None = None
        self._seen_files: dict[str, SeenFile] = {}
        self._done: dict[str, tuple[Any, ...]] = {}
        self._left = PASS_BYTES

    @property
    def has_more(self) -> bool:
        """Whether the last pass ended before everything was signed."""
        return self._left <= 0

    def see(self, records: Iterable[Any], live: Collection[str]) -> None:
        """Takes the records of a census, with the paths of the live files."""
        now = time.monotonic()
        for record in records:
            seen_file = SeenFile(record, record.path in live, now)
            self._seen_files[seen_file.identity] = seen_file
        self._seen_files = {
            identity: each
            for identity, each in self._seen_files.items()
            if now - each.seen < FORGOTTEN_SECONDS
        }

    def sign(self) -> None:
        """Signs what is new in the files of the last census, at most PASS_BYTES. A failure is reported, and
        the next call tries again."""
        try:
            journal = self._journal or self._open()
            self._follow_rotation(journal)
            self._sign(journal)
            self._journal, self._reported = journal, ""
        except (OSError, StateError, KeyFileError) as error:
            self._journal, self._left = None, PASS_BYTES
            if str(error) != self._reported:
                self._reported = str(error)
                self._report(f"cannot sign: {error}")

    def _open(self) -> Journal:
        file = state_file(self._spool)
        journal = Journal(self._spool, file)
        self._key = self._current_key(journal.state)
        if not file.exists() and was_used(self._key_file, self._key):
            raise StateError(
                f"the key {self._key_file} has signed, but {file} with its last number is missing; "
                f"create and register another key"
            )
        return journal

    def _current_key(self, state: State) -> HostKey:
        """Returns the key of the state, which may be the next one already."""
        first = keys.read(self._key_file)
        following = self._next_key()
        if following and state.key == following.id:
            return following
        if state.key not in ("", first.id):
            raise StateError(
                f"{self._key_file} has the key {first.id}, but the last signature is of the key {state.key}; "
                f"a key is replaced by the file {self._key_file}{keys.NEXT}"
            )
        return first

    def _next_key(self) -> "HostKey | None":
        file = Path(f"{self._key_file}{keys.NEXT}")
        return keys.read(file) if file.exists() else None

    def _follow_rotation(self, journal: Journal) -> None:
        following = self._next_key()
        if not following:
            return
        if following.id != self._key.id:
            chain = Chain(self._host, self._key, journal.state)
            record = chain.rotate(following)
            self._commit(journal, chain.state(journal.state.files), [record])
            self._key = following
        self._replace_key_file()

    def _replace_key_file(self) -> None:
        try:
            os.replace(f"{self._key_file}{keys.NEXT}", self._key_file)
        except OSError:
            return  # a mounted secret cannot be changed here: both files remain until its owner changes it

    def _sign(self, journal: Journal) -> None:
        self._left = PASS_BYTES
        chain = Chain(self._host, self._key, journal.state)
        files = dict(journal.state.files)
        records, done = [], {}
        for identity, seen_file in sorted(self._seen_files.items(), key=lambda each: not each[1].is_live):
            if self._left <= 0:
                break
            if self._done.get(identity) == seen_file.work():
                continue
            entry, signed = self._signed(seen_file, files.get(identity), chain)
            files[identity] = entry
            records += signed
            if self._left > 0:
                done[identity] = seen_file.work()
        if records:
            kept = {identity: entry for identity, entry in files.items() if identity in self._seen_files}
            self._commit(journal, chain.state(kept), records)
        self._done.update(done)

    def _signed(
        self, seen_file: SeenFile, entry: "dict[str, Any] | None", chain: Chain
    ) -> "tuple[dict[str, Any], list[dict[str, str]]]":
        """Returns the new state of a file, and the records of what is new in it."""
        record = seen_file.record
        try:
            with _opened(record) as descriptor:
                entry = _continued(entry, record.size, descriptor)
                found = list(self._new_ranges(descriptor, entry, seen_file))
                entry = _after(entry, found, descriptor)
        except (OSError, TruncatedError):
            return entry or _entry(), []  # the next census has it under its new name or size
        described = _described(record)
        return entry, [
            chain.record({**described, **each.payload()}, each.earlier_ranges()) for each in joined(found)
        ]

    def _new_ranges(self, descriptor: int, entry: "dict[str, Any]", seen_file: SeenFile) -> Iterator[Range]:
        def read(offset: int, size: int) -> bytes:
            return os.pread(descriptor, size, offset)

        for found in divide(read, entry["from"], seen_file.record.size, seen_file.has_ended):
            if found.closed or found.end > entry["to"]:
                self._left -= found.end - found.start
                yield found
            if self._left <= 0:
                return

    def _commit(self, journal: Journal, state: State, records: "list[dict[str, str]]") -> None:
        lines = [json.dumps(record, separators=(",", ":")) for record in records]
        journal.commit(state, lines, time.time())
        _mark_used(self._key_file, self._key)


def state_file(spool: Path) -> Path:
    """Returns the file with the state of the signer of a spool: beside the directory."""
    return spool.parent / STATE_FILE


def was_used(key_file: Path, key: HostKey) -> bool:
    """Returns whether the directory of the key contains a signature."""
    used = Path(f"{key_file}{USED}")
    return used.exists() and used.read_text() == key.id


def _mark_used(key_file: Path, key: HostKey) -> None:
    if was_used(key_file, key):
        return
    used = Path(f"{key_file}{USED}")
    try:
        used.touch(mode=0o600)
        used.write_text(key.id)
    except OSError:
        return  # a mounted secret is read-only; then only the job notices a lost state


@contextmanager
def _opened(record: Any) -> Iterator[int]:
    """Opens the file of a census record. Raises FileNotFoundError if its path has another file now."""
    descriptor = os.open(record.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_ino != record.inode:
            raise FileNotFoundError(record.path)
        yield descriptor
    finally:
        os.close(descriptor)


FIRST_BYTES = 4096


def _entry() -> "dict[str, Any]":
    """Returns the state of a file of which nothing is signed: the start of the open range, its signed end,
    and the first signed bytes, by which a truncated file is recognized."""
    return {"from": 0, "to": 0, "first_length": 0, "first_hash": ""}


def _continued(entry: "dict[str, Any] | None", size: int, descriptor: int) -> "dict[str, Any]":
    """Returns the state of the file; a new one if it is another file now, or was truncated."""
    if entry is None or size < entry["to"]:
        return _entry()
    is_same = _first_hash(descriptor, entry["first_length"]) == entry["first_hash"]
    return entry if is_same else _entry()


def _after(entry: "dict[str, Any]", found: "list[Range]", descriptor: int) -> "dict[str, Any]":
    """Returns the state of the file after its new ranges."""
    if not found:
        return entry
    last = found[-1]
    entry = {**entry, "from": last.end if last.closed else last.start, "to": last.end}
    length = min(last.end, FIRST_BYTES)
    if length > entry["first_length"]:
        entry |= {"first_length": length, "first_hash": _first_hash(descriptor, length)}
    return entry


def _first_hash(descriptor: int, length: int) -> str:
    return hashlib.sha256(os.pread(descriptor, length, 0)).hexdigest() if length else ""


def _described(record: Any) -> "dict[str, Any]":
    names = ("cluster", "instance", "source", "path", "inode", "head_length", "head_hash")
    return {name: getattr(record, name) for name in names}
