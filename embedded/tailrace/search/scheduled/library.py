"""The saved searches of one person: what the person sees, and may change. The page and the REST API use it.

A person sees the searches that they saved in their role, and those that are shared in it. Only the owner
changes one.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from tailrace.clickhouse.client import ClickHouse
from tailrace.search.formatting import text_of
from tailrace.search.parser import parse
from tailrace.search.request import Request
from tailrace.search.scheduled import saved
from tailrace.search.scheduled.saved import SavedSearch, Schedule, ScheduleError, require_channels
from tailrace.search.sources import Role

MOST = 50
"""Searches of one owner."""


class NoSearchError(ScheduleError):
    """There is no such search, or the person does not see it."""


class ForeignSearchError(ScheduleError):
    """The search belongs to somebody else."""


class NameTakenError(ScheduleError):
    """The owner has another search of this name."""


def checked(text: str, role: Role, now: datetime) -> str:
    """Returns a search in its canonical form.

    Raises SearchError for a mistake, and DeniedError for what the role may not read.
    """
    query = parse(text)
    Request(query, role, now)
    return text_of(query)


@dataclass(frozen=True)
class Library:
    """Access of a person. Methods raise ScheduleError, and OSError and ClickHouseError of the account.

    `clickhouse` is the access of the user `analyst`.
    """

    clickhouse: ClickHouse
    owner: str
    role: str
    """Of search.ROLES."""

    def seen(self) -> list[SavedSearch]:
        """Returns what the person sees: their own searches, then those of others, by name."""
        found = saved.load(self.clickhouse, owner=self.owner, role=self.role)
        return sorted(found, key=lambda each: (each.owner != self.owner, each.owner, each.name))

    def one(self, id_: str) -> SavedSearch:
        """Returns a search that the person sees. Raises NoSearchError."""
        found = next((each for each in self.seen() if each.id == id_), None)
        if found is None:
            raise NoSearchError(f"there is no saved search {id_}, or it is not shared with your role")
        return found

    def own(self, id_: str) -> SavedSearch:
        """Returns a search that the person may change. Raises NoSearchError, ForeignSearchError."""
        found = self.one(id_)
        if found.owner != self.owner:
            raise ForeignSearchError(f"the search belongs to {found.owner}, and only its owner changes it")
        return found

    def add(self, name: str, text: str, shared: bool = False) -> SavedSearch:
        """Saves a new search; `text` is that of `checked`. Raises NameTakenError."""
        made = SavedSearch(self.owner, " ".join(name.split()), self.role, text, shared=shared)
        its = [row for row in saved.rows(self.clickhouse) if row["owner"] == self.owner]
        if any(row["name"] == made.name for row in its):
            raise NameTakenError(f"{self.owner} has a saved search {made.name!r}")
        if len(its) >= MOST:
            raise ScheduleError(f"{self.owner} has {MOST} saved searches; remove one first")
        saved.store(self.clickhouse, made)
        return made

    def change(self, id_: str, text: str | None = None, shared: bool | None = None) -> SavedSearch:
        """Changes what is given; `text` is that of `checked`."""
        before = self.own(id_)
        text = before.search if text is None else text
        return self._stored(replace(before, search=text, shared=before.shared if shared is None else shared))

    def schedule(self, id_: str, schedule: Schedule, known: Collection[str]) -> SavedSearch:
        """Gives a search a schedule; `known`: the channels that there are.

        A channel that the schedule had before may be gone from alerts.yaml.
        """
        before = self.own(id_)
        require_channels(schedule.channels, {*known, *before.channels})
        if schedule.paused and before.schedule is not None:
            schedule = replace(schedule, suspended=before.schedule.suspended)
        return self._stored(replace(before, schedule=schedule))

    def pause(self, id_: str, paused: bool) -> SavedSearch:
        """Pauses a schedule, or ends its pause. Raises ScheduleError if the search has none."""
        before = self.own(id_)
        if before.schedule is None:
            raise ScheduleError(f"the search {before.name!r} has no schedule")
        return self._stored(replace(before, schedule=replace(before.schedule, paused=paused, suspended="")))

    def unschedule(self, id_: str) -> SavedSearch:
        """Ends the schedule, and keeps the search."""
        return self._stored(replace(self.own(id_), schedule=None))

    def remove(self, id_: str) -> SavedSearch:
        """Removes a search with its schedule; returns it."""
        found = self.own(id_)
        saved.remove(self.clickhouse, found.owner, found.name)
        return found

    def _stored(self, search: SavedSearch) -> SavedSearch:
        search = replace(search, needs_account=True)
        saved.store(self.clickhouse, search)
        return search
