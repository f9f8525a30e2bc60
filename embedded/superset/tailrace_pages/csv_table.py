"""A table as CSV (RFC 4180), with the columns of the page. Values are whole ids and plain numbers
with the unit of the heading.

Spreadsheets execute cells that begin with = + - or @, and the values come from logs. Such a text is therefore
prefixed with an apostrophe. Numbers stay numbers, also negative ones. If there are more rows than LIMIT, the
last line says so.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

from tailrace_pages import formats
from tailrace_pages.columns import Column

LIMIT = 100_000
"""Rows of a file. Pages ask ClickHouse for at most LIMIT + 1."""
FILE_TIME = "%Y%m%dT%H%MZ"
"""The format of times (UTC) in names of files."""
ROWS_AT_ONCE = 1000
DIGITS = 12
"""Of a float; a double has 15."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""The last four are the full-width forms, which some spreadsheets convert."""
_PERCENT = re.compile(r"[+-][0-9][0-9,]* %")
"""A change, which spreadsheets read as a number."""


def lines(
    columns: Sequence[Column], rows: Sequence[Mapping[str, object]], limit: int = LIMIT
) -> Iterator[str]:
    """Returns the text of the file in pieces. Raises KeyError if a row lacks a column."""
    yield _written([[column.heading for column in columns]])
    shown = iter(rows[:limit])
    while block := list(islice(shown, ROWS_AT_ONCE)):
        yield _written([[cell(row[column.key]) for column in columns] for row in block])
    if len(rows) > limit:
        yield _written([[f"Only the first {limit:,} rows are listed: choose a shorter time range."]])


def cell(value: object) -> str:
    """Returns the text of a cell; empty for an unknown value."""
    if value is None:
        return ""
    if isinstance(value, datetime | formats.Hour):
        return formats.iso(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, bool | int):
        return str(value)
    text = formats.text(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _PERCENT.fullmatch(text) else text


def _number(value: float) -> str:
    """Returns at most DIGITS significant digits: sums of floats differ in later ones."""
    rounded = float(f"{value:.{DIGITS}g}")
    return str(int(rounded)) if rounded.is_integer() else str(rounded)


def _written(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue()
