"""Tests the queries of the pages of rules: numbers by verdict and day, entities, servers."""

from datetime import UTC, datetime, timedelta

import pytest

from e2e.alert_rows import RULE, alert, written
from tailrace.alerts import triage
from tailrace.alerts.triage import Action
from tailrace_pages.queries import text_of
from tailrace_pages.read_bars import ReadBars
from tailrace_pages.rules import listing
from tailrace_pages.time_range import TimeRange

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
SPAN = TimeRange(NOON - timedelta(days=3), NOON)


@pytest.fixture
def raised(admin, user):
    """Inserts an alert of some days before NOON; closes it if a verdict is given."""

    def insert(days_ago: float, verdict: str | None = None, **fields) -> None:
        at = written(NOON - timedelta(days=days_ago))
        row = alert(**{"event_time": at, "window_from": at, **fields})
        admin.insert("tailrace.alerts", [row])
        if verdict is not None:
            action = Action("close", "erin", "test", verdict=verdict)
            triage.record_action(user("analyst"), [row["alert_id"].replace("-", "")], action)

    return insert


@pytest.fixture
def ask(user):
    def rows(name: str, audience: str = "security", **parameters) -> list[dict]:
        given = {**SPAN.parameters(), **parameters}
        return user(f"reader_{audience}").rows(text_of(name), given)

    return rows


def test_alerts_are_counted_by_verdict(raised, ask):
    for verdict in (None, None, "true positive", "false positive", "benign", ""):
        raised(1, verdict)
    raised(1, silenced=True)
    raised(1, "benign", silenced=True)
    raised(4)
    (row,) = ask("page_rules", rule="", by_day=0)
    counted = {name: int(row[name]) for name in ("alerts", *listing.OUTCOMES)}
    assert counted == {
        "alerts": 8, "open_alerts": 2, "acknowledged": 0, "true_positives": 1, "false_positives": 1,
        "benign": 2, "closed": 1, "suppressed": 1,
    }  # fmt: skip
    assert row["rule_id"] == RULE and ask("page_rules", "compliance", rule="", by_day=0) == [row]
    assert ask("page_rules", rule="other", by_day=0) == []


def test_days_without_alerts_are_listed(raised, ask):
    raised(0.1)
    raised(2)
    raised(2, "benign")
    rows = [
        {**row, "day": datetime.fromisoformat(row["day"]).replace(tzinfo=UTC)}
        for row in ask("page_rules", rule=RULE, by_day=1)
    ]
    hours = {"source": "audit", "first_second": int(NOON.timestamp()) - 30 * 3600, "census_second": 0}
    read = ReadBars([{**hours, "last_second": int(NOON.timestamp()), "step": 3600, "slots": []}])
    days = listing.days(rows, SPAN, read)
    assert [(each["day"].day, each["open_alerts"], each["benign"]) for each in days] == [
        (7, None, None),
        (8, 1, 1),
        (9, 0, 0),
        (10, 1, 0),
    ], "no log was read on the first day"
    assert [series["values"] for series in listing.chart(days)["series"]] == [
        [None, 1, 0, 1],
        [None, 1, 0, 0],
    ]


def test_entities_with_the_most_alerts_come_first(raised, ask):
    raised(1, entity={"user": "ann"})
    for verdict in (None, "benign", "true positive"):
        raised(1, verdict, entity={"user": "etl"}, count=4)
    first, second = ask("page_rule_entities", rule=RULE, limit=5)
    assert (first["entity_key"], second["entity_key"]) == ("user=etl", "user=ann")
    numbers = ("entity_alerts", "matches", "not_closed", "true_positives", "harmless")
    assert [int(first[name]) for name in numbers] == [3, 12, 1, 1, 1]


def test_servers_on_which_a_rule_cannot_fire(admin, ask):
    told = written(datetime.now(UTC))
    common = {"rule_id": "r1", "rule_title": "R", "level": "low", "told_at": told, "changed_at": told}
    lacks = {"can_fire": False, "reason": "no log has it", "missing_fields": ["program"]}
    rows = [
        {**common, "instance": "db1", "can_fire": True, "in_force": True},
        {**common, "instance": "db2", "in_force": True, "missing_classes": ["table"], **lacks},
        {**common, "instance": "db3", "in_force": False, **lacks},
        {**common, "instance": "db2", "source": "audit", "in_force": True, **lacks},
    ]
    admin.insert("tailrace.rule_coverage", rows)
    found = ask("page_rule_servers", rule="r1")
    assert [row["instance"] for row in found] == ["db1", "db2"]
    (unable,) = listing.unable(found)
    assert (unable["instance"], unable["missing"]) == ("db2", "events of the class table, program")
