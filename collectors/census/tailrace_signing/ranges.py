"""Divides a file into ranges, and hashes them: the rule of schemas/contracts/README.md."""

import base64
import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

RANGE_BYTES = 16_384
RECORD_RANGES = 256
"""Ranges that one record signs at most: about 4 MiB of a file, and 12 KB of lengths and hashes."""
BLOCK_BYTES = 1 << 20

Read = Callable[[int, int], bytes]
"""Returns this number of bytes of a file from an offset, or fewer at the end of the file."""


class TruncatedError(Exception):
    """The file became shorter while it was read."""


@dataclass(frozen=True)
class Range:
    """The bytes `[start, end)` of a file. `closed`: whether the range cannot become longer."""

    start: int
    end: int
    closed: bool
    sha256: str
    """Hexadecimal."""


@dataclass(frozen=True)
class Signed:
    """What one record signs: ranges that follow each other."""

    ranges: "Sequence[Range]"

    def payload(self) -> "dict[str, Any]":
        """Returns the last range and, if there are others, their start and the root of their entries."""
        *earlier, last = self.ranges
        content = {"from": last.start, "to": last.end, "closed": last.closed, "sha256": last.sha256}
        if earlier:
            content["earlier_from"] = earlier[0].start
            content["earlier_root"] = root(self._entries())
        return content

    def earlier_ranges(self) -> str:
        """Returns lengths and hashes of the ranges before the last one in base64; empty if there are none."""
        return base64.b64encode(b"".join(self._entries())).decode()

    def _entries(self) -> "list[bytes]":
        return [
            struct.pack(">I32s", each.end - each.start, bytes.fromhex(each.sha256))
            for each in self.ranges[:-1]
        ]


def joined(ranges: "Iterable[Range]", most: int = RECORD_RANGES) -> "Iterator[Signed]":
    """Joins the ranges of one file to records: at most `most` in each, which follow each other."""
    record: list[Range] = []
    for each in ranges:
        if record and (len(record) == most or record[-1].end != each.start):
            yield Signed(record)
            record = []
        record.append(each)
    if record:
        yield Signed(record)


def root(entries: "Sequence[bytes]") -> str:
    """Returns the root of the Merkle tree of RFC 6962 with these entries as data of leaves, hexadecimal."""
    level = [hashlib.sha256(b"\0" + each).digest() for each in entries]
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        pairs = (level[at] + level[at + 1] for at in range(0, len(level) - 1, 2))
        level = [hashlib.sha256(b"\1" + each).digest() for each in pairs] + odd
    return level[0].hex()


class RangeHash:
    """SHA-256 of bytes without the carriage returns directly before a line feed."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._returns = 0
        """Carriage returns at the end: whether they count depends on the next byte."""

    def update(self, block: bytes) -> None:
        if self._returns:
            block = self._after_returns(block)
        if block.endswith(b"\r"):
            rest = block.rstrip(b"\r")
            self._returns = len(block) - len(rest)
            block = rest
        has_returns = b"\r" in block and b"\r\n" in block  # one byte is found many times faster than two
        self._hash.update(_without_returns(block) if has_returns else block)

    def _after_returns(self, block: bytes) -> bytes:
        rest = block.lstrip(b"\r")
        self._returns += len(block) - len(rest)
        if rest:
            if not rest.startswith(b"\n"):
                self._count_returns()
            self._returns = 0
        return rest

    def _count_returns(self) -> None:
        while self._returns:
            counted = min(self._returns, BLOCK_BYTES)
            self._hash.update(b"\r" * counted)
            self._returns -= counted

    def hexdigest(self) -> str:
        self._count_returns()
        return self._hash.hexdigest()


def _without_returns(block: bytes) -> bytes:
    if b"\r\r\n" not in block:
        return block.replace(b"\r\n", b"\n")
    *lines, rest = block.split(b"\n")  # a regular expression would be quadratic in a run of carriage returns
    return b"".join(line.rstrip(b"\r") + b"\n" for line in lines) + rest


def divide(read: Read, start: int, size: int, ended: bool) -> Iterator[Range]:
    """Yields the ranges of a file from the start of one, up to `size`; the last one may be open.

    `ended`: the file was rotated and gets no more bytes. Raises TruncatedError.
    """
    window = _Window(read, size)
    while start < size:
        window.hold(start)
        end = window.line_end(start, start + RANGE_BYTES)
        closed = end is not None
        if end is None:
            end, closed = (size, True) if ended else (window.last_line_end(start), False)
        if end == start:
            return
        yield Range(start, end, closed, window.sha256(start, end))
        if not closed:
            return
        start = end


class _Window:
    """A block of the file: ranges are shorter than it, so most are read once."""

    def __init__(self, read: Read, size: int) -> None:
        self._read = read
        self._size = size
        self._start = 0
        self._block = b""

    def hold(self, start: int) -> None:
        """Makes the block begin at `start` if the range would probably not fit."""
        if start + 2 * RANGE_BYTES > self._start + len(self._block):
            self._load(start)

    def line_end(self, start: int, least: int) -> "int | None":
        """Returns the end of the first line from `start` that ends at `least` or later, if there is one."""
        offset = max(start, least - 1)
        while offset < self._size:
            self._include(offset)
            found = self._block.find(b"\n", offset - self._start)  # without a copy of the rest of the block
            if found >= 0:
                return self._start + found + 1
            offset = self._start + len(self._block)
        return None

    def last_line_end(self, start: int) -> int:
        """Returns the end of the last line that ends within the first bytes of a range; `start` if none
        does."""
        first = b"".join(block for _, block in self._blocks(start, min(self._size, start + RANGE_BYTES)))
        return start + first.rfind(b"\n") + 1

    def sha256(self, start: int, end: int) -> str:
        result = RangeHash()
        for _, block in self._blocks(start, end):
            result.update(block)
        return result.hexdigest()

    def _blocks(self, start: int, end: int) -> "Iterator[tuple[int, bytes]]":
        while start < end:
            self._include(start)
            index = start - self._start
            block = self._block[index : index + end - start]
            yield start, block
            start += len(block)

    def _include(self, offset: int) -> None:
        if not self._start <= offset < self._start + len(self._block):
            self._load(offset)

    def _load(self, start: int) -> None:
        self._start = start
        self._block = self._read(start, min(BLOCK_BYTES, self._size - start))
        if not self._block:
            raise TruncatedError
