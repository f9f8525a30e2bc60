"""The process of the REST API over a real socket, with TLS."""

import json
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from api_harness import PROBLEM, RANGE, bearer, statement, wait_until
from clickhouse_servers import _free_ports

from e2e.limits import LIMIT_SECONDS
from tailrace.api import tokens
from tailrace.api.__main__ import networks
from tailrace.api.services import FAILURES_PER_MINUTE
from tailrace.api.tokens import Wanted
from tailrace.config.home import Home
from tailrace.credentials.certificates import Certificates
from tailrace.programs.program import Health
from tailrace_local.components.api import Api

PER_MINUTE = 5


@pytest.fixture
def secured(server, admin, tmp_path) -> Iterator[Api]:
    """The component of the one-machine stack, with certificates and a port of its own."""
    home = Home(tmp_path / "home")
    shutil.copytree(server.home.secrets, home.secrets, dirs_exist_ok=True)
    Certificates(home).make()
    (port,) = _free_ports(1)
    settings = type(server.settings)(
        **{
            **vars(server.settings),
            "port_api": port,
            "api_requests_per_minute": PER_MINUTE,
            "api_trusted_proxies": "127.0.0.0/8",
        }
    )
    api = Api(settings, home)
    log = (tmp_path / "api.log").open("wb")
    environment = {**api.environment(), "PATH": "/usr/bin:/bin"}
    command = list(api.command())
    # The ClickHouse of these tests has no TLS.
    command[command.index("--clickhouse") + 1] = admin.url
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        wait_until(lambda: health_of(api, process, log.name), lambda health: health.ok)
        yield api
    finally:
        process.terminate()
        assert process.wait(LIMIT_SECONDS) in (0, -15), (tmp_path / "api.log").read_text()


def health_of(api: Api, process: subprocess.Popen, log: str) -> Health:
    assert process.poll() is None, Path(log).read_text()
    try:
        return api.health()
    except OSError as error:
        return Health.failing(error)


def test_a_token_reads_over_tls_and_a_second_client_is_limited_by_it(secured, server, admin, stored):
    stored("query_events", statement(1))
    wanted = Wanted("grafana", "developer", ["events:read"], 1, "ann")
    token, _ = tokens.create(admin, wanted, datetime.now(UTC))
    query = "&".join(f"{name}={value}" for name, value in RANGE.items())
    address = f"{secured.address()}/api/v1/events/statements?{query}"
    assert address.startswith("https://127.0.0.1:")
    trust = Certificates(secured.home).client()

    def read(sent: str | None):
        request = urllib.request.Request(address, headers=bearer(sent))
        return urllib.request.urlopen(request, context=trust, timeout=LIMIT_SECONDS)

    def refusal(sent: str | None) -> tuple[int, str]:
        with pytest.raises(urllib.error.HTTPError) as error:
            read(sent)
        with error.value as refused:
            return refused.code, refused.headers["Content-Type"]

    answered = 0
    while True:  # on a busy machine some of the minute's requests are free again before the last one
        try:
            response = read(token)
        except urllib.error.HTTPError as error:
            with error as limited:
                assert (limited.code, limited.headers["Content-Type"]) == (429, PROBLEM)
            break
        with response:
            assert [each["user"] for each in json.loads(response.read())["items"]] == ["app"]
            assert response.headers["Cache-Control"] == "no-store"
            assert "Server" not in response.headers
        answered += 1
        assert answered < 100 * PER_MINUTE, "the limit does not hold"
    assert answered >= PER_MINUTE
    assert [refusal(sent) for sent in (None, "guess")] == [(401, PROBLEM)] * 2
    rows = admin.rows("SELECT owner, client, status FROM tailrace.api_requests ORDER BY at")
    assert [(row["owner"], row["client"], row["status"]) for row in rows] == [
        *[("grafana", "127.0.0.1", 200)] * answered,
        ("grafana", "127.0.0.1", 429),
    ]


def test_the_component_needs_a_port(server):
    api = Api(server.settings, server.home)
    assert not api.configured()
    with pytest.raises(ValueError, match="TAILRACE_PORT_API"):
        api.check()
    assert api.command()[0] == sys.executable


def test_clients_behind_a_trusted_proxy_are_limited_by_their_own_address(secured):
    """A client can send the header too: only the address that the proxy appended counts."""
    trust = Certificates(secured.home).client()

    def guess(forwarded: str | None) -> int:
        headers = bearer("guess") | ({"X-Forwarded-For": forwarded} if forwarded else {})
        request = urllib.request.Request(f"{secured.address()}/api/v1/alerts", headers=headers)
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(request, context=trust, timeout=LIMIT_SECONDS)
        with error.value as refused:
            return refused.code

    codes = []
    while 429 not in codes:
        codes.append(guess(f"198.51.100.{len(codes) % 250}, 203.0.113.9"))
        assert len(codes) < 10 * FAILURES_PER_MINUTE, "each address was a client of its own"
    assert codes[:-1] == [401] * (len(codes) - 1) and len(codes) > FAILURES_PER_MINUTE
    assert [guess("203.0.113.10"), guess(None)] == [401, 401], "other clients are not limited"


def test_only_addresses_and_networks_are_trusted():
    assert networks(" 10.0.0.7, fd00::/8,") == ["10.0.0.7/32", "fd00::/8"]
    for text in ("*", "proxy.example", "10.0.0.7/8"):
        with pytest.raises(ValueError):
            networks(text)
