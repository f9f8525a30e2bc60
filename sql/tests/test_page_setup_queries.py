"""Tests the queries of the page Setup at a fixed time, which they take as a parameter."""

from datetime import UTC, datetime, timedelta

import pytest

from tailrace.clickhouse.query_files import QUERIES
from tailrace.snapshots.rows import COSTS, PULL_COSTS, rows_of

NOW = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=2)
AT = {"now": f"{NOW:%Y-%m-%d %H:%M:%S}"}


def ago(**duration: float) -> str:
    return f"{NOW - timedelta(**duration):%Y-%m-%d %H:%M:%S.%f}"


@pytest.fixture
def ask(user):
    def run(name: str, instance: str = "", audience: str = "reader_security") -> list[dict]:
        text = (QUERIES / f"page_setup_{name}.sql").read_text()
        return user(audience).rows(text, {**AT, "instance": instance})

    return run


def log(instance: str, census: str, size: int, generation: int = 1, source: str = "audit", **more) -> dict:
    row = {"cluster": "shop", "instance": instance, "source": source, "log": f"/log/{source}.log"}
    return {**row, "generation": generation, "kind": "CENSUS", "inode": 7, "size": size, "at": census, **more}


def line(instance: str, at: str, to: int, generation: int = 1, source: str = "audit") -> dict:
    return log(instance, at, 0, generation, source, kind="FRONTIER", to_offset=to)


def test_logs_that_arrive_are_behind_or_silent(stored, ask):
    stored(
        "ledger",
        *(log("read", ago(hours=hours), 100) for hours in (30, 0)),
        line("read", ago(hours=30), 100),
        log("unread", ago(minutes=0), 300),
        line("unread", ago(hours=3), 100),
        log("silent", ago(hours=2), 300),
        line("silent", ago(hours=2), 300),
        log("no-line", ago(minutes=0), 0, generation=0),
        log("forgotten", ago(days=8), 100),
        log("read", ago(minutes=0), 50, source="slowlog"),
        line("read", ago(minutes=0), 50, source="slowlog"),
    )
    found = {(row["instance"], row["source"]): row for row in ask("logs")}
    assert {key: (row["state"], row["unread_bytes"], row["lag_seconds"]) for key, row in found.items()} == {
        ("read", "audit"): ("arriving", 0, 0),
        ("read", "slowlog"): ("arriving", 0, 0),
        ("unread", "audit"): ("behind", 200, 3 * 3600),
        ("silent", "audit"): ("silent", 0, None),
        ("no-line", "audit"): ("arriving", 0, 0),
    }
    assert found["no-line", "audit"]["read_at"] is None
    assert [row["source"] for row in ask("logs", "read", "reader_developer")] == ["audit", "slowlog"]


def test_the_current_file_of_a_rotated_log_counts(stored, ask):
    stored(
        "ledger",
        log("db1", ago(hours=2), 1000),
        line("db1", ago(hours=2), 1000),
        log("db1", ago(minutes=0), 1000),
        log("db1", ago(minutes=0), 20, generation=2),
        line("db1", ago(minutes=0), 20, generation=2),
        log("db2", ago(minutes=0), 40, generation=2),
        line("db2", ago(minutes=0), 1000, generation=1),
    )
    read, just_rotated = ask("logs")
    assert (read["state"], read["unread_bytes"]) == ("arriving", 0)
    assert (just_rotated["state"], just_rotated["unread_bytes"]) == ("arriving", 40)


def test_a_quiet_log_was_read_although_its_last_line_is_old(stored, ask):
    stored("ledger", line("db1", ago(days=9), 70), log("db1", ago(minutes=0), 70))
    (row,) = ask("logs")
    assert (row["state"], row["unread_bytes"], row["lag_seconds"]) == ("arriving", 0, 0)


