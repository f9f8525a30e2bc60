"""What a run of a scheduled search finds, read as the role of the search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tailrace.search.formatting import text_of
from tailrace.search.model import Between, Count, Timeline
from tailrace.search.parser import parse
from tailrace.search.request import Request, Rows
from tailrace.search.running import aggregated, listing
from tailrace.search.scheduled.saved import SavedSearch
from tailrace.search.scheduled.slots import Slot
from tailrace.search.sources import ROLES

FIRST_ROWS = 10


@dataclass(frozen=True)
class Found:
    """The result of a run."""

    search: str
    """The search with the time that was searched."""
    events: int
    lines: Sequence[str]
    """The first events, the latest first, or the first rows of the pipe: one line each."""


def found(rows: Rows, search: SavedSearch, slot: Slot) -> Found:
    """Runs a search for a slot. A time of its own ends with the slot.

    Raises SearchError, DeniedError if the role may not read that, and what `rows` raises.
    """
    query = parse(search.search)
    if query.last is None and query.between is None and query.around is None:
        query = replace(query, between=Between(slot.since, slot.until))
    request = Request(query, ROLES[search.role], slot.until).with_alert(rows)
    counted = replace(request, query=replace(query, pipe=Count()))
    events = sum(int(row["events"]) for row in aggregated(rows, counted))
    since, until = request.span
    shown = replace(query, last=None, around=query.around, between=Between(since, until))
    return Found(text_of(shown), events, _lines(rows, request) if events else ())


def _lines(rows: Rows, request: Request) -> list[str]:
    if request.query.pipe is None:
        return [_event_line(event) for event in listing(rows, request, FIRST_ROWS).events]
    if isinstance(request.query.pipe, Count):
        return [f"{row['log']}: {row['events']}" for row in aggregated(rows, request)]
    found_rows = aggregated(rows, request)[:FIRST_ROWS]
    if isinstance(request.query.pipe, Timeline):
        return [f"{row['time']:%Y-%m-%d %H:%M:%S}: {row['events']}" for row in found_rows]
    return [f"{_known(row['value'])}: {row['events']}" for row in found_rows]


def _event_line(event: Mapping[str, Any]) -> str:
    who = "@".join(filter(None, (event["user"], event["client"])))
    place = " ".join(filter(None, (event["log"], event["kind"], who, event["instance"])))
    return f"{event['time']:%Y-%m-%d %H:%M:%S} {place}: {event['text'] or event['command']}"


def _known(value: object) -> str:
    return "(unknown)" if value is None else str(value)
