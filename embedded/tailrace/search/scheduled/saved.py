"""Saved searches, with or without a schedule, as rows of tailrace.scheduled_searches.

The command, the page and the REST API make them here, so all three accept the same.
"""

import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.clickhouse.query_files import text_of
from tailrace.config import yaml_reader
from tailrace.errors import ReportedError
from tailrace.search.sources import ROLES
from tailrace.search.value_types import span_text

TABLE = (
    "tailrace.scheduled_searches "
    "(owner, name, action, role, search, every_seconds, channels, shared, paused, min_events, "
    "suspended, needs_account)"
)
"""With the columns that may be written: time and account are those of the server."""
NAMESPACE = uuid.UUID("b7b5b0f1-6a6e-4d0c-8a65-3f6f1c4b7e10")
SHORTEST, LONGEST = timedelta(minutes=5), timedelta(days=31)
NAME_LENGTH = 60
MOST_CHANNELS = 10
MOST_EVENTS = 1_000_000_000
WITHOUT_RESULT = ("error", "missed", "denied")
"""Outcomes of a run that has found no number of events."""


class ScheduleError(ReportedError):
    """A search cannot be saved or scheduled like this; the message is shown to the user."""


def every_of(text: str) -> timedelta:
    """Returns an interval such as 1h. Raises ScheduleError."""
    try:
        return timedelta(seconds=yaml_reader.span(text))
    except ValueError as error:
        raise ScheduleError(f"an interval is {error}") from None


@dataclass(frozen=True)
class Schedule:
    """When a search runs, and who receives the result. Raises ScheduleError for one that cannot be."""

    every: timedelta
    channels: Sequence[str]
    """Names of channels of alerts.yaml."""
    min_events: int = 1
    """A result with fewer events is not sent; 0: every result is."""
    paused: bool = False
    suspended: str = ""
    """Why the service paused it: its owner no longer has the account or the role. Empty if it did not."""

    def __post_init__(self) -> None:
        if not SHORTEST <= self.every <= LONGEST:
            raise ScheduleError("an interval is from 5 minutes to 31 days, such as 1h or 7d")
        if not 1 <= len(self.channels) <= MOST_CHANNELS:
            raise ScheduleError(f"a schedule has 1 to {MOST_CHANNELS} channels")
        if not 0 <= self.min_events <= MOST_EVENTS:
            raise ScheduleError(f"the least number of events is from 0 to {MOST_EVENTS:,}")

    @property
    def every_text(self) -> str:
        """The interval as a user writes it, such as 1h."""
        return span_text(int(self.every.total_seconds()))


def require_channels(channels: Sequence[str], known: Collection[str], place: str = "the delivery") -> None:
    """Raises ScheduleError for a channel that is not known; `place` is what has the known ones."""
    unknown = [name for name in channels if name not in known]
    if unknown and not known:
        raise ScheduleError(f"{place} has no channel yet; docs/ALERTS.md describes alerts.yaml")
    if unknown:
        said = ", ".join(sorted(known))
        raise ScheduleError(f"there is no channel {unknown[0]!r}; the channels of {place} are: {said}")


@dataclass(frozen=True)
class LastRun:
    """The latest run of a search. Times are aware."""

    until: datetime
    """The end of its interval."""
    at: datetime
    """When something was last recorded about it."""
    outcome: str
    """delivered, failed, refused: the worst of its channels; otherwise nothing, denied, error or missed."""
    events: int | None
    """None: the search has found no number."""
    detail: str


