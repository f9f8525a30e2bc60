"""Writes a chart's data as CSV that a spreadsheet does not execute, with the texts of links instead of HTML.

Superset 6.1.0 writes the HTML of links into the file, escapes with backslashes, which RFC 4180 does not have,
and does not recognize all signs of formulas. Its export of many rows in pieces escapes nothing.
superset_config.py calls `write_readable_files` when the application starts, and disables that export.
"""

import re
from html import unescape

from tailrace_pages import csv_table

NEVER = 1 << 62
"""A number of rows for Superset's CSV_STREAMING_ROW_THRESHOLD that no chart has."""
_LINK = re.compile(r'<a href="[^"]*">([^<]*)</a>')


def write_readable_files() -> None:
    """Replaces Superset's function. A second call changes nothing."""
    from superset.utils import csv

    csv.df_to_escaped_csv = text_of


def text_of(frame, escapechar: str | None = None, **options) -> str:
    """Returns a pandas DataFrame as CSV; `options` are those of DataFrame.to_csv. `escapechar` is ignored."""
    return frame.rename(columns=cell).map(cell).to_csv(lineterminator="\r\n", **options)


def cell(value: object) -> object:
    """Returns what a file contains for a value: of a link its text. Numbers and times are unchanged."""
    if not isinstance(value, str):
        return value
    link = _LINK.fullmatch(value)
    return csv_table.cell(unescape(link[1]) if link else value)
