"""Proposals of exceptions: which selections the closed alerts support, and the YAML; no server is started."""

import pytest
import yaml

from tailrace.alerts import exception_proposals, proposal_formatting
from tailrace.alerts.entity_selection import Selection, folded
from tailrace.alerts.exception_proposals import Outcome, Rule


def outcome(entity: dict[str, str], verdict: str = "benign", alerts: int = 1, recent: bool = True) -> Outcome:
    supports = alerts if recent and verdict in ("benign", "false positive") else 0
    name = "".join(entity.values())
    return Outcome(entity, verdict, alerts, supports, alerts * 2, [f"{name}{n}" for n in range(alerts)])


def rule(*outcomes: Outcome, file: str = "data/export.yml") -> Rule:
    return Rule("r1", "Cards exported", file, outcomes)


def etl(client: str, verdict: str = "benign", alerts: int = 1) -> Outcome:
    return outcome({"user": "etl", "src_ip": client}, verdict, alerts)


def fields(found) -> list[dict]:
    return [dict(each.selection.fields) for each in found]


def test_a_field_with_few_values_is_listed():
    accepted, refused = exception_proposals.proposed(
        rule(
            etl("10.0.7.1", alerts=9),
            etl("10.0.7.2", alerts=5),
            outcome({"user": "ann", "src_ip": "10.0.7.1"}),
        )
    )
    assert fields(accepted) == [{"user": ["etl"], "src_ip": ["10.0.7.1", "10.0.7.2"]}]
    assert (accepted[0].alerts, accepted[0].matches, dict(accepted[0].suppressed)) == (14, 28, {"benign": 14})
    assert refused == []


def test_a_field_with_many_values_is_left_out():
    (proposal,), _ = exception_proposals.proposed(rule(*(etl(f"10.0.7.{n}") for n in range(5))))
    assert fields([proposal]) == [{"user": ["etl"]}] and proposal.general == {"src_ip": 5}


@pytest.mark.parametrize("verdict", ["true positive", "open"])
def test_no_proposal_covers_what_is_open_or_was_an_attack(verdict):
    harmless = [etl(f"10.0.7.{n}", alerts=3) for n in range(5)]
    accepted, refused = exception_proposals.proposed(rule(*harmless, etl("10.9.9.9", verdict)))
    assert all(each.selection.covers({"user": "etl", "src_ip": "10.9.9.9"}) is False for each in accepted)
    assert len(accepted) == 5, "each client with three closed alerts has a narrower one"
    assert refused == []

    accepted, refused = exception_proposals.proposed(
        rule(etl("10.0.7.1", alerts=3), etl("10.0.7.1", verdict))
    )
    assert accepted == [] and fields(refused) == [{"user": ["etl"], "src_ip": ["10.0.7.1"]}]
    assert refused[0].blocking == ["etl10.0.7.10"]


def test_an_alert_without_a_field_of_the_selection_may_have_been_covered():
    by_host = outcome({"user": "etl", "host": "a"}, "open")
    accepted, refused = exception_proposals.proposed(rule(etl("10.0.7.1", alerts=3), by_host))
    assert accepted == [] and dict(refused[0].unknown) == {"open": 1}
    harmless = outcome({"user": "etl", "host": "a"}, "benign", recent=False)
    (proposal,), _ = exception_proposals.proposed(rule(etl("10.0.7.1", alerts=3), harmless))
    assert dict(proposal.unknown) == {"benign": 1}


def test_alerts_that_were_closed_earlier_or_without_a_verdict_are_named_and_support_nothing():
    others = [outcome({"user": "etl"}, "benign", 4, recent=False), outcome({"user": "etl"}, "closed", 2)]
    assert exception_proposals.proposed(rule(*others)) == ([], [])
    (proposal,), _ = exception_proposals.proposed(
        rule(*others, outcome({"user": "etl"}, "false positive", 3))
    )
    assert dict(proposal.suppressed) == {"benign": 4, "closed": 2, "false positive": 3}


def test_who_acts_is_never_left_out_and_fields_with_several_values_are_not_selected():
    many = [outcome({"instance": "db1", "user": f"u{n}", "table": "cards"}) for n in range(9)]
    assert exception_proposals.proposed(rule(*many)) == ([], [])
    of_server = [outcome({"instance": "db1", "table": f"t{n}"}) for n in range(3)]
    (proposal,), _ = exception_proposals.proposed(rule(*of_server))
    assert fields([proposal]) == [{"instance": ["db1"]}]


def test_a_proposal_is_about_one_user():
    users = [outcome({"user": name, "src_ip": "10.0.7.1"}, alerts=2) for name in ("etl", "app")]
    assert exception_proposals.proposed(rule(*users)) == ([], [])
    clients = [outcome({"src_ip": "10.0.7.1", "database": f"d{n}"}) for n in range(3)]
    (proposal,), _ = exception_proposals.proposed(rule(*users, *clients))
    assert fields([proposal]) == [{"src_ip": ["10.0.7.1"]}]


def test_detectors_have_exceptions_of_another_form():
    assert exception_proposals.proposed(rule(etl("a", alerts=9), file="detectors.yaml")) == ([], [])


def test_the_document_is_yaml_whose_owner_and_date_are_to_be_filled_in():
    given = rule(outcome({"user": "e*t\\l?", "program": "x\n---\x1b[31m"}, alerts=3))
    (proposal,), _ = exception_proposals.proposed(given)
    text = proposal_formatting.document(proposal)
    content = yaml.safe_load(text)
    assert content["exception"] == {
        "rule": "r1",
        "selection": {"user": "e\\*t\\\\l\\?", "program": "x\n---\x1b[31m"},
        "reason": "alerts were closed: 3 benign",
        "owner": None,
        "expires": None,
    }
    assert all(" " <= sign <= "~" or sign == "\n" for sign in text)
    filled = yaml.safe_load(proposal_formatting.document(proposal, "ann", "2027-03-31"))["exception"]
    assert (filled["owner"], str(filled["expires"])) == ("ann", "2027-03-31")


def test_the_explanation_says_exactly_what_would_have_been_suppressed():
    (proposal,), _ = exception_proposals.proposed(
        rule(*(etl(f"10.0.7.{n}") for n in range(5)), etl("x", "closed"))
    )
    assert proposal_formatting.explanation(proposal)[:2] == [
        "Cards exported: 6 of 6 stored alerts are about user=etl.",
        "This exception would have suppressed exactly these: 5 benign, 1 closed.",
    ]


def test_values_are_compared_as_rules_do():
    assert Selection({"user": ["straße"]}).covers({"user": folded("STRAßE")}) is True
    assert Selection({"user": ["etl"]}).covers({"user": "etl2"}) is False
    assert Selection({"user": ["etl"], "host": ["a"]}).covers({"host": "b"}) is False
