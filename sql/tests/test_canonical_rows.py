"""ClickHouse prints rows in the canonical form of tailrace_verify, also for values that are hard to print."""

import hashlib
import io
import struct

import pytest

from tailrace_verify import rows
from tailrace_verify.leaves import TABLES

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


MORE_VALUES = rf"""
    SELECT * EXCEPT amount, toLowCardinality(text) AS often,
        CAST(text, 'LowCardinality(Nullable(String))') AS name,
        CAST(NULL, 'LowCardinality(Nullable(String))') AS no_name, CAST(number % 2, 'Bool') AS truth,
        CAST(NULL, 'Nullable(Float64)') AS unknown, toInt64(-9223372036854775808) AS least_integer,
        CAST(number % 3, 'Nullable(UInt64)') AS count, toDate('1970-01-01') AS date, toFloat32(0.1) AS short,
        [text, ''] AS texts, CAST([], 'Array(LowCardinality(String))') AS no_texts,
        CAST([NULL, text], 'Array(Nullable(String))') AS gaps, map(text, text) AS hostile,
        CAST(map('k', text), 'Map(LowCardinality(String), String)') AS often_keys, [1.5, nan] AS numbers,
        toDateTime64('2026-11-26 10:31:00.120', 3, 'UTC') AS millisecond, -0.0 AS minus_zero,
        CAST('a/"', 'Enum8(\'a/"\' = 1, \'b\' = 2)') AS choice,
        toDateTime64('1955-11-05 06:15:00.000001', 6, 'UTC') AS early, map('a', toUInt64(1)) AS counts
    FROM (SELECT *, rowNumberInAllBlocks() AS number FROM ({VALUES}))
"""


def test_the_quick_form_of_a_line_is_the_same(admin):
    described = admin.rows(f"DESCRIBE ({MORE_VALUES})")
    types = {row["name"]: row["type"] for row in described}
    quick, whole = rows.line(types), rows.line({**types, "other": "JSON"})
    assert quick.startswith("concat(") and whole.startswith("formatRow")
    whole = whole.replace(", `other`", "")
    settings = ", ".join(f"{name} = {value!r}" for name, value in rows.SETTINGS.items())
    query = f"SELECT {quick} = {whole} AS same, {quick} AS a, {whole} AS b FROM ({MORE_VALUES})"
    differing = admin.rows(f"SELECT a, b FROM ({query}) WHERE NOT coalesce(same, false) SETTINGS {settings}")
    assert differing == []


def test_the_quick_form_is_used_for_each_table_of_the_log(admin):
    found = admin.rows(
        "SELECT table, name, type FROM system.columns WHERE database = 'tailrace' "
        "AND table IN {tables:Array(String)} AND default_kind IN ('', 'DEFAULT')",
        {"tables": list(TABLES)},
    )
    assert {row["table"] for row in found} == {*TABLES}
    assert [row for row in found if not rows.SINGLE.fullmatch(row["type"])] == []


def test_a_name_that_is_none():
    with pytest.raises(rows.RowError):
        rows.checked_columns(["a, b"])
