"""Tests over the wire that alert actions, reviews and exports can be added but not changed."""

import uuid

import pytest
from confluent_kafka import Producer

from e2e.alert_rows import alert
from tailrace.alerts import suppressions, triage
from tailrace.alerts.delivery.delivery_log import DELIVERED, Due, Outcome, Progress
from tailrace.alerts.delivery.selection import Selection
from tailrace.alerts.triage import Action, UnconfirmedError
from tailrace.clickhouse.client import ClickHouse, ClickHouseError, new_token

ACCESS_DENIED = 497
CONSTRAINT_VIOLATED = 469
SETTING_OUT_OF_RANGE = 452

ACTION = {"alert_id": str(uuid.UUID(int=7)), "actor": "erin", "action": "ack", "reason": "on it"}
SILENCE = {
    "silence_id": str(uuid.UUID(int=8)),
    "action": "begin",
    "rule": "r1",
    "entity": {"user": "backup"},
    "until": "2026-11-22 00:00:00",
    "actor": "erin",
    "reason": "planned dump",
}
DELIVERY = {
    "alert_id": str(uuid.UUID(int=7)),
    "channel": "siem",
    "count": 1,
    "attempt": 1,
    "outcome": "delivered",
    "detail": "HTTP 200",
}
REVIEW = {
    "review_id": str(uuid.UUID(int=9)),
    "actor": "ines",
    "scope": "all servers and logs",
    "period_from": "2026-11-20 00:00:00",
    "period_to": "2026-11-21 00:00:00",
    "finding": "nothing unusual",
}
EXPORT = {
    "export_id": str(uuid.UUID(int=10)),
    "actor": "ines",
    "framework": "pci",
    "period_from": "2026-11-20 00:00:00",
    "period_to": "2026-11-21 00:00:00",
    "manifest_sha256": "0" * 64,
    "file": "evidence.zip",
}

APPENDED = [
    ("analyst", "alert_actions", ACTION, "reason"),
    ("analyst", "silences", SILENCE, "reason"),
    ("delivery", "alert_deliveries", DELIVERY, "detail"),
    ("auditor", "reviews", REVIEW, "finding"),
    ("auditor", "evidence_exports", EXPORT, "file"),
]


def insert(clickhouse: ClickHouse, table: str, row: dict) -> None:
    """Names the columns, so that the server fills in those that no user can set."""
    clickhouse.insert(f"tailrace.{table} ({', '.join(row)})", [row])


def refused(code: int, clickhouse: ClickHouse, statement: str, **settings) -> None:
    with pytest.raises(ClickHouseError) as error:
        clickhouse.execute(statement, **settings)
    assert error.value.code == code, error.value


@pytest.mark.parametrize(("account", "table", "row", "changed"), APPENDED)
def test_rows_are_added_and_stay_as_they_are(admin, user, account, table, row, changed):
    insert(user(account), table, row)
    before = admin.rows(f"SELECT * FROM tailrace.{table}")
    assert len(before) == 1

    for statement in (
        f"ALTER TABLE tailrace.{table} UPDATE {changed} = '' WHERE 1",
        f"ALTER TABLE tailrace.{table} DELETE WHERE 1",
        f"DELETE FROM tailrace.{table} WHERE 1",
        f"ALTER TABLE tailrace.{table} DROP COLUMN {changed}",
        f"ALTER TABLE tailrace.{table} MODIFY TTL at + INTERVAL 1 SECOND",
        f"ALTER TABLE tailrace.{table} DROP PARTITION ID 'all'",
        f"ALTER TABLE tailrace.{table} MODIFY SETTING non_replicated_deduplication_window = 0",
        f"TRUNCATE TABLE tailrace.{table}",
        f"DROP TABLE tailrace.{table}",
        f"RENAME TABLE tailrace.{table} TO tailrace.gone",
        f"OPTIMIZE TABLE tailrace.{table} FINAL",
    ):
        refused(ACCESS_DENIED, user(account), statement)
    assert admin.rows(f"SELECT * FROM tailrace.{table}") == before


@pytest.mark.parametrize(("account", "table", "row", "changed"), APPENDED)
def test_time_and_account_are_the_servers(admin, user, account, table, row, changed):
    for column, value in (("at", "2020-01-01 00:00:00"), ("account", "somebody")):
        if column == "account" and table == "alert_deliveries":
            continue
        with pytest.raises(ClickHouseError) as error:
            insert(user(account), table, {**row, column: value})
        assert error.value.code == ACCESS_DENIED
    began = admin.rows("SELECT toString(now()) AS at")[0]["at"]
    insert(user(account), table, row)
    found = f"SELECT at BETWEEN {{began:DateTime}} AND now64(6) AS own FROM tailrace.{table}"
    assert admin.rows(found, {"began": began}) == [{"own": 1}]


