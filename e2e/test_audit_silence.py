"""A server that executes statements and writes no audit log, although its settings say so."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from e2e.health import await_alert, await_cleared
from e2e.stack import Stack
from tailrace.sources.sources_file import Source

INSTANCE = "silent-shop"


@pytest.fixture(scope="module")
def stack(detecting: Stack) -> Stack:
    return detecting


def audit_record(at: datetime) -> bytes:
    """A record of MariaDB's server_audit."""
    return f"{at:%Y%m%d %H:%M:%S},{INSTANCE},app,10.9.8.7,7,8,QUERY,shop,'SELECT 1',0\n".encode()


def slow_entry(at: datetime) -> bytes:
    """An entry of MariaDB's slow log."""
    return (
        f"# Time: {at:%y%m%d %H:%M:%S}\n# User@Host: app[app] @ web-1 [10.9.8.7]\n"
        "# Thread_id: 7  Schema: shop  QC_hit: No\n"
        "# Query_time: 2.000000  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 1\n"
        f"SET timestamp={at.timestamp():.0f};\nSELECT SLEEP(2);\n"
    ).encode()


def store_snapshot(stack: Stack, now: datetime) -> None:
    """The facts of a server that audits, and a change of what it audits."""
    kind = {"instance": INSTANCE, "kind": "audit", "cluster": "shop"}
    at, early = f"{now:%F %T}", f"{now - timedelta(hours=5):%F %T}"
    fact = {"key": "auditing", "since": early, "last_seen": at, "attributes": {"active": "yes"}}
    rows = {
        "server_facts": {**kind, **fact},
        "server_snapshots": {**kind, "at": at, "status": "ok", "part": 1, "parts": 1},
        "server_changes": {
            **kind,
            "kind": "settings",
            "key": "server_audit_events",
            "change": "changed",
            "at": at,
        },
    }
    for table, row in rows.items():
        stack.clickhouse().insert(f"tailrace.{table}", [row], async_insert=0)


def test_a_server_that_audits_nothing_and_changed_settings_raise_alerts(stack: Stack, tmp_path: Path):
    audit, slow = (tmp_path / name for name in ("server_audit.log", "slow.log"))
    now = datetime.now(UTC)  # not that of the import, after which other tests may run for an hour
    audit.write_bytes(audit_record(now - timedelta(hours=3)))
    slow.write_bytes(slow_entry(now - timedelta(hours=1)))
    store_snapshot(stack, now)
    stack.watch_sources(
        [
            Source(INSTANCE, "audit", audit.resolve(), "shop", "UTC"),
            Source(INSTANCE, "slowlog", slow.resolve(), "shop", "UTC"),
        ]
    )
    await_alert(stack, "TailraceAuditSilent", instance=INSTANCE)
    await_alert(stack, "TailraceAuditChanged", instance=INSTANCE, key="server_audit_events")

    with audit.open("ab") as log:
        log.write(audit_record(now))
    await_cleared(stack, "TailraceAuditSilent", instance=INSTANCE)
    stack.clickhouse().execute(
        "ALTER TABLE tailrace.server_changes DELETE WHERE instance = {instance:String}",
        {"instance": INSTANCE},
        mutations_sync=2,
    )
    await_cleared(stack, "TailraceAuditChanged", instance=INSTANCE)
