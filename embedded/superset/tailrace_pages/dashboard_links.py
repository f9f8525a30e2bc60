"""Links to dashboards, with the time range and filters of a page, in Rison as alerts/link.py writes it."""

from collections.abc import Mapping
from urllib.parse import quote

from tailrace_pages.time_range import TimeRange


def address(dashboard: str, span: TimeRange, filters: Mapping[str, tuple[str, str]], tab: str = "") -> str:
    """Returns the path of a dashboard. `filters` maps a filter, such as `query-id`, to its column and
    value; `tab` is the anchor of a tab (tailrace.dashboards.layout)."""
    shown = _text(f"{span.since:%Y-%m-%dT%H:%M:%S} : {span.until:%Y-%m-%dT%H:%M:%S}")
    masks = [_mask("time-range", f"(time_range:{shown})", f"(value:{shown})")]
    for name, (column, value) in filters.items():
        text = _text(value)
        extra = f"(filters:!((col:{column},op:IN,val:!({text}))))"
        masks.append(_mask(name, extra, f"(label:{text},value:!({text}))"))
    anchor = f"#{tab}" if tab else ""
    filtered = quote("(" + ",".join(masks) + ")", safe="")
    return f"/superset/dashboard/{dashboard}/?native_filters={filtered}{anchor}"


def _mask(name: str, extra: str, state: str) -> str:
    key = f"NATIVE_FILTER-{name}"
    return f"{key}:(extraFormData:{extra},filterState:{state},id:{key},ownState:())"


def _text(value: str) -> str:
    return "'" + value.replace("!", "!!").replace("'", "!'") + "'"
