"""The client of a running supervisor: JSON lines over run/control.sock.

{"op": "status"}                    → {"supervisor": {…}, "parts": [{…}, …]}
{"op": "follow"}                    → the same immediately, and again after every change, until it is closed
{"op": "restart", "part": "kafka"}  → {"done": true}; an error is {"error": "…"}
{"op": "stop", "part": "kafka"}     → {"done": true} when it has ended; it stays stopped until "start"
{"op": "start", "part": "kafka"}    → {"done": true}
{"op": "take-list"}                 → {"done": true, "restarted": [names], "problem": "…"}: applies the list
{"op": "logs"}                      → {"logs": [{…}, …]}: the state of the logs of the active list
{"op": "end"}                       → {"done": true} when every component has ended, and then the supervisor
"""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from tailrace.config.home import Home
from tailrace.errors import NotRunningError, ReportedError
from tailrace.sources.log_files import LogState
from tailrace.unix_socket import short_path

SOCKET = "control.sock"
JSON_KEYS = {"components": "parts", "sources_error": "problem_of_list"}
"""Fields of StackStatus with other names in the protocol."""


class RefusedError(ReportedError):
    """The supervisor refused a request; the message is its response."""


@dataclass(frozen=True)
class ComponentStatus:
    """The status of one component."""

    name: str
    state: str
    reason: str
    """The reason why it is not healthy; empty if it is."""
    pid: int | None
    restarts: int
    since: float
    """The time when it entered its state, in seconds since 1970 UTC."""
    address: str
    version: str
    rss_bytes: int
    """Memory of its process group."""
    cpu_seconds: float
    last_failure: str = ""
    """How it ended before its last automatic restart; empty if there was none."""
    recent_restarts: int = 0
    """Automatic restarts in the last ten minutes, since a user or a changed list started it."""

    @property
    def is_healthy(self) -> bool:
        return self.state == "healthy"


@dataclass(frozen=True)
class StackStatus:
    """The supervisor and its components, in the order of their start."""

    pid: int
    since: float
    components: tuple[ComponentStatus, ...]
    sources_error: str = ""
    """The reason why the current sources.yaml is not active; empty if it is."""

    @property
    def is_healthy(self) -> bool:
        return all(component.is_healthy for component in self.components)

    def component(self, name: str) -> ComponentStatus | None:
        return next((component for component in self.components if component.name == name), None)

    def to_json(self) -> dict[str, Any]:
        return {JSON_KEYS.get(name, name): value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, message: dict[str, Any]) -> "StackStatus":
        named = {field.name: JSON_KEYS.get(field.name, field.name) for field in fields(cls)}
        known = {name: message[key] for name, key in named.items() if key in message}
        components = (ComponentStatus(**_known(ComponentStatus, each)) for each in message["parts"])
        return cls(**{**known, "components": tuple(components)})


def status(home: Home) -> StackStatus:
    """Raises NotRunningError."""
    with _connection(home) as connection:
        return StackStatus.from_json(_ask(connection, {"op": "status"}))


def follow(home: Home) -> Iterator[StackStatus]:
    """Yields the status now and after every change, until the supervisor ends. Raises NotRunningError."""
    with _connection(home) as connection:
        _send(connection, {"op": "follow"})
        for line in connection.makefile("rb"):
            yield StackStatus.from_json(json.loads(line))


def restart(home: Home, component: str) -> None:
    """Restarts one component; returns when its old process has ended. Raises NotRunningError,
    RefusedError."""
    with _connection(home) as connection:
        _ask(connection, {"op": "restart", "part": component})


def stop_component(home: Home, component: str) -> None:
    """Stops one component; returns when it has ended. Raises NotRunningError, RefusedError."""
    with _connection(home) as connection:
        _ask(connection, {"op": "stop", "part": component})


def start_component(home: Home, component: str) -> None:
    """Starts a component that was stopped; does not wait for it. Raises NotRunningError, RefusedError."""
    with _connection(home) as connection:
        _ask(connection, {"op": "start", "part": component})


def take_list(home: Home) -> tuple[list[str], str]:
    """Applies the current sources.yaml; returns the components that were restarted or started for it, and the
    reason if it is invalid. Raises NotRunningError."""
    with _connection(home) as connection:
        answer = _ask(connection, {"op": "take-list"})
        return answer["restarted"], answer["problem"]


def logs(home: Home) -> list[LogState]:
    """Returns the state of the logs of the active list, for the collectors' user. Raises NotRunningError."""
    with _connection(home) as connection:
        return [LogState.from_json(state) for state in _ask(connection, {"op": "logs"})["logs"]]


def stop(home: Home) -> None:
    """Stops all components in order, then the supervisor; returns when all have ended. Raises
    NotRunningError."""
    with _connection(home) as connection:
        _ask(connection, {"op": "end"})


def socket_of(home: Home) -> Path:
    """Returns the address of the supervisor."""
    return home.run / SOCKET


@contextmanager
def _connection(home: Home) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            with short_path(socket_of(home)) as path:
                connection.connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            raise NotRunningError(f"no stack is running in {home.root}; start it with: tailrace up") from None
        yield connection


def _send(connection: socket.socket, request: dict[str, Any]) -> None:
    connection.sendall(json.dumps(request).encode() + b"\n")


def _ask(connection: socket.socket, request: dict[str, Any]) -> dict[str, Any]:
    try:
        _send(connection, request)
        line = connection.makefile("rb").readline()
    except (ConnectionResetError, BrokenPipeError):  # the supervisor closed its socket
        line = b""
    if not line:
        raise NotRunningError("the supervisor ended before it answered; see: tailrace logs supervisor")
    answer = json.loads(line)
    if "error" in answer:
        raise RefusedError(answer["error"])
    return answer


def _known(record: type, message: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields that this version knows; the supervisor may be of a later version."""
    names = {field.name for field in fields(record)}
    return {name: value for name, value in message.items() if name in names}
