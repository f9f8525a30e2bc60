"""The `rows` of a search over ClickHouse's HTTP interface, for the command line and for services."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tailrace.search.request import Rows
from tailrace.search.value_types import Parameter

if TYPE_CHECKING:
    from tailrace.clickhouse.client import ClickHouse

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def rows_of(clickhouse: "ClickHouse", **settings: object) -> Rows:
    """Returns a function that reads as this account, with these settings of ClickHouse."""

    def rows(sql: str, parameters: Mapping[str, Parameter]) -> Sequence[Mapping[str, Any]]:
        return clickhouse.rows(sql, {name: _written(value) for name, value in parameters.items()}, **settings)

    return rows


def _written(value: Parameter) -> Parameter:
    """ClickHouse reads the text of a parameter like a field of a file with tabs, with escapes."""
    return value.translate(_ESCAPES) if isinstance(value, str) else value
