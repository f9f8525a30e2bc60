"""Every duration of a dashboard is in seconds and has one format."""

import json
import re

import pytest
from loaded_assets import COMPILED, dataset_of, names, of_kind

FORMAT = "SECONDS"
DURATION = re.compile(
    r"seconds$|^duration$|^p\d\d|^median_|_(lock|wait|time)$|^total_(now|before)$|^time_each$|^(slow|fast)est$"
)
"""Names of columns and metrics that are durations, if they are numbers."""
NUMBER = re.compile(r"(Float|U?Int)\d+$")


@pytest.mark.parametrize("dataset", of_kind("datasets"), ids=names(of_kind("datasets")))
def test_metrics_are_seconds(dataset):
    for metric in dataset.content["metrics"]:
        is_duration = bool(DURATION.search(metric["metric_name"]))
        assert (metric.get("d3format") == FORMAT) == is_duration, f"{dataset.file}: {metric['metric_name']}"
        if is_duration:
            assert "1000" not in metric["expression"], f"{dataset.file}: {metric['metric_name']} in seconds"
            described = metric.get("description", "").lower()
            assert "in seconds" in described, f"{dataset.file}: {metric['metric_name']}"


@pytest.mark.parametrize("chart", of_kind("charts"), ids=names(of_kind("charts")))
def test_columns_and_numbers_have_the_format_of_durations(chart):
    params, content = chart.content["params"], dataset_of(chart).content
    numbers = {each["column_name"] for each in content["columns"] if NUMBER.match(each.get("type", ""))}
    shown = {name for name in params.get("all_columns", []) if name in numbers}
    shown |= {each["metric"] for each in chart.content.get("numbers", [])}
    formats = {name: each.get("d3NumberFormat") for name, each in params.get("column_config", {}).items()}
    durations = {name for name in shown if DURATION.search(name)}
    assert {name for name in durations if formats.get(name) != FORMAT} == set(), f"{chart.file}: {FORMAT}"
    assert {name for name, each in formats.items() if each == FORMAT and not DURATION.search(name)} == set()


def test_no_asset_has_another_format_of_durations():
    for file, content in COMPILED.items():
        text = json.dumps(content, default=str)
        other = re.search(r'"\w*[fF]ormat": "(DURATION\w*|\$[^"]*)"', text)
        assert other is None, f"{file}: {other[0]}: use {FORMAT}, in seconds"
