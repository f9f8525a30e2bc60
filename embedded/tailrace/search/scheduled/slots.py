"""The times at which a scheduled search runs.

A run covers an interval that begins and ends at multiples of the interval since 1970, so that runs neither
overlap nor leave a gap. It begins a minute after the end of its interval, when events on their way are
stored. If the service was down, the latest interval is searched, and those before it are missed.

A run that is due and was not tried for ten minutes is overdue: then nothing is known about it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tailrace.search.scheduled.saved import SavedSearch

SETTLING = timedelta(minutes=1)
PATIENCE = timedelta(minutes=10)
"""How long a run may wait for others before it is overdue."""
PAUSED, SUSPENDED, WAITING, OVERDUE = "paused", "suspended", "waiting", "overdue"
"""States of a schedule besides the outcomes of runs: its owner has lost the account or the role; it has
not run yet; a run that is due was not tried."""


@dataclass(frozen=True)
class Slot:
    """The run that is due. Times are aware, in UTC."""

    since: datetime
    until: datetime
    """Not included."""
    missed: int
    """Runs before this one that did not take place."""
    missed_since: datetime
    """The begin of the time that no run covered; `since` if there is none."""


def due(search: SavedSearch, now: datetime) -> Slot | None:
    """Returns the run that is due; None if the latest one has taken place. `search` is stored and runs."""
    until = _floor(now - SETTLING, search.every)
    done = _floor(search.scheduled_at, search.every)
    if search.last_until and search.last_until > done:
        done = search.last_until
    if until <= done:
        return None
    since = until - search.every
    return Slot(since, until, max(0, -((done - since) // search.every)), min(done, since))


def next_run(search: SavedSearch, now: datetime) -> datetime | None:
    """Returns when the next run begins, which is past if it has not taken place; None without a schedule."""
    if not search.runs:
        return None
    slot = due(search, now)
    return (slot.until if slot else _floor(now - SETTLING, search.every) + search.every) + SETTLING


def state_of(search: SavedSearch, now: datetime) -> str:
    """Returns the outcome of the last run, or another state; empty without a schedule."""
    if search.schedule is None:
        return ""
    if search.schedule.paused:
        return SUSPENDED if search.schedule.suspended else PAUSED
    slot = due(search, now)
    was_tried = slot is not None and search.last is not None and search.last.until >= slot.until
    if slot is not None and not was_tried and now >= slot.until + SETTLING + PATIENCE:
        return OVERDUE
    is_current = search.last is not None and search.last.until > _floor(search.scheduled_at, search.every)
    return search.last.outcome if search.last is not None and is_current else WAITING


def _floor(time: datetime, every: timedelta) -> datetime:
    seconds = int(every.total_seconds())
    return datetime.fromtimestamp(int(time.timestamp()) // seconds * seconds, UTC)
