"""The work of two persons: the analyst anna, who exports the customers, and the administrator ben, who drops
an index."""

from dataclasses import dataclass

from tailrace.demo.shop.events import Execution, Journal, Session
from tailrace.demo.shop.statements import ORDERS_BY_STATUS, ORDERS_OF_CUSTOMER
from tailrace.demo.shop.times import (
    EXPORTED,
    HOUR,
    INDEX_DROPPED,
    MINUTE,
    StoryTimes,
    iso,
)

ANNA = "anna"
ANNA_ADDRESS = "10.20.9.5"
BEN = "ben"
BEN_ADDRESS = "10.20.9.7"
INSTANCE = "shop-db-1"
EXPORT = "SELECT id, name, email, phone, street, city FROM customers ORDER BY id"
CUSTOMERS = 184_302
INDEX = "by_customer"
DROP_INDEX = f"ALTER TABLE orders DROP INDEX {INDEX}"
CARLA = "'carla'@'10.20.9.%'"
GRANTED = "10:15"
OFFICE_HOURS = range(8, 17)


@dataclass(frozen=True)
class Typed:
    """A statement of a person: seconds after the session's begin, duration, rows."""

    after: float
    sql: str
    seconds: float = 0.0008
    sent: int = 0
    examined: int = 0
    affected: int = 0
    plan: tuple[str, ...] = ()

    def execution(self, begin: float, session: Session) -> Execution:
        return Execution(
            begin + self.after,
            session,
            self.sql,
            self.seconds,
            self.sent,
            self.examined,
            self.affected,
            plan=self.plan,
        )


def add_work(times: StoryTimes, journal: Journal) -> None:
    """Adds anna's ordinary reports: a session in each office hour."""
    for hour in times.hours():
        if hour // HOUR % 24 not in OFFICE_HOURS:
            continue
        random = times.random(ANNA, hour)
        begin = hour + random.randint(60, 1200)
        session = Session(9000 + (hour - times.midnight) // HOUR + 48, ANNA, ANNA_ADDRESS, "shop")
        sql = ORDERS_BY_STATUS.text % f"'{times.day}'"
        reports = [
            Typed(
                number * 300 + random.random() * 200,
                sql,
                0.2 + random.random() / 5,
                5,
                88_000,
                plan=ORDERS_BY_STATUS.plan,
            )
            for number in range(random.randint(2, 5))
        ]
        journal.session(session, (typed.execution(begin, session) for typed in reports))


def add_export(times: StoryTimes, journal: Journal) -> dict[str, object]:
    """Adds the export of all customers at night; returns what the manifest contains of it."""
    begin = times.at(EXPORTED)
    session = Session(9301, ANNA, ANNA_ADDRESS, "shop")
    typed = (
        Typed(4, "SELECT COUNT(*) FROM customers", 0.041, 1, CUSTOMERS),
        Typed(31, EXPORT, 38.214, CUSTOMERS, CUSTOMERS),
    )
    journal.session(session, (each.execution(begin, session) for each in typed))
    return {
        "instance": INSTANCE,
        "user": ANNA,
        "address": ANNA_ADDRESS,
        "connection": session.connection,
        "at": iso(begin + 31),
        "statement": EXPORT,
        "rows": CUSTOMERS,
        "table": "shop.customers",
    }


def add_dropped_index(times: StoryTimes, journal: Journal) -> dict[str, object]:
    """Adds the session in which ben drops the index; `finish` completes the manifest."""
    begin = times.at(INDEX_DROPPED) - 4 * MINUTE
    session = Session(9302, BEN, BEN_ADDRESS, "shop")
    typed = (
        Typed(3, "SHOW INDEX FROM orders", 0.0011, 5, 5),
        Typed(4 * MINUTE - 2, DROP_INDEX, 1.204),
    )
    journal.session(session, (each.execution(begin, session) for each in typed))
    return {
        "instance": INSTANCE,
        "user": BEN,
        "at": iso(times.at(INDEX_DROPPED)),
        "table": "shop.orders",
        "index": INDEX,
        "statement": ORDERS_OF_CUSTOMER.text,
    }


def add_new_account(times: StoryTimes, journal: Journal) -> dict[str, object]:
    """Adds the session in which ben creates an account and grants it a privilege."""
    begin = times.at(GRANTED)
    session = Session(9304, BEN, BEN_ADDRESS, "shop")
    grant = f"GRANT SELECT ON shop.reviews TO {CARLA}"
    typed = (Typed(2, f"CREATE USER {CARLA} IDENTIFIED BY '*****'"), Typed(9, grant))
    journal.session(session, (each.execution(begin, session) for each in typed))
    return {
        "instance": INSTANCE,
        "user": BEN,
        "account": CARLA,
        "at": iso(begin + 2),
        "privilege": "SELECT on shop.reviews",
    }
