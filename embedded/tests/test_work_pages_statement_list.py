"""Tests the list of statements without Superset: unknown executions, orders, pages."""

from datetime import UTC, datetime, timedelta

import pytest

from tailrace_pages import csv_table, formats
from tailrace_pages.statements import listing
from tailrace_pages.time_range import TimeRange

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
SPAN = TimeRange(NOON - HOUR, NOON)


def test_a_statement_of_the_list_without_entries_before_has_no_change():
    def rows(query, **parameters):
        if query.startswith("page_query_list"):
            times = {"total_seconds": 2.0, "all_seconds": 8.0, "last_seen": NOON}
            return [{"id": 1, "executions": 4, "statements": 2, **times}]
        if query == "page_query_last_seen":
            return []
        return [{"id": 1, "period": "now", "p95": 0.5, "total_seconds": 2.0}]

    found = [{"id": each, "query": "x" * 400, "last_seen": NOON} for each in (1, 2)]
    first, second = listing.measured(rows, found, SPAN, {})
    assert (first["share"], first["p95"], first["p95_change"]) == (0.25, 0.5, "no entry before")
    assert (second["p95"], second["p95_change"]) == (None, "")
    assert (first["query_id"], len(first["query"])) == ("0000000000000001", 301)


def test_a_statement_without_a_stored_text_has_a_link_with_words():
    (row,) = listing.measured(slow_logs_read(), [{"id": 1, "query": "", "last_seen": NOON}], SPAN, {})
    assert row["query"] == "text not stored"


@pytest.mark.parametrize(
    ("last_seen", "number"),
    [
        (NOON, None),
        (None, None),
        (SPAN.since - timedelta(minutes=59), None),
        (SPAN.since - timedelta(hours=1), 0),
    ],
)
def test_a_statement_that_other_logs_contain_ran_an_unknown_number_of_times(last_seen, number):
    """A range after the last record of a statement has none of it; the time of this record may be early."""
    found = [{"id": 1, "query": "select 1", "last_seen": last_seen}]
    (row,) = listing.measured(slow_logs_read(), found, SPAN, {})

    assert (row["executions"], row["total_seconds"]) == (number, number)


def slow_logs_read(slow_logs: int = 2, unread: int = 0, asked: list | None = None):
    """Returns rows of page_query_unread_logs, else no rows."""

    def rows(query, **parameters):
        if query != "page_query_unread_logs":
            return []
        if asked is not None:
            asked.append((parameters["clusters"], parameters["servers"]))
        return [{"slow_logs": slow_logs, "unread_logs": unread}]

    return rows


OLD = [{"id": 1, "query": "select 1", "last_seen": SPAN.since - timedelta(days=1)}]


@pytest.mark.parametrize(
    ("rows", "number"),
    [
        (slow_logs_read(), 0),
        (slow_logs_read(unread=1), None),
        (slow_logs_read(unread=2), None),
        (slow_logs_read(slow_logs=0), None),
    ],
    ids=["read", "one of two unread", "none read", "no slow log"],
)
def test_a_statement_ran_an_unknown_number_of_times_while_slow_logs_were_not_read(rows, number):
    (row,) = listing.measured(rows, OLD, SPAN, {})

    assert (row["executions"], row["total_seconds"]) == (number, number)


def test_executions_are_known_from_slow_logs_of_the_cluster_and_the_server():
    asked = []
    listing.measured(slow_logs_read(asked=asked), OLD, SPAN, {"cluster": "shop", "instance": "db1"})
    listing.measured(slow_logs_read(asked=asked), OLD, SPAN, {"cluster": "", "instance": ""})

    assert asked == [(["shop"], ["db1"]), ([], [])]


def listed(rows, **parameters) -> listing.Listed:
    return listing.heaviest(rows, SPAN, {}, **parameters)


