"""Saved searches and their schedules (docs/SEARCH.md): those of the token's owner and role, and shared ones.

Names, texts and outcomes of runs need `saved_searches:read`. The number of events of a run is a result of the
search, so it needs the scopes of the search, too.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from tailrace import search
from tailrace.alerts.delivery import channel_states
from tailrace.api.access import Caller, require, scoped
from tailrace.api.cursors import MAX_LENGTH
from tailrace.api.parameters import MOST, Text, bad_range
from tailrace.api.problems import Problem, forbidden, not_found
from tailrace.api.routes import search as searching
from tailrace.search.compiler import searched_logs
from tailrace.search.request import Request
from tailrace.search.scheduled import library, slots
from tailrace.search.scheduled.library import ForeignSearchError, Library, NameTakenError, NoSearchError
from tailrace.search.scheduled.saved import SavedSearch, Schedule, ScheduleError, every_of

router = APIRouter(tags=["saved searches"])
READ, WRITE, SCHEDULE = "saved_searches:read", "saved_searches:write", "schedules:write"
ALERT = "alert"
Done = TypeVar("Done")

SearchId = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="The id, 32 hexadecimal digits")]
Query_ = Annotated[
    str, Field(min_length=1, max_length=2000, description="Such as `kind:refused`; docs/SEARCH.md")
]


class WantedSchedule(BaseModel):
    """A schedule."""

    model_config = ConfigDict(extra="forbid")

    every: Text = Field(description="The interval, 5m to 31d, such as `1h`")
    channels: list[Text] = Field(description="Channels of alerts.yaml, 1 to 10")
    min_events: int = Field(1, description="Results with fewer events are not sent; 0: all are")
    paused: bool = False


class WantedSearch(BaseModel):
    """A search to save."""

    model_config = ConfigDict(extra="forbid")

    name: Text = Field(description="1 to 60 characters; an owner has each name once")
    q: Query_
    shared: bool = Field(False, description="Whether all users of the role see the search")


class WantedChange(BaseModel):
    """What changes of a saved search; the rest stays."""

    model_config = ConfigDict(extra="forbid")

    q: Query_ | None = None
    shared: bool | None = None


class ListedSchedule(BaseModel):
    """A schedule and its state. Unknown values are null."""

    every: str
    channels: list[str]
    min_events: int
    paused: bool
    state: str = Field(
        description="Outcome of the last run, or `waiting`, `paused`, `suspended`, or `overdue`: a run is "
        "due, and nothing is known about it"
    )
    suspended: str = Field(
        description="Why the service paused it, such as a role that the owner has lost; empty if it did not"
    )
    next_run_at: datetime | None = Field(description="Past if the run is late; null while paused")


class Run(BaseModel):
    """The latest run of a search."""

    until: datetime = Field(serialization_alias="to", description="End of the interval that was searched")
    at: datetime = Field(description="When something was last recorded about it")
    outcome: str = Field(description="delivered, failed, refused, nothing, denied, error or missed")
    events: int | None = Field(description="Null if no number is known, or if the token may not search this")
    detail: str


class Saved(BaseModel):
    """A saved search."""

    id: str
    name: str
    owner: str
    is_own: bool = Field(description="Whether the owner of the token may change it")
    q: str = Field(description="The search in its normal form")
    shared: bool
    saved_at: datetime
    link_path: str = Field(description="Path of its page on the dashboards")
    schedule: ListedSchedule | None
    last_run: Run | None
    missed_runs: int


class SavedPage(BaseModel):
    """A page of saved searches: those of the owner, then those of others, by name."""

    items: list[Saved]
    next_cursor: str | None = Field(description="Pass it as `cursor` for the next page; null on the last one")


class SavedFilters(BaseModel):
    """Parameters of the list."""

    model_config = ConfigDict(extra="forbid")

    limit: int = Field(100, ge=1, le=MOST, description="Maximum number of items of a page")
    cursor: str = Field("", max_length=MAX_LENGTH, description="`next_cursor` of the page before")


@router.get("/saved-searches", operation_id="list_saved_searches", response_model=SavedPage)
def list_saved_searches(caller: Annotated[Caller, scoped(READ)], given: Annotated[SavedFilters, Query()]):
    """Lists the searches that the owner of the token has saved, and those that others share in the role."""
    context = {"operation": "list_saved_searches", "role": caller.role, "filters": {"owner": caller.owner}}
    cursors = caller.services.cursors
    place = cursors.read(given.cursor, context)["after"] if given.cursor else None
    left = [each for each in _library(caller).seen() if place is None or _place(caller, each) > place]
    shown = left[: given.limit]
    more = len(left) > given.limit
    return {
        "items": caller.counted([_saved(caller, each) for each in shown]),
        "next_cursor": cursors.write({"after": _place(caller, shown[-1])}, context) if more else None,
    }


def _place(caller: Caller, found: SavedSearch) -> list[Any]:
    return [found.owner != caller.owner, found.owner, found.name]


@router.post("/saved-searches", operation_id="save_search", response_model=Saved, status_code=201)
def save_search(caller: Annotated[Caller, scoped(WRITE)], wanted: WantedSearch):
    """Saves a search under a new name."""
    text = _checked(caller, wanted.q)
    added = _done(caller, lambda: _library(caller).add(wanted.name, text, wanted.shared))
    return _read(caller, added.id)


@router.get("/saved-searches/{search_id}", operation_id="read_saved_search", response_model=Saved)
def read_saved_search(caller: Annotated[Caller, scoped(READ)], search_id: SearchId):
    """Returns one saved search with its schedule and its last run."""
    return _read(caller, search_id)


@router.patch("/saved-searches/{search_id}", operation_id="change_saved_search", response_model=Saved)
def change_saved_search(caller: Annotated[Caller, scoped(WRITE)], search_id: SearchId, wanted: WantedChange):
    """Changes the text of a saved search, or whether it is shared. A schedule then runs the new text."""
    text = None if wanted.q is None else _checked(caller, wanted.q)
    its = _library(caller)
    if _done(caller, lambda: its.own(search_id)).schedule and text is not None:
        require(caller.token, SCHEDULE)
        _require_runnable(caller, text)
    _done(caller, lambda: its.change(search_id, text, wanted.shared))
    return _read(caller, search_id)


@router.delete("/saved-searches/{search_id}", operation_id="remove_saved_search", status_code=204)
def remove_saved_search(caller: Annotated[Caller, scoped(WRITE)], search_id: SearchId) -> Response:
    """Removes a saved search, with its schedule."""
    _done(caller, lambda: _library(caller).remove(search_id))
    return Response(status_code=204)


@router.put("/saved-searches/{search_id}/schedule", operation_id="schedule_search", response_model=Saved)
def schedule_search(caller: Annotated[Caller, scoped(SCHEDULE)], search_id: SearchId, wanted: WantedSchedule):
    """Runs a saved search at an interval, and sends results to channels; replaces an earlier schedule."""
    its = _library(caller)
    _require_runnable(caller, _done(caller, lambda: its.own(search_id)).search)
    known = [each.name for each in channel_states.load(its.clickhouse)]

    def done() -> SavedSearch:
        channels = tuple(dict.fromkeys(wanted.channels))
        schedule = Schedule(every_of(wanted.every), channels, wanted.min_events, wanted.paused)
        return its.schedule(search_id, schedule, known)

    _done(caller, done)
    return _read(caller, search_id)


@router.delete("/saved-searches/{search_id}/schedule", operation_id="unschedule_search", status_code=204)
def unschedule_search(caller: Annotated[Caller, scoped(SCHEDULE)], search_id: SearchId) -> Response:
    """Ends the schedule of a saved search, and keeps the search."""
    _done(caller, lambda: _library(caller).unschedule(search_id))
    return Response(status_code=204)


def _library(caller: Caller) -> Library:
    role = searching.ACCOUNTS[f"reader_{caller.role}"]
    return Library(caller.services.accounts.analyst(), caller.owner, role.name)


def _checked(caller: Caller, text: str) -> str:
    """Returns a search that the token itself may run, in its normal form. Raises Problem."""
    return searching.checked(
        caller, lambda: library.checked(text, searching.role_of(caller), caller.services.now())
    )


def _require_runnable(caller: Caller, text: str) -> None:
    """Raises Problem if a run, which reads as the role, would send alerts that the token may not read."""
    if ALERT in _logs(caller, text):
        require(caller.token, searching.OF_ALERTS)


def _logs(caller: Caller, text: str) -> set[str]:
    """Returns the logs that a run of a search covers: it reads as the role of the token."""
    role = searching.ACCOUNTS[f"reader_{caller.role}"]
    query = search.parse(text)
    if query.around:
        return {ALERT}
    return searched_logs(Request(query, role, caller.services.now()))


def _done(caller: Caller, run: Callable[[], Done]) -> Done:
    """Returns the result. Raises Problem for what cannot be saved.

    A token that may not read learns of no search of somebody else.
    """
    try:
        return run()
    except ForeignSearchError as error:
        if caller.token.permits(READ):
            raise forbidden(_sentence(error)) from None
        raise not_found("such saved search") from None
    except NoSearchError:
        raise not_found("such saved search") from None
    except NameTakenError as error:
        raise Problem(409, "conflict", "The name is taken", _sentence(error)) from None
    except ScheduleError as error:
        raise bad_range(_sentence(error)) from None


def _sentence(error: ScheduleError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."


def _read(caller: Caller, id_: str) -> dict[str, Any]:
    found = _done(caller, lambda: _library(caller).one(id_))
    caller.counted([found])
    return _saved(caller, found)


def _saved(caller: Caller, found: SavedSearch) -> dict[str, Any]:
    return {
        **{name: getattr(found, name) for name in ("id", "name", "owner", "shared", "saved_at")},
        "is_own": found.owner == caller.owner,
        "q": found.search,
        "link_path": f"/tailrace/search/saved/{found.id}/",
        "schedule": _schedule(found, caller.services.now()),
        "last_run": _last(caller, found),
        "missed_runs": found.missed,
    }


def _schedule(found: SavedSearch, now: datetime) -> Mapping[str, Any] | None:
    its = found.schedule
    if its is None:
        return None
    given = {"channels": list(its.channels), "min_events": its.min_events, "paused": its.paused}
    given |= {"suspended": its.suspended}
    times = {"state": slots.state_of(found, now), "next_run_at": slots.next_run(found, now)}
    return {"every": its.every_text, **given, **times}


def _last(caller: Caller, found: SavedSearch) -> Mapping[str, Any] | None:
    if found.last is None:
        return None
    return {**vars(found.last), "events": found.last.events if _may_count(caller, found) else None}


def _may_count(caller: Caller, found: SavedSearch) -> bool:
    """Whether the token may run the search itself, whose number of events a run has found."""
    try:
        is_of_alerts = ALERT in _logs(caller, found.search)
    except search.SearchError:  # the role has lost a right, or the row is of another program
        return False
    needed = [searching.SCOPE, *([searching.OF_ALERTS] if is_of_alerts else [])]
    return all(map(caller.token.permits, needed))
