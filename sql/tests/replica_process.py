"""A ClickHouse that can be a replica, for tests only: libchdb with five changes in memory.

    replica_process.py LIBRARY CONFIG DATA_DIRECTORY HTTP_PORT NATIVE_PORT ADDRESS

clickhouse-local, which libchdb is, never sets what a replica needs: the address, scheme and credentials that
servers use among themselves, and a listener for them. The engine itself contains all of it. So this program
changes five places of the code of exactly one build, whose bytes it compares first:

    getInterserverIOAddress    returns (ADDRESS, HTTP_PORT)
    getInterserverScheme       returns "http"
    getInterserverCredentials  returns an empty user and password, and accepts them
    createHandlerFactory       makes a handler of queries ("HTTPHandler-factory"), then one for other servers:
                               the configuration has two <listen_host>, 127.0.0.1 and ADDRESS

The product never does this. Standard library only: the process must not load other native libraries.
"""

import ctypes
import importlib.util
import mmap
import os
import signal
import struct
import sys
import threading
from pathlib import Path

BUILD = "libchdb 26.7.3-stable.1 for Linux on x86-64"

SERVER = Path(__file__).parents[2] / "embedded/tailrace_local/components/clickhouse_server.py"

ADDRESS_FUNCTION = 0x1417C9C0
SCHEME_FUNCTION = 0x1417CAC0
CREDENTIALS_FUNCTION = 0x1417C940
HANDLER_BRANCH = 0x18395D32
"""The conditional jump of createHandlerFactory to the factory of handlers of queries."""
HANDLER_OF_QUERIES = 0x18395FFA
HANDLER_OF_SERVERS = 0x18395DBC
EXPECTED = {
    ADDRESS_FUNCTION: "415653 4883ec48",
    SCHEME_FUNCTION: "488b06",
    CREDENTIALS_FUNCTION: "41574156",
    HANDLER_BRANCH: "0f84",
}
"""The bytes of this build at the changed places."""

RETURN_RESULT = b"\x48\x89\xf8\xc3"  # mov rax, rdi; ret
JUMP = b"\xff\x25\0\0\0\0"  # jmp [rip]: to the address that follows
MAP_FIXED_NOREPLACE = 0x100000
ALL_RIGHTS = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
CODE_RIGHTS = mmap.PROT_READ | mmap.PROT_EXEC
KEPT: list[ctypes.Array] = []
"""Memory that the engine uses."""
EMPTY_FIELDS = 64
NEAR = 0x40000000
"""A jump of 32 bits reaches this far."""


class OtherBuildError(Exception):
    """The library is not the build whose places are known."""


class Code:
    """The code of the loaded library."""

    def __init__(self, library: str) -> None:
        name = os.path.realpath(library)
        with open("/proc/self/maps") as maps:
            places = [line.partition("-")[0] for line in maps if line.rstrip("\n").endswith(f" {name}")]
        self.start = min(int(place, 16) for place in places)

    def check(self) -> None:
        """Raises OtherBuildError unless the bytes at all places are the expected ones."""
        for offset, text in EXPECTED.items():
            expected = bytes.fromhex(text)
            found = ctypes.string_at(self.start + offset, len(expected))
            if found != expected:
                raise OtherBuildError(
                    f"expected {expected.hex()} at {offset:#x} as in {BUILD}, found {found.hex()}: "
                    "replicas can be tested with that build only"
                )

    def keep(self, content: bytes) -> int:
        """Returns the address of a copy that lives as long as the process, with zeros behind it: classes of
        the engine end in fields that are empty here."""
        KEPT.append(ctypes.create_string_buffer(content, len(content) + EMPTY_FIELDS))
        return ctypes.addressof(KEPT[-1])

    def write(self, offset: int, code: bytes) -> None:
        address = self.start + offset
        page = address & -mmap.PAGESIZE
        length = address + len(code) - page
        _protect(page, length, ALL_RIGHTS)
        ctypes.memmove(address, code, len(code))
        _protect(page, length, CODE_RIGHTS)

    def write_nearby(self, code: bytes) -> int:
        """Returns the address of code in a new page that a short jump of the library reaches."""
        for hint in range(self.start - NEAR, self.start - mmap.PAGESIZE, 0x1000000):
            page = _map(hint)
            if page == hint:
                ctypes.memmove(page, code, len(code))
                return page
        raise OSError("no free page near the library")


