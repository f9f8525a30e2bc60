"""Rows of ClickHouse for a page, read as the account of the viewer's audience.

The connection is Superset's own of that audience, so grants and row policies of ClickHouse apply, and
tailrace_audited_connection adds the viewer's name to each statement:

    store().rows("page_alerts", state="open", limit=51, **span.parameters())

`query` is the name of a file of sql/queries, or SQL. Values are parameters of ClickHouse, `{state:String}`.
UInt64 values stay unsigned; times are aware and in UTC.
"""

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Any

from flask import g

from tailrace_pages import at_once, queries, recent_rows
from tailrace_pages.page_errors import BusyError, UnavailableError
from tailrace_pages.viewer import viewer

LIMITS = {"max_execution_time": 20, "max_result_rows": 200_000}
"""Settings of every statement; a query that needs less says LIMIT. Exceeding the time is a BusyError: it is
time of the clock, so a busy machine stops queries that are fast otherwise. Exceeding the rows is an
UnavailableError.
"""
FORMATS = {"UInt64": "native", "UUID": "string", "IPv*": "string"}
"""Superset's engine sets the format of UInt64 to signed for the whole process."""
TOO_SLOW, TOO_MANY_ROWS = "TIMEOUT_EXCEEDED", "TOO_MANY_ROWS_OR_BYTES"
TOO_BUSY = ("TOO_MANY_SIMULTANEOUS_QUERIES", "MEMORY_LIMIT_EXCEEDED", "QUOTA_EXCEEDED")
"""Names of ClickHouse's errors."""
AGAIN = "Try again in a moment; if that fails, choose a shorter time range or more filters."

_log = logging.getLogger(__name__)
_recent = recent_rows.RecentRows()


class Store:
    """One audience's access to ClickHouse within a request. All methods raise UnavailableError."""

    def __init__(self, audience: str) -> None:
        self._audience = audience

    def rows(self, query: str, **parameters: Any) -> list[dict[str, Any]]:
        """Returns the rows of a query as mappings by column. Do not change rows of recent_rows.SHARED."""
        if query in recent_rows.SHARED:
            return _recent.of(self._audience, query, parameters, lambda: self._read(query, parameters))
        return self._read(query, parameters)

    def _read(self, query: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        found = self._run(queries.text_of(query), parameters)
        columns = found.column_names
        return [dict(zip(columns, map(_value, row), strict=True)) for row in found.result_rows]

    def row(self, query: str, **parameters: Any) -> dict[str, Any] | None:
        """Returns the first row, or None if there is none."""
        found = self.rows(query, **parameters)
        return found[0] if found else None

    def _run(self, text: str, parameters: dict[str, Any]) -> Any:
        with _reading(), at_once.client(self._opened) as client:
            return client.query(text, parameters=parameters, settings=LIMITS, query_formats=FORMATS)

    def at_once(self) -> AbstractContextManager[at_once.Start]:
        """Gives a function for readings that run at the same time as the request, see at_once."""
        return at_once.readings(self._opened)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        """The client of a new connection of tailrace_audited_connection."""
        database = _database(self._audience)
        with ExitStack() as connections:
            with _reading():
                pooled = connections.enter_context(database.get_raw_connection())
            yield pooled.driver_connection.client


@contextmanager
def _reading() -> Iterator[None]:
    """Raises errors of ClickHouse's driver as UnavailableError; SQLAlchemy wraps those of a connection."""
    from clickhouse_connect.driver.exceptions import Error
    from sqlalchemy.exc import DBAPIError

    try:
        yield
    except (Error, DBAPIError, OSError) as error:
        if isinstance(error, DBAPIError) and not isinstance(error.orig, Error):
            raise
        _log.warning("a page's query failed", exc_info=True)
        raise _unavailable(getattr(error, "orig", error)) from error


def store() -> Store:
    """Returns the access of this request's viewer."""
    return Store(viewer().audience)


def _database(audience: str) -> Any:
    """Returns Superset's connection of an audience, which a request reads once."""
    from superset import db
    from superset.models.core import Database

    from tailrace.dashboards.asset import asset_uuid

    known = g.setdefault("tailrace_databases", {})
    if audience not in known:
        uuid = asset_uuid("databases", audience)
        known[audience] = db.session.query(Database).filter_by(uuid=uuid).one_or_none()
    if known[audience] is None:
        raise UnavailableError(
            "The dashboards were not imported yet; `tailrace dashboards apply` imports them."
        )
    return known[audience]


def _unavailable(error: Exception) -> UnavailableError:
    """Returns what a page says about an error of ClickHouse's driver or of a socket.

    It has the name of ClickHouse's error, or none if the server did not answer.
    """
    from clickhouse_connect.driver.exceptions import OperationalError

    name = getattr(error, "name", None)
    if name == TOO_SLOW:
        seconds = LIMITS["max_execution_time"]
        return BusyError(f"ClickHouse stopped a query of this page after {seconds} seconds. {AGAIN}")
    if name in TOO_BUSY:
        return BusyError(f"ClickHouse has too many queries to answer now. {AGAIN}")
    if name == TOO_MANY_ROWS:
        return UnavailableError("A query found too many rows; choose a shorter time range or more filters.")
    if name is None and isinstance(error, OperationalError | OSError):
        return BusyError("ClickHouse does not answer. Try again in a moment; Superset's log has the reason.")
    return UnavailableError("ClickHouse refused a query of this page; Superset's log has the reason.")


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    return value
