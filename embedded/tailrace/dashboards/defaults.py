"""Completes the files of dashboards/ with what they share: defaults.yaml, and the dataset of a chart.

A file states only what differs. defaults.yaml contains

    charts         by viz_type, every parameter that charts of this type use, in the order in which Superset
                   receives them. A parameter without a value has no default. `TYPE with PARAMETER` applies
                   in addition to the charts that state the parameter
    columns        by name, the definition of columns of datasets; a dataset lists the name only
    filters        by name, the keys of filters of dashboards
    dashboards     keys of dashboards

A chart takes `when_empty` and the formats of its numbers from its dataset: METRIC_FORMAT in defaults.yaml
stands for the `d3format` of its first metric, COLUMN_FORMATS for the `d3format` of each. A chart or a
dashboard that shall not have a default lists its name in `without`.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

FILE = "defaults.yaml"

SECTIONS = ("charts", "columns", "filters", "dashboards")

METRIC_FORMAT = "d3format of the metric"

COLUMN_FORMATS = "d3format of each metric"

Content = dict[str, Any]


class Defaults:
    """The defaults of one directory, and its datasets by name."""

    def __init__(self, sections: Mapping[str, Any], datasets: Mapping[str, Content]) -> None:
        self._sections = sections
        self._metrics = {name: _metrics(content) for name, content in datasets.items()}
        self._when_empty = {name: content.get("when_empty") for name, content in datasets.items()}

    def complete(self, kind: str, content: Content) -> Content:
        """Returns the content of a file with its defaults. Leaves what is invalid unchanged."""
        forms = {"datasets": self._dataset, "charts": self._chart, "dashboards": self._dashboard}
        return forms[kind](content) if kind in forms else content

    def unknown_parameters(self, chart: Content) -> list[str]:
        """Returns the parameters of a chart that defaults.yaml does not list for its type."""
        stated = chart.get("params", {})
        if not isinstance(stated, dict):
            return []
        return sorted({*stated, *_unwanted(chart)} - self._parameters(chart).keys())

    def _chart(self, chart: Content) -> Content:
        metrics = self._metrics.get(str(chart.get("dataset")), {})
        if isinstance(chart.get("numbers"), list):
            return {**chart, "numbers": [_with_format(number, metrics) for number in chart["numbers"]]}
        completed = _without_unwanted(chart)
        stated = chart.get("params", {})
        if isinstance(stated, dict):
            defaults = _wanted(self._parameters(chart), chart)
            completed["params"] = _with_formats(defaults, _merged(defaults, stated), metrics)
        when_empty = self._when_empty.get(str(chart.get("dataset")))
        if when_empty and chart.get("viz_type") != "big_number_total":
            completed.setdefault("when_empty", when_empty)
        return completed

    def _parameters(self, chart: Content) -> Content:
        """Returns the defaults for a chart, in the order in which Superset receives them."""
        sections, viz_type, stated = self._sections["charts"], chart.get("viz_type"), chart.get("params", {})
        found = dict(sections.get(str(viz_type), {}))
        for name, section in sections.items():
            kind, _, parameter = name.partition(" with ")
            if kind == viz_type and parameter in stated:
                found.update(section)
        return found

    def _dataset(self, dataset: Content) -> Content:
        columns = dataset.get("columns")
        if not isinstance(columns, list):
            return dataset
        return {**dataset, "columns": [self._column(column) for column in columns]}

    def _column(self, column: Any) -> Any:
        stated = {"column_name": column} if isinstance(column, str) else column
        if not isinstance(stated, dict):
            return column
        name = stated.get("column_name")
        return {"column_name": name, **self._sections["columns"].get(name, {}), **stated}

    def _dashboard(self, dashboard: Content) -> Content:
        completed = _without_unwanted(dashboard)
        for key, default in self._sections["dashboards"].items():
            stated = dashboard.get(key, {})
            completed[key] = (
                _merged(_wanted(default, dashboard), stated) if isinstance(stated, dict) else stated
            )
        if isinstance(dashboard.get("filters"), list):
            completed["filters"] = [self._filter(each) for each in dashboard["filters"]]
        return completed

    def _filter(self, stated: Any) -> Any:
        if not isinstance(stated, dict):
            return stated
        return {**self._sections["filters"].get(stated.get("name"), {}), **stated}


def read(directory: Path) -> dict[str, Any]:
    """Returns the sections of defaults.yaml. Raises OSError, yaml.YAMLError, or ValueError."""
    sections = yaml.safe_load((directory / FILE).read_text())
    if not isinstance(sections, dict) or tuple(sections) != SECTIONS:
        raise ValueError(f"{FILE}: expected the sections {', '.join(SECTIONS)}")
    return sections


def _metrics(dataset: Content) -> dict[str, Any]:
    """Returns the format of each metric of a dataset, or None."""
    metrics = dataset.get("metrics")
    listed: Iterable[Any] = metrics if isinstance(metrics, list) else ()
    return {each.get("metric_name"): each.get("d3format") for each in listed if isinstance(each, dict)}


def _unwanted(content: Content) -> list[str]:
    listed = content.get("without")
    return listed if isinstance(listed, list) else []


def _without_unwanted(content: Content) -> Content:
    """Returns the content without its list `without`; anything else of that name is an unknown key."""
    return {key: value for key, value in content.items() if key != "without" or not isinstance(value, list)}


def _wanted(defaults: Content, content: Content) -> Content:
    """Returns the defaults with no value for what a file lists in `without`."""
    unwanted = _unwanted(content)
    return {key: None if key in unwanted else value for key, value in defaults.items()}


def _merged(defaults: Content, stated: Content) -> Content:
    """Returns what a file states and else the default, in the order of the defaults."""
    values = {key: stated.get(key, default) for key, default in defaults.items()}
    given = {key: value for key, value in values.items() if key in stated or value is not None}
    return {**given, **stated}


def _with_format(number: Any, formats: Mapping[str, Any]) -> Any:
    """Returns one of the numbers of a chart with the format of its metric."""
    default = formats.get(str(number.get("metric"))) if isinstance(number, dict) else None
    return {"format": default, **number} if default else number


def _with_formats(defaults: Content, params: Content, formats: Mapping[str, Any]) -> Content:
    """Returns parameters with the formats of metrics in place of METRIC_FORMAT and COLUMN_FORMATS."""
    metrics = [str(name) for name in params.get("metrics") or [params.get("metric")]]
    values = {
        key: formats.get(metrics[0]) if value == METRIC_FORMAT else value for key, value in params.items()
    }
    if defaults.get("column_config") == COLUMN_FORMATS:
        bars = {"showCellBars": False} if params.get("show_cell_bars") else {}
        derived = {name: {"d3NumberFormat": formats[name], **bars} for name in metrics if formats.get(name)}
        values["column_config"] = _merged_columns(derived, values["column_config"]) or None
    return {key: value for key, value in values.items() if value is not None or params[key] is None}


def _merged_columns(derived: Content, stated: Content | str) -> Content:
    """Returns the values that a chart states for columns, and the derived values for its metrics."""
    own = {} if isinstance(stated, str) else stated
    return {name: {**derived.get(name, {}), **own.get(name, {})} for name in {**own, **derived}}
