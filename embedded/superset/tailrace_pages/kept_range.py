"""The time range that a user chose on another page of the menu, in the notation of addresses.

tailrace_kept_range.py keeps it as the time filter of dashboards writes it. Ranges of dashboards that a page
does not offer, such as a quarter of the calendar, are not used.
"""

from collections.abc import Mapping
from datetime import datetime

import tailrace_kept_range
from flask import Response, after_this_request, request

from tailrace_pages import time_range
from tailrace_pages.page_errors import BadAddressError
from tailrace_pages.time_range import TimeRange

BY_NAME = {
    "15m": "Last 15 minutes",
    "1h": "Last 1 hour",
    "6h": "Last 6 hours",
    "24h": "Last day",
    time_range.TODAY: "Current day",
    time_range.YESTERDAY: "previous calendar day",
    "7d": "Last week",
    "30d": "Last month",
    "90d": "Last quarter",
}
"""Ranges of addresses as dashboards name them. A month and a quarter of a dashboard follow the calendar."""
_NAMES = {theirs: name for name, theirs in BY_NAME.items()}
_SUPERSET_TIME = "%Y-%m-%dT%H:%M:%S"


def arguments() -> Mapping[str, str]:
    """Returns the arguments of an address for the kept range: `range`, or `from` and `to`; empty if none."""
    text = tailrace_kept_range.kept()
    if text is None:
        return {}
    if name := _NAMES.get(text):
        return {"range": name}
    try:
        since, until = (time_range.time("from", each.strip()) for each in text.split(" : "))
        return TimeRange(since, until).arguments() if since < until else {}
    except (ValueError, BadAddressError):
        return {}


def of_menu(now: datetime) -> TimeRange:
    """Returns the range that the address of this request states, and keeps it; without one, the kept range.

    Raises BadAddressError. `now` is the end of a range without one.
    """
    if any(request.args.get(name) for name in time_range.NAMES):
        _keep(span := time_range.parse(request.args, now))
        return span
    return time_range.parse(arguments(), now)


def _keep(span: TimeRange) -> None:
    text = BY_NAME.get(span.name) or f"{span.since:{_SUPERSET_TIME}} : {span.until:{_SUPERSET_TIME}}"

    @after_this_request
    def kept(answer: Response) -> Response:
        tailrace_kept_range.keep(answer, text)
        return answer
