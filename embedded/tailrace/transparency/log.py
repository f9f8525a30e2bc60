"""The writer of a tile-based Merkle log in a directory: C2SP tlog-tiles and tlog-checkpoint, RFC 6962 hashes.

The order of the steps makes a kill at any point harmless:

1. Entry bundles and tiles of the larger tree are written. No checkpoint names that tree yet, so what a crash
   leaves of them is overwritten.
2. One transaction of the store changes size, root and read positions: from here on the leaves are in the log.
3. The checkpoint of that size is signed (Ed25519 signs one text always alike), and witnesses cosign it.
4. The cosigned checkpoint is published. Then partial tiles that full ones replace are removed.
"""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tailrace.errors import ReportedError
from tailrace.transparency import files
from tailrace.transparency.files import Write
from tailrace.transparency.store import Batch, Store
from tailrace_verify import merkle, notes, tiles
from tailrace_verify.notes import Checkpoint
from tailrace_verify.tiles import WIDTH, Tiles

CHECKPOINT = "checkpoint"
STORE = "state.sqlite"


class LogError(ReportedError):
    """The log cannot be extended; the message states why."""


class TransparencyLog:
    """One log: the only writer of its directory. `write` replaces a file at once."""

    def __init__(
        self, directory: Path, origin: str, key: Ed25519PrivateKey, write: Write = files.write
    ) -> None:
        self.directory, self.origin = directory, origin
        self.store = Store(directory / STORE)
        self._key, self._write = key, write

    @property
    def size(self) -> int:
        return self.store.get("size", 0)

    def head(self) -> Checkpoint:
        """Returns the tree head of all leaves, published or not."""
        return Checkpoint(self.origin, self.size, bytes.fromhex(self.store.get("root", merkle.EMPTY.hex())))

    def append(self, batch: Batch) -> None:
        """Appends entries and sets the values of the batch, all or nothing. Raises LogError, OSError."""
        size, root = self.size, self.head().root
        if batch.entries:
            self._require_own_tiles(size, root)
            root = self._extend(size, batch.entries)
            size += len(batch.entries)
        values = {**batch.values, "size": size, "root": root.hex()}
        self.store.commit(values, batch.minutes, size - len(batch.entries))

    def signed(self) -> bytes:
        """Returns the checkpoint of the current tree with the log's signature."""
        text = self.head().text()
        return notes.assemble(text, [notes.sign(text, self.origin, self._key)])

    def consistency(self, size: int) -> list[bytes]:
        """Returns the proof that the tree of `size` leaves is a prefix of the current one."""
        return self._tiles(self.size).consistency(size)

    def published(self) -> bytes | None:
        """Returns the published checkpoint, a signed note; None before the first one."""
        try:
            return (self.directory / CHECKPOINT).read_bytes()
        except FileNotFoundError:
            return None

    def publish(self, note: bytes) -> None:
        """Publishes a cosigned checkpoint of the current tree."""
        before = self.published()
        start = notes.parse_checkpoint(notes.parse(before).text).size if before else 0
        self._write(self.directory / CHECKPOINT, note)
        self._remove_partial(start)

    def _tiles(self, size: int) -> Tiles:
        return Tiles(tiles.reader(self.directory), size)

    def _require_own_tiles(self, size: int, root: bytes) -> None:
        """A tree that is extended on changed tiles would give a checkpoint that no witness cosigns."""
        if (found := self._tiles(size).root()) != root:
            raise LogError(
                f"the tiles in {self.directory} have the root {found.hex()}, expected {root.hex()} for"
                f" {size} leaves"
            )

    def _extend(self, start: int, entries: Sequence[bytes]) -> bytes:
        """Writes the tiles of the larger tree; returns its root."""
        size, before = start + len(entries), self._tiles(start)
        new = [[merkle.leaf_hash(entry) for entry in entries]]
        for level, index, width in tiles.tiles(size, start):
            old = tiles.width(level, index, start)
            first = index * WIDTH + old - (start >> tiles.HEIGHT * level)
            hashes = before.tile(level, index)[:old] if old else []
            hashes += new[level][first : first + width - old]
            if level == 0:
                known = before.entries(index)[:old] if old else []
                bundle = tiles.pack([*known, *entries[first : first + width - old]])
                self._write(self.directory / tiles.path(tiles.ENTRIES, index, width), bundle)
            self._write(self.directory / tiles.path(level, index, width), b"".join(hashes))
            if width == WIDTH:
                new += [[]] * (level + 2 - len(new))
                new[level + 1] = [*new[level + 1], merkle.root(hashes)]
        return self._tiles(size).root()

    def _remove_partial(self, start: int) -> None:
        for level, index, width in tiles.tiles(self.size, start):
            if width == WIDTH:
                for kind in (level, tiles.ENTRIES) if level == 0 else (level,):
                    with suppress(FileNotFoundError):
                        shutil.rmtree(self.directory / f"{tiles.path(kind, index)}.p")
