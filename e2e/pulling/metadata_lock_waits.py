"""A session on a real server that waits for a metadata lock, and what capture reads of it."""

import threading
import time
from pathlib import Path

import pymysql
import pytest

from e2e.limits import LIMIT_SECONDS
from e2e.stack import wait_until
from tailrace.snapshots.rows import LOCK_WAITS, rows_of
from tailrace_capture import metadata_locks
from tailrace_capture.doctor.accounts import grants_for
from tailrace_capture.dsn import Password, parse
from tailrace_capture.server import Server, ServerError, connect

READER = "lock_reader"
ALTER = "ALTER TABLE waited.waited_rows ADD COLUMN secret_note INT"
LOCK_TIME = (
    "SELECT SUM_LOCK_TIME, SUM_TIMER_WAIT FROM performance_schema.events_statements_summary_by_digest"
    " WHERE DIGEST_TEXT LIKE 'ALTER TABLE%waited_rows%'"
)
NO_SNAPSHOT = {"product": "", "version": "", "reason": "change", "status": "ok", "error": "", "part": 1}
ENVELOPE = {"v": 1, "cluster": "shop", "instance": "db-1", "at": 1_795_307_187.25, "parts": 1, **NO_SNAPSHOT}


def check_lock_waits(socket: Path) -> None:
    """A transaction that holds a lock and an ALTER that waits for it are one row, with the grants and the
    statement that capture names. Without a wait there is none."""
    admin = _connected(socket)
    _run(admin, "CREATE DATABASE waited", "CREATE TABLE waited.waited_rows (id INT)")
    _run(admin, f"CREATE USER '{READER}'@'localhost' IDENTIFIED BY 'x'")
    holder, waiter = _connected(socket), _connected(socket)
    altering = threading.Thread(target=_run, args=(waiter, ALTER))
    try:
        reader = _reader(socket, admin)
        _run(holder, "BEGIN", "SELECT * FROM waited.waited_rows")
        altering.start()
        wait_until(lambda: list(metadata_locks.read(reader)), "the wait")
        seen = time.monotonic()
        _check_row(list(metadata_locks.read(reader)), waiter.thread_id(), holder.thread_id())
        waited = time.monotonic() - seen
        _run(holder, "ROLLBACK")
        altering.join(LIMIT_SECONDS)
        _check_lock_time(admin, waited)
        assert not list(metadata_locks.read(reader))
    finally:
        holder.close()
        altering.join(LIMIT_SECONDS)
        _run(admin, "DROP DATABASE waited", f"DROP USER '{READER}'@'localhost'")


def _check_lock_time(admin: pymysql.Connection, waited: float) -> None:
    """The lock time of the digest contains its wait for a metadata lock: the only wait class of a digest.
    The server answers a statement before it adds it to its digest."""
    wait_until(lambda: _run(admin, LOCK_TIME), "the digest of the ALTER")
    ((locked, total),) = _run(admin, LOCK_TIME)
    assert waited <= locked / 1e12 <= total / 1e12, "since the wait was seen, and at most all of its time"


def _reader(socket: Path, admin: pymysql.Connection) -> Server:
    """Returns a connection of an account with the grants; the instrument is on."""
    reader = _opened(socket)
    with pytest.raises(ServerError, match="denied"):
        list(metadata_locks.read(reader))
    grants = grants_for(reader.product, f"'{READER}'@'localhost'")["metadata_locks"]
    _run(admin, *(each.rstrip(";") for each in grants))
    try:
        list(metadata_locks.read(reader))
    except ServerError as error:
        _run(admin, str(error).partition(": ")[2].partition(";")[0])
    return reader


def _check_row(facts: list[metadata_locks.Fact], waiter: int, holder: int) -> None:
    (fact,) = facts
    assert "secret_note" not in str(fact)
    listed = {"key": fact.key, "since": 0.0, "attributes": fact.attributes}
    found = list(
        rows_of({**ENVELOPE, "kind": "metadata_locks", "truncated": False, "facts": [listed], "changes": []})
    )
    (row,) = (row for table, row in found if table == LOCK_WAITS)
    assert (row["database"], row["object_name"], row["object_type"]) == ("waited", "waited_rows", "TABLE")
    assert (row["waiting_connection"], row["holding_connection"]) == (waiter, holder)
    assert (row["waiting_command"], row["holding_command"]) == ("Query", "Sleep")
    assert (row["waiting_lock"], row["holding_lock"]) == ("EXCLUSIVE", "SHARED_READ")
    assert row["waiting_user"] == row["holding_user"] == "root"


def _opened(socket: Path) -> Server:
    return connect(
        parse(f"mysql://{READER}@localhost/?socket={socket}"), Password("x"), LIMIT_SECONDS, "test"
    )


def _connected(socket: Path) -> pymysql.Connection:
    return pymysql.connect(unix_socket=str(socket), user="root", charset="utf8mb4", autocommit=True)


def _run(connection: pymysql.Connection, *statements: str) -> tuple[tuple, ...]:
    """Runs statements and returns the rows of the last one."""
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return cursor.fetchall()
