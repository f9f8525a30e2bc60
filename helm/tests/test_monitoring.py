"""What the Prometheus operator is given, decoded by its own types, and rules by Prometheus's own package."""

import copy
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from docker.tests.go_program import built
from helm.tests.test_chart import EVERYTHING
from tailrace.health import rules

pytestmark = pytest.mark.long  # Helm is built

SOURCES = Path(__file__).parent / "monitoring"
KINDS = ("PodMonitor", "PrometheusRule")

Check = Callable[[list[dict]], list[str]]


@pytest.fixture(scope="module")
def check() -> Check:
    """What is wrong with resources, a line for each complaint. Building the program takes a CPU-minute."""
    program = built(SOURCES)

    def complaints(resources: list[dict]) -> list[str]:
        done = subprocess.run([program], input=json.dumps(resources), capture_output=True, text=True)
        assert done.returncode == bool(done.stdout), done.stderr
        return done.stdout.splitlines()

    return complaints


@pytest.fixture(scope="module")
def resources(render) -> list[dict]:
    return [each for each in render("", *EVERYTHING) if each["kind"] in KINDS]


def test_the_operator_knows_every_field_and_prometheus_every_rule(resources, check):
    assert {each["kind"] for each in resources} == set(KINDS)
    assert check(resources) == []


def test_alerts_are_those_of_one_machine(resources):
    (given,) = (each["spec"] for each in resources if each["kind"] == "PrometheusRule")
    assert given == yaml.safe_load(rules.FILE.read_text())


@pytest.mark.parametrize(
    ("field", "wrong", "said"),
    [
        ("expr", "tailrace_lag_seconds >", "parse error"),
        ("annotations", {"summary": "{{ $labels.instance }"}, "annotation"),
        ("for", "1 minute", "duration"),
        ("severity", "critical", "severity"),
    ],
)
def test_what_prometheus_would_refuse_is_told(resources, check, field, wrong, said):
    changed = copy.deepcopy(next(each for each in resources if each["kind"] == "PrometheusRule"))
    changed["spec"]["groups"][0]["rules"][0][field] = wrong
    assert said in " ".join(check([changed]))


def test_a_field_that_the_operator_does_not_know_is_told(resources, check):
    changed = copy.deepcopy(next(each for each in resources if each["kind"] == "PodMonitor"))
    changed["spec"]["podMetricsEndpoints"][0]["honourLabels"] = True
    (complaint,) = check([changed])
    assert "honourLabels" in complaint
