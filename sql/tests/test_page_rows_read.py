"""Tests that a page reads the rows of its entity, not all rows of its time range. Rows count, not seconds.

The tables of events have GRANULES granules of other users, clients, tables and statements, and a few records
of one. A query reads whole granules: a record is in one or two of each table. The list of records reads some
columns later, which counts again.
"""

from datetime import UTC, datetime, timedelta

import pytest
from entity_rows import Store

from tailrace_pages.entities.kinds import Entity
from tailrace_pages.entities.reading import Reading
from tailrace_pages.statements.reading import Statement
from tailrace_pages.time_range import TimeRange

GRANULE = 8192
GRANULES = 8
MOST = 5 * GRANULE
END = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=1)
SPAN = TimeRange(END - timedelta(hours=8), END)
EVERYWHERE = {"cluster": "", "instance": ""}
RARE = 77
"""The query id of the statement of the entity, between those of others."""

ITS = {"user": "rare", "client": "2001:db8::7", "table": "shop.rare"}
_OF = "if(number % {rows} = 0, {its}, {others})"
_COLUMNS = {
    "event_id": "generateUUIDv4()",
    "instance": "'db1'",
    "user": _OF.format(rows="{rows}", its="'rare'", others="concat('app', toString(number % 20))"),
    "ip": _OF.format(rows="{rows}", its="'2001:DB8:0::7'", others="concat('10.0.0.', toString(number % 40))"),
    "query_id": _OF.format(rows="{rows}", its=str(RARE), others="number % 75 * 2"),
    "tables_read": _OF.format(
        rows="{rows}", its="['shop.rare']", others="[concat('shop.t', toString(number % 30))]"
    ),
    "event_time": f"toDateTime64('{END:%Y-%m-%d %H:%M:%S}', 6, 'UTC') - 1 - number % 28000",
    "source": "'{source}'",
}
_AUDITED = {"event_class": "'query'", "command": "'Query'"}


def insert_rows(user) -> None:
    """Three records of the entity in each table; the statement RARE has no other records."""
    rows = GRANULES * GRANULE
    for table, source, more in (
        ("query_events", "slowlog", {"weight": "1", "query_time": "0.5"}),
        ("audit_events", "audit", _AUDITED),
    ):
        columns = {**_COLUMNS, **more}
        values = ", ".join(columns.values()).format(rows=rows // 3, source=source)
        insert = (
            f"INSERT INTO tailrace.{table} ({', '.join(columns)}) SELECT {values} FROM numbers({rows - 1})"
        )
        user("admin").execute(insert)
    fingerprint = {"query_id": RARE, "fingerprint": "select 1", "verb": "SELECT", "rule_set": "tailrace-2"}
    times = {"seen_at": f"{END:%Y-%m-%d %H:%M:%S}", "first_seen_at": f"{END:%Y-%m-%d %H:%M:%S}"}
    user("writer").insert("tailrace.fingerprints", [{**fingerprint, **times}])


FIRST_ROWS = {"store": insert_rows}


@pytest.fixture
def store(admin, user) -> Store:
    return Store(user("reader_security"))


@pytest.mark.parametrize("kind", ITS)
def test_a_page_of_an_entity_reads_few_granules(store, kind):
    its = Reading(store, Entity(kind, ITS[kind]), SPAN)
    assert sum(row[name] for row in its.timeline for name in ("statements", "reads")) > 0, (
        "the entity is found"
    )

    for read in (
        lambda: its.alerts,
        lambda: its.others,
        lambda: its.classes,
        lambda: its.page("", None),
        its.latest,
    ):
        assert read() is not None
    assert len(its.page("", None)[0]) == 6
    assert max(store.rows_read) <= MOST, f"of {2 * GRANULES * GRANULE} rows"


def test_a_page_of_a_statement_reads_few_granules(store):
    (row,) = store.rows("page_query_statement", query_id=RARE)
    its = Statement(store.rows, row, SPAN, EVERYWHERE)
    names = (
        "overview",
        "callers",
        "plans",
        "deadlocks",
        "plan_changes",
        "requests",
        "tables",
        "ddl",
        "sizes",
        "lock_waits",
        "counters",
    )
    for name in names:
        assert getattr(its, name) is not None

    assert its.overview["period"]["now"]["executions"] == 3
    assert max(store.rows_read) <= MOST, f"of {2 * GRANULES * GRANULE} rows"
