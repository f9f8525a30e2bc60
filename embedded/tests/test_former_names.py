"""Renamed metrics and alerts have their former names beside the present ones, as docs/METRICS.md lists."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from tailrace.clickhouse.client import ClickHouse
from tailrace.config.home import Home
from tailrace.config.resources import REPOSITORY
from tailrace.health import exporter, rules
from tailrace.health import metrics as health_metrics
from tailrace.health.former_names import FORMER_METRICS
from tailrace_local import health
from tailrace_local.supervisor.control import ComponentStatus, StackStatus

TABLE = re.compile(r"^\| `(tailrace_\w+)` \| `(tailrace_\w+)` \|$", re.MULTILINE)
DOCUMENTED = dict(TABLE.findall((REPOSITORY / "docs" / "METRICS.md").read_text()))
STATUS = StackStatus(
    pid=1,
    since=0,
    components=(
        ComponentStatus("kafka", "healthy", "", 2, 3, 0, "", "4.1", rss_bytes=4096, cpu_seconds=1.5),
        ComponentStatus("flink", "unhealthy", "hangs", 5, 0, 0, "", "2.1", rss_bytes=8192, cpu_seconds=2.5),
    ),
)


def of_logs(name: str) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, "", labels=["instance", "source"])
    family.add_metric(["db-1", "slowlog"], 7)
    family.add_metric(["db-2", "audit"], 9)
    return family


def exported(metrics: Iterable[Metric]) -> list[Sample]:
    return [
        sample
        for family in text_string_to_metric_families(exporter.text(metrics))
        for sample in family.samples
    ]


def test_the_document_lists_the_former_name_of_each_renamed_metric():
    assert {name.removesuffix("_total"): old.removesuffix("_total") for name, old in DOCUMENTED.items()} == (
        FORMER_METRICS
    )


def test_metrics_of_components_have_their_former_name_and_label(tmp_path: Path):
    samples = exported(health.supervisor_metrics(STATUS, Home(tmp_path)))
    present = {
        (DOCUMENTED[sample.name], sample.labels["component"]): sample.value
        for sample in samples
        if sample.name in DOCUMENTED
    }
    former = {
        (sample.name, sample.labels["part"]): sample.value for sample in samples if "part" in sample.labels
    }
    assert len(present) == 6 * len(STATUS.components)
    assert former == present
    without_former_name = [each for each in samples if each.name == "tailrace_component_recent_restarts"]
    assert len(samples) == 2 * len(present) + len(without_former_name)


def test_metrics_of_the_ledger_have_their_former_names():
    nobody = ClickHouse("http://127.0.0.1:9", "nobody", "")
    assert {sample.name: sample.value for sample in exported(health_metrics.ledger_metrics(nobody))} == {
        "tailrace_ledger_up": 0,
        "tailrace_books_up": 0,
    }


@pytest.mark.parametrize(
    "name", ["tailrace_census_missing_seconds", "tailrace_source_removed_timestamp_seconds"]
)
def test_labels_and_values_of_logs_are_the_same_under_the_former_name(name: str):
    samples = exported([of_logs(name)])
    present, former = ([each for each in samples if each.name == of] for of in (name, DOCUMENTED[name]))
    assert [(each.labels, each.value) for each in former] == [(each.labels, each.value) for each in present]
    assert len(present) == 2


def test_metrics_that_kept_their_name_are_exported_once():
    assert len(exported([of_logs("tailrace_gap_bytes")])) == 2


def test_a_renamed_alert_has_its_former_name_as_a_label():
    document = (REPOSITORY / "docs" / "METRICS.md").read_text()
    documented = dict(re.findall(r"^\| (Tailrace\w+) \| (Tailrace\w+) \|$", document, re.MULTILINE))
    assert len(documented) == 4
    assert documented == {
        rule.name: rule.labels["former_name"] for rule in rules.load() if "former_name" in rule.labels
    }


def test_an_alert_of_a_component_has_the_former_label(tmp_path: Path):
    found = rules.firing(rules.load(), health.supervisor_metrics(STATUS, Home(tmp_path)))
    (down,) = (each for each in found if each.rule.name == "TailraceComponentDown")
    assert down.labels == {"component": "flink", "part": "flink", "former_name": "TailracePartDown"}
    assert down.summary == "flink is not healthy"
