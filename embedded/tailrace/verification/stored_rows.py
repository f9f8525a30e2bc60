"""Rows of ClickHouse, or their leaf hashes, by the leaf of the transparency log that covers them."""

import io
import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tailrace.clickhouse.client import ClickHouse
from tailrace.errors import ReportedError
from tailrace_verify import rows
from tailrace_verify.check import moment
from tailrace_verify.leaves import RowsLeaf

MAX_ROWS = 500_000
"""Rows of one query, unless one minute has more."""
HEAD = struct.Struct("<2I")
HASH_BYTES = 32
ReadValue = Callable[[memoryview, int], tuple[bytes, int]]
"""Returns the value at an offset, and the offset after it."""

QUERY = """
SELECT toUInt32(toUnixTimestamp(toStartOfMinute(event_time))), toUInt32(toUnixTimestamp(ingested_at)), {value}
FROM tailrace.{table}
WHERE event_time >= toDateTime64({{first:UInt32}}, 6, 'UTC')
    AND event_time < toDateTime64({{end:UInt32}}, 6, 'UTC')
SETTINGS {settings}
FORMAT RowBinary
"""
COUNTS = """
SELECT toUnixTimestamp(toStartOfMinute(event_time)) AS minute, toUnixTimestamp(ingested_at) AS second,
    count() AS rows
FROM tailrace.{table}
WHERE {condition}
GROUP BY toStartOfMinute(event_time), ingested_at
"""
NO_MINUTE = """
SELECT count() AS rows FROM tailrace.{table}
WHERE event_time < toDateTime64('1970-01-01 00:00:00', 6, 'UTC')
    OR event_time >= toDateTime64('2106-02-07 06:28:00', 6, 'UTC')
"""
COLUMNS = """
SELECT table, name FROM system.columns
WHERE database = 'tailrace' AND table IN {tables:Array(String)} AND default_kind IN ('', 'DEFAULT')
    AND (database, table) IN (
        SELECT database, name FROM system.tables WHERE has_own_data OR engine = 'Distributed')
"""


class StoredRowsError(ReportedError):
    """ClickHouse's answer is cut; the message states where."""


@dataclass(frozen=True)
class StoredRows:
    """Reads the rows of leaves. All leaves of a call have the same table and columns."""

    clickhouse: ClickHouse

    def hashes(self, leaves: Iterable[RowsLeaf]) -> Iterator[tuple[RowsLeaf, list[bytes]]]:
        """Yields each leaf with the leaf hashes of its rows, which ClickHouse computes."""
        yield from self._values(leaves, "SHA256(concat('\\0', {line}))", _hash)

    def lines(self, leaves: Iterable[RowsLeaf]) -> Iterator[tuple[RowsLeaf, list[bytes]]]:
        """Yields each leaf with its rows in canonical form."""
        yield from self._values(leaves, "{line}", _string)

    def counts(self, table: str, first: datetime | None, end: datetime | None) -> dict[int, dict[int, int]]:
        """Returns the rows of [first, end) by minute and second of the insert, in seconds since 1970 UTC."""
        bounds = {name: int(at.timestamp()) for name, at in (("first", first), ("end", end)) if at}
        compared = {"first": ">=", "end": "<"}
        conditions = [
            f"event_time {compared[name]} toDateTime64({{{name}:UInt32}}, 6, 'UTC')" for name in bounds
        ]
        query = COUNTS.format(table=table, condition=" AND ".join(conditions) or "1")
        found: dict[int, dict[int, int]] = defaultdict(dict)
        for row in self.clickhouse.rows(query, bounds):
            found[row["minute"]][row["second"]] = int(row["rows"])
        return found

    def rows_at_no_minute(self, table: str) -> int:
        """Returns the number of rows whose time a DateTime cannot have, so that it has no minute."""
        (row,) = self.clickhouse.rows(NO_MINUTE.format(table=table))
        return int(row["rows"])

    def columns(self, tables: Sequence[str]) -> dict[str, set[str]]:
        """Returns the stored columns of the tables that store rows: neither of views, nor computed ones."""
        found: dict[str, set[str]] = defaultdict(set)
        for row in self.clickhouse.rows(COLUMNS, {"tables": list(tables)}):
            found[row["table"]].add(row["name"])
        return found

    def _values(
        self, leaves: Iterable[RowsLeaf], value: str, read: ReadValue
    ) -> Iterator[tuple[RowsLeaf, list[bytes]]]:
        by_columns: dict[tuple[str, tuple[str, ...]], list[RowsLeaf]] = defaultdict(list)
        for leaf in leaves:
            by_columns[leaf.table, tuple(leaf.columns)].append(leaf)
        for (table, columns), each in by_columns.items():
            names = ", ".join(f"`{name}`" for name in rows.checked_columns(columns))
            query = QUERY.format(
                value=value.format(line=f"formatRowNoNewline('JSONEachRow', {names})"),
                table=table,
                settings=", ".join(f"{name} = {setting!r}" for name, setting in rows.SETTINGS.items()),
            )
            for some in _batches(sorted(each, key=lambda leaf: (leaf.minute, leaf.part))):
                yield from self._batch(query, some, read)

    def _batch(
        self, query: str, leaves: Sequence[RowsLeaf], read: ReadValue
    ) -> Iterator[tuple[RowsLeaf, list[bytes]]]:
        times = {"first": seconds(leaves[0].minute), "end": seconds(leaves[-1].minute) + 60}
        answer = io.BytesIO()
        self.clickhouse.copy(query, answer, times)
        found: dict[int, list[tuple[int, bytes]]] = defaultdict(list)
        for minute, second, value in _records(answer.getbuffer(), read):
            found[minute].append((second, value))
        for leaf in leaves:
            first, end = interval(leaf)
            yield leaf, [value for at, value in found[seconds(leaf.minute)] if first <= at < end]


