"""TLS in front of the HTTP listener of the embedded ClickHouse, in its process.

libchdb has no listener with TLS. So the engine listens on a free port of 127.0.0.1, where it accepts only the
connections of this module, and this module accepts TLS connections and passes their bytes on. The engine
calls the C library's `accept` through an entry of the library's import table; the entry is replaced by a
function that closes every other connection before a byte of it is read (docs/adr/0069). Standard library
only.
"""

import asyncio
import ctypes
import errno
import mmap
import socket
import ssl
import struct
import threading
from collections.abc import Callable

CHUNK_BYTES = 1 << 18
HANDSHAKE_SECONDS = 10
POLL_SECONDS = 0.05
ACCEPT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, use_errno=True)
LISTEN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, use_errno=True)

# The ELF64 structures of elf(5).
WORD, PAIR = struct.Struct("<Q"), struct.Struct("<QQ")
PROGRAM_HEADER, PROGRAM_HEADER_OFFSET, PROGRAM_HEADER_COUNT = struct.Struct("<IIQQQQQQ"), 0x20, 0x38
DYNAMIC_SEGMENT = 2
STRING_TABLE, SYMBOL_TABLE, PLT_BYTES, PLT_RELOCATIONS = 5, 6, 2, 23
RELOCATION, SYMBOL = struct.Struct("<QQq"), struct.Struct("<IBBHQQ")
JUMP_SLOT = 7


