"""Tests the alert inbox over HTTP: its order and filters, actions with their audit trail, saved filters."""

import re

import pytest

from dashboards.tests.pages import Visitor, parsed
from dashboards.tests.pages_data import MINUTES_AGO, alert_of_pages
from tailrace.alerts import triage
from tailrace.alerts.triage import AlertQuery
from tailrace.clickhouse.client import ClickHouse
from tailrace.credentials.names import password_name

pytestmark = pytest.mark.browser

RULE = "Rule of the inbox"
LIST = f"/tailrace/alerts/?range=90d&rule={RULE.replace(' ', '+')}"
LEVELS = ("low", "critical", "high", "critical")


@pytest.fixture(scope="module")
def ids(stack, places) -> list[str]:
    """Inserts four alerts of RULE, the first with the latest event, and returns their ids."""
    rows = [
        alert_of_pages(
            minutes_ago=MINUTES_AGO + 60 * number,
            rule_title=RULE,
            rule_id="rule-of-the-inbox",
            level=level,
            entity={"user": f"user{number}"},
            entity_key=f"user=user{number}",
            user=f"user{number}",
        )
        for number, level in enumerate(LEVELS)
    ]
    stack.clickhouse().insert("tailrace.alerts", rows, async_insert=0)
    return [row["alert_id"].replace("-", "") for row in rows]


def shown(visitor: Visitor, path: str) -> list[str]:
    """Returns the ids of the rows of a page, in their order."""
    return re.findall(r'title="([0-9a-f]{32})"', visitor.get(path).text)


def said(visitor: Visitor, answer) -> str:
    """Follows the redirect after a form and returns the message."""
    assert answer.status_code == 303, answer.text[-500:]
    page = parsed(visitor.get(answer.headers["Location"]).text)
    return " ".join(" ".join(page.words).split())


def recorded(stack, id_: str) -> list[tuple]:
    rows = stack.clickhouse().rows(
        "SELECT actor, action, assignee, verdict, reason, account FROM tailrace.alert_actions "
        "WHERE alert_id = {id:UUID} ORDER BY at",
        {"id": triage.uuid_of(id_)},
    )
    return [tuple(row.values()) for row in rows]


def test_the_most_severe_come_first_then_the_latest(visitors, ids):
    expected = [ids[1], ids[3], ids[2], ids[0]]
    for role in ("security", "compliance"):
        assert shown(visitors[role], LIST) == expected
    assert shown(visitors["security"], f"{LIST}&level=critical") == [ids[1], ids[3]]
    assert shown(visitors["security"], f"{LIST}&field=user&value=USER2") == [ids[2]]
    assert shown(visitors["security"], f"{LIST}&instance=elsewhere") == []
    assert shown(visitors["security"], LIST.replace("90d", "7d")) == []
    assert "4 more before this time range" in visitors["security"].get(LIST.replace("90d", "7d")).text


def test_a_file_has_the_rows_of_the_list(visitors, ids):
    lines = visitors["security"].get(f"{LIST}&format=csv").text.splitlines()
    assert lines[0].startswith("Level,Event (UTC),Rule,Entity")
    assert [line.rsplit(",", 1)[1] for line in lines[1:]] == [ids[1], ids[3], ids[2], ids[0]]


def test_actions_are_recorded_under_the_name_and_the_account_of_the_command_line(stack, visitors, ids):
    security = visitors["security"]

    def act(chosen: list[str], **form: str) -> str:
        fields = [*(("ids", id_) for id_ in chosen), *form.items(), ("back", LIST)]
        return said(security, security.submit("/tailrace/alerts/actions/", fields))

    assert "2 alerts acknowledged." in act(ids[:2], action="ack")
    assert "1 alert assigned to ann." in act(ids[:1], action="assign", assignee="ann", reason="her server")
    assert "1 alert commented." in act(ids[:1], action="comment", reason="<b>seen</b>")
    assert "2 alerts closed as false positive." in act(
        ids[:2], action="close", verdict="false positive", reason="a test"
    )
    assert recorded(stack, ids[0]) == [
        ("security", "ack", "", "", "acknowledged in the alert inbox", "analyst"),
        ("security", "assign", "ann", "", "her server", "analyst"),
        ("security", "comment", "", "", "<b>seen</b>", "analyst"),
        ("security", "close", "", "false positive", "a test", "analyst"),
    ]
    assert "Close needs a verdict" in act(ids[2:3], action="close", reason="a test")
    close = {"action": "close", "verdict": "benign", "reason": "all of them"}
    assert "is closed already. Nothing was changed." in act(ids, **close)
    assert recorded(stack, ids[2]) == [], "all alerts of an action or none"
    assert "Comment needs a reason" in act(ids[:1], action="comment")
    assert "No alert is selected" in act([], action="ack")
    assert shown(security, LIST) == [ids[3], ids[2]]
    assert shown(security, f"{LIST}&state=closed&verdict=false+positive") == [ids[1], ids[0]]
    assert shown(security, f"{LIST}&state=any&assignee=ann") == [ids[0]]
    assert "1 alert reopened." in act(ids[:1], action="reopen", reason="again")
    assert shown(security, f"{LIST}&state=open") == [ids[3], ids[2], ids[0]]


def test_alerts_that_are_still_listed_stay_selected_after_an_action(visitors, ids):
    security, chosen = visitors["security"], {ids[2], ids[3]}

    def selected() -> set[str]:
        return set(re.findall(r'name="ids" value="([0-9a-f]{32})" checked', security.get(LIST).text))

    for form in ({"action": "comment", "reason": "a test"}, {"action": "comment"}):
        fields = [*(("ids", id_) for id_ in sorted(chosen)), *form.items(), ("back", LIST)]
        assert security.submit("/tailrace/alerts/actions/", fields).status_code == 303
        assert selected() == chosen, "also if the action was refused"
        assert selected() == set(), "once"


