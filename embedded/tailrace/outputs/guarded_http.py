"""Connections to receivers: certificates are verified, no redirect is followed, and no metadata service
is reached."""

import http.client
import ipaddress
import socket
import ssl
import urllib.request
from pathlib import Path

METADATA = tuple(
    map(ipaddress.ip_network, ("169.254.0.0/16", "fe80::/10", "fd00:ec2::254/128", "100.100.100.200/32"))
)
"""Addresses at which clouds serve credentials of the machine. They are link-local, but for two."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: an alert goes only to the configured address."""

    def redirect_request(self, *_: object) -> None:
        return None


class RefusedAddressError(OSError):
    """The address of a channel leads to a service that no alert is for."""


def _require_receiver(connection: socket.socket) -> None:
    """Raises RefusedAddressError if the connected address is a metadata service, however it was named."""
    peer = ipaddress.ip_address(connection.getpeername()[0].partition("%")[0])
    plain = getattr(peer, "ipv4_mapped", None) or peer
    if any(plain in network for network in METADATA if network.version == plain.version):
        connection.close()
        raise RefusedAddressError(f"{plain} is a link-local or metadata address: no alert is sent there")


class _Http(http.client.HTTPConnection):
    def connect(self) -> None:
        super().connect()
        _require_receiver(self.sock)


class _Https(http.client.HTTPSConnection):
    def connect(self) -> None:
        super().connect()
        _require_receiver(self.sock)


class _HttpHandler(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Http, request)


class _HttpsHandler(urllib.request.HTTPSHandler):
    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(context=context)
        self._trusted = context

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Https, request, context=self._trusted)


def opener_for(
    url: str, ca_file: Path | None, *handlers: urllib.request.BaseHandler
) -> urllib.request.OpenerDirector:
    """Returns an opener for a URL; reading the certificate authorities, if it needs them, takes 40 ms."""
    if not url.startswith("https:"):
        return urllib.request.build_opener(_NoRedirects, _HttpHandler, *handlers)
    trusted = ssl.create_default_context(cafile=ca_file)
    return urllib.request.build_opener(_NoRedirects, _HttpHandler, _HttpsHandler(trusted), *handlers)
