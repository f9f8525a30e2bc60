"""Adds to rows of big numbers their change against the equally long period before the time range.

A number of a chart states in `change` the metric of its dataset whose change is shown below it. All changes
of a chart are one further metric of its dataset, so they cost one query of the earlier period. `logs` of the
dataset lists the kinds of logs that must reach back to that period, see sql/queries/parts/change.sql.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tailrace.dashboards.asset import Asset

LOGS = ("slowlog", "audit", "general", "errorlog", "spans", "census")
"""The kinds of logs that `logs` of a dataset may list; `census` are all watched log files."""

METRIC = "changes_of_{}"
"""The metric with the changes of a chart, by the name of the chart."""


def has_changes(chart: Mapping[str, Any]) -> bool:
    return any("change" in each for each in chart.get("numbers", ()))


def metric_of(name: str, chart: Mapping[str, Any]) -> list[str]:
    """Returns the metric with the changes of a chart; without changes, none."""
    return [METRIC.format(name)] if has_changes(chart) else []


def title(chart: Mapping[str, Any]) -> str:
    """Returns the title of the changes, which only screen readers read."""
    return f"{chart['slice_name'].removesuffix(' summary')}, changes"


def problems(assets: Iterable[Asset]) -> list[str]:
    """Returns what is wrong with `logs` of datasets and `change` of numbers."""
    found = list(assets)
    metrics = {
        asset.name: {each["metric_name"] for each in asset.content["metrics"]}
        for asset in found
        if asset.kind == "datasets"
    }
    unknown_logs = [
        f"{asset.file}: unknown log `{log}` in `logs`; there are {', '.join(LOGS)}"
        for asset in found
        for log in asset.content.get("logs", ())
        if log not in LOGS
    ]
    unknown_metrics = [
        f"{asset.file}: `change` names `{each['change']}`, which is no metric of {asset.content['dataset']}"
        for asset in found
        for each in asset.content.get("numbers", ())
        if "change" in each and each["change"] not in metrics.get(asset.content["dataset"], ())
    ]
    return unknown_logs + unknown_metrics


def with_changes(assets: Iterable[Asset]) -> list[Asset]:
    """Returns the assets; datasets also have the metrics with the changes of their charts."""
    found = list(assets)
    charts = [asset for asset in found if asset.kind == "charts" and has_changes(asset.content)]
    return [_with_metrics(asset, charts) if asset.kind == "datasets" else asset for asset in found]


def _with_metrics(dataset: Asset, charts: Iterable[Asset]) -> Asset:
    added = [_metric(chart, dataset.content) for chart in charts if chart.content["dataset"] == dataset.name]
    return replace(dataset, content={**dataset.content, "metrics": [*dataset.content["metrics"], *added]})


def _metric(chart: Asset, dataset: Mapping[str, Any]) -> dict[str, str]:
    numbers = chart.content["numbers"]
    metrics = {each["metric_name"]: each for each in dataset["metrics"]}
    changing = [metrics[each["change"]] if "change" in each else None for each in numbers]
    values = ", ".join(f"toFloat64(\n{each['expression']}\n)" if each else "NULL" for each in changing)
    arguments = (
        dataset.get("main_dttm_col") or "",
        dataset.get("logs", []),
        [_unit(each) if each else "" for each in changing],
        [f"{each['change_of']}: " if "change_of" in each else "" for each in numbers],
    )
    return {
        "metric_name": METRIC.format(chart.name),
        "verbose_name": "Change",
        "description": "Change of each number against the equally long period before the time range.",
        "expression": '{%- include "parts/change.sql" -%}\n'
        f"{{%- set now -%}}\n[{values}]\n{{%- endset -%}}\n"
        f'{{%- set query -%}}\n{{%- include "{dataset["sql"]}" -%}}\n{{%- endset -%}}\n'
        f"{{{{ changes(now, query, {', '.join(map(repr, arguments))}) }}}}",
    }


def _unit(metric: Mapping[str, Any]) -> str:
    """Returns by what a metric changes: a share by percentage points, any other number by percent."""
    return "points" if str(metric.get("d3format")).endswith("%") else "percent"


def style(chart: Mapping[str, Any], selector: str) -> str:
    """Places each change below its number. `selector` selects the cells of the chart, each with a number
    but the last one.
    """
    count = len(chart["numbers"])
    cell = f"{selector}:nth-child({count + 1})"
    return (
        f"{cell} {{ grid-area: 2 / 1 / auto / span {count}; display: grid; padding: 0 !important; "
        f"border: 0 !important; grid-template-columns: repeat({count}, minmax(0, 1fr)); }}\n"
        f"{cell} em {{ padding: 0 2px 0 12px; white-space: normal; }}\n"
        f"{cell} em:first-child {{ padding-left: 4px; }}\n"
        f'{cell}::before {{ content: "{title(chart)}"; position: absolute; clip-path: inset(50%); }}\n'
        f'{cell}::after {{ content: ""; }}\n'
    )
