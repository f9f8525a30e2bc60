"""Tests that projections and columns of tags return the same as rows, also after repeats and rewinds."""

import re
from datetime import UTC, datetime, timedelta

import jinja2
import pytest
from clickhouse_servers import Server

from tailrace.clickhouse.query_files import QUERIES, query_text

NOW = datetime.now(UTC).replace(microsecond=0)
TIME = "%Y-%m-%d %H:%M:%S"
CLIENTS = """
    SELECT
        cluster, instance, database, user, host, ip,
        max(event_time) AS last, min(event_time) AS first, count() AS times
    FROM tailrace.query_events GROUP BY cluster, instance, database, user, host, ip ORDER BY ALL
"""
EXECUTIONS = """
    SELECT
        instance, source, user, ip, error_code, toDate(event_time) AS day,
        sum(weight) AS executions, count() AS times
    FROM tailrace.query_events GROUP BY instance, source, user, ip, error_code, day ORDER BY ALL
"""
AUDITED = """
    SELECT
        cluster, instance, user, host, ip, max(event_time) AS last, min(event_time) AS first, count() AS times
    FROM tailrace.audit_events WHERE is_account_use
    GROUP BY cluster, instance, user, host, ip ORDER BY ALL
"""
FILES = """
    SELECT
        cluster, instance, source, log, generation, inode, kind,
        max(to_offset) AS read, max(ledger.size) AS length, count() AS times
    FROM tailrace.ledger GROUP BY cluster, instance, source, log, generation, inode, kind ORDER BY ALL
"""
SUMS = """
    SELECT
        cluster, instance, source, log, generation, inode, kind, stage, detail, toDate(at) AS day,
        sum(ledger.count) AS times, sum(ledger.bytes) AS posted, max((at, ledger.size)) AS latest,
        max(from_offset) AS read_from, max(to_offset) AS read,
        maxIf(to_offset, ledger.bytes > 0) AS accounted, max(after_checkpoint) AS checkpoint
    FROM tailrace.ledger
    GROUP BY cluster, instance, source, log, generation, inode, kind, stage, detail, day ORDER BY ALL
"""
MINUTES = f"""
    SELECT * FROM tailrace.coverage_1m(
        first_minute = '{NOW - timedelta(hours=210):{TIME}}', end_minute = '{NOW:{TIME}}',
        server = '', kinds = []
    ) ORDER BY ALL
"""
LONG_AGO = "ALTER TABLE tailrace.ledger UPDATE ingested_at = now() - INTERVAL 1 HOUR WHERE true"
ASKED = [
    ("executions_by_day", CLIENTS),
    ("executions_by_day", EXECUTIONS),
    ("clients_by_day", AUDITED),
    ("files_by_day", FILES),
    ("sums_by_day", SUMS),
]


def entry(number: int, checkpoint: int, **more) -> dict:
    at = NOW - timedelta(hours=7 * number)
    row = {
        "cluster": "shop",
        "instance": f"db{number % 2}",
        "user": f"u{number % 3}",
        "host": f"h{number % 5}",
    }
    return {
        **row,
        "event_time": f"{at:%Y-%m-%d %H:%M:%S}",
        "after_checkpoint": checkpoint,
        "weight": 1 + number % 3,
        "error_code": 1205 if number % 4 else None,
        **more,
    }


def record(number: int, checkpoint: int) -> dict:
    common = entry(number, checkpoint)
    del common["weight"], common["error_code"]
    return {**common, "event_class": "connection", "command": "CONNECT", "status": 0}


def posting(number: int, checkpoint: int) -> dict:
    at = NOW - timedelta(hours=7 * number)
    row = {
        "cluster": "shop",
        "instance": f"db{number % 2}",
        "source": "slowlog",
        "log": "slow.log",
        "generation": 1,
    }
    read = {
        "kind": "FRONTIER" if number % 3 else "CENSUS",
        "to_offset": 100 * number,
        "size": 90 * number,
        "count": 1,
        "bytes": 10 * (number % 2),
    }
    return {**row, **read, "at": f"{at:%Y-%m-%d %H:%M:%S}", "after_checkpoint": checkpoint}


