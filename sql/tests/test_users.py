"""Tests the privileges of audiences and writer over the wire; test_rights.py has the complete matrix."""

import pytest

from tailrace.clickhouse.client import ClickHouse, ClickHouseError

ACCESS_DENIED = 497
SETTING_OUT_OF_RANGE = 452
SESSIONS_EXCEEDED = 700
READERS = ("reader_developer", "reader_compliance", "reader_security")

READABLE_BY_ALL = (
    "query_events",
    "query_load_1m",
    "query_classes_1h",
    "query_classes_1d",
    "fingerprints",
    "ledger",
    "receipts",
    "schema_migrations",
)


def refused(code: int, clickhouse: ClickHouse, statement: str, **settings) -> None:
    with pytest.raises(ClickHouseError) as error:
        clickhouse.execute(statement, **settings)
    assert error.value.code == code, error.value


def test_the_server_listens_at_no_port_but_those_that_are_asked_for(server):
    assert server.listening_ports() == set(server.part.ports().values())


@pytest.mark.parametrize("reader", READERS)
def test_readers_read_statements_and_the_ledger(admin, user, reader):
    for table in READABLE_BY_ALL:
        user(reader).execute(f"SELECT * FROM tailrace.{table} LIMIT 1")


@pytest.mark.parametrize("reader", READERS)
def test_no_reader_sees_raw_bytes_of_dead_letters(admin, user, reader):
    user(reader).execute("SELECT code, message, superseded FROM tailrace.dead_letters FINAL")
    refused(ACCESS_DENIED, user(reader), "SELECT raw FROM tailrace.dead_letters")
    refused(ACCESS_DENIED, user(reader), "SELECT * FROM tailrace.dead_letters")


@pytest.mark.parametrize("reader", READERS)
def test_readers_change_nothing_and_stay_within_limits(admin, user, reader):
    refused(ACCESS_DENIED, user(reader), "INSERT INTO tailrace.query_events (instance) VALUES ('x')")
    refused(ACCESS_DENIED, user(reader), "DROP TABLE tailrace.query_events")
    refused(ACCESS_DENIED, user(reader), "SELECT * FROM system.processes")
    refused(ACCESS_DENIED, user(reader), "SELECT * FROM file('/etc/passwd', LineAsString)")
    refused(SETTING_OUT_OF_RANGE, user(reader), "SELECT 1", max_execution_time=600)
    refused(SETTING_OUT_OF_RANGE, user(reader), "SELECT 1", max_memory_usage=0)


@pytest.mark.parametrize(
    "table",
    [
        "query_events",
        "audit_events",
        "error_events",
        "dead_letters",
        "ledger",
        "signed_ranges",
        "query_samples",
        "fingerprints",
        "plans",
    ],
)
def test_the_writer_may_only_insert(admin, user, table):
    user("writer").execute(f"INSERT INTO tailrace.{table} (after_checkpoint) VALUES (1)")
    refused(ACCESS_DENIED, user("writer"), f"SELECT count() FROM tailrace.{table}")
    refused(ACCESS_DENIED, user("writer"), f"TRUNCATE TABLE tailrace.{table}")


@pytest.mark.parametrize(
    "table", ["alerts", "rule_pushes", "rule_coverage", "data_access", "plan_changes", "plan_captures"]
)
def test_the_writer_may_only_insert_what_does_not_wait(admin, user, table):
    user("writer").execute(f"INSERT INTO tailrace.{table} (ingested_at) VALUES (now())")
    refused(ACCESS_DENIED, user("writer"), f"SELECT count() FROM tailrace.{table}")


@pytest.mark.parametrize(
    "table", ["receipts", "query_load_1m", "query_classes_1d", "entities_1d", "schema_migrations"]
)
def test_the_writer_cannot_forge_what_views_count(admin, user, table):
    refused(ACCESS_DENIED, user("writer"), f"INSERT INTO tailrace.{table} SELECT * FROM tailrace.{table}")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("async_insert", 1),
        ("insert_deduplicate", 0),
        ("deduplicate_blocks_in_dependent_materialized_views", 0),
    ],
)
def test_the_writer_cannot_leave_exactly_once(admin, user, setting, value):
    insert = "INSERT INTO tailrace.ledger (after_checkpoint) VALUES (1)"
    refused(SETTING_OUT_OF_RANGE, user("writer"), insert, **{setting: value})


def test_nobody_connects_as_the_engine_itself(admin):
    refused(SESSIONS_EXCEEDED, ClickHouse(admin.url, "default", ""), "SELECT 1")


def test_a_wrong_password_is_refused(admin):
    refused(516, ClickHouse(admin.url, "reader_developer", "wrong"), "SELECT 1")
