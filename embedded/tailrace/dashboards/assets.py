"""Dashboards as code: compiles dashboards/ and sql/queries/ into Superset assets and imports them.

One YAML file per asset, in dashboards/{databases,datasets,charts,dashboards}/<name>.yaml. The keys are those
of Superset's own export format, with what a person would not want to write left out or said shorter:

    everywhere     uuid and version: the uuid is derived from kind and name, so it never changes
    datasets       `sql` names a file of sql/queries; `database` names a file of databases/
    charts         `dataset` names a file of datasets/; its time column follows the dashboard's time range;
                   `when_empty` says what it `means` that there is nothing to draw, and what to do `next`;
                   `numbers` in place of all but name and dataset: a row of big numbers by one query, each
                   {title, metric, format, subtitle, description}
    dashboards     `roles` names the audiences that see it, of ROLES; `layout` holds rows of
                   {chart: NAME, width: 1..12, height: in units of 8 pixels} or
                   {markdown: TEXT, width, height}; `filters` holds {name, dataset, column} or
                   {name, time_range}, `single: true` where one value may be chosen, and a
                   `key` by which links name the filter, if it is not the name in lower case;
                   style.css is part of each

Every asset but a database carries its own name in a mark. Together with the uuid, which is derived from that
name, it tells what came from here: what has the mark and has no file any more is deleted. A copy that
somebody saved has the mark and another uuid, and stays.
"""

import io
import re
import uuid
import zipfile
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tailrace.config.resources import ROOT
from tailrace.dashboards.superset_client import Client

DIRECTORY = ROOT / "dashboards"
QUERIES = ROOT / "sql" / "queries"
SCHEMA = "tailrace"
VERSION = "1.0.0"
NAMESPACE = uuid.UUID("b0f5c4b2-51a7-4f0e-9d43-2f6f0a1c7e11")
GRID_COLUMNS = 12

REQUIRED = {
    "databases": {"database_name": str, "sqlalchemy_uri": str},
    "datasets": {"table_name": str, "database": str, "sql": str, "columns": list, "metrics": list},
    "charts": {"slice_name": str, "description": str, "viz_type": str, "dataset": str, "params": dict},
    "dashboards": {"dashboard_title": str, "slug": str, "roles": list, "layout": list, "filters": list},
}
"""What every file must have, by kind, in the order in which Superset must import them."""

OPTIONAL = {
    "databases": {"cache_timeout", "expose_in_sqllab", "extra"},
    "datasets": {"cache_timeout", "description", "main_dttm_col"},
    "charts": {"cache_timeout", "when_empty", "numbers"},
    "dashboards": {"description", "metadata"},
}

ROLES = ("developer", "compliance", "security", "unmasked")
"""Whom a dashboard may be shown to, by key of roles.yaml; administrators see all of them."""

MARK = "tailrace_asset"
MARKED_IN = {"datasets": "extra", "charts": "params", "dashboards": "metadata"}
"""Where an asset carries the mark, by kind: dictionaries that Superset keeps as they are."""

NUMBER = ("title", "metric", "format", "subtitle", "description")
"""What each of a chart's `numbers` has: texts, a metric of the dataset, and its format."""

NUMBERS_NAMED = " in numbers"
"""How the name of a chart of numbers ends: style.css knows them by it."""

RESOURCES = {"datasets": "dataset", "charts": "chart", "dashboards": "dashboard"}
"""What Superset's REST interface calls each kind."""


_INCLUDE = re.compile(
    r"""^(?:\{%- include "((?:parts/)?[a-z_]+)\.sql" -%\}|\{include:((?:parts/)?[a-z_]+)\})\n""", re.MULTILINE
)
"""A line that stands for another file, as dashboards write it or as evidence does (evidence/framework.py)."""


class AssetError(ValueError):
    """Files of dashboards/ cannot be used; each line of the message names a file and what is wrong in it."""


@dataclass(frozen=True)
class Asset:
    """One file of dashboards/, as written."""

    kind: str
    name: str
    content: dict[str, Any]

    @property
    def file(self) -> str:
        return f"{self.kind}/{self.name}.yaml"

    @property
    def uuid(self) -> str:
        return asset_uuid(self.kind, self.name)


def asset_uuid(kind: str, name: str) -> str:
    """The identity of an asset in every Superset: a function of its kind and file name alone."""
    return str(uuid.uuid5(NAMESPACE, f"{kind}/{name}"))


