"""Compares the tables with the contracts: Avro fields, deduplication windows, retention."""

import json
import re
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from tailrace.config.resources import REPOSITORY
from tailrace.migrations import migration_files, rollups
from tailrace.migrations import runner as migration_runner

AVRO = REPOSITORY / "schemas" / "avro"

TABLES = {
    "QueryEvent": "query_events",
    "AuditEvent": "audit_events",
    "ErrorEvent": "error_events",
    "DeadLetter": "dead_letters",
    "LedgerEntry": "ledger",
    "QuerySample": "query_samples",
    "Fingerprint": "fingerprints",
    "Alert": "alerts",
    "RulePush": "rule_pushes",
    "RuleCoverageEntry": "rule_coverage",
    "DataAccess": "data_access",
    "TraceSpan": "otel_traces",
    "StatementPlan": "plans",
    "PlanChange": "plan_changes",
    "PlanCapture": "plan_captures",
    "SignedRange": "signed_ranges",
}
"""Record class → table."""

ONLY_IN_TOPICS = "none"
"""The property "clickhouse" of a field that has no column."""
NOT_A_ROW = {"EventId"}
WRITTEN_AT_ONCE = {"alerts", "rule_pushes", "rule_coverage", "data_access", "plan_changes", "plan_captures"}
"""Tables whose rows do not wait for a checkpoint."""
OWN_COLUMNS = {"after_checkpoint", "ingested_at", "first_seen_at"}

VIEWS = {
    name: (target, source)
    for migration in migration_files.load_migrations()
    for name, target, source in re.findall(
        r"MATERIALIZED VIEW .*tailrace\.(\w+).*\nTO tailrace\.(\w+)\n[\s\S]*\n *FROM tailrace\.(\w+)",
        migration.statement,
    )
}
"""Materialized view → the table that it fills, and the table that it reads: of all migrations."""
VIEW_TARGETS = {target for target, _ in VIEWS.values()}

PRIMITIVES = {"long": "Int64", "int": "Int32", "double": "Float64", "boolean": "Bool", "string": "String"}
EXACTLY_ONCE = {"async_insert": 0, "deduplicate_blocks_in_dependent_materialized_views": 1}

NOW = datetime.now(UTC)


def fields(record: str) -> list[dict]:
    return json.loads((AVRO / f"{record}.avsc").read_text())["fields"]


def column_type(avro, chosen: str | None) -> str:
    """Returns the ClickHouse type of an Avro type; `chosen` is the property "clickhouse" of the field."""
    if isinstance(avro, list):
        (inner,) = [branch for branch in avro if branch != "null"]
        return f"Nullable({column_type(inner, chosen)})"
    if isinstance(avro, str):
        named = {"EventId": "UUID", "Stage": "String", "bytes": "String"}
        return chosen or named.get(avro) or PRIMITIVES[avro]
    return _complex_type(avro, chosen)


def _complex_type(avro: dict, chosen: str | None) -> str:
    if avro.get("logicalType") == "timestamp-micros":
        return "DateTime64(6, 'UTC')"
    if chosen:
        return chosen
    if avro["type"] == "array":
        return f"Array({column_type(avro['items'], None)})"
    if avro["type"] == "map":
        return f"Map(String, {column_type(avro['values'], None)})"
    assert avro["type"] == "enum", avro
    return "String"


def encoded_as(column: str) -> str:
    """Returns the type of a column without LowCardinality and SimpleAggregateFunction."""
    column = column.replace("LowCardinality(String)", "String")
    if column.startswith("SimpleAggregateFunction("):
        return column.removeprefix("SimpleAggregateFunction(").removesuffix(")").split(", ", 1)[1]
    return column


def columns(clickhouse, table: str) -> dict[str, str]:
    """Returns the types of inserted columns by name; other columns are derived from them."""
    rows = clickhouse.rows(
        "SELECT name, type FROM system.columns "
        "WHERE database = 'tailrace' AND table = {table:String} "
        "AND default_kind NOT IN ('MATERIALIZED', 'ALIAS')",
        {"table": table},
    )
    return {row["name"]: encoded_as(row["type"]) for row in rows}


def test_every_record_has_a_table():
    assert {file.stem for file in AVRO.glob("*.avsc")} - NOT_A_ROW == TABLES.keys(), (
        "records of schemas/avro: name each with its table in TABLES of sql/tests/test_tables.py"
    )