def test_the_last_event_of_each_kind_of_log(stored, ask):
    whose = {"cluster": "shop", "instance": "db1"}
    stored("audit_events", {**whose, "source": "audit", "event_time": ago(hours=1)})
    stored("audit_events", {**whose, "source": "general", "event_time": ago(hours=2)})
    stored("error_events", {**whose, "source": "errorlog", "event_time": ago(hours=3)})
    stored("query_events", {**whose, "source": "slowlog", "event_time": ago(hours=4), "weight": 1})
    found = {row["source"]: row["last_event"] for row in ask("events") + ask("audit_events")}
    hours = {"audit": 1, "general": 2, "errorlog": 3, "slowlog": 4}
    assert found == {source: ago(hours=number)[:19] for source, number in hours.items()}


def test_spans(stored, ask):
    (none,) = ask("traces")
    assert (none["spans"], none["last_span"]) == (0, None)
    span = {"TraceId": "a", "SpanId": "b", "ServiceName": "shop", "query_id": 7}
    stored(
        "otel_traces", {**span, "Timestamp": ago(hours=1)}, {**span, "Timestamp": ago(hours=2), "query_id": 0}
    )
    (some,) = ask("traces")
    assert (some["spans"], some["statements"], some["services"]) == (2, 1, 1)
    assert some["last_span"] == ago(hours=1)[:19]


def snapshot(instance: str, kind: str, at: str, status: str = "ok") -> dict:
    known = {"product": "mariadb", "version": "10.11.6-MariaDB", "reason": "hourly", "part": 1, "parts": 1}
    return {"cluster": "shop", "instance": instance, "kind": kind, "at": at, "status": status, **known}


def test_snapshots_by_kind_and_servers_without_recent_ones(admin, user, ask):
    rows = [
        snapshot("db1", "settings", ago(hours=1)),
        snapshot("db1", "accounts", ago(hours=5)),
        snapshot("db1", "accounts", ago(hours=1), "denied"),
        snapshot("db2", "settings", ago(hours=4)),
    ]
    user("facts").insert("tailrace.server_snapshots", rows)
    found = [
        (row["instance"], row["kind"], row["status"], bool(row["is_silent"])) for row in ask("snapshots")
    ]
    assert found == [
        ("db1", "accounts", "denied", False),
        ("db1", "settings", "ok", False),
        ("db2", "settings", "ok", True),
    ]


def test_settings_of_the_last_snapshot(admin, user, settings, ask):
    settings(NOW - timedelta(hours=5), long_query_time="10", slow_query_log="OFF")
    settings(NOW - timedelta(hours=1), long_query_time="1", slow_query_log="ON")
    found = {row["key"]: row["attributes"]["value"] for row in ask("settings", "db1")}
    assert found == {"long_query_time": "1", "slow_query_log": "ON"}
    (slow,) = ask("slow_settings", "db1", "reader_developer")
    assert slow["settings"]["long_query_time"] == "1"
    assert ask("settings", "db2") == []


def rule(name: str, instance: str = "db1", source: str = "", **columns) -> dict:
    """An entry of the coverage as the detect job writes it; by default the rule can fire."""
    coverage = {"told_at": ago(hours=1), "changed_at": ago(hours=1), "in_force": True, "can_fire": True}
    whose = {"cluster": "shop", "instance": instance, "source": source, "rule_id": name}
    return {**whose, "rule_title": f"Rule {name}", "level": "high", **coverage, **columns}


def test_rules_that_cannot_fire_and_the_logs_that_would_help(stored, ask):
    stored(
        "rule_coverage",
        rule("a"),
        rule("a", source="audit"),
        rule("a", "db2", can_fire=False, reason="it is for another kind of log"),
        rule("b", "db2", level="low", can_fire=False, reason="why", missing_fields=["rows_sent"]),
        rule("gone", "db2", in_force=False),
    )
    found = [(row["rule_id"], row["can_fire"], row["fires_on"]) for row in ask("rules", "db2")]
    assert found == [("a", False, ["audit"]), ("b", False, [])]
    assert [(row["instance"], row["rules"], row["able"]) for row in ask("rule_counts")] == [
        ("db1", 1, 1),
        ("db2", 2, 0),
    ]


