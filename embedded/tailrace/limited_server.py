"""HTTP servers for requests from outside, which limit connections and waiting times."""

import socket
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

READ_SECONDS = 10
"""The time limit of each step of a request."""


class LimitedServer(ThreadingHTTPServer):
    """Serves on an IPv4 or IPv6 address, at most `max_connections` at once; `port` 0 chooses a free one."""

    daemon_threads = True

    def __init__(
        self, bind: str, port: int, handler: type[BaseHTTPRequestHandler], max_connections: int
    ) -> None:
        self.address_family = socket.AF_INET6 if ":" in bind else socket.AF_INET
        self._free = threading.BoundedSemaphore(max_connections)
        super().__init__((bind, port), handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Starts a thread for a connection; closes it if there are too many."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that ends its connection is no error of this program."""


class LimitedHandler(BaseHTTPRequestHandler):
    """One connection with one request."""

    server_version = "tailrace"
    sys_version = ""
    timeout = READ_SECONDS

    def answer(self, status: HTTPStatus, content_type: str, text: str) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Servers report what matters themselves."""
