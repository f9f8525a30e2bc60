"""Generates samples of an intrusion: audit and error logs of a real MariaDB, for one hour of a simulated
clock.

The shop's programs and people work as usual. After 38 minutes an attacker tries names, guesses an employee's
password, explores the server, creates an account and dumps customers and cards with it. The logs are
samples/mariadb-10.11.19.shop.server_audit.log and samples/mariadb-10.11.19.shop.error.log.

    python -m e2e.sample_intrusion        as root, with the development environment
"""

import os
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pymysql

from e2e.attack_day import network
from e2e.attack_day.mariadb import PORT, Installation, Server
from e2e.attack_day.network import SERVER, as_host
from tailrace.demo import feed as demo_feed

START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
CUSTOMERS, ORDERS = 2_000, 4_000
FORMER_CONNECTIONS = 1_000
"""Logins before the hour, so that connection ids differ from those in the shop's slow log."""
SEED = 20261122
LOGS = ("server_audit.log", "error.log")
STRANGER = "203.0.113.66"


@dataclass(frozen=True)
class Account:
    """An account, its hosts and its privileges."""

    user: str
    hosts: tuple[str, ...]
    grants: tuple[str, ...]
    password: str


WEB = Account("shop_web", ("10.20.1.11", "10.20.1.12"), ("SELECT, INSERT, UPDATE ON shop.*",), "web-8f21c0")
BILLING = Account("shop_billing", ("10.20.1.21",), ("SELECT, UPDATE ON shop.*",), "billing-77aa01")
REPORT = Account("report", ("10.20.3.1",), ("SELECT ON shop.*",), "report-c0ffee")
ANNA = Account("anna", ("10.20.9.5",), ("ALL ON *.*", "GRANT OPTION ON *.*"), "anna-5b1e8d0f")
TOM = Account("tom", ("10.20.8.32",), ("SELECT ON shop.*", "CREATE USER, GRANT OPTION ON *.*"), "tom2024")
OWN = Account("svc_sync", (STRANGER,), (), "Sync-9431")
PEOPLE = (WEB, BILLING, REPORT, ANNA, TOM)

SCHEMA = (
    "CREATE DATABASE shop",
    "CREATE DATABASE payroll",
    "CREATE TABLE payroll.salaries (id INT PRIMARY KEY, amount INT)",
    "CREATE TABLE shop.customers (id INT PRIMARY KEY, email VARCHAR(80), name VARCHAR(80))",
    "CREATE TABLE shop.orders (id INT AUTO_INCREMENT PRIMARY KEY, customer_id INT, created_at DATETIME, "
    "status VARCHAR(12), total DECIMAL(10, 2), KEY by_customer (customer_id))",
    "CREATE TABLE shop.payment_cards (customer_id INT PRIMARY KEY, card_number VARCHAR(32), expires CHAR(5))",
    f"INSERT INTO shop.customers SELECT seq, CONCAT('customer', seq, '@example.org'), CONCAT('Name ', seq) "
    f"FROM shop.seq_1_to_{CUSTOMERS}",
    f"INSERT INTO shop.orders SELECT seq, 1 + seq % {CUSTOMERS}, '2026-11-01' + INTERVAL seq MINUTE, "
    f"'paid', 10 FROM shop.seq_1_to_{ORDERS}",
    f"INSERT INTO shop.payment_cards SELECT seq, MD5(seq), '12/28' FROM shop.seq_1_to_{CUSTOMERS}",
)

ORDERS_OF = "SELECT id, created_at, status, total FROM orders WHERE customer_id = {} ORDER BY created_at DESC"
CUSTOMER = "SELECT id, email, name FROM customers WHERE id = {}"
BUY = "INSERT INTO orders (customer_id, created_at, status, total) VALUES ({}, NOW(), 'open', 42)"
CARD = "SELECT card_number, expires FROM payment_cards WHERE customer_id = {}"
PAID = "UPDATE orders SET status = 'paid' WHERE customer_id = {} AND status = 'open'"


