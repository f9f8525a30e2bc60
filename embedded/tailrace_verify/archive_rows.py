"""Gives the rows of an archive's Parquet files in canonical form. Needs pyarrow, which is optional."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
SECONDS_END = len("2026-11-27 10:31:00")
ESCAPED = '["\\\\\\x00-\\x1f\\x{2028}\\x{2029}]'
"""The signs of tailrace_verify.rows.ESCAPED, as Arrow's expressions have them."""
SLICE_BYTES = 64 << 20
"""Bytes of columns that become text at once."""
FIELD_ID = b"PARQUET:field_id"
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
                minutes, seconds = _floored(found[time], "minute"), _floored(found["ingested_at"], "second")
                yield Group(first, canonical(found, types), minutes, seconds, wrong)
                first += len(found)
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, KeyError, ValueError, OverflowError) as error:
        raise ParquetError(f"row group {number + 1} cannot be read: {error}"[:300]) from None


def numbers(file: Path | object) -> dict[str, int]:
    """Returns the field ids of the columns of a file, by name. Raises ParquetError, FileNotFoundError."""
    try:
        fields = pq.read_schema(file)
        return {field.name: int((field.metadata or {}).get(FIELD_ID, b"0")) for field in fields}
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ParquetError(f"its schema cannot be read: {error}"[:300]) from None


def canonical(found: pa.Table, types: Mapping[str, str]) -> list[bytes]:
    """Returns the canonical form of each row. Raises ParquetError."""
    names = rows.checked_columns(types)
    step = max(1, len(found) * SLICE_BYTES // max(1, found.nbytes))
    encoded: list[bytes] = []
    for start in range(0, len(found), step):
        encoded += _lines(found.slice(start, step), names, types)
    if ORIGINAL in found.column_names and found[ORIGINAL].null_count < len(found):
        for at, original in enumerate(found[ORIGINAL].to_pylist()):
            if original is not None:
                encoded[at] = _original(original, encoded[at].decode(), at)
    return encoded


def _lines(found: pa.Table, names: Sequence[str], types: Mapping[str, str]) -> list[bytes]:
    """Returns the JSON of rows whose text fits into the 2 GiB of an Arrow array."""
    parts: list[pa.Array | str] = []
    for at, name in enumerate(names):
        parts += [f'{"," if at else "{"}"{name}":', _texts(found[name], types[name])]
    return _together(*parts, "}").cast(pa.binary()).to_pylist()


def _original(original: bytes, line: str, at: int) -> bytes:
    if REPLACED.sub("\ufffd", original.decode("utf-8", "replace")) != REPLACED.sub("\ufffd", line):
        raise ParquetError(f"row {at + 1} of the group has another {ORIGINAL} than its columns")
    return original


def _texts(column: pa.ChunkedArray | pa.Array, type_: str) -> pa.Array:
    """Returns the JSON of each value, without nulls."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    inner = _plain(type_)
    if match := ARRAY.fullmatch(inner):
        return _joined(array, _texts(array.values, match[1]), "[", "]")
    if match := MAP.fullmatch(inner):
        keys, values = _texts(array.keys, match[1]), _texts(array.items, match[2])
        return _joined(array, _together(keys, ":", values), "{", "}")
    encoded = array.dictionary_encode()
    return pc.fill_null(_of_values(encoded.dictionary, inner).take(encoded.indices), "null")


def _together(*parts: pa.Array | str) -> pa.Array:
    return pc.binary_join_element_wise(*parts, "")


def _joined(array: pa.ListArray | pa.MapArray, texts: pa.Array, start: str, end: str) -> pa.Array:
    lists = pa.ListArray.from_arrays(array.offsets, texts)
    return _together(start, pc.binary_join(lists, ","), end)


def _of_values(values: pa.Array, type_: str) -> pa.Array:
    """Returns the JSON of distinct values. Python formats only those that Arrow would format differently."""
    if type_ in QUOTED_INTEGERS:
        return _together('"', values.cast(pa.string()), '"')
    if match := DATE_TIME.fullmatch(type_):
        digits = int(match[1] or 0)
        text = values.cast(pa.timestamp("us")).cast(pa.string())
        return _together('"', pc.utf8_slice_codeunits(text, 0, SECONDS_END + digits + bool(digits)), '"')
    if type_ == "Date" or pa.types.is_integer(values.type):
        quote = '"' if type_ == "Date" else ""
        return _together(quote, values.cast(pa.string()), quote)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return _quoted(values.cast(pa.string()))
    text = rows.of_float if pa.types.is_floating(values.type) else rows.text
    return pa.array(map(text, values.to_pylist()), pa.string())


def _quoted(values: pa.Array) -> pa.Array:
    """Returns strings in quotes; those with signs that must be escaped are rare."""
    quoted = _together('"', values, '"')
    needs = pc.match_substring_regex(values, ESCAPED)
    if not pc.any(needs).as_py():
        return quoted
    escaped = pa.array(map(rows.text, values.filter(needs).to_pylist()), pa.string())
    return pc.replace_with_mask(quoted, needs, escaped)


def _plain(type_: str) -> str:
    while match := WRAPPED.fullmatch(type_):
        type_ = match[1]
    return type_


def _floored(column: pa.ChunkedArray, unit: str) -> list[int]:
    """Returns the start of the minute or second of each time, in seconds since 1970 UTC."""
    floored = pc.floor_temporal(column.cast(pa.timestamp("us")), unit=unit)
    return pc.divide(floored.cast(pa.int64()), MICROSECONDS).to_pylist()


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
