"""Compares events with the rows that views derived from them, on every server, and repairs those.

A block of events and its rows in rollups and receipts are separate parts. A server that dies after it
answered can take the part of a view with it, and a repetition of the block is dropped as known. The events
are the truth:

- rollups (`ROLLUPS` of rollups.py) are compared by instance and day of the events that they read, and
  repaired by the day;
- receipts are compared by file, kind and checkpoint, which is a block, and only where rows are missing:
  events may be deleted before their receipts.

A repair replaces partitions, so nothing may write meanwhile. It also removes the lost part from the queues of
replicas: rows of a server that returns later do not count twice.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from tailrace.clickhouse import shards
from tailrace.clickhouse.client import ClickHouse
from tailrace.migrations import drafts
from tailrace.migrations.lock import lock
from tailrace.migrations.migration_files import MigrationError
from tailrace.migrations.rollups import ROLLUPS, Rollup, oldest_day, rebuild_rollups
from tailrace.migrations.servers import ACTIVE_REPLICAS
from tailrace.plural import counted

RECEIPTS = "receipts"
RECEIPT_KEY = "instance, source, log, generation, kind, stage, code, day, after_checkpoint"
SETTLE_SECONDS = 120
"""Time in which a block that is being inserted reaches all tables and replicas."""
PAUSE_SECONDS = 1

Key = tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """Rows that a view should have derived, and those that there are, on one server of ClickHouse."""

    server: str
    """Its URL."""
    table: str
    key: Key
    """Of a rollup the day and the instance, of receipts the columns of RECEIPT_KEY."""
    expected: int
    found: int
    view: str = ""
    """Of a rollup: the view that derives it."""

    def __str__(self) -> str:
        where = ", ".join(filter(None, self.key))
        difference = f"{self.table} counts {self.found} instead of {counted(self.expected, 'event')}"
        return f"{self.server}: {difference}{f' by {self.view}' if self.view else ''}: {where}"


def compare(
    servers: Sequence[ClickHouse], days: int, settle_seconds: float = SETTLE_SECONDS
) -> list[Difference]:
    """Returns the differences for what arrived in the last `days`, on each server of ClickHouse.

    Only differences that last for `settle_seconds` count: views and replicas follow an insert. Raises
    ClickHouseError, OSError.
    """
    deadline = time.monotonic() + settle_seconds
    lasting = _compare_all(servers, days)
    while lasting and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
        still = {(each.server, each.table, each.view, each.key) for each in lasting}
        now = _compare_all(servers, days)
        lasting = [each for each in now if (each.server, each.table, each.view, each.key) in still]
    return lasting


def _compare_all(servers: Sequence[ClickHouse], days: int) -> list[Difference]:
    return [difference for server in servers for difference in _compare(server, days)]


def _compare(server: ClickHouse, days: int) -> list[Difference]:
    database = database_of(server)
    arrived = f"ingested_at >= now() - INTERVAL {days:d} DAY"
    return [*_compare_rollups(server, database, arrived), *_compare_receipts(server, database, arrived)]


def database_of(server: ClickHouse) -> str:
    """Returns the database with the rows of one server: that of a shard, if there are several."""
    known = "SELECT 1 FROM system.databases WHERE name = {name:String}"
    return shards.SHARD_DATABASE if server.rows(known, {"name": shards.SHARD_DATABASE}) else shards.DATABASE


def _compare_rollups(server: ClickHouse, database: str, arrived: str) -> Iterable[Difference]:
    day = "toDate(event_time, 'UTC')"
    for table in sorted({rollup.events for rollup in ROLLUPS}):
        concerned = (
            f"(SELECT DISTINCT {day} FROM {database}.{table} WHERE {arrived} "
            f"AND {day} >= '{oldest_day(table)}')"
        )
        events = _counts(server, f"{database}.{table}", day, "count()", f"{day} IN {concerned}")
        for rollup in (each for each in ROLLUPS if each.events == table):
            yield from _compare_rollup(server, database, rollup, events, concerned)


def _compare_rollup(
    server: ClickHouse, database: str, rollup: Rollup, events: Mapping[Key, int], concerned: str
) -> Iterable[Difference]:
    """`events` are the counts by day and instance, `concerned` the days as a subquery."""
    day = f"toDate({rollup.time}, 'UTC')"
    condition = f"{day} IN {concerned} AND {rollup.own} AND {rollup.once}"
    found = _counts(server, f"{database}.{rollup.table}", day, "sum(count)", condition)
    for key in sorted(events.keys() | found.keys()):
        expected, count = events.get(key, 0), found.get(key, 0)
        if expected != count:
            yield Difference(server.url, rollup.table, key, expected, count, rollup.view)


def _counts(server: ClickHouse, table: str, day: str, count: str, condition: str) -> dict[Key, int]:
    rows = server.rows(
        f"SELECT toString({day}) AS of_day, instance, toUInt64({count}) AS counted FROM {table} "
        f"WHERE {condition} GROUP BY of_day, instance"
    )
    return {(str(row["of_day"]), str(row["instance"])): int(row["counted"]) for row in rows}


def _compare_receipts(server: ClickHouse, database: str, arrived: str) -> Iterable[Difference]:
    key = ", ".join(f"toString({column}) AS {column}_text" for column in RECEIPT_KEY.split(", "))
    rows = server.rows(
        f"SELECT {key}, sum(expected) AS due, sum(found) AS there FROM ("
        f"SELECT {RECEIPT_KEY}, rows AS expected, toUInt64(0) AS found FROM ({_derived(server, database)}) "
        f"UNION ALL SELECT {RECEIPT_KEY}, toUInt64(0), rows FROM {database}.{RECEIPTS}) "
        f"GROUP BY {RECEIPT_KEY} HAVING due > there ORDER BY {RECEIPT_KEY}",
        additional_table_filters=_filters(server, database, arrived),
    )
    for row in rows:
        values = tuple(str(row[f"{column}_text"]) for column in RECEIPT_KEY.split(", "))
        yield Difference(server.url, RECEIPTS, values, int(row["due"]), int(row["there"]))


def _views(server: ClickHouse, database: str) -> Mapping[str, str]:
    """Returns the SELECTs of the views that fill the receipts, by the table that each one reads."""
    rows = server.rows(
        f"SELECT as_select AS text, extract(as_select, 'FROM {database}\\\\.(\\\\w+)') AS source "
        "FROM system.tables WHERE database = {database:String} AND engine = 'MaterializedView' "
        "AND create_table_query LIKE concat('% TO ', database, '.receipts %')",
        {"database": database},
    )
    return {str(row["source"]): str(row["text"]) for row in rows}


def _derived(server: ClickHouse, database: str) -> str:
    """Returns a SELECT of the receipts that the stored events should have."""
    columns = f"SELECT {RECEIPT_KEY}, rows, bytes FROM"
    return " UNION ALL ".join(f"{columns} ({text})" for text in _views(server, database).values())


def _filters(server: ClickHouse, database: str, condition: str) -> str:
    filters = [f"'{database}.{source}': '{condition}'" for source in _views(server, database)]
    return f"{{{', '.join(filters)}}}"


def repair(
    servers: Sequence[ClickHouse], differences: Sequence[Difference], report: Callable[[str], None] = print
) -> None:
    """Computes rollups and receipts with differences again, from the events of one server of each shard.

    Nothing may write meanwhile. Raises MigrationError if no server has all events, or for days whose events
    may be deleted.
    """
    for replicas in _shards(servers, {each.server for each in differences}):
        urls = {server.url for server in replicas}
        own = [each for each in differences if each.server in urls]
        source = _complete_server(replicas)
        _repair_rollups(source, [each for each in own if each.view], report)
        _repair_receipts(source, [each for each in own if each.table == RECEIPTS], report)


def _shards(servers: Sequence[ClickHouse], concerned: set[str]) -> list[list[ClickHouse]]:
    """Returns the servers of each shard with one of the concerned URLs."""
    groups: dict[str, list[ClickHouse]] = {}
    for server in servers:
        path = server.rows(
            "SELECT zookeeper_path AS path FROM system.replicas WHERE database = {database:String} "
            "AND table = 'query_events'",
            {"database": database_of(server)},
        )
        groups.setdefault(str(path[0]["path"]) if path else server.url, []).append(server)
    return [group for group in groups.values() if concerned & {server.url for server in group}]


def _complete_server(replicas: Sequence[ClickHouse]) -> ClickHouse:
    """Returns a server that has all events of its shard."""
    for server in replicas:
        waiting = server.rows(
            "SELECT sum(queue_size) + sum(is_readonly) AS n FROM system.replicas "
            "WHERE database = {database:String} AND table IN {tables:Array(String)}",
            {"database": database_of(server), "tables": list(_views(server, database_of(server)))},
        )
        if not int(waiting[0]["n"]):
            return server
    addresses = ", ".join(server.url for server in replicas)
    raise MigrationError(f"{addresses}: none has all events of its shard yet (system.replication_queue)")


def _repair_rollups(
    server: ClickHouse, differences: Sequence[Difference], report: Callable[[str], None]
) -> None:
    for rollup in ROLLUPS:
        concerned = {each.key[0] for each in differences if each.view == rollup.view}
        for day in map(date.fromisoformat, sorted(concerned)):
            rebuild_rollups(server, day, day, report, database=database_of(server), rollups=[rollup])


def _repair_receipts(
    server: ClickHouse, differences: Sequence[Difference], report: Callable[[str], None]
) -> None:
    """Replaces each month of receipts: what lacks rows is computed again, all else is copied."""
    database = database_of(server)
    table, day = f"{database}.{RECEIPTS}", RECEIPT_KEY.split(", ").index("day")
    months = sorted({each.key[day][:7].replace("-", "") for each in differences})
    if not months:
        return
    with lock(server):
        for month in months:
            report(f"receipts of {month}")
            keys = [each.key for each in differences if each.key[day].replace("-", "").startswith(month)]
            listed = f"({RECEIPT_KEY}) IN ({', '.join(map(_tuple, keys))})"
            with drafts.draft(server, database, RECEIPTS) as draft:
                _fill_receipts(server, draft, f"toYYYYMM(day) = {month} AND NOT {listed}", table)
                _fill_receipts(server, draft, listed, f"({_derived(server, database)})")
                move = f"ALTER TABLE {table} REPLACE PARTITION {month} FROM {draft}"
                server.execute(move, alter_sync=ACTIVE_REPLICAS)


def _fill_receipts(server: ClickHouse, draft: str, condition: str, source: str) -> None:
    columns = f"{RECEIPT_KEY}, rows, bytes"
    server.execute(
        f"INSERT INTO {draft} ({columns}) SELECT {columns} FROM {source} WHERE {condition}", async_insert=0
    )


def _tuple(key: Key) -> str:
    quoted = ("'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'" for value in key)
    return f"({', '.join(quoted)})"
