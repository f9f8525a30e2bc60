"""Names from logs in addresses: any name has an address, and the address gives exactly this name.

Browsers and servers change some percent-encoded paths: they resolve `.` and `..`, decode `%2F`, and join
`//`. Therefore a slash, a backslash, a control character, `~` and a name of dots are written as `~` with the
two hexadecimal digits of each byte of UTF-8, and the empty name is `~`. All other characters stand for
themselves, percent-encoded, so that addresses can be typed: `/tailrace/entities/client/10.0.3.9/`.
"""

import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from tailrace_pages.page_errors import BadAddressError

ROOT = "/tailrace"
EMPTY = "~"
NO_CLUSTER = "-"
MAX_CONNECTION = 2**64 - 1

_UNSAFE = re.compile(r"[~/\\\x00-\x1f\x7f-\x9f]|^\.+$")
_ESCAPES = re.compile(r"(?:~[0-9A-Fa-f]{2})+")


def encode(name: str) -> str:
    """Returns the name for a part of a path, before percent-encoding."""
    return _UNSAFE.sub(_escaped, name) if name else EMPTY


def decode(text: str) -> str:
    """Returns the name of a part of a path. Raises BadAddressError if its bytes are not UTF-8."""
    if text == EMPTY:
        return ""
    try:
        return _ESCAPES.sub(_unescaped, text)
    except UnicodeDecodeError:
        raise BadAddressError(f"{text} has bytes after ~ that are not UTF-8.") from None


def entity(kind: str, name: str, arguments: Mapping[str, str] | None = None) -> str:
    """Returns the address of the page of an entity, below the root of the server."""
    return _address(("entities", kind, name), arguments)


def session(cluster: str, instance: str, connection: int, arguments: Mapping[str, str] | None = None) -> str:
    """Returns the address of the page of the sessions with a connection id; `-` is no cluster."""
    return _address(("sessions", cluster or NO_CLUSTER, instance, str(connection)), arguments)


def query(query_id: str, arguments: Mapping[str, str] | None = None) -> str:
    return _address(("queries", query_id), arguments)


def alert(alert_id: str) -> str:
    return _address(("alerts", alert_id), None)


def _address(parts: tuple[str, ...], arguments: Mapping[str, str] | None) -> str:
    path = "/".join(quote(encode(part), safe="~@:") for part in parts)
    return f"{ROOT}/{path}/" + (f"?{urlencode(arguments)}" if arguments else "")


def _escaped(found: re.Match) -> str:
    return "".join(f"~{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))


def _unescaped(found: re.Match) -> str:
    return bytes.fromhex(found[0].replace("~", "")).decode()