@pytest.mark.parametrize("record", TABLES)
def test_a_table_has_one_column_per_field(admin, record):
    expected = {
        field.get("column", field["name"]): column_type(field["type"], field.get("clickhouse"))
        for field in fields(record)
        if field.get("clickhouse") != ONLY_IN_TOPICS
    }
    found = columns(admin, TABLES[record])

    waits = found.pop("after_checkpoint", None)
    assert waits == (None if TABLES[record] in WRITTEN_AT_ONCE else "UInt64")
    assert found.pop("ingested_at") == "DateTime('UTC')"
    assert {name: kind for name, kind in found.items() if name not in OWN_COLUMNS} == expected


def test_alerts_of_canary_rules_have_the_columns_of_alerts(admin):
    assert columns(admin, "canary_alerts") == columns(admin, "alerts")


def test_every_table_remembers_the_blocks_it_was_given(admin):
    tables = admin.rows(
        "SELECT name, engine_full FROM system.tables WHERE database = 'tailrace' AND engine LIKE '%MergeTree'"
    )
    window = f"non_replicated_deduplication_window = {migration_files.DEDUPLICATION_BLOCKS}"

    assert {t["name"] for t in tables} >= {*TABLES.values(), *VIEW_TARGETS}
    assert [t["name"] for t in tables if window not in t["engine_full"]] == []


def test_every_view_has_a_table_of_its_own_to_fill(admin):
    views = admin.rows(
        "SELECT name, create_table_query FROM system.tables "
        "WHERE database = 'tailrace' AND engine = 'MaterializedView'"
    )
    assert {view["name"] for view in views} == VIEWS.keys(), (
        "VIEWS of this module does not find every materialized view: write it like query_load_1m_mv"
    )
    for view in views:
        assert " TO tailrace." in view["create_table_query"]
        assert "DEFINER = admin SQL SECURITY DEFINER" in view["create_table_query"]


def test_a_rewind_rebuilds_what_it_cannot_delete(admin):
    """A rewind deletes rows by after_checkpoint. Rollups without it are rebuilt from their events."""
    with_checkpoint = admin.rows(
        "SELECT table FROM system.columns WHERE database = 'tailrace' AND name = 'after_checkpoint'"
    )
    kept = {*(row["table"] for row in with_checkpoint), "otel_traces_trace_id_ts"}
    kept |= {"subject_vault", "legal_hold_actions"}
    rebuilt = {view: fills for view, fills in VIEWS.items() if fills[0] not in kept}
    assert rebuilt == {each.view: (each.table, each.events) for each in rollups.ROLLUPS}, (
        "name each rollup of events in ROLLUPS of embedded/tailrace/migrations/rollups.py"
    )


def test_every_table_with_rows_has_a_retention(admin):
    tables = admin.rows(
        "SELECT name, create_table_query FROM system.tables WHERE database = 'tailrace' "
        "AND engine LIKE '%MergeTree' AND name NOT IN ('schema_migrations', 'legal_hold_actions')"
    )
    retention = migration_runner.load_retention()

    assert retention.keys() == {table["name"] for table in tables}
    for table in tables:
        assert f"toIntervalDay({retention[table['name']]})" in table["create_table_query"]


def test_the_ledger_outlives_what_it_accounts_for():
    retention = migration_runner.load_retention()

    assert retention["receipts"] >= retention["ledger"]
    assert retention["ledger"] >= max(retention["query_events"], retention["audit_events"])
    assert all(retention[each.table] >= retention[each.events] for each in rollups.ROLLUPS)


def test_a_block_that_is_posted_again_counts_once_everywhere(admin, user):
    writer = user("writer")
    for _ in range(3):
        writer.insert("tailrace.query_events", events(200), insert_deduplication_token="one", **EXACTLY_ONCE)
        writer.insert("tailrace.dead_letters", [letter()], insert_deduplication_token="two", **EXACTLY_ONCE)
    writer.insert("tailrace.query_events", events(50), insert_deduplication_token="three", **EXACTLY_ONCE)

    assert admin.rows("SELECT count() AS n FROM tailrace.query_events") == [{"n": 250}]
    for rollup in rollups.ROLLUPS:
        counted = "SELECT sum(count) AS n, sum(weight) AS w FROM tailrace"
        expected = {"n": 250, "w": 500} if rollup.events == "query_events" else {"n": 0, "w": 0}
        assert admin.rows(f"{counted}.{rollup.table} WHERE {rollup.own} AND {rollup.once}") == [expected]
    assert admin.rows(
        "SELECT kind, sum(rows) AS n, sum(bytes) AS b FROM tailrace.receipts GROUP BY kind ORDER BY kind"
    ) == [{"kind": "DEAD_LETTER", "n": 1, "b": 10}, {"kind": "EVENT", "n": 250, "b": 25000}]


