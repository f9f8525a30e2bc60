"""TCP relays on loopback that can be cut: neither side hears from the other, and no connection ends.

As in a network that loses packets: what was sent waits, also the end of a connection, and arrives when the
relay is healed, unless a side has given up. New connections are accepted, as by a machine that is reachable,
and reach their target when the relay is healed.
"""

import contextlib
import os
import socket
import struct
import threading
from collections.abc import Callable, Collection
from pathlib import Path

CHUNK_BYTES = 1 << 16
LOCAL, INODE = 1, 9
"""Columns of /proc/net/tcp."""

Address = tuple[str, int]


class Gate:
    """Whether bytes pass."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._open.set()

    def close(self) -> None:
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    def wait(self) -> None:
        self._open.wait()


class Connection:
    """One connection through a relay: two sockets, and a gate for each direction."""

    def __init__(self, client: socket.socket, process: int) -> None:
        self.process = process
        """The client, if the relay knows it."""
        self.requests, self.answers = Gate(), Gate()
        self._client = client
        self._server: socket.socket | None = None

    def run(self, target: Address) -> None:
        self.requests.wait()
        with self._client, contextlib.suppress(OSError), socket.create_connection(target) as self._server:
            back = threading.Thread(target=self._copy_answers, daemon=True)
            back.start()
            _copy(self._client, self._server, self.requests)
            back.join()

    def _copy_answers(self) -> None:
        _copy(self._server, self._client, self.answers)

    def end(self) -> None:
        for each in filter(None, (self._client, self._server)):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self.requests.open()
        self.answers.open()


def _copy(source: socket.socket, target: socket.socket, gate: Gate) -> None:
    """Copies until the source ends its half or an error ends both."""
    try:
        while data := source.recv(CHUNK_BYTES):
            gate.wait()
            target.sendall(data)
        gate.wait()
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


class Relay:
    """Forwards connections from one address to another. Usable as a context manager."""

    def __init__(self, listen: Address, target: Address, clients: Callable[[], Collection[int]] = tuple):
        """`clients` gives the processes among which the relay looks for the client of a connection."""
        self._target = target
        self._clients = clients
        self._is_cut: Callable[[int], bool] = lambda _: False
        self._loses_answers = False
        self._connections: list[Connection] = []
        self._lock = threading.Lock()
        self._listener = socket.create_server(listen, backlog=64)
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "Relay":
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        for each in self._connections:
            each.end()

    def cut(self, process: int | None = None) -> None:
        """Holds back all bytes from now on; of one client only, if its process is given."""
        self._apply(lambda client: process in (None, client))

    def cut_answers(self) -> None:
        """Holds back what the target sends."""
        self._apply(lambda _: False, loses_answers=True)

    def heal(self) -> None:
        self._apply(lambda _: False)

    def _apply(self, is_cut: Callable[[int], bool], loses_answers: bool = False) -> None:
        with self._lock:
            self._is_cut, self._loses_answers = is_cut, loses_answers
            for each in self._connections:
                self._set_gates(each)

    def _set_gates(self, connection: Connection) -> None:
        cut = self._is_cut(connection.process)
        _set(connection.requests, not cut)
        _set(connection.answers, not cut and not self._loses_answers)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, address = self._listener.accept()
                connection = Connection(client, _process_of(address, self._clients()))
                with self._lock:
                    self._set_gates(connection)
                    self._connections.append(connection)
                threading.Thread(target=connection.run, args=(self._target,), daemon=True).start()


def _set(gate: Gate, is_open: bool) -> None:
    if is_open:
        gate.open()
    else:
        gate.close()


def _process_of(address: Address, processes: Collection[int]) -> int:
    """Returns which of the processes has the socket with this local address; 0 if none has."""
    if not processes:
        return 0
    host = struct.unpack("<I", socket.inet_aton(address[0]))[0]
    local = f"{host:08X}:{address[1]:04X}"
    lines = map(str.split, Path("/proc/net/tcp").read_text().splitlines())
    name = next((f"socket:[{fields[INODE]}]" for fields in lines if fields[LOCAL] == local), "")
    return next((process for process in processes if name in _open_files(process)), 0)


def _open_files(process: int) -> set[str]:
    names = set()
    for link in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(OSError):
            names.add(os.readlink(link))
    return names
