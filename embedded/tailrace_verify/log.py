"""Verifies a transparency log: signatures and order of its checkpoints, tiles, and entries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from tailrace_verify import merkle, notes, tiles
from tailrace_verify.files import Files
from tailrace_verify.findings import Report
from tailrace_verify.notes import Checkpoint, NoteError
from tailrace_verify.tiles import MissingTileError, TileError, Tiles
from tailrace_verify.trust import Trust

CHECKPOINT, CHECKPOINTS = "checkpoint", "checkpoints"
CHECK, TREE, CONSISTENCY = "checkpoints", "tiles", "consistency"


@dataclass(frozen=True)
class Seen:
    """One checkpoint: `file` is where it is; `time` is the newest cosignature, seconds since 1970 UTC."""

    file: str
    checkpoint: Checkpoint
    time: int | None
    is_verified: bool = True


def shown(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def checkpoints(files: Files, trust: Trust, report: Report) -> list[Seen]:
    """Returns the checkpoints whose signatures are right, by size.

    If there are none, it returns the largest other: its tree shows the place that differs.
    """
    named = [(name, files.read(name)) for name in (CHECKPOINT, *files.below(CHECKPOINTS))]
    named += [(f"your checkpoint {number}", data) for number, data in enumerate(trust.seen, 1)]
    found = [
        seen for name, data in named if data is not None and (seen := checkpoint(name, data, trust, report))
    ]
    found.sort(key=lambda seen: (seen.checkpoint.size, seen.time or 0))
    good = [seen for seen in found if seen.is_verified]
    report.counts["checkpoints"] += len(good)
    _check_order(good, report)
    _check_rollback(found, report)
    return good or found[-1:]


def checkpoint(name: str, data: bytes, trust: Trust, report: Report) -> Seen | None:
    """Returns a checkpoint, and reports a wrong signature; None if it is malformed."""
    try:
        note = notes.parse(data)
        checkpoint = notes.parse_checkpoint(note.text)
    except NoteError as error:
        report.tampered(CHECK, f"no checkpoint: {error}", file=name)
        return None
    if not trust.log:
        return Seen(name, checkpoint, None, False)
    if checkpoint.origin != trust.log.name or not notes.verify(note, trust.log):
        report.tampered(CHECK, f"not signed with the key of the log {trust.log.name}", file=name)
        return Seen(name, checkpoint, None, False)
    return _witnessed(name, note, checkpoint, trust, report)


def _witnessed(name: str, note: notes.Note, checkpoint: Checkpoint, trust: Trust, report: Report) -> Seen:
    times = [time for key in trust.witnesses if (time := notes.cosigned_at(note, key)) is not None]
    forged = [key.name for key in trust.witnesses if notes.verify(note, key) is False]
    for witness in forged:
        report.tampered(CHECK, f"the cosignature of {witness} is forged or its time was changed", file=name)
    if not times and not forged and trust.needs_witness and trust.witnesses:
        report.tampered(CHECK, "no known witness has cosigned it", file=name)
    is_verified = bool(times) or not (trust.needs_witness and trust.witnesses)
    return Seen(name, checkpoint, max(times, default=None), is_verified)


def _check_order(found: Sequence[Seen], report: Report) -> None:
    for before, after in pairwise(found):
        same = before.checkpoint.size == after.checkpoint.size
        if same and before.checkpoint.root != after.checkpoint.root:
            report.tampered(
                CONSISTENCY,
                f"two trees of {after.checkpoint.size} leaves: {before.file} and {after.file}",
                file=after.file,
                leaf=after.checkpoint.size,
            )
        if before.time and after.time and after.time < before.time:
            report.tampered(
                CHECK,
                f"cosigned at {shown(after.time)}, before the smaller tree of {before.file}",
                file=after.file,
            )


def _check_rollback(found: Sequence[Seen], report: Report) -> None:
    """The file `checkpoint` is the newest one."""
    own = next((seen for seen in found if seen.file == CHECKPOINT), None)
    if own and own.checkpoint.size < found[-1].checkpoint.size:
        report.tampered(
            CONSISTENCY,
            f"the log was cut: it has {own.checkpoint.size} leaves, {found[-1].file} has "
            f"{found[-1].checkpoint.size}",
            file=CHECKPOINT,
            leaf=own.checkpoint.size,
        )


def entries(
    files: Files, found: Sequence[Seen], span: tuple[int, int] | None, report: Report
) -> Iterator[tuple[int, bytes]]:
    """Yields index and bytes of each entry that is in the tree of the newest checkpoint.

    `span` limits them to the leaves [first, end) and those that share a tile with them.
    """
    newest = found[-1].checkpoint
    tree = Tiles(files.read, newest.size)
    _check_root(tree, newest, report)
    first, end = span or (0, newest.size)
    if end > newest.size:
        report.tampered(
            CONSISTENCY, f"the log was cut: it has {newest.size} leaves instead of {end}", leaf=newest.size
        )
    yield from _walked(tree, first, min(end, newest.size), report)
    _check_consistency(tree, found[:-1], report)


def _check_root(tree: Tiles, newest: Checkpoint, report: Report) -> None:
    try:
        if tree.root() != newest.root:
            report.tampered(TREE, f"the tiles do not give the root of the checkpoint of {newest.size} leaves")
    except MissingTileError as error:
        report.incomplete(TREE, error.problem, file=error.path)
    except TileError as error:
        report.tampered(TREE, error.problem, file=error.path)


def _walked(tree: Tiles, first: int, end: int, report: Report) -> Iterator[tuple[int, bytes]]:
    """Compares each tile with the tile above it, and each entry with its hash."""
    above: set[tuple[int, int]] = set()
    for index in range(first // tiles.WIDTH, -(-end // tiles.WIDTH)):
        above.add((1, index // tiles.WIDTH))
        _check_tile(tree, 0, index, report)
        yield from _entries_of(tree, index, report)
    while above:
        level = min(above)[0]
        for _, index in sorted(above):
            _check_tile(tree, level, index, report)
        above = {
            (level + 1, index // tiles.WIDTH) for _, index in above if tree.size >> tiles.HEIGHT * (level + 1)
        }


def _check_tile(tree: Tiles, level: int, index: int, report: Report) -> None:
    if not tiles.width(level, index, tree.size):
        return
    try:
        hashes = tree.tile(level, index)
        report.counts["tiles"] += 1
        if len(hashes) < tiles.WIDTH:
            return  # its hashes are in the root
        parent, at = divmod(index, tiles.WIDTH)
        if merkle.root(hashes) != tree.tile(level + 1, parent)[at]:
            report.tampered(
                TREE,
                f"its hashes do not give hash {at} of {tiles.path(level + 1, parent)}",
                file=tiles.path(level, index),
                leaf=index * tiles.WIDTH ** (level + 1),
                leaves=tiles.WIDTH ** (level + 1),
            )
    except MissingTileError as error:
        report.incomplete(TREE, error.problem, file=error.path)
    except TileError as error:
        report.tampered(TREE, error.problem, file=error.path)


def _entries_of(tree: Tiles, index: int, report: Report) -> Iterator[tuple[int, bytes]]:
    try:
        hashes, found = tree.tile(0, index), tree.entries(index)
    except MissingTileError as error:
        if tiles.ENTRIES in error.path:
            report.incomplete(
                TREE, "entries are missing", file=error.path, leaf=index * tiles.WIDTH, leaves=tiles.WIDTH
            )
        return
    except TileError as error:
        report.tampered(TREE, error.problem, file=error.path, leaf=index * tiles.WIDTH, leaves=tiles.WIDTH)
        return
    for at, (hash_, entry) in enumerate(zip(hashes, found, strict=True), index * tiles.WIDTH):
        if merkle.leaf_hash(entry) == hash_:
            report.counts["leaves"] += 1
            yield at, entry
        else:
            report.tampered(
                TREE,
                f"entry {at} does not give its hash in {tiles.path(0, index)}",
                file=tiles.path(tiles.ENTRIES, index),
                leaf=at,
                minute=_minute(entry),
            )


def _minute(entry: bytes) -> str | None:
    """The minute that an entry which is not in the tree claims to be of, to help the reader."""
    start = entry.find(b'"minute":"')
    return entry[start + 10 : start + 30].decode(errors="replace") if start >= 0 else None


def _check_consistency(tree: Tiles, older: Sequence[Seen], report: Report) -> None:
    for seen in older:
        try:
            if tree.root(seen.checkpoint.size) != seen.checkpoint.root:
                report.tampered(
                    CONSISTENCY,
                    f"its first {seen.checkpoint.size} leaves differ from the newest checkpoint",
                    file=seen.file,
                    leaf=seen.checkpoint.size,
                )
        except TileError as error:
            report.undetermined(
                CONSISTENCY, f"{seen.file} cannot be compared: {error.problem}", file=error.path
            )
