"""Writers that insert blocks side by side while servers fail, and what every replica must then have."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from compared_rows import INSTANCES
from replica_servers import Replica, Replicas, wait_until
from test_tables import EXACTLY_ONCE, events

from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.migrations import reconciliation
from tailrace.migrations.rollups import ROLLUPS

ROWS = 200
WRITERS = 3
PATIENCE_SECONDS = 400
NO_ANSWER = 0
"""Counted in place of an error code."""
ERRORS_OF_ROWS = (349, 469)
"""CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN, VIOLATED_CONSTRAINT"""

Row = tuple[str, str, int]
"""Id, instance and position of an event."""


def block(instances: Sequence[str] = INSTANCES, rows: int = ROWS) -> list[dict]:
    return [
        {**event, "instance": instances[number % len(instances)]} for number, event in enumerate(events(rows))
    ]


def insert(user: ClickHouse, rows: list[dict], timeout: float = 60) -> None:
    """Inserts a block as the committer does: always with the same token. Gives up after `timeout` seconds.

    The server waits less: the committer's timeout also exceeds that of the quorum.
    """
    token = f"token of {rows[0]['event_id']}"
    settings = {"insert_quorum_timeout": 10_000, "insert_deduplication_token": token, **EXACTLY_ONCE}
    lines = "\n".join(map(json.dumps, rows))
    statement = f"INSERT INTO tailrace.query_events FORMAT JSONEachRow\n{lines}"
    user.execute(statement, timeout=timeout, **settings)


def refusal(user: ClickHouse, rows: list[dict], timeout: float = 60) -> int | None:
    """Returns the code with which an insert is refused, NO_ANSWER, or None if it is stored."""
    try:
        insert(user, rows, timeout)
    except ClickHouseError as error:
        return error.code
    except OSError:
        return NO_ANSWER
    return None


def is_stored_again(user: ClickHouse, rows: list[dict]) -> bool:
    """Repeats an insert as the committer does. Returns whether two attempts in a row succeed."""
    return refusal(user, rows) is None and refusal(user, rows) is None


def rows_of(*blocks: list[dict]) -> list[Row]:
    return [(row["event_id"], row["instance"], row["entry_offset"]) for block in blocks for row in block]


class Load:
    """Inserts blocks through the given servers in turn. A block that is refused goes to the next server."""

    def __init__(self, servers: Callable[[], Sequence[Replica]]) -> None:
        self.stored = 0
        self.refused: Counter[int] = Counter()
        """The codes of refusals."""
        self.messages: dict[int, str] = {}
        """The first message of each code."""
        self.rows: list[Row] = []
        self._servers = servers
        self._turn = 0
        self._ends = threading.Event()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._write, daemon=True) for _ in range(WRITERS)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def await_stored(self, more: int, what: str) -> None:
        """Waits until that many blocks more are stored."""
        target = self.stored + more
        wait_until(lambda: self.stored >= target, lambda: f"{what}: {self.refused}", PATIENCE_SECONDS)

    def await_refusals(self, more: int) -> None:
        target = self.refused.total() + more
        wait_until(lambda: self.refused.total() >= target, f"{more} refusals", PATIENCE_SECONDS)

    def finish(self) -> None:
        """Begins no further block. Waits until all that were begun are stored."""
        self._ends.set()
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
            assert not thread.is_alive(), f"a block is not stored: {self.refused}, {self.messages}"
        assert not [text for code, text in self.messages.items() if _is_in_data(code, text)]

    def _write(self) -> None:
        while not self._ends.is_set():
            self.store(block())

    def store(self, rows: list[dict]) -> None:
        """Inserts a block until it is stored."""
        with self._lock:
            self.rows += rows_of(rows)
        successes, needed = 0, 1
        while successes < needed:
            try:
                insert(self._next_server().writer, rows)
                successes += 1
            except (ClickHouseError, OSError) as error:
                successes, needed = 0, 2
                self._refused(error)
        with self._lock:
            self.stored += 1

    def _refused(self, error: Exception) -> None:
        code = error.code if isinstance(error, ClickHouseError) else NO_ANSWER
        with self._lock:
            self.refused[code] += 1
            self.messages.setdefault(code, str(error))

    def _next_server(self) -> Replica:
        with self._lock:
            self._turn += 1
            turn = self._turn
        wait_until(lambda: bool(self._servers()), "a server runs", PATIENCE_SECONDS)
        servers = self._servers()
        return servers[turn % len(servers)]


def _is_in_data(code: int, message: str) -> bool:
    """Whether the committer would split the block into blocks with other tokens (InsertErrors.java)."""
    return code in ERRORS_OF_ROWS or "RowInputFormat" in message


@contextmanager
def running_load(servers: Callable[[], Sequence[Replica]]) -> Iterator[Load]:
    """A load that ends with the block, also if that fails."""
    load = Load(servers)
    load.start()
    try:
        yield load
    finally:
        load._ends.set()


def assert_every_replica_has(cluster: Replicas, rows: Sequence[Row]) -> None:
    """Each server must have each row of its shard once, in events, rollups and receipts, and no other row."""
    cluster.await_calm()
    for server in cluster.servers:
        own = [row for row in rows if shard_of(server, row[1], cluster) == server.shard]
        assert own, f"{server.name}: the shard has no rows"
        assert _difference(_events(server, cluster.database), own) == "", server.name
        counted = dict(Counter(instance for _, instance, _ in own))
        assert _counts(server, cluster.database) == dict.fromkeys(_counters(cluster.database), counted)
        if cluster.is_sharded:
            assert _events(server, "tailrace") == sorted(rows), server.name
            everywhere = dict(Counter(instance for _, instance, _ in rows))
            assert _counts(server, "tailrace") == dict.fromkeys(_counters("tailrace"), everywhere)
    assert reconciliation.compare(cluster.each("admin"), days=7, settle_seconds=0) == []


def _difference(found: Sequence[Row], expected: Sequence[Row]) -> str:
    """Returns how many rows are missing, and how many are there twice or are not expected; '' if none."""
    stored, wanted = Counter(found), Counter(expected)
    missing, more = wanted - stored, stored - wanted
    return f"{missing.total()} missing, {more.total()} too many" if missing or more else ""


def shard_of(server: Replica, instance: str, cluster: Replicas) -> int:
    """Returns the number of the shard with the rows of an instance."""
    if not cluster.is_sharded:
        return 1
    count = len({each.shard for each in cluster.servers})
    return server.number("SELECT cityHash64({i:String}) % {n:UInt8} + 1", i=instance, n=count)


def _events(server: Replica, database: str) -> list[Row]:
    found = server.user("admin").rows(
        f"SELECT toString(event_id) AS id, instance, entry_offset FROM {database}.query_events"
    )
    return sorted((row["id"], row["instance"], row["entry_offset"]) for row in found)


def _counters(database: str) -> dict[str, str]:
    """Returns the queries for the number of events of each instance, by the view whose rows they read."""
    rollups = {
        each.view: f"SELECT instance, sum(count) AS n FROM {database}.{each.table} "
        f"WHERE {each.own} AND {each.once} GROUP BY instance"
        for each in ROLLUPS
        if each.events == "query_events"
    }
    receipts = (
        f"SELECT instance, sum(rows) AS n FROM {database}.receipts WHERE kind = 'EVENT' "
        "GROUP BY instance HAVING sum(bytes) = 100 * n"
    )
    return {**rollups, "receipts": receipts}


def _counts(server: Replica, database: str) -> dict[str, dict[str, int]]:
    admin = server.user("admin")
    return {
        view: {row["instance"]: int(row["n"]) for row in admin.rows(sql)}
        for view, sql in _counters(database).items()
    }
