"""Tiles and entry bundles of C2SP tlog-tiles, read from files.

A tile of level L contains up to 256 hashes: those of the nodes of height 8 * L. `Read` returns the bytes of a
file by its path below the log's directory, or None if it does not exist, so that tiles can be in a directory,
a ZIP file or an object store.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tailrace_verify import merkle

Read = Callable[[str], bytes | None]
WIDTH, HEIGHT, HASH_BYTES = 256, 8, 32
MAX_ENTRY_BYTES = (1 << 16) - 1
ENTRIES = "entries"


class TileError(Exception):
    """A tile or an entry bundle is missing or malformed; `path` names it."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path, self.problem = path, problem


class MissingTileError(TileError):
    """The tile is not there."""


def path(level: int | str, index: int, width: int = WIDTH) -> str:
    """Returns `tile/0/x001/x234/067`, with `.p/WIDTH` for a partial tile; the level `entries` for entries."""
    digits = f"{index:03d}"
    digits = digits.zfill(-(-len(digits) // 3) * 3)
    groups = [digits[at : at + 3] for at in range(0, len(digits), 3)]
    name = "/".join([*(f"x{group}" for group in groups[:-1]), groups[-1]])
    return f"tile/{level}/{name}" + (f".p/{width}" if width < WIDTH else "")


def width(level: int, index: int, size: int) -> int:
    """Returns how many hashes this tile of a tree of `size` leaves has, from 0 to 256."""
    return max(0, min(WIDTH, (size >> HEIGHT * level) - index * WIDTH))


def tiles(size: int, start: int = 0) -> Iterator[tuple[int, int, int]]:
    """Yields level, index and width of each tile of a tree of `size` leaves that one of `start` leaves has
    not."""
    level = 0
    while nodes := size >> HEIGHT * level:
        for index in range((start >> HEIGHT * level) // WIDTH, -(-nodes // WIDTH)):
            if (now := width(level, index, size)) > width(level, index, start):
                yield level, index, now
        level += 1


def pack(entries: Sequence[bytes]) -> bytes:
    """Returns an entry bundle. Raises ValueError for an entry of more than 65,535 bytes."""
    for entry in entries:
        if len(entry) > MAX_ENTRY_BYTES:
            raise ValueError(f"an entry has {len(entry)} bytes; tlog-tiles allows {MAX_ENTRY_BYTES}")
    return b"".join(len(entry).to_bytes(2, "big") + entry for entry in entries)


def unpack(data: bytes) -> list[bytes]:
    """Returns the entries of a bundle. Raises ValueError if it is cut."""
    entries, at = [], 0
    while at < len(data):
        end = at + 2 + int.from_bytes(data[at : at + 2], "big")
        if at + 2 > len(data) or end > len(data):
            raise ValueError(f"its entry {len(entries)} is cut")
        entries.append(data[at + 2 : end])
        at = end
    return entries


def reader(directory: Path) -> Read:
    """Returns the Read of a directory."""

    def read(name: str) -> bytes | None:
        try:
            return (directory / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    return read


class Tiles:
    """The tree of `size` leaves from tiles. Nothing is verified: compare `root()` with a checkpoint first.

    All methods raise MissingTileError or TileError.
    """

    def __init__(self, read: Read, size: int) -> None:
        self.read, self.size = read, size
        self._tiles: dict[tuple[int, int], list[bytes]] = {}

    def tile(self, level: int, index: int) -> list[bytes]:
        """Returns the hashes of a tile; of a partial one also if only the full tile is there."""
        if (found := self._tiles.get((level, index))) is None:
            found = self._tiles[level, index] = self._load(level, index)
        return found

    def entries(self, index: int) -> list[bytes]:
        """Returns the entries from index * 256 on, at most 256."""
        count = width(0, index, self.size)
        name, data = self._file(ENTRIES, index, count)
        try:
            found = unpack(data)
        except ValueError as error:
            raise TileError(name, str(error)) from None
        if len(found) < count:
            raise TileError(name, f"{len(found)} entries instead of {count}")
        return found[:count]

    def node(self, height: int, index: int) -> bytes:
        """Returns the hash of the complete subtree of 2**height leaves from index * 2**height on."""
        level, rest = divmod(height, HEIGHT)
        first = index << rest
        at = first % WIDTH
        hashes = self.tile(level, first // WIDTH)[at : at + (1 << rest)]
        if len(hashes) < 1 << rest:
            raise IndexError(f"no complete subtree of 2**{height} leaves at {index}")
        return merkle.root(hashes)

    def leaf(self, index: int) -> bytes:
        return self.node(0, index)

    def root(self, size: int | None = None) -> bytes:
        """Returns the root of the first `size` leaves, by default of all."""
        return self.range_hash(0, self.size if size is None else size)

    def range_hash(self, start: int, end: int) -> bytes:
        """Returns the hash of the leaves [start, end), a node of the tree of `end` leaves."""
        if end == start:
            return merkle.EMPTY
        count = end - start
        if count & (count - 1) == 0 and start % count == 0:
            return self.node(count.bit_length() - 1, start // count)
        middle = start + merkle.split(count)
        return merkle.node_hash(self.range_hash(start, middle), self.range_hash(middle, end))

    def inclusion(self, index: int, size: int | None = None) -> list[bytes]:
        """Returns the proof that a leaf is in the tree of `size` leaves, by default of all."""
        end = self.size if size is None else size
        if not 0 <= index < end:
            raise IndexError(f"leaf {index} of a tree of {end} leaves")
        return self._inclusion(index, 0, end)

    def consistency(self, size1: int, size2: int | None = None) -> list[bytes]:
        """Returns the proof that the first `size1` leaves are a prefix of `size2`, by default of all."""
        end = self.size if size2 is None else size2
        return self._consistency(size1, 0, end, True) if 0 < size1 < end else []

    def _inclusion(self, index: int, start: int, end: int) -> list[bytes]:
        if end - start == 1:
            return []
        middle = start + merkle.split(end - start)
        if index < middle:
            return [*self._inclusion(index, start, middle), self.range_hash(middle, end)]
        return [*self._inclusion(index, middle, end), self.range_hash(start, middle)]

    def _consistency(self, size: int, start: int, end: int, is_known: bool) -> list[bytes]:
        if size == end:
            return [] if is_known else [self.range_hash(start, end)]
        middle = start + merkle.split(end - start)
        if size <= middle:
            return [*self._consistency(size, start, middle, is_known), self.range_hash(middle, end)]
        return [*self._consistency(size, middle, end, False), self.range_hash(start, middle)]

    def _load(self, level: int, index: int) -> list[bytes]:
        count = width(level, index, self.size)
        name, data = self._file(level, index, count)
        if len(data) < count * HASH_BYTES or len(data) % HASH_BYTES:
            raise TileError(name, f"{len(data)} bytes instead of {count * HASH_BYTES}")
        return [data[at : at + HASH_BYTES] for at in range(0, count * HASH_BYTES, HASH_BYTES)]

    def _file(self, level: int | str, index: int, count: int) -> tuple[str, bytes]:
        if count <= 0:
            raise MissingTileError(path(level, index), f"not in a tree of {self.size} leaves")
        for name in dict.fromkeys((path(level, index, count), path(level, index))):
            if (data := self.read(name)) is not None:
                return name, data
        raise MissingTileError(path(level, index, count), "missing")
