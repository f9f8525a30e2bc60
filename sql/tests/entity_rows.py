"""Reads pages of entities from a ClickHouse of the tests, with the types of tailrace_pages.store."""

import json
import re
from datetime import UTC, datetime
from typing import Any

from tailrace.clickhouse.client import ClickHouse
from tailrace_pages import queries

_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?")


class Store:
    """The rows of ClickHouse with the types that store.Store returns."""

    def __init__(self, clickhouse: ClickHouse) -> None:
        self._clickhouse = clickhouse
        self.rows_read: list[int] = []
        """What each query read."""

    def rows(self, query: str, **parameters: Any) -> list[dict[str, Any]]:
        given = {name: _literal(value) for name, value in parameters.items()}
        text = f"{queries.text_of(query)}\nFORMAT JSON"
        answer = json.loads(self._clickhouse.execute(text, given, output_format_json_quote_64bit_integers=0))
        self.rows_read.append(answer["statistics"]["rows_read"])
        return [{name: _value(value) for name, value in row.items()} for row in answer["data"]]


def _literal(value: object) -> object:
    return f"[{', '.join(repr(each) for each in value)}]" if isinstance(value, list) else value


def _value(value: object) -> object:
    is_time = isinstance(value, str) and _TIME.fullmatch(value)
    return datetime.fromisoformat(value).replace(tzinfo=UTC) if is_time else value
