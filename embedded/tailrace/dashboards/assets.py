"""Dashboards as code: compiles dashboards/ and sql/queries/ into Superset assets and imports them.

One YAML file per asset, in dashboards/{databases,datasets,charts,dashboards}/<name>.yaml. The keys are those
of Superset's export format, with these omissions and abbreviations:

    everywhere     uuid and version: the uuid is derived from kind and name, so it never changes;
                   what defaults.yaml states, see defaults.py
    datasets       `sql` names a file of sql/queries; `database` names a file of databases/
                   `logs` lists the kinds of logs with which changes of its numbers are known
    charts         `dataset` names a file of datasets/; its time column follows the dashboard's time range;
                   `when_empty` states what an empty result `means`, and what to do `next`;
                   `numbers` replaces all keys but name and dataset: a row of big numbers by one query, each
                   {title, metric, subtitle, description}, with a `format` if it is not its metric's
                   and a `change`, the metric whose change is shown below it, see changes.py
    dashboards     `roles` names the audiences that see it, of ROLES; `tabs` contains {title, rows}, or
                   `layout` the rows of a dashboard without tabs, see layout.py; `filters` contains
                   {name, dataset, column} or {name, time_range}, `single: true` if only one value may be
                   chosen, and a `key` by which links name the filter, if it is not the name in lower case;
                   style.css is added to each

Every asset but a database contains its name as a mark. With the uuid, which is derived from that name, the
mark identifies imported assets: those without a file are deleted. A copy that a user saved has the mark and
another uuid, and stays.
"""

import io
import json
import zipfile
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tailrace.clickhouse.query_files import QUERIES
from tailrace.config import content_hash
from tailrace.dashboards.asset import asset_uuid
from tailrace.dashboards.asset_files import DIRECTORY, REQUIRED, YAML_DUMPER, YAML_LOADER, load
from tailrace.dashboards.compiler import MARK, MARKED_IN, VERSION, Compiler
from tailrace.dashboards.superset_client import Client

RESOURCES = {"datasets": "dataset", "charts": "chart", "dashboards": "dashboard"}
"""The names of the kinds in Superset's REST interface."""


@dataclass(frozen=True)
class Imported:
    """The result of an import: the number of assets, and the files of created, changed and deleted ones."""

    assets: int
    made: tuple[str, ...]
    changed: tuple[str, ...]
    deleted: tuple[str, ...]


def apply(client: Client, connections: Mapping[str, tuple[str, str]], record: Path | None = None) -> Imported:
    """Imports every asset, overwriting existing ones, and deletes assets without a file.

    A second run changes nothing.

    `connections` contains address and password of each file of databases/, by its name without suffix; the
    address replaces the one in the file and has XXXXXXXXXX in place of the password. `record` is a file that
    stores what was imported into this Superset: while neither that nor Superset's assets have changed, only
    the databases are imported. Raises AssetError before anything is sent if a file is invalid, SupersetError
    if Superset refuses it.
    """
    assets = compile_assets()
    for name, (uri, _) in connections.items():
        assets[f"databases/{name}.yaml"]["sqlalchemy_uri"] = uri
    passwords = {f"databases/{name}.yaml": password for name, (_, password) in connections.items()}
    files = {content["uuid"]: file for file, content in assets.items()}
    found = list(exported(client))
    before = {asset["uuid"]: lasting(asset) for _, asset in found}
    if record and record.exists() and record.read_text() == _recorded(assets, before):
        _import_databases(client, assets, passwords)
    else:
        client.import_assets(bundle(assets), passwords)
        found = list(exported(client))
    after = {asset["uuid"]: lasting(asset) for _, asset in found}
    deleted = tuple(_delete_obsolete(client, found, files))
    if record:
        record.write_text(_recorded(assets, after))
    return Imported(
        len(assets),
        tuple(file for uuid_, file in files.items() if uuid_ not in before),
        tuple(file for uuid_, file in files.items() if before.get(uuid_, after[uuid_]) != after[uuid_]),
        deleted,
    )


def _recorded(assets: Mapping[str, Mapping[str, Any]], found: Mapping[str, Any]) -> str:
    """Assets as they were imported, and what Superset made of each, by uuid."""
    made = [found.get(content["uuid"]) for content in assets.values()]
    return content_hash.fingerprint(json.dumps([assets, made], sort_keys=True, default=str))


def _import_databases(
    client: Client, assets: Mapping[str, Mapping[str, Any]], passwords: Mapping[str, str]
) -> None:
    """An export does not show whether passwords are unchanged."""
    databases = {file: content for file, content in assets.items() if file in passwords}
    client.import_assets(bundle(databases), passwords)


def _delete_obsolete(
    client: Client, found: Iterable[tuple[str, Mapping[str, Any]]], current: Container[str]
) -> Iterator[str]:
    """Deletes dashboards first, then charts, then datasets, except those that charts of users still need."""
    obsolete = [
        (kind, asset) for kind, asset in found if is_ours(kind, asset) and asset["uuid"] not in current
    ]
    for kind in reversed(REQUIRED):
        for asset in (asset for of_kind, asset in obsolete if of_kind == kind):
            if kind != "datasets" or not client.charts_of_dataset(asset["uuid"]):
                client.delete(RESOURCES[kind], asset["uuid"])
                yield f"{kind}/{asset[MARKED_IN[kind]][MARK]}.yaml"


def exported(client: Client) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields every asset of a Superset with its kind, in Superset's format."""
    yield from assets_of(client.export_assets())


def assets_of(export: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields every asset of a zip file that Superset has exported, as `exported` does."""
    archive = zipfile.ZipFile(io.BytesIO(export))
    for file in archive.namelist():
        kind = file.partition("/")[2].partition("/")[0]
        if kind in REQUIRED:
            yield kind, yaml.load(archive.read(file), YAML_LOADER)


ASSIGNED_ON_IMPORT = {"chartId", "chartsInScope", "tabsInScope", "dashboard_page_id"}
"""Numbers that Superset assigns at each import."""


def lasting(value: Any) -> Any:
    """Returns a part of an asset without the numbers that Superset assigns, at any depth."""
    if isinstance(value, dict):
        return {key: lasting(each) for key, each in value.items() if key not in ASSIGNED_ON_IMPORT}
    return [lasting(each) for each in value] if isinstance(value, list) else value


def is_ours(kind: str, asset: Mapping[str, Any]) -> bool:
    """Returns whether an asset was imported from here, and is no copy of one."""
    marked = asset.get(MARKED_IN[kind]) if kind in MARKED_IN else None
    name = marked.get(MARK) if isinstance(marked, dict) else None
    return name is not None and asset["uuid"] == asset_uuid(kind, name)


def compile_assets(directory: Path = DIRECTORY, queries: Path = QUERIES) -> dict[str, dict[str, Any]]:
    """Returns every asset in Superset's format, by file name in the bundle. Raises AssetError."""
    return Compiler(load(directory), queries, (directory / "style.css").read_text()).compile()


def bundle(assets: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Returns the zip file that Superset imports; equal assets give equal bytes."""
    metadata = {"version": VERSION, "type": "assets", "timestamp": "2026-01-01T00:00:00+00:00"}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, content in {"metadata.yaml": metadata, **assets}.items():
            entry = zipfile.ZipInfo(f"tailrace/{file}", (2026, 1, 1, 0, 0, 0))
            text = yaml.dump(content, Dumper=YAML_DUMPER, sort_keys=False, allow_unicode=True)
            archive.writestr(entry, text)
    return packed.getvalue()
