"""The way from Performance Schema of a real server to the page of a statement: capture, Fluent Bit, Kafka,
the loader with the fingerprint service, ClickHouse."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pymysql

from e2e.limits import LIMIT_SECONDS
from e2e.orders_workload import Server, connection
from e2e.stack import Stack, wait_until
from tailrace.clickhouse import query_files
from tailrace.config.resources import REPOSITORY
from tailrace_capture.doctor.accounts import grants_for
from tailrace_capture.product import product_of
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local import kafka as local_kafka
from tailrace_local.components.capture import Capture
from tailrace_local.components.fingerprint import Fingerprint

READER, PASSWORD = "'noting'@'localhost'", "nur zum Zählen"
KINDS = ("digests", "digest_histograms", "metadata_locks")
STATEMENT = "SELECT note AS noted FROM orders WHERE id = {}"
TEXT = "select note as noted from orders where id = ?"
EXECUTIONS = 30
ALTER = "ALTER TABLE orders ADD COLUMN added INT"


class NotedServer:
    """A server whose Performance Schema capture reads, each second."""

    def __init__(self, stack: Stack, instance: str, server: Server, directory: Path) -> None:
        self._stack = stack
        self._instance = instance
        self._server = server
        self._directory = directory
        self._store = local_clickhouse.connect(stack.settings, stack.home, "reader_developer")
        self._since = datetime.now(UTC) - timedelta(minutes=1)
        with connection(server) as session, session.cursor() as cursor:
            cursor.execute("SELECT @@version, @@version_comment")
            groups = grants_for(product_of(*cursor.fetchone()), READER)
            cursor.execute(f"CREATE USER {READER} IDENTIFIED BY '{PASSWORD}'")
            for grant in (each for kind in KINDS for each in groups[kind]):
                cursor.execute(grant.rstrip(";"))

    @contextmanager
    def read(self) -> Iterator[None]:
        """Runs capture, the loader and the fingerprint service in the block, which begins after the first
        snapshot was stored."""
        kafka = local_kafka.as_arguments(self._stack.settings, self._stack.home, "facts")
        clickhouse = local_clickhouse.as_arguments(self._stack.settings, self._stack.home, "facts")
        service = Fingerprint(self._stack.settings, self._stack.home)
        socket = self._stack.home.run / "fingerprint.sock"
        with ExitStack() as running:
            running.enter_context(_process(service.command(), self._stack.home.data("fingerprint")))
            wait_until(lambda: service.health().ok, "the fingerprint service")
            loader = [sys.executable, "-m", "tailrace.facts", *kafka, *clickhouse]
            beat = self._directory / "facts"
            words = ["--heartbeat-file", beat, "--fingerprint-socket", socket]
            running.enter_context(_process([*loader, *words], self._directory, "embedded"))
            running.enter_context(_process(self._capture(), self._directory, "collectors/capture"))
            wait_until(lambda: self.states().keys() >= {*KINDS}, "the first snapshot")
            yield

    def _capture(self) -> list[str | Path]:
        (self._directory / "secret").write_text(PASSWORD)
        entry = {"instance": self._instance, "cluster": "shop", **dict.fromkeys(KINDS, True)}
        entry["dsn"] = f"mysql://noting@localhost/?socket={self._server.socket}"
        entry["password_file"] = str(self._directory / "secret")
        (self._directory / "servers.json").write_text(json.dumps([entry]))
        spool = Capture(self._stack.settings, self._stack.home).spool()
        return [
            *(sys.executable, "-m", "tailrace_capture", "snapshots", "--poll", "1", "--full", "3600"),
            *("--servers", self._directory / "servers.json", "--spool", spool),
            *("--state", self._directory / "noted"),
        ]

    def states(self) -> dict[str, tuple[str, str]]:
        """Returns status and error of the last poll of each kind."""
        found = self._store.rows(
            "SELECT kind, status, error FROM tailrace.server_snapshots FINAL"
            " WHERE instance = {instance:String} AND at > {since:DateTime64(6, 'UTC')} ORDER BY at",
            {"instance": self._instance, "since": _sql(self._since)},
        )
        return {row["kind"]: (row["status"], row["error"]) for row in found}

    def query_id(self) -> str | None:
        """Returns the query id that the job gave the statement of the slow log; None if it has none yet."""
        found = self._store.rows(
            "SELECT toString(query_id) AS query_id FROM tailrace.fingerprints"
            " WHERE fingerprint = {text:String}",
            {"text": TEXT},
        )
        return found[0]["query_id"] if found else None

    def page(self, query: str, query_id: str, **more: object) -> list[dict]:
        """Returns the rows of a query of the page of the statement."""
        span = {"from": _sql(self._since), "to": _sql(datetime.now(UTC) + timedelta(minutes=1))}
        its = {"query_ids": [int(query_id)], "cluster": "", "instance": self._instance}
        return self._store.rows(query_files.text_of(query), {**span, **its, **more})

    def work(self) -> None:
        """Executes the statement, which no session of this server has executed before."""
        with connection(self._server) as session, session.cursor() as cursor:
            for number in range(EXECUTIONS):
                cursor.execute(STATEMENT.format(number))

    @contextmanager
    def waiting(self) -> Iterator[int]:
        """Lets a change of the table wait in the block for a transaction, whose connection it yields."""
        holder, waiter = connection(self._server), connection(self._server)
        altering = threading.Thread(target=_run, args=(waiter, ALTER))
        try:
            _run(holder, "BEGIN", "SELECT count(*) FROM orders")
            altering.start()
            yield holder.thread_id()
        finally:
            holder.close()
            altering.join(LIMIT_SECONDS)


def check_page(server: NotedServer) -> None:
    """The page of a statement of the slow log shows how often the server executed it and how fast, and the
    session for whose lock its table waits."""
    with server.read():
        assert {
            kind: status for kind, (status, _) in server.states().items() if kind in KINDS
        } == dict.fromkeys(KINDS, "ok")
        server.work()
        wait_until(server.query_id, "the statement in the slow log")
        query_id = server.query_id()
        assert query_id

        def counted() -> bool:
            rows = server.page("page_query_counters", query_id)
            return [(row["statements"], row["histogram_statements"]) for row in rows] == [(EXECUTIONS,) * 2]

        wait_until(counted, "the counters and the histogram")
        (row,) = server.page("page_query_counters", query_id)
        assert 0 < row["p50"] <= row["p95"] <= row["p99"] and row["database"] == "shop"
        with server.waiting() as holder:
            wait_until(lambda: _waits(server, query_id), "the wait")
        wait = _waits(server, query_id)[0]
        assert (wait["name"], wait["holding_connection"]) == ("shop.orders", holder)
        assert wait["holding_command"] == "Sleep"


def check_states(server: NotedServer) -> None:
    """What a server without Performance Schema counts is unknown, with the setting that changes it."""
    with server.read():
        states = server.states()
    assert {kind: states[kind][0] for kind in KINDS} == dict.fromkeys(KINDS, "absent")
    assert "performance_schema=ON in [mysqld]" in states["digests"][1]
    assert "performance_schema=ON in [mysqld]" in states["metadata_locks"][1]


def _waits(server: NotedServer, query_id: str) -> list[dict]:
    return server.page("page_query_lock_waits", query_id, names=["orders"])


def _run(session: pymysql.Connection, *statements: str) -> None:
    with session.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@contextmanager
def _process(command: list[str | Path], directory: Path, programs: str = "") -> Iterator[None]:
    process = subprocess.Popen(
        command, cwd=directory, env={**os.environ, "PYTHONPATH": str(REPOSITORY / programs)}
    )
    try:
        yield
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(LIMIT_SECONDS)
        process.kill()


def _sql(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S}"
