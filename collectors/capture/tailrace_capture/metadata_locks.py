"""Reads which sessions wait for a metadata lock, and who holds locks of the same object: Performance Schema.

The typical case is an ALTER TABLE that waits for an idle transaction, while all other sessions wait for it.
"""

from collections.abc import Iterator

from tailrace_capture import performance_schema
from tailrace_capture.facts import Fact, text
from tailrace_capture.server import Server

INSTRUMENT = "wait/lock/metadata/sql/mdl"
MAX_WAITS = 1000
OBJECT = ("OBJECT_TYPE", "OBJECT_SCHEMA", "OBJECT_NAME")

SESSION = {
    "connection": "PROCESSLIST_ID",
    "user": "PROCESSLIST_USER",
    "host": "PROCESSLIST_HOST",
    "command": "PROCESSLIST_COMMAND",
    "seconds": "PROCESSLIST_TIME",
}
"""Columns of a session; `seconds` is how long it is in its command. The text of statements is not read."""
SIDES = {"waiting": ("waiter", "waits"), "holding": ("holder", "holds")}
"""The prefix of the attributes of each side, and the aliases of its thread and of its lock."""


def read(server: Server) -> Iterator[Fact]:
    """Yields a fact for each session that waits and each one that holds a lock of the object."""
    performance_schema.require_on(server)
    performance_schema.require_instrument(server, INSTRUMENT, "metadata locks")
    columns = [f"waits.{name} AS {name.lower()}" for name in OBJECT]
    for side, (thread, lock) in SIDES.items():
        columns.append(f"{lock}.LOCK_TYPE AS {side}_lock")
        columns += [f"{thread}.{column} AS {side}_{name}" for name, column in SESSION.items()]
    same = " AND ".join(f"holds.{name} <=> waits.{name}" for name in OBJECT)
    for row in server.rows(
        f"SELECT {', '.join(columns)} FROM performance_schema.metadata_locks waits"
        " JOIN performance_schema.threads waiter ON waiter.THREAD_ID = waits.OWNER_THREAD_ID"
        f" JOIN performance_schema.metadata_locks holds ON {same} AND holds.LOCK_STATUS = 'GRANTED'"
        " AND holds.OWNER_THREAD_ID <> waits.OWNER_THREAD_ID"
        " JOIN performance_schema.threads holder ON holder.THREAD_ID = holds.OWNER_THREAD_ID"
        f" WHERE waits.LOCK_STATUS = 'PENDING' LIMIT {MAX_WAITS}"
    ):
        attributes = {name: text(value) for name, value in row.items()}
        names = (
            *(name.lower() for name in OBJECT),
            "waiting_connection",
            "holding_connection",
            "holding_lock",
        )
        yield Fact(" ".join(attributes[name] for name in names), attributes)
