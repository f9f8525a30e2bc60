"""Generates samples with errors: error log and slow log of a real MariaDB, for one hour of a simulated clock.

Programs that reserve, count and move the stock of a shop block each other: transactions run into deadlocks
and lock wait timeouts, clients disconnect or are killed, and a report keeps a transaction open, so that purge
falls behind in the output of InnoDB's monitor. The server is restarted, killed, and crashed by a signal, and
recovers both times. The logs are samples/mariadb-10.11.19.stock.error.log and
samples/mariadb-10.11.19.stock.slow.log.

    python -m e2e.sample_errors        as root, with the development environment
"""

import os
import random
import re
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pymysql

from e2e.attack_day import network
from e2e.attack_day.mariadb import PORT, Installation, Server
from e2e.attack_day.network import SERVER, as_host
from e2e.stack import wait_until
from tailrace.demo import feed as demo_feed

START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
PRODUCTS = 4_000
LOCK_WAIT_SECONDS = 1
SLOW_SECONDS = 0.001
UPDATES_BEHIND_REPORT = 6_000
DEADLOCK, LOCK_WAIT_TIMEOUT = 1213, 1205
"""Error codes."""
CRASH_SECONDS = 60 * 49 + 33
SEED = 20261123
LOGS = ("error.log", "slow.log")
OPTIONS = (
    "--server-audit=OFF",
    "--log-warnings=4",
    f"--wsrep-node-address={SERVER}",
    "--innodb-print-all-deadlocks=1",
    f"--innodb-lock-wait-timeout={LOCK_WAIT_SECONDS}",
    f"--long-query-time={SLOW_SECONDS}",
)


@dataclass(frozen=True)
class Account:
    """An account and its host."""

    user: str
    host: str
    password: str


CHECKOUT = Account("checkout", "10.20.1.11", "checkout-3d1f77")
WAREHOUSE = Account("warehouse", "10.20.1.31", "warehouse-90ab12")
REPORT = Account("report", "10.20.3.1", "report-c0ffee")
ACCOUNTS = (CHECKOUT, WAREHOUSE, REPORT)

SCHEMA = (
    "CREATE DATABASE stock",
    "CREATE TABLE stock.levels (product_id INT PRIMARY KEY, on_hand INT, reserved INT, counted_at DATETIME)",
    "CREATE TABLE stock.reservations (id INT AUTO_INCREMENT PRIMARY KEY, order_id INT, product_id INT, "
    "quantity INT, KEY by_order (order_id))",
    f"INSERT INTO stock.levels SELECT seq, 100 + seq % 50, 0, '2026-11-01' FROM stock.seq_1_to_{PRODUCTS}",
    f"INSERT INTO stock.reservations (order_id, product_id, quantity) "
    f"SELECT 10 * seq, seq, 1 FROM stock.seq_1_to_{PRODUCTS}",
)

RESERVE = "UPDATE levels SET reserved = reserved + 1 WHERE product_id = {}"
MOVE = "UPDATE levels SET on_hand = on_hand - 5 WHERE product_id = {}"
COUNT = "UPDATE levels SET on_hand = {}, counted_at = NOW() WHERE product_id = {}"
STOCK = "SELECT on_hand, reserved FROM levels WHERE product_id = {} LOCK IN SHARE MODE"
RESERVED = "SELECT id, quantity FROM reservations WHERE order_id = {} FOR UPDATE"
NOTE = "INSERT INTO reservations (order_id, product_id, quantity) VALUES ({}, {}, 1)"
SUM = "SELECT SUM(on_hand - reserved) FROM levels"

PLACES = {
    rb"/[^\s'\":]*/mariadbd": b"/usr/sbin/mariadbd",
    rb"(?m)^(Kernel version: ).*$": rb"\1Linux version 6.1.0-28-amd64",
    rb"Tcp port: \d+  Unix socket: \S+": b"Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock",
}
"""The host name in the logs, instead of that of the machine that generated the sample."""

CRASH_TIME = rb"(?m)^\d{6} [ \d]\d:\d\d:\d\d(?= \[ERROR\] \S+ got signal )"
"""The only time that the server takes from the machine's clock: in its signal handler."""


