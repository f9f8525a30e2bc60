"""Health alerts: evaluates alerts.yaml on the metrics of one moment."""

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from prometheus_client.metrics_core import Metric
from prometheus_client.samples import Sample

FILE = Path(__file__).with_name("alerts.yaml")
COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {"<": operator.lt, ">": operator.gt}
EXPRESSION = re.compile(r"(?P<metric>[a-zA-Z_:][a-zA-Z0-9_:]*) (?P<compared>[<>]) (?P<limit>[0-9.]+)")
REFERENCE = re.compile(r"\{\{ \$(?:labels\.(\w+)|value) \}\}")


@dataclass(frozen=True)
class Rule:
    """One rule of alerts.yaml."""

    name: str
    metric: str
    compared: str
    limit: float
    severity: str
    labels: Mapping[str, str]
    """Labels that the rule adds, with Prometheus' references to labels of the sample."""
    summary: str
    """With Prometheus' references to labels and value."""
    runbook: str
    """Path in the repository."""


@dataclass(frozen=True)
class Firing:
    """A rule and a sample that meets its condition."""

    rule: Rule
    labels: Mapping[str, str]
    """Labels of the sample, and those that the rule adds."""
    value: float

    @property
    def summary(self) -> str:
        """The rule's summary, with labels and value filled in."""
        return _filled(self.rule.summary, self.labels, self.value)


def load(file: Path = FILE) -> list[Rule]:
    """Reads the rules. Raises ValueError for an expression that is not one metric compared with one
    number."""
    groups = yaml.safe_load(file.read_text())["groups"]
    return [_rule(each) for group in groups for each in group["rules"]]


def firing(rules: Iterable[Rule], metrics: Iterable[Metric]) -> list[Firing]:
    """Returns the rules that match now, in their order, ignoring `for`, which only Prometheus evaluates."""
    samples = [sample for metric in metrics for sample in metric.samples]
    return [
        Firing(rule, _labels(rule, sample), sample.value)
        for rule in rules
        for sample in samples
        if sample.name == rule.metric and COMPARISONS[rule.compared](sample.value, rule.limit)
    ]


def _labels(rule: Rule, sample: Sample) -> dict[str, str]:
    added = {name: _filled(text, sample.labels, sample.value) for name, text in rule.labels.items()}
    return {**sample.labels, **added}


def _filled(text: str, labels: Mapping[str, str], value: float) -> str:
    def filled(reference: re.Match[str]) -> str:
        return labels.get(reference[1], "") if reference[1] else f"{value:.4g}"

    return REFERENCE.sub(filled, text)


def _rule(entry: Mapping) -> Rule:
    parsed = EXPRESSION.fullmatch(entry["expr"])
    if not parsed:
        raise ValueError(f"{entry['alert']}: not one metric compared with one number: {entry['expr']}")
    annotations, labels = entry["annotations"], dict(entry["labels"])
    return Rule(
        entry["alert"],
        parsed["metric"],
        parsed["compared"],
        float(parsed["limit"]),
        labels.pop("severity"),
        labels,
        annotations["summary"],
        annotations["runbook"],
    )
