"""Answers HTTP: POST /callbacks/NAME for tools, GET /health and GET /metrics for this machine.

A reverse proxy terminates TLS and passes on only /callbacks/. Body, connections and waiting times are
limited, because requests arrive from outside before they are verified.
"""

import json
from http import HTTPStatus

from tailrace.alerts.callbacks import service
from tailrace.alerts.callbacks.config import CallbackConfig
from tailrace.alerts.callbacks.service import PATH, Answer, Callbacks
from tailrace.limited_server import LimitedHandler, LimitedServer

TOO_LARGE, NO_LENGTH = "too large", "no length"


class CallbackServer(LimitedServer):
    """Serves on an address; `port` 0 chooses a free one."""

    request_queue_size = 64

    def __init__(self, config: CallbackConfig, callbacks: Callbacks, bind: str, port: int) -> None:
        self.config = config
        self.callbacks = callbacks
        super().__init__(bind, port, Handler, config.max_connections)


class Handler(LimitedHandler):
    server: CallbackServer

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
            self.answer(HTTPStatus.OK, "text/plain", "ok\n")
        elif self.path == "/metrics":
            text = service.metrics(callbacks.counts(), self.server.config.sources)
            self.answer(HTTPStatus.OK, "text/plain; version=0.0.4", text)
        else:
            self.answer(HTTPStatus.NOT_FOUND, "text/plain", f"tools send POST {PATH}NAME\n")

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
        self.answer(answer.status, "application/json", text + "\n")
