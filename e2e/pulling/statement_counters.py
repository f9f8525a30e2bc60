"""A real server whose counters of statements equal the report of `tailrace digest --server` and the samples
of capture."""

import json
import os
import subprocess
import time
from pathlib import Path

import pymysql
import pytest

from e2e.limits import LIMIT_SECONDS
from e2e.stack import wait_until
from tailrace.config.resources import REPOSITORY
from tailrace_capture import digests
from tailrace_capture.dsn import Password, parse
from tailrace_capture.server import Server, connect
from tailrace_pull import server_counters
from tailrace_pull.remote import PermissionMissingError

READER = "counter_reader"
SUMMARY = "performance_schema.events_statements_summary_by_digest"
HISTOGRAM = "performance_schema.events_statements_histogram_by_digest"
OF_SERVER = (
    "SELECT count(*), sum(COUNT_STAR), sum(SUM_TIMER_WAIT) / 1e12, sum(SUM_ROWS_EXAMINED), sum(SUM_ERRORS)"
    f" FROM {SUMMARY} WHERE SCHEMA_NAME = 'counted'"
)
KNOWN = "SELECT note FROM counted.counted_rows WHERE id = {}"
SESSION = "SELECT 1 FROM performance_schema.threads WHERE PROCESSLIST_ID = {}"
EACH = 40


class CountingServer:
    """Runs statements of a schema of its own, whose counters do not change otherwise."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        self.address = f"mysql://{READER}@localhost/?socket={socket}"
        self._admin = pymysql.connect(
            unix_socket=str(socket), user="root", charset="utf8mb4", autocommit=True
        )
        self.run(
            "CREATE DATABASE counted",
            "CREATE TABLE counted.counted_rows (id INT PRIMARY KEY, note TEXT)",
            "INSERT INTO counted.counted_rows VALUES (1, 'a'), (2, 'b')",
            f"CREATE USER '{READER}'@'localhost' IDENTIFIED BY 'x'",
        )

    def run(self, *statements: str) -> tuple[tuple, ...]:
        with self._admin.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall()

    def work(self) -> None:
        """Runs statements of three classes in the schema, one of which fails. Returns when the session has
        ended: a server answers a statement before it counts it."""
        with (
            pymysql.connect(
                unix_socket=str(self.socket), user="root", database="counted", autocommit=True
            ) as connection,
            connection.cursor() as cursor,
        ):
            for number in range(EACH):
                cursor.execute(KNOWN.format(number))
            cursor.execute("SELECT SLEEP(0.05)")
            with pytest.raises(pymysql.err.MySQLError):
                cursor.execute("SELECT no_such_column FROM counted_rows")
            session = connection.thread_id()
        wait_until(lambda: not self.run(SESSION.format(session)), "the end of the session")

    def connect(self) -> Server:
        return connect(parse(self.address), Password("x"), LIMIT_SECONDS, "test")

    def close(self) -> None:
        self.run("DROP DATABASE counted", f"DROP USER '{READER}'@'localhost'")
        self._admin.close()


def check_counters(socket: Path, directory: Path) -> None:
    """Compares all counters, those of an interval, a report and samples of capture with the counters of the
    server, also after they began again."""
    server = CountingServer(socket)
    try:
        _check_refusal(server, directory)
        server.run("SET GLOBAL log_output = 'FILE'")  # a log in a table would be read instead
        server.work()
        _check_all(server, directory / "all")
        _check_interval(server, directory / "interval")
        _check_report(server)
        _check_samples(server)
    finally:
        server.close()


def _check_refusal(server: CountingServer, directory: Path) -> None:
    connection = server.connect()
    with pytest.raises(PermissionMissingError, match="The account needs") as refused:
        server_counters.write(connection, "db-1", None, directory, time.sleep)
    server.run(*(line.strip(" ;") for line in str(refused.value).splitlines()[1:]))


def _written(server: CountingServer, directory: Path, seconds: float | None, wait=time.sleep) -> list[dict]:
    connection = server.connect()
    server_counters.write(connection, "db-1", seconds, directory, wait)
    connection.close()
    head, *rows = (json.loads(line) for line in (directory / server_counters.FILE).read_text().splitlines())
    assert head["is_since_server_counts"] == (seconds is None) and head["from"] < head["to"]
    return [row for row in rows if row["schema"] == "counted"]


def _check_all(server: CountingServer, directory: Path) -> None:
    rows = _written(server, directory, None)
    ((classes, count, seconds, examined, errors),) = server.run(OF_SERVER)
    assert (len(rows), sum(row["count"] for row in rows)) == (classes, count)
    assert sum(row["seconds"] for row in rows) == pytest.approx(float(seconds))
    assert sum(row["rows_examined"] for row in rows) == examined
    assert sum(row["errors"] for row in rows) == errors == 1
    for row in rows:
        assert row["min"] * row["count"] <= row["seconds"] <= row["max"] * row["count"] * (1 + 1e-9)
        if row["buckets"] is not None:
            assert sum(count for _, count in row["buckets"]) == row["count"]
    sleeping = next(row for row in rows if "sleep" in row["text"].lower())
    assert 0.05 <= sleeping["max"] < LIMIT_SECONDS


def _check_interval(server: CountingServer, directory: Path) -> None:
    rows = _written(server, directory, 1.0, lambda _: server.work())
    assert sorted(row["count"] for row in rows)[-1] == EACH
    assert sum(row["count"] for row in rows) <= EACH + 4  # USE and SET of a driver, too
    assert all(row["min"] is None and row["seconds"] < LIMIT_SECONDS for row in rows)


def _check_report(server: CountingServer) -> None:
    done = subprocess.run(
        [
            *(REPOSITORY / "bin" / "tailrace", "digest", "--server", server.address),
            *("--json", "--group-by", "db", "--limit", "1000"),
        ],
        env={**os.environ, "TAILRACE_SERVER_PASSWORD": "x"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    ((_, count, seconds, _, errors),) = server.run(OF_SERVER)
    (found,) = (group for group in report["groups"] if group["name"] == "counted")
    assert (found["count"], found["errors"]) == (count, errors)
    assert found["query_time"]["sum"] == pytest.approx(float(seconds), abs=1e-6)
    assert report["files"] == [f"Performance Schema of {server.socket}"]


def _check_samples(server: CountingServer) -> None:
    """`digests: true` of capture, before and after the counters began again."""
    server.run(f"GRANT SELECT ON performance_schema.setup_consumers TO '{READER}'@'localhost'")
    server.work()
    before, count = _sample(server)
    assert count == int(server.run(f"SELECT COUNT_STAR FROM {SUMMARY} WHERE DIGEST = '{before}'")[0][0])
    server.run(f"TRUNCATE {SUMMARY}")
    server.work()
    after, count = _sample(server)
    assert (after, count) == (before, EACH)


def _sample(server: CountingServer) -> tuple[str, int]:
    connection = server.connect()
    facts = [each.attributes for each in digests.read_all(connection)]
    connection.close()
    in_schema = [each for each in facts if each["db"] == "counted" and "counted_rows" in each["digest_text"]]
    (known,) = (each for each in in_schema if "WHERE" in each["digest_text"])
    return known["digest"], int(known["statements"])
