"""The pages of rules: what stands for the last alert of a rule that has none, links, results of backtests."""

from datetime import UTC, datetime, timedelta

import pytest

from tailrace_pages.rules import backtests, listing
from tailrace_pages.time_range import TimeRange

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
QUARTER = TimeRange(NOON - timedelta(days=90), NOON, "90d")


def covered(rule: str, *can_fire: bool) -> list[dict]:
    return [{"rule_id": rule, "title": rule, "level": "low", "can_fire": able} for able in can_fire]


def test_a_rule_that_can_fire_nowhere_is_not_shown_as_one_without_alerts():
    found = listing.rules({}, (), [*covered("nowhere", False, False), *covered("somewhere", False, True)])
    shown = {row["rule_id"]: (row["last_shown"], row["servers"]) for row in found}
    assert shown == {"nowhere": ("cannot fire", "0 of 2"), "somewhere": ("none", "1 of 2")}


@pytest.mark.parametrize(
    ("key", "filters"),
    [
        ("instance=db-1 src_ip=10.0.0.9 user=root", "&field=user&value=root"),
        ("instance=db-1 host=10.0.0.9", "&field=host&value=10.0.0.9"),
        ("instance=db-1", "&field=instance&value=db-1"),
        ("", ""),
    ],
)
def test_an_entity_of_a_rule_leads_to_its_own_alerts_of_the_time_range(key, filters):
    (row,) = listing.entities([{"entity_key": key}], "r1", QUARTER)
    assert row["address"] == f"/tailrace/alerts/?rule=r1&state=any{filters}&range=90d"


def test_a_server_on_which_a_rule_cannot_fire_leads_to_its_setup():
    row = {"instance": "db 1", "can_fire": False, "missing_classes": [], "missing_fields": ["program"]}
    assert listing.unable([row])[0]["address"] == "/tailrace/setup/?instance=db+1"


def test_the_result_of_a_backtest_is_written_as_on_other_pages():
    found = [
        {"section": "run", "item": "since", "detail": "2026-10-28T15:10:41.098214404Z"},
        {"section": "entity", "item": "instance=db-1 user=root src_ip=10.0.0.9", "alerts": "1"},
        {"section": "sample", "item": "2026-11-26T22:10:00Z", "detail": "user=root"},
    ]
    shown = [(row["part"], row["item"], row["detail"]) for row in backtests.rows(found)]
    assert shown == [
        ("Entity", "user root, client 10.0.0.9", None),
        ("Example", "2026-11-26 22:10:00 UTC", "user root"),
        ("Run", "begin of the period", "2026-10-28 15:10:41 UTC"),
    ]
