"""Rollups of query_events: how they are computed again, and how a new one counts each event once.

After a restart the job inserts the blocks of its last checkpoint again. Tables ignore them by their tokens,
and so does the table of a view, because each has a token of its own for the block. A rollup that was added
between both inserts has no tokens: without `counted_events` it would count those blocks a second time.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby

from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.shards import DATABASE
from tailrace.migrations import drafts
from tailrace.migrations.lock import lock
from tailrace.migrations.migration_files import Migration, MigrationError
from tailrace.migrations.retention import load_retention
from tailrace.migrations.servers import ACTIVE_REPLICAS, STATEMENT_SECONDS, Servers


@dataclass(frozen=True)
class Rollup:
    """A view that adds events up, and its rows in a table, which can be computed again by the day."""

    view: str
    table: str
    """The table that it fills. Several views can fill one table."""
    events: str
    """The table of events that it reads."""
    time: str
    """The column with the time of a row."""
    partition: str
    """The id of the partition of a day, for strftime."""
    own: str = "1"
    """Condition for the rows of this view in the table."""
    once: str = "1"
    """Condition for those of its rows whose `count` counts each event once."""


def _of_entities(events: str) -> Rollup:
    own = f"event_table = '{events}'"
    return Rollup(
        f"entities_1d_{events}_mv", "entities_1d", events, "day", "%Y%m", own, "entity_kind = 'log'"
    )


ROLLUPS = (
    Rollup("query_load_1m_mv", "query_load_1m", "query_events", "minute", "%Y%m%d"),
    Rollup("query_classes_1h_mv", "query_classes_1h", "query_events", "hour", "%Y%m%d"),
    Rollup("query_classes_1d_mv", "query_classes_1d", "query_events", "day", "%Y%m"),
    _of_entities("query_events"),
    _of_entities("audit_events"),
    _of_entities("error_events"),
)
"""What is rebuilt from events, because its rows have no column `after_checkpoint`."""

COUNTED = "counted_events"
"""Events that a rollup counted when it was added, and that its view leaves out. Of all events, only those
that the job may insert again."""
REPEATED_MINUTES = 10
"""The longest time between the first and the last insert of a checkpoint that the job may repeat. Blocks wait
for some minutes at most while ClickHouse is slow; after an outage a newer checkpoint replaces theirs."""
REPEATED_CHECKPOINTS = 2

_CHANGED_VIEW = re.compile(r"(?:MATERIALIZED VIEW IF NOT EXISTS|ALTER TABLE) tailrace\.(\w+_mv)\b")


def new_rollup(migration: Migration) -> Rollup | None:
    """Returns the rollup whose view begins to leave out counted events with this migration, if any."""
    found = _CHANGED_VIEW.search(migration.statement)
    if not found or f".{COUNTED}" not in migration.statement:
        return None
    return next(rollup for rollup in ROLLUPS if rollup.view == found[1])


def count_once(
    servers: Servers, rollup: Rollup, is_created: bool, report: Callable[[str], None] = lambda _: None
) -> None:
    """Makes a rollup count every stored event once, whether or not the job inserts it again.

    Lists the newest events on every server, and computes days again on one server of each shard: all days
    with events if the view was created, those of the listed events if it was changed. A block that was
    inserted incompletely may be in the events only. Nothing may write meanwhile. A second run gives the same
    result.
    """
    database = servers.dialect.database
    for server in servers.all:
        servers.await_rows(server, [f"{database}.{rollup.events}"])
        _list_newest(server, database, rollup)
    for server in servers.of_each_shard(database, rollup.table):
        days = _days(server, database, rollup) if is_created else _listed_days(server, database, rollup)
        _rebuild(server, database, rollup, days, "1", report)


def _list_newest(server: ClickHouse, database: str, rollup: Rollup) -> None:
    """A block may be sent again if it is part of the job's latest complete checkpoint."""
    events = f"{database}.{rollup.events}"
    server.execute(
        f"INSERT INTO {database}.{COUNTED} (view, event_id, after_checkpoint) "
        f"SELECT {{view:String}}, event_id, after_checkpoint FROM {events} WHERE "
        f"ingested_at >= (SELECT max(ingested_at) FROM {events}) - INTERVAL {REPEATED_MINUTES} MINUTE "
        f"OR after_checkpoint + {REPEATED_CHECKPOINTS} > (SELECT max(after_checkpoint) FROM {events})",
        {"view": rollup.view},
        async_insert=0,
        insert_deduplicate=0,
    )