@dataclass(frozen=True)
class Imported:
    """What an import did: how many assets there are, and files of those that it made, changed and deleted."""

    assets: int
    made: tuple[str, ...]
    changed: tuple[str, ...]
    deleted: tuple[str, ...]


def apply(client: Client, connections: Mapping[str, tuple[str, str]]) -> Imported:
    """Imports every asset over what is there, and deletes what has no file any more.

    Doing it twice changes nothing.

    `connections` holds address and password of each file of databases/, by its name without suffix; the
    address takes the place of the one in the file, with XXXXXXXXXX where the password goes. Raises AssetError
    before anything is sent if a file is not in order, SupersetError if Superset refuses it.
    """
    assets = compile_assets()
    passwords = {}
    for name, (uri, password) in connections.items():
        file = f"databases/{name}.yaml"
        assets[file]["sqlalchemy_uri"] = uri
        passwords[file] = password
    before = {asset["uuid"]: lasting(asset) for _, asset in exported(client)}
    client.import_assets(bundle(assets), passwords)
    after = {asset["uuid"]: (kind, asset) for kind, asset in exported(client)}
    files = {content["uuid"]: file for file, content in assets.items()}
    return Imported(
        len(assets),
        tuple(file for uuid_, file in files.items() if uuid_ not in before),
        tuple(
            file
            for uuid_, file in files.items()
            if before.get(uuid_, lasting(after[uuid_][1])) != lasting(after[uuid_][1])
        ),
        tuple(_delete_obsolete(client, after.values(), files)),
    )


def _delete_obsolete(
    client: Client, found: Iterable[tuple[str, Mapping[str, Any]]], current: Container[str]
) -> Iterator[str]:
    """Deletes dashboards first, then charts, then datasets, unless somebody's chart still uses one."""
    obsolete = [
        (kind, asset) for kind, asset in found if is_ours(kind, asset) and asset["uuid"] not in current
    ]
    for kind in reversed(REQUIRED):
        for asset in (asset for of_kind, asset in obsolete if of_kind == kind):
            if kind != "datasets" or not client.charts_of_dataset(asset["uuid"]):
                client.delete(RESOURCES[kind], asset["uuid"])
                yield f"{kind}/{asset[MARKED_IN[kind]][MARK]}.yaml"


def exported(client: Client) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every asset of a Superset with its kind, in Superset's own form."""
    archive = zipfile.ZipFile(io.BytesIO(client.export_assets()))
    for file in archive.namelist():
        kind = file.partition("/")[2].partition("/")[0]
        if kind in REQUIRED:
            yield kind, yaml.safe_load(archive.read(file))


GIVEN_ANEW = {"chartId", "chartsInScope", "tabsInScope", "dashboard_page_id"}
"""Numbers of one Superset's own, which it gives anew when it imports."""


def lasting(value: Any) -> Any:
    """A part of an asset without what Superset numbers anew, in every depth."""
    if isinstance(value, dict):
        return {key: lasting(each) for key, each in value.items() if key not in GIVEN_ANEW}
    return [lasting(each) for each in value] if isinstance(value, list) else value


def is_ours(kind: str, asset: Mapping[str, Any]) -> bool:
    """Whether an asset was imported from here, and is no copy of such a one."""
    marked = asset.get(MARKED_IN[kind]) if kind in MARKED_IN else None
    name = marked.get(MARK) if isinstance(marked, dict) else None
    return name is not None and asset["uuid"] == asset_uuid(kind, name)


def load(directory: Path = DIRECTORY) -> list[Asset]:
    """Every asset as written, in the order of REQUIRED. Raises AssetError."""
    found = [_read(kind, path) for kind in REQUIRED for path in sorted(directory.glob(f"{kind}/*.yaml"))]
    problems = [problem for asset in found for problem in _problems(asset)]
    if problems:
        raise AssetError("\n".join(problems))
    return found


def compile_assets(directory: Path = DIRECTORY, queries: Path = QUERIES) -> dict[str, dict[str, Any]]:
    """Superset's own form of every asset, by file name in the bundle. Raises AssetError."""
    return Compiler(load(directory), queries, (directory / "style.css").read_text()).compile()


def query_text(file: Path) -> str:
    """A query as Superset gets it, with the parts that it includes: Superset's Jinja cannot load files.

    A part is a file of parts/ that holds what several queries share, or another query: what evidence tells,
    a dashboard shows by the same query."""
    return _with_parts(file.read_text(), file.parent)


def _with_parts(text: str, queries: Path) -> str:
    def part(found: re.Match) -> str:
        return _with_parts((queries / f"{found[1] or found[2]}.sql").read_text(), queries)

    return _INCLUDE.sub(part, text)


