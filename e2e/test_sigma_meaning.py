"""Rules have the semantics of pySigma: the same rules and events in both."""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from e2e import sigma_oracle
from e2e.limits import LIMIT_SECONDS
from tailrace.config.resources import REPOSITORY

TAILRACE = REPOSITORY / "bin" / "tailrace"
APART_SECONDS = 5000
"""Between events that are to be in no common window, of which the longest is a minute."""


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
        timeout=2 * LIMIT_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@dataclass(frozen=True)
class Made:
    """Rules, correlations and events of one seed; its names and times are those of no other seed."""

    rules: list[dict]
    correlations: list[dict]
    events: list[dict]

    @property
    def bodies(self) -> dict[str, dict]:
        return {each["name"]: each["correlation"] for each in self.correlations}

    def expected(self) -> set[tuple[str, tuple, int]]:
        return set().union(
            *(sigma_oracle.alerts(self.rules, each, self.events) for each in self.correlations)
        )

    def found(self, alerts: list[dict]) -> set[tuple[str, tuple, int]]:
        """Returns the alerts of these correlations that these events have raised."""
        times = {event["timestamp"] for event in self.events}
        return {
            (alert["rule"]["name"], tuple(alert["entity"].values()), alert_second(alert))
            for alert in alerts
            if alert["rule"]["name"] in self.bodies and alert_second(alert) in times
        }


def detected_together(directory: Path, parts: list[Made]) -> list[dict]:
    """Detects for all seeds at once: to start the command takes a CPU-second, and the rest a tenth of it."""
    rules = [rule for made in parts for rule in (*made.rules, *made.correlations)]
    return detect(directory, rules, [event for made in parts for event in made.events])


def later(events: list[dict], number: int) -> list[dict]:
    """Moves the events so far that no window contains those of two numbers."""
    return [{**event, "timestamp": event["timestamp"] + number * APART_SECONDS} for event in events]


@pytest.mark.parametrize("seeds", [(0, 1, 2), (3, 4, 5)], ids=str)
def test_rules_match_the_same_events(tmp_path: Path, seeds: tuple[int, ...]):
    rules, events, expected = {}, {}, set()
    for seed in seeds:
        made = sigma_oracle.RandomRules(seed)
        own = [made.rule(f"{seed}.r{i}") for i in range(150)]
        seen = [{**event, "event_id": f"{seed}.{event['event_id']}"} for event in map(made.event, range(120))]
        matches = sigma_oracle.matches(own, seen)
        assert len(matches) > 1000
        expected |= matches
        rules |= {rule["name"]: rule for rule in own}
        events |= {event["event_id"]: event for event in seen}
    pairs = {
        (alert["rule"]["name"], alert["event_ids"][0])
        for alert in detect(tmp_path, [*rules.values()], [*events.values()])
    }
    found = {(rule, event) for rule, event in pairs if rule.split(".")[0] == event.split(".")[0]}
    different = sorted(expected ^ found)
    assert [(rules[rule]["detection"], events[event]) for rule, event in different][:3] == []


def test_correlations_fire_at_the_same_times(tmp_path: Path):
    parts = []
    for seed in range(4):
        made = sigma_oracle.RandomRules(seed)
        rules = [made.rule(f"{seed}.r{i}") for i in range(12)]
        events = later([made.event(i) for i in range(200)], seed)
        names = [rule["name"] for rule in rules]
        parts.append(Made(rules, [made.correlation(f"{seed}.c{i}", names) for i in range(15)], events))
    alerts = detected_together(tmp_path, parts)
    for made in parts:
        expected = made.expected()
        assert len(expected) > 30
        different = sorted(expected ^ made.found(alerts))
        assert [(each, made.bodies[each[0]]) for each in different][:3] == []


NUMERIC_TYPES = ("value_sum", "value_avg", "value_median", "value_percentile")


def test_correlations_of_numbers_fire_at_the_same_times(tmp_path: Path):
    parts = []
    for seed in range(2):
        made = sigma_oracle.RandomRules(100 + seed)
        rules = [made.rule(f"{seed}.r{i}") for i in range(12)]
        events = later([made.numbered(made.event(i)) for i in range(150)], seed)
        names = [rule["name"] for rule in rules]
        correlations = [
            made.numeric_correlation(f"{seed}.c{kind}{i}", kind, names)
            for kind in NUMERIC_TYPES
            for i in range(4)
        ]
        parts.append(Made(rules, correlations, events))
    alerts = detected_together(tmp_path, parts)
    for made in parts:
        expected = made.expected()
        for kind in NUMERIC_TYPES:
            assert sum(kind in name for name, _, _ in expected) > 5, kind
        different = sorted(expected ^ made.found(alerts))
        assert [(each, made.bodies[each[0]]) for each in different][:3] == []


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


def test_corners_of_correlations(tmp_path: Path):
    """All cases in one run: each has names and times of its own."""
    rules, events, expected = [], [], []
    for number, corner in enumerate(CORRELATION_CORNERS):
        named = [_named(each, f"{number}.") for each in (*corner["rules"], *corner["correlations"])]
        rules += [{"title": each["name"], "logsource": {"category": "database"}, **each} for each in named]
        listed = [{"event_id": f"{number}.e{at}", **event} for at, event in enumerate(corner["events"])]
        events += later(listed, number)
        expected += [f"{corner['case']}: {alert}" for alert in corner["alerts"]]
    found = []
    for alert in detect(tmp_path, rules, events):
        corner, second = divmod(alert_second(alert), APART_SECONDS)
        number, name = alert["rule"]["name"].split(".")
        if int(number) == corner:
            words = " ".join([name, str(second), *alert["entity"].values()])
            found.append(f"{CORRELATION_CORNERS[corner]['case']}: {words}")
    assert sorted(found) == sorted(expected)


NAME_IN_CONDITION = re.compile(r"\b(?!and\b|or\b|not\b)[a-z]\w*")


def _named(rule: dict, prefix: str) -> dict:
    """Returns a rule or correlation with the prefix before its name and the names that it refers to."""
    named = {**rule, "name": prefix + rule["name"]}
    if body := rule.get("correlation"):
        aliases = {
            alias: {prefix + name: field for name, field in fields.items()}
            for alias, fields in body.get("aliases", {}).items()
        }
        if "rules" in body:
            body = {**body, "rules": [prefix + name for name in body["rules"]]}
        if isinstance(body.get("condition"), str):
            body = {**body, "condition": NAME_IN_CONDITION.sub(rf"{prefix}\g<0>", body["condition"])}
        named["correlation"] = {**body, **({"aliases": aliases} if aliases else {})}
    return named