def _days(server: ClickHouse, database: str, rollup: Rollup, condition: str = "1") -> list[date]:
    rows = server.rows(
        f"SELECT DISTINCT toDate(event_time, 'UTC') AS day FROM {database}.{rollup.events} "
        f"WHERE {condition} ORDER BY day",
        {"view": rollup.view, "oldest": oldest_day(rollup.events)},
        timeout=STATEMENT_SECONDS,
    )
    return [date.fromisoformat(str(row["day"])) for row in rows]


def _listed_days(server: ClickHouse, database: str, rollup: Rollup) -> list[date]:
    """Returns the days of listed events, except those whose events may be deleted: these stay as they are."""
    listed = f"event_id IN (SELECT event_id FROM {database}.{COUNTED} WHERE view = {{view:String}})"
    return _days(server, database, rollup, f"{listed} AND day >= {{oldest:Date}}")


def oldest_day(events: str) -> date:
    """Returns the first day of a table of events that is not being deleted, UTC."""
    return datetime.now(UTC).date() - timedelta(days=load_retention()[events] - 1)


def rebuild_rollups(
    clickhouse: ClickHouse,
    first: date,
    last: date,
    report: Callable[[str], None] = lambda _: None,
    events: str = "1",
    database: str = DATABASE,
    rollups: Sequence[Rollup] = ROLLUPS,
) -> None:
    """Rebuilds rollups of the days `first` to `last` (UTC, inclusive) from their events.

    For a rewind and a reconciliation. `events` is a condition for the events that count, `database` that of a
    shard if there are several. Nothing may write meanwhile. Each partition is replaced atomically, and a
    second run gives the same result. Raises MigrationError for days whose events may be deleted: the rollup
    would lose them.
    """
    oldest = max((oldest_day(rollup.events) for rollup in rollups), default=first)
    if first < oldest:
        raise MigrationError(
            f"events before {oldest} may be deleted: rollups can be rebuilt from that day on"
        )
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    with lock(clickhouse):
        for rollup in rollups:
            _rebuild(clickhouse, database, rollup, days, events, report)


def _rebuild(
    clickhouse: ClickHouse,
    database: str,
    rollup: Rollup,
    days: Iterable[date],
    events: str,
    report: Callable[[str], None],
) -> None:
    """Computes days again, in order. All days of a partition are replaced together."""
    for partition, of_partition in groupby(days, key=lambda day: f"{day:{rollup.partition}}"):
        replaced = list(of_partition)
        report(f"{rollup.table} of {replaced[0]} to {replaced[-1]}, from {rollup.events}")
        _rebuild_partition(clickhouse, database, rollup, partition, replaced, events)


def _rebuild_partition(
    clickhouse: ClickHouse, database: str, rollup: Rollup, partition: str, days: Sequence[date], events: str
) -> None:
    table, numbers = f"{database}.{rollup.table}", ", ".join(f"{day:%Y%m%d}" for day in days)
    with drafts.draft(clickhouse, database, rollup.table) as draft:
        clickhouse.execute(
            f"INSERT INTO {draft} SELECT * FROM {table} WHERE _partition_id = '{partition}' "
            f"AND NOT (toYYYYMMDD({rollup.time}, 'UTC') IN ({numbers}) AND {rollup.own})",
            timeout=STATEMENT_SECONDS,
            async_insert=0,
        )
        _fill(clickhouse, database, rollup, f"toYYYYMMDD(event_time) IN ({numbers}) AND {events}")
        if clickhouse.rows(f"SELECT count() AS count FROM {draft}")[0]["count"]:
            change = f"REPLACE PARTITION {partition} FROM {draft}"
        else:
            change = f"DROP PARTITION {partition}"
        clickhouse.execute(f"ALTER TABLE {table} {change}", alter_sync=ACTIVE_REPLICAS)


def _fill(clickhouse: ClickHouse, database: str, rollup: Rollup, condition: str) -> None:
    """Runs the view's SELECT over some of the events, so that a rebuild cannot differ from the view.

    A rebuild counts all of them, also those that a view leaves out.
    """
    view = {"database": database, "view": rollup.view}
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
        f"INSERT INTO {database}.{rollup.table}_draft ({names}) {definition['as_select']}",
        timeout=STATEMENT_SECONDS,
        async_insert=0,
        additional_table_filters=(
            f"{{'{database}.{rollup.events}': '{condition}', '{database}.{COUNTED}': '0'}}"
        ),
    )
