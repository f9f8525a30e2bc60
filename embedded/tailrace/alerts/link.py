"""The address of the dashboard "Alerts", filtered on an alert's entity and time; without host.

The detect job computes the same (column `link_path` of tailrace.alerts). What must come out for what goes in
is in schemas/links/alert_links.json, which the tests of both read; docs/ALERTS.md describes it in words.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import quote

PATH = "/superset/dashboard/alerts/?native_filters="

FILTERS = ("cluster", "instance", "user", "src_ip", "database", "program")
"""Fields of an entity that the dashboard has a filter for: dashboards/dashboards/alerts.yaml has each by its
name, and the compiler makes NATIVE_FILTER-<name> of it."""

MARGIN_MICROS = 30 * 60 * 1_000_000
"""What is shown before the evidence begins and after it ends."""


def link_path(entity: Mapping[str, str], rule_title: str, window_from: int, event_time: int) -> str:
    """Path and query; times in microseconds since 1970 UTC.

    Everything but RFC 3986's unreserved characters is percent-encoded: programs that show mail end an address
    at brackets and quotes.

    An entity none of whose fields has a filter is shown by its rule.
    """
    known = {field: entity[field] for field in FILTERS if entity.get(field)}
    chosen = known or {"rule": rule_title}
    masks = [_time_mask(window_from - MARGIN_MICROS, event_time + MARGIN_MICROS)]
    masks += [_value_mask(field, value) for field, value in chosen.items()]
    return PATH + quote(f"({','.join(masks)})", safe="")


def _time_mask(since: int, until: int) -> str:
    span = _text(f"{_time(since)} : {_time(until)}")
    return _mask("time-range", f"(time_range:{span})", f"(value:{span})")


def _value_mask(field: str, value: str) -> str:
    column, text = "rule_title" if field == "rule" else field, _text(value)
    extra = f"(filters:!((col:{column},op:IN,val:!({text}))))"
    return _mask(field, extra, f"(label:{text},value:!({text}))")


def _mask(name: str, extra: str, state: str) -> str:
    """What Superset keeps of one native filter, in Rison, which it reads such addresses in."""
    key = f"NATIVE_FILTER-{name}"
    return f"{key}:(extraFormData:{extra},filterState:{state},id:{key},ownState:())"


def _text(value: str) -> str:
    """A text of Rison: in quotes, with ! before what would end it."""
    escaped = value.replace("!", "!!").replace("'", "!'")
    return f"'{escaped}'"


def _time(micros: int) -> str:
    return datetime.fromtimestamp(micros // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
