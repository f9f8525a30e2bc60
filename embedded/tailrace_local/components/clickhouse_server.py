"""Serves ClickHouse's HTTP and native listeners with libchdb.so.

    clickhouse_server.py [--tls CERTIFICATE] LIBRARY CONFIG DATA_DIRECTORY HOST HTTP_PORT [NATIVE_PORT]

The library exports clickhouse-local's command line, which can start the server's listeners (SYSTEM START
LISTEN) and ends with its last query. That query reads from a pipe without a writer, so that the engine
serves until SIGTERM or SIGINT closes the pipe; it then shuts down in order. Standard library only: the
process must not fork or load other native libraries once the engine is open.

clickhouse-local ends its process when an exception leaves a connection's thread, as after a client's reset.
So the methods of the class that does this are replaced by those of its base class, which only return
(docs/adr/0032). With --tls, HTTP_PORT accepts HTTPS only (clickhouse_tls.py).
"""

import ctypes
import importlib.util
import mmap
import os
import signal
import struct
import sys
import threading
from types import ModuleType

STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT}

ADDRESS = struct.Struct("<Q")
KILLING_HANDLER = b"\x0019KillingErrorHandler\0"
"""The class's name in the library's constants, as the compiler mangled it."""
EXCEPTION_METHODS = range(2, 5)
"""The indexes of the methods of Poco::ErrorHandler that receive exceptions, after two destructors."""


def main(
    library: str,
    config: str,
    data: str,
    host: str,
    http_port: str,
    native_port: str = "",
    certificate: str = "",
) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    reading_end, writing_end = os.pipe()
    threading.Thread(target=_close_on_signal, args=(writing_end,), daemon=True).start()
    # Python's TLS library must be loaded before the engine.
    front = _tls_module().TlsFront((host, int(http_port)), certificate) if certificate else None
    listeners = {"HTTP": str(front.engine_port) if front else http_port, "TCP": native_port}
    queries = [f"SYSTEM START LISTEN {name}" for name, port in listeners.items() if port]
    engine = ctypes.CDLL(library)
    _patch_error_handler(library)
    if front:
        front.guard(_Image(library).start)
        front.start()
    _serve(
        engine,
        [
            "clickhouse-local",
            f"--config-file={config}",
            f"--path={data}",
            f"--listen_host={host}",
            *(f"--{name.lower()}_port={port}" for name, port in listeners.items() if port),
            f"--query={'; '.join([*queries, _wait_for_end_of(reading_end)])}",
        ],
    )


def _tls_module() -> ModuleType:
    """The module beside this one. Its directory is not on the path: names in it could hide other modules."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clickhouse_tls.py")
    spec = importlib.util.spec_from_file_location("clickhouse_tls", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _wait_for_end_of(descriptor: int) -> str:
    """A query that waits without a limit. By default it would ask for its progress ten times a second, which
    is most of the processor time of an idle engine; the interval is in microseconds."""
    return (
        f"SELECT count() FROM file('/proc/self/fd/{descriptor}', LineAsString) "
        "SETTINGS max_execution_time = 0, interactive_delay = 60000000 FORMAT Null"
    )


def _close_on_signal(writing_end: int) -> None:
    signal.sigwait(STOP_SIGNALS)
    os.close(writing_end)


class _Image:
    """The library in memory, with the layout of classes in the Itanium C++ ABI.

    The data of a type: the address of a virtual table, of its name, of its base's data. A virtual table: an
    offset, which is 0, the address of the type's data, the addresses of the methods.
    """

    def __init__(self, library: str) -> None:
        self._library = os.path.realpath(library)
        mapped = _read_only_memory(self._library)
        self.start = mapped[0][0]
        self._constants, end = mapped[-1]
        self._content = ctypes.string_at(self._constants, end - self._constants)

    def type_of(self, name: bytes) -> int:
        """Returns the address of the type data with this name."""
        with open(self._library, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as content:
            offset = content.find(name)
        if offset < 0:
            raise ValueError("there is no such class")
        return self._place_of(ADDRESS.pack(self.start + offset + 1)) - ADDRESS.size

    def base_of(self, type_data: int) -> int:
        """Returns the address of the type data of the base class."""
        return ADDRESS.unpack(ctypes.string_at(type_data + 2 * ADDRESS.size, ADDRESS.size))[0]

    def methods_of(self, type_data: int) -> int:
        """Returns the address of the type's method table."""
        head = bytes(ADDRESS.size) + ADDRESS.pack(type_data)
        return self._place_of(head) + len(head)

    def _place_of(self, sought: bytes) -> int:
        if self._content.count(sought) != 1:
            raise ValueError(f"{self._content.count(sought)} places, where one was expected")
        return self._constants + self._content.index(sought)


def _patch_error_handler(library: str) -> None:
    """Replaces the methods of KillingErrorHandler by those of Poco::ErrorHandler. Exits if there is no such
    class."""
    try:
        image = _Image(library)
        killing = image.type_of(KILLING_HANDLER)
        methods, of_base = image.methods_of(killing), image.methods_of(image.base_of(killing))
    except (LookupError, ValueError) as error:
        sys.exit(f"{library}: cannot replace its KillingErrorHandler, see docs/adr/0032: {error}")
    first, length = EXCEPTION_METHODS.start * ADDRESS.size, len(EXCEPTION_METHODS) * ADDRESS.size
    _overwrite(methods + first, ctypes.string_at(of_base + first, length))


def _read_only_memory(library: str) -> list[tuple[int, int]]:
    """Returns the address ranges of the library's constants: first those of its file, last those with
    addresses."""
    with open("/proc/self/maps") as maps:
        fields = [line.split(maxsplit=5) for line in maps if line.rstrip("\n").endswith(f" {library}")]
    ranges = [place.split("-") for place, rights, *_ in fields if rights == "r--p"]
    return [(int(start, 16), int(end, 16)) for start, end in ranges]


def _overwrite(address: int, replacement: bytes) -> None:
    """Changes memory that the loader has made read-only."""
    page = address & -mmap.PAGESIZE
    length = address + len(replacement) - page
    _protect(page, length, mmap.PROT_READ | mmap.PROT_WRITE)
    ctypes.memmove(address, replacement, len(replacement))
    _protect(page, length, mmap.PROT_READ)


def _protect(page: int, length: int, rights: int) -> None:
    mprotect = ctypes.CDLL(None, use_errno=True).mprotect
    mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    if mprotect(page, length, rights):
        raise OSError(ctypes.get_errno(), "mprotect")


def _serve(engine: ctypes.CDLL, arguments: list[str]) -> None:
    """Returns after the last query. Exits with the engine's message if it failed."""
    engine.chdb_query_cmdline.restype = ctypes.c_void_p
    engine.chdb_result_error.restype = ctypes.c_char_p
    engine.chdb_result_error.argtypes = [ctypes.c_void_p]
    argv = (ctypes.c_char_p * (len(arguments) + 1))(*[word.encode() for word in arguments], None)
    result = engine.chdb_query_cmdline(len(arguments), argv)
    if result and (error := engine.chdb_result_error(result)):
        sys.exit(error.decode(errors="replace"))


if __name__ == "__main__":
    if sys.argv[1] == "--tls":
        main(*sys.argv[3:], certificate=sys.argv[2])
    else:
        main(*sys.argv[1:])
