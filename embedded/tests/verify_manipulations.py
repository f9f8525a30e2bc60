"""Manipulations of bundles by someone who has every password and the log's key, but no key of host
or witness.

Each takes a history and its bundle, changes the bundle, and returns the place that the verifier must name.
"""

import base64
import json
import random
from collections.abc import Callable
from dataclasses import replace

import verify_histories as histories
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from verify_histories import History

from tailrace_verify import merkle, minutes, notes, rows, tiles
from tailrace_verify.trust import HostKey, key_id

Bundle = dict[str, bytes]
Place = dict[str, object]
Manipulation = Callable[[History, Bundle, random.Random], Place | None]
"""Returns None if the history has nothing to manipulate in this way."""


def _rows_file(bundle: Bundle, source: random.Random) -> tuple[str, list[bytes], Place]:
    name = source.choice([name for name in sorted(bundle) if name.startswith("rows/")])
    match = minutes.NAME.fullmatch(name)
    minute = f"{match[2]}-{match[3]}-{match[4]}T{match[5]}:{match[6]}:00Z"
    return name, bundle[name].splitlines(), {"file": name, "table": match[1], "minute": minute}


def _write(bundle: Bundle, name: str, lines: list[bytes]) -> None:
    bundle[name] = b"".join(line + b"\n" for line in lines)


def row_changed(history: History, bundle: Bundle, source: random.Random) -> Place:
    name, lines, place = _rows_file(bundle, source)
    at = source.randrange(len(lines))
    lines[at] = lines[at].replace(b"SELECT", b"DELETE")
    _write(bundle, name, lines)
    return {**place, "row": at + 1}


def row_deleted(history: History, bundle: Bundle, source: random.Random) -> Place:
    name, lines, place = _rows_file(bundle, source)
    at = source.randrange(len(lines))
    del lines[at]
    _write(bundle, name, lines)
    return {**place, "row": at + 1}


def row_inserted(history: History, bundle: Bundle, source: random.Random) -> Place:
    name, lines, place = _rows_file(bundle, source)
    at = source.randint(0, len(lines))
    lines.insert(at, rows.canonical({"event_id": 1, "instance": "db1", "sql": "forged"}))
    _write(bundle, name, lines)
    return {**place, "row": at + 1}


def row_repeated(history: History, bundle: Bundle, source: random.Random) -> Place:
    name, lines, place = _rows_file(bundle, source)
    at = source.randrange(len(lines))
    lines.insert(at, lines[at])
    _write(bundle, name, lines)
    return {**place, "row": at + 2}


