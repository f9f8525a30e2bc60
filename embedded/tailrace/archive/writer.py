"""Writes the rows of a day as Parquet files: a row group for each slice, sorted by the key of the table."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from tailrace.archive.location import Location
from tailrace.archive.source import HASH, MINUTE, iso
from tailrace_verify import rows
from tailrace_verify.archive_days import ArchivedFile

FILE_ROWS = 2_000_000
"""Rows after which the next slice begins a new file."""
LEVEL = 6
MARK_BYTES = 4
MARKS = ".marks"


class PartWriter:
    """Writes files named `FOLDER/NUMBER-TOKEN.parquet`."""

    def __init__(self, location: Location, folder: str, token: str, schema: pa.Schema) -> None:
        self._location, self._folder, self._token, self._schema = location, folder, token, schema
        self.files: list[ArchivedFile] = []
        self.minutes: list[tuple[str, int, str]] = []
        self._open: dict[int, list[bytes]] = defaultdict(list)

    def write(self, slices: Iterable[pa.Table], file_rows: int = FILE_ROWS) -> None:
        """Writes all slices, which are in the order of their minutes. Raises OSError."""
        remaining = _Peekable(slices)
        while remaining.has_more():
            self._file(remaining, file_rows)
        self._close_minutes(None)

    def _file(self, remaining: "_Peekable", file_rows: int) -> None:
        path = f"{self._folder}/{len(self.files) + 1:05}-{self._token}.parquet"
        marks, count = [], 0
        with self._location.written(path) as stream:
            hashed = _Hashed(stream)
            with _parquet(hashed, self._schema) as writer:
                while remaining.has_more() and (count == 0 or count < file_rows):
                    slice_ = next(remaining)
                    count += len(slice_)
                    marks.append(self._take_hashes(slice_))
                    writer.write_table(self._typed(slice_), row_group_size=max(1, len(slice_)))
        data = b"".join(marks)
        self._location.write(path + MARKS, data)
        sums = hashed.hexdigest(), path + MARKS, hashlib.sha256(data).hexdigest()
        self.files.append(ArchivedFile(path, hashed.size, count, *sums))

    def _typed(self, slice_: pa.Table) -> pa.Table:
        """Returns the columns of the schema; those that ClickHouse does not have are null."""
        arrays = [
            slice_.column(field.name).cast(field.type)
            if field.name in slice_.column_names
            else pa.nulls(len(slice_), field.type)
            for field in self._schema
        ]
        return pa.Table.from_arrays(arrays, schema=self._schema)

    def _take_hashes(self, slice_: pa.Table) -> bytes:
        hashes, minutes = slice_.column(HASH).to_pylist(), slice_.column(MINUTE).to_pylist()
        self._close_minutes(min(minutes, default=None))
        for minute, hash_ in zip(minutes, hashes, strict=True):
            self._open[minute].append(hash_)
        return b"".join(hash_[:MARK_BYTES] for hash_ in hashes)

    def _close_minutes(self, before: int | None) -> None:
        for minute in sorted(self._open):
            if before is None or minute < before:
                hashes = self._open.pop(minute)
                self.minutes.append((iso(minute), len(hashes), rows.root_of_hashes(hashes).hex()))


def _parquet(stream: "_Hashed", schema: pa.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(
        pa.PythonFile(stream, mode="w"),
        schema,
        compression="zstd",
        compression_level=LEVEL,
        write_statistics=True,
        write_page_checksum=True,
        write_page_index=True,
        store_schema=False,
    )


class _Hashed:
    """A stream that hashes what it writes."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._digest = stream, hashlib.sha256()
        self.size = 0
        self.closed = False

    def write(self, data: bytes) -> int:
        self._digest.update(data)
        self._stream.write(data)
        self.size += len(data)
        return len(data)

    def hexdigest(self) -> str:
        return self._digest.hexdigest()

    def tell(self) -> int:
        return self.size

    def flush(self) -> None:
        return None

    def close(self) -> None:
        self.closed = True


class _Peekable:
    """An iterator that knows whether it has more."""

    def __init__(self, values: Iterable[pa.Table]) -> None:
        self._values: Iterator[pa.Table] = iter(values)
        self._next: Sequence[pa.Table] = ()

    def has_more(self) -> bool:
        if not self._next:
            found = next(self._values, None)
            self._next = () if found is None else (found,)
        return bool(self._next)

    def __next__(self) -> pa.Table:
        if not self.has_more():
            raise StopIteration
        (found,), self._next = self._next, ()
        return found
