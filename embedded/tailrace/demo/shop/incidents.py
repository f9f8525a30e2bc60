"""Deadlocks of two applications, and a replica that is behind its source."""

from tailrace.demo.shop import error_logs
from tailrace.demo.shop.events import DEADLOCK, Execution, Journal, Message, Session
from tailrace.demo.shop.times import (
    DEADLOCKS_FROM,
    DEADLOCKS_TO,
    HOUR,
    MINUTE,
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
    """Adds the messages of a replica that tries to reconnect to its source once a minute.

    Servers do not write their lag: it grows from the first of these messages to the last.
    """
    begin, end = times.at(REPLICA_BEHIND_FROM), times.at(REPLICA_BEHIND_TO)
    lost = (
        "Slave I/O: error reconnecting to master 'repl@10.20.0.11:3306' - retry-time: 60  "
        "maximum-retries: 100000  message: Can't connect to server on '10.20.0.11' "
        '(110 "Connection timed out"), Internal MariaDB error code: 2003'
    )
    failed = range(begin, end, MINUTE)
    journal.messages += [Message(at, 10, "ERROR", lost) for at in failed]
    again = (
        "Slave: connected to master 'repl@10.20.0.11:3306',replication resumed in log 'mysql-bin.000482' "
        "at position 84122190"
    )
    journal.messages.append(Message(end, 10, "Note", again))
    return {
        "instance": "shop-db-2",
        "from": iso(begin),
        "to": iso(end),
        "seconds": end - begin,
        "failed_reconnects": len(failed),
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
