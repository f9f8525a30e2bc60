"""Answers HTTP: POST /callbacks/NAME for tools, GET /health and GET /metrics for this machine.

A reverse proxy terminates TLS and passes on only /callbacks/. Body, connections and waiting times are
limited, because requests arrive from outside before they are verified.
"""

import json
import socket
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tailrace.alerts.callbacks import service
from tailrace.alerts.callbacks.config import CallbackConfig
from tailrace.alerts.callbacks.service import PATH, Answer, Callbacks

READ_SECONDS = 10
"""The time limit of each step of a request."""
TOO_LARGE, NO_LENGTH = "too large", "no length"


class CallbackServer(ThreadingHTTPServer):
    """Serves on an address; `port` 0 chooses a free one."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, config: CallbackConfig, callbacks: Callbacks, bind: str, port: int) -> None:
        self.address_family = socket.AF_INET6 if ":" in bind else socket.AF_INET
        self.config = config
        self.callbacks = callbacks
        self._free = threading.BoundedSemaphore(config.max_connections)
        super().__init__((bind, port), Handler)

    def process_request(self, request, client_address) -> None:
        """Starts a thread for a connection; closes it if there are too many."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request, client_address) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request, client_address) -> None:
        """A client that ends its connection is no error of this program."""


class Handler(BaseHTTPRequestHandler):
    """One connection with one request."""

    server: CallbackServer
    server_version = "tailrace"
    sys_version = ""
    timeout = READ_SECONDS

    def do_POST(self) -> None:
        refused = self._refused_length()
        if refused:
            self.server.callbacks.note("", refused, self.client_address[0])
            self._say_answer(refused)
            return
        body = self.rfile.read(int(self.headers["Content-Length"]))
        path = self.path.partition("?")[0]
        answer = self.server.callbacks.answer(path, self.headers, body, self.client_address[0])
        self._say_answer(answer)

    def do_GET(self) -> None:
        callbacks = self.server.callbacks
        if self.path == "/health":
            self._say(HTTPStatus.OK, "text/plain", "ok\n")
        elif self.path == "/metrics":
            text = service.metrics(callbacks.counts(), self.server.config.sources)
            self._say(HTTPStatus.OK, "text/plain; version=0.0.4", text)
        else:
            self._say(HTTPStatus.NOT_FOUND, "text/plain", f"tools send POST {PATH}NAME\n")

    def _refused_length(self) -> Answer | None:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()):
            return Answer(HTTPStatus.LENGTH_REQUIRED, NO_LENGTH, "the header Content-Length is missing")
        if int(length) > self.server.config.max_body:
            limit = self.server.config.max_body
            return Answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LARGE, f"more than {limit:,} bytes")
        return None

    def _say_answer(self, answer: Answer) -> None:
        text = json.dumps({"outcome": answer.outcome, "detail": answer.detail})
        self._say(answer.status, "application/json", text + "\n")

    def _say(self, status: HTTPStatus, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """`RequestLog` reports what matters."""
