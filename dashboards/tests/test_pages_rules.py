"""Tests the pages of rules, incidents and risk scores over HTTP: their contents, and what a role may do."""

import re
import time
from urllib.parse import quote

import pytest

from dashboards.tests.pages import parsed
from dashboards.tests.pages_data import MINUTES_AGO, alert_of_pages
from tailrace.alerts import triage
from tailrace.alerts.triage import Action
from tailrace.clickhouse.client import ClickHouse
from tailrace.credentials.names import password_name

pytestmark = pytest.mark.browser

RULE = "79f9114f-4482-5833-bdb4-9461f7149011"
PAGE = f"/tailrace/rules/{RULE}/"
SILENCE = "5f0e6c1e-2a57-4d6b-9b0e-7a3f1b1c9d11"
RECENT = 3 * 24 * 60
WAIT_SECONDS = 900


@pytest.fixture(scope="module")
def ids(stack, places) -> list[str]:
    """Inserts four alerts of RULE: three of one user within minutes, closed as benign, and one of another."""
    common = {"rule_id": RULE, "rule_title": "All tables locked for reading", "level": "low"}
    nightly = {"entity": {"user": "nightly"}, "entity_key": "user=nightly", "user": "nightly"}
    other = {"entity": {"user": "pages"}, "entity_key": "user=pages", "user": "pages"}
    rows = [alert_of_pages(minutes_ago=RECENT + n, **common, **nightly) for n in (9, 6, 3)]
    rows.append(alert_of_pages(minutes_ago=MINUTES_AGO, **common, **other))
    stack.clickhouse().insert("tailrace.alerts", rows, async_insert=0)
    found = [row["alert_id"].replace("-", "") for row in rows]
    analyst = ClickHouse(stack.clickhouse().url, "analyst", stack.home.secret(password_name("analyst")))
    triage.record_action(analyst, found[:3], Action("close", "erin", "nightly dump", verdict="benign"))
    return found


def words(visitor, path: str) -> str:
    answer = visitor.get(path)
    assert answer.status_code == 200, answer.text[-500:]
    return " ".join(" ".join(parsed(answer.text).words).split())


def test_the_page_of_a_rule_has_its_text_its_numbers_and_a_proposal(visitors, ids):
    for role in ("security", "compliance"):
        shown = words(visitors[role], f"{PAGE}?range=90d")
        for text in (
            "low · status test · file data/all_tables_locked.yml",
            "flush tables with read lock",
            "Alerts 4 Open 1 Acknowledged 0 True positive 0 False positive 0 Benign 3",
            "Collection (TA0009)",
            "3 of 4 stored alerts are about user=nightly",
            "would have suppressed exactly these: 3 benign",
            "user: nightly",
            "Unknown: the detect job has not reported on this rule.",
        ):
            assert text in shown, text
        assert ("Start backtest" in shown) == (role == "security")


def test_the_list_of_rules_has_those_without_alerts(visitors, ids):
    shown = words(visitors["compliance"], "/tailrace/rules/?range=90d&q=locked")
    assert "All tables locked for reading 4 1 0 3" in shown and "Account locked 0 0 0 0 none unknown" in shown
    file = visitors["compliance"].get("/tailrace/rules/?range=90d&format=csv").text
    assert file.count("\n") > 200 and RULE in file


def test_an_active_suppression_is_shown_where_its_alerts_are_missing(stack, visitors, ids):
    begun = {"silence_id": SILENCE, "action": "begin", "rule": RULE, "entity": {}, "actor": "erin"}
    row = {**begun, "until": "2099-01-01 00:00:00", "reason": "noisy, 4711"}
    stack.clickhouse().insert("tailrace.silences", [row], async_insert=0)
    try:
        for path in (PAGE, f"/tailrace/alerts/{ids[0]}/", "/tailrace/alerts/"):
            shown = words(visitors["compliance"], path)
            assert "locked for reading for every entity are suppressed until 2099" in shown, path
            assert "by erin: noisy, 4711." in shown
        end = f"/tailrace/alerts/suppressions/{SILENCE}/end/"
        form = {"back": PAGE, "reason": ""}
        assert visitors["security"].submit(end, form).headers["Location"] == PAGE
        assert "End needs a reason." in words(visitors["security"], PAGE)
        assert visitors["security"].submit(end, {**form, "reason": "x"}).status_code == 503, "no Kafka"
    finally:
        stack.clickhouse().insert("tailrace.silences", [{**row, "action": "end"}], async_insert=0)
    assert "No suppression of this rule is active." in words(visitors["security"], PAGE)


