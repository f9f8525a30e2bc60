"""Compiles the files of dashboards/ into the assets that Superset imports."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tailrace.clickhouse.query_files import query_text, with_included_queries
from tailrace.dashboards import changes, layout
from tailrace.dashboards.asset import Asset, asset_uuid
from tailrace.dashboards.asset_files import AssetError

SCHEMA = "tailrace"

VERSION = "1.0.0"

MARK = "tailrace_asset"

MARKED_IN = {"datasets": "extra", "charts": "params", "dashboards": "metadata"}
"""The place of the mark in an asset, by kind: dictionaries that Superset stores unchanged."""


class Compiler:
    """Converts assets to Superset's format, resolving names to uuids and files to their text."""

    def __init__(self, assets: Iterable[Asset], queries: Path, style: str) -> None:
        self.assets = list(assets)
        self.queries = queries
        self.style = style
        self._known = {(asset.kind, asset.name): asset for asset in self.assets}

    def compile(self) -> dict[str, dict[str, Any]]:
        """Returns the content by file name in the bundle."""
        forms = {
            "databases": self._database,
            "datasets": self._dataset,
            "charts": self._chart,
            "dashboards": self._dashboard,
        }
        return {_bundle_file(asset): forms[asset.kind](asset) for asset in self.assets}

    def _refer(self, asset: Asset, kind: str, name: str) -> Asset:
        if (kind, name) not in self._known:
            raise AssetError(f"{asset.file}: refers to {kind}/{name}.yaml, which does not exist")
        return self._known[kind, name]

    def _database(self, asset: Asset) -> dict[str, Any]:
        return {
            "allow_run_async": False,
            "allow_ctas": False,
            "allow_cvas": False,
            "allow_dml": False,
            **asset.content,
            **_identity(asset),
        }

    def _dataset(self, asset: Asset) -> dict[str, Any]:
        content = {"description": None, "main_dttm_col": None, **asset.content}
        for key in ("when_empty", "logs"):  # its charts have the texts, its metrics the logs
            content.pop(key, None)
        database = self._refer(asset, "databases", content.pop("database"))
        return {
            **content,
            "schema": SCHEMA,
            "extra": _mark(asset),
            "sql": self._sql(asset),
            "columns": [{"groupby": True, "filterable": True, **column} for column in content["columns"]],
            "metrics": [
                {**metric, "expression": with_included_queries(metric["expression"], self.queries)}
                for metric in content["metrics"]
            ],
            "database_uuid": database.uuid,
            **_identity(asset),
        }

    def _sql(self, asset: Asset) -> str:
        file = self.queries / asset.content["sql"]
        if not file.is_file():
            raise AssetError(f"{asset.file}: there is no query sql/queries/{file.name}")
        return query_text(file)

    def _chart(self, asset: Asset) -> dict[str, Any]:
        content = dict(asset.content)
        for text in ("when_empty", "numbers"):  # rendered by the style of dashboards
            content.pop(text, None)
        dataset = self._refer(asset, "datasets", content.pop("dataset"))
        params = {"viz_type": content["viz_type"], **content["params"], **_mark(asset)}
        follow_range = _time_range_filter(dataset.content.get("main_dttm_col"))
        params["adhoc_filters"] = follow_range + params.get("adhoc_filters", [])
        return {**content, "params": params, "dataset_uuid": dataset.uuid, **_identity(asset)}

    def _dashboard(self, asset: Asset) -> dict[str, Any]:
        content = {"description": None, "css": self._style(asset), **asset.content}
        filters = content.pop("filters")
        for key in ("layout", "tabs", "roles"):  # roles: set by Superset's REST interface
            content.pop(key, None)
        metadata = {
            "cross_filters_enabled": True,
            "native_filter_configuration": [self._filter(asset, each, filters) for each in filters],
            **content.pop("metadata", {}),
            "label_colors": self._colours(),
            **_mark(asset),
        }
        position = layout.position(asset.content, lambda cell, parents: self._cell(asset, cell, parents))
        return {**content, "published": True, "position": position, "metadata": metadata, **_identity(asset)}

    def _colours(self) -> dict[str, str]:
        """Returns the colours of series of all dashboards: a series has one colour everywhere.

        Raises AssetError for a series with two colours.
        """
        found: dict[str, str] = {}
        for each in self.assets:
            own = each.content.get("metadata", {}).get("label_colors") if each.kind == "dashboards" else None
            for label, colour in (own or {}).items():
                if found.setdefault(label, colour) != colour:
                    text = f"{label!r} is {colour}, and {found[label]} in another dashboard"
                    raise AssetError(f"{each.file}: label_colors: {text}")
        return found

    def _style(self, asset: Asset) -> str:
        """Returns the style of a dashboard: the common one, and the texts of its charts."""
        charts = [self._refer(asset, "charts", name) for name in layout.charts(asset.content)]
        own = (each(chart.content) for chart in charts for each in (_style_when_empty, _style_numbers))
        return self.style + "".join(own)

    def _filter(
        self, asset: Asset, written: Mapping[str, Any], filters: Iterable[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Returns a native filter: over a column of a dataset, or the time range with its default.

        A filter that `follows` another one of its dashboard offers values of rows that the other selects.
        """
        parents = [_filter_id(each) for each in filters if each["name"] == written.get("follows")]
        alone = "follows" in written and not parents  # the description is about the filter that it follows
        common = {
            "id": _filter_id(written),
            "name": written["name"],
            "type": "NATIVE_FILTER",
            "description": "" if alone else written.get("description", ""),
            "cascadeParentIds": parents,
            "scope": {"rootPath": ["ROOT_ID"], "excluded": []},
        }
        if "time_range" in written:
            return {**common, **_time_filter(written["time_range"])}
        dataset = self._refer(asset, "datasets", written["dataset"])
        return {**common, **_column_filter(dataset.uuid, written["column"], not written.get("single", False))}

    def _cell(self, asset: Asset, cell: Mapping[str, Any], parents: list[str]) -> dict[str, Any]:
        size = {"width": cell["width"], "height": cell["height"]}
        if "markdown" in cell:
            node_id = f"MARKDOWN-{asset_uuid('markdown', asset.name + cell['markdown'])[:8]}"
            return layout.node(node_id, "MARKDOWN", [], parents, {**size, "code": cell["markdown"]})
        chart = self._refer(asset, "charts", cell["chart"])
        # Superset replaces chartId at the import; it must only exist and be unique.
        number = 1 + [each.name for each in self.assets if each.kind == "charts"].index(chart.name)
        meta = {**size, "uuid": chart.uuid, "chartId": number, "sliceName": chart.content["slice_name"]}
        return layout.node(f"CHART-{chart.name}", "CHART", [], parents, meta)


def _style_when_empty(chart: Mapping[str, Any]) -> str:
    """Replaces Superset's two paragraphs for empty charts, which style.css hides, by the chart's texts."""
    texts = chart.get("when_empty", {})
    title = _css_text(chart["slice_name"])
    return "".join(
        f".dashboard [data-test-chart-name={title}] [aria-label=empty] + div p:{paragraph}-child::after "
        f"{{ content: {_css_text(texts[key])}; }}\n"
        for key, paragraph in (("means", "first"), ("next", "last"))
        if key in texts
    )


def _style_numbers(chart: Mapping[str, Any]) -> str:
    """Writes title and subtitle above and below each of a chart's numbers, and places their changes."""
    cell = f".dashboard [data-test-chart-name={_css_text(chart['slice_name'])}] td"
    texts = "".join(
        f"{cell}:nth-child({place})::{side} {{ content: {_css_text(number[text])}; }}\n"
        for place, number in enumerate(chart.get("numbers", ()), 1)
        for side, text in (("before", "title"), ("after", "subtitle"))
    )
    return texts + (changes.style(chart, cell) if changes.has_changes(chart) else "")


def _css_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _identity(asset: Asset) -> dict[str, str]:
    return {"uuid": asset.uuid, "version": VERSION}


def _mark(asset: Asset) -> dict[str, str]:
    return {MARK: asset.name}


def _bundle_file(asset: Asset) -> str:
    if asset.kind == "datasets":
        return f"datasets/{asset.content['database']}/{asset.name}.yaml"
    return asset.file


def _time_range_filter(column: str | None) -> list[dict[str, str]]:
    """Returns the filter by which a dashboard's time range applies to a chart."""
    if column is None:
        return []
    return [
        {
            "clause": "WHERE",
            "expressionType": "SIMPLE",
            "subject": column,
            "operator": "TEMPORAL_RANGE",
            "comparator": "No filter",
        }
    ]


def _filter_id(written: Mapping[str, Any]) -> str:
    return f"NATIVE_FILTER-{written.get('key') or written['name'].lower().replace(' ', '-')}"


def _time_filter(default: str) -> dict[str, Any]:
    return {
        "filterType": "filter_time",
        "targets": [{}],
        "controlValues": {},
        "defaultDataMask": {
            "extraFormData": {"time_range": default},
            "filterState": {"value": default},
            "ownState": {},
        },
    }


def _column_filter(dataset_uuid: str, column: str, several: bool) -> dict[str, Any]:
    """Returns a filter of known values. Typed text searches all of them (Superset lists 1,000) and is no
    value.

    For a single value, Superset 6.1.0 still offers the typed text: the query must accept it.
    """
    return {
        "filterType": "filter_select",
        "targets": [{"datasetUuid": dataset_uuid, "column": {"name": column}}],
        "controlValues": {
            "multiSelect": several,
            "enableEmptyFilter": False,
            "defaultToFirstItem": False,
            "inverseSelection": False,
            "creatable": False,
            "searchAllOptions": True,
        },
        "defaultDataMask": {"extraFormData": {}, "filterState": {}, "ownState": {}},
    }
