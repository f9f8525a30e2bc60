"""Runs the queries of sql/queries as one user of ClickHouse.

    rows = reader(clickhouse)
    rows("page_query_texts", query_ids=[1, 2])

Values are parameters of ClickHouse: they are never part of the text of a query.
"""

from collections.abc import Callable
from typing import Any

from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.parameters import encoded
from tailrace.clickhouse.query_files import text_of

Rows = Callable[..., list[dict[str, Any]]]
"""Takes the name of a query or its text, and its parameters; returns rows by column."""


def reader(clickhouse: ClickHouse, timeout: float = 30, **settings: object) -> Rows:
    """Returns a function that runs queries with these settings; `timeout` in seconds.

    It raises ClickHouseError and OSError. Times are ISO 8601 in UTC, with a `Z`.
    """
    given = {"date_time_output_format": "iso", **settings}

    def rows(query: str, **parameters: Any) -> list[dict[str, Any]]:
        return clickhouse.rows(text_of(query), encoded(parameters), timeout, **given)

    return rows