def test_the_list_has_pages_and_orders_that_state_their_threshold():
    """Statement 3 has the largest time before, statement 2 grew in total time."""
    before = {1: (0.5, 26.0), 2: (0.5, 5.0), 3: (9.0, 90.0)}

    def rows(query, **parameters):
        if query.startswith("page_query_list"):
            times = {"executions": 4, "all_seconds": 900.0, "last_seen": NOON, "statements": 30}
            return [{"id": each, "total_seconds": 31.0 - each, **times} for each in range(1, 31)][
                : parameters["most"]
            ]
        if query == "page_query_texts":
            return []
        now = [{"id": each, "period": "now", "p95": 0.6, "total_seconds": 9} for each in range(1, 31)]
        was = [
            {"id": each, "period": "before", "p95": p95, "total_seconds": s}
            for each, (p95, s) in before.items()
        ]
        return now + was

    second = listed(rows, page=2)
    assert [int(row["query_id"], 16) for row in second.rows] == [26, 27, 28, 29, 30]
    assert second.caption("time") == "Statements with the most total time: 26 to 30 of 30 statements"
    assert listed(rows).has_more and not second.has_more
    assert [int(row["query_id"], 16) for row in listed(rows, order="grown").rows] == [2, 1]
    assert listed(rows, order="grown").rows[0]["total_change"] == "+480 %"
    assert len(listed(rows, order="p95").rows) == listing.MOST


@pytest.mark.parametrize(
    ("days", "executions", "minute", "shown", "saved"),
    [
        (2, 4, 0, "2026-03-04 11:00:00", "2026-03-04T11:00:00Z"),
        (3, 4, 0, "2026-03-04 11:00 to 12:00", "2026-03-04T11:00:00Z/2026-03-04T12:00:00Z"),
        (3, 4, 17, "2026-03-04 11:17:00", "2026-03-04T11:17:00Z"),
        (2, 0, 0, "2026-03-04 11:00 to 12:00", "2026-03-04T11:00:00Z/2026-03-04T12:00:00Z"),
    ],
)
def test_a_time_of_a_rollup_is_an_hour(days, executions, minute, shown, saved):
    """Ranges of more than two days, and statements without an entry in the range, are read from rollups."""
    seen = NOON - HOUR + timedelta(minutes=minute)

    def rows(query, **_):
        if not query.startswith("page_query_list") or not executions:
            return []
        return [
            {"id": 1, "total_seconds": 2.0, "all_seconds": 8.0, "last_seen": seen, "statements": 1}
            | {"executions": executions}
        ]

    found = [{"id": 1, "query": "select 1", "last_seen": seen}]
    (row,) = listing.measured(rows, found, TimeRange(NOON - timedelta(days=days), NOON), {})

    assert (formats.time(row["last_seen"]), csv_table.cell(row["last_seen"])) == (shown, saved)


def test_slower_statements_say_what_grew_and_which_cannot_be_compared():
    times = {"seconds_before": 2.0, "total_seconds": 6.0, "executions": 20, "p95": 0.1, "p99": 0.9}
    one = {"id": 7, "server": "db1", "query": "select ?", "lock_seconds": 0.0, "obstacle": "", **times}
    grew = {**one, "grew": "p95\xa02\xa0ms\xa0→\xa090\xa0ms; p99\xa08\xa0ms\xa0→\xa0900\xa0ms"}
    unknown = {**one, "id": 8, "grew": "", "obstacle": "the server logs differently since noon"}

    def rows(query, **parameters):
        assert (query, parameters["instance"]) == ("page_query_slower", "db1")
        return [grew, unknown]

    found, sentences = listing.slower(rows, SPAN, {"cluster": "", "instance": "db1"})
    (row,) = found.rows
    shown = formats.of_kind("text", row["grew"])
    assert (row["query_id"], row["total_change"]) == (f"{7:016X}", "+200 %")
    assert shown == csv_table.cell(row["grew"]) == "p95 2 ms → 90 ms; p99 8 ms → 900 ms"
    assert found.caption("slower").endswith("beyond noise: 1") and not found.has_more
    assert sentences == ["db1: 1 statement cannot be compared: the server logs differently since noon."]


def test_the_list_states_across_which_changes_of_the_settings_it_compares():
    def rows(query, **parameters):
        assert (query, parameters["oldest"]) == ("page_query_logging_changes", "2026-03-04 10:00:00")
        return [{"server": "db1", "changed": NOON - HOUR, "logged": "≥ 0 s"}]

    (sentence,) = listing.obstacles(rows, SPAN, {"cluster": "", "instance": ""})
    assert sentence.startswith("db1 logs differently since 2026-03-04 11:00:00 UTC (≥ 0 s)")
