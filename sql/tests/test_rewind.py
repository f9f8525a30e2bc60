"""Tests the rewind to a checkpoint: later rows are deleted, also from rollups and receipts."""

from datetime import UTC, datetime, timedelta

from tailrace.migrations.rewind import rewind

YESTERDAY = datetime.now(UTC).date() - timedelta(days=1)
COUNTED = {
    "query_events": "count()",
    "audit_events": "count()",
    "error_events": "count()",
    "dead_letters": "count()",
    "ledger": "count()",
    "query_samples": "count()",
    "query_load_1m": "sum(count)",
    "query_classes_1h": "sum(count)",
    "query_classes_1d": "sum(count)",
    "entities_1d": "sum(count)",
    "receipts": "sum(rows)",
    "fingerprints": "count()",
}


def test_rows_after_the_checkpoint_are_gone_and_rollups_follow(admin):
    write(admin, checkpoint=7, rows=100)
    before = counts(admin)
    write(admin, checkpoint=8, rows=30)
    write(admin, checkpoint=9, rows=5)

    assert rewind(admin, 8) == [YESTERDAY]
    assert counts(admin) == {**before, "fingerprints": 3}


def test_a_rewind_to_the_latest_checkpoint_changes_nothing(admin):
    write(admin, checkpoint=7, rows=100)
    before = counts(admin)

    assert rewind(admin, 8) == []
    assert counts(admin) == before


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
