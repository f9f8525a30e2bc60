"""A rollup that an upgrade adds counts each event once, although the job inserts its last blocks again."""

import uuid
from datetime import UTC, datetime, timedelta

from test_tables import EXACTLY_ONCE

from tailrace.clickhouse.client import ClickHouse
from tailrace.migrations import migration_files, reconciliation, rollups

BEFORE = [each for each in migration_files.load_migrations() if each.number < 129]
"""The migrations of the release before query_classes_1d."""
NOW = datetime.now(UTC)
LAST = 7
"""The job's latest checkpoint before the upgrade."""


def block(name: str, checkpoint: int, days_ago: int = 1, ingested: datetime = NOW) -> list[dict]:
    """50 events of a server of this name."""
    return [
        {
            "event_id": str(uuid.uuid4()),
            "cluster": "c",
            "instance": name,
            "database": "shop",
            "event_time": f"{NOW - timedelta(days=days_ago):%Y-%m-%d} 10:00:{number:02}",
            "query_id": number % 7,
            "query_time": number / 8,
            "weight": 2,
            "after_checkpoint": checkpoint,
            "ingested_at": f"{ingested:%Y-%m-%d %H:%M:%S}",
        }
        for number in range(50)
    ]


def insert(writer: ClickHouse, *blocks: list[dict]) -> None:
    for rows in blocks:
        token = rows[0]["event_id"]
        writer.insert("tailrace.query_events", rows, insert_deduplication_token=token, **EXACTLY_ONCE)


def counted(
    admin: ClickHouse, table: str, count: str = "sum(count)", condition: str = "1"
) -> dict[str, tuple]:
    """Entries and executions by instance."""
    of_server = (
        f"SELECT instance, {count} AS n, sum(weight) AS w FROM tailrace.{table} WHERE {condition} "
        "GROUP BY instance"
    )
    return {row["instance"]: (row["n"], row["w"]) for row in admin.rows(of_server)}


def test_blocks_that_are_inserted_again_after_the_upgrade_count_once(empty, server, user):
    server.migrate(migrations=BEFORE)
    writer = user("writer")
    old = block("old", LAST - 4, days_ago=40, ingested=NOW - timedelta(hours=5))
    delayed = block("delayed", LAST - 4)
    last, past = block("last", LAST - 1), block("past", LAST - 1, days_ago=35)
    partial, never = block("partial", LAST - 1), block("never", LAST - 1)
    insert(writer, old, delayed, last, past, partial)
    for shard in server.each("admin"):
        hourly = f"{reconciliation.database_of(shard)}.query_classes_1h"
        shard.execute(f"ALTER TABLE {hourly} DELETE WHERE instance = 'partial'", mutations_sync=2)

    server.migrate(writers_stopped=True)
    assert counted(empty, "query_classes_1d") == counted(empty, "query_events", "count()")
    insert(writer, delayed, last, past, partial, never, block("new", LAST))
    insert(writer, last)

    stored = counted(empty, "query_events", "count()")
    names = ("old", "delayed", "last", "past", "partial", "never", "new")
    assert stored == dict.fromkeys(names, (50, 100))
    for rollup in (each for each in rollups.ROLLUPS if each.table != "query_classes_1h"):
        expected = stored if rollup.events == "query_events" else {}
        condition = f"{rollup.own} AND {rollup.once}"
        assert counted(empty, rollup.table, condition=condition) == expected, rollup


def test_a_changed_view_counts_once_and_only_while_nothing_writes():
    found = {each: rollups.new_rollup(each) for each in migration_files.load_migrations()}
    changed = {each: rollup for each, rollup in found.items() if rollup}
    assert {rollup.table for rollup in changed.values()} == {"query_classes_1d", "entities_1d"}
    assert all(each.touches_view and rollup.view in each.statement for each, rollup in changed.items())
