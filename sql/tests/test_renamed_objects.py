"""Objects that have a standard name since 0102: a database of bc4d751 has equal values under both names."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.migrations import migration_files
from tailrace.migrations import runner as migration_runner

LAST_OF_BC4D751 = 95
"""The number of the last migration of commit bc4d751."""

NOW = datetime.now(UTC)
AT = f"{NOW - timedelta(minutes=5):%Y-%m-%d %H:%M:%S.%f}"
DAYS_AGO = f"{NOW - timedelta(days=2):%Y-%m-%d %H:%M:%S.000}"
ID = str(uuid.UUID(int=7))
PERSON = {"actor": "ann", "reason": "reviewed"}
SERVER = {"cluster": "shop", "instance": "db-1"}

ROWS = {
    "alerts": {**SERVER, "alert_id": ID, "rule_id": "r", "event_time": AT, "seen_at": AT, "updated_at": AT},
    "alert_actions": {**PERSON, "alert_id": ID, "action": "ack"},
    "audit_events": {**SERVER, "event_time": AT, "event_class": "admin", "command_class": "create_user"},
    "data_access": {**SERVER, "event_id": ID, "event_time": AT, "mode": "read"},
    "dead_letters": {**SERVER, "dead_letter_id": ID, "log": "/a.log", "seen_at": AT},
    "evidence_exports": {"export_id": ID, "actor": "ann", "manifest_sha256": "ab" * 32},
    "fingerprints": {"query_id": 7, "rule_set": "tailrace-2", "seen_at": AT},
    "ledger": {
        **SERVER,
        "source": "audit",
        "log": "/a.log",
        "generation": 1,
        "stage": "FRAMER",
        "kind": "FRONTIER",
        "at": AT,
    },
    "plans": {**SERVER, "query_id": 7, "plan_hash": "a", "seen_at": AT},
    "reviews": {
        "review_id": ID,
        "actor": "ann",
        "scope": "all",
        "finding": "none",
        "period_from": DAYS_AGO[:19],
        "period_to": AT[:19],
    },
    "rule_coverage": {**SERVER, "rule_id": "r", "in_force": True, "changed_at": AT, "told_at": AT},
    "server_changes": {**SERVER, "kind": "roles", "key": "r", "at": AT[:-3], "change": "added"},
    "server_facts": {
        **SERVER,
        "kind": "settings",
        "key": "long_query_time",
        "attributes": {"value": "1"},
        "since": DAYS_AGO,
        "last_seen": AT[:-3],
    },
    "silences": {**PERSON, "silence_id": ID, "action": "begin", "rule": "r"},
    "unmasked_looks": {"look_id": ID, "step": "asked", "superset_user": "ann", "statement": "SELECT 1"},
}

COLUMNS = [
    ("alerts", "seen_at", "detected_at"),
    ("data_access", "mode", "access_mode"),
    ("dead_letters", "seen_at", "rejected_at"),
    ("fingerprints", "seen_at", "last_seen_at"),
    ("plans", "seen_at", "last_seen_at"),
    ("rule_coverage", "in_force", "active"),
    ("rule_coverage", "told_at", "reported_at"),
]
"""Table, old column, column with the standard name."""

VIEWS = {
    "unmasked_looks": ("unmasked_accesses", {"look_id": "access_id"}),
    "rights_changes": ("privilege_changes", {"seen_by": "recorded_by", "what": "operation"}),
    "minutes_without_audit": ("audit_coverage_gaps", {}),
    "logging_in_force": ("effective_logging_settings", {}),
}
"""Old name → standard name, and its columns by old name."""

NEW_VALUES = {"look at the server": "server snapshot"}

MOVING = {"from_time", "to_time", "minutes"}
"""Columns of audit_coverage_gaps that move with each minute. Since migration 0213 the minutes before the
first census belong to the first interval."""

CONSTRAINTS = [
    ("alert_actions", {"actor": ""}, "actor_not_empty"),
    ("alert_actions", {"reason": ""}, "reason_not_empty"),
    ("alert_actions", {"assignee": "bob"}, "assignee_if_and_only_if_assign"),
    ("alert_actions", {"verdict": "odd", "action": "close"}, "verdict_is_known"),
    ("alert_actions", {"verdict": "benign"}, "verdict_only_if_close"),
    ("evidence_exports", {"actor": ""}, "actor_not_empty"),
    ("evidence_exports", {"manifest_sha256": "ab"}, "manifest_sha256_has_64_digits"),
    ("reviews", {"actor": ""}, "actor_not_empty"),
    ("reviews", {"scope": ""}, "scope_not_empty"),
    ("reviews", {"finding": ""}, "finding_not_empty"),
    ("reviews", {"period_to": DAYS_AGO[:19]}, "period_not_empty"),
    ("silences", {"actor": ""}, "actor_not_empty"),
    ("silences", {"reason": ""}, "reason_not_empty"),
    ("silences", {"action": "pause"}, "action_is_known"),
    ("unmasked_looks", {"superset_user": ""}, "superset_user_not_empty"),
    ("unmasked_looks", {"statement": ""}, "statement_not_empty"),
]
"""Table, values that it refuses, and the constraint that the error names."""


def values(clickhouse: ClickHouse, name: str, columns: list[str]) -> list[list[object]]:
    listed = ", ".join(columns)
    rows = clickhouse.rows(f"SELECT {listed} FROM tailrace.{name} ORDER BY ALL")
    return [list(row.values()) for row in rows]


def columns_of(clickhouse: ClickHouse, name: str) -> list[str]:
    rows = clickhouse.rows(
        "SELECT name FROM system.columns WHERE database = 'tailrace' AND table = {table:String} "
        "ORDER BY position",
        {"table": name},
    )
    return [row["name"] for row in rows if row["name"] not in MOVING]


@pytest.fixture(scope="module")
def old_views() -> dict[str, tuple[list[str], list[list[object]]]]:
    """Columns and rows of each old view, as bc4d751 returned them."""
    return {}


@pytest.fixture(scope="module")
def upgraded(server, old_views) -> ClickHouse:
    """A database of bc4d751 with a row in each affected table, and all later migrations."""
    server.forget()
    admin = server.user("admin")
    files = migration_files.load_migrations()
    migration_runner.apply(admin, migrations=[file for file in files if file.number <= LAST_OF_BC4D751])
    for table, row in ROWS.items():
        admin.insert(f"tailrace.{table}", [row])
    for view in VIEWS:
        columns = columns_of(admin, view)
        old_views[view] = columns, values(admin, view, columns)
    server.part.provision()  # as `tailrace up` does
    server.is_migrated = True  # the next module need not migrate again
    return admin


@pytest.mark.parametrize(("table", "old", "new"), COLUMNS)
def test_both_columns_have_the_value(upgraded, table, old, new):
    ((before, after),) = values(upgraded, table, [old, new])
    assert before == after == ROWS[table][old]


@pytest.mark.parametrize("old", VIEWS)
def test_both_views_have_the_rows(upgraded, old_views, old):
    new, renamed = VIEWS[old]
    columns, rows = old_views[old]
    assert rows, "rows of bc4d751 are compared"
    assert values(upgraded, old, columns) == rows

    found = values(upgraded, new, [renamed.get(column, column) for column in columns])
    expected = [[NEW_VALUES.get(str(value), value) for value in row] for row in rows]
    assert sorted(found, key=str) == sorted(expected, key=str)


@pytest.mark.parametrize(("table", "wrong", "constraint"), CONSTRAINTS)
def test_an_error_names_the_column(upgraded, table, wrong, constraint):
    with pytest.raises(ClickHouseError, match=f"Constraint `{constraint}`"):
        upgraded.insert(f"tailrace.{table}", [{**ROWS[table], **wrong}])
    text = upgraded.execute(f"SHOW CREATE TABLE tailrace.{table}")
    assert text.count(f"CONSTRAINT {constraint} ") == 1
