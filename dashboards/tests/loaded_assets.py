"""The files of dashboards/, loaded once, for the tests that check them."""

import re

import jinja2

from tailrace.clickhouse.query_files import QUERIES, query_text
from tailrace.dashboards import asset_files, changes, layout
from tailrace.dashboards import assets as dashboard_assets
from tailrace.dashboards.asset import Asset

ASSETS = asset_files.load()
COMPILED = dashboard_assets.compile_assets()
DEPRECATED = re.compile(r"^In milliseconds, for saved charts\. Deprecated, use (\w+)\.$")
"""The description of a deprecated metric or column, with the name of the one in seconds."""


def of_kind(kind: str) -> list[Asset]:
    return [asset for asset in ASSETS if asset.kind == kind]


def names(assets: list[Asset]) -> list[str]:
    return [asset.name for asset in assets]


def dataset_of(chart: Asset) -> Asset:
    return next(asset for asset in of_kind("datasets") if asset.name == chart.content["dataset"])


def deprecated(dataset: Asset) -> dict[str, str]:
    """Returns the deprecated names of a dataset, with the names that replace them."""
    named = {each["column_name"]: each for each in dataset.content["columns"]}
    named |= {each["metric_name"]: each for each in dataset.content["metrics"]}
    found = {name: DEPRECATED.match(each.get("description") or "") for name, each in named.items()}
    return {name: match[1] for name, match in found.items() if match}


def charts_of(dashboard: Asset) -> list[Asset]:
    return charts_named(layout.charts(dashboard.content))


def charts_named(placed: list[str]) -> list[Asset]:
    return [chart for chart in of_kind("charts") if chart.name in placed]


def titles_shown(chart: Asset) -> list[str]:
    """Returns the title of a chart, or the titles of the numbers and changes of a row of numbers."""
    numbers = [number["title"] for number in chart.content.get("numbers", [])]
    if changes.has_changes(chart.content):
        numbers.append(changes.title(chart.content))
    return numbers or [chart.content["slice_name"]]


def filtered_in_sql(dataset: Asset) -> set[str]:
    """Returns the columns whose filters the query of a dataset applies itself, by filter_values."""
    asked: set[str] = set()
    environment = jinja2.Environment()
    environment.filters["where_in"] = str
    query = environment.from_string(query_text(QUERIES / dataset.content["sql"]))
    for chosen in ([], ["1"]):  # a query may ask for one filter only if another is set

        def filter_values(column: str, chosen: list[str] = chosen, **_: bool) -> list[str]:
            asked.add(column)
            return chosen

        query.render(filter_values=filter_values, get_time_filter=_AnyTime)
    return asked


class _AnyTime:
    """The result of Superset's get_time_filter()."""

    time_range = "No filter"


OVER_TIME = [chart for chart in of_kind("charts") if chart.content["viz_type"].startswith("echarts_")]
