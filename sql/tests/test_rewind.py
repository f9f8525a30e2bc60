"""Tests the rewind to a checkpoint: later rows are deleted, also from rollups and receipts."""

from datetime import UTC, datetime, timedelta

from test_new_rollup import LAST, NOW, block, counted, insert
from test_tables import EXACTLY_ONCE

from tailrace.clickhouse.client import ClickHouse
from tailrace.migrations import rollups
from tailrace.migrations.rewind import Order, rewind
from tailrace.retention import record

YESTERDAY = datetime.now(UTC).date() - timedelta(days=1)
COUNTED = {
    "query_events": "count()",
    "audit_events": "count()",
    "error_events": "count()",
    "dead_letters": "count()",
    "ledger": "count()",
    "signed_ranges": "count()",
    "query_samples": "count()",
    "query_load_1m": "sum(count)",
    "query_classes_1h": "sum(count)",
    "query_classes_1d": "sum(count)",
    "entities_1d": "sum(count)",
    "receipts": "sum(rows)",
    "fingerprints": "count()",
}


def test_rows_after_the_checkpoint_are_gone_and_rollups_follow_and_it_is_recorded(admin, user):
    write(admin, checkpoint=7, rows=100)
    before = counts(admin)
    write(admin, checkpoint=8, rows=30)
    write(admin, checkpoint=9, rows=5)

    assert rewind(admin, 8, by_ines(user)) == [YESTERDAY]
    assert counts(admin) == {**before, "fingerprints": 3}

    found = {each.details["table"]: each for each in record.listed(user("reader_compliance"), record.REWIND)}
    assert found.keys() == {table for table in COUNTED if "_1" not in table} - {"fingerprints"}
    assert {(each.actor, each.reason, each.details["checkpoint"]) for each in found.values()} == {
        ("ines", "a faulty parser", 8)
    }
    cells = found["query_events"].details["cells"]
    assert {minute % 86_400 for minute, _, _ in cells} == {10 * 3600}
    assert sum(rows for _, _, rows in cells) == found["query_events"].details["rows"] == 35
    assert found["ledger"].details["from"] <= found["ledger"].details["to"]
    admin.execute("TRUNCATE TABLE tailrace.legal_hold_actions SYNC")


def by_ines(user) -> Order:
    return Order(user("auditor"), "ines", "a faulty parser")


def test_a_rewind_to_the_latest_checkpoint_changes_nothing(admin, user):
    write(admin, checkpoint=7, rows=100)
    before = counts(admin)

    assert rewind(admin, 8, by_ines(user)) == []
    assert counts(admin) == before
    assert record.listed(admin) == []


def write(clickhouse, checkpoint: int, rows: int) -> None:
    of_instance = f"SELECT 'db1' AS instance, {checkpoint} AS after_checkpoint"
    of_file = f"{of_instance}, 1 AS generation"
    day = f"toDateTime64('{YESTERDAY} 10:00:00', 6, 'UTC')"
    for table, column in (
        ("query_events", "event_time"),
        ("audit_events", "event_time"),
        ("error_events", "event_time"),
        ("query_samples", "event_time"),
        ("dead_letters", "seen_at"),
        ("ledger", "at"),
        ("signed_ranges", "signed_at"),
    ):
        own = of_instance if table == "query_samples" else of_file
        identity = ", generateUUIDv4() AS dead_letter_id" if table == "dead_letters" else ""
        columns = [part.rpartition(" AS ")[2] for part in (own + identity).split(", ")]
        clickhouse.execute(
            f"INSERT INTO tailrace.{table} ({', '.join(columns)}, {column}) "
            f"{own}{identity}, {day} FROM numbers({rows})"
        )
    clickhouse.execute(
        "INSERT INTO tailrace.fingerprints (query_id, rule_set, fingerprint, seen_at, after_checkpoint) "
        f"VALUES ({checkpoint}, 'tailrace-1', 'select ?', {day}, {checkpoint})"
    )


def counts(clickhouse) -> dict[str, int]:
    return {
        table: clickhouse.rows(f"SELECT toUInt64({measure}) AS n FROM tailrace.{table}")[0]["n"]
        for table, measure in COUNTED.items()
    }


def test_events_that_a_rewind_deletes_count_when_they_are_written_again(admin, user):
    writer, rows = user("writer"), block("db1", LAST)
    insert(writer, rows)
    list_as_counted(admin, rows)

    rewind(admin, LAST, by_ines(user))
    again = [{**row, "after_checkpoint": LAST} for row in rows]
    writer.insert(
        "tailrace.query_events",
        again,
        insert_deduplication_token=again[0]["event_id"] + " again",
        **EXACTLY_ONCE,
    )

    assert counted(admin, "query_classes_1d") == {"db1": (50, 100)}


def test_a_rebuild_counts_events_that_the_view_leaves_out(admin, user):
    rows = block("db1", LAST)
    list_as_counted(admin, rows)
    insert(user("writer"), rows)
    assert counted(admin, "query_classes_1d") == {}

    yesterday = (NOW - timedelta(days=1)).date()
    rollups.rebuild_rollups(admin, yesterday, yesterday)

    assert counted(admin, "query_classes_1d") == {"db1": (50, 100)}


def list_as_counted(admin: ClickHouse, rows: list[dict]) -> None:
    """Lists events as counted when the rollup was added."""
    admin.insert(
        "tailrace.counted_events",
        [
            {"view": "query_classes_1d_mv", "event_id": row["event_id"], "after_checkpoint": LAST}
            for row in rows
        ],
    )
