"""Alerts for the browser tests, inserted like those of the detect job, with triage actions on some."""

from e2e.alert_rows import alert, evidence, grown
from tailrace.clickhouse.client import ClickHouse

OTHER_RULE = "Schema enumeration"
ODD_USER = "o'brien! & söhne (50%)"


def insert(clickhouse: ClickHouse) -> list[dict]:
    """Inserts the alerts and returns their latest rows, each with `status`."""
    rows = [
        {**alert(minutes_ago=150, level="critical"), "status": "open"},
        {**grown(alert(minutes_ago=90), 7), "status": "acknowledged"},
        {**alert(minutes_ago=80, silenced=True), "status": "silenced"},
        {**_about(ODD_USER, minutes_ago=70), "status": "open"},
        {
            **_about(ODD_USER, minutes_ago=20, rule_title="Schema enumeration", level="low"),
            "status": "closed",
        },
        {**_about("backup", minutes_ago=10, tags=["attack.collection"]), "status": "open"},
    ]
    clickhouse.insert("tailrace.alerts", [_stored(row) for row in rows], async_insert=0)
    actions = {"acknowledged": "ack", "closed": "close"}
    clickhouse.insert(
        "tailrace.alert_actions (alert_id, actor, action, reason)",
        [
            {"alert_id": row["alert_id"], "actor": "erin", "action": actions[row["status"]], "reason": "seen"}
            for row in rows
            if row["status"] in actions
        ],
        async_insert=0,
    )
    clickhouse.insert("tailrace.audit_events", [_event(row) for row in rows], async_insert=0)
    return rows


def _about(user: str, **fields) -> dict:
    return alert(entity={"user": user}, user=user, **fields)


def _stored(row: dict) -> dict:
    return {name: value for name, value in row.items() if name != "status"}


def _event(row: dict) -> dict:
    return evidence(row, user=row["user"].title())  # servers regard the case of names, correlations do not