class Hour:
    """The events on the server, by its clock."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._random = random.Random(SEED)
        self._others = ThreadPoolExecutor(max_workers=2)
        self._forgotten: pymysql.Connection | None = None

    def live(self) -> None:
        """Runs everything in order of time; the first and the last event are in both logs."""
        for seconds, step in sorted(self._plan(), key=lambda planned: planned[0]):
            self._pass_to(seconds)
            step()

    def _plan(self) -> Iterator[tuple[float, Callable[[], None]]]:
        deadlocks = (self._crossed, self._upgraded, self._gaps)
        for number, minute in enumerate((3, 6, 7, 13, 18, 24, 29, 31, 41, 44, 52, 57)):
            yield 60 * minute + 11 * number % 50, deadlocks[number % len(deadlocks)]
        for minute in range(1, 60, 2):
            yield 60 * minute + self._random.uniform(30, 58), self._waits
        for minute in (9, 14, 30, 42, 43, 55):
            yield 60 * minute + 5, self._waits_in_vain
        for minute in (5, 12, 19, 28, 33, 46, 54):
            yield 60 * minute + 20, self._vanishes
        for minute in (10, 32, 45):
            yield 60 * minute + 40, self._is_killed
        yield 60 * 16 + 30, self._sends_no_handshake
        yield 60 * 22, self._restarts
        yield 60 * 26, self._forgets_its_transaction
        yield 60 * 34, self._finds_it
        yield 60 * 37 + 12, lambda: self._dies(signal.SIGKILL)
        yield CRASH_SECONDS, lambda: self._dies(signal.SIGSEGV)
        yield 1, self._waits
        yield 60 * 60, self._vanishes
        yield 60 * 60, self._waits

    def _pass_to(self, seconds: float) -> None:
        self._server.clock.set(START + timedelta(seconds=seconds))

    def _pass(self, seconds: float) -> None:
        self._server.clock.set(self._server.clock.now() + timedelta(seconds=seconds))

    def _connect(self, account: Account) -> pymysql.Connection:
        with as_host(account.host):
            return pymysql.connect(
                host=SERVER,
                port=PORT,
                user=account.user,
                password=account.password,
                database="stock",
                autocommit=False,
            )

    def _root(self) -> pymysql.Connection:
        return pymysql.connect(unix_socket=str(self._server.socket), user="root", autocommit=True)

    def _product(self) -> int:
        return self._random.randint(1, PRODUCTS - 1)

    def _crossed(self) -> None:
        """Two transactions reserve the same two products in opposite orders."""
        product = self._product()
        self._meet(
            (RESERVE.format(product), MOVE.format(product + 1)),
            (RESERVE.format(product + 1), MOVE.format(product)),
        )

    def _upgraded(self) -> None:
        """Both read a row with a shared lock, and then both try to change it."""
        product = self._product()
        self._meet(
            (STOCK.format(product), COUNT.format(90, product)),
            (STOCK.format(product), COUNT.format(95, product)),
        )

    def _gaps(self) -> None:
        """Both lock the gap in which an order has no reservation yet, and then both insert into it."""
        order = 10 * self._product() + 5
        self._meet(
            (RESERVED.format(order), NOTE.format(order, 1)), (RESERVED.format(order), NOTE.format(order, 2))
        )

    def _meet(self, first: tuple[str, str], second: tuple[str, str]) -> None:
        """Two transactions of two statements each: both run their first one, then wait for each other."""
        with self._connect(CHECKOUT) as one, self._connect(WAREHOUSE) as other:
            _run(one, first[0])
            _run(other, second[0])
            waiting = self._others.submit(_error_of, one, first[1])
            self._await_waiter()
            ends = {_error_of(other, second[1]), waiting.result()}
            assert ends == {None, DEADLOCK}, f"expected one victim of a deadlock, got the errors {ends}"
            for each in (one, other):
                each.commit()

    def _waits(self) -> None:
        """A reservation waits until the warehouse count ends."""
        product = self._product()
        seconds = min(0.8, self._random.lognormvariate(-2.5, 1))
        with self._connect(WAREHOUSE) as holder, self._connect(CHECKOUT) as waiter:
            _run(holder, COUNT.format(80, product))
            waiting = self._others.submit(_run, waiter, RESERVE.format(product))
            self._await_waiter()
            time.sleep(seconds)
            holder.commit()
            waiting.result()
            waiter.commit()

    def _waits_in_vain(self) -> None:
        product = self._product()
        with self._connect(WAREHOUSE) as holder, self._connect(CHECKOUT) as waiter:
            _run(holder, COUNT.format(70, product))
            error = _error_of(waiter, RESERVE.format(product))
            assert error == LOCK_WAIT_TIMEOUT, f"expected a lock wait timeout, got the error {error}"
            holder.rollback()

    def _vanishes(self) -> None:
        """A client disconnects without closing its connection."""
        client = self._connect(self._random.choice((CHECKOUT, WAREHOUSE)))
        _run(client, RESERVE.format(self._product()))
        self._await_message(b"Aborted connection", client._force_close)

    def _is_killed(self) -> None:
        with closing(self._connect(REPORT)) as client, self._root() as administrator:
            _run(client, SUM)
            self._await_message(
                b"Aborted connection", lambda: _run(administrator, f"KILL {client.thread_id()}")
            )

    def _sends_no_handshake(self) -> None:
        """A port scanner connects and sends no valid handshake."""

        def scan() -> None:
            with as_host(REPORT.host), socket.create_connection((SERVER, PORT)) as scanner:
                scanner.sendall(b"\0")

        self._await_message(b"unauthenticated", scan)

    def _restarts(self) -> None:
        self._server.stop()
        self._pass(9)
        self._server.start(*OPTIONS)

    def _dies(self, with_signal: signal.Signals) -> None:
        """Stops the server within a transaction; it is started again."""
        busy = self._connect(CHECKOUT)
        for product in range(1, 400):
            _run(busy, RESERVE.format(product))
        self._server.kill(with_signal)
        self._pass(4)
        self._server.start(*OPTIONS)

    def _forgets_its_transaction(self) -> None:
        """A report keeps its read view while all rows are updated."""
        self._forgotten = self._connect(REPORT)
        _run(self._forgotten, SUM)
        with self._connect(WAREHOUSE) as counter:
            for number in range(UPDATES_BEHIND_REPORT):
                _run(counter, COUNT.format(number % 90, 1 + number % PRODUCTS))
                counter.commit()
        self._monitor()

    def _finds_it(self) -> None:
        self._monitor()
        self._forgotten.close()

    def _monitor(self) -> None:
        """Waits for one output of InnoDB's monitor, which writes every 15 seconds."""
        with self._root() as administrator:
            self._pass(20)
            self._await_message(
                b"END OF INNODB MONITOR OUTPUT",
                lambda: _run(administrator, "SET GLOBAL innodb_status_output = ON"),
            )
            _run(administrator, "SET GLOBAL innodb_status_output = OFF")

    def _await_message(self, words: bytes, step: Callable[[], object]) -> None:
        """Runs an action, and waits for its message in the error log before the clock moves on."""
        before = self._error_log().count(words)
        step()
        wait_until(
            lambda: self._error_log().count(words) > before,
            f"{words.decode()} in the error log",
        )

    def _error_log(self) -> bytes:
        return (self._server.logs / "error.log").read_bytes()

    def _await_waiter(self) -> None:
        with self._root() as administrator, administrator.cursor() as cursor:

            def waits() -> bool:
                cursor.execute("SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'")
                return cursor.fetchone() is not None

            wait_until(waits, "a transaction that waits for a lock")


