"""Tests the matrix of users and tables. A new table, view or user fails until it is added here."""

import re

import pytest

from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.clickhouse.server_config import USERS_TEMPLATE

ACCESS_DENIED = 497
SETTING_OUT_OF_RANGE = 452
QUOTA_EXCEEDED = 201
TOO_MANY_ROWS = 396

DEVELOPER = {"reader_developer", "reader_compliance", "reader_security", "auditor"}
"""Users with the privileges of developers, which are included in those of the others."""
COMPLIANCE = DEVELOPER - {"reader_developer"}
NOBODY: set[str] = set()

MAY_READ = {
    "accounts_unused": COMPLIANCE,
    "alert_actions": COMPLIANCE | {"analyst", "delivery"},
    "alert_deliveries": COMPLIANCE | {"analyst", "delivery"},
    "alerts": COMPLIANCE | {"analyst", "delivery"},
    "api_requests": COMPLIANCE,
    "archived_days": COMPLIANCE,
    "api_token_actions": {"api"},  # compliance and security read all of its columns but the hash, see below
    "audit_coverage_gaps": COMPLIANCE,
    "audit_events": COMPLIANCE,
    "canary_alerts": COMPLIANCE | {"analyst", "delivery"},
    "cardholder_data_reads": COMPLIANCE,
    "counted_events": NOBODY,
    "coverage_1m": DEVELOPER | {"repair"},
    "data_access": COMPLIANCE,
    "data_access_by_action": COMPLIANCE,
    "dead_letters": NOBODY,  # but all of its columns save the raw bytes, see below
    "effective_logging_settings": DEVELOPER | {"facts"},
    "entities_1d": COMPLIANCE,
    "entities_1d_audit_events_mv": NOBODY,
    "entities_1d_error_events_mv": NOBODY,
    "entities_1d_query_events_mv": NOBODY,
    "delivery_channels": COMPLIANCE | {"analyst", "delivery"},
    "error_events": DEVELOPER,
    "evidence_exports": COMPLIANCE,
    "digest_deltas": DEVELOPER | {"facts"},
    "digest_load_1m": DEVELOPER | {"facts"},
    "digest_latency": DEVELOPER | {"facts"},
    "digest_samples": DEVELOPER | {"facts"},
    "digest_histograms": DEVELOPER | {"facts"},
    "pull_costs": DEVELOPER | {"facts"},
    "metadata_lock_waits": DEVELOPER | {"facts"},
    "fingerprints": DEVELOPER | {"reader_unmasked"},
    "gap_repairs": DEVELOPER | {"repair"},
    "ledger": DEVELOPER | {"repair"},
    "legal_hold_actions": COMPLIANCE,
    **dict.fromkeys(("listed_logs", "listed_logs_of_period"), DEVELOPER | {"repair"}),
    "legal_holds": COMPLIANCE,
    "log_days": DEVELOPER | {"repair"},
    "logging_in_force": DEVELOPER | {"facts"},
    "logs_of_period": DEVELOPER | {"repair"},
    "minutes_without_audit": COMPLIANCE,
    "name_reveals": NOBODY,
    "name_reveals_mv": NOBODY,
    "otel_traces": DEVELOPER,
    "otel_traces_trace_id_ts": DEVELOPER,
    "otel_traces_trace_id_ts_mv": NOBODY,
    **dict.fromkeys(("performance_schema_ledger", "performance_schema_records"), DEVELOPER | {"facts"}),
    "plan_captures": DEVELOPER,
    "plan_changes": DEVELOPER,
    "plans": DEVELOPER,
    "privilege_changes": COMPLIANCE,
    "query_classes_1d": DEVELOPER,
    "query_classes_1d_mv": NOBODY,
    "query_classes_1h": DEVELOPER,
    "query_classes_1h_mv": NOBODY,
    "query_events": DEVELOPER | {"explain"},
    "query_load_1m": DEVELOPER,
    "query_load_1m_mv": NOBODY,
    "query_samples": {"reader_unmasked", "explain"},
    "receipts": DEVELOPER | {"repair"},
    "receipts_audit_events_mv": NOBODY,
    "receipts_dead_letters_mv": NOBODY,
    "receipts_error_events_mv": NOBODY,
    "receipts_query_events_mv": NOBODY,
    "refused_logins": COMPLIANCE,
    "revealed_names": {"revealer"},
    "reviews": COMPLIANCE,
    "rights_changes": COMPLIANCE,
    "rule_coverage": COMPLIANCE | {"analyst", "delivery"},
    "rule_pushes": COMPLIANCE | {"analyst", "delivery"},
    "scheduled_searches": COMPLIANCE | {"analyst", "delivery"},
    "schema_migrations": DEVELOPER | {"repair"},
    "search_runs": COMPLIANCE | {"analyst", "delivery"},
    "server_capture": DEVELOPER | {"facts"},
    "server_changes": COMPLIANCE | {"facts"},
    "server_facts": COMPLIANCE | {"facts"},
    "server_facts_current": COMPLIANCE | {"facts"},
    "server_snapshots": DEVELOPER | {"facts"},
    "signed_ranges": DEVELOPER | {"repair"},
    "silences": COMPLIANCE | {"analyst", "delivery"},
    "statement_samples": DEVELOPER | {"facts"},
    "subject_arrivals": NOBODY,
    "subject_vault": NOBODY,
    "subject_vault_mv": NOBODY,
    "table_sizes": DEVELOPER | {"facts"},
    "unmasked_accesses": COMPLIANCE,
    "unmasked_looks": COMPLIANCE,
}
VIEW_PARAMETERS = {
    "coverage_1m": "(first_minute = '2026-11-21 00:00:00', end_minute = '2026-11-22 00:00:00', "
    "server = '', kinds = [])",
    **dict.fromkeys(
        ("listed_logs_of_period", "logs_of_period"),
        "(period_from = '2026-11-21 00:00:00', period_to = '2026-11-22 00:00:00')",
    ),
    **dict.fromkeys(
        ("data_access_by_action", "refused_logins"),
        "(begin = '2026-11-21 00:00:00', until = '2026-11-22 00:00:00')",
    ),
}
"""Of views that have some."""

