"""Serializes changes of the schema: the lock is a query that ClickHouse runs under a fixed id."""

import contextlib
import http.client
import itertools
import os
import socket
import threading
import time
import urllib.parse
from collections.abc import Iterator, Sequence

from tailrace.clickhouse.client import ClickHouse, ClickHouseError, tls_context
from tailrace.migrations.migration_files import MigrationError

LOCK_QUERY_ID = "tailrace-migrations"
RENEWAL_QUERY_ID = "tailrace-migrations-renewal"
"""The query that holds the lock while the query under LOCK_QUERY_ID is replaced by a new one."""

LOCK_SECONDS = 900
"""How long the lock of a machine that disappeared without closing its connections lasts."""
RENEW_SECONDS = 200

LOCK_BEAT_SECONDS = 0.2
"""The interval at which the sleeping query of the lock checks whether it was cancelled."""
POLL_SECONDS = 0.02

QUERY_ID_IN_USE = 216
RUNNING = "SELECT query FROM system.processes WHERE query_id = {id:String}"


class LockedError(MigrationError):
    """Another process is changing this database."""


class LockLostError(MigrationError):
    """The lock ended before its holder: another process may be changing this database."""


@contextlib.contextmanager
def lock(
    clickhouse: ClickHouse, seconds: float = LOCK_SECONDS, renew_seconds: float = RENEW_SECONDS
) -> Iterator["Lock"]:
    """Holds the exclusive lock on the schema of this server. Raises LockedError with the holder.

    ClickHouse has no locks that end with their holder. But it refuses a second query with the same id while
    the first runs, and cancels a reading query when its connection closes. So the lock is a sleeping query,
    which ends within a second of its holder. A thread replaces it before its end, `seconds` after its start.
    On a cluster all migrations must use the same server.
    """
    held = Lock(clickhouse, seconds)
    stopped = threading.Event()

    def keep() -> None:
        while not stopped.wait(renew_seconds):
            with contextlib.suppress(MigrationError, ClickHouseError, OSError, http.client.HTTPException):
                held.renew()

    keeping = threading.Thread(target=keep, daemon=True)
    keeping.start()
    try:
        yield held
    finally:
        stopped.set()
        keeping.join()
        held.release()


class Lock:
    """A lock that this process holds; the constructor raises LockedError, MigrationError and OSError."""

    def __init__(self, clickhouse: ClickHouse, seconds: float) -> None:
        self._clickhouse, self._seconds = clickhouse, seconds
        self._numbers = itertools.count(1)
        self._holder = f"{socket.gethostname()} process {os.getpid()} at {time.time():.3f}"
        self._query = self._started(LOCK_QUERY_ID)
        try:
            if queries := _running(clickhouse, RENEWAL_QUERY_ID):  # of a process that renews its lock
                raise LockedError(f"another migration is running: {_holder(queries)}")
        except BaseException:
            self.release()
            raise

    def require(self) -> None:
        """Raises LockLostError if the lock has ended, as after a restart of ClickHouse."""
        if self._query.has_ended:
            raise LockLostError("the lock of the schema has ended, and nothing more was changed: try again")

    def renew(self) -> None:
        """Replaces the query by a new one. At each moment, a query under one of the two ids runs.

        Raises MigrationError, ClickHouseError, OSError; then the query before still runs until its end.
        """
        for query_id in (RENEWAL_QUERY_ID, LOCK_QUERY_ID):
            if self._query.query_id != query_id:
                before, self._query = self._query, self._retried(query_id)
                before.close()

    def release(self) -> None:
        self._query.close()

    def _retried(self, query_id: str) -> "_LockQuery":
        """Starts a query while others try to get the lock: they leave the id again at once."""
        while True:
            self.require()
            try:
                return self._started(query_id)
            except LockedError:
                time.sleep(POLL_SECONDS)

    def _started(self, query_id: str) -> "_LockQuery":
        # Each query has its own text: one that ends can be listed while its successor is already refused.
        text = f"{self._holder}, query {next(self._numbers)};"
        query = _LockQuery(self._clickhouse, query_id, text, self._seconds)
        try:
            query.await_running()
        except BaseException:
            query.close()
            raise
        return query


class _LockQuery:
    """A sleeping query under an id that only one query can have."""

    def __init__(self, clickhouse: ClickHouse, query_id: str, holder: str, seconds: float) -> None:
        self.query_id = query_id
        self._clickhouse, self._holder = clickhouse, holder
        self._connection = _sent(clickhouse, query_id, holder, seconds)
        self._answer = _Answer(self._connection)
        self._answer.start()

    @property
    def has_ended(self) -> bool:
        return not self._answer.is_alive()

    def await_running(self) -> None:
        while True:
            queries = _running(self._clickhouse, self.query_id)
            if any(self._holder in query for query in queries):
                return
            self._answer.join(POLL_SECONDS)
            if self.has_ended:
                answer = self._answer.received()
                if answer.headers.get("X-ClickHouse-Exception-Code") == str(QUERY_ID_IN_USE):
                    raise LockedError(f"another migration is running: {_holder(queries)}")
                text = answer.read().decode(errors="replace").strip()
                raise MigrationError(f"cannot lock the schema: {text}")

    def close(self) -> None:
        """Ends the query, if it runs. KILL QUERY looks for the text and kills by the id, with SYNC again and
        again: so without SYNC, and before the connection ends, or it could kill the query of the next holder.
        """
        try:
            if not self.has_ended:
                self._clickhouse.execute(
                    "KILL QUERY WHERE query_id = {id:String} AND query LIKE {holder:String} ASYNC",
                    {"id": self.query_id, "holder": f"%{self._holder}%"},
                )
            while any(self._holder in query for query in _running(self._clickhouse, self.query_id)):
                time.sleep(POLL_SECONDS)
        finally:
            with contextlib.suppress(OSError, AttributeError):  # without a socket after the end of an answer
                self._connection.sock.shutdown(socket.SHUT_RDWR)  # a thread waits for its answer
            self._connection.close()


def _sent(clickhouse: ClickHouse, query_id: str, holder: str, seconds: float) -> http.client.HTTPConnection:
    address = urllib.parse.urlsplit(clickhouse.url)
    context = tls_context(clickhouse.url, clickhouse.authorities)
    beats = round(seconds / LOCK_BEAT_SECONDS)
    options = {
        "query": f"SELECT sleepEachRow({LOCK_BEAT_SECONDS}) FROM numbers({beats}) FORMAT Null -- {holder}",
        "query_id": query_id,
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


class _Answer(threading.Thread):
    """Waits for the answer of the lock's query, which comes only if the query is refused, or ends.

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


def _running(clickhouse: ClickHouse, query_id: str) -> list[str]:
    return [str(row["query"]) for row in clickhouse.rows(RUNNING, {"id": query_id})]


def _holder(queries: Sequence[str]) -> str:
    return queries[0].rpartition("-- ")[2].strip().rstrip(";") if queries else "it has just ended, try again"