def _run(session: pymysql.Connection, statement: str) -> None:
    with session.cursor() as cursor:
        cursor.execute(statement)


def _error_of(session: pymysql.Connection, statement: str) -> int | None:
    """Runs a statement; returns its error code."""
    try:
        _run(session, statement)
    except pymysql.err.Error as error:
        return error.args[0]
    return None


def main() -> None:
    installation = Installation.install(
        Path(os.environ.get("TAILRACE_CACHE") or Path.home() / ".cache" / "tailrace")
    )
    network.enter()
    network.give_addresses(account.host for account in ACCOUNTS)
    with tempfile.TemporaryDirectory() as directory:
        server = Server(installation, Path(directory), START - timedelta(hours=1))
        server.create()
        server.start("--slow-query-log=0", *OPTIONS)
        _found(server)
        server.stop()
        for name in LOGS:
            with suppress(FileNotFoundError):
                os.truncate(server.logs / name, 0)
        server.clock.set(START)
        server.start(*OPTIONS)
        try:
            Hour(server).live()
            logs = [(server.logs / name).read_bytes() for name in LOGS]
        finally:
            server.stop()
    _require_times_of_the_hour(logs[1])
    for file, log in zip((demo_feed.STOCK_ERRORS, demo_feed.STOCK_LOG), logs, strict=True):
        (demo_feed.SAMPLES / file).write_bytes(_of_usual_places(log, directory, installation))


def _require_times_of_the_hour(slow_log: bytes) -> None:
    """Checks for times of the machine's clock, which libfaketime rarely lets through; such a log is
    discarded."""
    last = (START + timedelta(hours=1, minutes=1)).timestamp()
    times = [int(seconds) for seconds in re.findall(rb"(?m)^SET timestamp=(\d+);$", slow_log)]
    strange = [seconds for seconds in times if not START.timestamp() <= seconds <= last]
    assert not strange, f"expected times from {START} on, found {strange}: make the samples again"


def _found(server: Server) -> None:
    """Creates data and accounts, in a run of the server whose logs are discarded."""
    with pymysql.connect(unix_socket=str(server.socket), user="root", autocommit=True) as administrator:
        for statement in SCHEMA:
            administrator.cursor().execute(statement)
        administrator.cursor().execute(f"DROP USER IF EXISTS root@'{socket.gethostname()}'")
        for account in ACCOUNTS:
            who = f"'{account.user}'@'{account.host}'"
            administrator.cursor().execute(f"CREATE USER {who} IDENTIFIED BY '{account.password}'")
            administrator.cursor().execute(f"GRANT SELECT, INSERT, UPDATE ON stock.* TO {who}")


def _of_usual_places(log: bytes, directory: str, installation: Installation) -> bytes:
    for here, usual in PLACES.items():
        log = re.sub(here, usual, log)
    crashed = f"{START + timedelta(seconds=CRASH_SECONDS):%y%m%d %H:%M:%S}"
    log = re.sub(CRASH_TIME, crashed.encode(), log)
    log = log.replace(f"{directory}/data".encode(), b"/var/lib/mysql")
    return log.replace(directory.encode(), b"/run/mysqld").replace(str(installation.root).encode(), b"")


if __name__ == "__main__":
    main()