def test_taking_an_alert_acknowledges_and_assigns_it(stack, visitors, ids):
    fields = [("ids", ids[2]), ("action", "take"), ("assignee", "ann"), ("back", LIST)]
    security = visitors["security"]
    assert security.submit("/tailrace/alerts/actions/", fields).status_code == 303
    assert "1 alert acknowledged and assigned to security." in security.get(LIST).text
    reason = "taken in the alert inbox"
    assert sorted(row for row in recorded(stack, ids[2]) if reason in row) == [
        ("security", "ack", "", "", reason, "analyst"),
        ("security", "assign", "security", "", reason, "analyst"),
    ]
    assert shown(security, f"{LIST}&state=acknowledged&assignee=security") == [ids[2]]


def test_the_command_line_sees_the_verdict(stack, ids):
    analyst = ClickHouse(stack.clickhouse().url, "analyst", stack.home.secret(password_name("analyst")))
    rows, _ = triage.list_worst(analyst, AlertQuery(states=("closed",), rule=RULE), 10)
    assert {row["id"]: row["verdict"] for row in rows} == {ids[1]: "false positive"}
    details = triage.read(analyst, ids[1])
    assert [row["verdict"] for row in details.actions] == ["", "false positive"]


def test_the_page_of_an_alert_has_what_is_needed(visitors, ids):
    answer = visitors["compliance"].get(f"/tailrace/alerts/{ids[1]}/")
    words = " ".join(" ".join(parsed(answer.text).words).split())
    for text in (
        "Rule of the inbox: user user1 from 10.1.20.17 with mysqldump on shop-db-1, matched once",
        "closed: false positive",
        "select * from cards where id > ?",
        "Ask the owner of the account.",
        "A planned backup.",
        "Exfiltration (TA0010)",
        "closed as false positive",
        "This is the first stored alert of this rule and entity.",
    ):
        assert text in words, text
    assert 'name="action"' not in answer.text, "compliance officers read only"
    said_to_readers = " ".join(" ".join(parsed(answer.text).words).split())
    assert "Your role may read alerts, but not act on them." in said_to_readers
    assert '<a href="/tailrace/evidence/">Evidence</a>' in answer.text
    assert "Acknowledge it" not in said_to_readers


def test_earlier_alerts_of_the_entity_are_listed_with_their_verdict(stack, visitors, ids):
    later = alert_of_pages(
        minutes_ago=MINUTES_AGO - 60,
        rule_title=RULE,
        rule_id="rule-of-the-inbox",
        entity={"user": "user1"},
        entity_key="user=user1",
        level="informational",
    )
    stack.clickhouse().insert("tailrace.alerts", [later], async_insert=0)
    page = visitors["security"].get(f"/tailrace/alerts/{later['alert_id'].replace('-', '')}/").text
    assert f"/tailrace/alerts/{ids[1]}/" in page
    assert "closed: false positive" in page and "The latest 1 of 1" in page


def test_new_alerts_are_counted_without_those_that_are_suppressed(stack, visitors):
    ask = "/tailrace/alerts/newest/"
    now = stack.clickhouse().rows("SELECT toUnixTimestamp64Micro(max(seen_at)) AS at FROM tailrace.alerts")[
        0
    ]["at"]
    assert visitors["compliance"].get(ask, since=str(now)).json() == {"alerts": 0}
    for bad in ("", "now", "1" * 20, "-1"):
        assert visitors["compliance"].get(ask, since=bad).status_code == 400


def test_filters_are_saved_for_one_user(visitors):
    path, name = "/tailrace/alerts/filters/", "Mine & <others>"
    given = {"action": "save", "name": name, "state": "closed", "rule": "dump", "back": LIST}
    assert "saved." in said(visitors["security"], visitors["security"].submit(path, given))
    page = parsed(visitors["security"].get("/tailrace/alerts/").text)
    assert name in page.words
    assert any("state=closed" in (each.get("href") or "") for _, each in page.tags)
    assert name not in parsed(visitors["compliance"].get("/tailrace/alerts/").text).words
    assert visitors["security"].submit(path, {**given, "state": "odd"}).status_code == 400
    visitors["security"].submit(path, {"action": "remove", "name": name})
    assert name not in parsed(visitors["security"].get("/tailrace/alerts/").text).words


def test_a_form_leads_back_to_pages_of_the_inbox_only(visitors):
    for back in ("https://elsewhere.example/", "//elsewhere.example/", "/tailrace/alerts\\x", "/login/", ""):
        given = {"action": "remove", "name": "x", "back": back}
        answer = visitors["security"].submit("/tailrace/alerts/filters/", given)
        assert answer.headers["Location"] == "/tailrace/alerts/"


def test_without_kafka_nothing_is_suppressed(stack, visitors, ids):
    given = {"scope": "rule", "span": "1 day", "reason": "planned"}
    answer = visitors["security"].submit(f"/tailrace/alerts/{ids[3]}/suppressions/", given)
    assert answer.status_code == 503 and "tailrace alerts suppress" in answer.text
    assert "Suppress new alerts" not in visitors["security"].get(f"/tailrace/alerts/{ids[3]}/").text
    assert stack.clickhouse().rows("SELECT 1 FROM tailrace.silences WHERE actor = 'security'") == []
