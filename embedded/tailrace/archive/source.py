"""Rows of ClickHouse that are to be archived, in slices of bounded size."""

import io
import struct
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import pyarrow as pa

from tailrace.archive import columns, tables
from tailrace.archive.tables import ArchivedTable
from tailrace.clickhouse.client import ClickHouse
from tailrace.errors import ReportedError
from tailrace_verify import rows

SLICE_ROWS = 200_000
"""Rows of a slice, which are in memory at once and become a row group."""
RECORD = struct.Struct("<I32s")
FORM = "%Y-%m-%dT%H:%M:%SZ"
HASH = "leaf_hash"
MINUTE = "minute"
MINUTE_SECONDS = 60
ALWAYS = (1 << 32) - 1
"""The end of a span of inserts that has none."""

DAYS = """
SELECT toString(toDate({time}, 'UTC')) AS day, count() AS rows
FROM tailrace.{table}
WHERE {time} < toDateTime64({{end:UInt32}}, 6, 'UTC') AND ingested_at < toDateTime({{until:UInt32}}, 'UTC')
    AND ingested_at >= toDateTime({{known:Map(String, UInt32)}}[toString(toDate({time}, 'UTC'))], 'UTC')
GROUP BY day ORDER BY day
"""
WITHIN = """{time} >= toDateTime64({{first:UInt32}}, 6, 'UTC')
    AND {time} < toDateTime64({{last:UInt32}}, 6, 'UTC')
    AND ingested_at >= toDateTime({{from:UInt32}}, 'UTC')
    AND ingested_at < toDateTime({{until:UInt32}}, 'UTC')"""
MINUTES = """
SELECT toUInt32(toUnixTimestamp(toStartOfMinute({time}))) AS minute, count() AS rows
FROM tailrace.{table} WHERE {within} GROUP BY minute ORDER BY minute
"""
HASHES = """
SELECT toUInt32(toUnixTimestamp(toStartOfMinute({time}))),
    SHA256(concat('\\0', formatRowNoNewline('JSONEachRow', {names})))
FROM tailrace.{table} WHERE {within}
SETTINGS {settings}
FORMAT RowBinary
"""
ROWS = """
WITH formatRowNoNewline('JSONEachRow', {names}) AS line
SELECT {values}, if(isValidUTF8(line), NULL, line) AS `archived_{original}`,
    SHA256(concat('\\0', line)) AS {hash}, toUInt32(toUnixTimestamp(toStartOfMinute({time}))) AS {minute}
FROM tailrace.{table} WHERE {within} AND sipHash64(line) % {{of:UInt32}} = {{piece:UInt32}}
ORDER BY {order}
SETTINGS {settings}
FORMAT ArrowStream
"""


class SourceError(ReportedError):
    """Rows cannot be read now; the message states why."""


@dataclass(frozen=True)
class Span:
    """Rows of [first, last) that were stored in [start, until), in seconds since 1970 UTC."""

    first: int
    last: int
    start: int
    until: int

    def parameters(self) -> dict[str, int]:
        return {"first": self.first, "last": self.last, "from": self.start, "until": self.until}


@dataclass(frozen=True)
class Slice:
    """Whole minutes of a span, or piece `piece` of `of` of one minute."""

    span: Span
    rows: int
    piece: int = 0
    of: int = 1


