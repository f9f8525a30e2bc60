"""The entries of the transparency log: signed ranges, digests of rows, registered host keys."""

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from tailrace_verify.leaves import MAX_RECORDS

MAX_KEYS_BYTES = 50_000
MAX_VERSIONS_BYTES = 50_000
MAX_RECORDS_BYTES = 100_000
MAX_ENTRY_BYTES = 65_535
"""What a bundle of entries can store."""
Json = Mapping[str, object]


def signed_ranges(found: Sequence[Json]) -> Iterator[bytes]:
    """Yields the entries of signed payloads with their signatures as they were received.

    Records have much in common, so several are in one entry and compressed, unless they do not fit.
    """
    part: list[Json] = []
    size = 0
    for row in found:
        length = len(str(row["payload"]).encode())
        if part and (len(part) == MAX_RECORDS or size + length > MAX_RECORDS_BYTES):
            yield from _signed_ranges(part)
            part, size = [], 0
        part.append(row)
        size += length
    if part:
        yield from _signed_ranges(part)


def _signed_ranges(found: Sequence[Json]) -> Iterator[bytes]:
    names = ("payload", "key", "signature")
    text = _entry([[row[name] for name in names] for row in found])
    records = base64.b64encode(zlib.compress(text, 9)).decode()
    entry = _entry({"type": "signed_ranges", "records": records})
    singles = [_entry({"type": "signed_range", **{name: row[name] for name in names}}) for row in found]
    yield from [entry] if len(entry) < min(MAX_ENTRY_BYTES, sum(map(len, singles))) else singles


def mismatch(row: Json) -> bytes:
    """Returns the entry which says that other bytes arrived than those that a record signs, and where."""
    names = ("key", "sequence", "payload_sha256", "status", "from", "to")
    return _entry({"type": "range_result", **{name: row[name] for name in names}})


def rows(
    table: str,
    minute: int,
    part: int,
    count: int,
    root: bytes,
    columns: Sequence[str],
    ingested: tuple[int, int],
) -> bytes:
    """Returns the entry of rows of one table and minute.

    `part` counts from 1; `columns` are those of the rows' canonical form. The rows are those with
    `ingested_at` in [from, to), in seconds since 1970 UTC: so a verifier tells the parts of a minute apart.
    """
    return _entry(
        {
            "type": "rows",
            "table": table,
            "minute": iso(minute),
            "part": part,
            "rows": count,
            "root": root.hex(),
            "columns": list(columns),
            "ingested": [iso(second) for second in ingested],
        }
    )


def versions(
    table: str, found: Sequence[Json], columns: Sequence[str], ingested: tuple[int, int]
) -> Iterator[bytes]:
    """Yields the entries of rows that newer rows replace; several, if one would be too long.

    `found` has key, minute (seconds since 1970 UTC), version, hash (hex) and state_texts of each row that was
    stored in `ingested`.
    """
    head = {"type": "versions", "table": table, "columns": list(columns)}
    head["ingested"] = [iso(second) for second in ingested]
    part: list[list[object]] = []
    size = 0
    for row in found:
        each = [row["key"], iso(int(row["minute"])), int(row["version"]), row["hash"], row["state_texts"]]
        length = len(_entry(each)) + 1
        if part and size + length > MAX_VERSIONS_BYTES:
            yield _entry({**head, "rows": part})
            part, size = [], 0
        part.append(each)
        size += length
    if part:
        yield _entry({**head, "rows": part})


def keys(before: Json, now: Json) -> Iterator[bytes]:
    """Yields entries with the registered keys that are new or changed; several, if one would be too long."""
    part: dict[str, object] = {}
    size = 0
    for name, key in now.items():
        if before.get(name) != key:
            length = len(_entry({name: key}))
            if part and size + length > MAX_KEYS_BYTES:
                yield _entry({"type": "keys", "hosts": part})
                part, size = {}, 0
            part[name] = key
            size += length
    if part:
        yield _entry({"type": "keys", "hosts": part})


def iso(second: int) -> str:
    """Returns a time as `2026-11-26T10:31:00Z`."""
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _entry(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
