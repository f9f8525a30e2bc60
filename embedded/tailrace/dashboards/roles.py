"""Manages Superset's roles as code, by dashboards/roles.yaml and the dashboards' files.

Roles are identified by name. Roles whose names begin with PREFIX are managed here: those that are not in the
file are removed. Other roles, users and their roles stay unchanged.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tailrace.clickhouse.row_policies import Restriction
from tailrace.config import renamed
from tailrace.config.renamed import BothGivenError, Renamed
from tailrace.dashboards import asset_files
from tailrace.dashboards import assets as dashboard_assets
from tailrace.dashboards.asset import Asset
from tailrace.dashboards.asset_files import AssetError
from tailrace.dashboards.superset_client import Client

FILE = asset_files.DIRECTORY / "roles.yaml"
PREFIX = "Tailrace "
ADMIN = "admin"
"""The key of the role that sees every dashboard."""

ROLES = "/api/v1/security/roles/"
USERS = "/api/v1/security/users/"
RULES = "/api/v1/rowlevelsecurity/"
POLICY_COLUMNS = ("cluster", "instance", "database", "trace_id", "query_id")
"""Columns of datasets that row policies may use: see `tailrace.clickhouse.row_policies`."""

OLD_NAMES = {"look": Renamed("view"), "may": Renamed("permissions")}
"""Names in roles.yaml that were renamed: a key of roles, and one of the sets of permissions."""

Permission = tuple[str, str]
"""A permission and its object: ("can_read", "Dashboard")."""


@dataclass(frozen=True)
class Role:
    """The desired state of a role."""

    key: str
    name: str
    permissions: frozenset[Permission]


def load(file: Path = FILE) -> dict[str, Role]:
    """Returns the roles by key. Raises AssetError with the key."""
    content = _under_new_names(file, yaml.safe_load(file.read_text()))
    bundles = {name: _permissions(its) for name, its in content["permissions"].items()}
    roles = {key: _role(file, key, its, bundles) for key, its in content["roles"].items()}
    if missing := {*asset_files.ROLES, ADMIN} - roles.keys():
        raise AssetError(f"{file.name}: roles: there is no `{min(missing)}`")
    return roles


def _under_new_names(file: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the content of roles.yaml under the new names. Prints one warning for each old name."""
    warnings: dict[str, None] = {}

    def new(written: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return renamed.with_new_names(written, OLD_NAMES, warnings.setdefault)
        except BothGivenError as error:
            raise AssetError(f"{file.name}: {error}") from None

    roles = {key: new(its) for key, its in content["roles"].items()}
    for its in roles.values():
        its["permissions"] = list(new(dict.fromkeys(its["permissions"])))
    permissions = new(content["permissions"])
    for warning in warnings:
        renamed.to_stderr(f"{file.name}: {warning}")
    return {"roles": roles, "permissions": permissions}


def _permissions(written: Mapping[str, list[str]]) -> frozenset[Permission]:
    return frozenset((doing, what) for doing, whats in written.items() for what in whats)


def _role(file: Path, key: str, written: Mapping[str, Any], bundles: Mapping[str, frozenset]) -> Role:
    if not written["name"].startswith(PREFIX):
        raise AssetError(
            f"{file.name}: roles.{key}.name: must begin with `{PREFIX}`, found {written['name']!r}"
        )
    named = written["permissions"]
    if unknown := [bundle for bundle in named if bundle not in bundles]:
        raise AssetError(
            f"{file.name}: roles.{key}.permissions: unknown `{unknown[0]}`; there are {', '.join(bundles)}"
        )
    return Role(key, written["name"], frozenset().union(*(bundles[bundle] for bundle in named)))


def publish(
    client: Client,
    connections: Mapping[str, tuple[str, str]],
    restrictions: Mapping[str, Restriction],
    record: Path | None = None,
) -> list[str]:
    """Imports the dashboards (`assets.apply`), then applies roles and row restrictions from the files.

    `record` is the same as for `assets.apply`. Returns changes and unchanged items, one per line. Raises
    AssetError, SupersetError, OSError.
    """
    roles, assets = load(), asset_files.load()
    imported = dashboard_assets.apply(client, connections, record)
    settled = apply(client, roles, assets) + restrict(client, roles, assets, restrictions)
    return [
        _imported(imported),
        *(settled or ["roles, their permissions, dashboards and rows were up to date"]),
    ]


def _imported(done: dashboard_assets.Imported) -> str:
    differences = [
        f"{doing} {', '.join(files)}"
        for doing, files in (("new:", done.made), ("changed:", done.changed), ("deleted:", done.deleted))
        if files
    ]
    return "; ".join([f"{done.assets} assets imported", *(differences or ["none of them new or changed"])])


def apply(client: Client, roles: Mapping[str, Role], assets: list[Asset]) -> list[str]:
    """Applies roles and the roles of dashboards from the files; returns the changes, one per line.

    A second run changes nothing. The dashboards must exist. Raises SupersetError, and AssetError for a
    permission that this Superset does not have.
    """
    found = {role["name"]: role["id"] for role in client.every(ROLES)}
    changes = _make_roles(client, roles, found)
    changes += _remove_roles(client, {role.name for role in roles.values()}, found)
    numbers = {key: found[role.name] for key, role in roles.items()}
    for asset in (asset for asset in assets if asset.kind == "dashboards"):
        changes += _show_to(client, asset, {key: numbers[key] for key in (*asset.content["roles"], ADMIN)})
    return changes


def _make_roles(client: Client, roles: Mapping[str, Role], found: dict[str, int]) -> list[str]:
    """Creates missing roles and adds their numbers to `found`, by name."""
    changes = []
    known: dict[Permission, int] = {}
    for role in roles.values():
        is_new = role.name not in found
        if is_new:
            found[role.name] = client.post(ROLES, {"name": role.name})["id"]
        has = _permissions_of(client, found[role.name])
        if has == role.permissions:
            continue
        known = known or _known_permissions(client)
        if unknown := sorted(role.permissions - known.keys()):
            raise AssetError(f"roles.yaml: this Superset has no permission {' on '.join(unknown[0])}")
        numbers = sorted(known[permission] for permission in role.permissions)
        client.post(f"{ROLES}{found[role.name]}/permissions", {"permission_view_menu_ids": numbers})
        changes.append(f"role {role.name}: {'created' if is_new else _difference(has, role.permissions)}")
    return changes


def _permissions_of(client: Client, role: int) -> frozenset[Permission]:
    listed = client.get(f"{ROLES}{role}/permissions/")["result"]
    return frozenset((each["permission_name"], each["view_menu_name"]) for each in listed)


def _known_permissions(client: Client) -> dict[Permission, int]:
    listed = client.every("/api/v1/security/permissions-resources/")
    return {(each["permission"]["name"], each["view_menu"]["name"]): each["id"] for each in listed}


def _difference(has: frozenset[Permission], wanted: frozenset[Permission]) -> str:
    given = [f"granted {' on '.join(each)}" for each in sorted(wanted - has)]
    return ", ".join(given + [f"revoked {' on '.join(each)}" for each in sorted(has - wanted)])


def _remove_roles(client: Client, wanted: set[str], found: dict[str, int]) -> list[str]:
    obsolete = [name for name in found if name.startswith(PREFIX) and name not in wanted]
    for name in obsolete:
        client.remove(f"{ROLES}{found.pop(name)}")
    return [f"role {name}: removed" for name in obsolete]


def _show_to(client: Client, dashboard: Asset, roles: Mapping[str, int]) -> list[str]:
    """Assigns exactly these roles to a dashboard."""
    shown = client.get(f"/api/v1/dashboard/{dashboard.uuid}")["result"]
    if {role["id"] for role in shown["roles"]} == set(roles.values()):
        return []
    client.put(f"/api/v1/dashboard/{shown['id']}", {"roles": sorted(roles.values())})
    return [f"dashboard {dashboard.content['dashboard_title']}: seen by {', '.join(sorted(roles))}"]


def restrict(
    client: Client,
    roles: Mapping[str, Role],
    assets: list[Asset],
    restrictions: Mapping[str, Restriction],
) -> list[str]:
    """Applies row-level security from access.yaml; returns the changes, one per line.

    Each restricted role has a rule for every dataset, including those of other audiences, so that a user with
    two roles sees the rows that both may see. Obsolete rules whose names begin with PREFIX are removed.
    """
    wanted = _wanted_rules(client, roles, assets, restrictions) if restrictions else {}
    found = {rule["name"]: rule for rule in client.every(RULES) if rule["name"].startswith(PREFIX)}
    changes = [line for rule in wanted.values() for line in _make_rule(client, rule, found.get(rule["name"]))]
    return changes + _remove_rules(client, found, wanted.keys())


def _wanted_rules(
    client: Client,
    roles: Mapping[str, Role],
    assets: list[Asset],
    restrictions: Mapping[str, Restriction],
) -> dict[str, dict[str, Any]]:
    """Returns rules by name. Datasets with the same restricted columns share one."""
    numbers = {role["name"]: role["id"] for role in client.every(ROLES)}
    datasets = {each["uuid"]: each["id"] for each in client.every("/api/v1/dataset/", ["uuid", "id"])}
    wanted: dict[str, dict[str, Any]] = {}
    for key, restriction in restrictions.items():
        for asset in (asset for asset in assets if asset.kind == "datasets"):
            rule = _rule(roles[key].name, numbers[roles[key].name], restriction, asset)
            tables = wanted.setdefault(rule["name"], rule)["tables"]
            tables.append(datasets[asset.uuid])
    return wanted


def _rule(role: str, number: int, restriction: Restriction, dataset: Asset) -> dict[str, Any]:
    columns = {column["column_name"] for column in dataset.content["columns"]}
    restricted = [column for column in POLICY_COLUMNS if column in columns]
    return {
        "name": f"{role}, by {', '.join(restricted) or 'nothing'}",
        "clause": restriction.dataset_filter(restricted),
        "filter_type": "Regular",
        "group_key": "",
        "description": "From access.yaml; changes are overwritten",
        "roles": [number],
        "tables": [],
    }


def _make_rule(client: Client, rule: Mapping[str, Any], found: Mapping[str, Any] | None) -> list[str]:
    if found is None:
        client.post(RULES, rule)
        return [f"rows of {rule['name']}: {rule['clause']}"]
    has = client.get(f"{RULES}{found['id']}")["result"]
    numbers = {key: {each["id"] for each in has[key]} for key in ("roles", "tables")}
    if {**has, **numbers} == {**has, **rule, "roles": set(rule["roles"]), "tables": set(rule["tables"])}:
        return []
    client.put(f"{RULES}{found['id']}", rule)
    return [f"rows of {rule['name']}: now {rule['clause']}"]


def _remove_rules(client: Client, found: Mapping[str, Any], wanted: Collection[str]) -> list[str]:
    obsolete = [rule for name, rule in found.items() if name not in wanted]
    for rule in obsolete:
        client.remove(f"{RULES}{rule['id']}")
    return [f"rows of {rule['name']}: no longer restricted" for rule in obsolete]


def ensure_user(client: Client, user: str, role: str, password: str, reset: bool) -> None:
    """Creates a local Superset user if it is missing, and ensures that it has the role.

    With `reset` an existing user gets the password; its other roles stay. Raises SupersetError.
    """
    found = {each["username"]: each for each in client.every(USERS)}.get(user)
    number = next(each["id"] for each in client.every(ROLES) if each["name"] == role)
    if found is None:
        client.post(USERS, {**_person(user), "password": password, "active": True, "roles": [number]})
        return
    roles = {each["id"] for each in found["roles"]}
    if number not in roles or reset:
        changed = {"roles": sorted({*roles, number}), **({"password": password} if reset else {})}
        client.put(f"{USERS}{found['id']}", changed)


def _person(user: str) -> dict[str, str]:
    return {
        "username": user,
        "first_name": "Tailrace",
        "last_name": user.capitalize(),
        "email": f"{user}@localhost.localdomain",
    }
