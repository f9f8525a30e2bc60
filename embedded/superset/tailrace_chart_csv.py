"""Writes a chart's data as CSV that a spreadsheet does not execute, with the texts of links instead of HTML.

Superset 6.1.0 writes the HTML of links into the file, escapes with backslashes, which RFC 4180 does not have,
and does not recognize all signs of formulas. Its export of many rows in pieces escapes nothing.
superset_config.py calls `write_readable_files` when the application starts, and disables that export.

Superset calls a file 20261128_134502.csv, by the time of the download. `name_files` calls it
sessions-by-relevance-20261128T0000Z-20261129T0000Z.csv, by the chart and its time range in UTC.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from html import unescape
from typing import Any

from flask import Response, request

from tailrace_pages import csv_table

NEVER = 1 << 62
"""A number of rows for Superset's CSV_STREAMING_ROW_THRESHOLD that no chart has."""
DOWNLOADED = "ChartDataRestApi.data"
_FILE = re.compile(r"attachment; filename=\w+\.(csv|xlsx|zip)")
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


def name_files(answer: Response) -> Response:
    """after_request: a downloaded file has the name of its chart and of its time range."""
    found = _FILE.fullmatch(answer.headers.get("Content-Disposition", ""))
    if request.endpoint == DOWNLOADED and found:
        asked = request.get_json(silent=True) or json.loads(request.form.get("form_data") or "{}")
        if name := _file_name(asked):
            answer.headers["Content-Disposition"] = f'attachment; filename="{name}.{found[1]}"'
    return answer


def _file_name(asked: Mapping[str, Any]) -> str:
    """Returns the name for a request of chart data; empty for a chart that is not saved."""
    from superset import db
    from superset.common.utils.time_range_utils import get_since_until_from_time_range
    from superset.models.slice import Slice

    number = (asked.get("form_data") or {}).get("slice_id")
    chart = db.session.get(Slice, number) if isinstance(number, int) else None
    if chart is None:
        return ""
    return file_name(
        chart.slice_name, *get_since_until_from_time_range(asked["queries"][0].get("time_range"))
    )


def file_name(title: str, since: datetime | None, until: datetime | None) -> str:
    """Returns the words of a title, with the begin and the end of the time range if it has both."""
    words = "-".join(re.findall(r"[a-z0-9]+", title.lower()))[:100]
    return (
        f"{words}-{since:{csv_table.FILE_TIME}}-{until:{csv_table.FILE_TIME}}"
        if words and since and until
        else words
    )
