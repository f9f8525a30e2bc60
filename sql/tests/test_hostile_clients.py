"""Tests that the embedded ClickHouse survives clients that reset, stall or send garbage (docs/adr/0032)."""

import os
import resource
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
from clickhouse_servers import Server, running

from e2e import hostile_clients as hostile
from e2e.limits import LIMIT_SECONDS
from tailrace.clickhouse.client import ClickHouse

RESETS = 5_000
"""For each of the two protocols."""
HELD = 100
GARBAGE = 300
SLOW_SECONDS = 1.5
MEBIBYTE = 1024 * 1024
SPARE_BYTES = 400 * MEBIBYTE
SPARE_FILES = 40
"""The engine opens the libraries of its process for its first stack trace and keeps them open."""
SPARE_THREADS = 1_000
"""A busy server has threads for hundreds of closed connections, but not for all 10,000."""
FREE_DESCRIPTORS = 20

OLD_REVISION = 54_000
"""Protocol version of a client with short packets: it sends no client information with a query."""
EMPTY_BLOCK = b"\x02\x00" + b"\x01\x00\x02\xff\xff\xff\xff\x00" + b"\x00\x00"
LARGE_RESULT = "SELECT repeat('x', 100) FROM numbers(1000000) SETTINGS max_threads = 1, max_block_size = 1000"


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(Server(tmp_path_factory.mktemp("attacked"), native=True)) as server:
        server.user("admin").execute("CREATE DATABASE hostile")
        server.user("admin").execute("CREATE TABLE hostile.kept (n UInt64) ENGINE = MergeTree ORDER BY n")
        yield server


def http(request: str, admin: ClickHouse, more: str = "") -> bytes:
    """Returns a request of the administrator; `more` are additional headers."""
    name = f"{request} HTTP/1.1\r\nHost: localhost\r\nX-ClickHouse-User: {admin.user}\r\n"
    return f"{name}X-ClickHouse-Key: {admin.password}\r\n{more}\r\n".encode()


def http_conversations(admin: ClickHouse) -> list[tuple[bytes, ...]]:
    """No password; a result of 100 MB; an insert in chunks; a connection that is reused."""
    insert = "INSERT+INTO+FUNCTION+null('n+UInt64')+FORMAT+RowBinary"
    chunks = 2 * (b"2000\r\n" + bytes(0x2000) + b"\r\n") + b"0\r\n\r\n"
    return [
        (b"GET /?query=SELECT+1 HTTP/1.1\r\nHost: localhost\r\n\r\n",),
        (http(f"GET /?query={quote(LARGE_RESULT)}", admin),),
        (http(f"POST /?query={insert}", admin, "Transfer-Encoding: chunked\r\n") + chunks,),
        (http("GET /ping", admin), http("GET /?query=SELECT+1", admin)),
    ]


def native_conversations(admin: ClickHouse) -> list[tuple[bytes, ...]]:
    """A wrong password; a result of 100 MB; an insert; a ping."""
    hello = b"\x00" + _text("hostile") + _number(1) + _number(1) + _number(OLD_REVISION) + _text("")
    wrong, right = (hello + _text("admin") + _text(word) for word in ("wrong", admin.password))
    return [
        (wrong,),
        (right, _query(LARGE_RESULT) + EMPTY_BLOCK),
        (right, _query("INSERT INTO FUNCTION null('n UInt64') VALUES") + EMPTY_BLOCK, EMPTY_BLOCK),
        (right, b"\x04"),
    ]


def _query(text: str) -> bytes:
    """Packet, id, no settings, until complete, uncompressed, text."""
    return b"\x01" + _text("") + _text("") + b"\x02\x00" + _text(text)


def _text(text: str) -> bytes:
    return _number(len(text)) + text.encode()


def _number(number: int) -> bytes:
    """In base 128, the lowest digits first; all but the last byte have their highest bit set."""
    digits = []
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*digits, number])


def stages(conversations: list[tuple[bytes, ...]]) -> list[hostile.Stage]:
    return [stage for messages in conversations for stage in hostile.stages_of(*messages)]


