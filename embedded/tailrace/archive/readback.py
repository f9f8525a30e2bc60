"""Reads archived Parquet files back and computes the leaf hashes of their rows with ClickHouse."""

import io
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from tailrace.archive import columns, source
from tailrace.archive.location import Location
from tailrace.clickhouse.client import ClickHouse, ClickHouseError, tls_context
from tailrace.errors import ReportedError
from tailrace_verify import rows
from tailrace_verify.archive_days import ArchivedFile

EXTERNAL = "archived"
NEXT_ROWS = 100_000
TIMEOUT_SECONDS = 1800
HASHES = """
WITH if(isNull({original}), formatRowNoNewline('JSONEachRow', {names}), assumeNotNull({original})) AS line
SELECT toUInt32(toUnixTimestamp(toStartOfMinute(`{time}`))), SHA256(concat('\\0', line))
FROM (SELECT {values}, {original} FROM {external})
SETTINGS max_threads = 1, {settings}
FORMAT RowBinary
"""


class DamagedFileError(ReportedError):
    """An archived file cannot be read; the message names the place."""


@dataclass(frozen=True)
class Group:
    """One row group: `first` is the number of its first row, from 1; minutes in seconds since 1970 UTC."""

    first: int
    rows: pa.Table
    minutes: list[int]
    hashes: list[bytes]


@dataclass(frozen=True)
class ReadBack:
    """Reads files whose rows have these ClickHouse types."""

    clickhouse: ClickHouse
    location: Location
    types: Mapping[str, str]
    time: str

    def groups(self, file: ArchivedFile) -> Iterator[Group]:
        """Yields the row groups. Raises DamagedFileError, ClickHouseError, OSError."""
        first = 1
        for found in row_groups(self.location, file.path):
            records = list(source.RECORD.iter_unpack(self._hashed(found)))
            if len(records) != len(found):
                raise DamagedFileError(f"{file.path}: ClickHouse read {len(records)} of {len(found)} rows")
            minutes, hashes = map(list, zip(*records, strict=True)) if records else ([], [])
            yield Group(first, found, minutes, hashes)
            first += len(found)

    def _hashed(self, found: pa.Table) -> bytes:
        names = rows.checked_columns(self.types)
        query = HASHES.format(
            names=", ".join(f"`{name}`" for name in names),
            original=columns.ORIGINAL,
            time=self.time,
            external=EXTERNAL,
            values=", ".join(f"{columns.restored(name, self.types[name])} AS `{name}`" for name in names),
            settings=source.settings(),
        )
        structure = f"{columns.structure(self.types)}, {columns.ORIGINAL} Nullable(String)"
        wanted = found.select([*names, columns.ORIGINAL])
        return send(self.clickhouse, query, encoded(wanted), structure)


def row_groups(location: Location, path: str) -> Iterator[pa.Table]:
    """Yields the row groups of a Parquet file, whose pages are compared with their checksums.

    Raises DamagedFileError.
    """
    number = 0
    try:
        with location.open(path) as stream:
            file = pq.ParquetFile(stream, page_checksum_verification=True)
            for number in range(file.num_row_groups):
                yield file.read_row_group(number, use_threads=False)
    except FileNotFoundError:
        raise DamagedFileError(f"{path} is missing") from None
    except (pa.ArrowException, OSError) as error:
        raise DamagedFileError(f"{path}: row group {number + 1} cannot be read: {error}") from None


def send(clickhouse: ClickHouse, query: str, data: bytes, structure: str) -> bytes:
    """Runs a query with the external table EXTERNAL, an Arrow stream; returns the complete answer.

    Raises ClickHouseError, OSError.
    """
    boundary = uuid.uuid4().hex
    options = {
        "query": query,
        f"{EXTERNAL}_format": "ArrowStream",
        f"{EXTERNAL}_structure": structure,
        "wait_end_of_query": 1,
        "max_query_size": 1 << 20,
    }
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="{EXTERNAL}"; filename="{EXTERNAL}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    request = urllib.request.Request(
        f"{clickhouse.url}/?{urllib.parse.urlencode(options)}",
        b"".join((head.encode(), data, f"\r\n--{boundary}--\r\n".encode())),
        headers={**clickhouse.credentials(), "Content-Type": f"multipart/form-data; boundary={boundary}"},
    )
    try:
        context = tls_context(clickhouse.url, clickhouse.authorities)
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS, context=context) as response:
            return response.read()
    except urllib.error.HTTPError as error:
        raise refusal(error) from None


def refusal(error: urllib.error.HTTPError) -> ClickHouseError:
    """Returns what ClickHouse answered as an error."""
    code = int(error.headers.get("X-ClickHouse-Exception-Code") or 0)
    text = error.read().decode(errors="backslashreplace").strip()
    return ClickHouseError(code, text.splitlines()[0] if text else f"HTTP status {error.code}")


def columns_of_file(location: Location, path: str, names: list[str]) -> pa.Table:
    """Returns some columns of a Parquet file. Raises DamagedFileError."""
    try:
        with location.open(path) as stream:
            return pq.read_table(stream, columns=names)
    except (pa.ArrowException, OSError) as error:
        raise DamagedFileError(f"{path} cannot be read: {error}") from None


def encoded(found: pa.Table) -> bytes:
    """Returns the rows as an Arrow stream."""
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, found.schema) as writer:
        writer.write_table(found, max_chunksize=NEXT_ROWS)
    return buffer.getvalue()
