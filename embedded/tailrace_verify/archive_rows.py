"""Gives the rows of an archive's Parquet files in canonical form. Needs pyarrow, which is optional."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tailrace_verify import rows

ORIGINAL = "original_row"
"""The column with the canonical form of a row whose strings are not UTF-8; null for all others."""
WRAPPED = re.compile(r"(?:LowCardinality|Nullable)\((.*)\)")
ARRAY = re.compile(r"Array\((.*)\)")
MAP = re.compile(r"Map\(([^,()]+(?:\([^()]*\))?), (.*)\)")
DATE_TIME = re.compile(r"DateTime(?:64\((\d))?\b.*")
QUOTED_INTEGERS = ("Int64", "UInt64")
REPLACED = re.compile("\ufffd+")
MICROSECONDS = 1_000_000
STATISTICS = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_boolean,
    pa.types.is_timestamp,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_decimal,
)


class ParquetError(ValueError):
    """A file cannot be read; the message states why and where."""


@dataclass(frozen=True)
class Group:
    """The rows of one row group. `first` is the number of its first row, from 1; times in seconds since 1970
    UTC. `wrong_statistics` names the columns whose statistics are not those of their values."""

    first: int
    lines: Sequence[bytes]
    minutes: Sequence[int]
    ingested: Sequence[int]
    wrong_statistics: Sequence[str]


def groups(file: Path, types: Mapping[str, str], time: str) -> Iterator[Group]:
    """Yields the row groups of a file whose columns have these ClickHouse types.

    Raises ParquetError, FileNotFoundError.
    """
    number, first = 0, 1
    try:
        with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
            for number in range(parquet.num_row_groups):
                found = parquet.read_row_group(number, use_threads=False)
                wrong = list(_wrong_statistics(parquet.metadata.row_group(number), found))
                times = _seconds(found[time])
                minutes = [second // 60 * 60 for second in times]
                yield Group(first, canonical(found, types), minutes, _seconds(found["ingested_at"]), wrong)
                first += len(found)
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, KeyError, ValueError, OverflowError) as error:
        raise ParquetError(f"row group {number + 1} cannot be read: {error}"[:300]) from None


def canonical(found: pa.Table, types: Mapping[str, str]) -> list[bytes]:
    """Returns the canonical form of each row. Raises ParquetError."""
    names = rows.checked_columns(types)
    parts = [
        [f'{"," if at else ""}"{name}":{text}' for text in _texts(found[name], types[name])]
        for at, name in enumerate(names)
    ]
    lines = ["{" + "".join(row) + "}" for row in zip(*parts, strict=True)]
    encoded = [line.encode() for line in lines]
    if ORIGINAL in found.column_names and found[ORIGINAL].null_count < len(found):
        for at, original in enumerate(found[ORIGINAL].to_pylist()):
            if original is not None:
                encoded[at] = _original(original, lines[at], at)
    return encoded


def _original(original: bytes, line: str, at: int) -> bytes:
    if REPLACED.sub("\ufffd", original.decode("utf-8", "replace")) != REPLACED.sub("\ufffd", line):
        raise ParquetError(f"row {at + 1} of the group has another {ORIGINAL} than its columns")
    return original


def _texts(column: pa.ChunkedArray | pa.Array, type_: str) -> list[str]:
    """Returns the JSON of each value."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    inner = _plain(type_)
    if match := ARRAY.fullmatch(inner):
        return _joined(array, _texts(array.values, match[1]), "[", "]")
    if match := MAP.fullmatch(inner):
        keys, values = _texts(array.keys, match[1]), _texts(array.items, match[2])
        return _joined(array, [f"{key}:{value}" for key, value in zip(keys, values, strict=True)], "{", "}")
    encoded = array.dictionary_encode()
    texts = list(
        map(
            _text_of(inner),
            encoded.dictionary.to_pylist()
            if not _is_time(inner)
            else encoded.dictionary.cast(pa.int64()).to_pylist(),
        )
    )
    return ["null" if index is None else texts[index] for index in encoded.indices.to_pylist()]


def _joined(array: pa.Array, texts: Sequence[str], start: str, end: str) -> list[str]:
    offsets = array.offsets.to_pylist()
    empty = start + end
    return [
        empty if first == last else start + ",".join(texts[first:last]) + end
        for first, last in pairwise(offsets)
    ]


def _text_of(type_: str) -> Callable[[object], str]:
    if type_ in QUOTED_INTEGERS:
        return lambda value: f'"{int(value)}"'
    if match := DATE_TIME.fullmatch(type_):
        digits = int(match[1] or 0)
        return lambda value: _time(value, digits)
    if type_ == "Date":
        return lambda value: f'"{value:%Y-%m-%d}"' if isinstance(value, date) else "null"
    return rows.text


def _time(microseconds: int, digits: int) -> str:
    second, rest = divmod(microseconds, MICROSECONDS)
    text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return f'"{text}.{rest:06d}"'[: len(text) + 2 + digits] + '"' if digits else f'"{text}"'


def _plain(type_: str) -> str:
    while match := WRAPPED.fullmatch(type_):
        type_ = match[1]
    return type_


def _is_time(type_: str) -> bool:
    return bool(DATE_TIME.fullmatch(type_))


def _seconds(column: pa.ChunkedArray) -> list[int]:
    return [value // MICROSECONDS for value in column.cast(pa.int64()).to_pylist()]


def _wrong_statistics(group: pq.RowGroupMetaData, found: pa.Table) -> Iterator[str]:
    """Yields the columns whose minimum, maximum or number of nulls is not that of the values: engines would
    leave out rows."""
    for number in range(group.num_columns):
        column = group.column(number)
        statistics, name = column.statistics, column.path_in_schema
        if statistics is None or name not in found.column_names:
            continue
        values = found[name]
        if statistics.has_null_count and statistics.null_count != values.null_count:
            yield name
        elif statistics.has_min_max and any(is_type(values.type) for is_type in STATISTICS):
            bounds = pc.min_max(values)
            if (bounds["min"].as_py(), bounds["max"].as_py()) != (statistics.min, statistics.max):
                yield name
