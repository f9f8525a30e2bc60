"""Writes the proofs of a period into an evidence bundle, below `transparency/`, as docs/VERIFY.md describes.

It contains the log's checkpoint, the leaves of the period with the tiles that prove them, public keys, and
the rows themselves for as many tables as MAX_ROWS allows.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tailrace.clickhouse.client import ClickHouse
from tailrace.verification.live import DIRECTORY, files_of_log
from tailrace.verification.stored_rows import StoredRows, by_table
from tailrace_verify import check, leaves, merkle, minutes, notes, tiles
from tailrace_verify.files import TRANSPARENCY, Files
from tailrace_verify.findings import Report
from tailrace_verify.leaves import Leaves, RowsLeaf
from tailrace_verify.log import CHECKPOINT
from tailrace_verify.tiles import Tiles
from tailrace_verify.trust import HOST_KEYS, LOG_KEY, WITNESS_KEYS

MAX_ROWS = 200_000


@dataclass(frozen=True)
class Written:
    """What the bundle contains: leaves, rows, and the rows by table that it leaves out."""

    leaves: int
    rows: int
    left_out: Mapping[str, int]


def write(
    clickhouse: ClickHouse,
    home: Path,
    first: datetime,
    end: datetime,
    content: Path,
    most_rows: int = MAX_ROWS,
    after: int | None = None,
) -> Written | None:
    """Writes the proofs of [first, end); returns None if this installation has no transparency log.

    `after` is a leaf from which on all leaves are written, if there are leaves of the period.

    Raises ClickHouseError, StoredRowsError, TileError, NoteError, OSError.
    """
    if not (home / DIRECTORY).is_dir():
        return None
    log = files_of_log(home)
    if (note := log.read(CHECKPOINT)) is None:
        return None
    size = notes.parse_checkpoint(notes.parse(note).text).size
    held = _leaves_of(Tiles(log.read, size), first, end)
    target = content / TRANSPARENCY
    span = _span(held.rows.values(), after)
    for name in _names(log, size, span):
        _copy(log, name, target)
    chosen, left_out = _chosen(held, most_rows)
    count = _write_rows(StoredRows(clickhouse), chosen, target)
    scope = {
        "version": 1,
        "from": first.strftime(check.FORM),
        "to": end.strftime(check.FORM),
        "first": span[0],
        "end": span[1],
        "tables": sorted(by_table(held.rows).keys() - left_out.keys()),
        "left_out": left_out,
        "after": after,
    }
    (target / check.SCOPE).write_text(json.dumps(scope, indent=1) + "\n")
    return Written(len(held.rows), count, left_out)


def _leaves_of(log: Tiles, first: datetime, end: datetime) -> Leaves:
    """Returns the leaves of rows in the period. Nothing is verified here: the bundle's reader does that."""
    held, ignored = Leaves(), Report()
    for index in range(-(-log.size // tiles.WIDTH)):
        for at, entry in enumerate(log.entries(index), index * tiles.WIDTH):
            if b'"rows"' in entry:
                leaves.add(at, entry, held, ignored)
    inside = {place: leaf for place, leaf in held.rows.items() if first <= check.moment(leaf.minute) < end}
    return Leaves(rows=inside)


def _span(found: Iterable[RowsLeaf], after: int | None) -> tuple[int, int]:
    indexes = [leaf.index for leaf in found]
    if not indexes:
        return (0, 0)
    first = min(indexes)
    return (first if after is None else min(first, after), max(indexes) + 1)


def _names(log: Files, size: int, span: tuple[int, int]) -> Iterator[str]:
    """Yields the checkpoint, the keys, the tiles and the entries that prove the leaves [first, end)."""
    yield from (CHECKPOINT, LOG_KEY, HOST_KEYS, *log.below(WITNESS_KEYS))
    first, end = span
    level = 0
    while size >> tiles.HEIGHT * level:
        span_of_tile = tiles.WIDTH ** (level + 1)
        last = ((size >> tiles.HEIGHT * level) - 1) // tiles.WIDTH
        indexes = set(range(first // span_of_tile, -(-end // span_of_tile))) | {last}
        for index in sorted(indexes):
            width = tiles.width(level, index, size)
            yield tiles.path(level, index, width)
            if level == 0 and index * tiles.WIDTH < end:
                yield tiles.path(tiles.ENTRIES, index, width)
        level += 1


def _copy(log: Files, name: str, target: Path) -> None:
    """Copies a file; a partial tile that the log has replaced is cut from the full one."""
    data = log.read(name)
    if data is None and ".p/" in name:
        full, _, width = name.partition(".p/")
        data = _cut(log.read(full), full, int(width))
    if data is not None:
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _cut(data: bytes | None, name: str, width: int) -> bytes | None:
    if data is None:
        return None
    if tiles.ENTRIES in name:
        return tiles.pack(tiles.unpack(data)[:width])
    return data[: width * tiles.HASH_BYTES]


def _chosen(held: Leaves, most_rows: int) -> tuple[list[RowsLeaf], dict[str, int]]:
    """Returns the leaves whose rows the bundle contains: whole tables, the smallest first; and the others."""
    chosen: list[RowsLeaf] = []
    left_out: dict[str, int] = {}
    sizes = {table: (sum(leaf.rows for leaf in each), each) for table, each in by_table(held.rows).items()}
    left = most_rows
    for table, (count, each) in sorted(sizes.items(), key=lambda item: item[1][0]):
        if count <= left:
            chosen += each
            left -= count
        else:
            left_out[table] = count
    return chosen, left_out


def _write_rows(stored: StoredRows, chosen: Sequence[RowsLeaf], target: Path) -> int:
    """Writes rows and their leaf hashes in the order of the hashes; returns the number of rows."""
    count = 0
    for folder, table in {
        (folder, leaf.table) for leaf in chosen for folder in (minutes.ROWS, minutes.HASHES)
    }:
        (target / folder / table).mkdir(parents=True, exist_ok=True)
    for leaf, lines in stored.lines(chosen):
        hashed = sorted((merkle.leaf_hash(line), line) for line in lines)
        place = leaf.table, leaf.minute, leaf.part
        (target / minutes.file_name(minutes.ROWS, *place)).write_bytes(
            b"".join(line + b"\n" for _, line in hashed)
        )
        (target / minutes.file_name(minutes.HASHES, *place)).write_bytes(
            b"".join(leaf_hash for leaf_hash, _ in hashed)
        )
        count += len(lines)
    return count
