"""The period of the page: a time range in whole minutes, as evidence is, and links to calendar periods."""

from datetime import UTC, date, datetime, timedelta

from tailrace.evidence.period import Period
from tailrace_pages.page_errors import BadAddressError
from tailrace_pages.time_range import TimeRange

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
MAX_DAYS = 400
"""The longest period of the page; bundles may be longer."""


def in_minutes(span: TimeRange) -> TimeRange:
    """Returns the range without seconds. Raises BadAddressError for an empty one, or one that is too long."""
    since, until = (moment.replace(second=0) for moment in (span.since, span.until))
    if since >= until:
        raise BadAddressError("The period is shorter than a minute: evidence is known by the minute.")
    if until - since > timedelta(days=MAX_DAYS):
        raise BadAddressError(f"The period is longer than {MAX_DAYS} days: choose a shorter one.")
    return TimeRange(since, until, span.name)


def period_of(span: TimeRange) -> Period:
    """Returns the period of a range in whole minutes."""
    return Period(span.since, span.until)


def texts(span: TimeRange) -> dict[str, str]:
    """Returns the ends as fields `from` and `to` of forms: 2026-11-24T08:30Z."""
    return {"from": f"{span.since:%Y-%m-%dT%H:%MZ}", "to": f"{span.until:%Y-%m-%dT%H:%MZ}"}


def calendar(now: datetime) -> dict[str, TimeRange]:
    """Returns periods of the calendar by their titles, in UTC: this month until now, and the last complete
    month and quarter. Titles are dates: "last month" is 30 days in the time ranges beside them."""
    month = _day_of(now).replace(day=1)
    quarter = month.replace(month=3 * ((month.month - 1) // 3) + 1)
    last_month, last_quarter = _months_before(month, 1), _months_before(quarter, 3)
    periods = {} if now - month < MINUTE else {f"{month:%B %Y} until now": TimeRange(month, now)}
    return periods | {
        f"{last_month:%B %Y}": TimeRange(last_month, month),
        f"{last_quarter:%B} to {_months_before(quarter, 1):%B %Y}": TimeRange(last_quarter, quarter),
    }


def whole_days(span: TimeRange, now: datetime) -> TimeRange:
    """Returns the period of a review: the complete days (UTC) in the range. Without one, the days over which
    the range extends and that have ended, or else yesterday."""
    today = _day_of(now)
    first, end = -(-(span.since - today) // DAY), min(0, (span.until - today) // DAY)
    if first >= end:
        first, end = min(-1, (span.since - today) // DAY), min(0, -(-(span.until - today) // DAY))
    return TimeRange(today + first * DAY, today + end * DAY)


def since_day(span: TimeRange, day: date | None) -> TimeRange:
    """Returns the part of a range since the beginning of a day (UTC), the whole range without such a part."""
    if day is None:
        return span
    begin = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return TimeRange(begin, span.until) if span.since < begin < span.until else span


def _day_of(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _months_before(first: datetime, months: int) -> datetime:
    """Returns the first day of an earlier month; `first` is the first day of one."""
    number = first.year * 12 + first.month - 1 - months
    return first.replace(year=number // 12, month=number % 12 + 1)
