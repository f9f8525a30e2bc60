"""Reverse proxies in front of Superset: only those of a list name the client and the scheme of a request.

Rate limits and the log of refused logins have the address of the client. Without a list, that is the address
from which a request arrives: all clients of a proxy share one. With a list, the client is the last address in
X-Forwarded-For that is no listed proxy, because what stands before it may be forged. werkzeug's ProxyFix
counts proxies instead, and believes everyone who reaches Superset without them.

superset_config.py adds `behind` to ADDITIONAL_MIDDLEWARE.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

VARIABLE = "SUPERSET_TRUSTED_PROXIES"

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
"""A WSGI application."""

_WITH_PORT = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::\d+)?|([0-9.]+):\d+")
_SCHEMES = ("http", "https")
_MAPPED_BITS = 96
"""Length of the prefix ::ffff:0:0 of IPv4 addresses in IPv6 ones."""


def networks(text: str) -> list[Network]:
    """Returns the networks of a list, separated by commas. Raises ValueError, with the variable's name."""
    return [_network(part.strip()) for part in text.split(",") if part.strip()]


def _network(text: str) -> Network:
    try:
        network = ip_network(text)
    except ValueError as error:
        raise ValueError(f"{VARIABLE}: {error}; expected for example 10.0.0.7,10.42.0.0/16") from None
    network = _unmapped(network)
    if network.prefixlen == 0:
        raise ValueError(f"{VARIABLE}: {text} has every address, so that every client could name another")
    return network


def _unmapped(network: Network) -> Network:
    """Returns IPv4 networks in IPv6 notation as IPv4: `_address` does the same with addresses."""
    mapped = getattr(network.network_address, "ipv4_mapped", None)
    is_mapped = mapped is not None and network.prefixlen >= _MAPPED_BITS
    return IPv4Network((mapped, network.prefixlen - _MAPPED_BITS)) if is_mapped else network


def behind(proxies: Sequence[Network]) -> Callable[[Application], Application]:
    """Returns a WSGI middleware with the client and the scheme that these proxies name."""

    def middleware(application: Application) -> Application:
        def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
            peer = _address(environ.get("REMOTE_ADDR", ""))
            if peer is not None and _is_listed(peer, proxies):
                environ["REMOTE_ADDR"] = str(_client(peer, environ.get("HTTP_X_FORWARDED_FOR", ""), proxies))
                scheme = environ.get("HTTP_X_FORWARDED_PROTO", "").rpartition(",")[2].strip().lower()
                if scheme in _SCHEMES:
                    environ["wsgi.url_scheme"] = scheme
            return application(environ, start_response)

        return answer

    return middleware


def _client(peer: Address, forwarded: str, proxies: Sequence[Network]) -> Address:
    """Returns the last address that is no proxy; the last proxy if it does not name an address."""
    client = peer
    for text in reversed(forwarded.split(",")):
        address = _address(text.strip())
        if address is None:
            break
        client = address
        if not _is_listed(client, proxies):
            break
    return client


def _is_listed(address: Address, proxies: Sequence[Network]) -> bool:
    return any(address in network for network in proxies)


def _address(text: str) -> Address | None:
    """Returns an address without its port; an IPv4 address in an IPv6 one is the same client."""
    found = _WITH_PORT.fullmatch(text)
    try:
        address = ip_address((found[1] or found[2]) if found else text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
