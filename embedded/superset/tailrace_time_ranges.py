"""Time ranges of dashboards that Superset 6.1.0 interprets differently; for superset_config.py."""

import re
from collections.abc import Callable
from functools import wraps

_YESTERDAY = "DATETRUNC(DATEADD(DATETIME('today'), -1, DAY), DAY) : DATETRUNC(DATETIME('today'), DAY)"
_TODAY = "DATETRUNC(DATETIME('today'), DAY) : DATETIME('now')"
_HOURS = re.compile(r"Last (\d{1,4}) hours?")


def interpret(relative_start: str, relative_end: str) -> None:
    """Makes charts and the preview of a time filter interpret ranges equally, also those of static_assets.

    Superset interprets "Last 6 hours" as the six hours to come, has no previous calendar day, and its current
    day ends at the next midnight, so that no other time is comparable with it. It applies
    DEFAULT_RELATIVE_START_TIME and DEFAULT_RELATIVE_END_TIME, which are the arguments, to charts only.
    """
    from superset.common.utils import time_range_utils
    from superset.views import api

    parse = _translating(api.get_since_until)
    time_range_utils.get_since_until = parse

    def preview(**named):
        return parse(**{"relative_start": relative_start, "relative_end": relative_end, **named})

    api.get_since_until = preview


def _translating(parse: Callable) -> Callable:
    @wraps(parse)
    def parsed(time_range: str | None = None, *arguments, **named):
        return parse(as_superset_reads(time_range), *arguments, **named)

    return parsed


def as_superset_reads(time_range: str | None) -> str | None:
    """Returns "Last 360 minutes" for "Last 6 hours", the times of today and yesterday, and any other range
    unchanged."""
    if time_range == "Current day":
        return _TODAY
    if time_range == "previous calendar day":
        return _YESTERDAY
    hours = _HOURS.fullmatch(time_range or "")
    return f"Last {60 * int(hours[1])} minutes" if hours else time_range
