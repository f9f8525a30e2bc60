"""The client of the evidence service, for the dashboards."""

import http.client
import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from tailrace.unix_socket import short_path

SECONDS = 30
HOLD_SECONDS = 55
"""Longer than insert_quorum_timeout of the user auditor, which records holds."""
VERIFICATION_SECONDS = 300
"""The time limits of requests. A verification reads every file of the bundle."""
CHUNK_BYTES = 1 << 20
MAX_TEXT = 2000
"""Characters of a text in a request."""
MAX_UPLOAD_BYTES = 256 << 20
"""The largest bundle that can be uploaded for verification."""

Answer = dict[str, Any]


class ServiceError(Exception):
    """The service refused a request; the message is shown to the user, `status` is the HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class NoServiceError(Exception):
    """The service does not answer; the message states the reason. Whether it acted is unknown."""


class NotConnectedError(NoServiceError):
    """The connection failed, so that the service did nothing."""


class EvidenceService:
    """Requests to the service with this socket. Every method raises ServiceError or NoServiceError."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def status(self) -> Answer:
        """Returns the fingerprint of the key and the version."""
        return self._json("GET", "/status")

    def exports(self) -> list[Answer]:
        """Returns the exports of which the service knows the state, the latest first."""
        return self._json("GET", "/exports")["exports"]

    def export(self, number: str) -> Answer:
        """Returns the state of one export."""
        return self._json("GET", f"/exports/{number}")

    def start(self, framework: str, first: str, end: str, actor: str, audience: str) -> str:
        """Requests an export; returns its id. Times as in `tailrace evidence --from --to`."""
        wanted = {"framework": framework, "from": first, "to": end, "actor": actor, "audience": audience}
        return self._json("POST", "/exports", json.dumps(wanted).encode())["id"]

    def sign(self, review: Mapping[str, object]) -> str:
        """Signs a review with the keys actor, audience, from, to, finding, scope, corrects, covers, and the
        list servers; returns its id."""
        return self._json("POST", "/reviews", json.dumps(review).encode())["id"]

    def verify(self, bundle: BinaryIO, size: int) -> str:
        """Verifies a bundle of `size` bytes; returns the id of the result."""
        headers = {"Content-Length": str(size)}
        return self._json("POST", "/verifications", bundle, headers, VERIFICATION_SECONDS)["id"]

    def verification(self, number: str) -> Answer:
        """Returns the checks of a verification, with their faults."""
        return self._json("GET", f"/verifications/{number}")

    def start_backtest(self, rule: str, days: int, actor: str) -> str:
        """Starts a backtest of a rule over the last days; returns its id."""
        wanted = {"rule": rule, "days": str(days), "actor": actor}
        return self._json("POST", "/backtests", json.dumps(wanted).encode())["id"]

    def latest_backtest(self, rule: str, audience: str) -> Answer:
        """Returns `latest`, the latest backtest of a rule, and `running`, that of any rule; or None."""
        wanted = {"rule": rule, "audience": audience}
        return self._json("POST", "/backtests/latest", json.dumps(wanted).encode())

    def place_hold(self, wanted: Mapping[str, str]) -> str:
        """Places a legal hold with the keys actor, audience, case, selector, reason and hold; returns its id.

        `hold` is its id, 32 hexadecimal digits: a repeated request places no second one. Without it the
        service chooses one.
        """
        body = json.dumps(wanted).encode()
        return self._json("POST", "/holds", body, seconds=HOLD_SECONDS)["id"]

    def require_may_hold(self, audience: str) -> None:
        """Raises ServiceError (403) if the audience may neither place nor release legal holds."""
        self._json("GET", f"/holds/allowed/{audience}")

    def release_hold(self, wanted: Mapping[str, str]) -> str:
        """Requests or confirms the release of a legal hold, with the keys actor, audience, hold, step
        (tailrace.retention.holds) and reason; returns the state of the hold."""
        body = json.dumps(wanted).encode()
        return self._json("POST", "/holds/release", body, seconds=HOLD_SECONDS)["state"]

    def readable(self, number: str, audience: str) -> Answer:
        """Returns the state of an export whose bundle the audience may read: it contains all servers."""
        return self._json("GET", f"/exports/{number}/readable/{audience}")

    @contextmanager
    def bundle(self, number: str, audience: str) -> Iterator[tuple[http.client.HTTPResponse, int]]:
        """Yields the bundle of an export to read, and its size in bytes."""
        with self._answer("GET", f"/exports/{number}/bundle/{audience}", None, {}, SECONDS) as answer:
            yield answer, int(answer.headers["Content-Length"])

    def _json(
        self,
        method: str,
        path: str,
        body: bytes | BinaryIO | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = SECONDS,
    ) -> Any:
        with self._answer(method, path, body, headers or {}, seconds) as answer:
            return json.loads(answer.read())

    @contextmanager
    def _answer(
        self,
        method: str,
        path: str,
        body: bytes | BinaryIO | None,
        headers: Mapping[str, str],
        seconds: float,
    ) -> Iterator[http.client.HTTPResponse]:
        connection = _Connection(self._path, seconds)
        try:
            connection.connect()
        except OSError as error:
            raise NotConnectedError(f"the evidence service does not answer: {error}") from error
        try:
            with suppress(BrokenPipeError):  # it answers a refused upload before it has read all of it
                connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            if answer.status != 200:
                raise ServiceError(answer.status, json.loads(answer.read())["error"])
            yield answer
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise NoServiceError(f"the evidence service does not answer: {error}") from error
        finally:
            connection.close()


class _Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__("localhost", timeout=seconds)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        with short_path(self._path) as path:
            self.sock.connect(path)
