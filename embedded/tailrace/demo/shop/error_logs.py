"""Error logs of MariaDB 10.11, MySQL 8.0 and Percona Server 5.7."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from tailrace.demo.shop.events import Message
from tailrace.demo.shop.log import Entry

ErrorLogFormat = Callable[[Iterable[Message]], tuple[Entry, ...]]

TIME = "\0"
"""In a message of several lines: where MariaDB writes time, thread and level again."""


def mariadb(messages: Iterable[Message]) -> tuple[Entry, ...]:
    return tuple(Entry(int(it.at), _mariadb(it).encode(), it.events) for it in messages)


def _mariadb(message: Message) -> str:
    moment = datetime.fromtimestamp(int(message.at), UTC)
    start = f"{moment:%Y-%m-%d} {moment.hour:2}:{moment:%M:%S} {message.thread} [{message.level}] "
    return f"{start}{message.text.replace(TIME, start)}\n"


def mysql(messages: Iterable[Message]) -> tuple[Entry, ...]:
    """MySQL 8.0: with code and subsystem, which the text contains."""
    return tuple(Entry(it.at, f"{_iso(it)} {it.thread} [{it.level}] {it.text}\n".encode()) for it in messages)


def percona(messages: Iterable[Message]) -> tuple[Entry, ...]:
    """Percona Server 5.7: as MySQL 5.7, without codes."""
    return mysql(messages)


def _iso(message: Message) -> str:
    return f"{datetime.fromtimestamp(message.at, UTC):%Y-%m-%dT%H:%M:%S.%f}Z"


def deadlock(first: tuple[int, str, str, str], second: tuple[int, str, str, str], row: int, trx: int) -> str:
    """Returns MariaDB's report of a deadlock of two transactions that each wait for a row of `shop`.`stock`
    that the other one has locked; InnoDB rolls back the first one.

    Each transaction: connection, address, user, statement. `row`: the product of the first one's row.
    """
    return (
        "InnoDB: Transactions deadlock detected, dumping detailed information.\n"
        f"{_transaction(1, first, trx + 1, trx, row)}{_transaction(2, second, trx, trx + 1, row + 1)}"
        f"{TIME}InnoDB: *** WE ROLL BACK TRANSACTION (1)\n"
    )


def _transaction(number: int, of: tuple[int, str, str, str], trx: int, other: int, row: int) -> str:
    connection, address, user, statement = of
    return (
        f"{TIME}InnoDB: \n*** ({number}) TRANSACTION:\n\n"
        f"TRANSACTION {trx}, ACTIVE 0 sec starting index read\nmysql tables in use 1, locked 1\n"
        "LOCK WAIT 3 lock struct(s), heap size 1128, 2 row lock(s), undo log entries 1\n"
        f"MariaDB thread id {connection}, OS thread handle 1399919{connection:08}, query id {trx * 7} "
        f"{address} {user} Updating\n{statement}\n"
        f"{TIME}InnoDB: *** WAITING FOR THIS LOCK TO BE GRANTED:\n\n{_lock(trx, row, ' waiting')}"
        f"{TIME}InnoDB: *** CONFLICTING WITH:\n\n{_lock(other, row, '')}"
    )


def _lock(trx: int, row: int, waiting: str) -> str:
    return (
        "RECORD LOCKS space id 5 page no 12 n bits 488 index PRIMARY of table `shop`.`stock` "
        f"trx id {trx} lock_mode X locks rec but not gap{waiting}\n"
        f"Record lock, heap no {row % 400} PHYSICAL RECORD: n_fields 5; compact format; info bits 0\n"
        f" 0: len 4; hex {0x80000000 + row:08x}; asc     ;;\n"
        f" 1: len 6; hex {trx:012x}; asc       ;;\n"
        " 2: len 7; hex 070000012d0110; asc     -  ;;\n"
        " 3: len 4; hex 80000092; asc     ;;\n\n"
    )