WRITTEN_BY_JOBS = (
    *(
        "query_events",
        "audit_events",
        "error_events",
        "dead_letters",
        "ledger",
        "query_samples",
        "fingerprints",
    ),
    *("canary_alerts", "signed_ranges", "subject_arrivals"),
    *("plans", "plan_changes", "plan_captures", "rule_pushes", "rule_coverage", "data_access", "otel_traces"),
)
MAY_ADD = {
    "alert_actions": {"analyst"},
    "alert_deliveries": {"delivery"},
    "alerts": {"writer", "facts"},
    "api_requests": {"api"},
    "delivery_channels": {"delivery"},
    "evidence_exports": {"auditor"},
    "gap_repairs": {"repair"},
    "legal_hold_actions": {"auditor"},
    "listed_logs": {"repair"},
    "name_reveals": {"revealer"},
    "reviews": {"auditor"},
    "scheduled_searches": {"analyst"},
    "search_runs": {"delivery"},
    "server_changes": {"facts"},
    "digest_samples": {"facts"},
    "digest_histograms": {"facts"},
    "pull_costs": {"facts"},
    "metadata_lock_waits": {"facts"},
    "performance_schema_records": {"facts"},
    "server_facts": {"facts"},
    "server_snapshots": {"facts"},
    "silences": {"analyst"},
    "table_sizes": {"facts"},
    "unmasked_looks": {"witness"},
    **{table: {"writer"} for table in WRITTEN_BY_JOBS},
}
"""The users that can insert into each table. Only admin changes or deletes rows."""

READERS = ("reader_developer", "reader_compliance", "reader_security", "reader_unmasked")


def users() -> list[str]:
    """Returns all users that can log in, except admin."""
    content = USERS_TEMPLATE.read_text()
    return sorted(set(re.findall(r"<(\w+)>\s*<password_sha256_hex>", content)) - {"admin"})


def may(clickhouse: ClickHouse, statement: str) -> bool:
    try:
        clickhouse.execute(statement)
    except ClickHouseError as error:
        assert error.code == ACCESS_DENIED, error
        return False
    return True


def rights_of(clickhouse: ClickHouse) -> dict[str, set[str]]:
    """Returns the rights of the connection's user and its roles, also those on some columns, by table."""
    rights: dict[str, set[str]] = {}
    for line in clickhouse.execute("SHOW GRANTS FINAL").splitlines():
        names, place = re.fullmatch(r"GRANT (.+) ON (\S+) TO \w+", line).groups()
        rights.setdefault(place, set()).update(re.sub(r"\(.*?\)", "", names).split(", "))
    return rights


def granted(clickhouse: ClickHouse, right: str) -> bool:
    return clickhouse.execute(f"CHECK GRANT {right}").strip() == "1"


def test_every_table_is_decided_on(admin):
    tables = admin.rows("SELECT name FROM system.tables WHERE database = 'tailrace'")
    assert {row["name"] for row in tables} == MAY_READ.keys(), (
        "state in MAY_READ of sql/tests/test_rights.py who may read each table and view; NOBODY may read a "
        "materialized view"
    )


@pytest.mark.parametrize("name", users())
def test_reads_what_it_may_and_nothing_else(admin, user, name):
    reads = {
        table
        for table in MAY_READ
        if may(user(name), f"SELECT * FROM tailrace.{table}{VIEW_PARAMETERS.get(table, '')} LIMIT 0")
    }
    assert reads == {table for table, readers in MAY_READ.items() if name in readers}, (
        f"{name} reads other tables than MAY_READ states: change it, or sql/users/users.xml.template"
    )


