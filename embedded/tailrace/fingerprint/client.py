"""Asks the fingerprint service on its Unix socket. FingerprintServer.java describes the requests."""

import re
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_plus

from tailrace.unix_socket import short_path

SECONDS = 10
"""The time limit of each step of a request."""
MAX_BYTES = 1 << 20
"""The longest statement in UTF-8; the service has the same limit."""
CHUNK_BYTES = 1 << 16

_IDS = re.compile(r"[0-9A-F]{16}( [0-9A-F]{16})?")


class RefusedError(Exception):
    """The statement cannot be fingerprinted; the message states the reason and contains no part of it."""


class NoServiceError(Exception):
    """The service does not answer; the message states the reason."""


@dataclass(frozen=True)
class Fingerprint:
    """The class of a statement."""

    query_id: int
    former_id: int
    """The query id by the previous fingerprint rules, which is the same one for most statements."""
    text: str
    """The statement without its literals, cut at 16 KiB."""
    verb: str = ""
    """The keyword that identifies its type, in upper case; empty if there is none."""
    reads: tuple[str, ...] = ()
    """The tables that it reads, as its fingerprint names them: in lower case, and digits as `?`."""
    writes: tuple[str, ...] = ()
    """The tables that it writes, in the same way."""


class FingerprintService:
    """Requests to the service with this socket."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def fingerprint(self, statement: str) -> Fingerprint:
        """Returns the class of a statement. Raises RefusedError, NoServiceError."""
        content = statement.encode(errors="replace")
        if len(content) > MAX_BYTES:
            raise RefusedError(f"the statement has {len(content):,} bytes, more than {MAX_BYTES:,}")
        head, _, text = self._answer(content).decode(errors="replace").partition("\n")
        if head.startswith("refused: "):
            raise RefusedError(head.removeprefix("refused: "))
        ids, *known = head.split("\t")
        if not _IDS.fullmatch(ids):
            raise NoServiceError("the fingerprint service ended the connection")
        numbers = [int(each, 16) for each in ids.split()]
        return Fingerprint(numbers[0], numbers[-1], text, *_verb_and_tables(known))

    def _answer(self, content: bytes) -> bytes:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(SECONDS)
                with short_path(self._path) as path:
                    connection.connect(path)
                connection.sendall(content)
                connection.shutdown(socket.SHUT_WR)
                return b"".join(iter(lambda: connection.recv(CHUNK_BYTES), b""))
        except OSError as error:
            raise NoServiceError(f"the fingerprint service does not answer: {error}") from error


def _verb_and_tables(known: list[str]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Returns the parts of the first line after the ids; an older service sends none of them."""
    verb, reads, writes = known if len(known) == 3 else ("", "", "")
    return verb, _names(reads), _names(writes)


def _names(encoded: str) -> tuple[str, ...]:
    return tuple(unquote_plus(name) for name in encoded.split(",")) if encoded else ()
