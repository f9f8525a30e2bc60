"""Gives the rows of an archive's Parquet files in canonical form. Needs pyarrow, which is optional."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tailrace_verify import rows
from tailrace_verify.archive_days import MINUTE_UNIT

ORIGINAL = "original_row"
"""The column with the canonical form of a row whose strings are not UTF-8; null for all others."""
WRAPPED = re.compile(r"(?:LowCardinality|Nullable)\((.*)\)")
ARRAY = re.compile(r"Array\((.*)\)")
MAP = re.compile(r"Map\(([^,()]+(?:\([^()]*\))?), (.*)\)")
DATE_TIME = re.compile(r"DateTime(?:64\((\d))?\b.*")
DISTINCT = ("UUID",)
"""Types most of whose values are different: a dictionary of them costs more than it saves."""
QUOTED_INTEGERS = ("Int64", "UInt64")
REPLACED = re.compile("\ufffd+")
MICROSECONDS = 1_000_000
SECONDS_END = len("2026-11-27 10:31:00")
ESCAPED = '["\\\\\\x00-\\x1f\\x{2028}\\x{2029}]'
"""The signs of tailrace_verify.rows.ESCAPED, as Arrow's expressions have them."""
SLICE_BYTES = 64 << 20
"""Bytes of columns that become text at once."""
BATCH_ROWS = 16_384
SAMPLE = 1000
"""Rows by which a column is judged to have few values."""
MOST_COMBINATIONS = 4096
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
    """Some rows of one row group; `first` is the number of the first of them in the file, from 1.

    `times` have the minute of each row and the second of its insert, in seconds since 1970 UTC, as one
    number: minute * archive_days.MINUTE_UNIT + second. `wrong_statistics` names columns of the row group
    whose statistics are not those of their values. A row group ends with a Group without rows that has them;
    its `first` is the first row of the row group.
    """

    first: int
    lines: Sequence[bytes]
    times: Sequence[int]
    wrong_statistics: Sequence[str]


def groups(file: Path, types: Mapping[str, str], time: str) -> Iterator[Group]:
    """Yields the rows of a file whose columns have these ClickHouse types, BATCH_ROWS at a time: buffers of
    that size stay in the cache of a processor.

    Raises ParquetError, FileNotFoundError.
    """
    number, first = 0, 1
    try:
        texts = [field.name for field in pq.read_schema(file) if pa.types.is_string(field.type)]
        coded = [name for name in texts if types.get(name) not in DISTINCT]
        with pq.ParquetFile(file, page_checksum_verification=True, read_dictionary=coded) as parquet:
            for number in range(parquet.num_row_groups):
                statistics, start = Statistics(parquet.metadata.row_group(number)), first
                for batch in parquet.iter_batches(BATCH_ROWS, [number], use_threads=False):
                    found = pa.Table.from_batches([batch])
                    statistics.add(found)
                    yield Group(first, canonical(found, types, first - start), _times(found, time), [])
                    first += len(found)
                yield Group(start, [], [], list(statistics.wrong()))
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


