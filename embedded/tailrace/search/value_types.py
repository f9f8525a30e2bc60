"""The types of fields: which operators they have, and how a text becomes a value of ClickHouse."""

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

Parameter = str | int | float
"""What a statement's parameters are."""

MAX_UINT64 = 2**64 - 1
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
DURATIONS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "": 1.0}
LONGEST_SPAN = 4000 * 86_400
"""Seconds; more than any retention."""
_SPAN = re.compile(r"([0-9]{1,9})([smhdw])")
_DURATION = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(us|µs|ms|s|min|m|h|)")
_INTEGER = re.compile(r"-?[0-9]{1,19}")
_COUNT = re.compile(r"[0-9]{1,20}")
_QUERY = re.compile(r"(?:0[xX])?([0-9a-fA-F]{1,16})")
_ID = re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class ValueType:
    """A type of values."""

    name: str
    clickhouse: str
    """The type of a parameter."""
    expected: str
    """What a value is, for the message about another one."""
    convert: Callable[[str], Parameter | None]
    """Returns the parameter for a text; None if the text is not a value."""
    is_ordered: bool = False
    """Whether it has `<`, `>` and ranges."""
    has_patterns: bool = False
    """Whether `*` matches any characters."""


def span(text: str) -> int | None:
    """Returns the seconds of a length of time such as `90m`, `24h`, `7d`; None if it is none."""
    found = _SPAN.fullmatch(text)
    seconds = int(found[1]) * UNITS[found[2]] if found else 0
    return seconds if 0 < seconds <= LONGEST_SPAN else None


def span_text(seconds: int) -> str:
    """Returns the shortest text with this length of time: 3600 -> 1h."""
    unit = next(unit for unit in reversed(UNITS) if seconds % UNITS[unit] == 0)
    return f"{seconds // UNITS[unit]}{unit}"


def time(text: str) -> datetime | None:
    """Returns the UTC time, in whole seconds, of a day or a time in ISO 8601; None if it is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    found = found.replace(microsecond=0)
    if not EARLIEST.year <= found.year < LATEST.year:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)


def alert_id(text: str) -> str | None:
    """Returns the 32 hexadecimal digits of an alert's id; None if it is none."""
    return text.replace("-", "").lower() if _ID.fullmatch(text) else None


def _seconds(text: str) -> float | None:
    found = _DURATION.fullmatch(text)
    return float(found[1]) * DURATIONS[found[2]] if found else None


def _integer(text: str) -> int | None:
    number = int(text) if _INTEGER.fullmatch(text) else 2**63
    return number if -(2**63) <= number < 2**63 else None


def _count(text: str) -> int | None:
    number = int(text) if _COUNT.fullmatch(text) else MAX_UINT64 + 1
    return number if number <= MAX_UINT64 else None


def _query(text: str) -> int | None:
    found = _QUERY.fullmatch(text)
    return int(found[1], 16) if found else None


def _client(text: str) -> str:
    """Returns an address in the form in which events store it; another text as it is."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def _uuid(text: str) -> str | None:
    digits = alert_id(text)
    if digits is None:
        return None
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


NAME = ValueType("name", "String", "a name", str, has_patterns=True)
CLIENT = ValueType("name", "String", "an address or a host name", _client, has_patterns=True)
UPPER = ValueType("word", "String", "a word", str.upper, has_patterns=True)
INTEGER = ValueType("number", "Int64", "a whole number", _integer, is_ordered=True)
COUNT = ValueType("count", "UInt64", "a whole number from 0", _count, is_ordered=True)
DURATION = ValueType("duration", "Float64", "a duration such as 1.5, 200ms or 3s", _seconds, is_ordered=True)
QUERY = ValueType("query id", "UInt64", "a query id of up to 16 hexadecimal digits", _query)
ID = ValueType("id", "UUID", "an id of 32 hexadecimal digits", _uuid)


def choice(words: Mapping[str, str], others: Mapping[str, str] = MappingProxyType({})) -> ValueType:
    """Returns a type with these words; each has an explanation. `others`, in lower case, mean one of the
    words or themselves. Underscores are spaces."""
    known = {_spaced(word): word for word in words}
    known |= {_spaced(word): meaning for word, meaning in others.items()}
    return ValueType(
        "choice", "String", f"one of {', '.join(words)}", lambda text: known.get(_spaced(text.lower()))
    )


def _spaced(text: str) -> str:
    return text.replace("_", " ")
