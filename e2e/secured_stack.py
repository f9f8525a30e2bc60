"""The common parts of tests of a stack that was started with --secure."""

import http.client
import ssl
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack
from e2e.wait_for_idle import tailrace
from tailrace.config.home import Home
from tailrace.credentials.certificates import Certificates

START_SECONDS = 600


@contextmanager
def secured(home: Path, first_port: int, components: tuple[str, ...], **settings: str) -> Iterator[Stack]:
    """Starts the stack with the command that a user runs."""
    detect, internal = str(first_port + 7), str(first_port + 8)
    made = Stack(home, first_port, components, port_detect=detect, port_kafka_internal=internal, **settings)
    made.copy_schema()
    try:
        tailrace(made, "up", "--secure", seconds=START_SECONDS)
        yield made
    finally:
        made.down()


def strangers(directory: Path) -> Certificates:
    """Certificates of an unknown authority."""
    certificates = Certificates(Home(directory))
    certificates.make()
    return certificates


def answer(url: str, context: ssl.SSLContext | None, cookie: str = "") -> http.client.HTTPResponse:
    request = urllib.request.Request(url, headers={"Cookie": cookie} if cookie else {})
    return urllib.request.urlopen(request, timeout=LIMIT_SECONDS, context=context)