def rows_reordered(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    name, lines, place = _rows_file(bundle, source)
    if len(lines) < 2:
        return None
    at = source.randrange(1, len(lines))
    lines[at - 1], lines[at] = lines[at], lines[at - 1]
    _write(bundle, name, lines)
    return {**place, "row": at + 1}


def row_and_hashes_changed(history: History, bundle: Bundle, source: random.Random) -> Place:
    place = row_changed(history, bundle, source)
    lines = sorted(bundle[place["file"]].splitlines(), key=merkle.leaf_hash)
    _write(bundle, place["file"], lines)
    bundle[place["file"].replace("rows/", "hashes/").removesuffix(".jsonl")] = b"".join(rows.hashes(lines))
    del place["row"]
    return place


def minute_deleted(history: History, bundle: Bundle, source: random.Random) -> Place:
    name, _, place = _rows_file(bundle, source)
    del bundle[name]
    return place


def minute_replaced_by_an_old_backup(history: History, bundle: Bundle, source: random.Random) -> Place:
    name, lines, place = _rows_file(bundle, source)
    _write(bundle, name, lines[: len(lines) // 2])
    return place


def minute_invented(history: History, bundle: Bundle, source: random.Random) -> Place:
    at = histories.stamp(-1 - source.randrange(100))
    name = minutes.file_name(minutes.ROWS, "query_events", at)
    bundle[name] = b'{"forged":1}\n'
    return {"file": name, "minute": at, "table": "query_events"}


def _flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def _tile(bundle: Bundle, source: random.Random, level: str) -> str:
    return source.choice([name for name in sorted(bundle) if name.startswith(f"tile/{level}/")])


def tile_changed(history: History, bundle: Bundle, source: random.Random) -> Place:
    name = _tile(bundle, source, "0")
    at = source.randrange(len(bundle[name]))
    bundle[name] = _flip(bundle[name], at)
    return {"leaf": first_leaf(name) + at // 32}


def tile_cut(history: History, bundle: Bundle, source: random.Random) -> Place:
    name = _tile(bundle, source, "0")
    bundle[name] = bundle[name][:-32]
    return {"file": name}


def tile_deleted(history: History, bundle: Bundle, source: random.Random) -> Place:
    name = _tile(bundle, source, "entries")
    del bundle[name]
    return {"file": name}


def entry_changed(history: History, bundle: Bundle, source: random.Random) -> Place:
    name = _tile(bundle, source, "entries")
    found = tiles.unpack(bundle[name])
    at = source.randrange(len(found))
    found[at] = _flip(found[at], source.randrange(len(found[at])))
    bundle[name] = tiles.pack(found)
    return {"leaf": first_leaf(name) + at}


def entries_swapped(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    name = _tile(bundle, source, "entries")
    found = tiles.unpack(bundle[name])
    if len(found) < 2:
        return None
    at = source.randrange(1, len(found))
    if found[at - 1] == found[at]:
        return None  # a record that was sent again: nothing changes
    found[at - 1], found[at] = found[at], found[at - 1]
    bundle[name] = tiles.pack(found)
    return {"leaf": first_leaf(name) + at}


def first_leaf(name: str) -> int:
    """The first leaf of a tile of level 0 or of an entry bundle."""
    return int(name.split("/")[2].split(".")[0]) * 256


def resigned(history: History, bundle: Bundle, entries: list[bytes], witness: bool = False) -> None:
    """Writes another log, signed with the log's key. `witness`: the log was like this from its start, and the
    witness, which sees no entries, cosigned it."""
    for name in list(bundle):
        if name.startswith(("tile/", "checkpoint")):
            del bundle[name]
    older = [(size, time) for size, time in history.sizes[:-1] if size < len(entries)]
    sizes = [*older, (len(entries), history.sizes[-1][1])]
    made = histories.log_files(entries, sizes, history.log, history.witness if witness else None)
    bundle.update(made)


def row_changed_and_log_written_again(history: History, bundle: Bundle, source: random.Random) -> Place:
    name, lines, place = _rows_file(bundle, source)
    lines[0] = lines[0].replace(b"SELECT", b"DELETE")
    lines.sort(key=merkle.leaf_hash)
    part = int(minutes.NAME.fullmatch(name)[7] or 1)
    bundle[minutes.file_name(minutes.HASHES, place["table"], place["minute"], part)] = b"".join(
        rows.hashes(lines)
    )
    _write(bundle, name, lines)
    forged = histories.rows_entry(place["table"], place["minute"], part, lines)
    same = json.loads(forged)
    entries = [forged if _is_same_part(json.loads(each), same) else each for each in history.entries]
    resigned(history, bundle, entries)
    return {"file": "checkpoint"}


def _is_same_part(one: dict, other: dict) -> bool:
    return all(one.get(name) == other[name] for name in ("type", "table", "minute", "part"))


def checkpoint_of_another_tree(history: History, bundle: Bundle, source: random.Random) -> Place:
    """The cosignatures stay from the real checkpoint."""
    note = notes.parse(bundle["checkpoint"])
    checkpoint = replace(notes.parse_checkpoint(note.text), root=source.randbytes(32))
    cosigned = bundle["checkpoint"].decode().splitlines(keepends=True)[-1]
    text = checkpoint.text()
    bundle["checkpoint"] = notes.assemble(text, [notes.sign(text, histories.ORIGIN, history.log), cosigned])
    return {"file": "checkpoint"}


def clock_turned_back(history: History, bundle: Bundle, source: random.Random) -> Place:
    name = source.choice([name for name in sorted(bundle) if name.startswith("checkpoint")])
    *lines, cosigned = bundle[name].decode().splitlines(keepends=True)
    head, encoded = cosigned.rsplit(" ", 1)
    data = bytearray(base64.b64decode(encoded))
    time = int.from_bytes(data[4:12], "big") - source.randint(1, 10**6)
    data[4:12] = time.to_bytes(8, "big")
    bundle[name] = "".join([*lines, f"{head} {base64.b64encode(data).decode()}\n"]).encode()
    return {"file": name}


def log_rolled_back(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    """An old checkpoint, which is cosigned, in place of the newest, which is gone."""
    older = [name for name in sorted(bundle) if name.startswith("checkpoints/")]
    if not older:
        return None
    name = source.choice(older)
    bundle["checkpoint"] = bundle[name]
    for other in older:
        if other >= name:
            del bundle[other]
    return {"leaf": int(name.split("/")[1])}


def log_truncated(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    if len(history.entries) < 2:
        return None
    size = source.randrange(1, len(history.entries))
    resigned(history, bundle, history.entries[:size])
    return {"leaf": size}


def log_key_swapped(history: History, bundle: Bundle, source: random.Random) -> Place:
    other = Ed25519PrivateKey.from_private_bytes(source.randbytes(32))
    bundle.update(histories.log_files(history.entries, history.sizes, other, history.witness))
    bundle["keys/log.vkey"] = notes.key_of(histories.ORIGIN, other).vkey().encode()
    return {"file": "keys/log.vkey"}


def witness_key_swapped(history: History, bundle: Bundle, source: random.Random) -> Place:
    other = Ed25519PrivateKey.from_private_bytes(source.randbytes(32))
    bundle.update(histories.log_files(history.entries, history.sizes, history.log, other))
    key = notes.key_of(histories.WITNESS, other, notes.COSIGNATURE)
    bundle["keys/witnesses/w1.vkey"] = key.vkey().encode()
    return {"file": "keys/witnesses"}


def host_key_swapped(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    """The attacker registers a key of a host and signs a range with it; the witness cosigns."""
    other = Ed25519PrivateKey.from_private_bytes(source.randbytes(32))
    public = other.public_key().public_bytes_raw()
    host = source.choice(history.hosts)
    registered = {**history.registered, key_id(public): HostKey(host.name, public)}
    forged = {"host": host.name, "sequence": 1, "previous": "", "path": "/log/slow.log", "from": 0, "to": 9}
    entries = [
        *history.entries,
        histories.entry(type="keys", hosts=histories.registry(registered)),
        histories.signed(json.dumps(forged), other),
    ]
    bundle["keys/hosts.json"] = json.dumps(histories.registry(registered)).encode()
    resigned(history, bundle, entries, witness=True)
    return {"host": host.name, "key": key_id(public), "leaf": len(entries) - 1}


def log_truncated_at_its_source(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    """A person on the host renames and truncates a log that is written; its census signs what it finds."""
    host = source.choice(history.hosts)
    signed = [(path, each) for path, each in sorted(host.files.items()) if each[2] > each[1]]
    open_ones = [(path, each) for path, each in signed if each[2] > 90]  # else it may have grown instead
    if not open_ones:
        return None
    path, (inode, _, _) = source.choice(open_ones)
    file = {"cluster": "shop", "instance": host.name, "source": "slowlog", "inode": inode}
    cut = {"from": 0, "to": source.randint(1, 90), "closed": False, "sha256": source.randbytes(32).hex()}
    entries = [*history.entries, host.sign(at=1_795_000_000_000_000, path=f"{path}.old", **file, **cut)]
    resigned(history, bundle, entries, witness=True)
    return {"leaf": len(entries) - 1, "host": host.name, "path": f"{path}.old", "from": 0, "to": cut["to"]}


def witness_rolled_back(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    """The state of the witness goes back, so that it cosigns a second history; the auditor has the first."""
    kept = {name: data for name, data in bundle.items() if name.startswith("checkpoints/")}
    if not kept:
        return None
    name = source.choice(sorted(kept))
    size = int(name.split("/")[1])
    at = source.randrange(size)
    forged = histories.rows_entry("query_events", histories.stamp(-1), 1, [b"{}"])
    resigned(history, bundle, [*history.entries[:at], forged, *history.entries[at + 1 :]], witness=True)
    bundle[name] = kept[name]
    return {"file": name, "leaf": size}


def minute_recorded_twice(history: History, bundle: Bundle, source: random.Random) -> Place:
    """Another digest of a minute that the log contains already; the witness cosigns."""
    name, lines, place = _rows_file(bundle, source)
    part = int(minutes.NAME.fullmatch(name)[7] or 1)
    forged = histories.rows_entry(place["table"], place["minute"], part, lines[:-1])
    entries = [*history.entries, forged]
    resigned(history, bundle, entries, witness=True)
    return {"leaf": len(entries) - 1, "table": place["table"], "minute": place["minute"]}


ALL: tuple[Manipulation, ...] = (
    *(row_changed, row_deleted, row_inserted, row_repeated, rows_reordered, row_and_hashes_changed),
    *(minute_deleted, minute_replaced_by_an_old_backup, minute_invented, minute_recorded_twice),
    *(tile_changed, tile_cut, tile_deleted, entry_changed, entries_swapped),
    *(row_changed_and_log_written_again, checkpoint_of_another_tree, clock_turned_back),
    *(log_rolled_back, log_truncated, log_key_swapped, witness_key_swapped, host_key_swapped),
    *(log_truncated_at_its_source, witness_rolled_back),
)
