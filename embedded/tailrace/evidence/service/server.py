"""Answers requests of the dashboards over HTTP on a Unix socket, in JSON.

    GET  /status                  the fingerprint of the key, and the version
    GET  /exports                 the known exports, the latest first
    POST /exports                 {framework, from, to, actor, audience}: starts an export, returns its id
    GET  /exports/ID              its state
    GET  /exports/ID/readable/AUDIENCE   its state, if this audience may read its bundle
    GET  /exports/ID/bundle/AUDIENCE     its bundle
    POST /reviews                 {actor, audience, from, to, finding, scope, corrects, covers, servers}:
                                  signs a review (evidence.reviews), returns its id; `servers` is a list
    POST /verifications           a bundle: verifies it, returns the id of the result
    GET  /verifications/ID        each check with its faults; the last KEPT_VERIFICATIONS are known
    POST /backtests               {rule, days, actor}: starts a backtest of a rule, returns its id
    POST /backtests/latest        {rule, audience}: the latest backtest of a rule, and the one that runs
    GET  /holds/allowed/AUDIENCE  nothing; 403 for an audience that may neither place nor release holds
    POST /holds                   {actor, audience, case, selector, reason, hold}: places a legal hold,
                                  returns its id: `hold`, or a new one
    POST /holds/release           {actor, audience, hold, step, reason}: requests or confirms its release,
                                  returns its state

An error is {"error": "…"} with a status from 400. Whether a person may do this is decided by the dashboards:
only the user of the service can open the socket.
"""

import json
import os
import shutil
import socket
import socketserver
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tailrace import __version__
from tailrace.clickhouse import row_policies
from tailrace.clickhouse.client import ClickHouse
from tailrace.errors import ReportedError
from tailrace.evidence import framework, reviews, signing
from tailrace.evidence.period import Period, PeriodError
from tailrace.evidence.reviews import Review, ReviewError
from tailrace.evidence.service.client import MAX_TEXT, MAX_UPLOAD_BYTES
from tailrace.evidence.service.exports import DONE, Exports, ExportState, TooManyError
from tailrace.evidence.service.verification import verification
from tailrace.retention import holds, selectors
from tailrace.retention.holds import HoldError
from tailrace.retention.selectors import SelectorError
from tailrace.rules import backtests
from tailrace.rules.backtests import BacktestRefusedError, Backtests
from tailrace.unix_socket import short_path

MAX_REQUEST_BYTES = 64 << 10
REQUEST_SECONDS = 60
KEPT_VERIFICATIONS = 50
REVIEW = ("actor", "audience", "from", "to", "finding", "scope", "corrects", "covers")
"""The texts of a review."""
WHO = ("actor", "audience", "reason")
"""Who acts on a legal hold, and why."""

RESTRICTED = (
    "the audience {} sees only a part of the servers (access.yaml), but a bundle contains all of them. An "
    "administrator can export it with tailrace evidence"
)

RESTRICTED_REVIEW = (
    "the audience {} sees only a part of the servers (access.yaml): name the servers that you have reviewed"
)

RESTRICTED_HOLD = (
    "the audience {} sees only a part of the servers (access.yaml), but a legal hold may concern all of "
    "them. An administrator can use tailrace hold"
)

HIDDEN = (
    "the audience {} sees only a part of the servers (access.yaml), "
    "but a backtest contains the servers of security"
)


