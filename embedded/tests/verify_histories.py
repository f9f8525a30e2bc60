"""Honest histories of a transparency log as bundles: hosts, log files, rows, checkpoints, a witness.

A history is made from a seed. It contains what happens to honest installations: rotated and truncated files,
rotated keys, records that arrive out of order and twice, late rows, minutes without rows, and minutes without
a checkpoint.
"""

import base64
import hashlib
import json
import random
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tailrace_verify import merkle, minutes, notes, rows, tiles
from tailrace_verify.chains import PREFIX
from tailrace_verify.trust import HostKey, Trust, key_id

START = datetime(2026, 11, 26, 10, 0, tzinfo=UTC)
ORIGIN, WITNESS = "tailrace/0f3a", "witness.example/w1"
TABLES = ("query_events", "audit_events")
COLUMNS = ["event_id", "instance", "sql"]


@dataclass
class Host:
    """A host with its key and log files: inode, path, start and end of the open range."""

    name: str
    key: Ed25519PrivateKey
    sequence: int = 0
    previous: str = ""
    files: dict[str, list[int]] = field(default_factory=dict)
    inode: int = 100

    @property
    def key_id(self) -> str:
        return key_id(self.key.public_key().public_bytes_raw())

    def sign(self, **payload: object) -> bytes:
        """Returns the next entry of this host."""
        self.sequence += 1
        document = {"host": self.name, "sequence": self.sequence, "previous": self.previous, **payload}
        text = json.dumps(document, separators=(",", ":"))
        self.previous = hashlib.sha256(text.encode()).hexdigest()
        return signed(text, self.key)


LEVELS = ("low", "medium", "high")


@dataclass(frozen=True)
class Alert:
    """A version of an alert; `level` is its number in LEVELS."""

    minute: str
    version: int
    raised: int
    level: int = 0
    count: int = 1
    metric: int = 1
    is_suppressed: bool = False
    fixed: str = "00"
    facts: str = "aa"

    def row(self, key: str, source: random.Random) -> list[object]:
        """Returns the row of a leaf."""
        numbers = [str(self.raised), LEVELS[self.level], str(self.count), str(self.metric)]
        state = [*numbers, str(int(self.is_suppressed)), self.fixed, self.facts]
        return [key, self.minute, self.version, source.randbytes(32).hex(), state]


@dataclass
class History:
    random: random.Random
    log: Ed25519PrivateKey
    witness: Ed25519PrivateKey
    hosts: list[Host]
    registered: dict[str, HostKey] = field(default_factory=dict)
    entries: list[bytes] = field(default_factory=list)
    sizes: list[tuple[int, int]] = field(default_factory=list)
    """Size and time of each checkpoint."""
    rows: dict[str, bytes] = field(default_factory=dict)
    parts: dict[tuple[str, int], int] = field(default_factory=dict)
    alerts: dict[str, Alert] = field(default_factory=dict)
    """The newest versions by key."""
    minute: int = 0

    def trust(self) -> Trust:
        """The keys that the auditor has: those of rotations are not among them."""
        witness = notes.key_of(WITNESS, self.witness, notes.COSIGNATURE)
        return Trust(notes.key_of(ORIGIN, self.log), (witness,), self.registered)

    def bundle(self) -> dict[str, bytes]:
        """Returns the files of the bundle."""
        files = {**self.rows, **log_files(self.entries, self.sizes, self.log, self.witness)}
        files["keys/log.vkey"] = notes.key_of(ORIGIN, self.log).vkey().encode()
        files["keys/witnesses/w1.vkey"] = self.trust().witnesses[0].vkey().encode()
        files["keys/hosts.json"] = json.dumps(registry(self.registered)).encode()
        files["scope.json"] = json.dumps(
            {
                "version": 1,
                "from": stamp(0),
                "to": stamp(self.minute),
                "first": 0,
                "end": len(self.entries),
                "tables": list(TABLES),
            }
        ).encode()
        return files


def made(seed: int, length: int = 0) -> History:
    """Returns an honest history; `length` are the minutes, by default 2 to 6."""
    source = random.Random(seed)
    keys = [Ed25519PrivateKey.from_private_bytes(source.randbytes(32)) for _ in range(4)]
    hosts = [Host(f"db{number}", key) for number, key in enumerate(keys[2 : 2 + source.randint(1, 2)])]
    history = History(source, keys[0], keys[1], hosts)
    for host in hosts:
        history.registered[host.key_id] = HostKey(host.name, host.key.public_key().public_bytes_raw())
    history.entries.append(entry(type="keys", hosts=registry(history.registered)))
    for _ in range(length or source.randint(2, 6)):
        _add_minute(history)
    _checkpoint(history)  # once a minute, also where the log did not grow
    return history


