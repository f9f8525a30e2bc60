"""Tests that rows which a module's tests share are inserted again after any change of a table."""

import pytest
from kept_rows import KeptRows

DAY = "2026-01-02 03:04:05"


def insert(user) -> None:
    user("writer").insert("tailrace.error_events", [{"event_time": DAY, "instance": name} for name in "ab"])


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO tailrace.dead_letters (instance) VALUES ('a')",
        "ALTER TABLE tailrace.error_events DELETE WHERE instance = 'a'",
        "ALTER TABLE tailrace.error_events UPDATE message = 'x' WHERE instance = 'a'",
        "TRUNCATE TABLE tailrace.error_events",
    ],
)
def test_rows_are_kept_until_a_table_changes(admin, server, change):
    kept = KeptRows()
    kept.put(server, insert)
    assert admin.rows("SELECT count() AS stored FROM tailrace.error_events") == [{"stored": 2}]
    assert kept.are_in(server, insert) and not kept.are_in(server, lambda _: None)
    admin.execute(change, mutations_sync=1)
    assert not kept.are_in(server, insert)
