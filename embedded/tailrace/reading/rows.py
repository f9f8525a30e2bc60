"""Runs the queries of sql/queries as one user of ClickHouse.

    rows = reader(clickhouse)
    rows("page_query_texts", query_ids=[1, 2])

Values are parameters of ClickHouse: they are never part of the text of a query.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.query_files import text_of

Rows = Callable[..., list[dict[str, Any]]]
"""Takes the name of a query or its text, and its parameters; returns rows by column."""

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0", "'": "\\'"})


def reader(clickhouse: ClickHouse, timeout: float = 30, **settings: object) -> Rows:
    """Returns a function that runs queries with these settings; `timeout` in seconds.

    It raises ClickHouseError and OSError. Times are ISO 8601 in UTC, with a `Z`.
    """
    given = {"date_time_output_format": "iso", **settings}

    def rows(query: str, **parameters: Any) -> list[dict[str, Any]]:
        return clickhouse.rows(text_of(query), encoded(parameters), timeout, **given)

    return rows


def encoded(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Returns the values in ClickHouse's notation for parameters of HTTP requests: text with escapes,
    arrays in
    brackets."""
    return {name: _encoded(value) for name, value in parameters.items()}


def _encoded(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_element, value))}]"
    return str(value).translate(_ESCAPES)


def _element(value: Any) -> str:
    return str(value) if isinstance(value, int | float) else f"'{str(value).translate(_ESCAPES)}'"
