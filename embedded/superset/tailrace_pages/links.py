"""The addresses of pages, as stable links for other pages, mails and dashboards. Names are percent-encoded.

`span` is the time range that the page shows; without it, the page's own default. A link to a page of another
module is only shown if that page is registered: rendering.has_page(title).
"""

from collections.abc import Mapping
from urllib.parse import quote, urlencode

from tailrace_pages.time_range import TimeRange

ROOT = "/tailrace/"


def alerts(span: TimeRange | None = None, **filters: str) -> str:
    """The alert inbox, with filters of alerts/filters.py."""
    return _address("alerts/", span, filters)


def alert(id_: str) -> str:
    """One alert, by its 32 hexadecimal digits."""
    return _address(f"alerts/{_part(id_)}/")


def query(query_id: str, span: TimeRange | None = None) -> str:
    """One query, by its id."""
    return _address(f"queries/{_part(query_id)}/", span)


def session(cluster: str, instance: str, connection_id: int, span: TimeRange | None = None) -> str:
    """One connection. An empty cluster is `-`, because a path has no empty part."""
    return _address(f"sessions/{_part(cluster or '-')}/{_part(instance)}/{connection_id}/", span)


def user(name: str, span: TimeRange | None = None) -> str:
    return _address(f"entities/user/{_part(name)}/", span)


def client(address: str, span: TimeRange | None = None) -> str:
    return _address(f"entities/client/{_part(address)}/", span)


def table(name: str, span: TimeRange | None = None) -> str:
    return _address(f"entities/table/{_part(name)}/", span)


def _address(path: str, span: TimeRange | None = None, arguments: Mapping[str, str] | None = None) -> str:
    given = {**(arguments or {}), **(span.arguments() if span else {})}
    return ROOT + path + (f"?{urlencode(given)}" if given else "")


def _part(text: str) -> str:
    return quote(text, safe="")