def bundle(assets: Mapping[str, Mapping[str, Any]]) -> bytes:
    """The zip file that Superset imports; equal assets give equal bytes."""
    metadata = {"version": VERSION, "type": "assets", "timestamp": "2026-01-01T00:00:00+00:00"}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, content in {"metadata.yaml": metadata, **assets}.items():
            entry = zipfile.ZipInfo(f"tailrace/{file}", (2026, 1, 1, 0, 0, 0))
            archive.writestr(entry, yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
    return packed.getvalue()


def _read(kind: str, path: Path) -> Asset:
    try:
        content = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise AssetError(f"{kind}/{path.name}: not YAML: {error}") from error
    if not isinstance(content, dict):
        raise AssetError(f"{kind}/{path.name}: expected keys and values, found {type(content).__name__}")
    asset = Asset(kind, path.stem, content)
    return _with_numbers(asset) if kind == "charts" and "numbers" in content else asset


def _with_numbers(asset: Asset) -> Asset:
    """A chart of numbers as what it is for Superset: a table of one row, which style.css lays out.

    Numbers that stand beside each other are of one dataset, and asked for together they are of one moment and
    cost one query.
    """
    numbers = asset.content["numbers"]
    if not (isinstance(numbers, list) and all(isinstance(each, dict) for each in numbers)):
        raise AssetError(f"{asset.file}: `numbers` must be a list of {', '.join(NUMBER)}")
    for each in numbers:
        if sorted(each) != sorted(NUMBER) or not all(isinstance(text, str) for text in each.values()):
            raise AssetError(f"{asset.file}: a number has the texts {', '.join(NUMBER)}; found {each}")
    if not str(asset.content.get("slice_name")).endswith(NUMBERS_NAMED):
        raise AssetError(f"{asset.file}: the name of a chart of numbers ends with `{NUMBERS_NAMED}`")
    params = {
        "query_mode": "aggregate",
        "groupby": [],
        "metrics": [each["metric"] for each in numbers],
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
    strangers = [role for role in content.get("roles", []) if role not in ROLES]
    return (
        wrong
        + [f"{asset.file}: unknown key `{key}`" for key in unknown]
        + [f"{asset.file}: unknown role `{role}`; there are {', '.join(ROLES)}" for role in strangers]
    )


class Compiler:
    """Turns assets as written into Superset's form, resolving names to uuids and files to their text."""

    def __init__(self, assets: Iterable[Asset], queries: Path, style: str) -> None:
        self.assets = list(assets)
        self.queries = queries
        self.style = style
        self._known = {(asset.kind, asset.name): asset for asset in self.assets}

    def compile(self) -> dict[str, dict[str, Any]]:
        """Bundle file name → content."""
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
        database = self._refer(asset, "databases", content.pop("database"))
        return {
            **content,
            "schema": SCHEMA,
            "extra": _mark(asset),
            "sql": self._sql(asset),
            "columns": [{"groupby": True, "filterable": True, **column} for column in content["columns"]],
            "metrics": [
                {**metric, "expression": _with_parts(metric["expression"], self.queries)}
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
        for text in ("when_empty", "numbers"):  # parts of the style of dashboards
            content.pop(text, None)
        dataset = self._refer(asset, "datasets", content.pop("dataset"))
        params = {"viz_type": content["viz_type"], **content["params"], **_mark(asset)}
        follow_range = _time_range_filter(dataset.content.get("main_dttm_col"))
        params["adhoc_filters"] = follow_range + params.get("adhoc_filters", [])
        return {**content, "params": params, "dataset_uuid": dataset.uuid, **_identity(asset)}

    def _dashboard(self, asset: Asset) -> dict[str, Any]:
        content = {"description": None, "css": self._style(asset), **asset.content}
        layout, filters = content.pop("layout"), content.pop("filters")
        del content["roles"]  # not part of Superset's files: given by its interface
        metadata = {
            "cross_filters_enabled": True,
            "native_filter_configuration": [self._filter(asset, each) for each in filters],
            **content.pop("metadata", {}),
            **_mark(asset),
        }
        position = self._position(asset, layout)
        return {**content, "published": True, "position": position, "metadata": metadata, **_identity(asset)}

    def _style(self, asset: Asset) -> str:
        """The style of a dashboard: the common one, and what its charts write beside what Superset does."""
        charts = [
            self._refer(asset, "charts", cell["chart"])
            for row in asset.content["layout"]
            for cell in row
            if "chart" in cell
        ]
        own = (each(chart.content) for chart in charts for each in (_style_when_empty, _style_numbers))
        return self.style + "".join(own)

    def _filter(self, asset: Asset, written: Mapping[str, Any]) -> dict[str, Any]:
        """A native filter: over a column of a dataset, or the time range with its default."""
        name = written["name"]
        common = {
            "id": f"NATIVE_FILTER-{written.get('key') or name.lower().replace(' ', '-')}",
            "name": name,
            "type": "NATIVE_FILTER",
            "description": written.get("description", ""),
            "cascadeParentIds": [],
            "scope": {"rootPath": ["ROOT_ID"], "excluded": []},
        }
        if "time_range" in written:
            return {**common, **_time_filter(written["time_range"])}
        dataset = self._refer(asset, "datasets", written["dataset"])
        return {**common, **_column_filter(dataset.uuid, written["column"], not written.get("single", False))}

    def _position(self, asset: Asset, layout: list[list[dict[str, Any]]]) -> dict[str, Any]:
        """The grid of a dashboard, in Superset's form: a tree of nodes that know their parents."""
        rows = {f"ROW-{number}": row for number, row in enumerate(layout, 1)}
        position: dict[str, Any] = {
            "DASHBOARD_VERSION_KEY": "v2",
            "ROOT_ID": _node("ROOT_ID", "ROOT", ["GRID_ID"], []),
            "GRID_ID": _node("GRID_ID", "GRID", list(rows), ["ROOT_ID"]),
            "HEADER_ID": {
                "id": "HEADER_ID",
                "type": "HEADER",
                "meta": {"text": asset.content["dashboard_title"]},
            },
        }
        for row_id, row in rows.items():
            parents = ["ROOT_ID", "GRID_ID"]
            cells = [self._cell(asset, cell, [*parents, row_id]) for cell in row]
            background = {"background": "BACKGROUND_TRANSPARENT"}
            position[row_id] = _node(row_id, "ROW", [cell["id"] for cell in cells], parents, background)
            position.update({cell["id"]: cell for cell in cells})
        return position

    def _cell(self, asset: Asset, cell: Mapping[str, Any], parents: list[str]) -> dict[str, Any]:
        size = {"width": cell["width"], "height": cell["height"]}
        if "markdown" in cell:
            node_id = f"MARKDOWN-{asset_uuid('markdown', asset.name + cell['markdown'])[:8]}"
            return _node(node_id, "MARKDOWN", [], parents, {**size, "code": cell["markdown"]})
        chart = self._refer(asset, "charts", cell["chart"])
        # Superset replaces chartId by its own when it imports; it must only be there and be different.
        number = 1 + [each.name for each in self.assets if each.kind == "charts"].index(chart.name)
        meta = {**size, "uuid": chart.uuid, "chartId": number, "sliceName": chart.content["slice_name"]}
        return _node(f"CHART-{chart.name}", "CHART", [], parents, meta)


def _style_when_empty(chart: Mapping[str, Any]) -> str:
    """Puts the two texts of a chart in place of Superset's two paragraphs, which style.css hides."""
    texts = chart.get("when_empty", {})
    title = _css_text(chart["slice_name"])
    return "".join(
        f".dashboard [data-test-chart-name={title}] [aria-label=empty] + div p:{paragraph}-child::after "
        f"{{ content: {_css_text(texts[key])}; }}\n"
        for key, paragraph in (("means", "first"), ("next", "last"))
        if key in texts
    )


def _style_numbers(chart: Mapping[str, Any]) -> str:
    """Writes title and subtitle above and below each of a chart's numbers."""
    name = _css_text(chart["slice_name"])
    return "".join(
        f".dashboard [data-test-chart-name={name}] td:nth-child({place})::{side} "
        f"{{ content: {_css_text(number[text])}; }}\n"
        for place, number in enumerate(chart.get("numbers", ()), 1)
        for side, text in (("before", "title"), ("after", "subtitle"))
    )


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


def _node(
    node_id: str, kind: str, children: list[str], parents: list[str], meta: Any = None
) -> dict[str, Any]:
    node = {"id": node_id, "type": kind, "children": children, "parents": parents}
    return {**node, "meta": meta} if meta else node


def _time_range_filter(column: str | None) -> list[dict[str, str]]:
    """The filter through which a dashboard's time range reaches a chart."""
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
    """A filter of known values. What is typed searches all of them (Superset lists 1,000) and is no value.

    Where one value may be chosen, Superset 6.1.0 offers what is typed all the same: the query must take it.
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
