"""Reads dashboards/: assets by kind and name."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import yaml

from tailrace.config.resources import ROOT
from tailrace.dashboards import changes, defaults, layout
from tailrace.dashboards.asset import Asset
from tailrace.dashboards.defaults import Defaults
from tailrace.errors import ReportedError

DIRECTORY = ROOT / "dashboards"

YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
YAML_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
"""libyaml's loader if PyYAML has it: an import reads 500 files, which takes 12 CPU-seconds in Python."""

REQUIRED = {
    "databases": {"database_name": str, "sqlalchemy_uri": str},
    "datasets": {"table_name": str, "database": str, "sql": str, "columns": list, "metrics": list},
    "charts": {"slice_name": str, "description": str, "viz_type": str, "dataset": str, "params": dict},
    "dashboards": {"dashboard_title": str, "slug": str, "roles": list, "filters": list},
}
"""The required keys by kind, in the order in which Superset must import the kinds."""

OPTIONAL = {
    "databases": {"cache_timeout", "expose_in_sqllab", "extra"},
    "datasets": {"cache_timeout", "description", "logs", "main_dttm_col", "when_empty"},
    "charts": {"cache_timeout", "when_empty", "numbers"},
    "dashboards": {"description", "metadata", "layout", "tabs"},
}

ROLES = ("developer", "compliance", "security", "unmasked")
"""The audiences of dashboards, by key of roles.yaml; administrators see all dashboards."""

NUMBER = ("title", "metric", "format", "subtitle", "description")
"""The keys of each of a chart's `numbers`: texts, a metric of the dataset, and its format (by default the
metric's)."""

CHANGE = ("change", "change_of")
"""Further keys of a number: the metric whose change is shown below it, and what it counts (changes.py)."""

NUMBERS_NAMED = " summary"
"""The suffix of the name of a chart of numbers, by which style.css selects it."""


class AssetError(ReportedError, ValueError):
    """Files of dashboards/ are invalid; each line of the message contains a file and its problem."""


def load(directory: Path = DIRECTORY) -> list[Asset]:
    """Returns every asset with its defaults, in the order of REQUIRED. Raises AssetError."""
    written = read(directory)
    shared = shared_values(directory, written)
    problems = [problem for asset in written for problem in _unknown_parameters(asset, shared)]
    found = [_completed(asset, shared) for asset in written]
    problems += [problem for asset in found for problem in _problems(asset)]
    problems = problems or changes.problems(found)
    if problems:
        raise AssetError("\n".join(problems))
    return changes.with_changes(found)


def read(directory: Path = DIRECTORY) -> list[Asset]:
    """Returns every asset as it is written, without its defaults. Raises AssetError if a file is not YAML."""
    return [_read(kind, path) for kind in REQUIRED for path in sorted(directory.glob(f"{kind}/*.yaml"))]


def shared_values(directory: Path, written: Iterable[Asset]) -> Defaults:
    """Returns what the assets of a directory share. Raises AssetError if defaults.yaml is invalid."""
    datasets = {asset.name: asset.content for asset in written if asset.kind == "datasets"}
    try:
        return Defaults(defaults.read(directory), datasets)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise AssetError(f"{defaults.FILE}: {error}") from error


def _unknown_parameters(asset: Asset, shared: Defaults) -> list[str]:
    unknown = shared.unknown_parameters(asset.content) if asset.kind == "charts" else []
    return [
        f"{asset.file}: {defaults.FILE} does not list the parameter `{name}` for {asset.content['viz_type']}"
        for name in unknown
    ]


def _completed(asset: Asset, shared: Defaults) -> Asset:
    completed = replace(asset, content=shared.complete(asset.kind, asset.content))
    return _with_numbers(completed) if asset.kind == "charts" and "numbers" in asset.content else completed


def _read(kind: str, path: Path) -> Asset:
    try:
        content = yaml.load(path.read_text(), YAML_LOADER)
    except yaml.YAMLError as error:
        raise AssetError(f"{kind}/{path.name}: not YAML: {error}") from error
    if not isinstance(content, dict):
        raise AssetError(f"{kind}/{path.name}: expected keys and values, found {type(content).__name__}")
    return Asset(kind, path.stem, content)


def _with_numbers(asset: Asset) -> Asset:
    """Converts a chart of numbers to the chart that Superset draws: a table of one row; style.css lays it
    out.

    Numbers next to each other are from one dataset. One query for all of them costs less, and they refer to
    the same moment.
    """
    numbers = asset.content["numbers"]
    if not (isinstance(numbers, list) and all(isinstance(each, dict) for each in numbers)):
        raise AssetError(f"{asset.file}: `numbers` must be a list of {', '.join(NUMBER)}")
    for each in numbers:
        if {*each} - {*CHANGE} != {*NUMBER} or not all(isinstance(text, str) for text in each.values()):
            raise AssetError(f"{asset.file}: a number has the texts {', '.join(NUMBER)}; found {each}")
    if not str(asset.content.get("slice_name")).endswith(NUMBERS_NAMED):
        raise AssetError(f"{asset.file}: the name of a chart of numbers ends with `{NUMBERS_NAMED}`")
    params = {
        "query_mode": "aggregate",
        "groupby": [],
        "metrics": [each["metric"] for each in numbers] + changes.metric_of(asset.name, asset.content),
        "row_limit": 1,
        "page_length": 0,
        "include_search": False,
        "show_cell_bars": False,
        "column_config": {each["metric"]: {"d3NumberFormat": each["format"]} for each in numbers},
    }
    return Asset(
        asset.kind,
        asset.name,
        {
            **asset.content,
            "viz_type": "table",
            "description": "\n\n".join(f"{each['title']}: {each['description']}" for each in numbers),
            "params": params,
        },
    )


def _problems(asset: Asset) -> list[str]:
    required, content = REQUIRED[asset.kind], asset.content
    wrong = [
        f"{asset.file}: `{key}` must be {kind.__name__}, found {type(content.get(key)).__name__}"
        for key, kind in required.items()
        if not isinstance(content.get(key), kind)
    ]
    unknown = sorted(content.keys() - required.keys() - OPTIONAL[asset.kind])
    placed = layout.problems(content) if asset.kind == "dashboards" else []
    strangers = [role for role in content.get("roles", []) if role not in ROLES]
    return (
        wrong
        + [f"{asset.file}: unknown key `{key}`" for key in unknown]
        + [f"{asset.file}: {problem}" for problem in placed]
        + [f"{asset.file}: unknown role `{role}`; there are {', '.join(ROLES)}" for role in strangers]
    )