@pytest.mark.parametrize("name", users())
def test_adds_where_it_may_and_changes_nothing(admin, user, name):
    rights = rights_of(user(name))
    adds = {place for place, its in rights.items() if "INSERT" in its}
    assert adds == {f"tailrace.{table}" for table, writers in MAY_ADD.items() if name in writers}, (
        f"{name} inserts into other tables than MAY_ADD states: change it, or sql/users/users.xml.template"
    )
    assert set().union(*rights.values()) <= {"SELECT", "INSERT"}


@pytest.mark.parametrize("name", users())
def test_has_no_rights_on_the_server(admin, user, name):
    for right in (
        "SYSTEM",
        "KILL QUERY",
        "ACCESS MANAGEMENT",
        "SOURCES",
        "CREATE TEMPORARY TABLE",
        "INTROSPECTION",
    ):
        assert not granted(user(name), f"{right} ON *.*"), right
    for table in ("processes", "users", "grants", "query_log"):
        assert not granted(user(name), f"SELECT ON system.{table}"), table
    audiences = ("reader_developer", "reader_compliance", "reader_security")
    assert granted(user(name), "SELECT(rows) ON system.parts") == (name in audiences), "for cached data"
    assert not granted(user(name), "SELECT(path) ON system.parts")


@pytest.mark.parametrize("name", users())
def test_raw_bytes_of_dead_letters_are_for_admin(admin, user, name):
    assert not granted(user(name), "SELECT(raw) ON tailrace.dead_letters")
    assert granted(user(name), "SELECT(code) ON tailrace.dead_letters") == (name in DEVELOPER | {"repair"})


@pytest.mark.parametrize("name", users())
def test_hashes_of_tokens_are_for_the_api(admin, user, name):
    assert granted(user(name), "SELECT(token_sha256) ON tailrace.api_token_actions") == (name == "api")
    seen = granted(user(name), "SELECT(owner) ON tailrace.api_token_actions")
    assert seen == (name in COMPLIANCE | {"analyst", "api"})


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("readonly", 0),
        ("max_execution_time", 0),
        ("max_execution_time", 3600),
        ("max_memory_usage", 0),
        ("max_result_rows", 0),
        ("max_concurrent_queries_for_user", 1000),
    ],
)
def test_readers_cannot_leave_their_limits(admin, user, name, setting, value):
    with pytest.raises(ClickHouseError) as error:
        user(name).execute("SELECT 1", **{setting: value})
    assert error.value.code in (SETTING_OUT_OF_RANGE, 164), error.value  # 164: readonly itself


@pytest.mark.parametrize("name", READERS)
def test_readers_have_a_quota(admin, user, name):
    def used() -> dict[str, object]:
        """What the current minute has, after a query that counts."""
        user(name).execute("SELECT count() FROM tailrace.fingerprints")
        return user(name).rows("SELECT quota_name, queries, max_queries FROM system.quota_usage")[0]

    row, later = used(), used()
    assert row["quota_name"] == ("unmasked" if name == "reader_unmasked" else "reader")
    assert row["max_queries"]
    assert max(row["queries"], later["queries"]) > 0  # of two, one is not at the turn of a minute


def test_unmasked_statements_are_not_had_by_the_thousand_or_from_a_cache(admin, user):
    unmasked = user("reader_unmasked")
    with pytest.raises(ClickHouseError) as error:
        unmasked.execute("SELECT number FROM numbers(10001)")
    assert error.value.code == TOO_MANY_ROWS
    with pytest.raises(ClickHouseError) as error:
        unmasked.execute("SELECT 1", use_query_cache=1)
    assert error.value.code == SETTING_OUT_OF_RANGE


def test_the_witness_gives_neither_time_nor_account(admin, user):
    access = {
        "look_id": "6a4a9d60-0f3e-4a3c-9d0d-9a4fe1f0a001",
        "step": "shown",
        "superset_user": "ann",
        "clickhouse_user": "reader_unmasked",
        "statement": "SELECT statement FROM tailrace.query_samples WHERE query_id = '00A1B2C3D4E5F607'",
        "rows": 3,
    }
    columns = ", ".join(access)
    user("witness").insert(f"tailrace.unmasked_looks ({columns})", [access])
    row = admin.rows("SELECT *, at > today() - 1 AS is_new FROM tailrace.unmasked_looks")[0]
    assert row["account"] == "witness" and row["is_new"] and row["query_ids"] == ["00A1B2C3D4E5F607"]
    for column in ("at", "account", "query_ids"):
        assert not granted(user("witness"), f"INSERT({column}) ON tailrace.unmasked_looks")