def seconds(time: str) -> int:
    """Returns a time such as 2026-11-26T10:31:00Z as seconds since 1970 UTC."""
    return int(moment(time).timestamp())


def interval(leaf: RowsLeaf) -> tuple[int, int]:
    """Returns the seconds of insert [first, end) of a leaf's rows; a leaf without them has all."""
    if len(leaf.ingested) != 2:
        return 0, 1 << 32
    return seconds(leaf.ingested[0]), seconds(leaf.ingested[1])


def _batches(leaves: Sequence[RowsLeaf]) -> Iterator[list[RowsLeaf]]:
    """Divides leaves into runs of about MAX_ROWS rows; the parts of a minute stay together."""
    some: list[RowsLeaf] = []
    for leaf in leaves:
        is_other_minute = bool(some) and some[-1].minute != leaf.minute
        if is_other_minute and sum(each.rows for each in some) + leaf.rows > MAX_ROWS:
            yield some
            some = []
        some.append(leaf)
    if some:
        yield some


def _records(data: memoryview, read: ReadValue) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    while at < len(data):
        try:
            minute, second = HEAD.unpack_from(data, at)
            value, at = read(data, at + HEAD.size)
        except (struct.error, IndexError):
            raise StoredRowsError("ClickHouse sent an incomplete answer; is its disk full?") from None
        yield minute, second, value


def _hash(data: memoryview, at: int) -> tuple[bytes, int]:
    return _taken(data, at, HASH_BYTES)


def _string(data: memoryview, at: int) -> tuple[bytes, int]:
    """Reads a String of RowBinary: its length in LEB128, and its bytes."""
    length = shift = 0
    while True:
        byte = data[at]
        at += 1
        length |= (byte & 0x7F) << shift
        if byte < 0x80:
            return _taken(data, at, length)
        shift += 7


def _taken(data: memoryview, at: int, length: int) -> tuple[bytes, int]:
    if at + length > len(data):
        raise IndexError
    return bytes(data[at : at + length]), at + length


def by_table(leaves: Mapping[object, RowsLeaf]) -> dict[str, list[RowsLeaf]]:
    """Returns the leaves by table."""
    found: dict[str, list[RowsLeaf]] = defaultdict(list)
    for leaf in leaves.values():
        found[leaf.table].append(leaf)
    return found
