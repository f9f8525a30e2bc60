"""A rollup that an upgrade adds counts each event once, although the job inserts its last blocks again."""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from test_tables import EXACTLY_ONCE

from tailrace.clickhouse.client import ClickHouse
from tailrace.migrations import migration_files, rollups
from tailrace.migrations import runner as migration_runner
from tailrace.migrations.rewind import rewind

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


def counted(admin: ClickHouse, table: str, count: str = "sum(count)") -> dict[str, tuple]:
    of_server = f"SELECT instance, {count} AS n, sum(weight) AS w FROM tailrace.{table} GROUP BY instance"
    return {row["instance"]: (row["n"], row["w"]) for row in admin.rows(of_server)}


@pytest.fixture
def released(empty, server) -> Iterator[ClickHouse]:
    """Admin's access to the schema of the release."""
    migration_runner.apply(empty, migrations=BEFORE)
    yield empty
    server.is_migrated = not [s for s in migration_runner.status(empty) if not s.applied_at]


def test_blocks_that_are_inserted_again_after_the_upgrade_count_once(released, user):
    writer = user("writer")
    old = block("old", LAST - 4, days_ago=40, ingested=NOW - timedelta(hours=5))
    delayed = block("delayed", LAST - 4)
    last, past = block("last", LAST - 1), block("past", LAST - 1, days_ago=35)
    partial, never = block("partial", LAST - 1), block("never", LAST - 1)
    insert(writer, old, delayed, last, past, partial)
    released.execute(
        "ALTER TABLE tailrace.query_classes_1h DELETE WHERE instance = 'partial'", mutations_sync=2
    )

    migration_runner.apply(released, writers_stopped=True)
    assert counted(released, "query_classes_1d") == counted(released, "query_events", "count()")
    insert(writer, delayed, last, past, partial, never, block("new", LAST))
    insert(writer, last)

    stored = counted(released, "query_events", "count()")
    names = ("old", "delayed", "last", "past", "partial", "never", "new")
    assert stored == dict.fromkeys(names, (50, 100))
    assert counted(released, "query_classes_1d") == stored
    assert counted(released, "query_load_1m") == stored


def test_a_changed_view_counts_once_and_only_while_nothing_writes():
    changed = [each for each in migration_files.load_migrations() if rollups.new_rollup(each)]
    assert {rollups.new_rollup(each) for each in changed} == {"query_classes_1d"}
    assert all(each.touches_view for each in changed)


def test_events_that_a_rewind_deletes_count_when_they_are_written_again(admin, user):
    writer, rows = user("writer"), block("db1", LAST)
    insert(writer, rows)
    count_before(admin, rows)

    rewind(admin, LAST)
    again = [{**row, "after_checkpoint": LAST} for row in rows]
    writer.insert("tailrace.query_events", again, insert_deduplication_token="again", **EXACTLY_ONCE)

    assert counted(admin, "query_classes_1d") == {"db1": (50, 100)}


def test_a_rebuild_counts_events_that_the_view_leaves_out(admin, user):
    rows = block("db1", LAST)
    count_before(admin, rows)
    insert(user("writer"), rows)
    assert counted(admin, "query_classes_1d") == {}

    yesterday = (NOW - timedelta(days=1)).date()
    rollups.rebuild_rollups(admin, yesterday, yesterday)

    assert counted(admin, "query_classes_1d") == {"db1": (50, 100)}


def count_before(admin: ClickHouse, rows: list[dict]) -> None:
    """Lists events as counted when the rollup was added."""
    admin.insert(
        "tailrace.counted_events",
        [
            {"rollup": "query_classes_1d", "event_id": row["event_id"], "after_checkpoint": LAST}
            for row in rows
        ],
    )