def canonical(found: pa.Table, types: Mapping[str, str], before: int = 0) -> list[bytes]:
    """Returns the canonical form of each row; `before` are the rows of the group before them. Raises
    ParquetError."""
    names = rows.checked_columns(types)
    step = max(1, len(found) * SLICE_BYTES // max(1, found.nbytes))
    encoded: list[bytes] = []
    for start in range(0, len(found), step):
        encoded += _lines(found.slice(start, step), names, types)
    if ORIGINAL in found.column_names and found[ORIGINAL].null_count < len(found):
        for at, original in enumerate(found[ORIGINAL].to_pylist()):
            if original is not None:
                encoded[at] = _original(original, encoded[at].decode(), before + at)
    return encoded


def _lines(found: pa.Table, names: Sequence[str], types: Mapping[str, str]) -> list[bytes]:
    """Returns the JSON of rows whose text fits into the 2 GiB of an Arrow array.

    Columns with few values, which are most, become text together: once for each combination of values. A
    column with one value is text between the others.
    """
    parts: list[pa.Array | str] = []
    coded: list[_Coded] = []
    most, start = max(MOST_COMBINATIONS, len(found) // 8), "{"
    for at, name in enumerate(names):
        start += f'{"," if at else ""}"{name}":'
        column = _coded(found[name], types[name], start)
        if column and len(column.texts) == 1:
            start = column.texts[0].as_py()
            continue
        if coded and (column is None or math.prod(len(each.texts) for each in (*coded, column)) > most):
            parts.append(_combined(coded))
            coded = []
        if column is None:
            parts += [start, _texts(found[name], types[name])]
        else:
            coded.append(column)
        start = ""
    if coded:
        parts.append(_combined(coded))
    parts.append(start + "}")
    if len(parts) == 1:
        return [parts[0].encode()] * len(found)
    return _together(*parts).cast(pa.binary()).to_pylist()


@dataclass(frozen=True)
class _Coded:
    """The JSON of a column: its distinct texts, with the name of the column, and the index of each row's."""

    texts: pa.Array
    indices: pa.Array | None
    """None: each row has the same text."""


def _coded(column: pa.ChunkedArray, type_: str, start: str) -> _Coded | None:
    """Returns None for a column of lists, and for one most of whose values are different."""
    array, inner = _whole(column), _plain(type_)
    if ARRAY.fullmatch(inner) or MAP.fullmatch(inner):
        is_empty = array.offsets[0].as_py() == array.offsets[-1].as_py() and not array.null_count
        text = "[]" if ARRAY.fullmatch(inner) else "{}"
        return _Coded(pa.array([start + text]), None) if is_empty else None
    sample = array.slice(0, SAMPLE)
    if not pa.types.is_floating(array.type) and len(pc.unique(sample)) > max(16, len(sample) // 2):
        return None
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    texts = pc.fill_null(_of_values(encoded.dictionary, inner), "null")
    indices = encoded.indices
    if indices.null_count:
        indices = pc.fill_null(indices, len(texts))
        texts = pa.concat_arrays([texts, pa.array(["null"])])
    return _Coded(_together(start, texts), indices.cast(pa.int64()))


def _combined(columns: Sequence[_Coded]) -> pa.Array:
    """Returns the texts of columns that follow each other, as one text for each row."""
    if len(columns) == 1:
        return columns[0].texts.take(columns[0].indices)
    codes = columns[0].indices
    for each in columns[1:]:
        codes = pc.add(pc.multiply(codes, len(each.texts)), each.indices)
    encoded = codes.dictionary_encode()
    left, texts = encoded.dictionary, []
    for each in reversed(columns):
        above = pc.divide(left, max(1, len(each.texts)))
        texts.append(each.texts.take(pc.subtract(left, pc.multiply(above, len(each.texts)))))
        left = above
    return _together(*reversed(texts)).take(encoded.indices)


def _original(original: bytes, line: str, at: int) -> bytes:
    if REPLACED.sub("\ufffd", original.decode("utf-8", "replace")) != REPLACED.sub("\ufffd", line):
        raise ParquetError(f"row {at + 1} of the group has another {ORIGINAL} than its columns")
    return original


def _texts(column: pa.ChunkedArray | pa.Array, type_: str) -> pa.Array:
    """Returns the JSON of each value, without nulls."""
    array = _whole(column)
    inner = _plain(type_)
    if match := ARRAY.fullmatch(inner):
        return _joined(array, _texts(array.values, match[1]), "[", "]")
    if match := MAP.fullmatch(inner):
        keys, values = _texts(array.keys, match[1]), _texts(array.items, match[2])
        return _joined(array, _together(keys, ":", values), "{", "}")
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(array.type) or (pa.types.is_string(array.type) and inner not in DISTINCT):
        encoded = array.dictionary_encode()
        return pc.fill_null(_of_values(encoded.dictionary, inner).take(encoded.indices), "null")
    return pc.fill_null(_of_values(array, inner), "null")


def _whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.unify_dictionaries().chunks)
    return array


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
    text = _of_float if pa.types.is_floating(values.type) else rows.text
    return pa.array([text(value) for value in values.to_pylist()], pa.string())


def _of_float(value: float | None) -> str | None:
    """Returns the text of a number. 0.0 and -0.0 are equal, but have different texts."""
    return _of_other_float(value) if value else value if value is None else rows.of_float(value)


_of_other_float = lru_cache(1 << 16)(rows.of_float)
"""Batches of rows have the same numbers again."""


def _quoted(values: pa.Array) -> pa.Array:
    """Returns strings in quotes; those with signs that must be escaped are rare."""
    quoted = _together('"', values, '"')
    needs = pc.fill_null(pc.match_substring_regex(values, ESCAPED), False)
    if not pc.any(needs).as_py():
        return quoted
    escaped = pa.array(map(rows.text, values.filter(needs).to_pylist()), pa.string())
    return pc.replace_with_mask(quoted, needs, escaped)


def _plain(type_: str) -> str:
    while match := WRAPPED.fullmatch(type_):
        type_ = match[1]
    return type_


def _times(found: pa.Table, time: str) -> list[int]:
    minutes, seconds = _floored(found[time], "minute"), _floored(found["ingested_at"], "second")
    return pc.add(pc.multiply(minutes, MINUTE_UNIT), seconds).to_pylist()


def _floored(column: pa.ChunkedArray, unit: str) -> pa.ChunkedArray:
    """Returns the start of the minute or second of each time, in seconds since 1970 UTC."""
    floored = pc.floor_temporal(column.cast(pa.timestamp("us")), unit=unit)
    return pc.divide(floored.cast(pa.int64()), MICROSECONDS)


class Statistics:
    """Compares minimum, maximum and number of nulls of each column of a row group with its values: engines
    leave out rows by them."""

    def __init__(self, group: pq.RowGroupMetaData) -> None:
        columns = (group.column(number) for number in range(group.num_columns))
        self._stated = {each.path_in_schema: each.statistics for each in columns if each.statistics}
        self._nulls: dict[str, int] = {}
        self._bounds: dict[str, list[object]] = {}

    def add(self, found: pa.Table) -> None:
        for name, stated in self._stated.items():
            if name not in found.column_names:
                continue
            values = _whole(found[name])
            self._nulls[name] = self._nulls.get(name, 0) + values.null_count
            if pa.types.is_dictionary(values.type):
                values = values.dictionary
            if stated.has_min_max and any(is_type(values.type) for is_type in STATISTICS):
                bounds = pc.min_max(values)
                both = (bounds["min"].as_py(), bounds["max"].as_py())
                self._bounds.setdefault(name, []).extend(each for each in both if each is not None)

    def wrong(self) -> Iterator[str]:
        """Yields the columns whose statistics are not those of their values."""
        for name, stated in self._stated.items():
            if name not in self._nulls:
                continue
            is_wrong = stated.has_null_count and stated.null_count != self._nulls[name]
            if name in self._bounds:
                bounds = self._bounds[name] or [None]
                is_wrong = is_wrong or (min(bounds), max(bounds)) != (stated.min, stated.max)
            if is_wrong:
                yield name
