"""The addresses of pages, as stable links for other pages, mails and dashboards.

Names from logs are percent-encoded. A slash, a backslash, a control character, `~` and a name of dots, which
browsers and servers change in paths, are written as `~` with the hexadecimal digits of each byte of UTF-8.

`span` is the time range that the page shows; without it, the page's own default. A link to a page of another
module is only shown if that page is registered: rendering.has_page(title).
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote, urlencode

from tailrace_pages.page_errors import BadAddressError
from tailrace_pages.time_range import TimeRange

ROOT = "/tailrace/"
EMPTY = "~"
"""An empty name."""
NO_CLUSTER = "-"

_UNSAFE = re.compile(r"[~/\\\x00-\x1f\x7f-\x9f]|^\.+$")
_ESCAPES = re.compile(r"(?:~[0-9A-Fa-f]{2})+")


def encode(name: str) -> str:
    """Returns a name for a part of a path, before percent-encoding."""
    return _UNSAFE.sub(_escaped, name) if name else EMPTY


def decode(text: str) -> str:
    """Returns the name of a part of a path. Raises BadAddressError if its bytes are not UTF-8."""
    if text == EMPTY:
        return ""
    try:
        return _ESCAPES.sub(_unescaped, text)
    except UnicodeDecodeError:
        raise BadAddressError(f"{text} has bytes after ~ that are not UTF-8.") from None


def address(*parts: str, arguments: Mapping[str, str] | None = None) -> str:
    """Returns the address of a page by the parts of its path, which can be any names."""
    path = "/".join(map(_quoted, parts))
    return f"{ROOT}{path}/" + (_query(tuple(arguments.items())) if arguments else "")


@lru_cache(4096)
def _quoted(part: str) -> str:
    """Cached, because the links of a table have few users, clients and time ranges."""
    return quote(encode(part), safe="~@:")


@lru_cache(1024)
def _query(arguments: tuple[tuple[str, str], ...]) -> str:
    return f"?{urlencode(arguments)}"


def alerts(span: TimeRange | None = None, **filters: str) -> str:
    """The alert inbox, with filters of alerts/filters.py."""
    return address("alerts", arguments={**filters, **_arguments(span)})


def alert(id_: str) -> str:
    """One alert, by its 32 hexadecimal digits."""
    return address("alerts", id_)


def rule(key: str, span: TimeRange | None = None) -> str:
    """One rule, by the `rule_id` of its alerts."""
    return address("rules", key, arguments=_arguments(span))


def query(query_id: str, span: TimeRange | None = None) -> str:
    """One query, by its id."""
    return address("queries", query_id, arguments=_arguments(span))


def session(cluster: str, instance: str, connection_id: int, span: TimeRange | None = None) -> str:
    """One connection. An empty cluster is NO_CLUSTER."""
    parts = ("sessions", cluster or NO_CLUSTER, instance, str(connection_id))
    return address(*parts, arguments=_arguments(span))


def user(name: str, span: TimeRange | None = None) -> str:
    return address("entities", "user", name, arguments=_arguments(span))


def client(source: str, span: TimeRange | None = None) -> str:
    return address("entities", "client", source, arguments=_arguments(span))


def table(name: str, span: TimeRange | None = None) -> str:
    return address("entities", "table", name, arguments=_arguments(span))


def search(field: str, value: str, span: TimeRange | None = None) -> str:
    """The events whose field of the search grammar has exactly this value."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return address("search", arguments={"q": f'{field}:"{escaped}"', **_arguments(span)})


def _arguments(span: TimeRange | None) -> dict[str, str]:
    return span.arguments() if span else {}


def _escaped(found: re.Match) -> str:
    return "".join(f"~{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))


def _unescaped(found: re.Match) -> str:
    return bytes.fromhex(found[0].replace("~", "")).decode()
