"""A proxy of a real Kafka broker that treats requests like a broker that stops and returns."""

import socket
import struct
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto

PRODUCE = 0
NOT_LEADER_OR_FOLLOWER, OUT_OF_ORDER_SEQUENCE_NUMBER = 6, 45
VERSIONS = range(5, 8)
COMPACT_VERSIONS = range(9, 12)
"""Versions of produce requests that `_answer` and `_compact_answer` can answer (Kafka's protocol guide)."""

Request = bytes
"""Without the four bytes of its length."""


class Fault(Enum):
    LOSE = auto()
    """The connection is closed, and the request is lost."""
    REFUSE = auto()
    """After the next request has arrived too, it is refused: this broker does not lead the partition yet."""
    GIVE_UP = auto()
    """The broker reports missing earlier messages, which is false."""


class FailingBroker:
    """Forwards everything except the next produce requests, one for each fault. Use it in a `with`."""

    def __init__(self, broker_port: int):
        self._broker_port = broker_port
        self._faults: deque[Fault] = deque()
        self._held: Request = b""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.holds = threading.Event()
        """Set while a request waits for its refusal."""

    def __enter__(self) -> "FailingBroker":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def do(self, *faults: Fault) -> None:
        self._faults.extend(faults)

    @property
    def done(self) -> bool:
        """Returns whether all faults are done."""
        return not self._faults and not self.holds.is_set()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client, socket.create_connection(("127.0.0.1", self._broker_port)) as broker:
            writing = threading.Lock()

            def answer(response: bytes) -> None:
                with writing:
                    _send(client, response)

            threading.Thread(target=_forward, args=(broker, client, answer), daemon=True).start()
            while request := _receive(client):
                fault = self._next_fault(request, answer)
                if fault is Fault.LOSE:
                    return
                if fault is None:
                    _send(broker, request)

    def _next_fault(self, request: Request, answer: Callable[[bytes], None]) -> Fault | None:
        """Returns the fault that was applied; None if the request is forwarded."""
        if not _is_produce(request):
            return None
        if self._held:
            answer(_answer(self._held, NOT_LEADER_OR_FOLLOWER))
            self._held = b""
            self.holds.clear()
            return None
        fault = self._faults.popleft() if self._faults else None
        if fault is Fault.REFUSE:
            self._held = request
            self.holds.set()
        elif fault is Fault.GIVE_UP:
            answer(_answer(request, OUT_OF_ORDER_SEQUENCE_NUMBER))
        return fault


def _forward(broker: socket.socket, client: socket.socket, answer: Callable[[bytes], None]) -> None:
    with suppress(OSError):
        while response := _receive(broker):
            answer(response)
        client.shutdown(socket.SHUT_RDWR)


def _receive(connection: socket.socket) -> bytes:
    """Reads one message; returns nothing at the end of the connection."""
    size = _exactly(connection, 4)
    return _exactly(connection, int.from_bytes(size)) if size else b""


def _exactly(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        component = connection.recv(size - len(found))
        if not component:
            return b""
        found += component
    return found


def _send(connection: socket.socket, message: bytes) -> None:
    connection.sendall(len(message).to_bytes(4) + message)


def _is_produce(request: Request) -> bool:
    return struct.unpack_from(">h", request)[0] == PRODUCE


def _answer(request: Request, error: int) -> bytes:
    """Builds the response to a produce request for one partition of one topic."""
    version, correlation, name_length = struct.unpack_from(">hih", request, 2)
    if version in COMPACT_VERSIONS:
        return _compact_answer(request, correlation, 10 + max(name_length, 0), error)
    assert version in VERSIONS, version
    at = 10 + max(name_length, 0)
    (transaction_length,) = struct.unpack_from(">h", request, at)
    at += 2 + max(transaction_length, 0) + 2 + 4  # acks, timeout
    topics, topic_length = struct.unpack_from(">ih", request, at)
    topic = request[at + 4 : at + 6 + topic_length]
    partitions, partition = struct.unpack_from(">ii", request, at + 6 + topic_length)
    assert (topics, partitions) == (1, 1)
    result = struct.pack(">ihqqq", partition, error, -1, -1, -1)  # offset, time, first offset of the log
    return struct.pack(">ii", correlation, 1) + topic + struct.pack(">i", 1) + result + struct.pack(">i", 0)


def _compact_answer(request: Request, correlation: int, at: int, error: int) -> bytes:
    """Builds the response in the flexible format. `at` is the offset after the client's name.

    Every length takes one byte here: all of them are below 128.
    """
    at += 1  # no tagged fields in the header
    transaction_length = request[at]
    at += 1 + max(transaction_length - 1, 0) + 2 + 4  # acks, timeout
    topics, topic_length = request[at], request[at + 1]
    topic = request[at + 1 : at + 1 + topic_length]
    at += 1 + topic_length
    partitions, partition = struct.unpack_from(">Bi", request, at)
    assert (topics, partitions) == (2, 2)
    result = struct.pack(">ihqqq", partition, error, -1, -1, -1)  # offset, time, first offset of the log
    nothing = b"\1\0\0"  # no errors of records, no message, no tagged fields
    per_topic = topic + b"\2" + result + nothing + b"\0"
    return struct.pack(">i", correlation) + b"\0\2" + per_topic + struct.pack(">i", 0) + b"\0"
