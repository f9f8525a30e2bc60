"""The canonical form of a row, and the digest of the rows of one table and minute.

The canonical form is what ClickHouse prints for `SELECT columns FORMAT JSONEachRow` with SETTINGS, the
columns in the order of their names: UTF-8 JSON without spaces, keys sorted, 64-bit integers and decimals as
strings.
So ClickHouse makes it in bulk, and a verifier hashes the line as it is, without parsing. Bytes of
strings that are not UTF-8 stay as they are.

The digest is the root of an RFC 6962 tree over the sorted leaf hashes: it does not depend on the order of
rows, and equal rows count each time.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from tailrace_verify import merkle

SETTINGS: Mapping[str, int | str] = {
    "date_time_output_format": "simple",
    "output_format_json_array_of_rows": 0,
    "output_format_json_escape_forward_slashes": 0,
    "output_format_json_named_tuples_as_objects": 1,
    "output_format_json_quote_64bit_floats": 0,
    "output_format_json_quote_64bit_integers": 1,
    "output_format_json_quote_decimals": 1,
    "output_format_json_quote_denormals": 1,
    "output_format_json_skip_null_value_in_named_tuples": 0,
    "output_format_json_validate_utf8": 0,
    "output_format_decimal_trailing_zeros": 0,
    "session_timezone": "UTC",
}
"""Settings of ClickHouse that the form depends on. They are permanent: other values give other hashes."""
_PLAIN = (
    r"(?:String|U?Int(?:8|16|32|64)|Float(?:32|64)|Bool|UUID|Date"
    r"|DateTime(?:64)?(?:\([^()]*\))?|Enum8\([^()]*\))"
)
_VALUE = rf"(?:{_PLAIN}|Nullable\({_PLAIN}\)|LowCardinality\((?:{_PLAIN}|Nullable\({_PLAIN}\))\))"
SINGLE = re.compile(rf"{_VALUE}|Array\({_VALUE}\)|Map\({_VALUE}, {_VALUE}\)")
"""Types whose JSON is the same alone and in a row; `sql/tests/test_canonical_rows.py` compares both."""
COLUMN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
ESCAPED = re.compile('["\\\\\\x00-\\x1f\u2028\u2029]')
SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Number(str):
    """A number as it was printed: `1e-7` and `0.0000001` are different rows."""

    __slots__ = ()


class RowError(ValueError):
    """No row in canonical form; the message states why."""


def load(line: bytes) -> dict[str, object]:
    """Parses a row; `canonical` of the result is the line again. Raises RowError."""
    try:
        row = json.loads(
            line.decode("utf-8", "surrogateescape"),
            parse_float=Number,
            parse_int=Number,
            parse_constant=Number,
        )
    except (ValueError, RecursionError) as error:
        raise RowError(f"no JSON: {error}") from None
    if not isinstance(row, dict):
        raise RowError("expected a JSON object")
    return row


def canonical(row: Mapping[str, object]) -> bytes:
    """Returns the canonical form. Integers of 64 bits and decimals must be strings, as `load` returns them.

    Numbers are Number, int, float or Decimal. Raises RowError for a value of another type.
    """
    return _text(row, True).encode("utf-8", "surrogateescape")


def text(value: object) -> str:
    """Returns the JSON of one value in the canonical form. Raises RowError for a value of another type."""
    return _text(value)


def query(table: str, columns: Sequence[str], condition: str) -> str:
    """Returns the query whose answer is the canonical form of the rows, one a line; use it with SETTINGS."""
    names = ", ".join(f"`{name}`" for name in checked_columns(columns))
    return f"SELECT {names} FROM {table} WHERE {condition} FORMAT JSONEachRow"


def line(types: Mapping[str, str]) -> str:
    """Returns the expression of ClickHouse for the canonical form of a row with these columns and types.

    The JSON of one column after the other takes half the CPU time of `formatRow`, because ClickHouse computes
    it once for each value of a LowCardinality. It is used if each type is in SINGLE, where both are the same.
    """
    names = checked_columns(types)
    if not all(SINGLE.fullmatch(types[name]) for name in names):
        return f"formatRowNoNewline('JSONEachRow', {', '.join(f'`{name}`' for name in names)})"
    parts = []
    for at, name in enumerate(names):
        is_nullable = "Nullable" in types[name]
        value = f"ifNull(toJSONString(`{name}`), 'null')" if is_nullable else f"toJSONString(`{name}`)"
        parts += [f"""'{"," if at else "{"}"{name}":'""", value]
    return f"concat({', '.join(parts)}, '}}')"


def checked_columns(columns: Iterable[str]) -> list[str]:
    """Returns the names in the canonical order. Raises RowError for a name that is no identifier."""
    for name in columns:
        if not COLUMN.fullmatch(name):
            raise RowError(f"expected the name of a column, found {name!r}")
    return sorted(set(columns))


def hashes(lines: Iterable[bytes]) -> list[bytes]:
    """Returns the leaf hashes of rows in canonical form, without line ends, in their order."""
    return merkle.leaf_hashes(lines)


def minute_root(rows: Iterable[Mapping[str, object] | bytes]) -> bytes:
    """Returns the digest of rows; bytes are in canonical form already."""
    lines = (row if isinstance(row, bytes) else canonical(row) for row in rows)
    return root_of_hashes(hashes(lines))


def root_of_hashes(leaf_hashes: Iterable[bytes]) -> bytes:
    """Returns the digest of the rows with these leaf hashes, in any order."""
    return merkle.root(sorted(leaf_hashes))


def _text(value: object, is_top: bool = False) -> str:
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return '"' + ESCAPED.sub(_escape, value) + '"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        items = sorted(value.items()) if is_top else value.items()
        return "{" + ",".join(f"{_text(str(key))}:{_text(each)}" for key, each in items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_text, value)) + "]"
    return _number(value)


def _number(value: object) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return f'"{value.normalize():f}"'
    if isinstance(value, float):
        return of_float(value)
    raise RowError(f"a value of the type {type(value).__name__} has no canonical form")


def of_float(value: float) -> str:
    """The shortest digits that give the number again, as ClickHouse; with an exponent from 1e21 on and
    below 1e-6."""
    if not math.isfinite(value):
        return f'"{value}"'
    plain = repr(value)
    if "e" not in plain and not plain.endswith(".0"):
        return plain
    sign, digits, exponent = Decimal(plain).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + exponent
    minus = "-" if sign else ""
    if -6 < point <= 21:
        return minus + _positional(text, point)
    fraction = f".{text[1:]}" if text[1:] else ""
    return f"{minus}{text[0]}{fraction}e{point - 1}"


def _positional(digits: str, point: int) -> str:
    if point <= 0:
        return "0." + "0" * -point + digits
    if point >= len(digits):
        return digits + "0" * (point - len(digits))
    return f"{digits[:point]}.{digits[point:]}"


def _escape(match: re.Match[str]) -> str:
    sign = match[0]
    return SHORT.get(sign) or f"\\u{ord(sign):04X}"
