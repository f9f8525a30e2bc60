"""Parameters that several routes have: time range, servers, and the place in a list. Unknown ones are
errors."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from tailrace.api.access import Caller
from tailrace.api.cursors import MAX_LENGTH
from tailrace.api.problems import Problem
from tailrace.reading.time_range import TimeRange

DEFAULT_RANGE = timedelta(hours=24)
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
MICROSECONDS = "%Y-%m-%d %H:%M:%S.%f"
MOST = 1000
"""Items of a page."""


def _utc(time: datetime) -> datetime:
    found = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    if not EARLIEST <= found <= LATEST:
        raise ValueError("expected a time between the years 2000 and 2100")
    return found


def _printable(text: str) -> str:
    if any(ord(each) < 32 or ord(each) == 127 for each in text):
        raise ValueError("expected a text without control characters")
    return text


Time = Annotated[datetime, AfterValidator(_utc)]
"""A time in ISO 8601; without a zone it is UTC."""
Text = Annotated[str, StringConstraints(max_length=300), AfterValidator(_printable)]
QUERY_ID = "^[0-9A-Fa-f]{16}$"


class Servers(BaseModel):
    """Filters of servers, and a time range."""

    model_config = ConfigDict(extra="forbid")

    since: Time | None = Field(
        None, alias="from", description="Start of the time range, included; by default a day before `to`"
    )
    until: Time | None = Field(
        None, alias="to", description="End of the time range, excluded; by default now"
    )
    cluster: Text = Field("", description="Only servers of this cluster")
    instance: Text = Field("", description="Only this server")

    def span(self, now: datetime, longest: timedelta | None = None) -> TimeRange:
        """Returns the time range. Raises Problem."""
        until = self.until or now.astimezone(UTC)
        since = self.since or until - DEFAULT_RANGE
        if since >= until:
            raise bad_range("`from` must be before `to`.")
        if longest and until - since > longest:
            raise bad_range(f"The range must not be longer than {longest.days} days.")
        return TimeRange(since, until)

    def servers(self) -> dict[str, str]:
        return {"cluster": self.cluster, "instance": self.instance}


class Listed(Servers):
    """Parameters of a list that is read page by page."""

    limit: int = Field(100, ge=1, le=MOST, description="Maximum number of items of a page")
    cursor: str = Field(
        "", max_length=MAX_LENGTH, description="`next_cursor` of the page before; other filters unchanged"
    )

    def filters(self) -> dict[str, Any]:
        """Returns what the cursor must not be used without: all parameters but the place and the length."""
        return self.model_dump(mode="json", exclude={"cursor", "limit"})


def bad_range(detail: str) -> Problem:
    return Problem(400, "invalid-request", "The request is invalid", detail)


Item = TypeVar("Item")


class Page(BaseModel, Generic[Item]):
    """A page of a list, the newest item first."""

    items: list[Item]
    next_cursor: str | None = Field(description="Pass it as `cursor` for the next page; null on the last one")
    since: datetime = Field(serialization_alias="from", description="Start of the time range")
    until: datetime = Field(serialization_alias="to", description="End of the time range")


Read = Callable[[Mapping[str, Any]], list[dict[str, Any]]]
"""Reads rows, with the parameters from, to, limit and the place of the last row before."""


def page_of(
    caller: Caller,
    operation: str,
    given: Listed,
    place_of: Callable[[Mapping[str, Any]], dict[str, Any]],
    start: Mapping[str, Any],
    read: Read,
) -> dict[str, Any]:
    """Returns one page. The time range of the first page is part of the cursor, so that it stays the same.

    `place_of` returns the place of a row as parameters of the query, `start` is the place before all rows.
    """
    context = {"operation": operation, "role": caller.role, "filters": given.filters()}
    cursors = caller.services.cursors
    if given.cursor:
        place = cursors.read(given.cursor, context)
    else:
        span = given.span(caller.services.now())
        place = {"from": _sql(span.since), "to": _sql(span.until), **start}
    rows = read({**place, "limit": given.limit + 1})
    items, is_last = rows[: given.limit], len(rows) <= given.limit
    following = {"from": place["from"], "to": place["to"], **place_of(items[-1])} if items else place
    return {
        "items": caller.counted(items),
        "next_cursor": None if is_last else cursors.write(following, context),
        "since": _time(place["from"]),
        "until": _time(place["to"]),
    }


def sql_time(text: str) -> str:
    """Converts a time of a row to a parameter of ClickHouse."""
    return _sql(datetime.fromisoformat(text))


def _sql(time: datetime) -> str:
    return f"{time.astimezone(UTC):{MICROSECONDS}}"


def _time(text: str) -> datetime:
    return datetime.strptime(text, MICROSECONDS).replace(tzinfo=UTC)


def with_statements(
    read: Callable[..., list[dict[str, Any]]], rows: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Returns rows whose `query_id` is written in hexadecimal, with the masked text as `statement`."""
    ids = sorted({row["query_id"] for row in rows if row["query_id"] is not None})
    texts = {row["id"]: row["query"] for row in read("page_query_texts", query_ids=ids)} if ids else {}
    return [
        {**row, "query_id": shown(row["query_id"]), "statement": texts.get(row["query_id"])} for row in rows
    ]


def shown(query_id: int | None) -> str | None:
    return None if query_id is None else f"{query_id:016X}"
