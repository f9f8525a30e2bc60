"""Rollups of query_events: how they are computed again, and how a new one counts each event once.

After a restart the job inserts the blocks of its last checkpoint again. Tables ignore them by their tokens,
and so does the table of a view, because each has a token of its own for the block. A rollup that was added
between both inserts knows no tokens: without `counted_events` it would count those blocks a second time.
"""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.shards import DATABASE
from tailrace.migrations import drafts
from tailrace.migrations.lock import lock
from tailrace.migrations.migration_files import Migration, MigrationError
from tailrace.migrations.retention import load_retention
from tailrace.migrations.servers import ACTIVE_REPLICAS, Servers

ROLLUPS = {
    "query_load_1m": ("minute", "%Y%m%d"),
    "query_classes_1h": ("hour", "%Y%m%d"),
    "query_classes_1d": ("day", "%Y%m"),
}
"""Rollups that can be rebuilt from query_events: the column of the time, the id of the partition of a day.
Each has a view of its name and `_mv`."""

COUNTED = "counted_events"
"""Events that a rollup counted when it was added, and that its view leaves out. Of all events, only those
that the job may insert again."""
REPEATED_MINUTES = 10
"""The longest time between the first and the last insert of a checkpoint that the job may repeat. Blocks wait
for some minutes at most while ClickHouse is slow; after an outage a newer checkpoint replaces theirs."""
REPEATED_CHECKPOINTS = 2

_CHANGED_VIEW = re.compile(r"(?:MATERIALIZED VIEW IF NOT EXISTS|ALTER TABLE) tailrace\.(\w+)_mv\b")


def new_rollup(migration: Migration) -> str:
    """Returns the rollup whose view begins to leave out counted events with this migration, or ""."""
    found = _CHANGED_VIEW.search(migration.statement)
    return found[1] if found and f".{COUNTED}" in migration.statement else ""


def count_once(servers: Servers, rollup: str, report: Callable[[str], None] = lambda _: None) -> None:
    """Makes a rollup count every stored event once, whether or not the job inserts it again.

    Lists the newest events on every server, and computes their days again on one server of each shard: a
    block that was inserted incompletely may be in the events only. Nothing may write meanwhile. A second run
    gives the same result.
    """
    database = servers.dialect.database
    for server in servers.all:
        servers.await_rows(server, [f"{database}.query_events"])
        _list_newest(server, database, rollup)
    for server in servers.of_each_shard(database, rollup):
        for day in _listed_days(server, database, rollup):
            report(f"{rollup} of {day}")
            _rebuild_day(server, database, rollup, day, "1")


def _list_newest(server: ClickHouse, database: str, rollup: str) -> None:
    """A block may be sent again if it is part of the job's latest complete checkpoint."""
    events = f"{database}.query_events"
    server.execute(
        f"INSERT INTO {database}.{COUNTED} (rollup, event_id, after_checkpoint) "
        f"SELECT {{rollup:String}}, event_id, after_checkpoint FROM {events} WHERE "
        f"ingested_at >= (SELECT max(ingested_at) FROM {events}) - INTERVAL {REPEATED_MINUTES} MINUTE "
        f"OR after_checkpoint + {REPEATED_CHECKPOINTS} > (SELECT max(after_checkpoint) FROM {events})",
        {"rollup": rollup},
        async_insert=0,
        insert_deduplicate=0,
    )


def _listed_days(server: ClickHouse, database: str, rollup: str) -> list[date]:
    """Returns the days of listed events, except those whose events may be deleted: these stay as they are."""
    rows = server.rows(
        f"SELECT DISTINCT toDate(event_time, 'UTC') AS day FROM {database}.query_events "
        f"WHERE event_id IN (SELECT event_id FROM {database}.{COUNTED} WHERE rollup = {{rollup:String}}) "
        "AND day >= {oldest:Date} ORDER BY day",
        {"rollup": rollup, "oldest": oldest_day()},
    )
    return [date.fromisoformat(str(row["day"])) for row in rows]


def oldest_day() -> date:
    """Returns the first day whose events are not being deleted, UTC."""
    return datetime.now(UTC).date() - timedelta(days=load_retention()["query_events"] - 1)


def rebuild_rollups(
    clickhouse: ClickHouse,
    first: date,
    last: date,
    report: Callable[[str], None] = lambda _: None,
    events: str = "1",
    database: str = DATABASE,
) -> None:
    """Rebuilds the rollups of the days `first` to `last` (UTC, inclusive) from query_events.

    For a rewind and a reconciliation. `events` is a condition for the events that count, `database` that of a
    shard if there are several. Nothing may write meanwhile. Each day is replaced atomically, and a second run
    gives the same result. Raises MigrationError for days whose events may be deleted: the rollup would lose
    them.
    """
    if first < (oldest := oldest_day()):
        raise MigrationError(
            f"events before {oldest} may be deleted: rollups can be rebuilt from that day on"
        )
    with lock(clickhouse):
        for rollup in ROLLUPS:
            for number in range((last - first).days + 1):
                day = first + timedelta(days=number)
                report(f"{rollup} of {day}")
                _rebuild_day(clickhouse, database, rollup, day, events)


def _rebuild_day(clickhouse: ClickHouse, database: str, rollup: str, day: date, events: str) -> None:
    time, id_of_partition = ROLLUPS[rollup]
    table, partition = f"{database}.{rollup}", f"{day:{id_of_partition}}"
    with drafts.draft(clickhouse, database, rollup) as draft:
        clickhouse.execute(
            f"INSERT INTO {draft} SELECT * FROM {table} "
            f"WHERE _partition_id = '{partition}' AND toDate({time}) != '{day}'",
            async_insert=0,
        )
        _fill(clickhouse, database, rollup, f"toYYYYMMDD(event_time) = {day:%Y%m%d} AND {events}")
        if clickhouse.rows(f"SELECT count() AS count FROM {draft}")[0]["count"]:
            change = f"REPLACE PARTITION {partition} FROM {draft}"
        else:
            change = f"DROP PARTITION {partition}"
        clickhouse.execute(f"ALTER TABLE {table} {change}", alter_sync=ACTIVE_REPLICAS)


def _fill(clickhouse: ClickHouse, database: str, rollup: str, condition: str) -> None:
    """Runs the view's SELECT over some of the events, so that a rebuild cannot differ from the view.

    A rebuild counts all of them, also those that a view leaves out.
    """
    view = {"database": database, "view": f"{rollup}_mv"}
    columns = clickhouse.rows(
        "SELECT name FROM system.columns WHERE database = {database:String} AND table = {view:String} "
        "ORDER BY position",
        view,
    )
    (definition,) = clickhouse.rows(
        "SELECT as_select FROM system.tables WHERE database = {database:String} AND name = {view:String}",
        view,
    )
    names = ", ".join(column["name"] for column in columns)
    clickhouse.execute(
        f"INSERT INTO {database}.{rollup}_draft ({names}) {definition['as_select']}",
        async_insert=0,
        additional_table_filters=f"{{'{database}.query_events': '{condition}', '{database}.{COUNTED}': '0'}}",
    )