def test_security_backtests_a_rule_on_stored_events(visitors, ids):
    security = visitors["security"]
    answer = security.submit(f"{PAGE}backtests/", {"days": "7"})
    assert answer.status_code == 303 and answer.headers["Location"] == f"{PAGE}#backtest"
    limit = time.monotonic() + WAIT_SECONDS
    while "running since" in (shown := words(security, PAGE)):
        assert time.monotonic() < limit, shown
        time.sleep(1)
    assert "Result for 7 days, started by security" in shown
    assert "Result for 7 days, started by security" in words(visitors["compliance"], PAGE)
    assert "All tables locked for reading" in security.get(f"{PAGE}?format=csv&table=backtest").text


def test_an_incident_has_the_alerts_of_one_user_and_acts_on_them(stack, visitors, ids):
    first, *_ = ids
    for id_ in ids[:3]:
        shown = words(visitors["compliance"], f"/tailrace/alerts/incidents/{id_}/")
        assert "Incident with 3 alerts" in shown and "closed" in shown
    page = visitors["compliance"].get(f"/tailrace/alerts/incidents/{first}/").text
    assert re.search(r'href="/tailrace/entities/user/nightly/\?from=[^"]+"', page)
    listed = visitors["security"].get("/tailrace/alerts/incidents/?range=90d&state=any").text
    (value,) = re.findall(rf'value="({first},[0-9a-f,]+)"', listed)
    assert value == ",".join(ids[:3])
    form = {"action": "reopen", "reason": "it was not", "ids": value}
    path = "/tailrace/alerts/incidents/actions/"
    form["back"] = "/tailrace/alerts/incidents/"
    back = visitors["security"].submit(path, form).headers["Location"]
    assert back == "/tailrace/alerts/incidents/" and "3 alerts reopened." in words(visitors["security"], back)
    visitors["security"].submit(path, {**form, "action": "close", "ids": ids[0], "verdict": "true positive"})
    visitors["security"].submit(path, {**form, "action": "close", "verdict": "benign"})
    rows = stack.clickhouse().rows(
        "SELECT verdict FROM tailrace.alert_actions WHERE has({ids:Array(UUID)}, alert_id) "
        "AND action = 'close' AND actor = 'security' ORDER BY verdict",
        {"ids": str([triage.uuid_of(id_) for id_ in ids[:3]])},
    )
    assert [row["verdict"] for row in rows] == ["benign", "benign", "true positive"]


def test_the_list_of_incidents_filters_by_assignee(stack, visitors, ids):
    analyst = ClickHouse(stack.clickhouse().url, "analyst", stack.home.secret(password_name("analyst")))
    triage.record_action(analyst, ids[3:], Action("assign", "erin", "hers", assignee="security"))

    def listed(role: str, assignee: str) -> set[str]:
        path = f"/tailrace/alerts/incidents/?range=90d&state=any&assignee={assignee}"
        page = visitors[role].get(path).text
        return {id_ for id_ in (ids[0], ids[3]) if f'href="/tailrace/alerts/incidents/{id_}/"' in page}

    assert listed("compliance", "") == {ids[0], ids[3]}
    assert listed("security", "me") == listed("compliance", "security") == {ids[3]}
    assert listed("compliance", "nobody") == {ids[0]}
    assert listed("compliance", "me") == listed("compliance", "erin") == set()


def test_a_risk_score_is_explained(visitors, ids):
    path = f"/tailrace/alerts/risk/?kind=user&name={quote('nightly')}"
    shown = words(visitors["compliance"], path)
    assert "Risk score of user nightly" in shown and "Alerts that count 1" in shown
    assert "3 (low) * 2 (true positive) *" in shown
    assert "Risk score" in words(visitors["security"], "/tailrace/entities/user/nightly/?range=7d")
    assert visitors["security"].get("/tailrace/alerts/risk/?kind=table&name=x").status_code == 400
