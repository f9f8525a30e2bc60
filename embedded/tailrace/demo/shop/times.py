"""The times of the stories, relative to the midnight with which the story day begins."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

MINUTE = 60
HOUR = 3600
DAY = 24 * HOUR

SEED = 19


@dataclass(frozen=True)
class StoryTimes:
    """The period of the demo. All times in seconds since 1970 UTC.

    The story day is the last completed day in UTC, at any hour at which the demo runs. The period begins with
    the ordinary day before it, so that each story can be compared, and ends now: 48 to 72 hours.
    """

    start: int
    """The midnight with which the day before the story day begins."""
    midnight: int
    """The beginning of the story day."""
    now: int
    """The end of the period: no entry is later."""

    @classmethod
    def ending(cls, now: float) -> "StoryTimes":
        end = int(now)
        return cls(end // DAY * DAY - 2 * DAY, end // DAY * DAY - DAY, end)

    @property
    def day(self) -> str:
        """The story day, such as 2026-11-24."""
        return f"{datetime.fromtimestamp(self.midnight, UTC):%Y-%m-%d}"

    def at(self, clock: str) -> int:
        """Returns the time of a clock of the story day, such as 14:10."""
        hours, minutes = clock.split(":")
        return self.midnight + int(hours) * HOUR + int(minutes) * MINUTE

    def hours(self) -> Iterator[int]:
        """Yields the beginning of each hour; the last one may be incomplete."""
        yield from range(self.start, self.now + 1, HOUR)

    def random(self, stream: str, hour: int) -> Random:
        """Returns the random numbers of one stream in one hour: an hour has the same entries in each run."""
        return Random(f"{SEED}/{stream}/{(hour - self.midnight) // HOUR}")


DEPLOYED = "09:30"
EXPORTED = "03:00"
GAP_FROM = "11:20"
GAP_TO = "11:24"
INDEX_DROPPED = "14:10"
DEADLOCKS_FROM = "16:20"
DEADLOCKS_TO = "16:26"
REPLICA_BEHIND_FROM = "18:05"
REPLICA_BEHIND_TO = "18:47"
SPRAY_FROM = "22:10"


def iso(seconds: float) -> str:
    """Returns the time as 2026-11-24T14:10:00Z."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
