"""Deadlocks of two applications, and a replica that is behind its source."""

from tailrace.demo.shop import error_logs
from tailrace.demo.shop.events import DEADLOCK, Execution, Journal, Message, Session
from tailrace.demo.shop.people import ARCHIVE, ARCHIVED_ROWS
from tailrace.demo.shop.times import (
    DEADLOCKS_FROM,
    DEADLOCKS_TO,
    HOUR,
    REPLICA_BEHIND_FROM,
    REPLICA_BEHIND_TO,
    StoryTimes,
    iso,
)

DEADLOCKS = 14
CHECKOUT = "app_orders"
WAREHOUSE = "warehouse"
WAREHOUSE_ADDRESS = "10.20.1.31"
PICK = "UPDATE stock SET on_hand = on_hand - {} WHERE product_id = {}"
RECONNECTS = 5


def add_warehouse(times: StoryTimes, journal: Journal) -> None:
    """Adds the ordinary updates of the warehouse's program, in one session per hour."""
    for hour in times.hours():
        random = times.random(WAREHOUSE, hour)
        session = Session(9500 + (hour - times.midnight) // HOUR + 48, WAREHOUSE, WAREHOUSE_ADDRESS, "shop")
        journal.session(
            session,
            [
                Execution(
                    hour + random.random() * HOUR,
                    session,
                    PICK.format(random.randint(1, 9), random.randint(1, 8_400)),
                    round(0.0007 + random.random() / 1000, 6),
                    rows_examined=1,
                    rows_affected=1,
                )
                for _ in range(6)
            ],
        )


def add_deadlocks(times: StoryTimes, journal: Journal) -> dict[str, object]:
    """Adds the reports of InnoDB, and the failed statements of the transactions that it rolled back."""
    begin, end = times.at(DEADLOCKS_FROM), times.at(DEADLOCKS_TO)
    victim = Session(9701, WAREHOUSE, WAREHOUSE_ADDRESS, "shop")
    failed = []
    for number in range(DEADLOCKS):
        at, row = begin + 10 + number * (end - begin - 20) // DEADLOCKS, 3_300 + number * 4
        statement = PICK.format(2, row)
        first = (victim.connection, WAREHOUSE_ADDRESS, WAREHOUSE, statement)
        second = (9711 + number % 2, "10.20.1.11", CHECKOUT, PICK.format(1, row + 1))
        report = error_logs.deadlock(first, second, row, 88_410 + number * 2)
        journal.messages.append(Message(at, victim.connection, "Note", report))
        aborted = "InnoDB: Transaction was aborted due to Deadlock"
        journal.messages.append(Message(at, victim.connection, "ERROR", aborted))
        failed.append(
            Execution(at, victim, statement, 0.21, rows_examined=1, lock_seconds=0.2, error=DEADLOCK)
        )
    journal.session(victim, failed)
    return {
        "instance": "shop-db-1",
        "from": iso(begin),
        "to": iso(end),
        "count": DEADLOCKS,
        "rolled_back_user": WAREHOUSE,
        "other_user": CHECKOUT,
        "table": "shop.stock",
        "error": DEADLOCK,
    }


def add_replica(times: StoryTimes, journal: Journal) -> dict[str, object]:
    """Adds the large updates that the replica repeats for a long time, and its lost connections meanwhile.

    Servers do not write their lag: the duration of these statements shows it.
    """
    begin, end = times.at(REPLICA_BEHIND_FROM), times.at(REPLICA_BEHIND_TO)
    behind = float(end - begin)
    applier, each = Session(11, "SQL_SLAVE", "", "shop"), behind / len(ARCHIVE)
    for number, sql in enumerate(ARCHIVE, 1):
        at = begin + number * each
        journal.events.append(
            Execution(at, applier, sql, each, rows_examined=412_240, rows_affected=ARCHIVED_ROWS)
        )
    lost = (
        "Slave I/O: error reconnecting to master 'repl@10.20.0.11:3306' - retry-time: 60  "
        "maximum-retries: 100000  message: Can't connect to server on '10.20.0.11' "
        '(110 "Connection timed out"), Internal MariaDB error code: 2003'
    )
    for number in range(RECONNECTS):
        journal.messages.append(Message(begin + 240 + number * 60, 10, "ERROR", lost))
    again = (
        "Slave: connected to master 'repl@10.20.0.11:3306',replication resumed in log 'mysql-bin.000482' "
        "at position 84122190"
    )
    journal.messages.append(Message(begin + 240 + RECONNECTS * 60, 10, "Note", again))
    return {
        "instance": "shop-db-2",
        "from": iso(begin),
        "to": iso(end),
        "seconds": behind,
        "statements": len(ARCHIVE),
        "failed_reconnects": RECONNECTS,
    }


def add_aborted_connections(
    times: StoryTimes, instance: str, prefix: str, user: str, journal: Journal
) -> None:
    """Adds the warnings of an ordinary day: a client that did not close its connection, twice in eight
    hours. `prefix` is what the product writes before the text."""
    for hour in times.hours():
        random = times.random(f"aborted/{instance}", hour)
        if random.random() < 0.25:
            connection = random.randint(100, 900)
            text = (
                f"{prefix}Aborted connection {connection} to db: 'shop' user: '{user}' host: '10.20.1.11' "
                "(Got timeout reading communication packets)"
            )
            journal.messages.append(Message(hour + random.randint(1, 3599), connection, "Warning", text))