class Honest:
    """A client that writes, and reads with both protocols, while others misbehave."""

    def __init__(self, server: Server) -> None:
        self._admin = server.user("admin")
        self._admin.execute("TRUNCATE TABLE hostile.kept")
        native = f"127.0.0.1:{server.settings.port_clickhouse_native}"
        self._by_native = f"remote('{native}', hostile.kept, '{self._admin.user}', '{self._admin.password}')"
        self.written = 0
        self.work_once()

    def work_once(self) -> None:
        self._admin.execute(f"INSERT INTO hostile.kept SELECT {self.written} + number FROM numbers(100)")
        self.written += 100
        expected = f"{self.written}\t{self.written * (self.written - 1) // 2}\n"
        for table in ("hostile.kept", self._by_native):
            assert self._admin.execute(f"SELECT count(), sum(n) FROM {table}") == expected

    @contextmanager
    def working(self) -> Iterator[None]:
        over = threading.Event()

        def work() -> None:
            while not over.wait(0.05):
                self.work_once()

        with ThreadPoolExecutor(1) as worker:
            working = worker.submit(work)
            try:
                yield
            finally:
                over.set()
            working.result()
        self.work_once()


def attack(server: Server) -> None:
    """Uses each port in turn, while other connections are half-open. In each conversation, a client sends the
    last message slowly."""
    admin, settings = server.user("admin"), server.settings
    attacks = {
        settings.port_clickhouse: http_conversations(admin),
        settings.port_clickhouse_native: native_conversations(admin),
    }
    with ThreadPoolExecutor() as slow:
        for port, conversations in attacks.items():
            ways = stages(conversations)
            senders = [
                slow.submit(hostile.send_slowly, port, messages, SLOW_SECONDS) for messages in conversations
            ]
            with hostile.half_open(port, (ways[number % len(ways)] for number in range(HELD))):
                hostile.reset_many(port, ways, RESETS)
                hostile.send_garbage(port, GARBAGE, seed=port)
                for sender in senders:
                    sender.result()


@dataclass(frozen=True)
class Used:
    """Open files and threads of a process."""

    files: int
    """Counts sockets too, but no files of /proc: each thread that has run a query keeps three open."""
    threads: int
    resident: int

    @classmethod
    def by(cls, pid: int) -> "Used":
        process = Path(f"/proc/{pid}")
        files = [link for number in os.listdir(process / "fd") if (link := _target(process / "fd" / number))]
        return cls(
            files=sum(not link.startswith("/proc/") for link in files),
            threads=len(os.listdir(process / "task")),
            resident=int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
        )

    def is_within(self, before: "Used") -> bool:
        """Threads end one minute after their connections; a tenth of them is allowed."""
        return (
            self.files <= before.files + SPARE_FILES
            and self.threads <= before.threads + SPARE_THREADS
            and self.resident <= before.resident + SPARE_BYTES
        )


def _target(link: Path) -> str:
    """Returns the target of a link in /proc; empty if the file was closed in the meantime."""
    with suppress(FileNotFoundError):
        return os.readlink(link)
    return ""


def await_at_most(before: Used, pid: int) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    while not (now := Used.by(pid)).is_within(before):
        assert time.monotonic() < deadline, f"{now} after {before}"
        time.sleep(0.1)


def test_no_client_ends_the_server_or_keeps_anything_of_it(attacked: Server):
    pid, honest = attacked.pid, Honest(attacked)
    before = Used.by(pid)
    with honest.working():
        attack(attacked)
    assert attacked.pid == pid
    await_at_most(before, pid)
    assert b"<Fatal>" not in attacked.home.log("clickhouse").read_bytes()


def test_the_server_goes_on_when_it_has_descriptors_again(attacked: Server):
    pid, honest, port = attacked.pid, Honest(attacked), attacked.settings.port_clickhouse
    usual = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    few = len(os.listdir(f"/proc/{pid}/fd")) + FREE_DESCRIPTORS
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (few, usual[1]))
    try:
        with hostile.half_open(port, [hostile.Stage(())] * HELD):
            hostile.reset_many(port, [hostile.Stage((b"G",))], HELD)
            await_no_free_descriptor(pid, few)
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, usual)
    honest.work_once()
    assert attacked.pid == pid


def await_no_free_descriptor(pid: int, limit: int) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    while (found := len(os.listdir(f"/proc/{pid}/fd"))) < limit:
        assert time.monotonic() < deadline, f"{found} of {limit} descriptors are in use"
        time.sleep(0.05)
