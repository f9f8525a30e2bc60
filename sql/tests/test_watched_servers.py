"""What the metrics say of servers whose audit events or signatures stop."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from ledger_fixture import LedgerRows

from tailrace.clickhouse.client import ClickHouse
from tailrace.health import watched_servers
from tailrace.snapshots.rows import rows_of

NOW = datetime.now(UTC).replace(microsecond=0)
EARLY, BEFORE, LATER = (NOW - timedelta(hours=hours) for hours in (5, 3, 2))
SNAPSHOT = NOW - timedelta(minutes=20)
EVERYTHING = '{ "filter": { "log": true } }'


def snapshot(
    admin: ClickHouse, instance: str, kind: str, since: datetime, status: str = "ok", **facts: dict[str, str]
) -> None:
    record = {
        "v": 1,
        "at": SNAPSHOT.timestamp(),
        "cluster": "shop",
        "instance": instance,
        "product": "mysql",
        "version": "8.4",
        "kind": kind,
        "reason": "hourly",
        "status": status,
        "error": "",
        "truncated": False,
        "part": 1,
        "parts": 1,
        "changes": [],
        "facts": [
            {"key": key, "since": since.timestamp(), "attributes": attributes}
            for key, attributes in facts.items()
        ],
    }
    for table, row in rows_of(record):
        admin.insert(f"tailrace.{table}", [row], async_insert=0)


def auditing(
    admin: ClickHouse,
    instance: str,
    settings: dict[str, str] | None = None,
    active: str = "yes",
    since: datetime = EARLY,
    **facts: dict[str, str],
) -> None:
    snapshot(admin, instance, "audit", since, auditing={"active": active}, **facts)
    values = {key: {"value": value} for key, value in (settings or {}).items()}
    snapshot(admin, instance, "settings", EARLY, **values)


def audited(admin: ClickHouse, instance: str, at: datetime, source: str = "audit", user: str = "app") -> None:
    row = {
        "event_id": str(uuid.uuid4()),
        "instance": instance,
        "source": source,
        "user": user,
        "event_class": "query",
        "event_time": f"{at:%Y-%m-%d %H:%M:%S}",
    }
    admin.insert("tailrace.audit_events", [row], async_insert=0)


def executed(admin: ClickHouse, instance: str, at: datetime, user: str = "app") -> None:
    row = {"instance": instance, "user": user, "minute": f"{at:%Y-%m-%d %H:%M:00}", "count": 1, "weight": 1}
    admin.insert("tailrace.query_load_1m", [row], async_insert=0)


def counted(admin: ClickHouse, instance: str, at: datetime, statements: int) -> None:
    row = {
        "instance": instance,
        "digest": "d",
        "at": f"{at:%Y-%m-%d %H:%M:%S}",
        "first_seen": f"{EARLY:%Y-%m-%d %H:%M:%S}",
        "statements": statements,
    }
    admin.insert("tailrace.digest_samples", [row], async_insert=0)


def states(reader: ClickHouse) -> dict[str, str]:
    return {
        sample.labels["instance"]: sample.labels["state"]
        for metric in watched_servers.metrics_of(reader, NOW.timestamp())
        for sample in metric.samples
        if metric.name == "tailrace_audit_state" and sample.value
    }


def values(reader: ClickHouse, name: str) -> dict[str, float]:
    return {
        sample.labels["instance"]: sample.value
        for metric in watched_servers.metrics_of(reader, NOW.timestamp())
        for sample in metric.samples
        if metric.name == name
    }


def test_statements_without_audit_events_are_silence(admin, user):
    for instance in ("slow-log", "general-log", "digests"):
        auditing(admin, instance)
        audited(admin, instance, BEFORE)
    executed(admin, "slow-log", LATER)
    audited(admin, "general-log", LATER, source="general")
    counted(admin, "digests", BEFORE, 1)
    counted(admin, "digests", LATER, 2)
    auditing(admin, "never")
    executed(admin, "never", LATER)

    reader = user("reader_compliance")
    assert states(reader) == dict.fromkeys(("slow-log", "general-log", "digests", "never"), "silent")
    seconds = values(reader, "tailrace_audit_silent_seconds")
    assert seconds["general-log"] == seconds["digests"] == 3600
    assert seconds["slow-log"] == pytest.approx(3600, abs=60)
    assert seconds["never"] == pytest.approx(3 * 3600, abs=60)


def test_a_server_without_statements_is_quiet(admin, user):
    auditing(admin, "idle")
    auditing(admin, "audited")
    audited(admin, "audited", LATER)
    executed(admin, "audited", BEFORE)
    counted(admin, "idle", BEFORE, 1)
    counted(admin, "idle", LATER, 1)

    reader = user("reader_compliance")
    assert states(reader) == {"idle": "quiet", "audited": "writing"}
    assert values(reader, "tailrace_audit_silent_seconds") == {"idle": 0, "audited": 0}


def test_auditing_that_was_switched_on_later_is_not_silent(admin, user):
    auditing(admin, "new", since=LATER)
    executed(admin, "new", BEFORE)
    assert states(user("reader_compliance")) == {"new": "quiet"}


def test_an_excluded_user_needs_no_audit_event(admin, user):
    for instance in ("excluded", "also-others"):
        auditing(admin, instance, {"server_audit_excl_users": "monitor, Tailrace"})
        executed(admin, instance, LATER, user="tailrace")
        counted(admin, instance, BEFORE, 1)
        counted(admin, instance, LATER, 2)
    executed(admin, "also-others", LATER)
    assert states(user("reader_compliance")) == {"excluded": "quiet", "also-others": "silent"}


def test_an_audit_log_of_some_statements_proves_nothing_by_its_silence(admin, user):
    restricted = {
        "logins": {"audit_log_policy": "LOGINS"},
        "changes": {"server_audit_events": "CONNECT,QUERY_DDL"},
        "some-users": {"server_audit_incl_users": "dba"},
        "some-databases": {"audit_log_include_databases": "shop"},
    }
    complete = {
        "all": {"audit_log_policy": "ALL", "audit_log_include_databases": ""},
        "queries": {"server_audit_events": "connect,query"},
    }
    for instance, settings in {**restricted, **complete}.items():
        auditing(admin, instance, settings)
    auditing(admin, "filtered", **{"filter some": {"name": "some", "filter": '{"filter": {"class": []}}'}})
    auditing(admin, "unfiltered", **{"filter all": {"name": "all", "filter": EVERYTHING}})
    for instance in (*restricted, *complete, "filtered", "unfiltered"):
        executed(admin, instance, LATER)

    assert states(user("reader_compliance")) == {
        **dict.fromkeys((*restricted, "filtered"), "unknown"),
        **dict.fromkeys((*complete, "unfiltered"), "silent"),
    }


def test_a_server_that_says_nothing_of_its_auditing_is_unknown(admin, user):
    auditing(admin, "off", active="no")
    auditing(admin, "unreadable", active="unknown")
    auditing(admin, "denied")
    later = SNAPSHOT + timedelta(minutes=1)
    row = {"instance": "denied", "kind": "audit", "at": f"{later:%Y-%m-%d %H:%M:%S}", "status": "denied"}
    admin.insert("tailrace.server_snapshots", [row], async_insert=0)
    for instance in ("off", "unreadable", "denied"):
        executed(admin, instance, LATER)

    reader = user("reader_compliance")
    assert states(reader) == {"off": "off", "unreadable": "unknown", "denied": "unknown"}
    assert values(reader, "tailrace_audit_silent_seconds") == {}


def test_changes_of_auditing_count_for_a_day(admin, user):
    for instance, kind, key, at in (
        ("filter", "audit", "filter all", LATER),
        ("variable", "settings", "server_audit_events", LATER),
        ("other", "settings", "long_query_time", LATER),
        ("old", "audit", "plugin SERVER_AUDIT", NOW - timedelta(hours=30)),
    ):
        row = {"instance": instance, "kind": kind, "key": key, "change": "changed", "at": f"{at:%F %T}"}
        admin.insert("tailrace.server_changes", [row], async_insert=0)
    assert values(user("reader_compliance"), "tailrace_recent_audit_changes") == {"filter": 1, "variable": 1}


def signed(admin: ClickHouse, instance: str, to: int, generation: int = 1) -> None:
    row = {
        "instance": instance,
        "source": "slowlog",
        "log": "/log/slow.log",
        "generation": generation,
        "to_offset": to,
        "host": "db-1",
        "payload_sha256": f"{instance} {to} {generation}",
        "status": "verified",
        "signed_at": f"{BEFORE:%Y-%m-%d %H:%M:%S}",
        "verified_at": f"{BEFORE:%Y-%m-%d %H:%M:%S}",
    }
    admin.insert("tailrace.signed_ranges", [row], async_insert=0)


def test_lines_without_a_signature_count_since_they_arrived(admin, user):
    for instance in ("signed", "unsigned", "rotated", "never"):
        LedgerRows(instance, at=BEFORE).reached(200).store(admin)
        if instance != "never":
            signed(admin, instance, 200)
    for at in (LATER, NOW):
        LedgerRows("unsigned", at=at).reached(300).store(admin)
    LedgerRows("rotated", generation=2, at=NOW - timedelta(hours=1)).reached(100).store(admin)

    assert values(user("reader_compliance"), "tailrace_unsigned_seconds") == {
        "unsigned": 7200,
        "rotated": 3600,
    }
    signed(admin, "unsigned", 300)
    signed(admin, "rotated", 100, generation=2)
    assert values(user("reader_compliance"), "tailrace_unsigned_seconds") == {}
