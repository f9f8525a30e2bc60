"""Findings about rules, and alerts of canary rules, on rows with known results."""

import json
import uuid

import pytest
from security_rows import alert_of, at, audit

from tailrace.alerts import triage
from tailrace.alerts.triage import AlertQuery
from tailrace.cli.commands import rules_canary, rules_health
from tailrace.cli.exit_codes import Exit
from tailrace.cli.help import catalog
from tailrace.clickhouse.client import ClickHouse
from tailrace.rules import health
from tailrace.rules.health import Thresholds

DAY = 24 * 60
"""Minutes."""


def covered(rule: str, instance: str = "db1", can_fire: bool = True, days: int = 60, **columns) -> dict:
    """A rule coverage entry, which has been the same for some days."""
    time = at(days * DAY)
    named = {"rule_title": f"Rule {rule}", "level": "high", "tags": [], "reason": ""}
    stated = {"cluster": "shop", "instance": instance, "source": "", "rule_id": rule, **named}
    lacks = {"missing_fields": [], "missing_classes": []}
    return {
        **stated,
        **lacks,
        "can_fire": can_fire,
        "in_force": True,
        "changed_at": time,
        "told_at": time,
        **columns,
    }


def raised(rule: str, days_ago: float = 2, **columns) -> dict:
    time = at(days_ago * DAY)
    given = {"alert_id": str(uuid.uuid4()), "rule_id": rule, "rule_title": f"Rule {rule}", "event_time": time}
    return {**alert_of(audit(30)), **given, **columns}


def close(analyst: ClickHouse, *verdicts: tuple[dict, str]) -> None:
    """Closes alerts, each with a verdict or an empty text."""
    given = {"actor": "erin", "action": "close", "reason": "x"}
    rows = [{"alert_id": row["alert_id"], **given, "verdict": verdict} for row, verdict in verdicts]
    analyst.insert(f"tailrace.alert_actions ({', '.join(rows[0])})", rows)


@pytest.fixture
def findings(user):
    def find(**thresholds) -> dict[str, list[str]]:
        rows = health.rules(user("reader_security"), Thresholds(**thresholds))
        return {row["rule"]: row["findings"] for row in rows}

    return find


def test_a_rule_that_never_fired_is_one_that_could(stored, findings):
    stored(
        "rule_coverage",
        *(covered(rule) for rule in ("fired", "silenced", "long ago", "silent")),
        covered("new", days=3),
        covered("blind", can_fire=False, missing_fields=["rows_sent"]),
        covered("half", can_fire=False),
        covered("half", instance="db2", days=60),
        covered("removed", in_force=False),
    )
    stored("alerts", raised("fired"), raised("silenced", silenced=True), raised("long ago", days_ago=50))
    assert findings() == {
        "fired": [],
        "silenced": [],
        "long ago": ["never fired"],
        "silent": ["never fired"],
        "new": [],
        "blind": ["cannot fire"],
        "half": ["never fired"],
    }
    assert findings(period=55 * DAY * 60)["long ago"] == []


def test_a_share_of_alerts_and_of_false_positives_needs_some_alerts(stored, findings, user):
    alerts = [*(raised("noisy") for _ in range(30)), *(raised("rare") for _ in range(6)), raised("detector")]
    stored("alerts", *alerts)
    stored("rule_coverage", covered("noisy"), covered("rare"), covered("unused"))
    rare = [alert for alert in alerts if alert["rule_id"] == "rare"]
    close(user("analyst"), *((each, "false positive") for each in rare[:4]))
    assert findings()["noisy"] == ["fires often"] and findings()["rare"] == []
    close(user("analyst"), (rare[4], "benign"), (alerts[0], ""))
    assert findings()["rare"] == ["false positives"]
    assert findings()["detector"] == [], "it has no coverage and is listed nevertheless"

    rows = {row["rule"]: row for row in health.rules(user("reader_security"), Thresholds())}
    assert rows["rare"]["false_share"] == 0.8 and rows["rare"]["benign_count"] == 1
    assert rows["noisy"]["false_share"] is None, "without a verdict the share is unknown"
    assert rows["unused"]["share"] == 0 and rows["unused"]["last_alert_at"] is None
    assert rows["detector"]["server_count"] == 0 and rows["detector"]["active_since"] is None


def test_without_alerts_shares_are_unknown(stored, user):
    stored("rule_coverage", covered("silent"))
    (row,) = health.rules(user("reader_security"), Thresholds())
    assert (row["share"], row["false_share"]) == (None, None)


