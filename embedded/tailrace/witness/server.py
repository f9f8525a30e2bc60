"""Serves a witness: POST /add-checkpoint, GET /ORIGIN HASH/checkpoint, GET /health.

Requests are verified by the signature of the log only, so body, connections and waiting times are limited.
"""

import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tailrace.witness.witness import Answer, Witness
from tailrace_verify.notes import NoteError

READ_SECONDS = 10
MAX_BODY = 1 << 20
MAX_CONNECTIONS = 16


class WitnessServer(ThreadingHTTPServer):
    """Serves on an address; `port` 0 chooses a free one. `report` writes a line for each refusal."""

    daemon_threads = True

    def __init__(self, witness: Witness, bind: str, port: int, report: Callable[[str], None]) -> None:
        self.witness, self.report = witness, report
        self._free = threading.BoundedSemaphore(MAX_CONNECTIONS)
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

    server: WitnessServer
    server_version = "tailrace"
    sys_version = ""
    timeout = READ_SECONDS

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if self.path != "/add-checkpoint":
            self._say(Answer(HTTPStatus.NOT_FOUND, "logs send POST /add-checkpoint\n"))
        elif not (length.isascii() and length.isdecimal()):
            self._say(Answer(HTTPStatus.LENGTH_REQUIRED, "the header Content-Length is missing\n"))
        elif int(length) > MAX_BODY:
            self._say(Answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {MAX_BODY} bytes\n"))
        else:
            self._say(self._add(self.rfile.read(int(length))))

    def do_GET(self) -> None:
        if self.path == "/health":
            self._say(Answer(HTTPStatus.OK, f"{self.server.witness.key.vkey()}\n"))
        elif self.path.endswith("/checkpoint"):
            self._say(self.server.witness.checkpoint(self.path[1 : -len("/checkpoint")]))
        else:
            self._say(Answer(HTTPStatus.NOT_FOUND, "expected /ORIGIN HASH/checkpoint\n"))

    def _add(self, body: bytes) -> Answer:
        try:
            answer = self.server.witness.add_checkpoint(body)
        except (OSError, NoteError) as error:
            answer = Answer(HTTPStatus.INTERNAL_SERVER_ERROR, f"the state cannot be used: {error}\n")
        if answer.status not in (HTTPStatus.OK, HTTPStatus.CONFLICT):
            self.server.report(f"{self.client_address[0]}: {answer.status.value} {answer.text.strip()}")
        return answer

    def _say(self, answer: Answer) -> None:
        content = answer.text.encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Refused checkpoints are reported, and nothing else."""
