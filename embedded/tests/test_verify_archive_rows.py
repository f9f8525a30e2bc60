"""Arrow gives the same canonical rows as the rules of tailrace_verify.rows, value by value."""

import random
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest

from tailrace_verify import archive_rows, rows

COUNT = 400
START = datetime(1969, 12, 31, 23, 30, tzinfo=UTC)
STRINGS = ("a", 'sho"p', "x\\y", "\u2028z\u2029", "é\U0001f600", "", "\x00\x1f\x7f\n", "plain")
FLOATS = (0.5, 1e-7, 1e-6, 1e15, 1e16, 1e21, 1e22, 0.0, -0.0, 5.0, -2.5e-5, 123456789012345680.0)
FLOATS += (float("inf"), float("-inf"), float("nan"), 0.1, 1 / 3)
LARGEST = Decimal(2**64 - 1)
TIME = pa.timestamp("us", tz="UTC")
COLUMNS: Mapping[str, tuple[str, pa.DataType, Callable[[random.Random], object]]] = {
    "a": ("Bool", pa.bool_(), lambda some: some.random() < 0.5),
    "b": ("UInt64", pa.decimal128(20, 0), lambda some: Decimal(some.getrandbits(64))),
    "c": ("Nullable(Int64)", pa.int64(), lambda some: some.choice([None, -(2**63), 2**63 - 1, 0])),
    "d": ("UInt8", pa.int32(), lambda some: some.randrange(256)),
    "e": ("Float64", pa.float64(), lambda some: some.choice([*FLOATS, some.random() * 1e5])),
    "f": ("Date", pa.date32(), lambda some: date(2026, 1, some.randrange(1, 29))),
    "g": ("LowCardinality(Nullable(String))", pa.string(), lambda some: some.choice([None, *STRINGS])),
    "h": ("UUID", pa.string(), lambda some: f"{some.getrandbits(128):032x}"),
    "i": ("Array(String)", pa.list_(pa.string()), lambda some: some.choices(STRINGS, k=some.randrange(4))),
    "j": (
        "Array(UInt64)",
        pa.list_(pa.decimal128(20, 0)),
        lambda some: [Decimal(2**64 - 1)] * some.randrange(3),
    ),
    "k": (
        "Map(LowCardinality(String), String)",
        pa.map_(pa.string(), pa.string()),
        lambda some: [(some.choice(STRINGS), some.choice(STRINGS)) for _ in range(some.randrange(3))],
    ),
    "l": ("Decimal(10, 2)", pa.decimal128(10, 2), lambda some: Decimal(some.randrange(10**6)).scaleb(-2)),
    **{
        name: (type_, TIME, lambda some: START + timedelta(microseconds=some.randrange(3_600_000_000)))
        for name, type_ in (
            ("event_time", "DateTime64(6, 'UTC')"),
            ("ingested_at", "DateTime('UTC')"),
            ("m", "DateTime64(3, 'UTC')"),
        )
    },
}
TYPES = {name: type_ for name, (type_, _, _) in COLUMNS.items()}


@pytest.fixture
def found() -> pa.Table:
    some = random.Random(7)
    arrays = {
        name: pa.array([make(some) for _ in range(COUNT)], type_)
        for name, (_, type_, make) in COLUMNS.items()
    }
    return pa.table({**arrays, archive_rows.ORIGINAL: pa.nulls(COUNT, pa.binary())})


def expected(row: Mapping[str, object]) -> bytes:
    texts = [f'"{name}":{text(row[name], TYPES[name])}' for name in sorted(TYPES)]
    return ("{" + ",".join(texts) + "}").encode()


def text(value: object, type_: str) -> str:
    """The JSON of one value, without Arrow."""
    if value is None:
        return "null"
    if type_.startswith("Array"):
        return "[" + ",".join(text(each, type_[6:-1]) for each in value) + "]"
    if type_.startswith("Map"):
        return "{" + ",".join(f"{rows.text(key)}:{rows.text(each)}" for key, each in value) + "}"
    if type_ in ("UInt64", "Nullable(Int64)"):
        return f'"{int(value)}"'
    if type_.startswith("DateTime"):
        digits = {"DateTime64(6, 'UTC')": 7, "DateTime64(3, 'UTC')": 4}.get(type_, 0)
        return f'"{value:%Y-%m-%d %H:%M:%S}{f".{value:%f}"[:digits]}"'
    return f'"{value}"' if isinstance(value, date) else rows.text(value)


@pytest.mark.parametrize("slice_bytes", [64 << 20, 5_000])
def test_each_value_has_its_canonical_form(found, monkeypatch, slice_bytes):
    monkeypatch.setattr(archive_rows, "SLICE_BYTES", slice_bytes)
    lines = archive_rows.canonical(found, TYPES)
    assert lines == [expected(row) for row in found.to_pylist()]
    assert archive_rows.canonical(found.slice(100, 50), TYPES) == lines[100:150]


def test_a_row_that_is_not_utf8_has_its_own_bytes(found):
    lines = archive_rows.canonical(found.slice(0, 2), TYPES)
    original = lines[1]
    table = found.slice(0, 2).set_column(
        found.schema.get_field_index(archive_rows.ORIGINAL),
        archive_rows.ORIGINAL,
        pa.array([None, original], pa.binary()),
    )
    assert archive_rows.canonical(table, TYPES) == lines
    forged = table.set_column(
        table.schema.get_field_index(archive_rows.ORIGINAL),
        archive_rows.ORIGINAL,
        pa.array([None, original.replace(b"2026", b"2027")], pa.binary()),
    )
    with pytest.raises(archive_rows.ParquetError, match="row 2 of the group has another"):
        archive_rows.canonical(forged, TYPES)


def test_columns_with_one_and_with_few_values_are_text_with_the_others():
    columns = {
        "a": pa.array(["x"] * 4),
        "b": pa.array([0.0, -0.0, 1e21, None]),
        "c": pa.array([None] * 4, pa.int64()),
        "d": pa.array([[], [], [], []], pa.list_(pa.string())),
        "e": pa.array(["p", "q", None, "p"]).dictionary_encode(),
        "f": pa.array(["é", "é", '"', "é"]),
        "g": pa.array([True] * 4),
    }
    of_number = {"b": "Nullable(Float64)", "c": "Nullable(Int64)", "d": "Array(String)", "g": "Bool"}
    types = dict.fromkeys(columns, "Nullable(String)") | of_number
    lines = archive_rows.canonical(pa.table(columns), types)
    shown = [("0", '"p"', "é"), ("-0", '"q"', "é"), ("1e21", "null", '\\"'), ("null", '"p"', "é")]
    line = '{{"a":"x","b":{},"c":null,"d":[],"e":{},"f":"{}","g":true}}'
    assert [each.decode() for each in lines] == [line.format(*each) for each in shown]
    constant = {name: columns[name] for name in "acdg"}
    (only,) = {*archive_rows.canonical(pa.table(constant), {name: types[name] for name in constant})}
    assert only == b'{"a":"x","c":null,"d":[],"g":true}'


def test_times_before_1970_belong_to_the_minute_that_contains_them(found):
    minutes = archive_rows._floored(found["event_time"], "minute").to_pylist()
    seconds = archive_rows._floored(found["ingested_at"], "second").to_pylist()
    times = [(each.timestamp() // 60 * 60) for each in found["event_time"].to_pylist()]
    assert minutes == times
    assert seconds == [each.timestamp() // 1 for each in found["ingested_at"].to_pylist()]
    assert min(minutes) < 0
