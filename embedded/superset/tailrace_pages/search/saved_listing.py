"""Saved searches as rows of tables, the state of a schedule in words, and the schedule of a form."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tailrace.search.scheduled import slots
from tailrace.search.scheduled.saved import (
    WITHOUT_RESULT,
    SavedSearch,
    Schedule,
    ScheduleError,
    every_of,
)
from tailrace_pages import formats
from tailrace_pages.columns import Column
from tailrace_pages.page_errors import ForbiddenError

STATES = {
    slots.WAITING: "waiting for its first run",
    slots.PAUSED: "paused",
    slots.SUSPENDED: "suspended: the owner no longer has the account or the role",
    slots.OVERDUE: "overdue: nothing is known about the run that is due",
    "delivered": "delivered",
    "nothing": "nothing to send: fewer events than the least number",
    "failed": "failed: a channel has not accepted the result",
    "refused": "refused: a channel does not accept the result",
    "denied": "denied: the role may not read this",
    "error": "error: the search itself failed",
    "missed": "missed",
}
"""What a state means."""
NO_RUN = "none yet"

COLUMNS = (
    Column("name", "Name", 20, link="address"),
    Column("owner", "Owner", 12),
    Column("search", "Search", 0, "code"),
    Column("shared", "Shared", 6, note="Whether all users of the role see it"),
    Column("every", "Every", 6, note="The interval of the schedule"),
    Column("channels", "Channels", 14),
    Column("state", "State", 10, note="The outcome of the last run, the worst of its channels"),
    Column("last", "Last run (UTC)", 20, note="The end of the interval that was searched"),
    Column("events", "Events", 8, note="That the last run has found"),
    Column("next", "Next run (UTC)", 20),
    Column("missed", "Missed", 6, note="Runs that did not take place"),
)
CSV_COLUMNS = (*COLUMNS, Column("role", "Role"), Column("min_events", "Least events"), Column("id", "Id"))
RUNS = (
    Column("until", "End of the interval (UTC)", 20, "time"),
    Column("at", "Recorded (UTC)", 20, "time"),
    Column("channel", "Channel", 16, note="Empty: the search itself"),
    Column("attempt", "Attempt", 8, "count"),
    Column("outcome", "Outcome", 10),
    Column("events", "Events", 10, "count"),
    Column("missed", "Missed runs", 12, "count"),
    Column("detail", "Detail", 0),
)


def rows(
    searches: Sequence[SavedSearch], now: datetime, address: Callable[[str], str]
) -> list[dict[str, Any]]:
    """Returns the rows of COLUMNS and CSV_COLUMNS. `address` returns that of the page of an id."""
    return [{**_row(each, now), "address": address(each.id)} for each in searches]


def _row(search: SavedSearch, now: datetime) -> dict[str, Any]:
    its = search.schedule
    return {
        **{name: getattr(search, name) for name in ("id", "name", "owner", "role", "search")},
        "shared": "yes" if search.shared else "no",
        "every": its.every_text if its else "",
        "channels": ", ".join(search.channels),
        "min_events": str(its.min_events) if its else "",
        "state": slots.state_of(search, now),
        "last": _last(search),
        "events": formats.count(search.last.events) if its and search.last else "",
        "next": _time(slots.next_run(search, now)),
        "missed": formats.count(search.missed) if its else "",
    }


def _last(search: SavedSearch) -> str:
    if search.schedule is None:
        return ""
    return formats.time(search.last.until) if search.last else NO_RUN


def _time(time: datetime | None) -> str:
    return formats.time(time) if time else ""


def facts(search: SavedSearch, now: datetime) -> dict[str, str]:
    """Returns what the page of a search says about its schedule; nothing without one."""
    its = search.schedule
    if its is None:
        return {}
    row, following = _row(search, now), slots.next_run(search, now)
    found = {
        "State": STATES.get(row["state"], row["state"]),
        "Every": row["every"],
        "Channels": row["channels"],
        "Events that are sent": f"{formats.count(its.min_events)} or more"
        if its.min_events
        else "any number",
        "Last run (UTC)": row["last"],
        "Events": row["events"] or NO_RUN,
        "Next run (UTC)": row["next"] + (" (late)" if following and following < now else ""),
        "Missed runs": row["missed"],
        "Suspended because": its.suspended,
        "Detail": search.last.detail if search.last else "",
    }
    return {title: text for title, text in found.items() if text}


def runs(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows of RUNS: an attempt that found no number has an unknown one."""
    return [
        {
            **row,
            "until": _of_micros(row["until_micros"]),
            "at": _of_micros(row["at_micros"]),
            "events": None if row["outcome"] in WITHOUT_RESULT else row["events"],
        }
        for row in found
    ]


def _of_micros(micros: int) -> datetime:
    return datetime.fromtimestamp(micros / 1e6, UTC)


def schedule_of(form: Mapping[str, str], channels: Sequence[str], paused: bool) -> Schedule:
    """Returns the schedule of a form. Raises ScheduleError."""
    text = form.get("min_events", "").strip() or "1"
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        raise ScheduleError("the least number of events is a number, 0 for every result")
    return Schedule(
        every_of(form.get("every", "").strip()), tuple(dict.fromkeys(channels)), int(text), paused
    )


def changed_text(
    own: SavedSearch, given: str, may_schedule: bool, checked: Callable[[str], str]
) -> str | None:
    """Returns the new text of a search, or None if it stays.

    The schedule sends what another text finds to its channels, so a change needs the same permission as the
    schedule, as in the REST API. Raises ForbiddenError, and what `checked` raises for a new text.
    """
    if given == own.search:
        return None
    text = checked(given)
    if text == own.search:
        return None
    if own.schedule is not None and not may_schedule:
        raise ForbiddenError(
            "This search has a schedule, which sends its results to channels: a change of its text needs the "
            "permission schedule_searches. Nothing was changed."
        )
    return text
