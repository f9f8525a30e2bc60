"""Tests the audit status of servers (evidence_servers.sql), as the dashboard Log coverage shows it."""

import uuid
from datetime import timedelta

from compliance_rows import NOW, ago, asking, posting, stored


def test_servers_without_data_are_listed(admin, user, rendered):
    ask = asking(user, rendered)
    at = f"{NOW - timedelta(hours=1):%F %T}"
    stored(admin, "server_snapshots", {"instance": "db9", "kind": "server", "at": at, "status": "ok"})
    stored(admin, "ledger", *(posting(NOW - timedelta(minutes=number), 10) for number in range(1, 5)))
    found = {row["instance"]: (row["state"], row["is_unaudited"]) for row in ask("coverage_servers")}
    assert found["db9"] == ("no audit log", True)
    since = f"audit log watched since {NOW - timedelta(minutes=4):%F %H:%M} UTC"
    assert found["db1"] == (since, False)

    event = {"event_id": str(uuid.uuid4()), "instance": "db1", "source": "audit", "event_class": "query"}
    stored(admin, "audit_events", {**event, "event_time": ago(40)})
    later = {**event, "event_id": str(uuid.uuid4()), "instance": "db2", "event_time": ago(1)}
    stored(admin, "audit_events", later)
    shown = {row["instance"]: row for row in ask("coverage_servers")}
    assert (
        shown["db2"]["state"].startswith("audit log read later") and shown["db2"]["audit_sources"] == "audit"
    )
    states = {instance: row["state"] for instance, row in shown.items()}
    assert states["db1"] == f"{since}, records from {ago(40)[:10]}", "older records were read later"
