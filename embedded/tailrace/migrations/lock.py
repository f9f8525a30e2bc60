"""Serializes migrations: the lock is a query that ClickHouse runs under a fixed id."""

import contextlib
import http.client
import os
import socket
import threading
import time
import urllib.parse
from collections.abc import Iterator, Sequence

from tailrace.clickhouse.client import ClickHouse, tls_context
from tailrace.migrations.migration_files import MigrationError

LOCK_QUERY_ID = "tailrace-migrations"

LOCK_SECONDS = 3600

LOCK_BEAT_SECONDS = 0.2
"""The interval at which the sleeping query of the lock checks whether it was cancelled."""

QUERY_ID_IN_USE = 216


class LockedError(MigrationError):
    """Another process is migrating this database."""


@contextlib.contextmanager
def lock(clickhouse: ClickHouse) -> Iterator[None]:
    """Holds the exclusive lock on the schema of this server. Raises LockedError with the holder.

    ClickHouse has no locks that end with their holder. But it refuses a second query with the same id while
    the first runs, and cancels a reading query when its connection closes. So the lock is a sleeping query,
    which ends within a second of its holder. On a cluster all migrations must use the same server.
    """
    holder = f"{socket.gethostname()} process {os.getpid()} at {time.time():.3f}"
    connection = _start_lock_query(clickhouse, holder)
    try:
        _await_lock(clickhouse, connection, holder)
        yield
    finally:
        with contextlib.suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)  # a thread waits for its answer
        connection.close()
        clickhouse.execute(
            "KILL QUERY WHERE query_id = {id:String} AND query LIKE {holder:String} SYNC",
            {"id": LOCK_QUERY_ID, "holder": f"%{holder}%"},
        )


def _start_lock_query(clickhouse: ClickHouse, holder: str) -> http.client.HTTPConnection:
    address = urllib.parse.urlsplit(clickhouse.url)
    context = tls_context(clickhouse.url, clickhouse.authorities)
    beats = round(LOCK_SECONDS / LOCK_BEAT_SECONDS)
    options = {
        "query": f"SELECT sleepEachRow({LOCK_BEAT_SECONDS}) FROM numbers({beats}) FORMAT Null -- {holder}",
        "query_id": LOCK_QUERY_ID,
        "cancel_http_readonly_queries_on_client_close": 1,
        "max_block_size": 1,
    }
    connection = (
        http.client.HTTPSConnection(address.netloc, timeout=10, context=context)
        if context
        else http.client.HTTPConnection(address.netloc, timeout=10)
    )
    # GET marks it as a reading query, which ends with its connection.
    connection.request("GET", f"/?{urllib.parse.urlencode(options)}", headers=clickhouse.credentials())
    connection.sock.settimeout(None)
    return connection


def _await_lock(clickhouse: ClickHouse, connection: http.client.HTTPConnection, holder: str) -> None:
    answered = _Answer(connection)
    answered.start()
    running = "SELECT query FROM system.processes WHERE query_id = {id:String}"
    while True:
        queries = [row["query"] for row in clickhouse.rows(running, {"id": LOCK_QUERY_ID})]
        if any(holder in query for query in queries):
            return
        answered.join(0.02)
        if not answered.is_alive():
            answer = answered.received()
            if answer.headers.get("X-ClickHouse-Exception-Code") == str(QUERY_ID_IN_USE):
                raise LockedError(f"another migration is running: {_holder(queries)}")
            raise MigrationError(f"cannot lock the schema: {answer.read().decode(errors='replace').strip()}")


class _Answer(threading.Thread):
    """Waits for the answer of the lock's query, which comes only if the query is refused.

    With TLS, bytes on the connection are no sign of an answer: servers send session tickets.
    """

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        super().__init__(daemon=True)
        self._connection = connection
        self._answer: http.client.HTTPResponse | None = None
        self._error: Exception | None = None

    def run(self) -> None:
        try:
            self._answer = self._connection.getresponse()
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._error = error

    def received(self) -> http.client.HTTPResponse:
        """Returns the answer. Raises OSError if the connection ended without one."""
        if self._answer is None:
            raise ConnectionError(f"the query of the lock ended: {self._error!r}")
        return self._answer


def _holder(queries: Sequence[str]) -> str:
    return queries[0].rpartition("-- ")[2].strip() if queries else "it has just ended, try again"