def by_projection(clickhouse, name: str, query: str) -> list[dict]:
    """Fails if the query does not use the projection."""
    return clickhouse.rows(
        query, force_optimize_projection_name=name, preferred_optimize_projection_name=name
    )


def by_rows(clickhouse, query: str) -> list[dict]:
    return clickhouse.rows(query, optimize_use_projections=0)


@pytest.fixture(scope="module")
def server(own_server: Server) -> Server:
    """Its mutations take the longer the more parts other modules have left."""
    return own_server


def insert_twice(user) -> None:
    """Two checkpoints of entries and postings, each posted twice, as after a crash; some days each."""
    writer = user("writer")
    for checkpoint in (1, 2):
        for _ in range(2):
            token = {"insert_deduplication_token": f"block {checkpoint}"}
            numbers = range(10 * checkpoint, 10 * checkpoint + 10)
            writer.insert("tailrace.query_events", [entry(each, checkpoint) for each in numbers], **token)
            writer.insert("tailrace.audit_events", [record(each, checkpoint) for each in numbers], **token)
            writer.insert("tailrace.ledger", [posting(each, checkpoint) for each in numbers], **token)


FIRST_ROWS = {"filled": insert_twice}


@pytest.fixture
def filled(admin):
    """The administrator's connection, with the rows of insert_twice (FIRST_ROWS)."""
    return admin


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("data_limits", r"first_censuses AS \((.*?)\n    \)\n"),
        ("page_setup_listed", r"FROM \(\n( +SELECT instance, toString.*?)\n +UNION ALL"),
    ],
)
def test_which_logs_have_ever_arrived_is_read_from_days(filled, query, part):
    asked = re.search(part, query_text(QUERIES / f"{query}.sql"), re.DOTALL)[1]
    used = {f"{how}_optimize_projection_name": "files_by_day" for how in ("force", "preferred")}
    rows = filled.rows(asked, {"instance": ""}, **used)
    assert {(row["instance"], row["log"]) for row in rows} == {("db0", "slow.log"), ("db1", "slow.log")}


@pytest.mark.parametrize(("branch", "name"), [(0, "files_by_day"), (1, "sizes_by_hour")])
def test_since_and_until_when_logs_were_read_comes_from_projections(filled, branch, name):
    text = query_text(QUERIES / "evidence_servers.sql")
    seen = re.search(r"seen AS \(\n.*?FROM \(\n(.*?)\)\n +GROUP BY instance, source\n", text, re.DOTALL)[1]
    asked = seen.split("UNION ALL")[branch]
    given = {"from": f"{NOW - timedelta(days=30):{TIME}}", "to": f"{NOW + timedelta(days=1):{TIME}}"}
    used = {f"{how}_optimize_projection_name": name for how in ("force", "preferred")}
    found = filled.rows(asked, given, **used)
    assert {row["instance"] for row in found} == {"db0", "db1"}


def test_which_logs_a_search_knows_comes_from_a_projection(filled):
    """Each search asks, of the censuses of all times."""
    template = jinja2.Template(query_text(QUERIES / "page_search_logs.sql"))
    asked = template.render().split("UNION ALL")[1].rpartition(")\nGROUP BY")[0]
    given = {"from": f"{NOW - timedelta(days=30):{TIME}}", "to": f"{NOW + timedelta(days=1):{TIME}}"}
    used = {f"{how}_optimize_projection_name": "files_by_day" for how in ("force", "preferred")}
    rows = filled.rows(asked, {**given, "clusters": "[]", "servers": "['db0']"}, **used)
    assert rows and filled.rows(asked, {**given, "clusters": "['none']", "servers": "[]"}, **used) == []


# The tests that follow change tables, so that each begins with new rows.


def test_which_servers_log_errors_of_statements_is_read_from_days(filled, user):
    user("writer").insert("tailrace.query_events", [entry(0, 1, instance="db-2", error_code=None)])
    page = query_text(QUERIES / "page_entity_logs.sql")
    asked = re.search(r"instance IN \((.*?)\n    \) AS has_slow_errors", page, re.DOTALL)[1]
    span = {"from": f"{NOW - timedelta(days=30):{TIME}}", "to": f"{NOW:{TIME}}"}
    used = {f"{how}_optimize_projection_name": "executions_by_day" for how in ("force", "preferred")}
    for server, found in (("", {"db0", "db1"}), ("db1", {"db1"}), ("db-2", set())):
        given = {**span, "cluster": "", "instance": server}
        rows = filled.rows(asked, given, **used)
        assert {row["instance"] for row in rows} == found


