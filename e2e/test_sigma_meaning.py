"""Rules have the semantics of pySigma: the same rules and events in both."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from e2e import sigma_oracle
from tailrace.config.resources import REPOSITORY

TAILRACE = REPOSITORY / "bin" / "tailrace"


@pytest.fixture(scope="module", autouse=True)
def pack() -> None:
    """Compiles all rules of the repository. This also builds the command line, which prints to standard
    output."""
    done = subprocess.run([TAILRACE, "rules", "check", REPOSITORY / "rules"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def detect(directory: Path, rules: list[dict], events: list[dict]) -> list[dict]:
    """Returns the alerts of `tailrace detect`."""
    rule_file, event_file = directory / "rules.yml", directory / "events.json"
    rule_file.write_text(yaml.safe_dump_all(rules, allow_unicode=True, sort_keys=False))
    event_file.write_text("".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events))
    done = subprocess.run(
        [TAILRACE, "detect", "--json", "--rules", rule_file, "--events", event_file],
        env={name: text for name, text in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("seed", range(6))
def test_rules_match_the_same_events(tmp_path: Path, seed: int):
    made = sigma_oracle.RandomRules(seed)
    rules = [made.rule(f"r{i}") for i in range(150)]
    events = [made.event(i) for i in range(120)]
    found = {(alert["rule"]["name"], alert["event_ids"][0]) for alert in detect(tmp_path, rules, events)}
    expected = sigma_oracle.matches(rules, events)
    assert len(expected) > 1000
    by_name = {rule["name"]: rule["detection"] for rule in rules}
    by_id = {event["event_id"]: event for event in events}
    assert [(by_name[name], by_id[event]) for name, event in sorted(expected ^ found)][:3] == []


@pytest.mark.parametrize("seed", range(4))
def test_correlations_fire_at_the_same_times(tmp_path: Path, seed: int):
    made = sigma_oracle.RandomRules(seed)
    rules = [made.rule(f"r{i}") for i in range(12)]
    events = [made.event(i) for i in range(200)]
    correlations = [made.correlation(f"c{i}", [rule["name"] for rule in rules]) for i in range(15)]
    found = {
        (alert["rule"]["name"], tuple(alert["entity"].values()), alert_second(alert))
        for alert in detect(tmp_path, rules + correlations, events)
        if alert["rule"]["name"].startswith("c")
    }
    expected = set().union(*(sigma_oracle.alerts(rules, each, events) for each in correlations))
    assert len(expected) > 30
    bodies = {each["name"]: each["correlation"] for each in correlations}
    assert [(each, bodies[each[0]]) for each in sorted(expected ^ found)][:3] == []


NUMERIC_TYPES = ("value_sum", "value_avg", "value_median", "value_percentile")


@pytest.mark.parametrize("seed", range(2))
def test_correlations_of_numbers_fire_at_the_same_times(tmp_path: Path, seed: int):
    made = sigma_oracle.RandomRules(100 + seed)
    rules = [made.rule(f"r{i}") for i in range(12)]
    events = [made.numbered(made.event(i)) for i in range(150)]
    names = [rule["name"] for rule in rules]
    correlations = [
        made.numeric_correlation(f"c{kind}{i}", kind, names) for kind in NUMERIC_TYPES for i in range(4)
    ]
    found = {
        (alert["rule"]["name"], tuple(alert["entity"].values()), alert_second(alert))
        for alert in detect(tmp_path, rules + correlations, events)
        if alert["rule"]["name"].startswith("c")
    }
    by_type = {each["name"]: sigma_oracle.alerts(rules, each, events) for each in correlations}
    for kind in NUMERIC_TYPES:
        assert sum(len(alerts) for name, alerts in by_type.items() if kind in name) > 5, kind
    expected = set().union(*by_type.values())
    bodies = {each["name"]: each["correlation"] for each in correlations}
    assert [(each, bodies[each[0]]) for each in sorted(expected ^ found)][:3] == []


def alert_second(alert: dict) -> int:
    """Returns the alert's time in seconds since 1970; the events are from its first day."""
    hours, minutes, seconds = alert["@timestamp"].removesuffix("Z").split("T")[1].split(":")
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds)


CORNERS = yaml.safe_load((Path(__file__).parent / "sigma_corners.yaml").read_text())


def test_corners_of_the_specification(tmp_path: Path):
    rules, events, expected = corner_rules(), corner_events(), set()
    for number, corner in enumerate(CORNERS):
        expected |= {(f"c{number}", f"{number}.{name}") for name in corner["matches"]}
    found = {
        (alert["rule"]["name"], alert["event_ids"][0])
        for alert in detect(tmp_path, rules, events)
        if is_own(alert["rule"]["name"], alert["event_ids"][0])
    }
    assert described(found ^ expected) == []
    asked = [rule for rule, corner in zip(rules, CORNERS, strict=True) if "pysigma" not in corner]
    names = {rule["name"] for rule in asked}
    by_oracle = {each for each in sigma_oracle.matches(asked, events) if is_own(*each)}
    assert described(by_oracle ^ {each for each in expected if each[0] in names}) == []


def corner_rules() -> list[dict]:
    return [
        {
            "title": corner["case"],
            "name": f"c{number}",
            "logsource": {"category": "database"},
            "detection": corner["detection"],
        }
        for number, corner in enumerate(CORNERS)
    ]


def corner_events() -> list[dict]:
    return [
        {"event_id": f"{number}.{name}", "timestamp": number, **fields}
        for number, corner in enumerate(CORNERS)
        for name, fields in corner["events"].items()
    ]


def is_own(rule: str, event: str) -> bool:
    """Returns whether the event belongs to the rule's case."""
    return rule.removeprefix("c") == event.split(".")[0]


def described(differences: set[tuple[str, str]]) -> list[str]:
    return [f"{CORNERS[int(rule[1:])]['case']}: {event}" for rule, event in sorted(differences)]


CORRELATION_CORNERS = yaml.safe_load((Path(__file__).parent / "sigma_correlation_corners.yaml").read_text())


@pytest.mark.parametrize("corner", CORRELATION_CORNERS, ids=lambda corner: corner["case"])
def test_corners_of_correlations(tmp_path: Path, corner: dict):
    rules = [{"title": each["name"], "logsource": {"category": "x"}, **each} for each in corner["rules"]]
    correlations = [{"title": each["name"], **each} for each in corner["correlations"]]
    events = [{"event_id": f"e{number}", **event} for number, event in enumerate(corner["events"])]
    found = [
        " ".join([alert["rule"]["name"], str(alert_second(alert)), *alert["entity"].values()])
        for alert in detect(tmp_path, rules + correlations, events)
    ]
    assert sorted(found) == sorted(corner["alerts"])
