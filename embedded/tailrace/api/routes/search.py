"""The search over the events of all logs (docs/SEARCH.md), as the role of the token.

Alerts need the scope `alerts:read` in addition: without it they are not searched, and a search that asks for
them is refused.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from tailrace import search
from tailrace.api.access import Caller, scoped
from tailrace.api.accounts import LIMITS, SECONDS
from tailrace.api.cursors import MAX_LENGTH
from tailrace.api.parameters import MOST, Text, bad_range
from tailrace.api.problems import forbidden
from tailrace.search import DeniedError, Role, SearchError
from tailrace.search.compiler import searched_logs
from tailrace.search.over_http import rows_of
from tailrace.search.paging import Cursor
from tailrace.search.request import Request, Rows
from tailrace.search.sources import ALERTS

router = APIRouter(tags=["search"])
SCOPE, OF_ALERTS = "search:read", "alerts:read"
Checked = TypeVar("Checked")
ACCOUNTS = {role.account: role for role in search.ROLES.values()}


class Wanted(BaseModel):
    """A search."""

    model_config = ConfigDict(extra="forbid")

    q: Text = Field(
        min_length=1, description="Such as `user:etl table:cards status:!=0 last:24h`; docs/SEARCH.md"
    )


class WantedPage(Wanted):
    """A search whose events are read page by page."""

    limit: int = Field(100, ge=1, le=MOST, description="Maximum number of items of a page")
    cursor: str = Field("", max_length=MAX_LENGTH, description="`next_cursor` of the page before; same `q`")


class FoundEvent(BaseModel):
    """An event or an alert. Unknown values are null."""

    time: datetime
    log: str = Field(description="slow, audit, general, error or alert")
    kind: str
    cluster: str | None
    instance: str | None
    user: str | None
    client: str | None
    program: str | None
    database: str | None
    session: int | None
    command: str | None
    verb: str | None
    status: int | None
    duration: float | None = Field(description="Seconds")
    rows_sent: int | None
    rows_examined: int | None
    level: str | None
    code: str | None
    tables: list[str] | None
    query: str | None = Field(description="Query id, 16 hexadecimal digits")
    text: str | None = Field(description="Masked statement, message, or title of the alert's rule")
    trace: str | None
    id: str


class Found(BaseModel):
    """What was searched."""

    q: str = Field(description="The search in its normal form")
    since: datetime = Field(serialization_alias="from", description="Start of the time range")
    until: datetime = Field(serialization_alias="to", description="End of the time range")
    logs: list[str] = Field(
        description="The kinds of logs that were searched; `alert` only with the scope alerts:read"
    )


class FoundPage(Found):
    """A page of events, the newest first."""

    items: list[FoundEvent]
    next_cursor: str | None = Field(description="Pass it as `cursor` for the next page; null on the last one")


class FoundRow(BaseModel):
    """A row of a pipe."""

    model_config = ConfigDict(extra="allow")

    events: int


class FoundRows(Found):
    """The rows of `| top`, `| timeline` or `| count`."""

    items: list[FoundRow]


@router.get("/search", operation_id="search_events", response_model=FoundPage)
def search_events(caller: Annotated[Caller, scoped(SCOPE)], given: Annotated[WantedPage, Query()]):
    """Lists the events of all logs and the alerts that a search without a pipe matches."""
    filters = {"q": given.q, "alerts": caller.token.permits(OF_ALERTS)}
    context = {"operation": "search_events", "role": caller.role, "filters": filters}
    cursors = caller.services.cursors
    place = cursors.read(given.cursor, context) if given.cursor else {}
    rows = _rows(caller)
    request = _request(caller, given.q, place.get("now"), rows)
    if request.query.pipe:
        raise bad_range("The search has a pipe; send it to /search/summary.")
    before = Cursor(place["micros"], place["id"]) if place else None
    page = checked(caller, lambda: search.listing(rows, request, given.limit, before))
    following = page.following and {
        "now": request.now.timestamp(),
        "micros": page.following.micros,
        "id": page.following.id,
    }
    return {
        **_found(request),
        "items": caller.counted([_known(event) for event in page.events]),
        "next_cursor": cursors.write(following, context) if following else None,
    }


@router.get("/search/summary", operation_id="summarize_search", response_model=FoundRows)
def summarize_search(caller: Annotated[Caller, scoped(SCOPE)], given: Annotated[Wanted, Query()]):
    """Returns the rows of a search with a pipe, such as `status:!=0 last:24h | top user`."""
    rows = _rows(caller)
    request = _request(caller, given.q, None, rows)
    if not request.query.pipe:
        raise bad_range("The search has no pipe (`| top`, `| timeline` or `| count`); send it to /search.")
    found = checked(caller, lambda: search.aggregated(rows, request))
    return {**_found(request), "items": caller.counted(found)}


def _request(caller: Caller, text: str, now: float | None, rows: Rows) -> Request:
    """The time of the first page is part of the cursor, so that `last:24h` means the same on every page."""
    time = caller.services.now() if now is None else datetime.fromtimestamp(now, UTC)
    return checked(caller, lambda: Request(search.parse(text), role_of(caller), time).with_alert(rows))


def role_of(caller: Caller) -> Role:
    """Returns what a caller searches: the tables of the role, of alerts only with their scope."""
    role = ACCOUNTS[f"reader_{caller.role}"]
    if caller.token.permits(OF_ALERTS):
        return role
    return replace(role, tables=role.tables - {ALERTS.table})


def _rows(caller: Caller) -> Rows:
    account = caller.services.accounts.of_role(caller.role)
    return rows_of(account, timeout=SECONDS + 10, **LIMITS)


def _found(request: Request) -> dict[str, Any]:
    since, until = request.span
    logs = sorted(searched_logs(request))
    return {"q": search.text_of(request.query), "since": since, "until": until, "logs": logs}


def checked(caller: Caller, run: Callable[[], Checked]) -> Checked:
    """Returns the result. Raises Problem for a search that cannot be run."""
    try:
        return run()
    except DeniedError as error:
        is_of_alerts = error.right == ALERTS.right and ACCOUNTS[f"reader_{caller.role}"].reads(ALERTS)
        lacks = f"The search asks for alerts, and the token lacks the scope {OF_ALERTS}."
        raise forbidden(lacks if is_of_alerts else str(error)) from error
    except SearchError as error:
        raise bad_range(str(error)) from error


def _known(event: Mapping[str, Any]) -> dict[str, Any]:
    """Returns an event with None for unknown values."""
    known = {key: None if value == "" else value for key, value in event.items()}
    return {**known, "session": known["session"] or None, "tables": known["tables"] or None}
