"""Tests the queries about rules, their coverage and their alerts on rows with known results."""

import json
import uuid
from datetime import timedelta
from urllib.parse import unquote

import pytest
from security_rows import NOW, RANGE, alert_of, asking, at, audit, denied_message, login, slow

from tailrace.alerts import triage
from tailrace.alerts.entity_key import entity_key, in_words
from tailrace.config.resources import ROOT
from tailrace.dashboards import asset_files

CONTRACTS = ROOT / "schemas" / "contracts"


@pytest.fixture
def ask(user, rendered):
    return asking(user, rendered)


def test_an_alert_leads_to_what_its_client_or_user_did(stored, ask):
    record = audit(30)
    stored(
        "alerts",
        alert_of(record, user="app", src_ip="10.0.3.9", cluster="client"),
        alert_of(record, user="app", cluster="user"),
        alert_of(record, cluster="server"),
        alert_of(record, instance="", cluster="none"),
    )
    found = {row["cluster"]: unquote(row["link"]) for row in ask("alerts_shown")}
    assert "col:src_ip,op:IN,val:!('10.0.3.9')" in found["client"]
    assert "col:user,op:IN,val:!('app')" in found["user"]
    assert "col:instance,op:IN,val:!('db1')" in found["server"] and "col:user" not in found["server"]
    assert found["none"].startswith('<a href="/tailrace/alerts/') and "session" not in found["none"]


@pytest.mark.parametrize(
    "entity",
    [
        {"instance": "db1", "user": "app", "src_ip": "10.0.3.9"},
        {"user": "app", "host": "web-1", "query_id": "5b54b1a5b88505b3"},
        {"src_ip": "10.0.3.9", "query_id": "5b54b1a5b88505b3", "user": "app"},
        {"cluster": "shop", "instance": "db1"},
        {"log": "/var/log/mysql/audit.log"},
        {},
    ],
)
def test_a_list_of_alerts_names_their_entity_as_pages_do(stored, ask, entity):
    stored("alerts", alert_of(audit(30), entity=entity, entity_key=entity_key(entity)))
    (row,) = ask("alerts_shown")
    assert row["entity_key"] == in_words(entity)


def test_alerts_by_rule_have_one_row_per_rule(stored, user, rendered):
    """Also for alerts of several severities, and with several tactics."""
    tags = ["attack.collection", "attack.exfiltration"]
    stored("alerts", *(alert_of(audit(30), level=level, tags=tags) for level in ("low", "critical", "low")))
    assets = {(each.kind, each.name): each.content for each in asset_files.load()}
    chart = assets["charts", "rules_alerts"]["params"]
    metrics = {
        each["metric_name"]: each["expression"] for each in assets["datasets", "alerts_timeline"]["metrics"]
    }
    shown = [*chart["groupby"], *(f"{metrics[name]} AS {name}" for name in chart["metrics"])]
    rows = f"SELECT *, 1 AS counted FROM ({rendered('alerts_timeline', *RANGE)})"
    (row,) = user("reader_security").rows(
        f"SELECT {', '.join(shown)} FROM ({rows}) GROUP BY {', '.join(chart['groupby'])}"
    )
    assert (row["rule_title"], int(row["cnt_alerts"])) == ("Rule", 3)
    assert (row["its_levels"], row["its_tactics"]) == ("critical, low", "Collection, Exfiltration")


def test_an_entity_with_unusual_characters_keeps_its_key(stored, ask):
    entity = {"user": "a b"}
    stored("alerts", alert_of(audit(30), entity=entity, entity_key=entity_key(entity)))
    assert ask("alerts_shown")[0]["entity_key"] == 'user="a b"'


def test_classes_of_events_that_each_server_sends(stored, ask):
    stored("audit_events", login(30), audit(20), audit(10), audit(10, source="general", instance="db2"))
    stored("query_events", slow(30, query_id=5))
    stored("error_events", denied_message(30))
    logs = ask("rule_server_logs")
    found = {(row["instance"], row["log"], row["event_class"]): row["record_count"] for row in logs}
    assert found == {
        ("db1", "audit", "connection"): 1,
        ("db1", "audit", "query"): 2,
        ("db1", "slowlog", "query"): 1,
        ("db1", "errorlog", "message"): 1,
        ("db2", "general", "query"): 1,
    }


def test_the_latest_accepted_push_is_in_force(stored, ask):
    said = {"pushed_by": "ann", "rules": 140, "detectors": 15}
    stored(
        "rule_pushes",
        {**said, "push_id": "a", "at": at(30), "accepted": True},
        {**said, "push_id": "b", "at": at(20), "accepted": True},
        {**said, "push_id": "b", "at": at(20), "accepted": True},
        {**said, "push_id": "c", "at": at(10), "accepted": False},
    )
    found = sorted((row["event_time"], row["outcome"]) for row in ask("rule_pushes"))
    assert [outcome for _, outcome in found] == ["accepted", "active", "refused"]


