"""Keeps the time range that a user chose from page to page, for half an hour, in a cookie.

Superset 6.1.0 opens each dashboard with the default of its time filter, unless its address has filters. The
menu, the list and the logo have none. The cookie holds the range in Superset's notation, such as
`Last 6 hours`, `previous calendar day` or `2026-11-26T00:00:00 : 2026-11-27T00:00:00`.

A dashboard stores its filters by a request when they change; `remember` reads the range from it, and removes
the cookie if the range is the default of the dashboard. `open_with_it` makes the range the default of a
dashboard in the answer by which a browser opens it. Filters in an address come first.
The work pages *Queries*, *Search* and *Users and clients* use both as well (rendering.menu_range).
"""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from flask import Response, current_app, request

COOKIE = "tailrace_range"
MAX_AGE_SECONDS = 30 * 60
FILTER = "NATIVE_FILTER-time-range"
"""The id of the time filter in each dashboard."""
FIXED = ("weekly-compliance", "developers-digest")
"""Slugs of dashboards about a week, which neither use nor change the range."""

_RANGE = re.compile(r"[A-Za-z0-9 :.()'\",+-]{1,200}")
_STORED = ("DashboardFilterStateRestApi.post", "DashboardFilterStateRestApi.put")
_OPENED = "DashboardRestApi.get"


def kept() -> str | None:
    """Returns the range of the request's cookie, or None."""
    return _valid(unquote(request.cookies.get(COOKIE, "")))


def keep(answer: Response, range_: str | None) -> None:
    """Sets the cookie of the answer; without a range or with an invalid one, removes it."""
    if _valid(range_) is None:
        answer.delete_cookie(COOKIE)
        return
    answer.set_cookie(
        COOKIE,
        quote(range_, safe=""),
        max_age=MAX_AGE_SECONDS,
        httponly=True,
        secure=current_app.config["SESSION_COOKIE_SECURE"],
        samesite="Lax",
    )


def remember(answer: Response) -> Response:
    """after_request: keeps the range of filters that a dashboard stores."""
    if request.endpoint in _STORED and answer.status_code < 300:
        dashboard = _dashboard(request.view_args["pk"])
        if dashboard is not None and dashboard.slug not in FIXED:
            range_ = chosen(request.get_json(silent=True))
            own = _default(json.loads(dashboard.json_metadata or "{}"))
            if range_ != own:
                keep(answer, range_)
            elif COOKIE in request.cookies:
                keep(answer, None)
    return answer


def open_with_it(answer: Response) -> Response:
    """after_request: the range is the default of the dashboard that is opened."""
    if request.endpoint == _OPENED and answer.status_code == 200 and (range_ := kept()):
        body = answer.get_json()
        if (changed := with_default(body.get("result", {}), range_)) is not None:
            answer.set_data(json.dumps({**body, "result": changed}))
            keep(answer, range_)
    return answer


def chosen(body: Any) -> str | None:
    """Returns the time range of stored filters: `{"value": TEXT}` with the JSON of masks by filter."""
    try:
        masks = json.loads(body["value"])
        return masks[FILTER]["filterState"].get("value")
    except (TypeError, KeyError, ValueError, AttributeError):
        return None


def with_default(dashboard: Mapping[str, Any], range_: str) -> dict[str, Any] | None:
    """Returns a dashboard of Superset's REST interface whose time filter has this default. Returns None if
    it has no time filter, or its range is fixed."""
    metadata = json.loads(dashboard.get("json_metadata") or "{}")
    found = _time_filter(metadata)
    if found is None or dashboard.get("slug") in FIXED:
        return None
    found["defaultDataMask"] = {
        "extraFormData": {"time_range": range_},
        "filterState": {"value": range_},
    }
    return {**dashboard, "json_metadata": json.dumps(metadata)}


def _time_filter(metadata: Mapping[str, Any]) -> dict[str, Any] | None:
    filters = metadata.get("native_filter_configuration", ())
    return next((each for each in filters if each.get("id") == FILTER), None)


def _default(metadata: Mapping[str, Any]) -> str | None:
    found = _time_filter(metadata) or {}
    return found.get("defaultDataMask", {}).get("filterState", {}).get("value")


def _dashboard(key: int) -> Any:
    from superset import db
    from superset.models.dashboard import Dashboard

    return db.session.get(Dashboard, key)


def _valid(range_: Any) -> str | None:
    return range_ if isinstance(range_, str) and _RANGE.fullmatch(range_) else None
