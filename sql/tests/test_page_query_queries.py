"""Tests the queries of the pages of statements (sql/queries/page_query_*.sql) on rows with known results."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from ledger_fixture import LedgerRows
from query_page_rows import (
    END,
    HOUR,
    IT,
    OLD,
    OTHER,
    START,
    TEXT,
    asking,
    execution,
    fingerprint,
    insert_statements,
    sql,
)

from tailrace.clickhouse.client import ClickHouseError
from tailrace.reading import statements
from tailrace_pages import queries
from tailrace_pages.statements import searching
from tailrace_pages.time_range import TimeRange


@pytest.fixture
def ask(admin, user):
    """Asks with the rows of insert_statements (FIRST_ROWS)."""
    return asking(user)


def by_name(rows: list[dict], kind: str) -> dict[str, dict]:
    return {row["name"]: row for row in rows if row["kind"] == kind}


def test_the_periods_of_a_statement_are_separate(ask):
    rows = ask("overview")

    periods = by_name(rows, "period") | by_name(rows, "yesterday")
    assert {name: row["executions"] for name, row in periods.items()} == {
        "now": 6,
        "before": 2,
        "yesterday": 2,
    }
    now = periods["now"]
    assert (now["entries"], now["examined"], now["sent"]) == (3, 60, 6)
    assert (now["total_seconds"], now["lock_seconds"]) == (pytest.approx(7.2), pytest.approx(1.8))
    assert (now["p50"], now["p95"], now["p99"]) == (0.4, 3, 3)
    assert periods["yesterday"]["p50"] == 0.05


def test_servers_and_buckets_are_of_the_range_only(ask):
    rows = ask("overview")

    assert {name: row["executions"] for name, row in by_name(rows, "server").items()} == {"db1": 4, "db2": 2}
    first, second = (str(int(time.timestamp())) for time in (START, START + HOUR))
    buckets = by_name(rows, "bucket")
    assert {name: row["executions"] for name, row in buckets.items()} == {first: 2, second: 4}
    assert (buckets[first]["latency_classes"], buckets[first]["latency_executions"]) == ([-3], [2])
    assert (buckets[second]["latency_classes"], buckets[second]["latency_executions"]) == ([-2, 1], [2, 2])


@pytest.mark.parametrize(("column", "value"), [("instance", "db2"), ("cluster", "elsewhere")])
def test_a_filter_restricts_the_servers(ask, column, value):
    found = ask("overview", **{column: value})

    assert sum(row["executions"] for row in by_name(found, "period").values()) == (2 if value == "db2" else 0)


def test_a_long_range_has_the_same_executions_from_the_rollup(ask):
    rows = ask("overview", span=(END - timedelta(days=3), END), width=86_400)

    (now,) = by_name(rows, "period").values()
    assert (now["executions"], now["examined"]) == (10, 100)
    assert now["p95"] == pytest.approx(3.0, rel=0.011)
    assert not by_name(rows, "yesterday")


MANY = 29_100
"""Entries of a day, each with a combination of statement, server and latency of its own."""


def insert_many_entries(user) -> None:
    user("admin").execute(
        "INSERT INTO tailrace.query_events (instance, query_id, weight, query_time, event_time) "
        "SELECT concat('db', toString(number % 12)), number % 50, 1, pow(1.02, number % 97), "
        f"toDateTime64('{END - timedelta(days=1):%F} 12:00:00', 6, 'UTC') FROM numbers({MANY})"
    )


@pytest.fixture
def many_entries(admin) -> None:
    """MANY entries are stored."""


FIRST_ROWS = {"many_entries": insert_many_entries, "ask": insert_statements}


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("overview", {"query_ids": "[7]", "width": 3600}),
        ("latencies", {"query_ids": "[7]"}),
        ("list", {"query_ids": "[]", "most": 25}),
    ],
)
def test_a_long_range_reads_few_hours_of_other_statements(admin, many_entries, name, parameters):
    """One statement is read from the projection by_statement, totals of days from totals_by_day."""
    span = {"from": sql(END - timedelta(days=5)), "to": sql(END + timedelta(days=1))}
    text = queries.text_of(f"page_query_{name}")
    given = {**span, "cluster": "", "instance": "", **parameters}
    answer = json.loads(admin.execute(f"{text}\nFORMAT JSON", given))
    assert answer["data"]
    assert answer["statistics"]["rows_read"] < MANY / 3


def test_the_list_has_the_executions_of_whole_and_of_partial_days(ask, stored):
    """Executions at noon of three days, and two hours inside and outside of both ends of the range."""
    first, last = END - timedelta(days=5), END
    days = [(END - timedelta(days=day)).replace(hour=12) for day in (2, 3, 4)]
    inside = [first + 2 * HOUR, last - 2 * HOUR]
    for at in [*days, *inside, first - 2 * HOUR, last + 2 * HOUR]:
        stored("query_events", execution(at, 1.5, query_id=44))
    (row,) = ask("list", span=(first, last), query_ids=[44], most=5)
    assert (row["executions"], row["total_seconds"]) == (10, pytest.approx(15))
    assert row["last_seen"] == sql(last - 2 * HOUR)


def test_the_statement_has_its_former_ids(ask):
    (row,) = ask("statement", query_id=IT)
    assert (row["id"], row["query"], row["others"]) == (IT, TEXT, [OLD])
    assert (row["reads"], row["writes"]) == (["shop.orders"], [])
    assert ask("statement", query_id=99) == []


def test_callers_are_users_clients_and_endpoints_by_time(ask):
    cron, web = ask("callers")

    assert (cron["user"], cron["client"], cron["total_seconds"]) == ("cron", "batch-1", 6)
    assert (web["client"], web["application"], web["endpoint"]) == ("10.0.0.9", "web", "/cart")
    assert (web["executions"], web["groups"]) == (4, 2)


def test_tables_have_the_names_of_the_entries(ask):
    assert ask("names", query_ids=[OTHER]) == [{"reads": ["sbtest1"], "writes": ["Log"]}]
    assert ask("names", query_ids=[OTHER], instance="db2") == [{"reads": [], "writes": []}]


def test_a_version_after_another_one_is_the_later_row(ask):
    assert [(row["application"], row["version"]) for row in ask("versions")] == [("web", "1"), ("web", "2")]


def test_the_list_is_ordered_by_total_time_with_shares(ask):
    first, second = ask("list", query_ids=[], most=10)

    assert (first["id"], first["total_seconds"], first["executions"]) == (OTHER, 16, 2)
    assert (second["id"], second["all_seconds"], second["statements"]) == (IT, pytest.approx(23.2), 2)
    (chosen,) = ask("list", query_ids=[IT], most=10)
    assert chosen["all_seconds"] == pytest.approx(23.2)
    long = ask("list", query_ids=[], most=10, span=(END - 72 * HOUR, END))
    assert [(row["id"], row["executions"]) for row in long] == [(OTHER, 2), (IT, 8), (OLD, 2)]


def test_latencies_are_of_both_periods(ask):
    found = {(row["id"], row["period"]): row["p95"] for row in ask("latencies", query_ids=[IT, OTHER])}
    assert found == {(IT, "now"): 3, (IT, "before"): 0.1, (OTHER, "now"): 8}
    (before,) = (row for row in ask("latencies", query_ids=[IT]) if row["period"] == "before")
    assert before["total_seconds"] == pytest.approx(0.2), "two executions by one entry with weight 2"


def test_plans_have_the_executions_that_name_them_or_follow_their_capture(ask, stored):
    plan = {
        "instance": "db1",
        "query_id": IT,
        "hash_rules": "plan-1",
        "source": "slowlog",
        "database": "shop",
    }
    seen = {"first_seen_at": sql(START), "seen_at": sql(END)}
    stored("plans", {**plan, "plan_hash": "A" * 16, **seen, "tree": "query block", "advice": ["x"]})
    stored("plans", {**plan, "plan_hash": "C" * 16, "seen_at": sql(START - HOUR)})
    stored("query_events", execution(START, 5, plan_hash="A" * 16))
    captured = {
        "instance": "db2",
        "query_id": IT,
        "status": "ok",
        "captured_at": sql(START),
        "plan_hash": "B" * 16,
    }
    stored("plan_captures", captured)

    (row,) = ask("plans")
    assert (row["plan_hash"], row["server"], row["default_database"]) == ("A" * 16, "db1", "shop")
    assert (row["outline"], row["advice"]) == ("query block", ["x"])
    load = {row["plan_hash"]: (row["server"], row["executions"], row["p50"]) for row in ask("plan_load")}
    assert load == {"A" * 16: ("db1", 2, 5), "B" * 16: ("db2", 2, 3)}


def test_plan_changes_have_their_latest_verdict(ask, stored):
    change = {"instance": "db1", "query_id": IT, "changed_at": sql(START), "old_plan": "A", "new_plan": "B"}
    stored("plan_changes", {**change, "verdict": "pending", "updated_at": sql(START)})
    stored("plan_changes", {**change, "verdict": "slower", "ratio": 3, "updated_at": sql(END)})
    stored("plan_changes", {**change, "changed_at": sql(END), "new_plan": "C", "updated_at": sql(END)})

    (row,) = ask("plan_changes")
    assert (row["new_plan"], row["verdict"], row["ratio"]) == ("B", "slower", 3)


def test_requests_have_the_most_calls_of_one_trace(ask, stored):
    def span(trace: str, kind: str, **columns) -> dict:
        its = {"TraceId": trace, "SpanKind": kind, "ServiceName": "web", "Timestamp": sql(START)}
        return {**its, "Duration": 500_000_000, **columns}

    calls = [span("loop", "Client", query_id=IT)] * 6 + [span("one", "Client", query_id=IT)]
    roots = [span(trace, "Server", endpoint="/cart") for trace in ("loop", "one", "none")]
    stored("otel_traces", *calls, *roots, span("lost", "Client", query_id=IT, endpoint="/job"))

    cart, job = ask("requests")
    assert (cart["service"], cart["endpoint"], cart["requests"], cart["calls"]) == ("web", "/cart", 2, 7)
    assert (cart["loops"], cart["most_calls"], cart["worst_trace"]) == (1, 6, "loop")
    assert (cart["total_seconds"], job["endpoint"]) == (3.5, "/job")


def test_settings_of_logs_are_known_with_their_changes(ask, settings):
    settings(START - timedelta(days=3), long_query_time="1")
    settings(START + HOUR, long_query_time="0")

    found = {row["server"]: row for row in ask("logging", servers=["db1", "db2"])}
    assert found.keys() == {"db1"}
    assert (found["db1"]["logged"], found["db1"]["changes"]) == ("≥ 0 s", [sql(START + HOUR)])
    assert found["db1"]["is_read"] == 0
    changes = ask("logging_changes")
    assert [(row["server"], row["changed"], row["logged"]) for row in changes] == [
        ("db1", sql(START + HOUR), "≥ 0 s")
    ]
    assert ask("logging_changes", oldest=sql(END)) == ask("logging_changes", instance="db2") == []
    (read,) = ask("logging", servers=["db1"], oldest=sql(START - timedelta(minutes=20)))
    assert read["is_read"] == 1


def test_sizes_of_tables_are_the_latest_ones(ask, user):
    size = {"cluster": "shop", "instance": "db1", "database": "shop", "table": "Orders", "index_bytes": 1}
    for hours, rows in ((3, 10), (1, 20)):
        row = {**size, "at": sql(END - hours * HOUR), "rows": rows, "data_bytes": 1000 * rows}
        user("facts").insert("tailrace.table_sizes", [row])

    (row,) = ask("tables", names=["orders"])
    assert (row["schema_name"], row["table_name"], row["estimated_rows"], row["bytes"]) == (
        "shop",
        "Orders",
        20,
        20_001,
    )


def test_a_value_is_never_part_of_the_statement(ask):
    """A quote in a parameter is a character of a text, and a list is parsed as one."""
    hostile = "') OR 1 = 1 --"
    assert ask("search", prefix="", number=0, text=hostile, tables=[]) == []
    assert ask("overview", instance=hostile) == []
    with pytest.raises(ClickHouseError):
        ask("overview", query_ids="[1]) OR (1")


def test_a_plan_that_was_stored_before_the_range_is_listed_if_entries_of_the_range_name_it(ask, stored):
    its = {"instance": "db1", "query_id": IT, "hash_rules": "plan-1", "source": "slowlog", "database": "shop"}
    before = {"first_seen_at": sql(START - 9 * HOUR), "seen_at": sql(START - 8 * HOUR)}
    stored("plans", {**its, **before, "plan_hash": "D" * 16, "tree": "query block"})
    assert ask("plans") == []

    stored("query_events", execution(START + timedelta(minutes=7), 5, plan_hash="D" * 16))

    (row,) = ask("plans")
    assert (row["plan_hash"], row["first_seen"], row["last_seen"]) == (
        "D" * 16,
        sql(START - 9 * HOUR),
        sql(START + timedelta(minutes=7)),
    )


def test_a_slot_with_bytes_lost_in_the_last_two_minutes_is_not_read(ask, admin):
    now = datetime.now(UTC).replace(second=1, microsecond=0)
    file = LedgerRows(instance="db1", at=now - timedelta(minutes=6))
    for ago in (6, 5, 4, 3, 2, 1):
        file.census(700 - 100 * ago, at=now - timedelta(minutes=ago))
    file.post("FRONTIER", 600, 600, amount=0).store(admin)
    asked = {"servers": ["db1"], "sources": ["slowlog"], "width": 300}
    span = now - timedelta(minutes=6), now
    last = int((now - timedelta(minutes=1)).timestamp()) // 300 * 300
    assert last in ask("coverage", span=span, **asked)[0]["slots"]

    LedgerRows(instance="db1", at=now).post("GAP", 520, 580, detail="lost").store(admin)
    assert last not in ask("coverage", span=span, **asked)[0]["slots"]


def test_a_slot_is_read_if_the_census_covers_all_of_its_minutes(ask, admin):
    minute = timedelta(minutes=1)
    file = LedgerRows(instance="db1", at=START).reached(0)
    for each in [*range(60), *range(90, 120)]:
        file.census(0, at=START + each * minute + timedelta(seconds=5))
    file.store(admin)

    (row,) = ask("coverage", servers=["db1"], sources=["slowlog"], width=1800)

    first, census = START - timedelta(hours=23), START
    assert row["first_second"] == int(first.timestamp())
    assert (row["source"], row["census_second"], row["step"]) == ("slowlog", int(census.timestamp()), 1800)
    assert row["slots"] == [int((START + each * minute).timestamp()) for each in (0, 30, 90)]
    assert row["last_second"] == int((START + 119 * minute).timestamp()) + 5
    (row,) = ask("coverage", servers=["db1"], sources=["slowlog"], span=(START - timedelta(days=3), END))
    assert row["step"] == 3600 and row["slots"] == [int(START.timestamp())]
    assert ask("coverage", servers=["db9"], sources=["slowlog"]) == []
    (row,) = ask("coverage", servers=["db2"], sources=["slowlog"])
    assert (row["first_second"], row["census_second"], row["slots"]) == (
        int((START + 62 * minute).timestamp()),
        0,
        [],
    )


def test_a_statement_was_last_seen_when_it_last_ran(ask, stored):
    """Its fingerprint is written once an hour of the job, which can be long before."""
    stored("query_events", execution(END + 3 * HOUR, 1))

    (row,) = ask("statement", query_id=IT)
    assert row["last_seen"] == sql(END + 3 * HOUR)


def test_a_found_statement_without_an_entry_in_the_range_was_last_seen_when_it_last_ran(ask, stored):
    """Fingerprints are written hours before the last execution while the job reads old logs."""
    ran, recorded = 55, 56
    early = {"seen_at": sql(END - 6 * HOUR)}
    stored("query_events", execution(END + 3 * HOUR + timedelta(minutes=5), 1, query_id=ran))
    stored("fingerprints", *(fingerprint(each, "select a from late", **early) for each in (ran, recorded)))

    def rows(name: str, **parameters) -> list[dict]:
        return ask(name.removeprefix("page_query_"), **parameters)

    span = TimeRange(START, END)
    for text, group in (("from late", "text"), (f"{ran:016X}", "id")):
        found = searching.found(rows, searching.meaning_of(text), span)[group]
        known = statements.measured(rows, found, span, {"cluster": "", "instance": ""})
        seen = {row["id"]: row["last_seen"] for row in known}
        assert seen[ran] == sql(END + 3 * HOUR), "the hour of its execution"
        assert seen.get(recorded) in (None, sql(END - 6 * HOUR)), "no slow log has it"
