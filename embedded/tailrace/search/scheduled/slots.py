"""The times at which a scheduled search runs.

A run covers an interval that begins and ends at multiples of the interval since 1970, so that runs neither
overlap nor leave a gap. It begins a minute after the end of its interval, when events on their way are
stored. If the service was down, the latest interval is searched, and those before it are missed.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tailrace.search.scheduled.saved import ScheduledSearch

SETTLING = timedelta(minutes=1)


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


def due(search: ScheduledSearch, now: datetime) -> Slot | None:
    """Returns the run that is due; None if the latest one has taken place. `search` has been stored."""
    until = _floor(now - SETTLING, search.every)
    done = _floor(search.saved_at, search.every)
    if search.last_until and search.last_until > done:
        done = search.last_until
    if until <= done:
        return None
    since = until - search.every
    return Slot(since, until, max(0, -((done - since) // search.every)), min(done, since))


def _floor(time: datetime, every: timedelta) -> datetime:
    seconds = int(every.total_seconds())
    return datetime.fromtimestamp(int(time.timestamp()) // seconds * seconds, UTC)
