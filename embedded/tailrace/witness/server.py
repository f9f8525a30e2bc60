"""Serves a witness: POST /add-checkpoint, GET /ORIGIN HASH/checkpoint, GET /health.

Requests are verified by the signature of the log only, so body, connections and waiting times are limited.
"""

from collections.abc import Callable
from http import HTTPStatus

from tailrace.limited_server import LimitedHandler, LimitedServer
from tailrace.witness.witness import Answer, Witness
from tailrace_verify.notes import NoteError

MAX_BODY = 1 << 20
MAX_CONNECTIONS = 16


class WitnessServer(LimitedServer):
    """Serves on an address; `port` 0 chooses a free one. `report` writes a line for each refusal."""

    def __init__(self, witness: Witness, bind: str, port: int, report: Callable[[str], None]) -> None:
        self.witness, self.report = witness, report
        super().__init__(bind, port, Handler, MAX_CONNECTIONS)


class Handler(LimitedHandler):
    server: WitnessServer

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
        self.answer(answer.status, answer.kind, answer.text)
