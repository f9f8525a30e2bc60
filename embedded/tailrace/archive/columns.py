"""How values of ClickHouse are stored in Iceberg, without loss, and how they are read back.

Iceberg has no unsigned integers: a UInt64 is a decimal of 20 digits. Enums and UUIDs are strings, because
not all engines read them alike. Strings are UTF-8: a row with other bytes has them in ORIGINAL.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    TimestamptzType,
)

from tailrace.errors import ReportedError

ORIGINAL = "original_row"
"""The column with the canonical form of a row that is not UTF-8; null for all others."""
WRAPPED = re.compile(r"(LowCardinality|Nullable)\((.*)\)")
ARRAY = re.compile(r"Array\((.*)\)")
MAP = re.compile(r"Map\(([^,()]+(?:\([^()]*\))?), (.*)\)")
DECIMAL = re.compile(r"Decimal\((\d+), (\d+)\)")
DATE_TIME = re.compile(r"DateTime(64\([0-6])?\b.*")
INTEGERS = ("Int8", "Int16", "Int32", "UInt8", "UInt16")
SIMPLE: Mapping[str, IcebergType] = {
    **dict.fromkeys(INTEGERS, IntegerType()),
    **dict.fromkeys(("Int64", "UInt32"), LongType()),
    "UInt64": DecimalType(20, 0),
    "Bool": BooleanType(),
    "Float64": DoubleType(),
    "Date": DateType(),
    "String": StringType(),
    "UUID": StringType(),
}
AS_TEXT = ("UUID", "Enum8", "Enum16")
NESTED = (ARRAY, MAP)


class UnsupportedTypeError(ReportedError):
    """A column cannot be archived; the message names its type."""


def plain(type_: str) -> str:
    """Returns a type without LowCardinality and Nullable."""
    while match := WRAPPED.fullmatch(type_):
        type_ = match[2]
    return type_


def schema(columns: Mapping[str, str]) -> Schema:
    """Returns the Iceberg schema for ClickHouse types by name; each type is the documentation of its field.

    Raises UnsupportedTypeError.
    """
    ids = iter(range(len(columns) + 2, 1 << 30))
    fields = [
        NestedField(number, name, iceberg_type(columns[name], ids), required=False, doc=columns[name])
        for number, name in enumerate(sorted(columns), 1)
    ]
    original = NestedField(len(columns) + 1, ORIGINAL, BinaryType(), required=False, doc="")
    return Schema(*fields, original)


def iceberg_type(type_: str, ids: Iterator[int]) -> IcebergType:
    """Returns the Iceberg type of a ClickHouse type; `ids` numbers nested fields. Raises
    UnsupportedTypeError."""
    name = plain(type_)
    if match := ARRAY.fullmatch(name):
        return ListType(next(ids), iceberg_type(match[1], ids), element_required=False)
    if match := MAP.fullmatch(name):
        key, value = next(ids), next(ids)
        return MapType(key, iceberg_type(match[1], ids), value, iceberg_type(match[2], ids), False)
    if match := DECIMAL.fullmatch(name):
        return DecimalType(int(match[1]), int(match[2]))
    if DATE_TIME.fullmatch(name):
        return TimestamptzType()
    if name.startswith("Enum"):
        return StringType()
    if name not in SIMPLE:
        raise UnsupportedTypeError(f"a column of the type {type_} cannot be archived")
    return SIMPLE[name]


def stored(name: str, type_: str, is_valid: bool = True) -> str:
    """Returns the expression of a column as it is archived. `is_valid`: all strings are UTF-8."""
    quoted = f"`{name}`"
    text = (lambda each: each) if is_valid else (lambda each: f"toValidUTF8({each})")
    inner = plain(type_)
    if match := ARRAY.fullmatch(inner):
        return f"arrayMap(each -> {_stored('each', match[1], text)}, {quoted})"
    if match := MAP.fullmatch(inner):
        key, value = _stored("key", match[1], text), _stored("each", match[2], text)
        return f"mapApply((key, each) -> ({key}, {value}), {quoted})"
    return _stored(quoted, type_, text)


def _stored(value: str, type_: str, text: Callable[[str], str]) -> str:
    inner = plain(type_)
    nullable = "Nullable(" in type_
    if inner == "UInt64":
        return _cast(value, "Decimal(20, 0)", nullable)
    if DATE_TIME.fullmatch(inner):
        return f"toDateTime64({value}, 6, 'UTC')"
    if inner == "String":
        return text(_cast(value, "String", nullable))
    if inner.startswith(AS_TEXT):
        return _cast(value, "String", nullable)
    if inner == "UInt8" or inner == "UInt16":
        return _cast(value, "Int32", nullable)
    return _cast(value, "Int64", nullable) if inner == "UInt32" else value


def _cast(value: str, type_: str, nullable: bool) -> str:
    return f"CAST({value}, '{f'Nullable({type_})' if nullable else type_}')"


def structure(columns: Mapping[str, str]) -> str:
    """Returns the columns of archived rows as ClickHouse reads them, in their order by name."""
    return ", ".join(f"`{name}` {_archived_type(columns[name])}" for name in sorted(columns))


def _archived_type(type_: str) -> str:
    inner = plain(type_)
    if match := ARRAY.fullmatch(inner):
        return f"Array({_archived_type(match[1])})"
    if match := MAP.fullmatch(inner):
        return f"Map({_archived_type(match[1])}, {_archived_type(match[2])})"
    found = inner
    if inner == "UInt64":
        found = "Decimal(20, 0)"
    elif DATE_TIME.fullmatch(inner):
        found = "DateTime64(6, 'UTC')"
    elif inner.startswith(AS_TEXT):
        found = "String"
    elif inner in INTEGERS:
        found = "Int32"
    elif inner == "UInt32":
        found = "Int64"
    return f"Nullable({found})" if "Nullable(" in type_ else found


def restored(name: str, type_: str) -> str:
    """Returns the expression that gives the value of ClickHouse again from an archived one."""
    return f"CAST(`{name}`, '{type_.replace(chr(39), chr(92) + chr(39))}')"