class TlsFront:
    """Accepts TLS connections at `address`, once the engine listens at its own port, and passes them on."""

    def __init__(self, address: tuple[str, int], certificate: str) -> None:
        self._address = address
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate)
        self._own_ports: set[int] = set()
        self._engine_listens = threading.Event()
        self._kept: list[object] = []
        self.engine_port = _free_port(address[0])

    def guard(self, base: int) -> None:
        """Makes the engine, whose library is loaded at `base`, accept only connections of this object. Raises
        LookupError if the library does not import the functions."""
        libc = ctypes.CDLL(None, use_errno=True)
        self._replace(base, b"accept", ACCEPT(self._accepting(ACCEPT(("accept", libc)))))
        self._replace(base, b"listen", LISTEN(self._listening(LISTEN(("listen", libc)))))

    def start(self) -> None:
        """Serves in a thread of its own until the process ends."""
        threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True).start()

    def _replace(self, base: int, name: bytes, function: object) -> None:
        self._kept.append(function)
        entry = import_entry(base, name)
        value = ctypes.cast(function, ctypes.c_void_p).value  # type: ignore[arg-type]
        assert value
        write_word(entry, value)

    def _accepting(self, accept: Callable[..., int]) -> Callable[..., int]:
        def accept_own(listener: int, address: int | None, length: int | None) -> int:
            connection = accept(listener, address, length)
            if connection < 0 or self._is_own(connection):
                return connection
            socket.close(connection)
            ctypes.set_errno(errno.ECONNABORTED)
            return -1

        return accept_own

    def _is_own(self, connection: int) -> bool:
        """Returns whether a connection of the engine came from here. Its other listeners accept all."""
        shared = socket.socket(fileno=connection)
        try:
            if shared.getsockname()[1] != self.engine_port:
                return True
            peer = shared.getpeername()[1]
        except OSError:
            return False
        finally:
            shared.detach()
        is_own = peer in self._own_ports
        self._own_ports.discard(peer)
        return is_own

    def _listening(self, listen: Callable[..., int]) -> Callable[..., int]:
        def note(listener: int, backlog: int) -> int:
            result = listen(listener, backlog)
            shared = socket.socket(fileno=listener)
            port = shared.getsockname()[1]
            shared.detach()
            if result == 0 and port == self.engine_port:
                self._engine_listens.set()
            return result

        return note

    async def _serve(self) -> None:
        # Before, another process could listen at the engine's port and read passwords. The engine first loads
        # its tables, which may take minutes; the supervisor limits its start.
        while not self._engine_listens.is_set():
            await asyncio.sleep(POLL_SECONDS)
        host, port = self._address
        server = await asyncio.start_server(
            self._pass_on,
            host,
            port,
            ssl=self._context,
            ssl_handshake_timeout=HANDSHAKE_SECONDS,
            backlog=1024,
        )
        await server.serve_forever()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            back_reader, back_writer = await self._connected()
        except OSError:
            writer.close()
            return
        ways = [_copied(reader, back_writer), _copied(back_reader, writer)]
        await asyncio.gather(*ways, return_exceptions=True)

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        connection = socket.socket()
        try:
            connection.setblocking(False)
            connection.bind((self._address[0], 0))
            self._own_ports.add(connection.getsockname()[1])
            address = (self._address[0], self.engine_port)
            await asyncio.get_running_loop().sock_connect(connection, address)
            return await asyncio.open_connection(sock=connection)
        except OSError:
            self._own_ports.discard(connection.getsockname()[1])
            connection.close()
            raise


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copies until either side ends, and closes the writer: HTTP over TLS has no half-closed connections."""
    try:
        while data := await reader.read(CHUNK_BYTES):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


def import_entry(base: int, name: bytes) -> int:
    """Returns the address of the entry through which an ELF library at `base` calls an imported function.

    Raises LookupError if it does not import the function.
    """
    dynamic = _dynamic_section(base)
    strings, symbols = (_absolute(base, dynamic[tag]) for tag in (STRING_TABLE, SYMBOL_TABLE))
    relocations = ctypes.string_at(_absolute(base, dynamic[PLT_RELOCATIONS]), dynamic[PLT_BYTES])
    for offset, info, _ in RELOCATION.iter_unpack(relocations):
        if info & 0xFFFFFFFF == JUMP_SLOT:
            symbol = SYMBOL.unpack(ctypes.string_at(symbols + (info >> 32) * SYMBOL.size, SYMBOL.size))
            if ctypes.string_at(strings + symbol[0]) == name:
                return base + offset
    raise LookupError(f"the library does not import {name.decode()}")


def _dynamic_section(base: int) -> dict[int, int]:
    (headers,) = WORD.unpack(ctypes.string_at(base + PROGRAM_HEADER_OFFSET, WORD.size))
    (count,) = struct.unpack("<H", ctypes.string_at(base + PROGRAM_HEADER_COUNT, 2))
    table = ctypes.string_at(base + headers, count * PROGRAM_HEADER.size)
    for kind, _, _, address, _, _, size, _ in PROGRAM_HEADER.iter_unpack(table):
        if kind == DYNAMIC_SEGMENT:
            return dict(PAIR.iter_unpack(ctypes.string_at(base + address, size)))
    raise LookupError("the library has no dynamic section")


def _absolute(base: int, address: int) -> int:
    """The loader has replaced most of these offsets by addresses."""
    return address if address >= base else base + address


def write_word(address: int, value: int) -> None:
    """Overwrites 8 bytes of memory, also in pages that the loader has made read-only."""
    mprotect = ctypes.CDLL(None, use_errno=True).mprotect
    mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    page = address & -mmap.PAGESIZE
    rights = _rights(address)
    if mprotect(page, mmap.PAGESIZE, rights | mmap.PROT_WRITE):
        raise OSError(ctypes.get_errno(), "mprotect")
    ctypes.memmove(address, WORD.pack(value), WORD.size)
    if mprotect(page, mmap.PAGESIZE, rights):
        raise OSError(ctypes.get_errno(), "mprotect")


def _rights(address: int) -> int:
    with open("/proc/self/maps") as maps:
        for line in maps:
            place, rights, *_ = line.split(maxsplit=2)
            start, end = (int(part, 16) for part in place.split("-"))
            if start <= address < end:
                return (mmap.PROT_READ if rights[0] == "r" else 0) | (
                    mmap.PROT_WRITE if rights[1] == "w" else 0
                )
    raise LookupError("the address is not mapped")


def _free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]
