"""Tests that files of dashboards/ state only what differs from defaults.yaml and from a chart's dataset."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from dashboards.tests import restated_defaults
from tailrace.dashboards import asset_files, defaults
from tailrace.dashboards.asset import Asset
from tailrace.dashboards.asset_files import AssetError

DEFAULTS = {
    "charts": {
        "table": {"metrics": None, "row_limit": 10, "order_desc": True, "stack": None, "column_config": None},
        "table with metrics": {
            "row_limit": 1000,
            "show_cell_bars": True,
            "column_config": "d3format of each metric",
        },
        "big_number_total": {"metric": None, "y_axis_format": "d3format of the metric"},
    },
    "columns": {"user": {"type": "String", "verbose_name": "User"}},
    "filters": {"Client": {"key": "src_ip", "column": "src_ip"}},
    "dashboards": {"metadata": {"color_scheme": "tailrace", "refresh_frequency": 60}},
}
DATASET = {
    "table_name": "Some",
    "database": "tailrace",
    "sql": "load.sql",
    "when_empty": {"means": "No row", "next": "Widen the range"},
    "columns": ["user"],
    "metrics": [
        {"metric_name": "share", "expression": "1", "d3format": ".1%"},
        {"metric_name": "executions", "expression": "1", "d3format": ",d"},
    ],
}
CHART = {"slice_name": "Some", "description": "Some rows.", "viz_type": "table", "dataset": "some"}
DASHBOARD = {"dashboard_title": "Some", "slug": "some", "roles": ["developer"], "layout": [], "filters": []}


@pytest.fixture
def completed(tmp_path: Path):
    """Returns a function that writes one asset next to DATASET and returns it with its defaults."""
    (tmp_path / "defaults.yaml").write_text(yaml.safe_dump(DEFAULTS, sort_keys=False))
    write(tmp_path / "datasets" / "some.yaml", DATASET)

    def load(kind: str, content: dict[str, Any]) -> dict[str, Any]:
        write(tmp_path / kind / "some.yaml", content)
        return next(asset.content for asset in asset_files.load(tmp_path) if asset.kind == kind)

    return load


def write(file: Path, content: dict[str, Any]) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump(content, sort_keys=False))


def test_no_file_states_its_defaults():
    assert list(restated_defaults.repeated(asset_files.DIRECTORY)) == []


def test_every_default_is_that_of_several_assets():
    written, shared = asset_files.read(), defaults.read(asset_files.DIRECTORY)
    for section, kind in (("columns", "datasets"), ("filters", "dashboards")):
        counts = Counter(name(each) for asset in of_kind(kind, written) for each in asset.content[section])
        assert {each for each in shared[section] if counts[each] < 2} == set()


def test_every_listed_parameter_is_one_of_a_chart():
    sections = defaults.read(asset_files.DIRECTORY)["charts"].items()
    used = {
        (asset.content["viz_type"], parameter)
        for asset in of_kind("charts", asset_files.load())
        for parameter in asset.content["params"]
    }
    listed = {(kind.partition(" with ")[0], each) for kind, section in sections for each in section}
    assert listed - used == set()


def of_kind(kind: str, assets: list[Asset]) -> list[Asset]:
    return [asset for asset in assets if asset.kind == kind]


def name(written: str | dict[str, Any]) -> str:
    """Returns the name of a column or of a filter."""
    return written if isinstance(written, str) else written.get("column_name") or written["name"]


def test_a_repeated_default_is_named_with_its_line(tmp_path: Path, completed):
    completed("charts", {**CHART, "params": {"row_limit": 10, "order_desc": False}})
    completed("datasets", {**DATASET, "columns": [{"column_name": "user", "verbose_name": "User"}]})
    assert list(restated_defaults.repeated(tmp_path)) == [
        "datasets/some.yaml:9: delete `verbose_name: User`, which is the default",
        "charts/some.yaml:6: delete `row_limit: 10`, which is the default",
    ]


def test_a_chart_has_the_defaults_of_its_type_in_their_order(completed):
    chart = completed("charts", {**CHART, "params": {"stack": None, "order_desc": False}})
    assert list(chart["params"].items()) == [("row_limit", 10), ("order_desc", False), ("stack", None)]
    assert chart["when_empty"] == DATASET["when_empty"]


def test_a_chart_can_do_without_a_default(completed):
    chart = completed("charts", {**CHART, "without": ["row_limit"]})
    assert chart["params"] == {"order_desc": True}
    assert "without" not in chart


def test_numbers_have_the_format_of_their_metric(completed):
    params = {"metrics": ["share", "executions"], "column_config": {"share": {"showCellBars": True}}}
    table = completed("charts", {**CHART, "params": params})
    assert table["params"]["row_limit"] == 1000
    assert table["params"]["column_config"] == {
        "share": {"d3NumberFormat": ".1%", "showCellBars": True},
        "executions": {"d3NumberFormat": ",d", "showCellBars": False},
    }
    number = completed("charts", {**CHART, "viz_type": "big_number_total", "params": {"metric": "share"}})
    assert number["params"]["y_axis_format"] == ".1%"
    assert "when_empty" not in number


def test_a_parameter_that_no_chart_has_is_refused(completed):
    with pytest.raises(AssetError) as raised:
        completed("charts", {**CHART, "without": ["stakc"], "params": {"row_limt": 7}})
    assert str(raised.value).splitlines() == [
        "charts/some.yaml: defaults.yaml does not list the parameter `row_limt` for table",
        "charts/some.yaml: defaults.yaml does not list the parameter `stakc` for table",
    ]


def test_datasets_and_dashboards_have_defaults(completed):
    first, own = {"column_name": "user", "verbose_name": "First user"}, {"column_name": "n", "type": "UInt8"}
    assert completed("datasets", {**DATASET, "columns": ["user", first, own]})["columns"] == [
        {"column_name": "user", "type": "String", "verbose_name": "User"},
        {"column_name": "user", "type": "String", "verbose_name": "First user"},
        own,
    ]
    filters = [{"name": "Client", "dataset": "some"}]
    dashboard = completed("dashboards", {**DASHBOARD, "filters": filters, "without": ["refresh_frequency"]})
    assert dashboard["metadata"] == {"color_scheme": "tailrace"}
    assert dashboard["filters"] == [{"key": "src_ip", "column": "src_ip", **filters[0]}]


@pytest.mark.parametrize("text", ["", "charts: {}\n", "charts: [\n", None])
def test_invalid_defaults_are_refused(tmp_path: Path, text):
    if text is not None:
        (tmp_path / "defaults.yaml").write_text(text)
    with pytest.raises(AssetError, match=r"defaults\.yaml"):
        asset_files.load(tmp_path)
