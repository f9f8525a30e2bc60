"""The client and the scheme of a request behind reverse proxies (embedded/superset/tailrace_proxies.py)."""

import pytest
import tailrace_proxies
from werkzeug.wrappers import Request

LISTED = tailrace_proxies.networks("10.42.0.0/16, fd00::7")


def asked(peer: str, listed=LISTED, **headers: str) -> Request:
    """Returns a request as Superset sees it."""
    seen = []
    application = tailrace_proxies.behind(listed)(lambda environ, _: seen.append(environ))
    given = {f"HTTP_X_FORWARDED_{name.upper()}": value for name, value in headers.items()}
    server = {"SERVER_NAME": "superset", "SERVER_PORT": "80", "HTTP_HOST": "tailrace.example"}
    application({**server, "REMOTE_ADDR": peer, "wsgi.url_scheme": "http", **given}, None)
    return Request(seen[0])


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("10.42.0.1", "192.0.2.7", "192.0.2.7"),
        ("192.0.2.66", "192.0.2.7", "192.0.2.66"),
        ("10.42.0.1", "203.0.113.9, 192.0.2.7", "192.0.2.7"),
        ("10.42.0.1", "10.42.0.9, 192.0.2.7", "192.0.2.7"),
        ("10.42.0.1", "203.0.113.9, 192.0.2.7, 10.42.3.3,fd00::7", "192.0.2.7"),
        ("10.42.0.1", "10.42.0.9", "10.42.0.9"),
        ("10.42.0.1", "", "10.42.0.1"),
        ("10.42.0.1", "192.0.2.7, unknown", "10.42.0.1"),
        ("10.42.0.1", "192.0.2.7, ' OR 1, 10.42.0.2", "10.42.0.2"),
        ("::ffff:10.42.0.1", "192.0.2.7:50123", "192.0.2.7"),
        ("fd00::7", "[2001:db8::5]:443", "2001:db8::5"),
        ("fd00::7", "::ffff:192.0.2.7", "192.0.2.7"),
        ("", "192.0.2.7", ""),
    ],
    ids=[
        *("listed", "not listed", "forged", "forged proxy", "chain", "proxy itself", "without header"),
        *("unknown", "no address", "mapped peer", "IPv6", "mapped client", "Unix socket"),
    ],
)
def test_only_listed_proxies_name_the_client(peer, forwarded, client):
    assert asked(peer, **{"for": forwarded}).remote_addr == client


@pytest.mark.parametrize(
    ("peer", "said", "scheme"),
    [
        ("10.42.0.1", "https", "https"),
        ("10.42.0.1", "http, HTTPS", "https"),
        ("10.42.0.1", "https, http", "http"),
        ("10.42.0.1", "javascript", "http"),
        ("192.0.2.66", "https", "http"),
    ],
)
def test_only_listed_proxies_name_the_scheme(peer, said, scheme):
    request = asked(peer, proto=said, host="evil.example", prefix="/evil", port="1")
    assert (request.scheme, request.host, request.root_path) == (scheme, "tailrace.example", "")


def test_without_a_list_no_header_counts():
    request = asked("10.42.0.1", [], **{"for": "192.0.2.7", "proto": "https"})
    assert (request.remote_addr, request.scheme) == ("10.42.0.1", "http")


def test_a_listed_ipv4_address_may_be_written_as_ipv6():
    listed = tailrace_proxies.networks("::ffff:10.42.0.1, ::ffff:10.43.0.0/112")
    for peer in ("10.42.0.1", "::ffff:10.42.0.1", "10.43.7.7"):
        assert asked(peer, listed, **{"for": "192.0.2.7"}).remote_addr == "192.0.2.7"
    for peer in ("10.42.0.2", "10.44.0.1"):
        assert asked(peer, listed, **{"for": "192.0.2.7"}).remote_addr == peer


def test_the_list_is_checked():
    assert tailrace_proxies.networks("") == tailrace_proxies.networks(" , ") == []
    for text in ("proxy.example", "10.42.0.1/16", "10.42.0.0/33", "0.0.0.0/0", "::/0", "::ffff:0:0/96", "*"):
        with pytest.raises(ValueError, match="SUPERSET_TRUSTED_PROXIES"):
            tailrace_proxies.networks(f"10.0.0.1,{text}")
