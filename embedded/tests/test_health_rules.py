"""alerts.yaml, the runbooks and the tests that trigger and resolve each alert agree."""

import re
from pathlib import Path

import pytest
from prometheus_client.core import GaugeMetricFamily

from tailrace.config.resources import REPOSITORY
from tailrace.health import rules
from tailrace.health.rules import Rule

RULES = rules.load()
RUNBOOKS = REPOSITORY / "docs" / "runbooks"
TEST = re.compile(r"`(e2e/\w+\.py)::(\w+)`")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_each_alert_has_a_runbook_with_its_name(rule: Rule):
    assert f"`{rule.name}`" in (REPOSITORY / rule.runbook).read_text()
    assert rule.name in (RUNBOOKS / "README.md").read_text()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_each_runbook_names_a_test_that_sees_the_alert_fire_and_clear(rule: Rule):
    named = TEST.findall((REPOSITORY / rule.runbook).read_text())
    assert named
    texts = [(REPOSITORY / file).read_text() for file, _ in named]
    assert all(f"\ndef {name}(" in text for (_, name), text in zip(named, texts, strict=True))
    assert any(f'"{rule.name}"' in text for text in texts)
    assert all("await_alert(" in text and "await_cleared(" in text for text in texts)


def test_each_runbook_is_of_an_alert():
    assert {rule.runbook for rule in RULES} == {
        str(path.relative_to(REPOSITORY)) for path in RUNBOOKS.glob("*.md") if path.name != "README.md"
    }


def test_each_metric_is_documented():
    documented = (REPOSITORY / "docs" / "METRICS.md").read_text()
    assert all(f"`{rule.metric}`" in documented for rule in RULES)


def test_a_sample_beyond_the_limit_fires_with_its_labels():
    rule = next(rule for rule in RULES if rule.name == "TailraceGaps")
    gaps = GaugeMetricFamily("tailrace_gap_bytes", "", labels=["instance", "source"])
    gaps.add_metric(["db-1", "slowlog"], 0)
    gaps.add_metric(["db-2", "audit"], 1234)
    (found,) = rules.firing(RULES, [gaps])
    assert (found.rule, found.value) == (rule, 1234)
    assert found.summary == "1234 bytes of db-2's audit are missing"


def test_an_expression_that_prometheus_evaluates_differently_is_refused(tmp_path: Path):
    file = tmp_path / "alerts.yaml"
    file.write_text(rules.FILE.read_text().replace("tailrace_gap_bytes > 0", "sum(tailrace_gap_bytes) > 0"))
    with pytest.raises(ValueError, match="TailraceGaps: not one metric compared with one number"):
        rules.load(file)
