"""A range of times, and its notation for queries and addresses."""

from dataclasses import dataclass
from datetime import datetime, timedelta

SQL_TIME = "%Y-%m-%d %H:%M:%S"
ISO_TIME = "%Y-%m-%dT%H:%M:%SZ"
DAY = timedelta(days=1)


@dataclass(frozen=True)
class TimeRange:
    """A range of UTC times with whole seconds; `name` is empty if both ends were given."""

    since: datetime
    until: datetime
    name: str = ""

    @property
    def seconds(self) -> int:
        return int((self.until - self.since).total_seconds())

    def arguments(self) -> dict[str, str]:
        """Returns the arguments of an address that shows this range."""
        if self.name:
            return {"range": self.name}
        return {"from": f"{self.since:{ISO_TIME}}", "to": f"{self.until:{ISO_TIME}}"}

    def parameters(self) -> dict[str, str]:
        """Returns the parameters `from` and `to` of a query, of ClickHouse's type DateTime('UTC')."""
        return {"from": f"{self.since:{SQL_TIME}}", "to": f"{self.until:{SQL_TIME}}"}

    def before(self) -> "TimeRange":
        """Returns the earlier range of the same length with which numbers are compared: the one that ends
        where this one begins or, if this one begins at midnight (UTC), the same hours of the days before, as
        sql/queries/parts/earlier.sql."""
        length = self.until - self.since
        shift = -(-length // DAY) * DAY if self.begins_at_midnight else length
        return TimeRange(self.since - shift, self.since - shift + length)

    def comparable_since(self) -> datetime:
        """Returns the latest begin of a log with which the earlier range counts as covered: a tenth of the
        range after its begin, as in sql/queries/parts/change.sql."""
        return self.before().since + (self.until - self.since) / 10

    @property
    def begins_at_midnight(self) -> bool:
        return (self.since.hour, self.since.minute, self.since.second) == (0, 0, 0)

    def around(self, margin: timedelta) -> "TimeRange":
        """Returns the range with a margin at both ends."""
        return TimeRange(self.since - margin, self.until + margin)

    def __str__(self) -> str:
        return f"{self.since:%Y-%m-%d %H:%M} to {self.until:%Y-%m-%d %H:%M} UTC"
