"""Scheduled searches, as rows of tailrace.scheduled_searches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.config.resources import ROOT
from tailrace.errors import ReportedError
from tailrace.search.sources import ROLES

TABLE = "tailrace.scheduled_searches (owner, name, action, role, search, every_seconds, channels)"
"""With the columns that may be written: time and account are those of the server."""
QUERY = ROOT / "sql" / "queries" / "scheduled_searches.sql"
SHORTEST, LONGEST = timedelta(minutes=5), timedelta(days=31)
NAME_LENGTH = 60


class ScheduleError(ReportedError):
    """A schedule is impossible; the message is shown to the user."""


@dataclass(frozen=True)
class ScheduledSearch:
    """A search with its schedule. Raises ScheduleError for a name, a role or an interval that cannot be."""

    owner: str
    name: str
    role: str
    """developers, compliance or security: the audience whose rights apply."""
    search: str
    """In its canonical form."""
    every: timedelta
    channels: Sequence[str]
    """Names of channels of alerts.yaml."""
    saved_at: datetime | None = None
    """Aware; None before it is stored."""
    last_until: datetime | None = None
    """The end of the last run that was finished; aware."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.name) <= NAME_LENGTH or not self.name.isprintable():
            raise ScheduleError(f"a name has 1 to {NAME_LENGTH} printable characters")
        if self.role not in ROLES:
            raise ScheduleError(f"there is no role {self.role!r}; there are {', '.join(ROLES)}")
        if not SHORTEST <= self.every <= LONGEST:
            raise ScheduleError("an interval is from 5 minutes to 31 days, such as 1h or 7d")


def save(clickhouse: ClickHouse, search: ScheduledSearch) -> None:
    """Stores a search, which replaces one with this owner and name."""
    row = {"owner": search.owner, "name": search.name, "action": "save", "role": search.role}
    row |= {"search": search.search, "every_seconds": int(search.every.total_seconds())}
    clickhouse.insert(TABLE, [{**row, "channels": list(search.channels)}])


def remove(clickhouse: ClickHouse, owner: str, name: str) -> None:
    """Ends the schedule. Raises ScheduleError if the owner has no such search."""
    if not any((row["owner"], row["name"]) == (owner, name) for row in rows(clickhouse)):
        raise ScheduleError(f"{owner} has no scheduled search {name!r}; see: tailrace search --scheduled")
    clickhouse.insert(TABLE, [{"owner": owner, "name": name, "action": "remove"}])


def rows(clickhouse: ClickHouse) -> list[Row]:
    """Returns the rows of scheduled_searches.sql: every search, with its last run."""
    return clickhouse.rows(QUERY.read_text())


def load(clickhouse: ClickHouse, refuse: Callable[[str], object] = lambda _: None) -> list[ScheduledSearch]:
    """Returns all scheduled searches that can run.

    Calls `refuse` with the reason for each other one: the table may contain rows of other programs.
    """
    found = []
    for row in rows(clickhouse):
        try:
            found.append(_search(row))
        except ScheduleError as error:
            refuse(f"{row['name']!r} of {row['owner']!r} cannot run: {error}")
    return found


def _search(row: Row) -> ScheduledSearch:
    last = int(row["last_until_seconds"])
    return ScheduledSearch(
        owner=row["owner"],
        name=row["name"],
        role=row["role"],
        search=row["search"],
        every=timedelta(seconds=int(row["every_seconds"])),
        channels=tuple(row["channels"]),
        saved_at=datetime.fromtimestamp(int(row["saved_micros"]) / 1e6, UTC),
        last_until=datetime.fromtimestamp(last, UTC) if last else None,
    )
