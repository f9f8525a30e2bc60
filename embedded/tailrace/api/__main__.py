"""`python -m tailrace.api`: serves the REST API until SIGTERM, and logs to standard output."""

import argparse
import ipaddress
import logging
import sys
from collections.abc import Callable
from pathlib import Path

import uvicorn

from tailrace.api import services
from tailrace.api.application import application
from tailrace.clickhouse.client import ClickHouse
from tailrace.credentials.names import password_name

LOOPBACK = "127.0.0.1"
CONNECTIONS = 64
"""Requests at a time; more get the status 503."""


def main() -> int:
    arguments = _arguments()
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", stream=sys.stdout)
    connect = connections(arguments.clickhouse, arguments.secrets)
    found = services.connected(connect, arguments.evidence_socket, arguments.requests_per_minute)
    uvicorn.run(
        application(found),
        host=arguments.host,
        port=arguments.port,
        ssl_certfile=arguments.certificate,
        ssl_keyfile=arguments.certificate,
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
        server_header=False,
        proxy_headers=bool(arguments.trusted_proxies),
        forwarded_allow_ips=arguments.trusted_proxies,
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=10,
    )
    return 0


def connections(url: str, secrets: Path) -> Callable[[str], ClickHouse]:
    """Returns a function that returns the access of a user by name. Passwords are files of a directory."""
    return lambda user: ClickHouse(url, user, (secrets / password_name(user)).read_text().strip())


def networks(text: str) -> list[str]:
    """Returns addresses and networks that are separated by commas. Raises ValueError for anything else, which
    uvicorn would take for a name that no client has."""
    return [str(ipaddress.ip_network(each.strip())) for each in text.split(",") if each.strip()]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tailrace.api", description=__doc__)
    parser.add_argument("--clickhouse", required=True, metavar="URL", help="such as http://127.0.0.1:18123")
    parser.add_argument(
        "--secrets", type=Path, required=True, metavar="DIR", help="files with the passwords of ClickHouse"
    )
    parser.add_argument("--host", default=LOOPBACK, help="address to listen at (default: %(default)s)")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--certificate", type=Path, help="certificate and key (PEM); without it HTTP is used")
    parser.add_argument("--evidence-socket", type=Path, help="the Unix socket of the evidence service")
    parser.add_argument("--requests-per-minute", type=int, default=services.REQUESTS_PER_MINUTE)
    parser.add_argument(
        "--trusted-proxies",
        type=networks,
        default=[],
        metavar="ADDRESSES",
        help="addresses or networks of proxies, separated by commas: their X-Forwarded-For names the client",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