def test_blocks_that_are_posted_again_count_once_and_what_a_rewind_takes_away_is_gone(filled):
    assert_counted(filled, 20)
    for table in ("query_events", "audit_events", "ledger"):
        filled.execute(f"ALTER TABLE tailrace.{table} DELETE WHERE after_checkpoint >= 2", mutations_sync=2)
    assert_counted(filled, 10)


def assert_counted(clickhouse, times: int) -> None:
    for name, query in ASKED:
        found = by_projection(clickhouse, name, query)
        assert found == by_rows(clickhouse, query), f"{name}: {query}"
        assert sum(row["times"] for row in found) == times, f"{name}: {query}"


def test_the_coverage_of_minutes_is_read_from_projections(filled):
    for censuses in (6, 3):
        rows = by_rows(filled, MINUTES)
        assert len(rows) == censuses
        for name in ("sizes_by_hour", "offsets_by_file"):
            assert by_projection(filled, name, MINUTES) == rows, name
        filled.execute("ALTER TABLE tailrace.ledger DELETE WHERE after_checkpoint >= 2", mutations_sync=2)


def test_minutes_and_logs_of_days_are_read_from_projections(filled, rendered):
    days = rendered("coverage_days", (NOW - timedelta(hours=210)).isoformat(), NOW.isoformat())
    query = f"SELECT log, state, day_shown, minutes FROM ({days}) ORDER BY ALL"
    for censuses in (6, 3):
        rows = by_rows(filled, query)
        assert sum(int(row["minutes"]) for row in rows if row["state"] != "unknown") == censuses
        for name in ("minutes_by_hour", "minutes_by_day"):
            plan = filled.rows(f"EXPLAIN {query}", preferred_optimize_projection_name=name)
            assert any(f"({name})" in step["explain"] for step in plan), name
            assert filled.rows(query, preferred_optimize_projection_name=name) == rows, name
        filled.execute("ALTER TABLE tailrace.ledger DELETE WHERE after_checkpoint >= 2", mutations_sync=2)


def test_the_accounts_of_files_omit_a_checkpoint_that_is_being_posted_and_nothing_else(
    filled, user, rendered
):
    balance = rendered("balance", None, None)
    columns = "instance, file_size, frontier, accounted, entries"
    asked = f"SELECT {columns} FROM ({balance}) ORDER BY ALL"
    assert sum(row["frontier"] for row in filled.rows(asked)) > 0
    filled.execute(LONG_AGO, mutations_sync=2)
    before = by_rows(filled, asked)
    assert filled.rows(asked) == before
    # On a day of the first checkpoints' rows, so that the day is read from its rows.
    just_now = f"{NOW + timedelta(hours=1):%Y-%m-%d %H:%M:%S}"
    later = [{**posting(12, 3), "kind": "FRONTIER", "to_offset": 10**9, "bytes": 5, "ingested_at": just_now}]
    user("writer").insert("tailrace.ledger", later)
    assert filled.rows(asked) == before
    filled.execute(LONG_AGO, mutations_sync=2)
    assert max(row["frontier"] for row in filled.rows(asked)) == 10**9
    assert filled.rows(asked) == by_rows(filled, asked)


@pytest.mark.parametrize(
    ("tags", "application", "endpoint"),
    [
        ({}, "", ""),
        ({"application": "shop", "app": "other", "route": "/cart", "controller": "c"}, "shop", "/cart"),
        ({"app": "shop", "controller": "carts", "action": "show", "job": "j"}, "shop", "carts#show"),
        ({"job": "mailer"}, "", "mailer"),
    ],
)
def test_application_and_endpoint_are_read_from_the_tags(admin, user, tags, application, endpoint):
    user("writer").insert("tailrace.query_events", [entry(0, 1, tags=tags)])
    found = admin.rows("SELECT application, endpoint FROM tailrace.query_events")
    assert found == [{"application": application, "endpoint": endpoint}]
