"""The time range of a page, by its address: `?range=24h`, `?range=today` (since 00:00 UTC),
`?range=yesterday` (the last complete day, UTC), or `?from=2026-11-24T00:00:00Z&to=…` in UTC.

`parse` reads it, `arguments` writes it into links, so that links between pages keep it, and `parameters` are
those of queries: `{from:DateTime('UTC')}` and `{to:DateTime('UTC')}`. `from` is included, `to` is not.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from tailrace.reading.time_range import ISO_TIME, SQL_TIME, TimeRange
from tailrace_pages.page_errors import BadAddressError

__all__ = ["ISO_TIME", "SQL_TIME", "TimeRange", "last", "parse", "time"]

RANGES = {
    "15m": timedelta(minutes=15),
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
    "90d": timedelta(days=90),
}
TODAY, YESTERDAY = "today", "yesterday"
NAMED = ("15m", "1h", "6h", "24h", TODAY, YESTERDAY, "7d", "30d", "90d")
"""Values of `range`, in the order of their links."""
SHORTEST = timedelta(seconds=1)
"""Of a range: at midnight, today is not empty."""
DEFAULT = "24h"
NAMES = ("range", "from", "to")
"""The arguments of addresses that this module reads and writes."""
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


def parse(arguments: Mapping[str, str], now: datetime, default: str = DEFAULT) -> TimeRange:
    """Returns the range that the arguments of an address state. Raises BadAddressError.

    `now` is the end of a range without `to`.
    """
    now = now.astimezone(UTC).replace(microsecond=0)
    if arguments.get("from") or arguments.get("to"):
        return _between(arguments, now)
    name = arguments.get("range") or default
    midnight = now.replace(hour=0, minute=0, second=0)
    if name == TODAY:
        return TimeRange(midnight, max(now, midnight + SHORTEST), name)
    if name == YESTERDAY:
        return TimeRange(midnight - timedelta(days=1), midnight, name)
    if name not in RANGES:
        raise BadAddressError(f"range={name} is not a time range; there are {', '.join(NAMED)}.")
    return TimeRange(now - RANGES[name], now, name)


def last(seconds: int, now: datetime) -> TimeRange:
    """Returns the range of the last seconds before `now`."""
    return TimeRange(now - timedelta(seconds=seconds), now)


def time(name: str, text: str) -> datetime:
    """Returns the UTC time of an argument in ISO 8601. Raises BadAddressError, with the argument's name."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        example = "2026-11-24T00:00:00Z"
        raise BadAddressError(f"{name}={text} is not a time; write it as {example}.") from None
    found = (found if found.tzinfo else found.replace(tzinfo=UTC)).replace(microsecond=0)
    if not EARLIEST <= found <= LATEST:
        raise BadAddressError(f"{name}={text} is not between the years 2000 and 2100.")
    return found.astimezone(UTC)


def _between(arguments: Mapping[str, str], now: datetime) -> TimeRange:
    if not arguments.get("from"):
        raise BadAddressError("The address has `to` without `from`; give both, or range=24h.")
    since = time("from", arguments["from"])
    until = time("to", arguments["to"]) if arguments.get("to") else now
    if since >= until:
        raise BadAddressError(
            f"from={arguments['from']} is not before the end of the range, {until:%F %T} UTC."
        )
    return TimeRange(since, until)
