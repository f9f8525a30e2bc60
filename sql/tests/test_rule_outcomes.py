"""Tests the proposals of exceptions on stored alerts: the query, the evaluation on all alerts, the rights."""

import pytest

from e2e.alert_rows import RULE, alert, grown
from tailrace.alerts import exception_proposals, triage
from tailrace.alerts.triage import Action
from tailrace_pages.queries import text_of

DAYS = 24 * 60


@pytest.fixture
def closed(admin, user):
    """Inserts an alert of some days ago about a user, closes it with a verdict, and returns its id."""

    def insert(name: str, verdict: str | None, days_ago: int = 3, **fields) -> str:
        row = alert(days_ago * DAYS, **{"entity": {"user": name}, "level": "low", **fields})
        admin.insert("tailrace.alerts", [row, grown(row, 4)])
        id_ = row["alert_id"].replace("-", "")
        if verdict is not None:
            triage.record_action(user("analyst"), [id_], Action("close", "erin", "test", verdict=verdict))
        return id_

    return insert


@pytest.fixture
def rules(user):
    def read(audience: str = "analyst", rule: str = "", since: str = "2000-01-01 00:00:00"):
        given = {"rule": rule, "since": since}
        return exception_proposals.rules_of(user(audience).rows(text_of("rule_outcomes"), given))

    return read


def test_closed_alerts_of_one_entity_become_a_proposal(closed, rules):
    ids = sorted(closed("etl", verdict) for verdict in ("benign", "false positive", "benign"))
    closed("mallory", "true positive")
    closed("ann", None)
    (rule,) = rules()
    (proposal,), refused = exception_proposals.proposed(rule)
    assert (rule.id, rule.title, rule.alerts, refused) == (RULE, "Dump-like read", 5, [])
    assert dict(proposal.selection.fields) == {"user": ["etl"]}
    assert dict(proposal.suppressed) == {"benign": 2, "false positive": 1}
    assert (proposal.matches, list(proposal.ids)) == (12, ids)


def test_reopened_and_acknowledged_alerts_are_open(closed, rules, user):
    for _ in range(3):
        closed("etl", "benign")
    reopened = closed("etl", "benign")
    triage.record_action(user("analyst"), [reopened], Action("reopen", "erin", "test"))
    triage.record_action(user("analyst"), [reopened], Action("ack", "erin", "test"))
    (rule,) = rules()
    accepted, (refused,) = exception_proposals.proposed(rule)
    assert accepted == [] and list(refused.blocking) == [reopened]


def test_rules_without_alerts_closed_since_then_are_left_out(closed, rules):
    closed("etl", "benign")
    closed("etl", "benign", rule_id="other", rule_title="Other")
    closed("etl", "true positive", rule_id="third")
    assert {each.id for each in rules()} == {RULE, "other"}
    assert [each.id for each in rules(rule="other")] == ["other"]
    assert rules(since="2099-01-01 00:00:00") == []


def test_the_page_reads_the_same_rows_as_the_command_line(closed, rules):
    closed("etl", "benign")
    assert rules("reader_security") == rules("reader_compliance") == rules()