def _protect(page: int, length: int, rights: int) -> None:
    mprotect = ctypes.CDLL(None, use_errno=True).mprotect
    mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    if mprotect(page, length, rights):
        raise OSError(ctypes.get_errno(), "mprotect")


def _map(hint: int) -> int | None:
    function = ctypes.CDLL(None, use_errno=True).mmap
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_FIXED_NOREPLACE
    return function(hint, mmap.PAGESIZE, ALL_RIGHTS, flags, -1, 0)


def _string(text: str) -> bytes:
    """Returns a short std::string of libc++ (alternate layout): 23 bytes and the length."""
    raw = text.encode()
    return raw.ljust(23, b"\0") + bytes([len(raw)])


def _returning(value: bytes, more: bytes = b"") -> bytes:
    """Returns a function that stores a value of whole words where its caller wants the result."""
    code = b""
    for offset in range(0, len(value), 8):
        code += b"\x48\xb8" + value[offset : offset + 8]  # mov rax, word
        code += b"\x48\x89\x47" + bytes([offset])  # mov [rdi + offset], rax
    return code + more + RETURN_RESULT


def make_replica(code: Code, address: str, port: int) -> None:
    """Changes the five places. Raises OtherBuildError before any change."""
    code.check()
    store_port = b"\x66\xc7\x47\x18" + struct.pack("<H", port)  # mov word [rdi + 24], port
    code.write(ADDRESS_FUNCTION, _returning(_string(address), store_port))
    code.write(SCHEME_FUNCTION, _returning(_string("http")))
    code.write(CREDENTIALS_FUNCTION, _return_pointer(_credentials(code)))
    alternating = code.write_nearby(_alternating(code))
    distance = alternating - (code.start + HANDLER_BRANCH + 6)
    code.write(HANDLER_BRANCH, b"\x0f\x84" + struct.pack("<i", distance))


def _credentials(code: Code) -> int:
    """Returns the address of InterserverCredentials: empty user and password, and a list of one such pair."""
    pair = code.keep(bytes(48))
    return code.keep(_string("") * 2 + struct.pack("<QQQ", pair, pair + 48, pair + 48))


def _return_pointer(address: int) -> bytes:
    """Returns a function whose result is a std::shared_ptr to what is never released."""
    return b"\x48\xb8" + struct.pack("<Q", address) + b"\x31\xd2\xc3"  # mov rax, address; xor edx, edx; ret


def _alternating(code: Code) -> bytes:
    """Returns code that goes to the handler of queries and that of servers in turn."""
    turn = code.keep(bytes(8))
    flip = b"\x51\x48\xb9" + struct.pack("<Q", turn) + b"\x80\x31\x01\x59"  # xor byte [turn], 1
    to_queries = JUMP + struct.pack("<Q", code.start + HANDLER_OF_QUERIES)
    to_servers = JUMP + struct.pack("<Q", code.start + HANDLER_OF_SERVERS)
    return flip + b"\x75" + bytes([len(to_servers)]) + to_servers + to_queries  # jnz to_queries


def _component():
    """Returns the module of the one-machine stack's ClickHouse, without its packages."""
    spec = importlib.util.spec_from_file_location("clickhouse_server", SERVER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(library: str, config: str, data: str, http_port: str, native_port: str, address: str) -> None:
    server = _component()
    signal.pthread_sigmask(signal.SIG_BLOCK, server.STOP_SIGNALS)
    reading_end, writing_end = os.pipe()
    threading.Thread(target=server._close_on_signal, args=(writing_end,), daemon=True).start()
    engine = ctypes.CDLL(library)
    server._patch_error_handler(library)
    try:
        make_replica(Code(library), address, int(http_port))
    except OtherBuildError as error:
        sys.exit(f"{library}: {error}")
    listen = ("SYSTEM START LISTEN HTTP", "SYSTEM START LISTEN TCP")
    server._serve(
        engine,
        [
            "clickhouse-local",
            f"--config-file={config}",
            f"--path={data}",
            f"--http_port={http_port}",
            f"--tcp_port={native_port}",
            f"--query={'; '.join([*listen, server._wait_for_end_of(reading_end)])}",
        ],
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
