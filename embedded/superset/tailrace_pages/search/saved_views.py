"""The routes of saved searches: the list, the page of one, and their forms."""

from collections.abc import Callable
from typing import Any

from flask import request, url_for

from tailrace.alerts.delivery import channel_states
from tailrace.clickhouse.client import ClickHouseError
from tailrace.search import SearchError, parse
from tailrace.search.scheduled import library
from tailrace.search.scheduled.library import ForeignSearchError, Library, NoSearchError
from tailrace.search.scheduled.saved import SavedSearch, ScheduleError
from tailrace_pages import analyst, queries, rendering
from tailrace_pages.page_errors import BadAddressError, BusyError, ForbiddenError, NotFoundError
from tailrace_pages.search import asking, saved_listing
from tailrace_pages.search.blueprint import blueprint, own_path
from tailrace_pages.viewer import page, viewer

TITLE = "Saved searches"
MOST_RUNS = 50
SEARCH_ACTIONS, SCHEDULE_ACTIONS = ("change", "remove"), ("schedule", "pause", "resume", "end")


def own_library() -> Library:
    """Returns the saved searches of the viewer. Raises UnavailableError."""
    return Library(analyst.clickhouse(), viewer().name, asking.ROLES[viewer().audience].name)


@blueprint.get("/tailrace/search/saved/")
@page("search")
def saved_searches() -> Any:
    """The viewer's searches, and those that are shared in the role."""
    rows = saved_listing.rows(seen(), rendering.now(), address)
    if rendering.wants_csv():
        return rendering.csv_answer("saved-searches", saved_listing.CSV_COLUMNS, rows)
    return rendering.render("search/saved.html", TITLE, columns=saved_listing.COLUMNS, rows=rows)


@blueprint.get("/tailrace/search/saved/<id_>/")
@page("search")
def saved_search(id_: str) -> Any:
    """One search with its schedule, its runs and its forms. Its address is the link to share."""
    its = own_library()
    found = _read(lambda: its.one(id_))
    given = {"owner": found.owner, "name": found.name, "limit": MOST_RUNS}
    runs = saved_listing.runs(
        _read(lambda: its.clickhouse.rows(queries.text_of("search_run_history"), given))
    )
    if rendering.wants_csv():
        return rendering.csv_answer("runs", saved_listing.RUNS, runs)
    is_own = found.owner == viewer().name
    can_schedule = is_own and viewer().may("schedule_searches")
    return rendering.render(
        "search/saved_one.html",
        found.name,
        saved=found,
        is_own=is_own,
        can_schedule=can_schedule,
        address=url_for("tailrace_search.search", q=found.search),
        has_time=_has_time(found.search),
        link_to_share=request.host_url.rstrip("/") + address(found.id),
        facts=saved_listing.facts(found, rendering.now()),
        channels=_channels(its, found) if can_schedule else [],
        columns=saved_listing.RUNS,
        rows=runs,
    )


def _has_time(text: str) -> bool:
    try:
        return asking.has_time(parse(text))
    except SearchError:
        return False


def _channels(its: Library, found: SavedSearch) -> list[dict[str, Any]]:
    """Returns the channels of the form: those that the delivery has, and those of the schedule."""
    known = {each.name: each.state for each in _read(lambda: channel_states.load(its.clickhouse))}
    gone = {name: "no longer in alerts.yaml" for name in found.channels if name not in known}
    return [
        {"name": name, "state": state, "chosen": name in found.channels}
        for name, state in {**known, **gone}.items()
    ]


@blueprint.post("/tailrace/search/saved/")
@page("search")
def save() -> Any:
    """Saves a search under a new name."""

    def done() -> SavedSearch:
        return own_library().add(request.form.get("name", ""), _text(), _is_shared())

    return _changed(done, lambda made: f"Search {made.name} saved.", request.form.get("back", ""))


@blueprint.post("/tailrace/search/saved/<id_>/")
@page("search")
def change(id_: str) -> Any:
    """Changes a search, or removes it."""
    action = _action(SEARCH_ACTIONS)
    own = _read(lambda: own_library().own(id_))
    if action == "remove":
        message = f"Search {own.name} removed."
        return _changed(lambda: own_library().remove(id_), lambda _: message, "", _list_address())

    def done() -> SavedSearch:
        given = request.form.get("q", "").strip()
        text = saved_listing.changed_text(own, given, viewer().may("schedule_searches"), _checked)
        return own_library().change(id_, text, _is_shared())

    return _changed(done, lambda _: "Changes saved.", address(id_))


@blueprint.post("/tailrace/search/saved/<id_>/schedule/")
@page("schedule_searches")
def schedule(id_: str) -> Any:
    """Gives a search a schedule, pauses or resumes it, or ends it."""
    action, its = _action(SCHEDULE_ACTIONS), own_library()
    own = _read(lambda: its.own(id_))

    def done() -> SavedSearch:
        if action == "schedule":
            is_paused = own.schedule is not None and own.schedule.paused
            wanted = saved_listing.schedule_of(request.form, request.form.getlist("channels"), is_paused)
            return its.schedule(id_, wanted, [each.name for each in channel_states.load(its.clickhouse)])
        return its.unschedule(id_) if action == "end" else its.pause(id_, action == "pause")

    said = {"schedule": "Schedule saved.", "pause": "Schedule paused.", "resume": "Schedule resumed."}
    return _changed(done, lambda _: said.get(action, "Schedule ended."), address(id_))


def seen() -> list[SavedSearch]:
    """Returns what the viewer sees. Raises UnavailableError."""
    return _read(lambda: own_library().seen())


def address(id_: str) -> str:
    """Returns the address of the page of a saved search."""
    return url_for("tailrace_search.saved_search", id_=id_)


def _list_address() -> str:
    return url_for("tailrace_search.saved_searches")


def _action(known: tuple[str, ...]) -> str:
    action = request.form.get("action", "")
    if action not in known:
        raise BadAddressError(f"There is no action {action!r}; there are {', '.join(known)}.")
    return action


def _text() -> str:
    """Returns the search of the form. Raises SearchError for one that the role may not run."""
    return _checked(request.form.get("q", "").strip())


def _checked(text: str) -> str:
    return library.checked(text, asking.ROLES[viewer().audience], rendering.now())


def _is_shared() -> bool:
    return request.form.get("shared") == "yes"


def _read(run: Callable[[], Any]) -> Any:
    """Returns the result. Raises the error of a page."""
    try:
        return run()
    except NoSearchError:
        raise NotFoundError("There is no such search, or it is not shared with your role.") from None
    except ForeignSearchError as error:
        raise ForbiddenError(_sentence(error)) from None
    except (OSError, ClickHouseError) as error:
        raise BusyError("ClickHouse did not answer. Try again in a moment.") from error


def _changed(
    run: Callable[[], SavedSearch], said: Callable[[SavedSearch], str], back: str, to: str = ""
) -> Any:
    """Does a change and leads to the page of the search, or back with what is wrong."""
    try:
        made = _read(run)
    except (ScheduleError, SearchError) as error:
        return rendering.back_with(f"{_sentence(error)} Nothing was changed.", own_path(back), "failed")
    return rendering.back_with(said(made), to or address(made.id))


def _sentence(error: Exception) -> str:
    text = str(error).rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
