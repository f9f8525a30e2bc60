"""Collects new entries from ClickHouse: signed ranges, and the rows of each table and minute.

A table is read by `ingested_at`, the second of the insert, up to a second before which all rows can be read
(tailrace.clickhouse.replica_progress). So each row is in exactly one leaf, however late its event is. A
projection has the counts by second and minute; ClickHouse computes the hashes of rows, which are not stored.
"""

import io
import json
import struct
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.clickhouse.replica_progress import ReplicaProgress
from tailrace.errors import ReportedError
from tailrace.transparency import leaves, sequences
from tailrace.transparency.store import Batch, Minute, Store
from tailrace_verify import rows as canonical_rows
from tailrace_verify import versions
from tailrace_verify.leaves import REPLACED, TABLES

RANGES = "signed_ranges"
KEYS = "keys"
MAX_ROWS = 500_000
"""Rows of a table in one batch, unless one second has more; 36 bytes of memory each."""
MAX_CELLS = 200_000
MAX_RANGES = 20_000
MAX_PAYLOAD = 60_000
MAX_VERSIONS = 50_000
BROKEN, MISMATCH = "broken_chain", "mismatch"
ANCHORED, MISMATCHED, BROKEN_PAYLOADS = "sequences ", "mismatches ", "broken "
FORGED = ("bad_signature", "unknown_key")
"""States of signed ranges that no registered key has signed."""
HASH = struct.Struct("<I32s")

COLUMNS = """
SELECT table, name, type FROM system.columns
WHERE database = 'tailrace' AND table IN {tables:Array(String)} AND default_kind IN ('', 'DEFAULT')
"""
CELLS = """
SELECT toUnixTimestamp(ingested_at) AS second, toUnixTimestamp(toStartOfMinute(event_time)) AS minute,
    count() AS rows
FROM tailrace.{table}
WHERE ingested_at >= toDateTime({{from:UInt32}}, 'UTC') AND ingested_at < toDateTime({{until:UInt32}}, 'UTC')
GROUP BY ingested_at, toStartOfMinute(event_time) ORDER BY second LIMIT {limit}
"""
HASHES = """
SELECT toUInt32(toUnixTimestamp(toStartOfMinute(event_time))) AS minute,
    SHA256(concat('\\0', {line})) AS hash
FROM tailrace.{table}
WHERE ingested_at >= toDateTime({{from:UInt32}}, 'UTC') AND ingested_at < toDateTime({{until:UInt32}}, 'UTC')
    AND event_time >= toDateTime64({{first:UInt32}}, 6, 'UTC')
    AND event_time < toDateTime64({{last:UInt32}}, 6, 'UTC')
ORDER BY minute, hash
SETTINGS {settings}
FORMAT RowBinary
"""
SIGNED = """
SELECT payload, payload_sha256, key, signature, sequence, status, from_offset AS `from`, to_offset AS `to`,
    toUnixTimestamp(ingested_at) AS second, length(payload) > {longest} AS is_long
FROM tailrace.signed_ranges
WHERE ingested_at >= toDateTime({{from:UInt32}}, 'UTC') AND ingested_at < toDateTime({{until:UInt32}}, 'UTC')
    AND status NOT IN {{forged:Array(String)}}
ORDER BY second, key, sequence, from_offset LIMIT {limit}
"""
VERSIONS = """
SELECT {select}, {state}
FROM tailrace.{table}
WHERE ingested_at >= toDateTime({{from:UInt32}}, 'UTC') AND ingested_at < toDateTime({{until:UInt32}}, 'UTC')
ORDER BY second, key, version, hash LIMIT {limit}
SETTINGS {settings}
"""


class CollectError(ReportedError):
    """The entries cannot be collected now; the message states why."""


@dataclass(frozen=True)
class Cell:
    """Rows of one second of inserts and one minute of events."""

    second: int
    minute: int
    rows: int