def answer(rule: str, instance: str = "db1", source: str = "", minutes_ago: float = 30, **columns) -> dict:
    """A rule coverage entry of the detect job; by default the rule can fire."""
    return {
        "cluster": "shop",
        "instance": instance,
        "source": source,
        "rule_id": rule,
        "rule_title": f"Rule {rule}",
        "level": "high",
        "tags": ["attack.credential-access", "attack.t1110"],
        "can_fire": True,
        "in_force": True,
        "changed_at": at(minutes_ago),
        "told_at": at(minutes_ago),
        **columns,
    }


LACKING = {"can_fire": False, "missing_fields": ["rows_sent"], "missing_classes": ["query"], "reason": "why"}


def test_where_rules_can_fire_and_what_they_lack_elsewhere(stored, ask):
    stored(
        "rule_coverage",
        answer("a"),
        answer("a", source="audit"),
        answer("a", source="errorlog", can_fire=False),
        answer("a", instance="db2", **LACKING),
        answer("a", instance="db2", source="audit", **LACKING),
        answer("b"),
        answer("b", source="audit", **LACKING),
        answer("b", instance="db2", can_fire=False, reason="it is for another kind of log", tags=[]),
    )
    found = {(row["rule_title"], row["instance"]): row for row in ask("rule_coverage")}
    assert {key: (row["fires"], row["fires_on"], row["missing"]) for key, row in found.items()} == {
        ("Rule a", "db1"): ("yes", "audit", ""),
        ("Rule a", "db2"): ("no", "", "events of the class query, rows_sent"),
        ("Rule b", "db1"): ("yes", "several together", ""),
        ("Rule b", "db2"): ("no", "", "another kind of log"),
    }
    assert found["Rule a", "db2"]["reason"] == "why"
    assert {row["tactic"] for row in found.values()} == {"Credential Access", "(none)"}


def test_why_a_rule_cannot_fire_is_one_line_for_each_log(stored, ask):
    cases = json.loads((CONTRACTS / "coverage_reason.json").read_text())
    rules = {f"Rule {number}": case for number, case in enumerate(cases)}
    given = (
        answer(title.removeprefix("Rule "), **{**LACKING, "reason": case["reason"]})
        for title, case in rules.items()
    )
    stored("rule_coverage", *given)
    shown = {row["rule_title"]: row["reason"] for row in ask("rule_coverage")}
    assert shown == {title: case["dashboard"] for title, case in rules.items()}


def test_the_latest_answer_counts_and_none_is_left_of_a_rule_that_is_gone(stored, ask):
    stored("rule_coverage", answer("a", **LACKING), answer("b"), answer("c"))
    stored("rule_coverage", answer("a", minutes_ago=20), answer("b", minutes_ago=20, in_force=False))
    stored("rule_coverage", answer("a", minutes_ago=40, **LACKING))
    assert sorted((row["rule_id"], row["fires"]) for row in ask("rule_coverage")) == [
        ("a", "yes"),
        ("c", "yes"),
    ]


def test_alerts_of_a_rule_in_the_range_and_ever(stored, ask):
    stored("rule_coverage", answer("a"), answer("a", instance="db2"), answer("b"))
    fired = {"rule_id": "a", "level": "high", "seen_at": at(), "updated_at": at()}
    stored(
        "alerts",
        {**fired, "alert_id": str(uuid.uuid4()), "instance": "db1", "event_time": at(10)},
        {**fired, "alert_id": str(uuid.uuid4()), "instance": "db1", "event_time": at(5), "silenced": True},
        {**fired, "alert_id": str(uuid.uuid4()), "instance": "db1", "event_time": at(600)},
        {**fired, "alert_id": str(uuid.uuid4()), "instance": "db2", "event_time": at(600)},
    )
    found = {(row["rule_id"], row["instance"]): row for row in ask("rule_coverage")}
    assert {key: row["alert_count"] for key, row in found.items()} == {
        ("a", "db1"): 2,
        ("a", "db2"): 0,
        ("b", "db1"): 0,
    }
    assert found["a", "db2"]["last_alert"] == f"{NOW - timedelta(minutes=600):%Y-%m-%d %H:%M:%S}"
    assert found["a", "db2"]["last_alert_anywhere"] == f"{NOW - timedelta(minutes=5):%Y-%m-%d %H:%M:%S}"
    assert found["b", "db1"]["last_alert"] is None and found["b", "db1"]["last_alert_anywhere"] is None


def test_alerts_are_listed_by_level_and_by_the_time_of_their_events(stored, user):
    # (level, minutes since the event, minutes since its detection): a log that is read late is detected last.
    raised = [("low", 1, 1), ("critical", 90, 2), ("high", 30, 29), ("high", 1000, 0)]
    stored(
        "alerts",
        *(
            alert_of(audit(event), level=level, rule_title=f"{level} {event}", updated_at=at(detected))
            for level, event, detected in raised
        ),
    )
    rows, total = triage.list_worst(user("analyst"), triage.AlertQuery(), 3)
    assert [row["rule_title"] for row in rows] == ["critical 90", "high 30", "high 1000"]
    assert total == 4