def _add_minute(history: History) -> None:
    source = history.random
    arrived = [each for host in history.hosts for each in _ranges(host, source)]
    for table in TABLES:
        if source.random() < 0.8:
            arrived.append(_rows(history, table, history.minute))
        if history.minute and source.random() < 0.2:
            arrived.append(_rows(history, table, source.randrange(history.minute)))
    if source.random() < 0.3:
        arrived.append(_versions(history))
    if (sent := _signed(history.entries + arrived)) and source.random() < 0.2:
        arrived.append(source.choice(sent))  # a collector sends a record again
    source.shuffle(arrived)
    history.entries += arrived
    history.minute += 1
    if history.minute == 1 or source.random() < 0.8:
        _checkpoint(history)


def _versions(history: History) -> bytes:
    """Returns the entry of new and changed alerts, as the job writes them."""
    source, found = history.random, []
    for key in source.sample([f"r/{number}" for number in range(9)], source.randint(1, 3)):
        for alert in _changes(history, key):
            found.append(alert.row(key, source))
            history.alerts[key] = alert
    return versions_entry(history.minute, found)


def versions_entry(minute: int, found: Sequence[Sequence[object]]) -> bytes:
    times = [stamp(minute), stamp(minute + 1)]
    return entry(type="versions", table="alerts", columns=COLUMNS, ingested=times, rows=found)


def _changes(history: History, key: str) -> list[Alert]:
    """An alert is raised or gets more matches; after a crash the job repeats some, perhaps as a new one."""
    source, version = history.random, 10 * history.minute
    if not (old := history.alerts.get(key)):
        fixed, facts = (source.randbytes(2).hex() for _ in range(2))
        raised = stamp(source.randint(0, history.minute))
        is_suppressed = source.random() < 0.2
        return [Alert(raised, version, version, is_suppressed=is_suppressed, fixed=fixed, facts=facts)]
    level = max(old.level, source.randint(0, 2))
    metric = max(old.metric, source.randint(1, 50))
    facts = source.randbytes(2).hex() if (level, metric) != (old.level, old.metric) else old.facts
    is_suppressed = old.is_suppressed and source.random() < 0.5
    more = replace(old, level=level, metric=metric, facts=facts, is_suppressed=is_suppressed)
    more = replace(more, count=old.count + source.randint(1, 9), version=version + 2)
    if source.random() < 0.8:
        return [more]
    raised = source.choice([old.raised, version])
    repeated = replace(old, count=1, level=0, metric=1, version=version + 1, raised=raised)
    return [repeated, replace(more, raised=raised)]


def _signed(entries: list[bytes]) -> list[bytes]:
    return [each for each in entries if each.startswith(b'{"type":"signed_range"')]


def _checkpoint(history: History) -> None:
    at = START + timedelta(minutes=history.minute, seconds=30 + len(history.sizes) % 30)
    history.sizes.append((len(history.entries), int(at.timestamp())))


def _ranges(host: Host, source: random.Random) -> list[bytes]:
    found = []
    for path in ("/log/slow.log", "/log/audit.log"):
        found += [_range(host, path, source) for _ in range(source.randint(0, 2))]
    if source.random() < 0.1:
        new = Ed25519PrivateKey.from_private_bytes(source.randbytes(32))
        public = base64.b64encode(new.public_key().public_bytes_raw()).decode()
        found.append(host.sign(at=host.sequence, new_key=public))
        host.key = new
    return [joined(found)] if len(found) > 1 and source.random() < 0.5 else found


def joined(entries: Sequence[bytes]) -> bytes:
    """Returns one entry with the records of several."""
    names = ("payload", "key", "signature")
    found = [[each[name] for name in names] for each in map(json.loads, entries)]
    text = json.dumps(found, separators=(",", ":")).encode()
    return entry(type="signed_ranges", records=base64.b64encode(zlib.compress(text)).decode())


def records(document: Mapping[str, object]) -> list[dict[str, str]]:
    """Returns the records of a parsed entry with payload, key and signature; none of another entry."""
    if document["type"] == "signed_range":
        return [document]
    if document["type"] != "signed_ranges":
        return []
    found = json.loads(zlib.decompress(base64.b64decode(document["records"])))
    return [dict(zip(("payload", "key", "signature"), each, strict=True)) for each in found]


