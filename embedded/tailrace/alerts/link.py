"""Builds the URL of the dashboard "Alerts", filtered on an alert's entity and time; without host.

The detect job builds the same URL (column `link_path` of tailrace.alerts). The tests of both read
schemas/links/alert_links.json, which maps inputs to expected URLs; docs/ALERTS.md describes the rules.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import quote

PATH = "/superset/dashboard/alerts/?native_filters="

FILTERS = ("cluster", "instance", "user", "src_ip", "database", "program")
"""Fields of an entity for which the dashboard has a filter. dashboards/dashboards/alerts.yaml has each under
its name; the compiler derives NATIVE_FILTER-<name>."""

MARGIN_MICROS = 30 * 60 * 1_000_000
"""Time shown before the start and after the end of the evidence."""


def link_path(entity: Mapping[str, str], rule_title: str, window_from: int, event_time: int) -> str:
    """Returns path and query; times in microseconds since 1970 UTC.

    Everything but RFC 3986's unreserved characters is percent-encoded: mail programs end an address at
    brackets and quotes. If no field of the entity has a filter, the link filters on the rule.
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
    """Returns the state of one native filter in Rison, the format in which Superset reads it from a URL."""
    key = f"NATIVE_FILTER-{name}"
    return f"{key}:(extraFormData:{extra},filterState:{state},id:{key},ownState:())"


def _text(value: str) -> str:
    """Formats a text in Rison: in quotes, with ! before characters that would end it."""
    escaped = value.replace("!", "!!").replace("'", "!'")
    return f"'{escaped}'"


def _time(micros: int) -> str:
    return datetime.fromtimestamp(micros // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
