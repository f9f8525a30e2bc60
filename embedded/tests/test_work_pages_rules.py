"""The pages of rules: the text for a rule without an alert, links, results of backtests."""

import json
import re
from datetime import UTC, datetime, timedelta

import jinja2
import pytest

from tailrace.config.resources import ROOT
from tailrace.rules import catalog
from tailrace_pages import formats
from tailrace_pages.alerts import handling
from tailrace_pages.rule_reasons import in_few_words
from tailrace_pages.rules import backtests, listing
from tailrace_pages.time_range import TimeRange

REASONS = json.loads((ROOT / "schemas" / "contracts" / "coverage_reason.json").read_text())
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
QUARTER = TimeRange(NOON - timedelta(days=90), NOON, "90d")


def covered(rule: str, *can_fire: bool) -> list[dict]:
    return [{"rule_id": rule, "title": rule, "level": "low", "can_fire": able} for able in can_fire]


def test_a_rule_that_can_fire_nowhere_is_not_shown_as_one_without_alerts():
    found = listing.rules({}, (), [*covered("nowhere", False, False), *covered("somewhere", False, True)])
    shown = {row["rule_id"]: (row["last_shown"], row["servers"]) for row in found}
    assert shown == {"nowhere": ("cannot fire", "0 of 2"), "somewhere": ("none", "1 of 2")}


def counted(rule: str, alerts: int, last: datetime) -> dict:
    outcomes = dict.fromkeys(listing.OUTCOMES, 0)
    given = {"rule_id": rule, "title": rule, "latest_level": "low", "last_alert": last}
    return {**given, **outcomes, "alerts": alerts, "open_alerts": alerts}


def test_rules_are_listed_by_alerts_by_servers_and_those_that_cannot_fire():
    alerts = [counted("few", 1, NOON), counted("many", 9, NOON - timedelta(days=1))]
    coverage = [*covered("few", True, True), *covered("many", True, False), *covered("nowhere", False, False)]
    rows = listing.rules({}, [*alerts, counted("unknown", 2, NOON - timedelta(days=2))], coverage)

    def ids(order: str = "severity", reach: str = "") -> list[str]:
        return [row["rule_id"] for row in listing.in_order(listing.with_reach(rows, reach), order)]

    assert ids() == ids("alerts") == ["many", "unknown", "few", "nowhere"]
    assert ids("servers") == ["nowhere", "many", "few", "unknown"]
    assert ids("last") == ["few", "many", "unknown", "nowhere"]
    assert ids(reach="nowhere") == ["nowhere"]
    assert ids(reach="partly") == ["many", "nowhere"]
    assert ids("last", "fired") == ["few", "many", "unknown"]
    assert listing.caption(rows, 9, "servers").startswith("Rules, those that can fire on the fewest servers")


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
    (shown,) = listing.unable([{**row, "reason": "why"}])
    assert (shown["address"], shown["reason"]) == ("/tailrace/setup/?instance=db+1", "why")


@pytest.mark.parametrize("case", REASONS, ids=lambda case: f"{case['rule']} {len(case['logs'])}")
def test_why_a_rule_cannot_fire_is_said_in_a_few_words_for_each_log(case):
    assert in_few_words(case["reason"]) == case["page"]


def test_a_rule_that_only_correlations_count_has_no_unknown_servers(tmp_path):
    rule = "title: {0}\nid: {0}\nname: {0}\nlevel: low\ndetection: {{}}\n---\n"
    counts = "title: {0}\nid: {0}\nlevel: low\ncorrelation:\n  rules: {1}\n  generate: {2}\n---\n"
    texts = [
        *map(rule.format, "abc"),
        counts.format("x", "a", "false"),
        counts.format("y", "[b, none]", "true"),
    ]
    (tmp_path / "rules.yml").write_text("".join(texts))
    rules = catalog.load(tmp_path)
    assert [each.title for each in rules["a"].counted_by] == ["x"]
    found = listing.rules(rules, (), ())
    shown = {row["rule_id"]: row["servers"] for row in found}
    assert shown == {"a": "raises no alert itself", **dict.fromkeys("bcxy", "unknown")}
    listed = "Rules, highest level first, then by alerts of the time range: "
    counts = "5 of 5; 1 of them raises no alert itself: correlations count the matches"
    unknown = "; the detect job does not report on which servers 4 of them can fire"
    assert listing.caption(found, 5) == f"{listed}{counts}{unknown}"
    known = [{**row, "servers": "1 of 2"} for row in found if row["rule_id"] == "b"]
    assert listing.caption(known, 5) == f"{listed}1 of 5"


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


@pytest.mark.parametrize("can_suppress", [True, False])
def test_who_may_not_suppress_gets_no_form_to_end_a_suppression(can_suppress):
    row = {"id": "5f0e6c1e", "what": "every rule for <b>", "until": NOON, "actor": "erin", "reason": "<i>"}
    html = rendered("suppressions(rows)", rows=[{**row, "state": "unconfirmed"}], can_suppress=can_suppress)
    assert ("End this suppression" in html) == ("<form" in html) == can_suppress
    assert "every rule for &lt;b&gt;" in html and "erin: &lt;i&gt;." in html and "may not be active" in html


def test_the_browser_asks_for_a_reason_before_an_action_that_needs_one():
    context = {"verdicts": ("benign",), "viewer": {"name": "erin"}}
    html = rendered("actions('With these')", allowed=tuple(handling.ACTIONS), **context)
    needy = set(re.findall(r'<button name="action" value="(\w+)" data-needs="reason[^"]*"', html))
    assert needy == handling.ACTIONS.keys() - handling.WITHOUT_REASON.keys()


def rendered(call: str, **context) -> str:
    """Returns what a macro of the forms of alerts writes."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tailrace_pages"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.globals.update(formats=formats, link=lambda name, **_: name, csrf_token=lambda: "token")
    template = '{% import "tailrace_pages/alerts/forms.html" as forms with context %}{{ forms.CALL }}'
    return environment.from_string(template.replace("CALL", call)).render(**context, back="/")


def test_the_numbers_of_a_rule_are_unknown_if_no_log_was_read():
    unread = [dict.fromkeys(listing.OUTCOMES)]
    assert {item["value"] for item in listing.numbers(unread)} == {"unknown"}
    partly = [*unread, {**dict.fromkeys(listing.OUTCOMES, 0), "benign": 2}]
    shown = {item["title"]: item["value"] for item in listing.numbers(partly)}
    assert (shown["Alerts"], shown["Benign"], shown["Open"]) == ("2", "2", "0")
