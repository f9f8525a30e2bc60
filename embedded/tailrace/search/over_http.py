"""The `rows` of a search over ClickHouse's HTTP interface, for the command line and for services."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tailrace.clickhouse.parameters import encoded
from tailrace.search.request import Rows
from tailrace.search.value_types import Parameter

if TYPE_CHECKING:
    from tailrace.clickhouse.client import ClickHouse


def rows_of(clickhouse: "ClickHouse", **settings: object) -> Rows:
    """Returns a function that reads as this account, with these settings of ClickHouse."""

    def rows(sql: str, parameters: Mapping[str, Parameter]) -> Sequence[Mapping[str, Any]]:
        return clickhouse.rows(sql, encoded(parameters), **settings)

    return rows
