"""Tests TLS in front of the embedded ClickHouse (docs/adr/0069): who is answered, believed and survived."""

import http.client
import os
import socket
import ssl
import time
import urllib.parse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from clickhouse_servers import Server, running

from e2e import hostile_clients as hostile
from e2e.limits import LIMIT_SECONDS
from tailrace.archive import inserts, readback
from tailrace.clickhouse.client import ClickHouse, ClickHouseError, tls_context
from tailrace.config.home import Home
from tailrace.credentials.certificates import Certificates
from tailrace.migrations.lock import LockedError, lock
from tailrace_local.components import clickhouse_tls

ROWS = 100_000
LARGE_RESULT = f"SELECT repeat('x', 1000) FROM numbers({ROWS}) FORMAT RawBLOB"
RESETS = 100
HELLO = bytes.fromhex("160301")
"""The start of a TLS client's first message."""


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("secured"), native=True)
    Certificates(server.home).make()
    with running(server):
        yield server


@pytest.fixture
def admin(secured: Server) -> ClickHouse:
    return secured.user("admin")


def test_only_tls_is_answered(secured: Server, admin: ClickHouse):
    """Passwords do not pass in clear text: the engine's own port closes other connections unread."""
    settings = secured.settings
    assert admin.url == f"https://127.0.0.1:{settings.port_clickhouse}"
    (engine,) = secured.listening_ports() - {settings.port_clickhouse, settings.port_clickhouse_native}
    for port in (settings.port_clickhouse, engine):
        with pytest.raises((OSError, http.client.HTTPException)):
            replace(admin, url=f"http://127.0.0.1:{port}").execute("SELECT 1", timeout=LIMIT_SECONDS)
    with hostile.connect(engine) as client:
        assert client.recv(1) == b""


def test_other_listeners_of_the_engine_accept_clients(secured: Server, admin: ClickHouse):
    answer = admin.execute(
        "SELECT * FROM remote({address:String}, system.one, 'admin', {password:String})",
        {"address": f"127.0.0.1:{secured.settings.port_clickhouse_native}", "password": admin.password},
    )
    assert answer == "0\n"


def test_a_stranger_is_not_believed(admin: ClickHouse, tmp_path: Path):
    stranger = Certificates(Home(tmp_path))
    stranger.make()
    for authorities in (str(stranger.trust), ""):
        with pytest.raises(OSError, match="certificate verify failed"):
            replace(admin, authorities=authorities).execute("SELECT 1")
    with pytest.raises(OSError, match="certificate verify failed"):
        _handshake(admin, "another.example")


def _handshake(admin: ClickHouse, name: str) -> None:
    address = urllib.parse.urlsplit(admin.url)
    context = tls_context(admin.url, admin.authorities)
    assert context
    with hostile.connect(address.port) as plain, context.wrap_socket(plain, server_hostname=name):
        pass


def test_the_listener_opens_after_the_engine_however_long_that_takes(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(clickhouse_tls, "LISTEN_SECONDS", 0.1, raising=False)
    certificates = Certificates(Home(tmp_path))
    certificates.make()
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()
    front = clickhouse_tls.TlsFront(address, str(certificates.file("clickhouse")))
    front.start()
    time.sleep(0.5)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address).close()
    front._engine_listens.set()
    limit = time.monotonic() + LIMIT_SECONDS
    while True:
        try:
            socket.create_connection(address).close()
            return
        except ConnectionRefusedError:
            assert time.monotonic() < limit
            time.sleep(0.05)


def test_old_versions_of_tls_are_refused(admin: ClickHouse):
    context = tls_context(admin.url, admin.authorities)
    assert context
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    with hostile.connect(urllib.parse.urlsplit(admin.url).port) as plain, pytest.raises(OSError):
        context.wrap_socket(plain, server_hostname="127.0.0.1")


def test_migrations_hold_their_lock(admin: ClickHouse):
    """The lock reads its connection directly. Two of them exclude each other with TLS, too."""
    for _ in range(2):
        with lock(admin), pytest.raises(LockedError, match="another migration is running"), lock(admin):
            pass


def test_the_archive_reads_back_and_restores(admin: ClickHouse):
    """Its requests have bodies that the client does not send for it."""
    numbers = pa.table({"n": pa.array([1, 2], pa.int64())})
    sent = readback.encoded(numbers)
    assert readback.send(admin, f"SELECT sum(n) FROM {readback.EXTERNAL}", sent, "n Int64") == b"3\n"
    admin.execute("CREATE DATABASE IF NOT EXISTS tailrace")
    admin.execute("CREATE OR REPLACE TABLE tailrace.restored (n Int64) ENGINE = MergeTree ORDER BY n")
    inserts.typed_rows(admin, "restored", {"n": "Int64"}, numbers, "typed")
    inserts.json_rows(admin, "restored", {"n": "Int64"}, [b'{"n": 3}'], "json")
    assert admin.execute("SELECT sum(n) FROM tailrace.restored") == "6\n"


def test_large_inserts_and_results_are_complete(admin: ClickHouse):
    admin.execute("CREATE DATABASE IF NOT EXISTS large")
    admin.execute("CREATE OR REPLACE TABLE large.kept (n UInt64, text String) ENGINE = MergeTree ORDER BY n")
    admin.insert("large.kept", ({"n": n, "text": "x" * 500} for n in range(20_000)))
    assert admin.rows("SELECT count() AS rows, sum(length(text)) AS bytes FROM large.kept") == [
        {"rows": 20_000, "bytes": 10_000_000}
    ]
    assert len(admin.execute(LARGE_RESULT)) == ROWS * 1000
    with ThreadPoolExecutor(8) as clients:
        answers = clients.map(lambda n: admin.execute(f"SELECT {n}").strip(), range(100))
        assert list(answers) == [str(n) for n in range(100)]
    with pytest.raises(ClickHouseError, match="Unknown"):
        admin.execute("SELECT nothing")


def test_no_client_ends_it(secured: Server, admin: ClickHouse):
    pid, port = secured.pid, secured.settings.port_clickhouse
    starts = (b"", b"GET /ping HTTP/1.1\r\n\r\n", HELLO, HELLO + os.urandom(2000), os.urandom(4000))
    for number in range(RESETS):
        with suppress(OSError), hostile.connect(port) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, hostile.RESET)
            client.sendall(starts[number % len(starts)])
    for reset in (False, True):
        for _ in range(5):
            leave_within_the_answer(admin, reset)
    held = [hostile.connect(port) for _ in range(50)]
    assert len(admin.execute(LARGE_RESULT)) == ROWS * 1000
    for client in held:
        client.close()
    assert secured.pid == pid


def leave_within_the_answer(admin: ClickHouse, reset: bool) -> None:
    """Sends a statement, and closes or resets the connection when the answer has begun."""
    context = tls_context(admin.url, admin.authorities)
    assert context
    with (
        hostile.connect(urllib.parse.urlsplit(admin.url).port) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as client,
    ):
        head = "".join(f"{name}: {value}\r\n" for name, value in admin.credentials().items())
        query = urllib.parse.quote(LARGE_RESULT)
        client.sendall(f"GET /?query={query} HTTP/1.1\r\nHost: localhost\r\n{head}\r\n".encode())
        assert client.recv(1)
        if reset:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, hostile.RESET)
