"""Every duration of a dashboard is in seconds and has one format. Metrics in milliseconds are deprecated."""

import json
import re

import pytest
from loaded_assets import COMPILED, dataset_of, deprecated, names, of_kind

FORMAT = "SECONDS"
DURATION = re.compile(
    r"seconds$|^seconds_(now|before)$|^p\d\d|^median_|_(lock|wait|time)$|^time_each$|^(slow|fast)est$"
)
"""Names of columns and metrics that are durations, if they are numbers."""
INCLUDES = '{%- include "parts/unknown_values.sql" -%}\n'
NUMBER = re.compile(r"(Float|U?Int)\d+$")
IN_MILLISECONDS = {
    "failed_statements": {"sum_seconds"},
    "heaviest_queries": {"total_time"},
    "innodb_statements": {"sum_lock_time", "sum_read_wait", "sum_row_lock_wait"},
    "load": {"total_time"},
    "query_calls": {"database_time"},
    "query_executions": {"total_time"},
    "session_events": {"duration"},
    "slow_compared": {"total_before", "total_now"},
    "slow_origins": {"total_time"},
    "trace_calls": {"database_time"},
    "trace_repeats": {"loop_time"},
}
"""Names that charts of users have, by dataset. A name must not change its unit."""


@pytest.mark.parametrize("dataset", of_kind("datasets"), ids=names(of_kind("datasets")))
def test_metrics_are_seconds(dataset):
    for metric in dataset.content["metrics"]:
        if metric["metric_name"] in deprecated(dataset):
            continue
        is_duration = bool(DURATION.search(metric["metric_name"]))
        assert (metric.get("d3format") == FORMAT) == is_duration, f"{dataset.file}: {metric['metric_name']}"
        if is_duration:
            assert "1000" not in metric["expression"], f"{dataset.file}: {metric['metric_name']} in seconds"
            described = metric.get("description", "").lower()
            assert "in seconds" in described, f"{dataset.file}: {metric['metric_name']}"


def test_old_names_are_in_milliseconds_beside_new_names_in_seconds():
    found = {dataset.name: set(deprecated(dataset)) for dataset in of_kind("datasets") if deprecated(dataset)}
    assert found == IN_MILLISECONDS
    for dataset in of_kind("datasets"):
        metrics = {each["metric_name"]: each for each in dataset.content["metrics"]}
        columns = {each["column_name"] for each in dataset.content["columns"]}
        for old, new in deprecated(dataset).items():
            if old in columns:  # test_developer_queries compares the values
                assert new in columns, f"{dataset.file}: {new}"
                continue
            seconds = metrics[new]["expression"].rpartition(INCLUDES)
            expected = f"{seconds[0]}{seconds[1]}1000 * {seconds[2]}"
            assert metrics[old]["expression"] == expected, dataset.file
            assert (metrics[old]["d3format"], metrics[new]["d3format"]) == ("DURATION", FORMAT)


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


@pytest.mark.parametrize("chart", of_kind("charts"), ids=names(of_kind("charts")))
def test_no_chart_uses_a_deprecated_name(chart):
    changing = {each.get("change") for each in chart.content.get("numbers", [])}
    used = changing | set(re.findall(r"\w+", json.dumps(chart.content["params"], default=str)))
    assert used & set(deprecated(dataset_of(chart))) == set(), chart.file


def test_no_chart_has_another_format_of_durations():
    for file, content in COMPILED.items():
        if file.startswith("datasets/"):  # deprecated metrics have it
            continue
        text = json.dumps(content, default=str)
        other = re.search(r'"\w*[fF]ormat": "(DURATION\w*|\$[^"]*)"', text)
        assert other is None, f"{file}: {other[0]}: use {FORMAT}, in seconds"
