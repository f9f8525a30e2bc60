"""The rules about logins and outcomes have the cases of schemas/contracts."""

import json

import pytest

from tailrace.config.resources import ROOT
from tailrace.forwarding import event_rules

CONTRACTS = ROOT / "schemas" / "contracts"
LOGINS = json.loads((CONTRACTS / "login.json").read_text())
OUTCOMES = json.loads((CONTRACTS / "outcome.json").read_text())


@pytest.mark.parametrize("case", LOGINS)
def test_an_event_has_the_login_of_the_contract(case):
    assert event_rules.login_of(case) == case["login"]


@pytest.mark.parametrize("case", OUTCOMES["events"])
def test_an_event_of_an_audit_log_has_the_outcome_of_the_contract(case):
    assert event_rules.outcome_of_audit(case) == case["outcome"]


@pytest.mark.parametrize("case", OUTCOMES["entries"])
def test_an_entry_of_a_slow_log_has_the_outcome_of_the_contract(case):
    assert event_rules.outcome_of_entry(case) == case["outcome"]


@pytest.mark.parametrize("case", OUTCOMES["messages"])
def test_a_message_has_the_outcome_of_the_contract(case):
    assert event_rules.outcome_of_message(case) == case["outcome"]


def test_a_missing_field_has_its_default():
    assert event_rules.outcome_of_audit({}) == "success"
    assert event_rules.login_of({"event_class": "connection", "command": "CONNECT"}) == "success"