class Collector:
    """Reads one ClickHouse. `keys_file` contains the registered host keys, if it exists.

    `servers` are all its servers, if it has replicas or shards; `clickhouse` may then be any of them.
    """

    def __init__(
        self,
        clickhouse: ClickHouse,
        store: Store,
        keys_file: Path,
        tables: Sequence[str] = TABLES,
        servers: Sequence[ClickHouse] = (),
    ) -> None:
        self._clickhouse, self._store, self._keys_file = clickhouse, store, keys_file
        self._tables = tables
        self._progress = ReplicaProgress(servers or (clickhouse,), (RANGES, *REPLACED, *tables))

    def collect(self) -> Batch:
        """Returns the next entries.

        Raises ClickHouseError, CollectError, ReplicaError, OSError, ValueError.
        """
        batch = Batch()
        self._keys(batch)
        columns = self._columns()
        until = self.until()
        parts = [self._ranges(batch, until)] if RANGES in columns else []
        parts += [
            self._rows(batch, table, columns[table], until) for table in self._tables if table in columns
        ]
        parts += [
            self._versions(batch, table, columns[table], until) for table in REPLACED if table in columns
        ]
        return Batch(batch.entries, batch.minutes, batch.values, all(parts))

    def until(self) -> int:
        """Returns the second before which every inserted row can be read, in seconds since 1970 UTC.

        Raises ReplicaError, ClickHouseError, OSError.
        """
        return self._progress.until()

    def waiting(self) -> dict[str, tuple[int, int]]:
        """Returns the rows and minutes by table that are not in the log yet."""
        return {table: self._waiting(table) for table in self._tables}

    def _waiting(self, table: str) -> tuple[int, int]:
        cells = self._cells(table, self._position(table), (1 << 32) - 1)
        return sum(cell.rows for cell in cells), len({cell.minute for cell in cells})

    def differing(self, table: str, since: int) -> dict[int, tuple[int, int]]:
        """Returns minutes from `since` on with another number of rows in the table than in the log.

        The values are both numbers. Rows that wait for their leaf do not count.
        """
        stored: dict[int, int] = defaultdict(int)
        for cell in self._cells(table, 0, self._position(table)):
            if cell.minute >= since:
                stored[cell.minute] += cell.rows
        anchored = self._store.anchored(table, since)
        minutes = sorted({*stored, *anchored})
        pairs = {minute: (stored.get(minute, 0), anchored.get(minute, 0)) for minute in minutes}
        return {minute: pair for minute, pair in pairs.items() if pair[0] != pair[1]}

    def _keys(self, batch: Batch) -> None:
        if not self._keys_file.exists():
            return
        before, now = self._store.get(KEYS, {}), json.loads(self._keys_file.read_text())
        batch.entries.extend(leaves.keys(before, now))
        if now != before:
            batch.values[KEYS] = now

    def _columns(self) -> dict[str, dict[str, str]]:
        """Returns the types of the stored columns by table, without those that are computed from others."""
        columns = defaultdict(dict)
        for row in self._clickhouse.rows(COLUMNS, {"tables": [RANGES, *REPLACED, *self._tables]}):
            columns[row["table"]][row["name"]] = row["type"]
        return columns

    def _position(self, table: str) -> int:
        return self._store.get(f"position {table}", 0)

    def _ranges(self, batch: Batch, until: int) -> bool:
        """Adds signed ranges; returns whether these are all."""
        position = self._position(RANGES)
        if until <= position:
            return True
        query = SIGNED.format(longest=MAX_PAYLOAD, limit=MAX_RANGES)
        found = self._clickhouse.rows(query, {"from": position, "until": until, "forged": list(FORGED)})
        until, taken = _whole_seconds(found, until, MAX_RANGES)
        if long := [row for row in taken if row["is_long"]]:
            raise CollectError(f"a signed range of key {long[0]['key']} has more than {MAX_PAYLOAD} bytes")
        batch.entries.extend(leaves.signed_ranges([row for row in taken if self._is_new(batch, row)]))
        mismatches = (row for row in taken if row["status"] == MISMATCH)
        batch.entries.extend(
            leaves.mismatch(row)
            for row in mismatches
            if self._is_first(batch, f"{MISMATCHED}{row['key']} {row['from']}", row)
        )
        batch.values[f"position {RANGES}"] = until
        return len(found) < MAX_RANGES

    def _versions(self, batch: Batch, table: str, columns: Iterable[str], until: int) -> bool:
        """Adds the versions of rows of a table; returns whether these are all."""
        position = self._position(table)
        if until <= position:
            return True
        names = canonical_rows.checked_columns(columns)
        query = VERSIONS.format(limit=MAX_VERSIONS, **versions.query(table, names))
        found = self._clickhouse.rows(query, {"from": position, "until": until})
        until, taken = _whole_seconds(found, until, MAX_VERSIONS)
        batch.entries.extend(leaves.versions(table, taken, names, (position, until)))
        batch.values[f"position {table}"] = until
        return len(found) < MAX_VERSIONS

    def _is_new(self, batch: Batch, row: Row) -> bool:
        """Returns whether a signed range is in no leaf yet: the job stores one again if its state changes.

        Another payload with the number of one is new as well: it is evidence of a fork. A record that signs
        several ranges may have several rows.
        """
        is_first = self._is_first(batch, f"{ANCHORED}{row['key']}", row)
        if row["status"] != BROKEN:
            return is_first
        is_first_of_payload = self._is_first(
            batch, f"{BROKEN_PAYLOADS}{row['key']} {row['payload_sha256']}", row
        )
        return is_first or is_first_of_payload

    def _is_first(self, batch: Batch, name: str, row: Row) -> bool:
        """Adds the number of a signed range to those of this name; returns whether it was not there."""
        anchored = batch.values.setdefault(name, self._store.get(name, []))
        return sequences.add(anchored, row["sequence"])

    def _rows(self, batch: Batch, table: str, columns: Mapping[str, str], until: int) -> bool:
        """Adds the leaves of a table; returns whether these are all."""
        position = self._position(table)
        if until <= position:
            return True
        cells = self._cells(table, position, until)
        taken, end = _bounded(cells, until)
        counts = defaultdict(int)
        for cell in taken:
            counts[cell.minute] += cell.rows
        hashes = self._hashes(table, columns, (position, end), counts) if counts else {}
        for minute, count in sorted(counts.items()):
            if len(hashes.get(minute, ())) != count:
                raise CollectError(f"{table}: rows of {leaves.iso(minute)} changed while they were read")
            self._leaf(batch, table, minute, hashes[minute], columns, (position, end))
        batch.values[f"position {table}"] = end
        return len(taken) == len(cells) < MAX_CELLS

    def _leaf(
        self,
        batch: Batch,
        table: str,
        minute: int,
        hashes: Sequence[bytes],
        columns: Iterable[str],
        ingested: tuple[int, int],
    ) -> None:
        part = self._store.parts(table, minute) + 1
        root = canonical_rows.root_of_hashes(hashes)
        names = canonical_rows.checked_columns(columns)
        batch.minutes.append(Minute(table, minute, len(hashes), len(batch.entries)))
        batch.entries.append(leaves.rows(table, minute, part, len(hashes), root, names, ingested))

    def _cells(self, table: str, start: int, until: int) -> list[Cell]:
        query = CELLS.format(table=table, limit=MAX_CELLS)
        found = self._clickhouse.rows(query, {"from": start, "until": until})
        return [Cell(row["second"], row["minute"], row["rows"]) for row in found]

    def _hashes(
        self, table: str, types: Mapping[str, str], ingested: tuple[int, int], counts: Mapping[int, int]
    ) -> dict[int, list[bytes]]:
        """Returns the leaf hashes of rows by minute; `types` are those of the columns."""
        settings = ", ".join(f"{name} = {value!r}" for name, value in canonical_rows.SETTINGS.items())
        query = HASHES.format(table=table, line=canonical_rows.line(types), settings=settings)
        answer = io.BytesIO()
        times = {"from": ingested[0], "until": ingested[1], "first": min(counts), "last": max(counts) + 60}
        self._clickhouse.copy(query, answer, times)
        if len(answer.getbuffer()) % HASH.size:
            raise CollectError(f"{table}: ClickHouse sent an incomplete answer; is its disk full?")
        hashes = defaultdict(list)
        for minute, digest in HASH.iter_unpack(answer.getbuffer()):
            hashes[minute].append(digest)
        return hashes


def _bounded(cells: Sequence[Cell], until: int) -> tuple[Sequence[Cell], int]:
    """Returns the first cells with about MAX_ROWS rows, whole seconds only, and the second where they end."""
    rows = 0
    for number, cell in enumerate(cells):
        is_last_of_limit = len(cells) == MAX_CELLS and cell.second == cells[-1].second
        if number and cell.second != cells[number - 1].second and (rows >= MAX_ROWS or is_last_of_limit):
            return cells[:number], cell.second
        rows += cell.rows
    return cells, until


def _whole_seconds(rows: Sequence[Row], until: int, limit: int) -> tuple[int, Sequence[Row]]:
    """Returns the rows without those of the last second if the limit may have cut it, and where they end."""
    if len(rows) < limit:
        return until, rows
    last = rows[-1]["second"]
    if rows[0]["second"] == last:
        raise CollectError(f"more than {limit} signed ranges or alerts were stored in one second")
    return last, [row for row in rows if row["second"] != last]