def test_costs_of_pulled_logs_count_once_although_the_loader_repeats_them(user, ask):
    periods = [(30, 29), (2, 1), (1, 0)]
    for since, at in periods:
        cost = {
            "source": "slowlog",
            "log": "/rds/a",
            "since": str((NOW - timedelta(hours=since)).timestamp()),
        }
        fact = {"key": "a", "since": 0.0, "attributes": {**cost, **dict.fromkeys(COSTS, str(since))}}
        record = {"v": 1, "cluster": "shop", "instance": "paid", "kind": PULL_COSTS, "facts": [fact]}
        ((table, row),) = rows_of({**record, "at": (NOW - timedelta(hours=at)).timestamp(), "changes": []})
        for _ in range(2):
            user("facts").insert(f"tailrace.{table}", [row])
    (found,) = ask("pull_costs", "paid", "reader_developer")
    assert {name: found[name] for name in COSTS} == dict.fromkeys(COSTS, 3)
    assert found["known_seconds"] == 2 * 3600


def test_requests_to_topics_and_event_hubs_are_unknown(user, ask):
    whose = {"cluster": "shop", "instance": "hubs", "source": "audit"}
    times = {"since": str(NOW - timedelta(hours=2))[:19], "at": str(NOW - timedelta(hours=1))[:19]}
    logs = ["/event_hubs/audit", "/otlp/logs", "/rds/audit"]
    rows = [
        {**whose, **times, "log": log, "requests": 0, "received_bytes": 7, "line_bytes": 5} for log in logs
    ]
    user("facts").insert("tailrace.pull_costs", rows)
    found = [(row["log"], row["requests"]) for row in ask("pull_costs", "hubs", "reader_developer")]
    assert found == list(zip(logs, [None, None, 0], strict=True))


def test_log_coverage_has_the_costs_of_a_range_with_the_lag_of_now(user, rendered, stored):
    now = datetime.now(UTC)

    def before(minutes: int) -> str:
        return f"{now - timedelta(minutes=minutes):%Y-%m-%d %H:%M:%S}"

    whose = {"cluster": "shop", "source": "audit", "log": "/log/audit.log"}
    costs = {"requests": 30, "received_bytes": 3000, "line_bytes": 2000}
    periods = [("db1", 180, 120), ("db1", 120, 60), ("db1", 9000, 8000), ("db2", 60, 50), ("db3", 60, 50)]
    rows = [
        {**whose, **costs, "instance": name, "since": before(since), "at": before(at)}
        for name, since, at in periods
    ]
    rows.append({**rows[0], "instance": "db4", "log": "/otlp/topic/audit/db4.events"})
    user("facts").insert("tailrace.pull_costs", rows + rows[:1])
    stored(
        "ledger",
        log("db1", before(0), 300),
        line("db1", before(60), 100),
        log("db2", before(60), 300),
    )
    span = ((now - timedelta(hours=24)).isoformat(), now.isoformat())
    found = user("reader_compliance").rows(rendered("pull_costs", *span))
    shown = {row["instance"]: row for row in found}
    first = shown["db1"]
    assert [first[name] for name in costs] == [60, 6000, 4000] and first["known_seconds"] == 7200
    assert (first["monthly_requests"], first["monthly_bytes"]) == (60 * 360, 6000 * 360)
    topic = shown["db4"]
    assert (topic["requests"], topic["monthly_requests"], topic["line_bytes"]) == (None, None, 2000)
    assert first["unread_bytes"] == 200 and 3600 <= first["lag_seconds"] < 3600 + 60
    unknown = [shown[name] for name in ("db2", "db3")]
    names = ("monthly_requests", "unread_bytes", "lag_seconds")
    assert [row[name] for row in unknown for name in names] == [None] * 6, (
        "a silent log, and one without census"
    )
