"""Tests embedded/superset/tailrace_data_cache.py: when the cached data of a chart is still valid."""

import importlib.util
from datetime import datetime

import pytest

from tailrace.config.resources import REPOSITORY

_FILE = REPOSITORY / "embedded" / "superset" / "tailrace_data_cache.py"
_SPEC = importlib.util.spec_from_file_location("tailrace_data_cache", _FILE)
cache = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(cache)

END = datetime(2026, 11, 20)
TABLES = {
    "query_events": ("MergeTree", ""),
    "ledger": ("MergeTree", ""),
    "coverage_1m": ("View", "SELECT minute FROM tailrace.ledger"),
    "alerts": ("ReplicatedMergeTree", ""),
    "shards": ("Distributed", ""),
}
DAYS = {"20261119": (4, 0, 10), "20261120": (5, 0, 20)}


def version(sql: str, end: datetime | None = None, start: int = 1000, **partitions) -> str | None:
    """`partitions` replace those of a table, or add to them."""
    known = {
        table: {**days, **partitions.get(table, {})}
        for table, days in {"query_events": DAYS, "ledger": DAYS}.items()
    }
    return cache.Versions(start, TABLES, known).of(sql, end)


LOAD = "SELECT time FROM tailrace.query_events"


def test_rows_change_the_version_of_what_reads_their_table_and_of_nothing_else():
    new = {"20261120": (6, 0, 21)}
    assert version(LOAD) == version(LOAD, ledger=new) != version(LOAD, query_events=new)
    assert version("SELECT * FROM coverage_1m") != version("SELECT * FROM coverage_1m", ledger=new), "views"


def test_a_replaced_partition_and_a_mutation_are_new():
    states = ((5, 0, 20), (6, 0, 20), (5, 7, 20), (5, 0, 19))
    assert len({version(LOAD, query_events={"20261120": state}) for state in states}) == len(states)


@pytest.mark.parametrize(
    ("partition", "counts"), [("20261122", False), ("20261121", True), ("20261101", True), ("202612", False)]
)
def test_a_closed_range_does_not_depend_on_events_of_later_days(partition, counts):
    later = version(LOAD, END, query_events={partition: (9, 0, 1)})
    assert (later != version(LOAD, END)) == counts


def test_a_closed_range_depends_on_what_is_found_out_later():
    sql = "SELECT * FROM ledger"
    assert version(sql, END, ledger={"20261201": (9, 0, 1)}) != version(sql, END), "a gap may be repaired"


def test_a_restart_is_new_because_row_policies_may_be():
    assert version(LOAD, start=1000) != version(LOAD, start=1002)
    before = cache.Versions(1000, {})
    assert [cache._steady(start, before) for start in (999, 1001, 1002)] == [1000, 1000, 1002]


@pytest.mark.parametrize(
    "sql", ["SELECT * FROM alerts", "SELECT * FROM shards", "SELECT 1", f"{LOAD}, alerts"]
)
def test_rows_on_other_servers_have_no_version(sql):
    assert version(sql) is None


def test_a_range_up_to_now_is_not_closed():
    now = datetime(2026, 11, 20, 12)
    ends = (None, now, datetime(2026, 11, 20, 11, 59, 1), datetime(2026, 11, 20, 11, 59))
    assert [cache.closed_end(end, now) for end in ends] == [None, None, None, ends[-1]]
