"""Clients that violate protocols: connections that are reset at every stage, half-open, slow, or send
garbage."""

import random
import socket
import struct
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack

RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with a time of zero: closing the socket resets the connection."""

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
API_VERSIONS = b"\x00\x00\x00\x11\x00\x12\x00\x00\x00\x00\x00\x01\x00\x07hostile"
"""Kafka's first request: length, API key, version, correlation id, client id."""

TIMEOUT_SECONDS = 10
"""After this time a conversation ends without an answer, which is one more way to misbehave."""
THREADS = 4
CUTS = 8
SLOW_SECONDS = 0.5
SLOW_PIECES = 100


@dataclass(frozen=True)
class Stage:
    """The stage at which a client stops: the bytes sent, and whether a part of the response was received."""

    sent: Sequence[bytes]
    answered: bool = False


def stages_of(*messages: bytes) -> list[Stage]:
    """Yields all stages of a conversation in which each message after the first follows a response.

    They range from a connection without a byte, over parts of each message, to the first bytes of the last
    response.
    """
    found = []
    for count in range(len(messages)):
        before, message = messages[:count], messages[count]
        lengths = sorted({len(message) * cut // CUTS for cut in range(CUTS + 1)} | {min(1, len(message))})
        found += [Stage((*before, message[:length])) for length in lengths]
        found.append(Stage((*before, message), answered=True))
    return found


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=LIMIT_SECONDS)


def play(client: socket.socket, stage: Stage) -> None:
    """Runs the conversation up to the stage. It ends early if the server closes the connection."""
    client.settimeout(TIMEOUT_SECONDS)
    with suppress(OSError):
        for number, message in enumerate(stage.sent):
            if number:
                client.recv(1)
            client.sendall(message)
        if stage.answered:
            client.recv(1)


def reset(port: int, stage: Stage) -> None:
    """Opens one connection and resets it at the stage."""
    with connect(port) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        play(client, stage)


def reset_many(port: int, stages: Sequence[Stage], count: int) -> None:
    """Opens `count` connections, several concurrently, and resets each at the next of the stages."""
    with ThreadPoolExecutor(THREADS) as clients:
        list(clients.map(lambda number: reset(port, stages[number % len(stages)]), range(count)))


def send_garbage(port: int, count: int, seed: int) -> None:
    """Sends random bytes and prefixes of other protocols; every second connection is reset."""
    chance = random.Random(seed)
    for number in range(count):
        garbage = chance.choice(OTHER_PROTOCOLS) + chance.randbytes(chance.choice((0, 1, 64, 5000)))
        with connect(port) as client:
            if number % 2:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            play(client, Stage((garbage,)))


OTHER_PROTOCOLS = (
    b"",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
    b"GET / HTTP/1.1\r\n",
    b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n",
    b"\x00\x00\x00\x4a\x00\x03\x00\x00",  # Kafka, or PostgreSQL
    b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
)


@contextmanager
def half_open(port: int, stages: Iterable[Stage]) -> Iterator[None]:
    """Keeps connections idle at their stages until the end."""
    with ExitStack() as held:
        for stage in stages:
            client = held.enter_context(connect(port))
            if not stage.answered:
                play(client, stage)
        yield


def send_slowly(port: int, messages: Sequence[bytes], seconds: float) -> None:
    """Runs a conversation, and sends its last message in up to SLOW_PIECES pieces, evenly over the time."""
    *before, last = messages
    size = -(-len(last) // SLOW_PIECES)
    pieces = [last[start : start + size] for start in range(0, len(last), size)]
    with connect(port) as client, suppress(OSError):
        for message in before:
            client.sendall(message)
            client.recv(1)
        for piece in pieces:
            client.sendall(piece)
            time.sleep(seconds / len(pieces))


def attack_all_ports(stack: Stack, resets: int) -> None:
    """On each port of every part: so many resets, and garbage, while one client sends slowly and one at each
    stage is half-open. Those stay half-open until all ports were attacked.

    Asserts that no process of a part ends, and that the stack is healthy before and after they are closed.
    """
    attacked = {part: (ports, stack.processes(part)) for part, ports in stack.ports().items()}
    with ExitStack() as held, ThreadPoolExecutor() as slow:
        for part, (ports, before) in attacked.items():
            message = API_VERSIONS if part == "kafka" else GET
            for port in ports:
                sender = slow.submit(send_slowly, port, (message,), SLOW_SECONDS)
                held.enter_context(half_open(port, stages_of(message)))
                reset_many(port, stages_of(message), resets)
                send_garbage(port, resets // 10, seed=port)
                sender.result()
            assert stack.processes(part) == before, part
        stack.await_healthy()
    stack.await_healthy()
    for part, (_, before) in attacked.items():
        assert stack.processes(part) == before, part
