"""`reconcile` on one server: rows that a view lacks are found and made again."""

import pytest
from test_tables import EXACTLY_ONCE, events

from tailrace.migrations import reconciliation

TOTALS = {
    "query_load_1m": "sum(count) AS n, round(sum(query_time), 3) AS x",
    "query_classes_1h": "sum(count) AS n, round(sum(query_time), 3) AS x",
    "entities_1d": "sum(count) AS n, sum(weight) AS x",
    "receipts": "sum(rows) AS n, sum(bytes) AS x",
}


def totals(admin) -> dict[str, list[dict]]:
    return {table: admin.rows(f"SELECT {sums} FROM tailrace.{table}") for table, sums in TOTALS.items()}


def differences(admin) -> list[tuple[str, int, int]]:
    found = reconciliation.compare([admin], days=7, settle_seconds=0)
    return [(each.table, each.expected, each.found) for each in found]


@pytest.mark.parametrize("table", TOTALS)
def test_rows_that_a_view_lacks_are_found_and_made_again(admin, user, table):
    for instance in ("db1", "db's \\ 2"):
        block = [{**event, "instance": instance} for event in events(50)]
        user("writer").insert("tailrace.query_events", block, **EXACTLY_ONCE)
    before = totals(admin)
    assert differences(admin) == []

    admin.execute(f"ALTER TABLE tailrace.{table} DELETE WHERE instance != 'db1'", mutations_sync=2)
    assert differences(admin) == [(table, 50, 0)]
    reconciliation.repair([admin], reconciliation.compare([admin], days=7, settle_seconds=0))

    assert differences(admin) == []
    assert totals(admin) == before


def test_receipts_of_events_that_retention_deleted_are_no_difference(admin, user):
    user("writer").insert("tailrace.query_events", events(10), **EXACTLY_ONCE)
    admin.execute("TRUNCATE TABLE tailrace.query_events")

    assert [table for table, *_ in differences(admin) if table == "receipts"] == []
