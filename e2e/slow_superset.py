"""Superset as the browser of reports finds it on a busy machine: behind a proxy that answers late."""

import http.client
import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack
from tailrace.credentials.certificates import Certificates

PAGE = "/superset/dashboard/"
DATA = "/api/v1/dashboard/"
HOP_BY_HOP = ("connection", "keep-alive", "transfer-encoding", "content-length")


@dataclass
class Slow:
    """What the proxy has done to the requests."""

    closed: int = 0
    """Connections closed instead of an answer: the first for a dashboard's page."""
    delayed: list[str] = field(default_factory=list)
    """Paths that were answered late: those of a dashboard's content, once the page is loaded."""


@contextmanager
def slow_superset(stack: Stack, port: int, seconds: float) -> Iterator[Slow]:
    """In the block, the browser of reports opens Superset through a proxy with Superset's certificate."""
    certificates = Certificates(stack.home)
    slow = Slow()
    file = stack.home.data("reports") / "mail.json"
    written = file.read_text()

    class Handler(_Forwarding):
        state, delay = slow, seconds
        superset, context = stack.settings.port_superset, certificates.client()

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.file("superset"))
    # A handshake is for the connection's thread, or one connection would hold up all others.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    file.write_text(json.dumps({**json.loads(written), "address": f"https://127.0.0.1:{port}"}))
    try:
        yield slow
    finally:
        file.write_text(written)
        server.shutdown()
        thread.join()
        server.server_close()


class _Forwarding(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: Slow
    delay: float
    superset: int
    context: ssl.SSLContext

    def do_GET(self) -> None:
        if self.path.startswith(PAGE) and not self.state.closed:
            self.state.closed += 1
            self.close_connection = True
            return
        if self.path.startswith(DATA):
            self.state.delayed.append(self.path)
            time.sleep(self.delay)
        self._forward()

    def do_POST(self) -> None:
        self._forward()

    do_PUT = do_POST  # noqa: N815 - the name that http.server calls

    def _forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        status, headers, content = self._answer(body)
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _answer(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        """Superset's answer to this request."""
        behind = http.client.HTTPSConnection(
            "127.0.0.1", self.superset, timeout=LIMIT_SECONDS, context=self.context
        )
        try:
            behind.request(self.command, self.path, body, dict(self.headers))
            answer = behind.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            behind.close()

    def log_message(self, *_: object) -> None:
        """Logs nothing."""
