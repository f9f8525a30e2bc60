"""The simulated company: its data, its accounts, and the working hours of its people and programs."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pymysql

from e2e.attack_day.mariadb import PORT, Server
from e2e.attack_day.network import SERVER, as_host

CUSTOMERS = 5_000
PRODUCTS = 300
ORDERS = 8_000
EMPLOYEES = 400


@dataclass(frozen=True)
class Account:
    """An account, and the hosts of its people or programs."""

    user: str
    hosts: tuple[str, ...]
    grants: tuple[str, ...]
    weak_password: str = ""

    def password(self, seed: int) -> str:
        return self.weak_password or f"{self.user}-{Random(f'{seed}{self.user}').getrandbits(64):x}"


SHOP = Account("shop", ("10.20.1.11", "10.20.1.12"), ("SELECT, INSERT, UPDATE, DELETE ON shop.*",))
BILLING = Account("billing", ("10.20.1.21",), ("SELECT, INSERT, UPDATE ON shop.*", "EXECUTE ON shop.*"))
REPORT = Account("report", ("10.20.3.1",), ("SELECT ON shop.*",))
BACKUP = Account(
    "backup", ("10.20.4.1",), ("SELECT, LOCK TABLES, SHOW VIEW, EVENT, TRIGGER, RELOAD, PROCESS ON *.*",)
)
MONITOR = Account("monitor", ("10.20.5.1",), ("PROCESS, REPLICATION CLIENT ON *.*",))
ANNA = Account("anna", ("10.20.9.5",), ("ALL ON *.*", "GRANT OPTION ON *.*"))
BEN = Account("ben", ("10.20.9.6",), ("ALL ON *.*", "GRANT OPTION ON *.*"))
CLEO = Account("cleo", ("10.20.8.31",), ("SELECT ON shop.*", "SELECT ON hr.*"))
DAN = Account("dan", ("10.20.8.32",), ("SELECT ON shop.*",), weak_password="dan2024")
EVE = Account("eve", ("10.20.8.33",), ("SELECT ON shop.*",))
DEPLOY = Account("deploy", ("10.20.7.1",), ("ALL ON shop.*",))
REPLICA = Account("replica", ("10.20.0.2",), ("REPLICATION SLAVE ON *.*",))
ROOT = Account("root", (), ("ALL ON *.*", "GRANT OPTION ON *.*"))

ACCOUNTS = (SHOP, BILLING, REPORT, BACKUP, MONITOR, ANNA, BEN, CLEO, DAN, EVE, DEPLOY, REPLICA, ROOT)

DATA = Path(__file__).with_name("company.sql")


class Company:
    """Creates the company on a server, and runs its work."""

    def __init__(self, server: Server, seed: int):
        self.server = server
        self.seed = seed
        self._random = Random(seed)
        self._tables = 0

    def found(self) -> None:
        """Creates data and accounts, as root over the socket."""
        sizes = {"customers": CUSTOMERS, "products": PRODUCTS, "orders": ORDERS, "employees": EMPLOYEES}
        with pymysql.connect(unix_socket=str(self.server.socket), user="root", autocommit=True) as connection:
            for statement in (*DATA.read_text().format(**sizes).split(";\n"), *self._account_statements()):
                connection.cursor().execute(statement)

    def _account_statements(self) -> Iterator[str]:
        for account in ACCOUNTS:
            yield f"CREATE USER '{account.user}'@'%' IDENTIFIED BY '{account.password(self.seed)}'"
            for grant in account.grants:
                yield f"GRANT {grant} TO '{account.user}'@'%'"

    def connect(self, account: Account, host: str = "", database: str = "", password: str | None = None):
        """A connection of an account from one of its hosts; raises what PyMySQL raises."""
        with as_host(host or account.hosts[0]):
            return pymysql.connect(
                host=SERVER,
                port=PORT,
                user=account.user,
                password=account.password(self.seed) if password is None else password,
                database=database or None,
                autocommit=True,
                local_infile=True,
            )

    def run(self, account: Account, statements: list[str], host: str = "", database: str = "shop") -> None:
        """Runs one session. A refused statement does not end it."""
        with self.connect(account, host, database) as connection:
            for statement in statements:
                try:
                    connection.cursor().execute(statement)
                except pymysql.err.Error:
                    if not connection.open:
                        return

    def welcome(self) -> None:
        """The single working day of the account eve."""
        self.run(EVE, ["SHOW TABLES", "SELECT COUNT(*) FROM customers"])

    def work(self, start: datetime, end: datetime) -> None:
        """Runs the ordinary work between two times, in order."""
        hour = start
        while hour < end:
            for at, act in sorted(self._hour(hour), key=lambda planned: planned[0]):
                if at >= start and at < end:
                    self.server.clock.set(at)
                    act()
                    self.server.settle()
            hour += timedelta(hours=1)

    def _hour(self, hour: datetime) -> Iterator[tuple[datetime, object]]:
        """Returns the work of one hour."""
        is_workday = hour.weekday() < 5
        is_office = is_workday and 8 <= hour.hour < 17
        yield from self._plan(hour, 1 + (4 if 7 <= hour.hour < 23 else 0), self._shop)
        yield from self._plan(hour, 1, self._billing)
        yield from self._plan(hour, 2, self._monitor)
        if hour.hour == 2:
            yield hour + timedelta(minutes=5), self._backup
        if hour.hour == 6:
            yield hour + timedelta(minutes=10), self._report
        if is_office:
            yield from self._plan(hour, 1, lambda: self._analyst(CLEO))
            yield from self._plan(hour, self._random.randint(0, 1), lambda: self._analyst(DAN))
            yield from self._plan(hour, self._random.randint(0, 1), lambda: self._administrator(ANNA))
            yield from self._plan(hour, self._random.randint(0, 1), lambda: self._administrator(BEN))
        if is_workday and hour.weekday() == 1 and hour.hour == 10:
            yield hour + timedelta(minutes=self._random.randint(0, 59)), self._deploy

    def _plan(self, hour: datetime, times: int, act) -> Iterator[tuple[datetime, object]]:
        for _ in range(times):
            yield hour + timedelta(seconds=self._random.uniform(0, 3599)), act

    def _shop(self) -> None:
        pick = self._random.randint
        statements = ["SET NAMES utf8mb4"]
        for _ in range(pick(4, 10)):
            customer, product = pick(1, CUSTOMERS), pick(1, PRODUCTS)
            of_product = f"WHERE product_id = {product}"
            statements += self._random.choice(
                [
                    [f"SELECT id, name, price FROM products WHERE id = {product}"],
                    [f"SELECT * FROM customers WHERE id = {customer}"],
                    [f"SELECT stars, words FROM reviews {of_product} ORDER BY id DESC LIMIT 10"],
                    [f"SELECT name FROM products WHERE name LIKE 'Product {product}%' LIMIT 20"],
                    [
                        "START TRANSACTION",
                        "INSERT INTO orders (customer_id, product_id, amount, at)"
                        f" VALUES ({customer}, {product}, 1, NOW())",
                        f"UPDATE products SET stock = stock - 1 WHERE id = {product}",
                        "COMMIT",
                    ],
                    [f"REPLACE INTO carts VALUES (MD5({customer}), 'it''s {product} /* gift */')"],
                ]
            )
        self.run(SHOP, statements, self._random.choice(SHOP.hosts))

    def _billing(self) -> None:
        customer = self._random.randint(1, CUSTOMERS)
        self.run(
            BILLING,
            [
                f"SELECT card_number, valid_until FROM cards WHERE customer_id = {customer}",
                f"SELECT id, amount FROM orders WHERE customer_id = {customer}",
                "CALL close_day()",
            ],
        )

    def _monitor(self) -> None:
        self.run(
            MONITOR,
            [
                "SHOW GLOBAL STATUS",
                "SELECT COUNT(*) FROM information_schema.processlist",
                "SHOW MASTER STATUS",
            ],
            database="",
        )

    def _backup(self) -> None:
        with as_host(BACKUP.hosts[0]):
            words = [f"-h{SERVER}", f"-u{BACKUP.user}", f"-p{BACKUP.password(self.seed)}"]
            self.server.client(
                [*words, "--single-transaction", "--databases", "shop", "hr"], program="mariadb-dump"
            ).check_returncode()

    def _report(self) -> None:
        self.run(
            REPORT,
            [
                "SELECT city, COUNT(*) FROM customers GROUP BY city",
                "SELECT p.name, SUM(o.amount) s FROM orders o JOIN products p ON p.id = o.product_id"
                " GROUP BY p.id ORDER BY s DESC LIMIT 50",
                "SELECT DATE(at), COUNT(*) FROM orders GROUP BY DATE(at)",
            ],
        )

    def _analyst(self, account: Account) -> None:
        statements = ["SHOW TABLES", "SELECT COUNT(*) FROM orders"]
        statements += self._random.sample(
            [
                "SELECT city, COUNT(*) n FROM customers GROUP BY city ORDER BY n DESC",
                "SELECT product_id, AVG(stars) FROM reviews GROUP BY product_id LIMIT 100",
                "SELECT AVG(price) FROM products",
                "SELECT COUNT(DISTINCT customer_id) FROM orders WHERE at > NOW() - INTERVAL 7 DAY",
                "SELEC COUNT(*) FROM orders",
                "DESCRIBE orders",
            ],
            k=self._random.randint(1, 4),
        )
        if account is CLEO and self._random.random() < 0.3:
            statements.append("SELECT COUNT(*), AVG(salary) FROM hr.employees")
        if self._random.random() < 0.05:
            self._mistype(account)
        self.run(account, statements)

    def _mistype(self, account: Account) -> None:
        with suppress(pymysql.err.OperationalError):
            self.connect(account, password="oops").close()

    def _administrator(self, account: Account) -> None:
        self._tables += 1
        statements = self._random.choice(
            [
                ["SHOW PROCESSLIST", "SHOW ENGINE INNODB STATUS"],
                ["SHOW VARIABLES LIKE 'innodb%'", "SHOW GLOBAL STATUS LIKE 'Threads%'"],
                ["ANALYZE TABLE shop.orders", "SHOW INDEX FROM shop.orders"],
                [f"CREATE TABLE shop.work_{self._tables} (id INT)", f"DROP TABLE shop.work_{self._tables}"],
                ["EXPLAIN SELECT * FROM shop.orders WHERE customer_id = 5"],
            ]
        )
        self.run(account, statements)

    def _deploy(self) -> None:
        self._tables += 1
        column = f"extra_{self._tables}"
        self.run(
            DEPLOY,
            [
                f"ALTER TABLE products ADD COLUMN {column} INT",
                f"UPDATE products SET {column} = 0 WHERE id < 100",
                f"ALTER TABLE products DROP COLUMN {column}",
            ],
        )


def all_hosts() -> list[str]:
    """Returns every host of the company."""
    return sorted({host for account in ACCOUNTS for host in account.hosts})