def test_rules_are_selected_by_title_and_finding():
    rows = [
        {"rule": "a", "rule_title": "Table dumped", "findings": ["never fired"]},
        {"rule": "b", "rule_title": "Login", "findings": []},
    ]
    assert health.selected(rows, "", False) == rows[:1]
    assert health.selected(rows, "login", True) == rows[1:]
    assert health.selected(rows, "login", False) == []
    assert health.selected(rows, "dumped", True) == rows[:1]


def test_canary_alerts_are_counted_apart(stored, findings, user):
    assert not health.is_coverage_known(user("reader_security"))
    stored(
        "rule_coverage",
        covered("canary", tags=["tailrace.canary"]),
        covered("quiet", tags=["tailrace.canary"]),
    )
    stored(
        "canary_alerts",
        raised("canary", count=5, entity_key="user=ann"),
        raised("canary", count=1, entity_key="user=bob", silenced=True),
    )
    stored("alerts", raised("other"))
    security = user("reader_security")
    assert findings() == {"canary": [], "quiet": ["never fired"], "other": []}
    (day,) = health.canary(security, 30 * DAY * 60)
    assert (day["alert_count"], day["match_count"], day["silenced_count"], day["entity_count"]) == (
        2,
        6,
        1,
        2,
    )
    assert day["top_entities"] == ["user=ann", "user=bob"]
    assert [row["rule"] for row in health.canary_rules(security)] == ["canary", "quiet"]
    assert health.is_coverage_known(security)

    analyst = user("analyst")
    assert triage.list_worst(analyst, AlertQuery(), 10)[1] == 1
    rows, total = triage.list_worst(analyst, AlertQuery(canary=True, silenced=True, rule="canary"), 10)
    assert total == 2 and {row["state"] for row in rows} == {"open"}


class Commands:
    """What the commands need of an installation: its ClickHouse, by account."""

    def __init__(self, user) -> None:
        self.clickhouse = user

    def run(self, module, *words: str) -> Exit:
        return module.run(catalog.parser("rules x", module).parse_args(list(words)), self)


def test_findings_are_a_table_json_or_csv(stored, user, capsys):
    commands = Commands(user)
    assert commands.run(rules_health) == Exit.OK
    assert "no rule is known" in capsys.readouterr().out
    stored("rule_coverage", covered("silent"), covered("blind", can_fire=False, missing_fields=["rows_sent"]))
    stored("alerts", raised("fired", rule_title="Dump\x1b[31m"))

    commands.run(rules_health, "--since", "4w")
    table = capsys.readouterr().out
    assert "never fired: it could fire" in table and "shown 2 of 3 rules; 2 with findings" in table
    commands.run(rules_health, "--all", "--json")
    document = json.loads(capsys.readouterr().out)
    assert (document["rules"], document["shown"]) == (3, 3)
    by_rule = {row["rule"]: row for row in document["health"]}
    assert by_rule["blind"]["missing"] == ["rows_sent"] and by_rule["fired"]["false_share"] is None
    commands.run(rules_health, "--rule", "blind", "--output", "csv")
    header, line = capsys.readouterr().out.splitlines()
    assert header.startswith("rule,rule_title,level,findings") and line.startswith("blind,")
    commands.run(rules_health, "--all")
    assert "\x1b[31m" not in capsys.readouterr().out


def test_canary_alerts_are_a_table_json_or_csv(stored, user, capsys):
    commands = Commands(user)
    commands.run(rules_canary)
    assert "active canary rules: unknown" in capsys.readouterr().out
    stored(
        "rule_coverage",
        covered("tried", tags=["tailrace.canary"]),
        covered("quiet", tags=["tailrace.canary"]),
    )
    stored("canary_alerts", raised("tried", entity_key="user=ann"))
    commands.run(rules_canary)
    table = capsys.readouterr().out
    assert "user=ann" in table and "Rule quiet: no alert" in table and "active canary rules: 2" in table
    commands.run(rules_canary, "--json")
    document = json.loads(capsys.readouterr().out)
    assert [row["rule"] for row in document["active"]] == ["quiet", "tried"]
    assert document["days"][0]["top_entities"] == ["user=ann"]
    commands.run(rules_canary, "--output", "csv")
    assert len(capsys.readouterr().out.splitlines()) == 2