def test_blocks_are_remembered_over_a_restart(server, admin, user):
    user("writer").insert("tailrace.query_events", events(9), insert_deduplication_token="a", **EXACTLY_ONCE)
    server.stop()
    server.start()
    user("writer").insert("tailrace.query_events", events(9), insert_deduplication_token="a", **EXACTLY_ONCE)

    assert admin.rows("SELECT sum(count) AS n FROM tailrace.query_load_1m") == [{"n": 9}]


def test_percentiles_of_a_rollup_are_right_within_one_percent(admin):
    admin.execute(
        "INSERT INTO tailrace.query_events (event_id, instance, event_time, query_time, weight, query_id) "
        "SELECT generateUUIDv4(), 'db1', now64(6) - INTERVAL 1 DAY, exp(randNormal(-5., 2.)), "
        "1 + number % 3, number % 5 FROM numbers(50000)"
    )
    exact = "quantilesExactWeighted(0.5, 0.95, 0.99)(query_time, toUInt64(weight))"
    bucketed = "quantilesExactWeighted(0.5, 0.95, 0.99)(query_time_of_bucket, toUInt64(round(weight)))"
    (raw,) = admin.rows(f"SELECT {exact} AS q FROM tailrace.query_events")
    with_buckets = admin.rows(
        "SELECT table FROM system.columns WHERE database = 'tailrace' AND name = 'query_time_of_bucket'"
    )
    assert with_buckets
    for row in with_buckets:
        (found,) = admin.rows(f"SELECT {bucketed} AS q FROM tailrace.{row['table']}")
        assert found["q"] == pytest.approx(raw["q"], rel=0.0101)


def test_time_zero_has_a_bucket_of_its_own(admin):
    rows = [{**event, "query_time": 0} for event in events(3)]
    admin.insert("tailrace.query_events", rows, async_insert=0)

    assert admin.rows("SELECT bucket, query_time_of_bucket AS value, count FROM tailrace.query_load_1m") == [
        {"bucket": -32768, "value": 0, "count": 3}
    ]


def test_a_superseded_dead_letter_replaces_the_first_also_on_another_day(admin):
    first = {**letter(), "seen_at": f"{NOW - timedelta(days=2):%Y-%m-%d %H:%M:%S}"}
    for row in ({**first, "superseded": True, "raw": "", "seen_at": f"{NOW:%Y-%m-%d %H:%M:%S}"}, first):
        admin.insert("tailrace.dead_letters", [row], async_insert=0)

    assert admin.rows("SELECT superseded, raw FROM tailrace.dead_letters FINAL") == [
        {"superseded": True, "raw": ""}
    ]


def test_a_fingerprint_knows_when_it_was_first_and_last_seen(admin):
    for hour in (11, 9, 10):
        row = {"query_id": 7, "rule_set": "tailrace-1", "fingerprint": "select ?", "verb": "SELECT"}
        seen = {"seen_at": f"{NOW:%Y-%m-%d} {hour:02}:00:00"}
        admin.insert("tailrace.fingerprints", [{**row, **seen}], async_insert=0)

    assert admin.rows(
        "SELECT toHour(first_seen_at) AS first, toHour(seen_at) AS last FROM tailrace.fingerprints FINAL"
    ) == [{"first": 9, "last": 11}]


def events(count: int) -> list[dict]:
    return [
        {
            "event_id": str(uuid.uuid4()),
            "instance": "db1",
            "source": "slowlog",
            "log": "/log/slow.log",
            "generation": 1,
            "entry_offset": 100 * number,
            "entry_bytes": 100,
            "event_time": f"{NOW:%Y-%m-%d %H:%M:%S}",
            "query_id": number % 3,
            "query_time": number / 7,
            "weight": 2,
        }
        for number in range(count)
    ]


def letter() -> dict:
    return {
        "dead_letter_id": str(uuid.UUID(int=5)),
        "instance": "db1",
        "log": "/log/slow.log",
        "stage": "FRAMER",
        "code": "STRAY_TEXT",
        "entry_bytes": 10,
        "raw": "x",
        "seen_at": f"{NOW:%Y-%m-%d %H:%M:%S}",
        "superseded": False,
    }