@dataclass(frozen=True)
class Source:
    """Reads one table. Methods raise ClickHouseError, OSError and SourceError."""

    clickhouse: ClickHouse
    table: ArchivedTable

    def days(self, end: date, until: int, known: Mapping[str, int]) -> list[str]:
        """Returns the days before `end` with rows that were stored before `until`. For days in `known`, only
        rows count that were stored from its second on."""
        query = DAYS.format(table=self.table.name, time=self.table.time)
        shown = ", ".join(f"'{day}': {second}" for day, second in known.items())
        times = {"end": seconds(end), "until": until, "known": f"{{{shown}}}"}
        return [row["day"] for row in self.clickhouse.rows(query, times)]

    def minutes(self, span: Span) -> dict[int, int]:
        """Returns the rows by minute."""
        query = MINUTES.format(table=self.table.name, time=self.table.time, within=self.within())
        return {row["minute"]: int(row["rows"]) for row in self.clickhouse.rows(query, span.parameters())}

    def hashes(self, span: Span, types: Iterable[str]) -> Iterator[tuple[int, bytes]]:
        """Yields minute and leaf hash of each row, in any order."""
        names = rows.checked_columns(types)
        query = HASHES.format(
            time=self.table.time,
            names=", ".join(f"`{name}`" for name in names),
            table=self.table.name,
            within=self.within(),
            settings=settings(),
        )
        answer = io.BytesIO()
        self.clickhouse.copy(query, answer, span.parameters())
        if len(answer.getbuffer()) % RECORD.size:
            raise SourceError(f"{self.table.name}: ClickHouse sent an incomplete answer; is its disk full?")
        yield from RECORD.iter_unpack(answer.getbuffer())

    def columns(self) -> dict[str, str]:
        return tables.columns_of(self.clickhouse, self.table)

    def rows(self, slice_: Slice, types: Mapping[str, str]) -> pa.Table:
        """Returns the rows as they are archived, with HASH and MINUTE, sorted by the key of the table."""
        found = self._read(slice_, types, True)
        if found.column(columns.ORIGINAL).null_count < len(found):
            found = self._read(slice_, types, False)
        if len(found) != slice_.rows and slice_.of == 1:
            raise SourceError(f"{self.table.name}: rows changed while they were read; archive them again")
        return found

    def _read(self, slice_: Slice, types: Mapping[str, str], is_valid: bool) -> pa.Table:
        query = self._query(types, is_valid)
        parameters = {**slice_.span.parameters(), "of": slice_.of, "piece": slice_.piece}
        with tempfile.TemporaryFile() as file:
            count = self.clickhouse.copy(query, file, parameters)
            file.seek(0)
            try:
                found = pa.ipc.open_stream(file).read_all()
            except pa.ArrowInvalid as error:
                raise SourceError(
                    f"ClickHouse sent an incomplete answer; is its disk full? {error}"
                ) from None
        if len(found) != count:
            raise SourceError(f"ClickHouse sent {len(found)} of {count} rows; is its disk full?")
        return found.rename_columns([name.removeprefix("archived_") for name in found.column_names])

    def _query(self, types: Mapping[str, str], is_valid: bool) -> str:
        names = rows.checked_columns(types)
        values = (f"{columns.stored(name, types[name], is_valid)} AS `archived_{name}`" for name in names)
        return ROWS.format(
            names=", ".join(f"`{name}`" for name in names),
            values=", ".join(values),
            original=columns.ORIGINAL,
            hash=HASH,
            minute=MINUTE,
            time=self.table.time,
            table=self.table.name,
            within=self.within(),
            order=tables.order_of(self.clickhouse, self.table),
            settings=settings(),
        )

    def within(self) -> str:
        return WITHIN.format(time=self.table.time)


def settings() -> str:
    """Returns the settings of the canonical form, for a query."""
    return ", ".join(f"{name} = {value!r}" for name, value in rows.SETTINGS.items())


def seconds(day: date) -> int:
    """Returns the start of a day as seconds since 1970 UTC."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


def iso(second: int) -> str:
    """Returns a time such as 2026-11-26T10:31:00Z."""
    return datetime.fromtimestamp(second, UTC).strftime(FORM)


def day_span(day: date, start: int, until: int) -> Span:
    return Span(seconds(day), seconds(day + timedelta(days=1)), start, until)


def divided(span: Span, minutes: Mapping[int, int], most: int) -> list[Slice]:
    """Divides a span into slices of at most `most` rows. A larger minute is divided by the hash of its rows,
    so that equal rows are in one slice, whose size is then about `most`."""
    slices: list[Slice] = []
    some: list[int] = []
    for minute, count in sorted(minutes.items()):
        if some and sum(minutes[each] for each in some) + count > most:
            slices.append(_slice(span, some, minutes))
            some = []
        if count > most:
            slices += _pieces(span, minute, count, -(-count // most))
        else:
            some.append(minute)
    return [*slices, _slice(span, some, minutes)] if some else slices


def _slice(span: Span, some: Sequence[int], minutes: Mapping[int, int]) -> Slice:
    within = Span(some[0], some[-1] + MINUTE_SECONDS, span.start, span.until)
    return Slice(within, sum(minutes[each] for each in some))


def _pieces(span: Span, minute: int, rows_: int, of: int) -> Iterator[Slice]:
    within = Span(minute, minute + MINUTE_SECONDS, span.start, span.until)
    for piece in range(of):
        yield Slice(within, rows_, piece, of)