class _RefusedError(Exception):
    """The request is refused with this HTTP status; the message is shown to the user."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Service:
    """The capabilities that the requests use."""

    clickhouse: ClickHouse
    key: Ed25519PrivateKey
    exports: Exports
    access: Path
    """The file access.yaml, which may be missing."""
    directory: Path
    """The directory for uploaded bundles while they are verified."""
    backtests: Backtests | None = None
    """None if this installation runs no backtests for the dashboards."""
    verified: dict[str, dict[str, object]] = field(default_factory=dict)
    """The last results of verifications by id, in their order."""

    def status(self) -> dict[str, object]:
        return {"key_fingerprint": signing.fingerprint(self.key.public_key()), "version": __version__}

    def start(self, wanted: dict[str, str]) -> dict[str, object]:
        """Starts an export. Raises _RefusedError."""
        if wanted["framework"] not in framework.names():
            raise _RefusedError(400, f"there is no framework {wanted['framework']!r}")
        if wanted["audience"] in row_policies.load(self.access):
            raise _RefusedError(403, RESTRICTED.format(wanted["audience"]))
        try:
            return {
                "id": self.exports.request(
                    wanted["framework"], _period(wanted), _given(wanted, "actor", "a name")
                )
            }
        except TooManyError as error:
            raise _RefusedError(429, str(error)) from None

    def sign(self, wanted: dict[str, str], servers: tuple[str, ...]) -> dict[str, object]:
        """Signs a review. Raises _RefusedError, ClickHouseError, OSError."""
        if wanted["covers"] not in (reviews.ALL_SERVERS, reviews.NAMED_SERVERS):
            raise _RefusedError(400, "the reviewed servers are missing: all servers or named servers")
        if (wanted["covers"] == reviews.NAMED_SERVERS) != bool(servers):
            raise _RefusedError(400, "choose either all servers, or those servers that you name")
        if not servers and wanted["audience"] in row_policies.load(self.access):
            raise _RefusedError(403, RESTRICTED_REVIEW.format(wanted["audience"]))
        review = Review(
            actor=_given(wanted, "actor", "a name"),
            period=_period(wanted),
            finding=_given(wanted, "finding", "the finding"),
            scope=wanted["scope"].strip(),
            corrects=wanted["corrects"].strip(),
            servers=servers,
        )
        try:
            return {"id": reviews.sign(self.clickhouse, review)}
        except ReviewError as error:
            raise _RefusedError(400, str(error)) from None

    def verify(self, path: Path) -> dict[str, object]:
        """Verifies a bundle, and keeps the result. Raises OSError."""
        number = uuid.uuid4().hex
        self.verified[number] = verification(path, self.key.public_key())
        for old in [*self.verified][:-KEPT_VERIFICATIONS]:
            self.verified.pop(old, None)
        return {"id": number}

    def verification(self, number: str) -> dict[str, object]:
        if (found := self.verified.get(number)) is None:
            raise _RefusedError(404, "there is no such verification, or it was forgotten after newer ones")
        return found

    def start_backtest(self, wanted: dict[str, str]) -> dict[str, object]:
        """Starts a backtest. Raises _RefusedError."""
        days = int(wanted["days"]) if wanted["days"].isdecimal() else 0
        try:
            return {"id": self._backtests().start(wanted["rule"], days, _given(wanted, "actor", "a name"))}
        except BacktestRefusedError as error:
            raise _RefusedError(409, str(error)) from None

    def latest_backtest(self, wanted: dict[str, str]) -> dict[str, object]:
        """Returns the latest backtest of a rule, and the one that runs. Raises _RefusedError."""
        if not backtests.may_read(wanted["audience"], [*row_policies.load(self.access)]):
            raise _RefusedError(403, HIDDEN.format(wanted["audience"]))
        running = self._backtests().running()
        return {
            "latest": backtests.public(self._backtests().latest(wanted["rule"])),
            "running": backtests.public(running),
        }

    def place_hold(self, wanted: dict[str, str]) -> dict[str, object]:
        """Places a legal hold. Raises _RefusedError, ClickHouseError, OSError."""
        self._require_all_servers(wanted["audience"])
        case, actor = _given(wanted, "case", "the case"), _given(wanted, "actor", "a name")
        reason = _given(wanted, "reason", "the reason")
        try:
            selector = selectors.parse(wanted["selector"])
            return {"id": holds.place(self.clickhouse, case, selector, actor, reason, wanted["hold"])}
        except (HoldError, SelectorError) as error:
            raise _RefusedError(400, str(error)) from None

    def release_hold(self, wanted: dict[str, str]) -> dict[str, object]:
        """Requests or confirms the release of a hold. Raises _RefusedError, ClickHouseError, OSError."""
        self._require_all_servers(wanted["audience"])
        actor, reason = _given(wanted, "actor", "a name"), _given(wanted, "reason", "the reason")
        if (step := wanted["step"]) not in (holds.REQUEST, holds.CONFIRM):
            raise _RefusedError(400, f"there is no step {step!r} of a release")
        try:
            hold = holds.release(self.clickhouse, wanted["hold"], actor, reason, step)
        except (HoldError, SelectorError) as error:
            raise _RefusedError(409, str(error)) from None
        return {"state": hold.state}

    def may_hold(self, audience: str) -> dict[str, object]:
        """Raises _RefusedError for an audience that may neither place nor release holds."""
        self._require_all_servers(audience)
        return {}

    def _require_all_servers(self, audience: str) -> None:
        if audience in row_policies.load(self.access):
            raise _RefusedError(403, RESTRICTED_HOLD.format(audience))

    def _backtests(self) -> Backtests:
        if self.backtests is None:
            raise _RefusedError(501, "this installation runs no backtests for the dashboards")
        return self.backtests

    def export(self, number: str) -> ExportState:
        if (state := self.exports.state(number)) is None:
            raise _RefusedError(404, "there is no such export, or it was deleted after newer ones")
        return state

    def readable(self, number: str, audience: str) -> ExportState:
        """Returns the state of an export whose bundle the audience may read. Raises _RefusedError."""
        if audience in row_policies.load(self.access):
            raise _RefusedError(403, RESTRICTED.format(audience))
        return self.export(number)


def _period(wanted: dict[str, str]) -> Period:
    try:
        return Period.parse(wanted["from"], wanted["to"], datetime.now(UTC))
    except PeriodError as error:
        raise _RefusedError(400, str(error).replace("--from", "from").replace("--to", "to")) from None


def _given(wanted: dict[str, str], name: str, what: str) -> str:
    if not (text := wanted[name].strip()):
        raise _RefusedError(400, f"{what} is missing")
    return text


class _Handler(BaseHTTPRequestHandler):
    """One request. The client closes the connection after each one."""

    timeout = REQUEST_SECONDS

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _get(self) -> dict[str, object] | None:
        match self.path.strip("/").split("/"):
            case ["status"]:
                return self._service.status()
            case ["exports"]:
                return {"exports": [asdict(state) for state in self._service.exports.states()]}
            case ["exports", number]:
                return asdict(self._service.export(number))
            case ["verifications", number]:
                return self._service.verification(number)
            case ["holds", "allowed", audience]:
                return self._service.may_hold(audience)
            case ["exports", number, "readable", audience]:
                return asdict(self._service.readable(number, audience))
            case ["exports", number, "bundle", audience]:
                self._send_bundle(self._service.readable(number, audience))
                return None
        raise _RefusedError(404, "there is no such page")

    def _post(self) -> dict[str, object]:
        match self.path:
            case "/exports":
                return self._service.start(self._texts("framework", "from", "to", "actor", "audience"))
            case "/reviews":
                content = self._content()
                return self._service.sign(_texts_of(content, *REVIEW), _names_of(content, "servers"))
            case "/verifications":
                return self._verify()
            case "/backtests":
                return self._service.start_backtest(self._texts("rule", "days", "actor"))
            case "/backtests/latest":
                return self._service.latest_backtest(self._texts("rule", "audience"))
            case "/holds":
                return self._service.place_hold(self._texts(*WHO, "case", "selector", "hold"))
            case "/holds/release":
                return self._service.release_hold(self._texts(*WHO, "hold", "step"))
        raise _RefusedError(404, "there is no such page")

    @property
    def _service(self) -> Service:
        return self.server.service

    def _answer(self, handle: Callable[[], dict[str, object] | None]) -> None:
        try:
            if (found := handle()) is not None:
                self._send(200, found)
        except _RefusedError as error:
            self._send(error.status, {"error": str(error)})
        except ReportedError as error:
            self._send(502, {"error": str(error)})
        except OSError as error:
            self._send(502, {"error": f"ClickHouse or the disk failed: {error}"})

    def _send(self, status: int, found: dict[str, object]) -> None:
        body = json.dumps(found).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _send_bundle(self, state: ExportState) -> None:
        if state.state != DONE:
            raise _RefusedError(409, f"this export is {state.state}")
        with self._service.exports.bundle(state).open("rb") as file:
            self.send_response(200)
            self.send_header("Content-Type", "application/zip")
            self.send_header("Content-Length", str(os.fstat(file.fileno()).st_size))
            self.end_headers()
            shutil.copyfileobj(file, self.wfile, 1 << 20)

    def _length(self, limit: int) -> int:
        text = self.headers.get("Content-Length", "")
        if not text.isdecimal():
            raise _RefusedError(411, "the length of the request is missing")
        if int(text) > limit:
            raise _RefusedError(413, f"the request has {int(text):,} bytes, more than {limit:,}")
        return int(text)

    def _content(self) -> dict[str, object]:
        try:
            content = json.loads(self.rfile.read(self._length(MAX_REQUEST_BYTES)))
        except ValueError:
            content = None
        if not isinstance(content, dict):
            raise _RefusedError(400, "the request is not a JSON object")
        return content

    def _texts(self, *names: str) -> dict[str, str]:
        """Returns these texts of the request; a missing one is empty."""
        return _texts_of(self._content(), *names)

    def _verify(self) -> dict[str, object]:
        left = self._length(MAX_UPLOAD_BYTES)
        with tempfile.NamedTemporaryFile(dir=self._service.directory, prefix="upload-") as file:
            while left and (chunk := self.rfile.read(min(left, 1 << 20))):
                file.write(chunk)
                left -= len(chunk)
            file.flush()
            if left:
                raise _RefusedError(400, "the upload ended early")
            return self._service.verify(Path(file.name))

    def address_string(self) -> str:
        return "dashboards"

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Logs only what changes something or fails: pages ask for the state every few seconds."""
        if (self.command == "POST" and self.path != "/backtests/latest") or str(code) != "200":
            super().log_request(code, size)


def _texts_of(content: dict[str, object], *names: str) -> dict[str, str]:
    wanted = {name: content.get(name) or "" for name in names}
    for name, text in wanted.items():
        if not isinstance(text, str) or len(text) > MAX_TEXT:
            raise _RefusedError(400, f"{name} must be a text of at most {MAX_TEXT:,} characters")
    return wanted


def _names_of(content: dict[str, object], key: str) -> tuple[str, ...]:
    names = content.get(key) or []
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise _RefusedError(400, f"{key} must be a list of names")
    return tuple(names)


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Listens on a socket that only this user can open."""

    daemon_threads = True
    request_queue_size = 32

    def __init__(self, path: Path, service: Service) -> None:
        self.service = service
        path.unlink(missing_ok=True)
        with short_path(path) as short:
            before = os.umask(0o177)
            try:
                super().__init__(short, _Handler)
            finally:
                os.umask(before)

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        """Accepts a connection; the handler expects an address of a host and a port."""
        connection, _ = super().get_request()
        return connection, ("dashboards", 0)
