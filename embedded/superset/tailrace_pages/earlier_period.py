"""The period with which a time range is compared (TimeRange.before), as pages name it."""

from datetime import timedelta

from tailrace_pages.time_range import TimeRange

DAY = timedelta(days=1)


def title(span: TimeRange) -> str:
    """Returns the name of the earlier period: 28 Nov, 28 Nov until 09:44, or its ends."""
    return day(span) or str(span.before())


def day(span: TimeRange) -> str:
    """Returns the date of the earlier period if it is a day of UTC or begins one, else ''."""
    before = span.before()
    if not span.begins_at_midnight or before.until - before.since > DAY:
        return ""
    date = f"{before.since:%-d %b}"
    return date if before.until - before.since == DAY else f"{date} until {before.until:%H:%M}"