@dataclass(frozen=True)
class SavedSearch:
    """A saved search. Raises ScheduleError for a name or a role that cannot be."""

    owner: str
    name: str
    role: str
    """developers, compliance or security: the audience whose rights apply."""
    search: str
    """In its canonical form."""
    schedule: Schedule | None = None
    shared: bool = False
    """Whether all users of the role see it."""
    saved_at: datetime | None = None
    """Aware; None before it is stored."""
    scheduled_at: datetime | None = None
    """Since when it has run at this interval without a pause; aware."""
    last_until: datetime | None = None
    """The end of the last run that was finished; aware."""
    last: LastRun | None = None
    missed: int = 0
    """Runs that did not take place."""
    needs_account: bool = True
    """False for a search of an operator, who has no account (access.py)."""

    def __post_init__(self) -> None:
        if not self.owner:
            raise ScheduleError("a saved search needs an owner")
        if not 1 <= len(self.name) <= NAME_LENGTH or not self.name.isprintable():
            raise ScheduleError(f"a name has 1 to {NAME_LENGTH} printable characters")
        if self.role not in ROLES:
            raise ScheduleError(f"there is no role {self.role!r}; there are {', '.join(ROLES)}")

    @property
    def id(self) -> str:
        """32 hexadecimal digits, the same for this owner and name."""
        return uuid.uuid5(NAMESPACE, f"{self.owner}\n{self.name}").hex

    @property
    def runs(self) -> bool:
        return self.schedule is not None and not self.schedule.paused

    @property
    def every(self) -> timedelta:
        """Of a search with a schedule."""
        return self.schedule.every

    @property
    def channels(self) -> Sequence[str]:
        return self.schedule.channels if self.schedule else ()


def store(clickhouse: ClickHouse, search: SavedSearch) -> None:
    """Stores a search, which replaces one with this owner and name."""
    row: Row = {"owner": search.owner, "name": search.name, "action": "save", "role": search.role}
    row |= {"search": search.search, "shared": search.shared, "every_seconds": 0}
    row |= {"needs_account": search.needs_account}
    if its := search.schedule:
        row |= {"every_seconds": int(its.every.total_seconds()), "channels": list(its.channels)}
        row |= {"paused": its.paused, "min_events": its.min_events}
        row |= {"suspended": its.suspended if its.paused else ""}
    clickhouse.append(TABLE, [row])


def remove(clickhouse: ClickHouse, owner: str, name: str) -> None:
    """Ends a search. Raises ScheduleError if the owner has no such search."""
    if not any((row["owner"], row["name"]) == (owner, name) for row in rows(clickhouse)):
        raise ScheduleError(f"{owner} has no saved search {name!r}; see: tailrace search --scheduled")
    clickhouse.append(TABLE, [{"owner": owner, "name": name, "action": "remove"}])


def rows(clickhouse: ClickHouse, owner: str = "", role: str = "") -> list[Row]:
    """Returns the rows of scheduled_searches.sql; without a role all of them."""
    return clickhouse.rows(text_of("scheduled_searches"), {"owner": owner, "role": role})


def load(
    clickhouse: ClickHouse,
    refuse: Callable[[str], object] = lambda _: None,
    owner: str = "",
    role: str = "",
) -> list[SavedSearch]:
    """Returns the saved searches that can be; with a role those that this person sees.

    Calls `refuse` with the reason for each other one: the table may contain rows of other programs.
    """
    found = []
    for row in rows(clickhouse, owner, role):
        try:
            found.append(search_of(row))
        except ScheduleError as error:
            refuse(f"{row['name']!r} of {row['owner']!r} cannot run: {error}")
    return found


def search_of(row: Row) -> SavedSearch:
    """Returns the search of a row of `rows`. Raises ScheduleError."""
    every, last = int(row["every_seconds"]), int(row["last_until_seconds"])
    channels, least = tuple(row["channels"]), int(row["min_events"])
    stopped = (bool(row["paused"]), row["suspended"])
    return SavedSearch(
        owner=row["owner"],
        name=row["name"],
        role=row["role"],
        search=row["search"],
        schedule=Schedule(timedelta(seconds=every), channels, least, *stopped) if every else None,
        shared=bool(row["shared"]),
        saved_at=_time(int(row["saved_micros"]) / 1e6),
        scheduled_at=_time(int(row["scheduled_micros"]) / 1e6) if every else None,
        last_until=_time(last) if last else None,
        last=_last(row) if row["last_outcome"] else None,
        missed=int(row["missed"]),
        needs_account=bool(row["needs_account"]),
    )


def _last(row: Row) -> LastRun:
    events = None if row["last_outcome"] in WITHOUT_RESULT else int(row["last_events"])
    until, at = _time(int(row["tried_until_seconds"])), _time(int(row["last_at_micros"]) / 1e6)
    return LastRun(until, at, row["last_outcome"], events, row["last_detail"])


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