def test_a_silence_may_be_unconfirmed(user):
    insert(user("analyst"), "silences", {**SILENCE, "action": "unconfirmed"})


def test_an_end_that_kafka_did_not_confirm_is_recorded_as_unknown(user):
    insert(user("analyst"), "silences", {**SILENCE, "until": "2099-01-01 00:00:00"})
    nowhere = Producer({"bootstrap.servers": "127.0.0.1:1", "message.timeout.ms": 100, "log_level": 0})
    with pytest.raises(UnconfirmedError, match="it may or may not have ended"):
        suppressions.lift(user("analyst"), nowhere, SILENCE["silence_id"], "frank", "done")
    (row,) = suppressions.history(user("analyst"))
    assert (row["state"], row["actor"]) == ("unconfirmed", "erin")


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("alert_actions", {**ACTION, "action": "delete"}),
        ("alert_actions", {**ACTION, "actor": ""}),
        ("alert_actions", {**ACTION, "reason": ""}),
        ("alert_actions", {**ACTION, "assignee": "frank"}),
        ("alert_actions", {**ACTION, "action": "assign"}),
        ("silences", {**SILENCE, "actor": ""}),
        ("silences", {**SILENCE, "reason": ""}),
        ("silences", {**SILENCE, "action": "forever"}),
        ("reviews", {**REVIEW, "actor": ""}),
        ("reviews", {**REVIEW, "scope": ""}),
        ("reviews", {**REVIEW, "finding": ""}),
        ("reviews", {**REVIEW, "period_to": REVIEW["period_from"]}),
        ("evidence_exports", {**EXPORT, "actor": ""}),
        ("evidence_exports", {**EXPORT, "manifest_sha256": ""}),
    ],
)
def test_an_action_has_author_step_and_reason(admin, user, table, row):
    account = "auditor" if table in ("reviews", "evidence_exports") else "analyst"
    with pytest.raises(ClickHouseError) as error:
        insert(user(account), table, row)
    assert error.value.code == CONSTRAINT_VIOLATED


@pytest.mark.parametrize("table", ["alerts", "audit_events", "query_samples", "alert_deliveries"])
def test_an_analyst_adds_to_nothing_else(admin, user, table):
    refused(ACCESS_DENIED, user("analyst"), f"INSERT INTO tailrace.{table} SELECT * FROM tailrace.{table}")


@pytest.mark.parametrize("table", ["alert_actions", "silences", "alerts"])
def test_the_delivery_service_adds_to_nothing_else(admin, user, table):
    refused(ACCESS_DENIED, user("delivery"), f"INSERT INTO tailrace.{table} SELECT * FROM tailrace.{table}")


def test_an_action_that_was_answered_is_there(admin, user):
    row = f"INSERT INTO tailrace.alert_actions ({', '.join(ACTION)}) VALUES"
    values = "('00000000-0000-0000-0000-000000000009', 'erin', 'ack', 'x')"
    refused(SETTING_OUT_OF_RANGE, user("analyst"), f"{row} {values}", async_insert=1)


@pytest.mark.parametrize("table", ["alerts", "alert_actions", "silences", "alert_deliveries"])
def test_who_may_read_audit_logs_reads_alerts(admin, user, table):
    for reader in ("reader_compliance", "reader_security", "analyst", "delivery"):
        user(reader).execute(f"SELECT * FROM tailrace.{table} LIMIT 1")
    refused(ACCESS_DENIED, user("reader_developer"), f"SELECT * FROM tailrace.{table} LIMIT 1")


def test_equal_actions_at_different_times_are_all_recorded(admin, server):
    """ClickHouse drops an insert that is equal to an earlier one: the time is not part of what is sent."""
    row = alert()
    admin.insert("tailrace.alerts", [row])
    analyst = server.user("analyst")
    close = Action("close", "erin", "planned")
    for action in (close, Action("reopen", "erin", "again"), close):
        triage.record_action(analyst, [row["alert_id"]], action)
    details = triage.read(analyst, row["alert_id"])
    assert [each["action"] for each in details.actions] == ["close", "reopen", "close"]
    assert details.state["state"] == "closed"


def test_equal_deliveries_are_all_recorded(admin, server):
    """Of an alert that was resolved and reopened: without the second row it would stay due."""
    progress = Progress(server.user("delivery"), "siem", Selection())
    for _ in range(2):
        due = Due({"alert_id": ACTION["alert_id"], "count": 1}, 1, 0)
        progress.record([due], Outcome(DELIVERED, "ok"), new_token())
    (found,) = admin.rows("SELECT count() AS n FROM tailrace.alert_deliveries")
    assert found["n"] == 2