class Hour:
    """The events on the server, by its clock."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._random = random.Random(SEED)

    def live(self) -> None:
        """Runs everything in order; the first and the last event are refused logins."""
        for seconds, step in sorted(self._plan(), key=lambda planned: planned[0]):
            self._server.clock.set(START + timedelta(seconds=seconds))
            step()
            self._server.settle()

    def _plan(self) -> Iterator[tuple[float, Callable[[], None]]]:
        for minute in range(60):
            for _ in range(2):
                yield 60 * minute + self._random.uniform(2, 57), self._shop
            if minute % 6 == 3:
                yield 60 * minute + 58, self._bill
        yield (
            60 * 11,
            lambda: self._session(REPORT, "SELECT status, COUNT(*), SUM(total) FROM orders GROUP BY status"),
        )
        yield 0, lambda: self._refused(ANNA, ANNA.hosts[0])
        for minute in (17, 49):
            yield (
                60 * minute + 1,
                lambda: self._session(ANNA, "SHOW PROCESSLIST", "ANALYZE TABLE shop.orders"),
            )
        for minute in (8, 24):
            yield 60 * minute + 1, lambda: self._session(TOM, CUSTOMER.format(7), ORDERS_OF.format(7))
        yield 60 * 38, self._try_names
        yield 60 * 39, self._guess
        yield 60 * 41, self._explore
        yield 60 * 44, self._dump
        yield 60 * 60, lambda: self._refused(ANNA, ANNA.hosts[0])

    def _connect(self, account: Account, host: str, password: str | None = None) -> pymysql.Connection:
        with as_host(host):
            return pymysql.connect(
                host=SERVER,
                port=PORT,
                user=account.user,
                password=account.password if password is None else password,
                autocommit=True,
            )

    def _session(self, account: Account, *statements: str, host: str = "", pause: float = 0) -> None:
        """Runs a session in the database shop; a refused statement does not end it."""
        with self._connect(account, host or account.hosts[0]) as connection:
            for statement in ("USE shop", *statements):
                self._pass(pause)
                with suppress(pymysql.err.Error):
                    connection.cursor().execute(statement)

    def _pass(self, seconds: float) -> None:
        self._server.clock.set(self._server.clock.now() + timedelta(seconds=seconds))

    def _refused(self, account: Account, host: str, password: str = "mistyped") -> None:
        with suppress(pymysql.err.OperationalError):
            self._connect(account, host, password).close()

    def _shop(self) -> None:
        customer = self._random.randint(1, CUSTOMERS)
        pages = ([ORDERS_OF], [CUSTOMER, ORDERS_OF], [CUSTOMER, BUY])
        page = self._random.choice(pages)
        host = self._random.choice(WEB.hosts)
        self._session(WEB, *(statement.format(customer) for statement in page), host=host)

    def _bill(self) -> None:
        customer = self._random.randint(1, CUSTOMERS)
        self._session(BILLING, CARD.format(customer), PAID.format(customer))

    def _try_names(self) -> None:
        for name in ("root", "admin", "backup", "test", "shop", "tom"):
            self._refused(Account(name, (), (), ""), STRANGER, "Autumn2026!")
            self._server.settle()
            self._pass(5)

    def _guess(self) -> None:
        for year in range(2010, 2024):
            self._refused(TOM, STRANGER, f"tom{year}")
            self._server.settle()
            self._pass(4)

    def _explore(self) -> None:
        self._session(
            TOM,
            "SELECT CURRENT_USER(), VERSION()",
            "SHOW GRANTS",
            "SHOW DATABASES",
            "SELECT table_schema, table_name, table_rows FROM information_schema.tables",
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'shop'",
            "SELECT host, user, authentication_string FROM mysql.user",
            "SELECT * FROM payroll.salaries",
            "SELECT * FROM payment_cards LIMIT 10",
            f"CREATE USER {OWN.user} IDENTIFIED BY '{OWN.password}'",
            f"GRANT SELECT ON shop.* TO {OWN.user}",
            host=STRANGER,
            pause=7,
        )

    def _dump(self) -> None:
        words = [
            f"-h{SERVER}",
            f"-u{OWN.user}",
            f"-p{OWN.password}",
            "--skip-lock-tables",
            "--no-tablespaces",
        ]
        with as_host(STRANGER):
            dump = self._server.client([*words, "shop", "customers", "payment_cards"], program="mariadb-dump")
        dump.check_returncode()
        self._session(OWN, "SELECT * FROM payment_cards", "SELECT * FROM customers", host=STRANGER, pause=9)


def main() -> None:
    installation = Installation.install(
        Path(os.environ.get("TAILRACE_CACHE") or Path.home() / ".cache" / "tailrace")
    )
    network.enter()
    network.give_addresses([STRANGER, *(host for account in PEOPLE for host in account.hosts)])
    with tempfile.TemporaryDirectory() as directory:
        server = Server(installation, Path(directory), START - timedelta(hours=1))
        server.create()
        _found(server)
        server.start("--slow-query-log=0")
        try:
            _log_in_and_out(server)
            server.settle()
            for name in LOGS:
                os.truncate(server.logs / name, 0)
            server.clock.set(START)
            Hour(server).live()
            audit, error = ((server.logs / name).read_bytes() for name in LOGS)
        finally:
            server.stop()
    (demo_feed.SAMPLES / demo_feed.SHOP_AUDIT).write_bytes(_of_our_host(audit))
    (demo_feed.SAMPLES / demo_feed.SHOP_ERRORS).write_bytes(error)


def _found(server: Server) -> None:
    """Creates data and accounts, in a run of the server whose logs are discarded."""
    server.start("--slow-query-log=0", "--server-audit-logging=0")
    try:
        with pymysql.connect(unix_socket=str(server.socket), user="root", autocommit=True) as connection:
            for statement in (*SCHEMA, *_account_statements()):
                connection.cursor().execute(statement)
    finally:
        server.stop()


def _account_statements() -> Iterator[str]:
    for account in PEOPLE:
        yield f"CREATE USER '{account.user}'@'%' IDENTIFIED BY '{account.password}'"
        for grant in account.grants:
            yield f"GRANT {grant} TO '{account.user}'@'%'"


def _log_in_and_out(server: Server) -> None:
    for _ in range(FORMER_CONNECTIONS):
        pymysql.connect(unix_socket=str(server.socket), user="root").close()


def _of_our_host(audit: bytes) -> bytes:
    """Replaces the host name of the machine that generated the sample by the server's, in each record."""
    return re.sub(rb"(?m)^(\d{8} \d\d:\d\d:\d\d),[^,]*,", rb"\1,shop-orders-1,", audit)


if __name__ == "__main__":
    main()
