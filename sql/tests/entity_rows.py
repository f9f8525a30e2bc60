"""Reads pages of entities from a ClickHouse of the tests, with the types of tailrace_pages.store. Has the
range of the tests and the fixture `reading`."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from security_rows import NOW

from tailrace.clickhouse.client import ClickHouse
from tailrace_pages import queries
from tailrace_pages.entities.kinds import Entity
from tailrace_pages.entities.reading import Reading
from tailrace_pages.time_range import TimeRange

BEGIN = NOW - timedelta(days=2)
"""Every row lies hours away from the ends of the range, so that no test depends on the time of day."""
SPAN = TimeRange(BEGIN, BEGIN + timedelta(days=1))
HOUR = 60
"""Minutes, the unit of security_rows."""

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

    def row(self, query: str, **parameters: Any) -> dict[str, Any] | None:
        found = self.rows(query, **parameters)
        return found[0] if found else None


def _literal(value: object) -> object:
    return f"[{', '.join(repr(each) for each in value)}]" if isinstance(value, list) else value


def _value(value: object) -> object:
    is_time = isinstance(value, str) and _TIME.fullmatch(value)
    return datetime.fromisoformat(value).replace(tzinfo=UTC) if is_time else value


def minutes_in(minutes: float) -> float:
    """The argument of security_rows for a time in the range."""
    return 2 * 24 * HOUR - minutes


@pytest.fixture
def reading(user) -> Callable[..., Reading]:
    """What the page of an entity reads as reader_security."""

    def of(kind: str, name: str = "", span: TimeRange = SPAN, oldest: bool = False, **its: Any) -> Reading:
        return Reading(Store(user("reader_security")), Entity(kind, name, **its), span, oldest)

    return of
