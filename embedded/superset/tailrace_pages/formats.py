"""Values as texts of pages. An unknown value (None) is "unknown", never zero. Times are UTC.

Templates have this module as `formats`: `{{ formats.duration(row.p95) }}`. `of_kind` is what tables use, by
the kind of a column (columns.py).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context

from tailrace.alerts.entity_key import entity_of, in_words

UNKNOWN = "unknown"
TIMES = 10
"""Ratio from which a change is written as a ratio instead of a percentage."""
LEAST = 0.001
SHORT_ID = 8
"""Characters of an id that are shown; the whole one is in its tooltip and its copy button."""

LEVELS = ("critical", "high", "medium", "low", "informational")
"""Severities, the most severe first: the order in every table, chart and list of choices."""
SYMBOLS = {"critical": "▲", "high": "◆", "medium": "■", "low": "●", "informational": "○"}
"""A symbol for each severity, so that none differs by colour alone."""

_DURATIONS = ((1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"), (1.0, 1e3, "ms"), (60.0, 1.0, "s"))
_THREE_DIGITS = Context(prec=3, rounding=ROUND_HALF_UP)
"""Rounds 12.25 to 12.3, as browsers do."""
_SIZES = ("B", "kB", "MB", "GB", "TB", "PB")


@dataclass(frozen=True)
class Hour:
    """The hour of something whose exact time is not known, by its beginning in UTC."""

    start: datetime


def count(value: float | None) -> str:
    """1234567 -> 1,234,567"""
    return UNKNOWN if _is_unknown(value) else f"{round(value):,}"


def number(value: float | None) -> str:
    """A number with at most three significant digits behind its integer part: 12.3456 -> 12.3, 0.123. Numbers
    closer to zero than LEAST are not written with many zeros or an exponent: 0.0000233 -> < 0.001"""
    if _is_unknown(value):
        return UNKNOWN
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) < LEAST:
        return f"< {LEAST:g}"
    return f"{value:.3g}"


def duration(seconds: float | None) -> str:
    """0.0000834 -> 83.4 µs, 7.25 -> 7.25 s, 190 -> 3 min 10 s, 11520 -> 3 h 12 min, 190000 -> 2 d 4 h

    Dashboards write the same: SECONDS in static_assets.py, and readable_seconds in parts/number_links.sql.
    """
    if _is_unknown(seconds):
        return UNKNOWN
    if seconds < 0:
        return "-" + duration(-seconds)
    if seconds == 0:
        return "0 s"
    for limit, factor, unit in _DURATIONS:
        if seconds < limit:
            return f"{float(_THREE_DIGITS.create_decimal(seconds * factor)):g} {unit}"
    return _long(math.floor(seconds + 0.5))


def _long(seconds: int) -> str:
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86_400
    if days:
        return _two(days, "d", hours % 24, "h")
    if hours:
        return _two(hours, "h", minutes % 60, "min")
    return _two(minutes, "min", seconds % 60, "s")


def _two(large: int, unit: str, small: int, of: str) -> str:
    return f"{large:,} {unit} {small} {of}" if small else f"{large:,} {unit}"


def size(value: float | None) -> str:
    """Bytes in decimal units: 1234 -> 1.23 kB"""
    if _is_unknown(value):
        return UNKNOWN
    step = min(int(math.log10(abs(value)) // 3), len(_SIZES) - 1) if abs(value) >= 1000 else 0
    scaled = value / 1000**step
    return (
        f"{scaled:,.0f} {_SIZES[step]}" if step == 0 or abs(scaled) >= 100 else f"{scaled:.3g} {_SIZES[step]}"
    )


def share(value: float | None) -> str:
    """0.1234 -> 12.3 %. A small part is not written as nothing, nor most as all: < 0.1 %, > 99.9 %"""
    if _is_unknown(value):
        return UNKNOWN
    written = f"{value * 100:.1f} %"
    if value > 0 and written == "0.0 %":
        return "< 0.1 %"
    return "> 99.9 %" if value < 1 and written == "100.0 %" else written


def change(now: float | None, before: float | None) -> str:
    """The change against an earlier value: +25 %, -3 %, a factor from 10 on, "new", or "unknown"."""
    if _is_unknown(now) or _is_unknown(before):
        return UNKNOWN
    if before == 0:
        return "new" if now else "unchanged"
    if now / before >= TIMES:
        return f"{now / before:,.0f}\N{MULTIPLICATION SIGN}"
    percent = round((now - before) / before * 100)
    return f"{percent:+,d} %" if percent else "unchanged"


def time(value: datetime | Hour | None) -> str:
    """2026-11-24 14:10:05, in UTC; the title of the column says so. An hour: 2026-11-24 14:00 to 15:00"""
    if isinstance(value, Hour):
        start = _utc(value.start)
        return f"{start:%Y-%m-%d %H}:00 to {start.hour + 1:02}:00"
    return UNKNOWN if value is None else f"{_utc(value):%Y-%m-%d %H:%M:%S}"


def is_hour(value: object) -> bool:
    """Whether only the hour is known: then it is no single time of another time zone."""
    return isinstance(value, Hour)


def iso(value: datetime | Hour) -> str:
    """2026-11-24T14:10:05Z, for `<time datetime>` and for addresses. An hour is an interval of ISO 8601:
    2026-11-24T14:00:00Z/2026-11-24T15:00:00Z"""
    if isinstance(value, Hour):
        return f"{iso(value.start)}/{iso(value.start + timedelta(hours=1))}"
    return f"{_utc(value):%Y-%m-%dT%H:%M:%SZ}"


def day(value: date | None) -> str:
    return UNKNOWN if value is None else f"{value:%Y-%m-%d}"


def short_id(value: str | None) -> str:
    return UNKNOWN if not value else value[:SHORT_ID]


def text(value: object) -> str:
    """A text, a list or a mapping in one line; an empty one is empty, as it is not the same as unknown."""
    if value is None:
        return UNKNOWN
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={each}" for key, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


def visible(value: object) -> str:
    """Text of a log with its control characters as escapes, so that nothing is invisible: `\\x1b`."""
    return "".join(_visible(sign) for sign in text(value))


def entity(key: str | None) -> str:
    """The key of an alert's entity in words: `user app, client 10.0.0.9`; another text as it is."""
    if key is None:
        return UNKNOWN
    try:
        return visible(in_words(entity_of(key)))
    except ValueError:
        return visible(key)


def of_kind(kind: str, value: object) -> str:
    """Returns the value as a table shows it. Raises KeyError for an unknown kind."""
    return KINDS[kind](value)


KINDS: dict[str, Callable[..., str]] = {
    "text": visible,
    "code": visible,
    "figure": visible,
    "count": count,
    "number": number,
    "duration": duration,
    "bytes": size,
    "share": share,
    "time": time,
    "day": day,
    "id": short_id,
    "severity": text,
    "entity": entity,
}
NUMERIC = frozenset({"count", "number", "duration", "bytes", "share", "figure"})
"""Kinds that tables align to the right."""


def _visible(sign: str) -> str:
    return sign if sign.isprintable() or sign == "\n" else sign.encode("unicode_escape").decode()


def _is_unknown(value: float | None) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def _utc(value: datetime) -> datetime:
    return value.astimezone(UTC) if value.tzinfo else value
