"""ClickHouse prints rows in the canonical form of tailrace_verify, also for values that are hard to print."""

import hashlib
import io
import struct

import pytest

from tailrace_verify import rows

FLOATS = (
    *(0.0, 1.0, -1.5, 0.1, 1e-6, 1e-7, 123456.789, 1e15, 1e20, 1e21, 1.5e300, 5e-324, 2**53, 1 / 3),
    *(123456789012345680.0, 1.7976931348623157e308, 0.00001234, 9.99e-7, 1e22),
)
VALUES = r"""
    SELECT concat(char(number), 'x/y"\\', char(226, 128, 168), 'é', char(255)) AS text,
        toUInt64(18446744073709551615) AS big, toInt32(-1) AS small, toDecimal64(2.50, 4) AS amount,
        toDateTime64('2026-11-26 10:31:00.120000', 6, 'UTC') AS at,
        toDateTime('2026-11-26 10:31:00', 'UTC') AS day,
        CAST(NULL, 'Nullable(String)') AS nothing, number % 2 = 0 AS even, ['a', 'b/'] AS list,
        map('z', '1', 'a', '2') AS pairs, nan AS no_number, -inf AS least,
        toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0') AS id
    FROM numbers(128)
"""


def printed(clickhouse, query: str) -> list[bytes]:
    out = io.BytesIO()
    clickhouse.copy(query, out, None)
    return out.getvalue().splitlines()


def in_names_order(clickhouse, query: str) -> list[bytes]:
    (header,) = printed(clickhouse, f"SELECT * FROM ({query}) LIMIT 0 FORMAT TSVWithNames")
    names = rows.checked_columns(header.decode().split("\t"))
    settings = ", ".join(f"{name} = {value!r}" for name, value in rows.SETTINGS.items())
    return printed(
        clickhouse, f"SELECT {', '.join(names)} FROM ({query}) SETTINGS {settings} FORMAT JSONEachRow"
    )


def test_a_parsed_row_is_printed_as_before(admin):
    lines = in_names_order(admin, VALUES)
    assert len(lines) == 128
    assert [rows.canonical(rows.load(line)) for line in lines] == lines
    first = lines[1]
    assert b'"big":"18446744073709551615"' in first
    assert b'"amount":"2.5"' in first


def test_floats(admin):
    values = ", ".join(f"reinterpretAsFloat64(unhex('{struct.pack('<d', value).hex()}'))" for value in FLOATS)
    lines = in_names_order(admin, f"SELECT arrayJoin([{values}]) AS value")
    assert lines == [rows.canonical({"value": value}) for value in FLOATS]


def test_clickhouse_can_hash_rows_itself(admin):
    """The leaf hashes of a minute without any row leaving ClickHouse."""
    settings = ", ".join(f"{name} = {value!r}" for name, value in rows.SETTINGS.items())
    query = (
        f"SELECT hex(SHA256(concat(char(0), formatRowNoNewline('JSONEachRow', big, text)))) FROM ({VALUES})"
    )
    found = printed(admin, f"{query} SETTINGS {settings} FORMAT TSV")
    lines = in_names_order(admin, f"SELECT big, text FROM ({VALUES})")
    assert [line.decode().lower() for line in found] == [
        hashlib.sha256(b"\0" + line).hexdigest() for line in lines
    ]


def test_a_name_that_is_none():
    with pytest.raises(rows.RowError):
        rows.checked_columns(["a, b"])