def span(payload: Mapping[str, object]) -> dict[str, object]:
    """Returns the bytes that a payload signs."""
    return {"from": payload.get("earlier_from", payload["from"]), "to": payload["to"]}


def _range(host: Host, path: str, source: random.Random) -> bytes:
    """Signs the next record of a file: it grows, is closed, rotates or is truncated."""
    if path not in host.files:
        host.inode += 1
        host.files[path] = [host.inode, 0, 0]
    state = host.files[path]
    inode, start, end = state
    earlier = {}
    if source.random() < 0.3:
        earlier = {"earlier_from": start, "earlier_root": source.randbytes(32).hex()}
        start = max(end, start + 16384) + source.randint(0, 50_000)
        end = start + source.randint(1, 9000)
    elif start == end or source.random() < 0.9:
        end += source.randint(1, 9000)
    else:
        start, end = 0, source.randint(1, 500)  # copytruncate: the file begins again
    closed = end - start >= 16384 or source.random() < 0.1
    if closed and end - start < 16384:
        del host.files[path]  # rotated
    else:
        state[1:] = [end if closed else start, end]
    return host.sign(
        at=1_795_000_000_000_000 + host.sequence,
        cluster="shop",
        instance=host.name,
        source="slowlog",
        path=path,
        inode=inode,
        head_length=14,
        head_hash="0",
        **{"from": start, "to": end, "closed": closed, "sha256": source.randbytes(32).hex(), **earlier},
    )


def _rows(history: History, table: str, minute: int) -> bytes:
    part = history.parts[table, minute] = history.parts.get((table, minute), 0) + 1
    lines = [
        rows.canonical({"event_id": history.random.randrange(10**9), "instance": "db1", "sql": "SELECT ?"})
        for _ in range(history.random.randint(1, 6))
    ]
    lines.sort(key=merkle.leaf_hash)
    at = stamp(minute)
    history.rows[minutes.file_name(minutes.ROWS, table, at, part)] = b"".join(line + b"\n" for line in lines)
    history.rows[minutes.file_name(minutes.HASHES, table, at, part)] = b"".join(map(merkle.leaf_hash, lines))
    return rows_entry(table, at, part, lines)


def rows_entry(table: str, minute: str, part: int, lines: Sequence[bytes]) -> bytes:
    root = rows.minute_root(lines).hex()
    return entry(
        type="rows", table=table, minute=minute, part=part, rows=len(lines), root=root, columns=COLUMNS
    )


def entry(**document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def signed(text: str, key: Ed25519PrivateKey, name: str = "") -> bytes:
    """Returns the entry of a payload that a host's key signs."""
    signature = base64.b64encode(key.sign(PREFIX + text.encode())).decode()
    name = name or key_id(key.public_key().public_bytes_raw())
    return entry(type="signed_range", payload=text, key=name, signature=signature)


def registry(keys: dict[str, HostKey]) -> dict[str, dict]:
    return {
        name: {"host": key.host, "public_key": base64.b64encode(key.public).decode(), "replaces": None}
        for name, key in keys.items()
    }


def stamp(minute: int) -> str:
    return (START + timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%SZ")


def log_files(
    entries: Sequence[bytes],
    sizes: Sequence[tuple[int, int]],
    log: Ed25519PrivateKey,
    witness: Ed25519PrivateKey | None,
) -> dict[str, bytes]:
    """Returns tiles, entry bundles and checkpoints; without a witness they are not cosigned."""
    hashes = [merkle.leaf_hash(each) for each in entries]
    files = {}
    for level, index, width in tiles.tiles(len(entries)):
        span = 256**level
        nodes = (merkle.root(hashes[at * span : (at + 1) * span]) for at in _places(index, width))
        files[tiles.path(level, index, width)] = b"".join(nodes)
        if level == 0:
            bundle = tiles.pack([entries[at] for at in _places(index, width)])
            files[tiles.path(tiles.ENTRIES, index, width)] = bundle
    for size, time in sizes:
        text = notes.Checkpoint(ORIGIN, size, merkle.root(hashes[:size])).text()
        lines = [notes.sign(text, ORIGIN, log)]
        if witness:
            lines.append(notes.cosign(text, WITNESS, witness, time))
        files[f"checkpoints/{size:06d}"] = notes.assemble(text, lines)
    files["checkpoint"] = files.pop(f"checkpoints/{sizes[-1][0]:06d}")
    return files


def _places(index: int, width: int) -> range:
    return range(index * 256, index * 256 + width)
