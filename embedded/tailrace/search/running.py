"""Runs a request: pages of a list, the newest time first, and the rows of a pipe."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tailrace.search.compiler import compiled, statement_texts
from tailrace.search.model import Top
from tailrace.search.paging import Cursor, time_of
from tailrace.search.request import Request, Rows

FIRST_WINDOW = timedelta(hours=1)
GROWTH = 24
"""The factor between the lengths of two windows. They cover the range without overlaps."""
IDS_AT_ONCE = 200


@dataclass(frozen=True)
class Page:
    """Events, the latest first, and the cursor of the next page; None if this is the last."""

    events: Sequence[Mapping[str, Any]]
    """With `time` (aware, UTC), `id` (UUID), `query` (16 hexadecimal digits, or empty), `text` (the masked
    statement, the message or the rule's title) and compiler.COLUMNS, of which `table` is `tables`. An empty
    name, the session 0 and None are unknown."""
    following: Cursor | None


def windows(since: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Returns parts of a time range, the latest and shortest first."""
    length = FIRST_WINDOW
    while until > since:
        begin = max(since, until - length)
        yield begin, until
        until, length = begin, length * GROWTH


def listing(rows: Rows, request: Request, limit: int = 50, before: Cursor | None = None) -> Page:
    """Returns a page of at most `limit` events. Raises SearchError, and what `rows` raises."""
    request = request.with_alert(rows)
    since, until = request.span
    if before:
        until = min(until, before.time + timedelta(microseconds=1))
    found: list[dict[str, Any]] = []
    for window in windows(since, until):
        statement = compiled(request, limit + 1 - len(found), before, window)
        found += [_event(row) for row in rows(statement.sql, statement.parameters)]
        if len(found) > limit:
            last = found[limit - 1]
            return Page(_with_texts(rows, found[:limit], "query"), Cursor(last["micros"], last["id"]))
    return Page(_with_texts(rows, found, "query"), None)


def aggregated(rows: Rows, request: Request) -> list[dict[str, Any]]:
    """Returns the rows of the pipe of a request; raises as `listing`.

    `| count`: log, events. `| timeline`: time (the begin of a bar, aware, UTC) and events, for the bars that
    have events; whether another bar has none or is unknown depends on what was read. `| top`: value and
    events, the most frequent first; a last row with the value None counts the events whose value is unknown.
    `| top query` also has `text`.
    """
    request = request.with_alert(rows)
    statement = compiled(request)
    found = [dict(row) for row in rows(statement.sql, statement.parameters)]
    if isinstance(request.query.pipe, Top) and request.query.pipe.field == "query":
        return _with_texts(rows, found, "value")
    return [_bar(row) if "second" in row else row for row in found]


def _bar(row: dict[str, Any]) -> dict[str, Any]:
    return {"time": time_of(row["second"] * 1_000_000), "events": row["events"]}


def _with_texts(rows: Rows, found: Sequence[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """Returns rows with the texts of the statements whose ids are under the key."""
    ids = sorted({row[key] for row in found if row[key]})
    texts: dict[str, str] = {}
    for begin in range(0, len(ids), IDS_AT_ONCE):
        statement = statement_texts(ids[begin : begin + IDS_AT_ONCE])
        texts |= {row["query"]: row["text"] for row in rows(statement.sql, statement.parameters)}
    return [{**row, "text": texts.get(row[key], "")} if row[key] else {"text": "", **row} for row in found]


def _event(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"time": time_of(row["micros"]), **row}
